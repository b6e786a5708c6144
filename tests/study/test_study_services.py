"""The services of studies by themselves, with a clock that is told: opening, letting in, the quiz, the end, and pay."""

from datetime import UTC, datetime, timedelta

import pytest
from played_games import add_game

import interplay.record
from interplay import testing
from interplay.errors import NotFoundError
from interplay.store import Ban
from interplay.store.participants import add_participant
from interplay.study import Arrival, QuizAnswerError, StudyError
from interplay.study.classes import Classes
from interplay.study.definition import parse_study
from interplay.study.enrolment import next_step
from interplay.study.feedback import FeedbackBox
from interplay.study.money.payroll import Payroll
from interplay.study.scores import Scores
from interplay.study.studies import Studies
from interplay.tasks import find

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
TEXT = """
[study]
id = "caves"
title = "Compare two players"
summary = "Two videos."
minutes = 15
answers = 1
contact = "Ada"
instructions = "Watch."
[quiz]
quiz = "atari"
attempts = 1
[pay]
reward = 3
[channels.prolific]
codes = { done = "DONE1" }
[judging]
tasks = ["atari/breakout"]
"""
ADA = Arrival("prolific", worker="60bf", assignment="7a", hit="5f3c")


class Clock:
    """A clock that moves when told."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture(params=["sqlite", "postgresql"])
def archive(request, tmp_path):
    url = request.getfixturevalue("postgres_url") if request.param == "postgresql" else None
    archive = interplay.record.open(tmp_path / "data", database=url)
    yield archive
    archive.close()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def studies(archive, clock):
    return Studies(archive.database, clock)


def test_a_study_opens_changes_and_closes_once(studies, clock):
    study = parse_study(TEXT)
    assert studies.find("caves") is None
    assert studies.open(study) is None
    changed = parse_study(TEXT.replace("Two videos.", "Two short videos."))
    assert studies.open(changed).study.summary == "Two videos.", "what was there before is told"
    assert studies.get("caves").study.summary == "Two short videos."
    assert studies.versions("caves") == [study.content_hash, changed.content_hash]
    assert studies.version(study.content_hash).to_json() == study.to_json()
    clock.now += timedelta(hours=1)
    assert studies.close("caves")[0].closed_at == clock.now
    clock.now += timedelta(hours=1)
    closed, inside = studies.close("caves")
    assert (closed.closed_at, inside) == (START + timedelta(hours=1), 0), "the first time stays"


def test_names_nobody_knows_are_refused_with_the_nearest(studies):
    studies.open(parse_study(TEXT))
    with pytest.raises(NotFoundError, match="unknown study 'cave'; did you mean 'caves'"):
        studies.get("cave", only_open=True)
    studies.close("caves")
    with pytest.raises(NotFoundError, match=r"unknown study 'cave'$"):
        studies.get("cave", only_open=True)
    with pytest.raises(NotFoundError, match=r"did you mean 'caves'.*\nLook in DIR"):
        studies.close("cave", hint="Look in DIR")
    assert studies.find("no\0name") is None, "not every text can be asked a database"
    with pytest.raises(LookupError):
        studies.version("0" * 64)
    with pytest.raises(LookupError):
        studies.remembered("0" * 24)


def test_somebody_agrees_comes_back_takes_the_quiz_and_ends_once(studies, clock):
    study = parse_study(TEXT)
    studies.open(study)
    assert studies.admission(studies.get("caves"), ADA).kind == "new"
    first = studies.enrol(study, ADA)
    assert (first.kind, studies.enrol(study, ADA).kind) == ("new", "resume")
    enrolment = studies.remembered(first.enrolment)
    assert (enrolment.worker, enrolment.arrived_at) == ("60bf", START)
    with pytest.raises(QuizAnswerError):
        studies.take_quiz(enrolment, [("nothing", "asked")])
    assert studies.attempts(enrolment) == []
    assert next_step(studies.facts(enrolment)) == "quiz"
    assert studies.take_quiz(enrolment, [])
    assert not studies.take_quiz(enrolment, []), "there was one attempt"
    clock.now += timedelta(minutes=3)
    ended = studies.finish_if_due(enrolment, studies.facts(enrolment))
    assert (ended.outcome, ended.ended_at) == ("screened_out", clock.now)
    assert studies.finish(enrolment, "done").outcome == "screened_out"
    (part,) = studies.parts("caves")
    assert (part.outcome, part.minutes, part.attempts, part.answers) == ("screened_out", 3.0, 1, 0)
    assert studies.counts() == {"caves": {"screened_out": 1}}


def test_pay_refuses_what_it_cannot_pay(archive, studies):
    payroll = Payroll(archive.database)
    free, paid = TEXT[: TEXT.index("[pay]")] + "[channels.open]\n[judging]\n", TEXT
    studies.open(parse_study(free))
    with pytest.raises(StudyError, match="caves pays nobody"):
        payroll.plan("caves")
    with pytest.raises(NotFoundError, match="did you mean 'caves'"):
        payroll.settle("cave", ["reward:1=sent"])
    with pytest.raises(StudyError, match="--settle reward:1=sent: write REQUEST=sent or REQUEST=failed"):
        payroll.settle("caves", ["reward:1=sent"])
    studies.open(parse_study(paid))
    with pytest.raises(NotFoundError, match="unknown channel 'mturk'"):
        payroll.plan("caves", channel="mturk")
    assert payroll.plan("caves").payments == ()


def test_a_class_its_games_their_scores_and_what_was_written_are_the_same_on_both_databases(archive, clock):
    classes, task = Classes(archive.database, clock), find("atari/breakout")
    made = classes.open("9b", [task.id])
    ada = classes.join(made.code, "Ada").pupil.participant
    with archive.database.write() as session:
        bo, cy = (add_participant(session, key, START).id for key in "bc")
        session.add(Ban(judge=f"participant-{cy}", reason="a program", created_at=START))
        for number, person in enumerate((ada, bo, bo, cy)):
            add_game(session, task, {person: 10.0 + number}, id=f"e{number}", statistics={"lives_lost": number})
        testing.add_episode(session, task, "scripted", 1, total_reward=5)
    assert [game.score for game in classes.pupils(made)[0].games] == [10]
    board = Scores(archive.database).board(task, person=bo)
    assert ([one.value for one in board.top], board.agents[0].mean, board.own.rank) == ([12], 5, 1)
    lowest = Scores(archive.database).board(task, statistic="lives_lost", is_lower_better=True)
    assert lowest.values == (1,)
    classes.close(made.code)
    assert classes.forget(made.code) == 1
    box = FeedbackBox(archive.database, clock)
    assert box.add(kind="idea", words="more", page="/", participant=bo) == box.all()[0]
