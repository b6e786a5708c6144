"""`interplay rank` reads a CSV or the database and prints the leaderboard for people and for programs."""

import json
from datetime import UTC, datetime

import pytest

from interplay.cli import main

ROWS = "left,right,outcome,task\nada,bob,left,dig\nbob,cyd,draw,jump\nada,cyd,left,dig\n"


@pytest.fixture
def csv_file(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text(ROWS)
    return path


def rank(capsys, *arguments) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of one call."""
    with pytest.raises(SystemExit) as stop:
        main(["rank", *map(str, arguments)])
    output = capsys.readouterr()
    return stop.value.code, output.out, output.err


def test_a_single_win_as_json(capsys, tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("left,right,outcome\nada,bob,left\n")
    status, out, _ = rank(capsys, "--answers", path, "--json")
    document = json.loads(out)
    assert status == 0
    assert document["num_answers"] == 1
    first, second = document["leaderboard"]
    assert (first["rank"], first["agent"], round(first["mu"], 3), round(first["sigma"], 3)) == (1, "ada", 29.396, 7.171)
    assert (second["rank"], second["agent"], round(second["mu"], 3), second["lost"]) == (2, "bob", 20.604, 1)
    assert first["score"] == first["mu"] - 3 * first["sigma"]
    assert "tasks" not in document


def test_several_tasks_give_an_overall_leaderboard_and_one_each(capsys, csv_file):
    document = json.loads(rank(capsys, "--answers", csv_file, "--json")[1])
    assert document["num_answers"] == 3
    assert {task: one["num_answers"] for task, one in document["tasks"].items()} == {"dig": 2, "jump": 1}
    assert [row["agent"] for row in document["tasks"]["jump"]["leaderboard"]] == ["bob", "cyd"]


def test_one_task_of_several(capsys, csv_file):
    document = json.loads(rank(capsys, "--answers", csv_file, "--task", "dig", "--json")[1])
    assert (document["task"], document["num_answers"]) == ("dig", 2)
    assert document["leaderboard"][0]["agent"] == "ada"


def test_people_see_mu_sigma_and_mu_minus_three_sigma(capsys, csv_file):
    status, out, _ = rank(capsys, "--answers", csv_file, "--task", "jump")
    assert status == 0
    assert "mu - 3 sigma" in out
    assert "6.458" in out
    assert "jump: 1 answer" in out


def test_a_mistyped_task_is_answered_with_the_nearest(capsys, csv_file):
    status, _, err = rank(capsys, "--answers", csv_file, "--task", "jmp")
    assert status == 1
    assert "unknown task 'jmp'; did you mean 'jump'?" in err


def test_a_task_asked_of_a_file_without_tasks(capsys, tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("left,right,outcome\nada,bob,left\n")
    status, _, err = rank(capsys, "--answers", path, "--task", "jump")
    assert status == 1
    assert "has no column 'task'" in err


def test_a_faulty_file_is_an_error_without_traceback(capsys, tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("left,right,outcome\nada,bob,won\n")
    status, out, err = rank(capsys, "--answers", path, "--json")
    assert (status, out) == (1, "")
    assert f"error: {path}: line 2: unknown outcome 'won'" in err
    assert "Traceback" not in err


def test_a_folder_without_a_database_is_left_alone(capsys, tmp_path):
    status, _, err = rank(capsys, "--data", tmp_path / "typo")
    assert status == 1
    assert "holds no interplay.db" in err
    assert not (tmp_path / "typo").exists()


def test_a_study_without_answers_says_what_to_do(capsys, tmp_path):
    import interplay.record

    interplay.record.open(tmp_path).database.close()
    status, out, _ = rank(capsys, "--data", tmp_path)
    assert status == 0
    assert "No answers yet." in out
    assert json.loads(rank(capsys, "--data", tmp_path, "--json")[1])["leaderboard"] == []


def test_the_database_is_ranked_as_its_log_says(capsys, tmp_path):
    import interplay.record
    from interplay.store import Answer, EpisodeRow, Match

    now = datetime(2026, 3, 1, tzinfo=UTC)
    archive = interplay.record.open(tmp_path)
    with archive.database.write() as session:
        for name in ("left", "right"):
            session.add(
                EpisodeRow(
                    id=name, task="dig", task_hash="0", env="e", seed=1, actor=name, actor_kind="agent", num_steps=1,
                    duration_s=1.0, total_reward=0.0, terminated=True, truncated=False, outcome="terminated", frames="video",
                    created_at=now, path=name, size_bytes=1, sha256="0",
                )
            )  # fmt: skip
        session.flush()
        for number, (left, right, outcome) in enumerate([("ada", "bob", "left"), ("cyd", "ada", "draw")]):
            session.add(
                Match(
                    id=str(number), task="dig", task_hash="0", seed=1, left_episode_id="left", right_episode_id="right",
                    left_agent=left, right_agent=right, judge="eve", served_at=now, seen_at=now, answered_at=now,
                )
            )  # fmt: skip
            session.flush()
            session.add(
                Answer(
                    match_id=str(number), task="dig", seed=1, left_agent=left, right_agent=right, outcome=outcome, responses={},
                    reason="", judge="eve", created_at=now, duration_s=1.0,
                )
            )  # fmt: skip
            session.flush()
    archive.database.close()
    from_database = json.loads(rank(capsys, "--data", tmp_path, "--json")[1])
    path = tmp_path / "same.csv"
    path.write_text("left,right,outcome\nada,bob,left\ncyd,ada,draw\n")
    assert from_database["leaderboard"] == json.loads(rank(capsys, "--answers", path, "--json")[1])["leaderboard"]
    assert (from_database["num_answers"], from_database["num_judges"]) == (2, 1)
