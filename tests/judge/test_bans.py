"""Bans are data: a banned judge's answers have never been, in this process and in others, until the ban is lifted."""

import json
from datetime import timedelta

import numpy as np
import pytest
import sqlalchemy as sa
from judging_world import AT_ONCE, START, TASKS, fill, form, num_answers

import interplay.record
from interplay.cli import main
from interplay.judge import Judging
from interplay.judge.bans import BanFileError, banned_document, read_banned
from interplay.judge.errors import BannedError
from interplay.store import Ban, Match, Participant
from interplay.store import judging as store
from interplay.store.judging import bans

TASK = TASKS[0]


def answer(judging, judge: str, num: int = 1, outcome: str = "left", **serving):
    for _ in range(num):
        served = judging.serve(judge, TASK, **serving)
        judging.answer(served.id, judge, **form(TASK, outcome))


def ban(archive, judge: str):
    with archive.database.write() as session:
        return bans.ban(session, judge=judge, reason="for the test", now=START)


def unban(archive, judge: str):
    with archive.database.write() as session:
        return bans.unban(session, judge=judge, now=START + timedelta(days=1))


def rows(board: dict) -> list:
    return [(row["agent"], row["mu"], row["sigma"], row["num_answers"]) for row in board["rows"]]


@pytest.fixture
def both(archive, clock, tmp_path):
    """A log by ada and mallory in turns, and another by ada alone who gave the same answers about the same pairs."""
    judging = Judging(fill(archive), rng=np.random.default_rng(0), clock=clock, rules=AT_ONCE)
    alone = interplay.record.open(tmp_path / "alone")
    without = Judging(fill(alone), rng=np.random.default_rng(0), clock=clock, rules=AT_ONCE)
    for number in range(12):
        judge = "mallory" if number % 3 == 1 else "ada"
        served = judging.serve(judge, TASK)
        outcome = ("left", "right", "draw")[number % 3]
        judging.answer(served.id, judge, **form(TASK, outcome))
        if judge == "ada":
            with archive.database.read() as session:
                match = store.match_by_id(session, served.id)
                fields = {column.key: getattr(match, column.key) for column in sa.inspect(Match).column_attrs}
            with alone.database.write() as session:
                store.add_match(session, Match(**fields | {"answered_at": None}))
            without.answer(served.id, judge, **form(TASK, outcome))
    yield judging, without
    alone.database.close()


def test_the_ratings_are_as_if_a_banned_judge_had_never_been(both):
    judging, without = both
    everything = rows(judging.leaderboard(TASK))
    assert everything != rows(without.leaderboard(TASK))
    assert ban(judging.archive, "mallory")
    assert rows(judging.leaderboard(TASK)) == rows(without.leaderboard(TASK))
    assert rows(judging.leaderboard()) == rows(without.leaderboard())
    assert judging.leaderboard()["num_judges"] == 1
    assert unban(judging.archive, "mallory")
    assert rows(judging.leaderboard(TASK)) == everything


def test_a_ban_in_another_process_is_noticed(both, clock):
    judging, without = both
    address = judging.database.address
    elsewhere = interplay.record.open(judging.archive.root, database=address)
    before = rows(judging.leaderboard())
    assert ban(elsewhere, "mallory")
    assert rows(judging.leaderboard()) == rows(without.leaderboard())
    assert unban(elsewhere, "mallory")
    assert rows(judging.leaderboard()) == before
    assert ban(elsewhere, "mallory")  # once more: every ban and every lifting is a new revision
    assert rows(judging.leaderboard()) == rows(without.leaderboard())
    elsewhere.database.close()


def test_the_revision_changes_with_every_ban_and_lifting_and_with_nothing_else(judging, archive):
    def revision():
        with archive.database.read() as session:
            return store.log_state(session).revision

    seen = [revision()]
    answer(judging, "eve")
    assert revision() == seen[0]
    for change in (ban, unban, ban, unban):
        change(archive, "eve")
        assert revision() not in seen
        seen.append(revision())


def test_nothing_is_deleted_by_a_ban(judging, archive):
    answer(judging, "mallory", 3)
    ban(archive, "mallory")
    assert num_answers(archive) == 3
    with archive.database.read() as session:
        assert list(store.answers(session)) == []


def test_a_banned_judge_is_refused_and_their_late_answer_too(judging, archive, clock):
    served = judging.serve("mallory", TASK)
    ban(archive, "mallory")
    assert judging.get(served.id, "mallory").state == "released"
    with pytest.raises(BannedError, match="answers of this judge are not accepted"):
        judging.video(served.id, "left", "mallory")
    with pytest.raises(BannedError, match="answers of this judge are not accepted"):
        judging.serve("mallory", TASK)
    with pytest.raises(BannedError):
        judging.answer(served.id, "mallory", **form(TASK))
    assert judging.heartbeat(served.id, "mallory") == "released"
    unban(archive, "mallory")
    assert judging.video(served.id, "left", "mallory")[0].exists()
    judging.answer(served.id, "mallory", **form(TASK))


def test_banning_twice_is_as_good_as_once(archive):
    assert (ban(archive, "eve"), ban(archive, "eve")) == (True, False)
    assert (unban(archive, "eve"), unban(archive, "eve")) == (True, False)
    with archive.database.read() as session:
        (row,) = session.scalars(sa.select(Ban)).all()
        assert (row.judge, row.reason, row.lifted_at) == ("eve", "for the test", START + timedelta(days=1))


def test_model_judges_are_kept_apart(judging, archive):
    answer(judging, "model:one", 2, judge_kind="model")
    answer(judging, "eve", 1)
    board = judging.leaderboard()
    assert (board["num_answers"], board["num_judges"]) == (1, 1)
    with archive.database.read() as session:
        assert [found.judge for found in store.answers(session)] == ["eve"]


# Files


def test_a_published_list_is_read_and_written(tmp_path):
    path = tmp_path / "banned.json"
    path.write_text('[{"workerId": "A1", "note": "x"}, {"workerId": " A2 "}, {"workerId": "A1"}]')
    assert read_banned(path) == ["A1", "A2"]
    path.write_text(banned_document(["A1", "A2"]))
    assert json.loads(path.read_text()) == [{"workerId": "A1"}, {"workerId": "A2"}]
    assert read_banned(path) == ["A1", "A2"]
    path.write_text('[{"worker_id": "A3"}, {"workerId": "A4", "worker_id": "A5"}]')
    assert read_banned(path) == ["A3", "A4"]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("{", "is not JSON in UTF-8"),
        ("{}", "is not a list"),
        ('["A1"]', "entry 1 has no text under 'workerId'; got \"A1\""),
        ('[{"workerId": "A1"}, {"workerId": 5}]', "entry 2 has no text under 'workerId'"),
        ('[{"workerId": "A\\u0000"}]', "entry 1 has no text under 'workerId'"),
        (json.dumps([{"workerId": "A" * 201}]), "entry 1 has no text under 'workerId'"),
        ('[{"worker": "A1"}]', 'Expected a list of objects with that key:  [{"workerId": "A1B2C3"}]'),
    ],
)
def test_another_file_is_refused_whole(tmp_path, text, error):
    path = tmp_path / "banned.json"
    path.write_text(text)
    with pytest.raises(BanFileError) as caught:
        read_banned(path)
    assert error in str(caught.value)


# The command line


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(["judge", *arguments])
    out, err = capsys.readouterr()
    return int(stop.value.code or 0), out, err


@pytest.fixture
def data(judging, archive):
    """A data folder in which three judges have answered; one of them came through a channel."""
    with archive.database.write() as session:
        session.add(Participant(key="k", created_at=START, channel="mturk", worker="A9"))
    for judge, num in (("participant-1", 2), ("robot", 1), ("bedd/A7", 3)):
        answer(judging, judge, num)
    return str(archive.root)


def test_ban_list_export_and_unban_by_command(data, judging, capsys, tmp_path):
    code, out, _ = run(capsys, "ban", "robot", "--reason", "a script", "--data", data, "--json")
    assert (code, json.loads(out)) == (0, {"banned": ["robot"], "unchanged": [], "unseen": [], "num_answers": 1})
    assert judging.leaderboard()["num_answers"] == 5
    listed = json.loads(run(capsys, "bans", "--data", data, "--json")[1])
    assert [(entry["judge"], entry["reason"], entry["num_answers"]) for entry in listed] == [("robot", "a script", 1)]
    export = tmp_path / "out.json"
    code, out, _ = run(capsys, "bans", "--data", data, "--export", str(export))
    assert code == 0
    assert "a script" in out
    assert read_banned(export) == ["robot"]
    assert "unbanned robot: 1 answer\n" in run(capsys, "unban", "robot", "--data", data)[1]
    assert "Nobody is banned." in run(capsys, "bans", "--data", data)[1]
    assert judging.leaderboard()["num_answers"] == 6


def test_workers_of_a_file_are_found_wherever_they_came_from(data, judging, capsys, tmp_path):
    path = tmp_path / "banned.json"
    path.write_text(banned_document(["A9", "A7", "A0"]))
    code, out, _ = run(capsys, "ban", "--file", str(path), "--data", data, "--json")
    document = json.loads(out)
    assert (code, sorted(document["banned"]), document["unseen"]) == (0, ["bedd/A7", "participant-1"], ["A0"])
    assert judging.leaderboard()["num_answers"] == 1
    export = tmp_path / "again.json"
    run(capsys, "bans", "--data", data, "--export", str(export))
    assert sorted(read_banned(export)) == ["A7", "A9"]


def test_workers_of_a_data_set_can_be_banned_before_it_is_imported(data, judging, archive, capsys, tmp_path):
    path = tmp_path / "banned.json"
    path.write_text(banned_document(["A5"]))
    run(capsys, "ban", "--file", str(path), "--dataset", "bedd", "--data", data)
    with archive.database.read() as session:
        assert bans.banned(session) == {"bedd/A5"}


def test_a_mistyped_judge_is_answered_with_the_nearest_and_nobody_is_banned(data, archive, capsys):
    code, _, err = run(capsys, "ban", "robot", "participant-11", "--reason", "x", "--data", data)
    assert code == 2
    assert "unknown judge 'participant-11'; did you mean 'participant-1'?" in err
    with archive.database.read() as session:
        assert bans.banned(session) == frozenset()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["ban", "robot"], "a ban needs its reason"),
        (["ban", "--reason", "x"], "no judge is named"),
        (["unban"], "no judge is named"),
    ],
)
def test_a_command_that_says_too_little_is_refused(data, capsys, arguments, text):
    code, _, err = run(capsys, *arguments, "--data", data)
    assert code == 2
    assert text in err


def test_judges_are_listed_with_how_they_work(data, capsys):
    code, out, _ = run(capsys, "judges", "--data", data, "--json")
    assert code == 0
    assert [(one["judge"], one["num_answers"]) for one in json.loads(out)] == [
        ("bedd/A7", 3),
        ("participant-1", 2),
        ("robot", 1),
    ]
    assert "participant-1" in run(capsys, "judges", "--data", data)[1]
    code, _, err = run(capsys, "judges", "--study", "nowhere", "--data", data)
    assert code == 2
    assert "unknown study 'nowhere'" in err


def test_a_list_that_cannot_be_written_is_refused_in_words(data, capsys, tmp_path):
    code, _, err = run(capsys, "bans", "--data", data, "--export", str(tmp_path / "gone" / "x.json"))
    assert code == 1
    assert "x.json: No such file or directory" in err
    assert "Traceback" not in err
