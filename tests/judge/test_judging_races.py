"""Two servers on one PostgreSQL database serve, answer and ban at the same moment: the second sees what the first has done.

`meet` stops the first transaction just before its commit and lets the second go as far as it can. Without the lock, the second
decides from what was there before; each test fails without the lock of the judge, of the pair or of the log.
"""

import time
from collections import Counter
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa
from judging_world import AT_ONCE, TASKS, Clock, fill, form, in_threads, num_answers, open_study
from meeting import meet, num_rows

from bench.judging_checks import overlaps
from interplay import testing
from interplay.judge import Judging
from interplay.judge.bans import Bans
from interplay.judge.errors import BannedError, NothingToJudgeError
from interplay.judge.published.segments import VERSION, import_segments
from interplay.judge.ratings.ratings import Incremental
from interplay.rank import Comparison, rate_all
from interplay.store import Answer, Ban, EpisodeRow, Match
from interplay.store import judging as store
from interplay.store.judging import bans
from interplay.store.judging.model_judges import ModelAnswer, add_model_answers
from interplay.tasks import find

TASK = TASKS[0]
NUM_JUDGES = 14
NUM_EACH = 12


def rooms(here, there, clock, **fills) -> list[Judging]:
    fill(here, **fills)
    return [
        Judging(one, rng=np.random.default_rng(seed), clock=clock, rules=AT_ONCE, release_after_s=600)
        for seed, one in enumerate((here, there))
    ]


def test_one_pair_is_served_to_one_of_two_judges(here, there, clock):
    one, other = rooms(here, there, clock, agents=("ada", "bob"), num_seeds=1)
    served, refused = meet(here.database, lambda: one.serve("ann", TASK), lambda: other.serve("ben", TASK))
    assert served.task == TASK
    assert isinstance(refused, NothingToJudgeError)


def test_a_released_pair_is_taken_again_by_its_judge_or_by_another(here, there, clock):
    one, other = rooms(here, there, clock, agents=("ada", "bob"), num_seeds=1)
    match = one.serve("ann", TASK)
    clock.advance(601)
    with here.database.write() as session:
        store.release_unseen(session, seen_before=clock() - timedelta(seconds=600), now=clock())
    state, refused = meet(here.database, lambda: one.heartbeat(match.id, "ann"), lambda: other.serve("ben", TASK))
    assert state == "open"
    assert isinstance(refused, NothingToJudgeError)


def test_one_judge_in_two_windows_has_one_match(here, there, clock):
    one, other = rooms(here, there, clock)
    first, second = meet(here.database, lambda: one.serve("ann", TASK), lambda: other.serve("ann", TASK))
    assert first.id == second.id


def two_matches(room: Judging, clock: Clock, judge: str, task: str | None, study: str | None = None):
    first = room.serve(judge, task, study=study)
    clock.advance(601)
    second = room.serve(judge, task, study=study)
    assert first.id != second.id
    clock.advance(5)
    return first, second


def test_one_judge_answers_once_about_two_videos(here, there, clock):
    one, other = rooms(here, there, clock, agents=("ada", "bob"), num_seeds=1)
    first, second = two_matches(one, clock, "ann", TASK)
    accepted, refused = meet(
        here.database,
        lambda: one.answer(first.id, "ann", **form(TASK)),
        lambda: other.answer(second.id, "ann", **form(TASK)),
    )
    assert (accepted.num_by_judge, refused.code) == (1, "superseded")
    assert num_answers(here) == 1


def test_one_judge_gives_no_more_answers_than_the_study_wants_of_one(here, there, clock):
    open_study(here, "lab", max_answers_per_judge=1)
    one, other = rooms(here, there, clock)
    first, second = two_matches(one, clock, "ann", None, "lab")
    accepted, refused = meet(
        here.database,
        lambda: one.answer(first.id, "ann", study="lab", **form(first.task)),
        lambda: other.answer(second.id, "ann", study="lab", **form(second.task)),
    )
    assert (accepted.num_by_judge, refused.code) == (1, "quota_reached")
    assert num_answers(here) == 1


def test_a_reader_that_continues_from_the_last_answer_misses_none(here, there, clock):
    one, other = rooms(here, there, clock, tasks=TASKS[:2])
    reader = Incremental(list, lambda value, answer: value.append(answer.sequence))

    def read() -> list[int]:
        with there.database.read() as session:
            return list(reader.current(session))

    zero, first, second = one.serve("zoe", TASK), one.serve("ann", TASKS[0]), other.serve("ben", TASKS[1])
    one.answer(zero.id, "zoe", **form(TASK))
    seen = read()
    answers = meet(
        here.database,
        lambda: one.answer(first.id, "ann", **form(first.task)),
        lambda: other.answer(second.id, "ben", **form(second.task)),
        lambda: seen.extend(read()),
    )
    assert seen == [read()[0]] * 2, "the second answer is not seen before the first"
    assert read()[1:] == [one.sequence for one in answers]


def test_answers_of_a_model_judge_are_in_the_order_of_the_log_too(here, there, clock):
    one, _ = rooms(here, there, clock)
    match = one.serve("ann", TASK)

    def log_answer() -> int:
        with there.database.write() as session:
            row = session.get_one(Match, match.id)
            answer = ModelAnswer(
                "m", row.task_hash, row.seed, "", row.left_episode_id, row.right_episode_id, row.left_agent, row.right_agent,
                "left", {}, "", {},
            )  # fmt: skip
            return add_model_answers(session, judge="model:eye", task=TASK, answers=[answer], now=clock())

    seen = []
    accepted, added = meet(
        here.database,
        lambda: one.answer(match.id, "ann", **form(TASK)),
        log_answer,
        lambda: seen.append(num_answers(here)),
    )
    assert (seen, added, num_answers(here)) == ([0], 1, 2)
    assert num_rows(here, Answer, Answer.sequence > accepted.sequence) == 1
    assert log_answer() == 0


def test_who_is_banned_just_now_is_served_nothing(here, there, clock):
    _, other = rooms(here, there, clock)
    with there.database.write() as session:
        store.add_match(session, Match(**match_columns(here, "ann")))
    banned, refused = meet(here.database, lambda: Bans(here.database).ban(["ann"], "bad"), lambda: other.serve("ann", TASK))
    assert banned.changed == {"ann": 0}
    assert isinstance(refused, BannedError)
    assert num_rows(here, Match, Match.judge == "ann", Match.released_at.is_(None)) == 0


def match_columns(archive, judge: str) -> dict[str, Any]:
    """A match of a judge that was released."""
    with archive.database.read() as session:
        left, right = session.scalars(sa.select(EpisodeRow).where(EpisodeRow.task == TASK).limit(2)).all()
        names = {"id": left.id, "task": TASK, "task_hash": left.task_hash, "seed": left.seed, "actor": left.actor}
        return testing.match_values(names, names | {"id": right.id, "actor": right.actor}, judge, id=f"of-{judge}") | {
            "answered_at": None,
            "released_at": testing.START,
        }


def test_what_a_banned_judge_was_served_just_now_is_released(here, there, clock):
    one, _ = rooms(here, there, clock)

    def ban() -> bool:
        with there.database.write() as session:
            return store_ban(session, "ann")

    served, banned = meet(here.database, lambda: one.serve("ann", TASK), ban)
    assert banned
    with here.database.read() as session:
        assert session.get_one(Match, served.id).released_at is not None


def store_ban(session, judge: str) -> bool:
    return bans.ban(session, judge=judge, reason="bad", now=testing.START)


@pytest.mark.parametrize("judges", [("ann", "ann"), ("ann", "ben")])
def test_two_bans_at_once_are_both_counted_and_each_judge_is_banned_once(here, there, clock, judges):
    one, _ = rooms(here, there, clock, agents=("ada", "bob", "cyd"), num_seeds=3)
    for judge in ("ann", "ben", "cid"):
        one.answer(one.serve(judge, TASK).id, judge, **form(TASK))
    reader = Incremental(list, lambda value, answer: value.append(answer.judge))

    def read() -> list[str]:
        with there.database.read() as session:
            return list(reader.current(session))

    def ban(archive, judge: str) -> bool:
        with archive.database.write() as session:
            return store_ban(session, judge)

    assert read() == ["ann", "ben", "cid"]
    meet(here.database, lambda: ban(here, judges[0]), lambda: ban(there, judges[1]), read)
    assert num_rows(here, Ban) == len(set(judges))
    assert read() == [judge for judge in ("ann", "ben", "cid") if judge not in judges]


def test_matches_of_silent_judges_are_released_without_waiting_for_judges_who_are_there(here, there, clock):
    one, _ = rooms(here, there, clock, tasks=TASKS[:2])
    silent, back = one.serve("sid", TASK), one.serve("ann", TASK)
    clock.advance(601)
    num_released = []

    def release() -> None:
        with there.database.write() as session:
            num_released.append(store.release_unseen(session, seen_before=clock() - timedelta(seconds=600), now=clock()))

    def answer() -> None:
        one.answer(back.id, "ann", **form(TASK))

    meet(here.database, answer, release, lambda: num_released.append("not waiting"))
    assert num_released == [1, "not waiting"]
    assert one.get(silent.id, "sid").state == "released"
    assert one.get(back.id, "ann").state == "answered"


def test_answers_about_segments_that_two_servers_import_at_once_come_in_once(here, there):
    with here.database.write() as session:
        left, right = (testing.add_episode(session, find(TASK), name, 1) for name in ("ada", "bob"))
    sides = {
        side: {"episode": one["id"], "first_step": 0, "last_step": 1, "agent": one["actor"], "is_held_out": False}
        for side, one in (("left", left), ("right", right))
    }
    time_at = testing.START.isoformat()
    answer = sides | {"match": "m", "judge": "ann", "served_at": time_at, "answered_at": time_at, "viewing": {}}
    document = {"version": VERSION, "answers": [answer | {"outcome": "left", "reason": ""}]}
    imports = meet(here.database, *(lambda one=one: import_segments(one, document, "set", "file") for one in (here, there)))
    assert [(one["imported"], one["there_before"]) for one in imports] == [(1, 0), (0, 1)]


@pytest.mark.long_proof
def test_many_judges_of_two_servers_beside_bans_and_a_reader(here, there, clock):
    both = rooms(here, there, clock, tasks=TASKS, agents=[f"agent-{number}" for number in range(3)], num_seeds=2)
    banned = [f"judge-{number}" for number in range(4)]
    reader = Incremental(list, lambda value, answer: value.append(answer))
    holds, num_left = [], [NUM_JUDGES]

    def judge(number: int) -> None:
        judging, name, rng = both[number % 2], f"judge-{number}", np.random.default_rng(number)
        answered = 0
        while answered < NUM_EACH:
            try:
                match = judging.serve(name)
                begin_s = time.perf_counter()
                end_s = time.perf_counter()
                judging.answer(match.id, name, **form(match.task, rng.choice(["left", "right"]).item()))
            except NothingToJudgeError:
                continue
            except BannedError:
                break
            with there.database.read() as session:
                pair = store.match_to_read(session, match.id)
            holds.append((frozenset((pair.left_episode_id, pair.right_episode_id)), begin_s, end_s))
            answered += 1
        num_left[0] -= 1

    def work(number: int) -> None:
        if number < NUM_JUDGES:
            judge(number)
        elif number == NUM_JUDGES:
            for name in banned:
                with there.database.write() as session:
                    store_ban(session, name)
        else:
            while num_left[0]:
                with there.database.read() as session:
                    reader.current(session)

    in_threads(NUM_JUDGES + 2, work)
    assert overlaps(holds) == []
    with there.database.read() as session:
        log = list(store.answers(session))
        assert reader.current(session) == log
        open_now = session.scalars(sa.select(Match.judge).where(Match.answered_at.is_(None), Match.released_at.is_(None))).all()
    assert open_now == []
    assert {answer.judge: NUM_EACH for answer in log} == Counter(answer.judge for answer in log)
    assert {answer.judge for answer in log} == {f"judge-{number}" for number in range(4, NUM_JUDGES)}
    replay = rate_all(Comparison(a.left, a.right, a.outcome, a.task, a.judge) for a in log)
    expected = [(row.agent, row.mu, row.sigma) for row in replay.overall.leaderboard()]
    for judging in both:
        assert [(row["agent"], row["mu"], row["sigma"]) for row in judging.leaderboard()["rows"]] == expected
