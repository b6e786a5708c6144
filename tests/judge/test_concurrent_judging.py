"""Twenty judges at once, on SQLite and on PostgreSQL: nothing is mixed up, served twice, lost or unfair."""

import math
import time
from collections import Counter

import numpy as np
import pytest
import sqlalchemy as sa
from judging_world import AT_ONCE, TASKS, fill, form, in_threads, num_answers, open_study

import interplay.record
from interplay.judge import Judging, JudgingError, Rules
from interplay.judge.errors import AlreadyAnsweredError, BannedError, NothingToJudgeError, QuotaReachedError, SupersededError
from interplay.judge.ratings.ratings import Incremental
from interplay.judge.serving import judging as room
from interplay.rank import Comparison, rate_all
from interplay.store import Answer, EpisodeRow, Match
from interplay.store import judging as store
from interplay.store.entrants import withdraw
from interplay.store.judging import bans

NUM_JUDGES = 20
NUM_ANSWERS = 400


@pytest.fixture(params=["sqlite", "postgresql"])
def archive(request, tmp_path):
    """A full data folder on either database."""
    if request.param == "postgresql":
        archive = interplay.record.open(tmp_path / "data", database=request.getfixturevalue("postgres_url"))
    else:
        archive = interplay.record.open(tmp_path / "data")
    fill(archive, tasks=TASKS, agents=[f"agent-{number}" for number in range(6)], num_seeds=5)
    yield archive
    archive.database.close()


@pytest.mark.long_proof
def test_twenty_judges_at_once(archive, clock):
    judging = Judging(archive, rng=np.random.default_rng(1), clock=clock, rules=AT_ONCE, release_after_s=600)
    outcomes = ("left", "right", "draw")

    def judge(number: int) -> int:
        rng = np.random.default_rng(number)
        answered = 0
        while answered < NUM_ANSWERS // NUM_JUDGES:
            try:
                match = judging.serve(f"judge-{number}")
            except NothingToJudgeError:
                time.sleep(0.001)
                continue
            if rng.random() < 0.05:
                judging.release(match.id, f"judge-{number}")
                continue
            if rng.random() < 0.1:  # a reload
                assert judging.serve(f"judge-{number}").id == match.id
            judging.answer(match.id, f"judge-{number}", **form(match.task, rng.choice(outcomes, p=[0.45, 0.45, 0.1]).item()))
            answered += 1
        return answered

    begin = time.perf_counter()
    assert sum(in_threads(NUM_JUDGES, judge)) == NUM_ANSWERS
    print(f"{NUM_ANSWERS} answers by {NUM_JUDGES} judges in {time.perf_counter() - begin:.1f} s")

    with archive.database.read() as session:
        matches = session.scalars(sa.select(Match)).all()
        episodes = {episode.id: episode for episode in session.scalars(sa.select(EpisodeRow))}
        answers = list(store.answers(session))
        answered_matches = session.scalars(sa.select(Answer.match_id)).all()

    assert len(answers) == NUM_ANSWERS
    assert len(set(answered_matches)) == NUM_ANSWERS
    for match in matches:
        left, right = episodes[match.left_episode_id], episodes[match.right_episode_id]
        assert left.actor == match.left_agent != match.right_agent == right.actor
        assert left.task == right.task == match.task
        assert left.task_hash == right.task_hash == match.task_hash
        assert left.seed == right.seed == match.seed

    # Left and right, of all matches by the agents' order and of every agent. Threads meet in another order every time, so
    # this is a fresh draw in each run: five standard deviations is one false alarm in a million, a fixed side 45 of them.
    on_left = Counter(match.left_agent for match in matches)
    shown = on_left + Counter(match.right_agent for match in matches)
    first_by_name = sum(match.left_agent < match.right_agent for match in matches)
    assert abs(first_by_name - len(matches) / 2) < 5 * math.sqrt(len(matches)) / 2
    for agent, total in shown.items():
        assert abs(on_left[agent] - total / 2) < 5 * math.sqrt(total) / 2, agent

    # What the room carried along equals a replay of the log.
    replay = rate_all(Comparison(a.left, a.right, a.outcome, a.task, a.judge) for a in answers)
    for task in (None, *TASKS):
        expected = (replay.overall if task is None else replay.task(task)).leaderboard()
        found = judging.leaderboard(task)["rows"]
        assert [(row["agent"], row["mu"], row["sigma"]) for row in found] == [(r.agent, r.mu, r.sigma) for r in expected]
        fresh = Judging(archive, rng=np.random.default_rng(0)).leaderboard(task)["rows"]
        assert fresh == found


def test_a_pair_is_never_before_two_judges(archive, clock):
    # Four archives on one database share no lock in this process, just as four server processes would not.
    url = archive.database.engine.url.render_as_string(hide_password=False)
    archives = [interplay.record.open(archive.root, database=url) for _ in range(4)]
    rooms = [Judging(one, rng=np.random.default_rng(number), clock=clock, rules=AT_ONCE) for number, one in enumerate(archives)]

    def take(number: int):
        return rooms[number % 4].serve(f"judge-{number}", TASKS[0])

    in_threads(NUM_JUDGES, take)
    with archive.database.read() as session:
        pairs = [one.episodes for one in store.open_pairs(session, TASKS[0])]
    assert len(pairs) == len(set(pairs)) == NUM_JUDGES
    for one in archives:
        one.database.close()


def test_when_pairs_are_scarce_each_is_given_once_and_comes_back(archive, clock):
    judging = Judging(archive, rng=np.random.default_rng(1), clock=clock, rules=AT_ONCE, release_after_s=600)
    with archive.database.write() as session:  # two agents of one task and five seeds are left: five pairs
        for number in range(2, 6):
            withdraw(session, name=f"agent-{number}", now=clock())

    def try_to_take(number: int):
        try:
            return judging.serve(f"judge-{number}", TASKS[0]).id
        except NothingToJudgeError:
            return None

    served = [match for match in in_threads(NUM_JUDGES, try_to_take) if match]
    assert len(served) == len(set(served)) == 5
    clock.advance(601)
    again = [match for match in in_threads(NUM_JUDGES, lambda number: try_to_take(100 + number)) if match]
    assert len(again) == len(set(again)) == 5
    assert not set(again) & set(served)


def test_one_judge_in_many_windows_has_one_match(archive, clock):
    judging = Judging(archive, rng=np.random.default_rng(1), clock=clock, rules=AT_ONCE)
    assert len({match.id for match in in_threads(NUM_JUDGES, lambda _: judging.serve("ada", TASKS[1]))}) == 1


def test_many_answers_to_one_match_leave_one(archive, clock):
    judging = Judging(archive, rng=np.random.default_rng(1), clock=clock, rules=AT_ONCE)
    match = judging.serve("ada", TASKS[0])

    def answer(number: int) -> str:
        try:
            judging.answer(match.id, "ada", **form(match.task, "left" if number % 2 else "right"))
        except Exception as error:
            return type(error).__name__
        return "accepted"

    results = in_threads(NUM_JUDGES, answer)
    assert sorted(results) == ["AlreadyAnsweredError"] * (NUM_JUDGES - 1) + ["accepted"]
    assert num_answers(archive) == 1


def both_at_once(judging: Judging, judge: str, matches, **options) -> list[str]:
    """Answer two matches of one judge in two threads; what became of each, sorted."""

    def give(number: int) -> str:
        try:
            judging.answer(matches[number].id, judge, **form(matches[number].task), **options)
        except JudgingError as error:
            return error.code
        return "accepted"

    return sorted(in_threads(2, give))


def test_two_answers_at_once_about_the_same_videos_leave_one(archive, clock):
    fill(archive, tasks=["atari/riverraid"], agents=("ada", "bob"), num_seeds=1)
    judging = Judging(archive, rng=np.random.default_rng(1), clock=clock, rules=AT_ONCE, release_after_s=600)
    for number in range(10):
        first = judging.serve(f"judge-{number}", "atari/riverraid")
        clock.advance(601)
        again = judging.serve(f"judge-{number}", "atari/riverraid")
        assert again.id != first.id
        clock.advance(5)
        assert both_at_once(judging, f"judge-{number}", (first, again)) == ["accepted", "superseded"]
        clock.advance(601)  # the one that was refused goes back
    assert num_answers(archive) == 10


def test_two_answers_at_once_do_not_exceed_what_one_judge_may_give(archive, clock):
    open_study(archive, "lab", max_answers_per_judge=1)
    judging = Judging(archive, rng=np.random.default_rng(1), clock=clock, release_after_s=600)
    for number in range(10):
        first = judging.serve(f"judge-{number}", study="lab")
        clock.advance(601)
        second = judging.serve(f"judge-{number}", study="lab")
        assert second.id != first.id
        assert both_at_once(judging, f"judge-{number}", (first, second), study="lab") == ["accepted", "quota_reached"]
    assert num_answers(archive) == 10


def test_news_read_side_by_side_are_taken_once_and_in_order(archive, clock):
    judging = Judging(archive, rng=np.random.default_rng(1), clock=clock, rules=AT_ONCE)
    carried = Incremental(list, lambda value, answer: value.append(answer.sequence))

    def answer(judge: str) -> int:
        match = judging.serve(judge, TASKS[0])
        return judging.answer(match.id, judge, **form(match.task)).sequence

    def news():
        with archive.database.look() as session:
            return carried.news(session)

    def current():
        with archive.database.look() as session:
            return carried.current(session)

    first = answer("ann")
    assert news() is None  # nothing to carry on from
    assert current() == [first]
    second = answer("ben")
    early = news()
    third = answer("ann")
    late = news()
    assert early is not None
    assert late is not None
    assert carried.take(late) == [first, second, third]
    assert carried.take(early) == [first, second, third]

    answer("ann")
    before = news()
    with archive.database.write() as session:
        bans.ban(session, judge="ann", reason="no care", now=clock())
    assert before is not None
    assert news() is None
    assert current() == [second]
    assert carried.take(before) == [second]  # nothing of before the ban comes back
    fifth = answer("ben")
    last = news()
    assert last is not None
    assert carried.take(last) == [second, fifth]


def test_who_makes_the_value_anew_shows_nobody_half_of_it(archive, clock, monkeypatch):
    judging = Judging(archive, rng=np.random.default_rng(1), clock=clock, rules=AT_ONCE)
    stopped_at, meanwhile = [], []

    def add(value: list[int], answer: store.LoggedAnswer) -> None:
        if stopped_at == [answer.sequence]:
            meanwhile.append(carried.news(session))
            raise OSError("the database is gone")
        value.append(answer.sequence)

    carried = Incremental(list, add)
    sequences = []
    for judge in ("ann", "ben", "cyd"):
        match = judging.serve(judge, TASKS[0])
        sequences.append(judging.answer(match.id, judge, **form(match.task)).sequence)
    with archive.database.look() as session:
        stopped_at.append(sequences[2])
        with pytest.raises(OSError, match="gone"):
            carried.current(session)
        assert meanwhile == [None]
        stopped_at.clear()
        assert carried.current(session) == sequences
        monkeypatch.setattr(store, "MAX_NEWS", 0)
        assert carried.news(session) is None  # too much to be read by everybody at once


def test_warming_up_leaves_no_trace(archive, clock):
    judging = Judging(archive, rng=np.random.default_rng(1), clock=clock, rules=AT_ONCE)
    judging.warm_up()
    with archive.database.read() as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(Match)) == 0
    assert judging.serve("ada").task in TASKS


def in_between(monkeypatch, where, name: str, what) -> None:
    """Let `what()` happen just before `where.name` is called for the first time."""
    real = getattr(where, name)

    def first_what(*args, **kwargs):
        monkeypatch.setattr(where, name, real)
        what()
        return real(*args, **kwargs)

    monkeypatch.setattr(where, name, first_what)


def ban_judge(archive, judge: str, clock) -> None:
    with archive.database.write() as session:
        bans.ban(session, judge=judge, reason="a test", now=clock())


def test_what_happens_between_looking_at_an_answer_and_taking_it_is_seen(archive, clock, monkeypatch):
    """An answer is checked before its turn comes; what its judge did or what was done to them meanwhile still counts."""
    fill(archive, tasks=["atari/riverraid"], agents=("ada", "bob"), num_seeds=1)
    open_study(archive, "lab", max_answers_per_judge=1)
    judging = Judging(archive, rng=np.random.default_rng(1), clock=clock, rules=AT_ONCE, release_after_s=600)

    def refused_if(match, judge: str, error, what, **options) -> None:
        in_between(monkeypatch, room, "check_form", what)
        with pytest.raises(error):
            judging.answer(match.id, judge, **form(match.task), **options)

    match = judging.serve("eve", TASKS[0])
    refused_if(match, "eve", AlreadyAnsweredError, lambda: judging.answer(match.id, "eve", **form(match.task)))

    first = judging.serve("eve", "atari/riverraid")
    clock.advance(601)
    again = judging.serve("eve", "atari/riverraid")
    clock.advance(5)
    refused_if(first, "eve", SupersededError, lambda: judging.answer(again.id, "eve", **form(again.task)))

    one = judging.serve("fay", study="lab")
    clock.advance(601)
    other = judging.serve("fay", study="lab")
    refused_if(
        one, "fay", QuotaReachedError, lambda: judging.answer(other.id, "fay", study="lab", **form(other.task)), study="lab"
    )

    last = judging.serve("gil", TASKS[0])
    refused_if(last, "gil", BannedError, lambda: ban_judge(archive, "gil", clock))
    assert num_answers(archive) == 3


def test_what_happens_between_planning_a_match_and_entering_it_is_seen(archive, clock, monkeypatch):
    judging = Judging(archive, rng=np.random.default_rng(1), clock=clock, rules=AT_ONCE)
    beside: list[str] = []
    in_between(monkeypatch, judging.database, "write", lambda: beside.append(judging.serve("eve", TASKS[0]).id))
    assert judging.serve("eve", TASKS[0]).id == beside[0]

    in_between(monkeypatch, judging.database, "write", lambda: ban_judge(archive, "fay", clock))
    with pytest.raises(BannedError):
        judging.serve("fay", TASKS[0])

    # The pair that was planned goes to somebody else, over and over: each judge still gets one of their own.
    ids = []
    for number in range(5):
        in_between(monkeypatch, judging.database, "write", lambda n=number: ids.append(judging.serve(f"b-{n}", TASKS[1]).id))
        ids.append(judging.serve(f"a-{number}", TASKS[1]).id)
    with archive.database.read() as session:
        pairs = [one.episodes for one in store.open_pairs(session, TASKS[1])]
        agents = [frozenset((one.left, one.right)) for one in store.open_pairs(session, TASKS[1])]
    assert len(set(ids)) == len(pairs) == len(set(pairs)) == 10
    assert len(set(agents)) == 10  # of fifteen pairs of agents none is asked about twice while others were not


def test_warming_up_says_what_cannot_be_judged(archive, clock, caplog):
    judging = Judging(archive, rng=np.random.default_rng(1), clock=clock, rules=Rules(tasks=TASKS[:1]))
    judging.warm_up()
    assert {record.args[0] for record in caplog.records} == set(TASKS[1:])
