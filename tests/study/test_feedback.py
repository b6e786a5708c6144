"""What people write about pages: what is kept, how much, and how it goes out."""

import csv
import io
import json
from datetime import UTC, datetime, timedelta

import pytest

from interplay.cli import _run
from interplay.store.participants import add_participant
from interplay.study import feedback as rules
from interplay.study.feedback import FeedbackBox, FeedbackError, TooMuchFeedbackError, feedback_csv

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
HOSTILE = '=cmd|"/c calc"!A1 <script>alert(1)</script>\x1b[31m\x00 ünï 🎮'


@pytest.fixture
def box(archive):
    return FeedbackBox(archive.database, lambda: START)


def test_words_are_kept_with_their_context_and_without_tokens(box):
    one = box.add(
        kind="problem", words=f"  {HOSTILE}\r\nsecond line ", page="/studies/x/play?enrolment=SECRET#a", episode="e1",
        study="x", browser="B" * 1000, version="1",
    )  # fmt: skip
    assert one.page == "/studies/x/play"
    assert one.words == HOSTILE.replace("\x1b", "").replace("\x00", "") + "\nsecond line"
    assert len(one.browser) == 300
    assert box.all() == [one]


@pytest.mark.parametrize(
    ("kind", "words", "said"),
    [
        ("x", "a", "A problem"),
        ("idea", " \n", "a few words"),
        ("idea", "a" * 2001, "2,000 characters; you wrote 2,001"),
    ],
)
def test_what_cannot_be_kept_is_refused_in_words(box, kind, words, said):
    with pytest.raises(FeedbackError, match=said):
        box.add(kind=kind, words=words, page="/")
    assert box.all() == []


def test_one_person_and_all_together_write_only_so_much_in_a_day(archive, monkeypatch):
    now = [START]
    box = FeedbackBox(archive.database, lambda: now[0])
    monkeypatch.setattr(rules, "MAX_OF_PERSON", 2)
    monkeypatch.setattr(rules, "MAX_OF_ALL", 3)
    with archive.database.write() as session:
        ada, bo = (add_participant(session, key, START).id for key in "ab")
    for _ in range(2):
        box.add(kind="idea", words="a", page="/", participant=ada)
    with pytest.raises(TooMuchFeedbackError, match="tomorrow"):
        box.add(kind="idea", words="a", page="/", participant=ada)
    box.add(kind="idea", words="a", page="/", participant=bo)
    with pytest.raises(TooMuchFeedbackError):
        box.add(kind="idea", words="a", page="/")
    now[0] += timedelta(days=1, seconds=1)
    box.add(kind="idea", words="a", page="/", participant=ada)


def test_a_spreadsheet_computes_nothing_of_the_list(box):
    box.add(kind="other", words=HOSTILE, page="@/x")
    [row] = csv.DictReader(io.StringIO(feedback_csv(box.all())))
    assert row["words"].startswith("'=cmd")
    assert row["page"] == "'@/x"


def test_a_command_lists_and_exports_what_was_written(archive, box, capsys):
    box.add(kind="idea", words="more levels", page="/play/atari/breakout", study="x")
    box.add(kind="problem", words="the ball is stuck", page="/join")
    place = ["--data", str(archive.root)]
    assert _run(["study", "feedback", *place]) == 0
    assert capsys.readouterr().out.index("stuck") > 0
    assert _run(["study", "feedback", "--kind", "idea", "--json", *place]) == 0
    assert [one["words"] for one in json.loads(capsys.readouterr().out)] == ["more levels"]
    assert _run(["study", "feedback", "--study", "x", "--csv", *place]) == 0
    assert capsys.readouterr().out.count("\n") == 2
    assert _run(["study", "feedback", "--kind", "praise", *place]) == 2
    assert "problem" in capsys.readouterr().err
