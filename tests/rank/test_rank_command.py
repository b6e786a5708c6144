"""`interplay rank` reads a CSV or the database and prints the leaderboard for people and for programs."""

import csv
import io
import json
import math

import pytest
from random_logs import random_log

import interplay.record
from interplay.cli import main

ROWS = "left,right,outcome,task\nada,bob,left,dig\nbob,cyd,draw,jump\nada,cyd,left,dig\n"


@pytest.fixture
def csv_file(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text(ROWS)
    return path


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A file of 400 answers with judges, seeds, lengths of reasons and durations."""
    path = tmp_path_factory.mktemp("study") / "study.csv"
    lines = ["left,right,outcome,task,judge,time,seed,reason,duration_s"]
    for number, c in enumerate(random_log(0, 400, 5, num_tasks=2, num_judges=8)):
        row = [
            c.left,
            c.right,
            c.outcome,
            c.task,
            c.judge,
            c.time.isoformat(),
            number % 3,
            "x" * (100 + number % 50),
            number % 90,
        ]
        lines.append(",".join(map(str, row)))
    path.write_text("\n".join(lines) + "\n")
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
    assert status == 2
    assert "unknown task 'jmp'; did you mean 'jump'?" in err


def test_a_task_that_nobody_has_answered_about_says_what_to_do(capsys, tmp_path):
    interplay.record.open(tmp_path).close()
    status, _, err = rank(capsys, "--task", "atari/breakout", "--data", tmp_path)
    assert status == 1
    assert "no answer about atari/breakout counts yet" in err
    assert f"interplay serve --data {tmp_path}" in err


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
    from interplay import testing
    from interplay.tasks import find

    archive = interplay.record.open(tmp_path)
    task = find("atari/qbert")
    with archive.database.write() as session:
        for left, outcome, right in (("ada", "left", "bob"), ("cyd", "draw", "ada")):
            sides = (testing.add_episode(session, task, name, 1) for name in (left, right))
            match = testing.match_values(*sides, "eve")
            testing.add_answers(session, [(match, testing.answer_values(match, outcome))])
    archive.database.close()
    from_database = json.loads(rank(capsys, "--data", tmp_path, "--json")[1])
    path = tmp_path / "same.csv"
    path.write_text("left,right,outcome\nada,bob,left\ncyd,ada,draw\n")
    assert from_database["leaderboard"] == json.loads(rank(capsys, "--answers", path, "--json")[1])["leaderboard"]
    assert (from_database["num_answers"], from_database["num_judges"]) == (2, 1)
    leaning = json.loads(rank(capsys, "--data", tmp_path, "--bias", "--agreement", "--json")[1])
    assert [(row["judge"], row["num_answers"]) for row in leaning["bias"]["judges"]] == [("eve", 2)]
    assert leaning["agreement"]["overall"]["nominal"]["num_units"] == 0  # one judge agrees with nobody


@pytest.mark.parametrize("method", ["trueskill", "bradley-terry", "davidson"])
def test_every_method_keeps_the_fields_and_gives_intervals_if_asked(capsys, study, method):
    command = ("--answers", study, "--method", method, "--bootstrap", 50, "--seed", 3, "--json")
    status, out, _ = rank(capsys, *command)
    document = json.loads(out)
    assert (status, document["method"], document["num_judges"]) == (0, method, 8)
    assert document["bootstrap"] == {"num_resamples": 50, "unit": "answers", "level": 0.95, "seed": 3}
    assert set(document["tasks"]) == {"task-0", "task-1"}
    for row in document["leaderboard"] + document["tasks"]["task-1"]["leaderboard"]:
        assert row["score_low"] <= row["score_high"]
        assert 1 <= row["rank_low"] <= row["rank_high"] <= 5
        assert row["won"] + row["drew"] + row["lost"] == row["num_answers"]
    assert rank(capsys, *command)[1] == out


def test_the_default_is_trueskill_without_resampling(capsys, study):
    document = json.loads(rank(capsys, "--answers", study, "--json")[1])
    assert set(document) == {"task", "leaderboard", "num_answers", "num_judges", "tasks", "method"}
    assert set(document["leaderboard"][0]) == {
        "rank", "agent", "mu", "sigma", "score", "won", "drew", "lost", "num_answers", "group",
        "low", "high", "beats_next", "above_next",
    }  # fmt: skip
    assert document["method"] == "trueskill"


def test_a_fresh_seed_is_printed_and_kept(capsys, study):
    _, out, err = rank(capsys, "--answers", study, "--bootstrap", 5, "--json")
    assert f"seed {json.loads(out)['bootstrap']['seed']}" in err


def test_everything_at_once_for_people(capsys, study):
    extras = ("--normalised", "--matrix", "--agreement", "--bias", "--transitivity")
    status, out, _ = rank(capsys, "--answers", study, *extras, "--bootstrap", 20, "--resample", "judges", "--seed", 1)
    assert status == 0
    for words in (
        "score interval", "mean over the tasks", "beats the column's", "(by bootstrap)", "agreement of judges",
        "left share of decided answers", "exact p against one half", "median characters of reasons", "judge-03",
        "cyclic triads", "if all were equal", "Intervals hold 95% of 20 resamples of judges (seed 1).",
    ):  # fmt: skip
        assert words in out


def test_everything_at_once_for_programs(capsys, study):
    extras = ("--normalised", "--matrix", "--agreement", "--bias", "--transitivity")
    document = json.loads(rank(capsys, "--answers", study, *extras, "--seed", 1, "--method", "bradley-terry", "--json")[1])
    assert sum(row["score"] for row in document["normalised"]) == pytest.approx(0, abs=1e-9)
    matrix = document["probabilities"]
    assert matrix["agents"] == [row["agent"] for row in document["leaderboard"]]
    assert matrix["beats"][0][1] + matrix["beats"][1][0] == pytest.approx(1)
    assert matrix["above_by"] == "fit"
    overall = document["agreement"]["overall"]
    assert -1 < overall["nominal"]["alpha"] < overall["ordinal"]["alpha"] < 1
    assert overall["nominal"]["low"] is None
    assert sum(row["num_answers"] for row in document["bias"]["judges"]) == 400
    assert document["bias"]["length"]["median_chars"]["left"] > 100
    assert document["transitivity"]["num_triads"] == 10
    assert document["transitivity"]["expected_by_model"]["num_cyclic"]["mean"] >= 0


def test_csv_has_one_line_an_agent_and_board(capsys, study):
    status, out, _ = rank(capsys, "--answers", study, "--csv", "--normalised", "--bootstrap", 20, "--seed", 1)
    rows = list(csv.DictReader(io.StringIO(out)))
    assert status == 0
    assert [(row["board"], row["task"]) for row in rows[::5]] == [
        ("overall", ""), ("task", "task-0"), ("task", "task-1"), ("normalised", "")
    ]  # fmt: skip
    document = json.loads(rank(capsys, "--answers", study, "--normalised", "--bootstrap", 20, "--seed", 1, "--json")[1])
    assert float(rows[0]["mu"]) == document["leaderboard"][0]["mu"]
    assert float(rows[15]["score_low"]) == document["normalised"][0]["score_low"]
    only = list(csv.DictReader(io.StringIO(rank(capsys, "--answers", study, "--task", "task-1", "--csv")[1])))
    assert {(row["board"], row["task"]) for row in only} == {("task", "task-1")}


def test_phantom_draws_are_told(capsys, csv_file):
    out = rank(capsys, "--answers", csv_file, "--method", "bradley-terry")[1]
    assert "Note: some agents never lost to some others" in out
    notes = json.loads(rank(capsys, "--answers", csv_file, "--method", "davidson", "--json")[1])["notes"]
    assert len(notes) == 3  # overall and both tasks
    assert notes[1].startswith("dig: ")


@pytest.mark.parametrize(
    ("arguments", "status", "text"),
    [
        (("--csv", "--json"), 2, "--csv and --json are two ways to print the result; give one"),
        (("--csv", "--bias"), 2, "--csv prints leaderboards only; for --bias give --json instead"),
        (("--level", "95"), 2, "--level must be between 0 and 1, such as 0.95, got 95"),
        (("--method", "elo"), 2, "'elo' is not one of"),
        (("--bootstrap", "-1"), 2, "Invalid value for '--bootstrap'"),
        (("--task", "dig", "--normalised"), 1, "--normalised is a mean over tasks, but there are answers about fewer than two"),
        (("--agreement",), 1, "there is no column 'judge', which agreement and bias need"),
    ],
)
def test_options_that_cannot_be_met_say_what_to_do(capsys, csv_file, monkeypatch, arguments, status, text):
    monkeypatch.setenv("COLUMNS", "300")
    code, out, err = rank(capsys, "--answers", csv_file, *arguments)
    assert (code, out) == (status, "")
    assert text in err


def test_extras_on_a_study_without_answers_say_so(capsys, tmp_path):
    import interplay.record

    interplay.record.open(tmp_path).database.close()
    extras = ("--matrix", "--agreement", "--bias", "--transitivity", "--bootstrap", 10, "--seed", 0)
    status, out, _ = rank(capsys, "--data", tmp_path, *extras)
    assert (status, "No answers yet." in out) == (0, True)
    document = json.loads(rank(capsys, "--data", tmp_path, *extras, "--method", "davidson", "--json")[1])
    assert document["agreement"]["overall"]["nominal"]["alpha"] is None
    assert not any(isinstance(p, float) and math.isnan(p) for p in document["probabilities"]["beats"])
