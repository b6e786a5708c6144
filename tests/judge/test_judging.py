"""The life of a match: served, watched, abandoned, released, answered once, and what the leaderboard makes of it."""

import dataclasses
import json
import re
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa
from judging_world import AT_ONCE, REASON, START, TASKS, Clock, add_episode, episode_id, fill, form, open_study, played

import interplay
from interplay.cli import _run as cli
from interplay.errors import NotFoundError
from interplay.judge import Judging, Rules, RulesError
from interplay.judge.bans import Bans
from interplay.judge.errors import (
    AlreadyAnsweredError,
    EveryPairTakenError,
    ForeignMatchError,
    InvalidAnswerError,
    NothingToJudgeError,
    NothingToUndoError,
    QuotaReachedError,
    StudyClosedError,
    StudyFullError,
    SupersededError,
    TooEarlyError,
    UnknownMatchError,
    VideosBeingMadeError,
)
from interplay.judge.pairing import pairing_rule
from interplay.judge.pairing.candidates import Candidates
from interplay.judge.ratings.ratings import Ratings
from interplay.judge.serving.open_matches import UNTOUCHED_AFTER_S
from interplay.rank import expected_drop
from interplay.store import Answer, EpisodeRow, EpisodeStatistic, Match
from interplay.store import entrants as store_entrants
from interplay.store import judging as store
from interplay.store.judging import bans
from interplay.store.study import studies
from interplay.tasks import find

TASK = TASKS[0]


def row(judging, match) -> Match:
    """What the database holds about a match."""
    with judging.database.read() as session:
        found = store.match_by_id(session, match.id)
        assert found is not None
        return found


def episodes(judging, match) -> frozenset[str]:
    found = row(judging, match)
    return frozenset((found.left_episode_id, found.right_episode_id))


def answer(judging, match, judge, outcome="left"):
    return judging.answer(match.id, judge, study=match.study, **form(match.task, outcome))


def two_agents_one_seed(archive, clock) -> Judging:
    """A room with exactly one pair of videos."""
    return Judging(fill(archive, agents=("ada", "bob"), num_seeds=1), rng=np.random.default_rng(0), clock=clock, rules=AT_ONCE)


# Serving


def test_a_match_shows_the_task_and_its_form_and_nothing_of_the_players(judging):
    match = judging.serve("eve", TASK)
    assert (match.task, match.title, match.state) == (TASK, find(TASK).title, "open")
    assert match.questions == find(TASK).questions
    text = str(dataclasses.asdict(match))
    found = row(judging, match)
    for secret in (found.left_agent, found.right_agent, found.left_episode_id, found.task_hash, str(found.seed)):
        assert secret not in text


def test_asking_again_gives_the_same_match(judging, clock):
    first = judging.serve("eve")
    clock.advance(500)
    assert judging.serve("eve").id == first.id
    clock.advance(500)  # asking was a sign of life
    assert judging.serve("eve", TASK).id == first.id


def test_videos_that_are_missing_are_asked_for_those_of_the_next_pair_first(archive, clock):
    fill(archive, agents=("ada", "bob"), num_seeds=2)
    wanted = []
    judging = Judging(
        archive,
        rng=np.random.default_rng(0),
        clock=clock,
        rules=AT_ONCE,
        want_video=lambda episode: wanted.append(episode) or True,
    )
    missing = {episode_id(TASK, agent, find(TASK).held_out_seeds[0]) for agent in ("ada", "bob")}
    for episode in missing:
        archive.video_path(episode).unlink()
    first = judging.serve("eve")  # of the other seed
    assert not episodes(judging, first) & missing
    judging.answer(first.id, "eve", **form(TASK))
    wanted.clear()
    assert episodes(judging, judging.serve("eve")) == episodes(judging, first)  # again, rather than nothing
    assert set(wanted[:2]) == missing
    for path in (archive.root / "media").glob("*.mp4"):
        path.unlink()
    with pytest.raises(VideosBeingMadeError, match="are being made; try again in a minute"):
        judging.serve("fay")


def test_two_judges_get_two_pairs(judging):
    assert episodes(judging, judging.serve("eve")) != episodes(judging, judging.serve("fay"))


def test_the_pair_of_agents_that_the_policy_wants_is_served(archive, clock):
    rules = Rules(min_viewing_s=0, min_watched_share=0, policy="information")
    judging = Judging(fill(archive), rng=np.random.default_rng(0), clock=clock, rules=rules)
    for number in range(12):
        with judging.database.read() as session, judging.ratings.current(session) as standings:
            rating = standings.task(TASK).rating
            drops = {
                frozenset(pair): expected_drop(*map(rating, pair)) for pair in (("ada", "bob"), ("ada", "cyd"), ("bob", "cyd"))
            }
        match = judging.serve(f"judge-{number}", TASK)
        found = row(judging, match)
        assert drops[frozenset((found.left_agent, found.right_agent))] == pytest.approx(max(drops.values()))
        answer(judging, match, f"judge-{number}", ("left", "right", "draw")[number % 3])


def test_only_ratings_of_the_same_task_count(archive, clock):
    judging = Judging(fill(archive, tasks=TASKS[:2], num_seeds=11), rng=np.random.default_rng(0), clock=clock, rules=AT_ONCE)
    for number in range(9):  # settle ada and bob in one task
        match = judging.serve(f"judge-{number}", TASKS[0])
        answer(judging, match, f"judge-{number}")
    with judging.database.read() as session, judging.ratings.current(session) as standings:
        assert standings.task(TASKS[1]).rating("ada").sigma == pytest.approx(25 / 3)
    assert judging.leaderboard(TASKS[1])["rows"] == []


def test_only_held_out_seeds_are_shown(archive, clock):
    fill(archive, agents=("ada", "bob"), num_seeds=1)
    for agent in ("ada", "bob"):
        for copy in range(5):
            add_episode(archive, TASK, agent, 77, copy=copy)
    judging = Judging(archive, rng=np.random.default_rng(0), clock=clock, rules=AT_ONCE)
    assert row(judging, judging.serve("eve")).seed == find(TASK).held_out_seeds[0]
    with pytest.raises(NothingToJudgeError):
        judging.serve("fay")


def test_versions_of_a_task_are_not_mixed(archive, clock):
    fill(archive, agents=("ada",), num_seeds=1)
    seed = find(TASK).held_out_seeds[0]
    add_episode(archive, TASK, "bob", seed, task_hash="another-version")
    with archive.database.write() as session:
        store_entrants.admit(session, name="bob", task=TASK, kind="agent", now=START)
    judging = Judging(archive, rng=np.random.default_rng(0), clock=clock, rules=AT_ONCE)
    with pytest.raises(NothingToJudgeError):
        judging.serve("eve", TASK)


def test_an_interrupted_episode_is_not_shown(archive, clock):
    fill(archive, agents=("ada",), num_seeds=1)
    add_episode(archive, TASK, "bob", find(TASK).held_out_seeds[0], outcome="interrupted")
    with archive.database.write() as session:
        store_entrants.admit(session, name="bob", task=TASK, kind="agent", now=START)
    with pytest.raises(NothingToJudgeError):
        Judging(archive, rng=np.random.default_rng(0), clock=clock, rules=AT_ONCE).serve("eve", TASK)


def test_an_episode_without_its_video_is_not_shown(archive, clock):
    judging = two_agents_one_seed(archive, clock)
    match = judging.serve("eve")
    path, _ = judging.video(match.id, "left", "eve")
    judging.release(match.id, "eve")
    path.unlink()
    with pytest.raises(NothingToJudgeError, match="no two agents with videos of the same seed"):
        judging.serve("fay")


def test_a_match_whose_video_vanished_is_not_served_again(judging):
    match = judging.serve("eve")
    judging.video(match.id, "left", "eve")[0].unlink()
    assert judging.serve("eve").id != match.id


def test_without_a_task_every_task_has_its_turn(archive, clock):
    judging = Judging(fill(archive, tasks=TASKS, num_seeds=11), rng=np.random.default_rng(0), clock=clock, rules=AT_ONCE)
    assert {judging.serve(f"judge-{number}").task for number in range(30)} == set(TASKS)


def test_asking_for_another_task_gives_back_the_open_match(archive, clock):
    judging = Judging(fill(archive, tasks=TASKS[:2]), rng=np.random.default_rng(0), clock=clock, rules=AT_ONCE)
    first = judging.serve("eve", TASKS[0])
    assert judging.serve("eve", TASKS[1]).task == TASKS[1]
    assert row(judging, first).released_at is not None


def test_asking_in_vain_for_another_task_keeps_the_open_match(judging):
    first = judging.serve("eve", TASK)
    with pytest.raises(NothingToJudgeError):
        judging.serve("eve", TASKS[1])
    assert row(judging, first).released_at is None


def test_an_unknown_task_is_answered_with_the_nearest(judging):
    with pytest.raises(NotFoundError, match="unknown task 'atari/brakout'; did you mean 'atari/breakout'"):
        judging.serve("eve", "atari/brakout")


def test_when_all_is_before_judges_the_refusal_says_so(archive, clock):
    judging = two_agents_one_seed(archive, clock)
    judging.serve("eve")
    with pytest.raises(NothingToJudgeError, match="others are comparing every pair of videos there is"):
        judging.serve("fay")


def test_an_empty_study_says_how_to_begin(archive, clock):
    with pytest.raises(NothingToJudgeError, match="interplay play TASK --agent random --seeds heldout"):
        Judging(archive, rng=np.random.default_rng(0), clock=clock, rules=AT_ONCE).serve("eve")


def test_a_withdrawn_agent_is_served_no_more_and_can_come_back(judging, archive):
    with archive.database.write() as session:
        assert store_entrants.withdraw(session, name="cyd", now=START) == 1
    for number in range(3):
        found = row(judging, judging.serve(f"judge-{number}"))
        assert {found.left_agent, found.right_agent} == {"ada", "bob"}
    with pytest.raises(NothingToJudgeError):
        judging.serve("judge-3")
    with archive.database.write() as session:
        store_entrants.admit(session, name="cyd", task=TASK, kind="agent", now=START)
    judging.serve("judge-3")


# Signs of life


def test_an_abandoned_match_is_released_and_its_pair_comes_back(archive, clock):
    judging = two_agents_one_seed(archive, clock)
    abandoned = judging.serve("eve")
    clock.advance(1)
    judging.heartbeat(abandoned.id, "eve")
    clock.advance(599)
    with pytest.raises(NothingToJudgeError):
        judging.serve("fay")
    clock.advance(2)
    assert episodes(judging, judging.serve("fay")) == episodes(judging, abandoned)
    assert judging.get(abandoned.id, "eve").state == "released"


def test_heartbeats_keep_a_match_for_hours(archive, clock):
    judging = two_agents_one_seed(archive, clock)
    match = judging.serve("eve")
    for _ in range(30):
        clock.advance(500)
        assert judging.heartbeat(match.id, "eve") == "open"
        with pytest.raises(NothingToJudgeError):
            judging.serve("fay")
    assert answer(judging, match, "eve").sequence == 1


def test_a_page_that_wakes_up_gets_its_match_back_if_the_pair_is_free(archive, clock):
    judging = two_agents_one_seed(archive, clock)
    match = judging.serve("eve")
    clock.advance(700)
    other = judging.serve("fay")
    assert judging.heartbeat(match.id, "eve") == "released"
    judging.release(other.id, "fay")
    assert judging.heartbeat(match.id, "eve") == "open"
    with pytest.raises(NothingToJudgeError):
        judging.serve("fay")


def test_a_page_that_wakes_up_does_not_give_its_judge_a_second_match(judging, clock):
    first = judging.serve("eve")
    clock.advance(700)
    second = judging.serve("eve")
    assert second.id != first.id
    assert judging.heartbeat(first.id, "eve") == "released"
    assert judging.heartbeat(second.id, "eve") == "open"


def test_releasing_twice_is_as_good_as_once(judging):
    match = judging.serve("eve")
    judging.release(match.id, "eve")
    judging.release(match.id, "eve")
    assert judging.get(match.id, "eve").state == "released"


def test_a_match_with_an_agent_withdrawn_since_may_be_finished_and_is_not_begun_again(archive, clock):
    judging = Judging(fill(archive), rng=np.random.default_rng(0), clock=clock, rules=AT_ONCE)
    match = judging.serve("eve")
    judging.heartbeat(match.id, "eve", draft())
    with archive.database.write() as session:
        gone = row(judging, match).left_agent
        store_entrants.withdraw(session, name=gone, now=START)
    assert judging.serve("eve").id == match.id  # it is before its judge
    clock.advance(700)
    judging.serve("fay")  # releases it
    judging.release(judging.serve("fay").id, "fay")
    fresh = judging.serve("eve")
    assert gone not in (row(judging, fresh).left_agent, row(judging, fresh).right_agent)
    assert answer(judging, match, "eve").sequence == 1  # a judge's work is not thrown away


# Answers


def test_an_answer_is_kept_whole(judging, clock):
    match = judging.serve("eve")
    clock.advance(90)
    assert answer(judging, match, "eve", "right") == (1, 1)
    with judging.database.read() as session:
        (kept,) = session.scalars(sa.select(Answer)).all()
    found = row(judging, match)
    assert (kept.match_id, kept.task, kept.seed, kept.judge) == (match.id, TASK, found.seed, "eve")
    assert (kept.left_agent, kept.right_agent, kept.outcome) == (found.left_agent, found.right_agent, "right")
    assert (kept.responses, kept.reason, kept.viewing) == (form(TASK)["responses"], REASON, played())
    assert (kept.duration_s, kept.created_at, found.answered_at) == (90, clock(), clock())
    assert judging.get(match.id, "eve").state == "answered"


def test_sequence_and_the_judges_own_count(judging):
    counts = []
    for judge in ("eve", "fay", "eve"):
        counts.append(answer(judging, judging.serve(judge), judge))
    assert counts == [(1, 1), (2, 1), (3, 2)]


def test_a_second_answer_is_refused_and_the_first_stands(judging):
    match = judging.serve("eve")
    answer(judging, match, "eve", "left")
    with pytest.raises(AlreadyAnsweredError, match="an answer cannot be changed"):
        answer(judging, match, "eve", "right")
    with judging.database.read() as session:
        assert [found.outcome for found in store.answers(session)] == ["left"]


def test_an_answer_taken_back_counts_nowhere_and_its_videos_come_again(judging, clock):
    first = judging.serve("eve")
    answer(judging, first, "eve", "left")
    second = judging.serve("eve")
    again = judging.undo("eve")
    assert episodes(judging, again) == episodes(judging, first)
    assert (again.id != first.id, again.num_answered, judging.serve("eve").id) == (True, 0, again.id)
    with pytest.raises(NothingToUndoError):
        judging.undo("eve")
    assert row(judging, second).released_at == clock()
    with judging.database.read() as session:
        assert list(store.answers(session)) == []
        assert session.scalar(sa.select(sa.func.count()).select_from(Answer)) == 1, "it stays in the log"
        with judging.ratings.current(session) as standings:
            assert standings.task(TASK).num_answers == 0
    assert answer(judging, again, "eve", "right") == (2, 1)
    with judging.database.read() as session:
        assert [found.outcome for found in store.answers(session)] == ["right"]
    assert judging.undo("eve").num_answered == 0, "also the second answer"
    assert Bans(judging.database).ban(["eve"], "spam").changed == {"eve": 0}
    with judging.database.read() as session:
        assert store.answered_since(session, "eve", clock() - timedelta(days=1), None) == []
        assert not store.has_answered_since(session, row(judging, first))


def test_only_ones_own_last_answer_of_the_last_minutes_is_taken_back(judging, clock):
    with pytest.raises(NothingToUndoError, match="you gave no answer in the last 10 minutes to take back"):
        judging.undo("eve")
    answer(judging, judging.serve("eve"), "eve")
    with pytest.raises(NothingToUndoError):
        judging.undo("fay")
    clock.advance(601)
    with pytest.raises(NothingToUndoError):
        judging.undo("eve")


@pytest.mark.parametrize("deed", ["get", "heartbeat", "release", "answer", "video"])
def test_other_judges_and_unknown_matches_are_refused(judging, deed):
    match = judging.serve("eve")

    def do(match_id: str):
        if deed == "answer":
            return judging.answer(match_id, "mallory", **form(TASK))
        if deed == "video":
            return judging.video(match_id, "left", "mallory")
        return getattr(judging, deed)(match_id, "mallory")

    with pytest.raises(ForeignMatchError, match="served to another judge"):
        do(match.id)
    with pytest.raises(UnknownMatchError, match="there is no match"):
        do("0" * 24)
    assert judging.get(match.id, "eve").state == "open"


@pytest.mark.parametrize("deed", ["heartbeat", "release"])
def test_an_answered_match_is_over(judging, deed):
    match = judging.serve("eve")
    answer(judging, match, "eve")
    with pytest.raises(AlreadyAnsweredError):
        getattr(judging, deed)(match.id, "eve")


def test_a_faulty_form_leaves_the_match_open(judging):
    match = judging.serve("eve")
    with pytest.raises(InvalidAnswerError):
        judging.answer(match.id, "eve", **{**form(TASK), "reason": "short"})
    assert judging.serve("eve").id == match.id
    assert answer(judging, match, "eve").sequence == 1


def test_a_late_answer_is_taken_even_when_another_judge_has_answered_about_the_pair(archive, clock):
    judging = two_agents_one_seed(archive, clock)
    late = judging.serve("eve")
    clock.advance(3600)
    answer(judging, judging.serve("fay"), "fay")
    assert answer(judging, late, "eve").sequence == 2
    assert judging.leaderboard()["num_answers"] == 2


def test_a_pair_that_was_asked_for_and_never_looked_at_keeps_nobody_waiting(archive, clock):
    judging = two_agents_one_seed(archive, clock)
    abandoned = judging.serve("eve")
    clock.advance(UNTOUCHED_AFTER_S)
    with pytest.raises(
        EveryPairTakenError, match="a pair is free again when its judge has answered, or ten minutes after they left"
    ):
        judging.serve("fay")
    clock.advance(1)
    watched = judging.serve("fay")
    assert {watched.id, abandoned.id} == {watched.id, judging.get(abandoned.id, "eve").id}
    assert judging.get(abandoned.id, "eve").state == "released"
    # A page that was heard of once keeps its pair for the whole time.
    clock.advance(30)
    assert judging.heartbeat(watched.id, "fay") == "open"
    clock.advance(UNTOUCHED_AFTER_S + 1)
    with pytest.raises(EveryPairTakenError):
        judging.serve("gil")
    assert answer(judging, abandoned, "eve").sequence == 1  # and no work is thrown away


def test_a_late_answer_is_refused_when_the_same_judge_has_answered_about_the_pair_since(archive, clock):
    judging = two_agents_one_seed(archive, clock)
    late = judging.serve("eve")
    clock.advance(3600)
    again = judging.serve("eve")
    assert again.id != late.id
    answer(judging, again, "eve")
    with pytest.raises(SupersededError, match="you answered another match with the same two videos"):
        answer(judging, late, "eve")
    assert judging.leaderboard()["num_answers"] == 1


def test_a_page_that_wakes_up_after_its_judge_answered_in_another_window_gets_no_second_answer(archive, clock):
    judging = two_agents_one_seed(archive, clock)
    late = judging.serve("eve")
    clock.advance(700)
    answer(judging, judging.serve("eve"), "eve")
    assert judging.heartbeat(late.id, "eve") == "released"
    with pytest.raises(SupersededError):
        answer(judging, late, "eve")
    assert judging.leaderboard()["num_answers"] == 1


def test_a_match_open_beside_a_late_answer_about_its_videos_is_refused_and_not_served_again(archive, clock):
    judging = two_agents_one_seed(archive, clock)
    late = judging.serve("eve")
    clock.advance(700)
    again = judging.serve("eve")
    clock.advance(1)
    answer(judging, late, "eve")
    with pytest.raises(SupersededError):
        answer(judging, again, "eve")
    clock.advance(1)
    fresh = judging.serve("eve")
    assert fresh.id != again.id
    clock.advance(1)
    assert answer(judging, fresh, "eve").sequence == 2  # who has seen everything may be asked once more


# The leaderboard


def test_the_leaderboard_tells_kinds_unrated_agents_and_the_next_pair(judging, archive):
    with archive.database.write() as session:
        store_entrants.admit(session, name="ada", task=TASK, kind="scripted", now=START)
        store_entrants.withdraw(session, name="bob", now=START)
    board = judging.leaderboard(TASK)
    assert (board["rows"], board["unrated"], board["num_answers"], board["num_judges"]) == ([], ["ada", "cyd"], 0, 0)
    assert board["next_pair"] == {"task": TASK, "agents": ("ada", "cyd"), "worth": pytest.approx(0.188, abs=0.001)}
    match = judging.serve("eve", TASK)
    answer(judging, match, "eve")
    with archive.database.write() as session:
        store_entrants.withdraw(session, name="cyd", now=START)
    board = judging.leaderboard(TASK)
    assert {found["agent"]: (found["kind"], found["withdrawn"]) for found in board["rows"]} == {
        "ada": ("scripted", False),
        "cyd": ("agent", True),
    }
    assert (board["unrated"], board["next_pair"], board["num_judges"]) == ([], None, 1)


def test_outcome_checks_stand_beside_the_answers(archive, clock):
    rules = Rules(min_viewing_s=0, min_watched_share=0, policy="information")
    judging = Judging(fill(archive), rng=np.random.default_rng(0), clock=clock, rules=rules)
    assert judging.leaderboard(TASK)["automatic"] is None
    with archive.database.write() as session:  # ada passes on all three seeds, bob on one, cyd is not checked
        for agent, passes in (("ada", (1, 1, 1)), ("bob", (1, 0, 0))):
            for seed, value in zip(find(TASK).held_out_seeds, passes, strict=False):
                episode = session.get(EpisodeRow, episode_id(TASK, agent, seed))
                episode.statistics.append(EpisodeStatistic(name="automatic_success", number=float(value)))
    assert judging.leaderboard(TASK)["automatic"] == {"num_decided": 0, "num_agreed": 0}
    expected = {"num_decided": 0, "num_agreed": 0}
    for number in range(24):  # the left side wins every time
        served = judging.serve(f"judge-{number}", TASK)
        match = row(judging, served)
        sides = (match.left_agent, match.right_agent)
        decided = sides in (("ada", "bob"), ("bob", "ada")) and match.seed != find(TASK).held_out_seeds[0]
        outcome = "draw" if number % 5 == 4 else "left"
        answer(judging, served, f"judge-{number}", outcome)
        if decided and outcome == "left":
            expected["num_decided"] += 1
            expected["num_agreed"] += sides[0] == "ada"
    assert expected["num_decided"] > expected["num_agreed"] > 0, "the play must hold both kinds"
    board = judging.leaderboard(TASK)
    assert board["automatic"] == expected == judging.leaderboard()["automatic"]
    found = {row["agent"]: (row["num_passed"], row["num_checked"]) for row in board["rows"]}
    assert found == {"ada": (3, 3), "bob": (1, 3), "cyd": (0, 0)}


@pytest.mark.parametrize("name", ["order", "information", "round-robin", "focus"])
def test_the_next_pair_is_the_one_that_matchmaking_serves(archive, clock, name):
    options = {"agents": ["agent-3"]} if name == "focus" else {}
    rules = Rules(min_viewing_s=0, min_watched_share=0, policy=name, policy_options=options)
    fill(archive, agents=[f"agent-{number}" for number in range(5)])
    judging = Judging(archive, rng=np.random.default_rng(0), clock=clock, rules=rules)
    rng = np.random.default_rng(1)
    for number in range(12):
        served = judging.serve(f"judge-{number}", TASK)
        answer(judging, served, f"judge-{number}", rng.choice(["left", "right", "draw"]).item())
        wanted = judging.leaderboard(TASK)["next_pair"]
        with judging.database.read() as session, judging.ratings.evidence(session) as evidence:
            names = [f"agent-{one}" for one in range(5)]
            pairs = pairing_rule(name, **options).order(names, evidence[TASK], (), np.random.default_rng(number))
        best = max(pair.worth for pair in pairs if name != "focus" or "agent-3" in (pair.a, pair.b))
        assert wanted["worth"] == pytest.approx(best)
        assert name != "focus" or "agent-3" in wanted["agents"]


def test_the_next_pair_stays_the_same_over_reloads(judging):
    assert len({str(judging.leaderboard()["next_pair"]) for _ in range(20)}) == 1


def test_ratings_computed_anew_are_those_carried_on(judging):
    for number in range(5):
        answer(judging, judging.serve(f"judge-{number}"), f"judge-{number}", ("left", "draw")[number % 2])
    before = judging.leaderboard()
    judging.ratings = Ratings()
    assert judging.leaderboard() == before


def test_the_leaderboard_of_an_unknown_task_is_answered_with_the_nearest(judging):
    with pytest.raises(NotFoundError, match="did you mean 'atari/qbert'"):
        judging.leaderboard("atari/qbrt")


def test_a_release_time_that_is_not_positive_is_refused(archive):
    with pytest.raises(ValueError, match="release_after_s must be positive, got 0"):
        Judging(archive, rng=np.random.default_rng(0), release_after_s=0)


# Drafts


def draft(reason: str = "half a sentence") -> dict:
    return {"chosen": [["overall", "left"]], "reason": reason, "viewing": {"events": []}}


def test_a_draft_comes_back_with_its_match_in_any_window(judging):
    match = judging.serve("eve")
    assert match.draft is None
    judging.heartbeat(match.id, "eve", draft())
    judging.heartbeat(match.id, "eve")  # a sign of life without one keeps it
    assert judging.serve("eve").draft == judging.get(match.id, "eve").draft == draft()


def test_a_draft_survives_the_release_of_its_match(archive, clock):
    judging = two_agents_one_seed(archive, clock)
    match = judging.serve("eve")
    judging.heartbeat(match.id, "eve", draft())
    clock.advance(700)
    other = judging.serve("fay")  # the pair went to somebody else
    assert judging.heartbeat(match.id, "eve", draft("a whole one")) == "released"
    judging.release(other.id, "fay")
    again = judging.serve("eve")
    assert (again.id, again.state, again.draft) == (match.id, "open", draft("a whole one"))


def test_a_match_with_a_draft_is_not_gone_on_with_while_its_pair_is_with_another(archive, clock):
    judging = two_agents_one_seed(archive, clock)
    match = judging.serve("eve")
    judging.heartbeat(match.id, "eve", draft())
    clock.advance(700)
    judging.serve("fay")
    with pytest.raises(NothingToJudgeError):
        judging.serve("eve")
    assert judging.get(match.id, "eve").draft == draft()


def test_a_match_given_back_takes_its_draft_along(archive, clock):
    judging = two_agents_one_seed(archive, clock)
    match = judging.serve("eve")
    judging.heartbeat(match.id, "eve", draft())
    judging.release(match.id, "eve")
    fresh = judging.serve("eve")
    assert fresh.id != match.id
    assert (fresh.draft, judging.get(match.id, "eve").draft) == (None, None)


def test_a_heartbeat_on_its_way_brings_nothing_back_that_was_given_back(archive, clock):
    judging = two_agents_one_seed(archive, clock)
    match = judging.serve("eve")
    judging.heartbeat(match.id, "eve", draft())
    judging.release(match.id, "eve")
    clock.advance(1)
    assert judging.heartbeat(match.id, "eve", draft()) == "released"
    assert (judging.get(match.id, "eve").draft, judging.get(match.id, "eve").state) == (None, "released")
    assert judging.serve("eve").id != match.id


def test_a_silent_match_can_be_given_back_for_good(archive, clock):
    judging = two_agents_one_seed(archive, clock)
    match = judging.serve("eve")
    clock.advance(700)
    other = judging.serve("fay")  # releases it
    judging.release(match.id, "eve")
    judging.release(other.id, "fay")
    assert judging.heartbeat(match.id, "eve", draft()) == "released"
    assert judging.get(match.id, "eve").draft is None


def test_an_answered_match_keeps_no_draft(judging):
    match = judging.serve("eve")
    judging.heartbeat(match.id, "eve", draft())
    answer(judging, match, "eve")
    assert judging.get(match.id, "eve").draft is None


def test_a_draft_that_cannot_be_kept_is_refused_and_the_old_one_stays(judging):
    match = judging.serve("eve")
    judging.heartbeat(match.id, "eve", draft())
    for bad in ([], {"reason": "\0"}, {"reason": "x" * 200_000}):
        with pytest.raises(InvalidAnswerError, match="draft"):
            judging.heartbeat(match.id, "eve", bad)
    assert judging.get(match.id, "eve").draft == draft()


# Rules


def room(archive, clock, *, agents: int = 4, num_seeds: int = 3, tasks=TASKS[:1], **rules) -> Judging:
    """A room over a few agents with a study called lab."""
    fill(archive, tasks=tasks, agents=[f"agent-{number}" for number in range(agents)], num_seeds=num_seeds)
    open_study(archive, **rules)
    return Judging(archive, rng=np.random.default_rng(0), clock=clock)


def work(judging, judge: str, num: int) -> list[Match]:
    """Answer so many matches of the study."""
    matches = []
    for _ in range(num):
        served = judging.serve(judge, study="lab")
        matches.append(row(judging, served))
        answer(judging, served, judge)
    return matches


def test_people_must_have_had_time_to_watch_counted_from_serving(archive, clock):
    judging = Judging(fill(archive), rng=np.random.default_rng(0), clock=clock)
    match = judging.serve("eve")
    assert (match.min_viewing_s, match.elapsed_s) == (10, 0)
    judging.heartbeat(match.id, "eve", draft())
    clock.advance(9.5)
    with pytest.raises(TooEarlyError, match="watch both videos for at least 10 seconds") as caught:
        answer(judging, match, "eve")
    assert caught.value.retry_after_s == pytest.approx(0.5)
    again = judging.serve("eve")  # a reload does not begin anew
    assert (again.elapsed_s, again.draft) == (9.5, draft())
    clock.advance(0.5)
    assert answer(judging, match, "eve").sequence == 1


@pytest.mark.parametrize("kind", ["program", "model"])
def test_programs_need_no_time(archive, clock, kind):
    judging = Judging(fill(archive), rng=np.random.default_rng(0), clock=clock)
    match = judging.serve("robot", judge_kind=kind)
    assert match.min_viewing_s == 0
    assert answer(judging, match, "robot").sequence == 1
    assert row(judging, match).judge_kind == kind


def test_a_study_has_rules_of_its_own(archive, clock):
    judging = room(archive, clock, min_viewing_s=30, min_watched_share=0.5, min_reason_chars=5)
    match = judging.serve("eve", study="lab")
    assert (match.study, match.min_viewing_s, match.min_watched_share, match.min_reason_chars) == ("lab", 30, 0.5, 5)
    clock.advance(30)
    short = {**form(TASK), "reason": "short", "viewing": {}}
    with pytest.raises(InvalidAnswerError, match="watch at least 50% of each video"):
        judging.answer(match.id, "eve", study="lab", **short)
    side = {"length_s": 10, "watched_s": 6}
    judging.answer(match.id, "eve", study="lab", **short | {"viewing": {"left": side, "right": side}})
    with judging.database.read() as session:
        (kept,) = session.scalars(sa.select(Answer)).all()
    assert (kept.study, kept.purpose, kept.judge_kind) == ("lab", "rating", "person")


def test_a_study_asks_about_its_own_tasks(archive, clock):
    judging = room(archive, clock, tasks=TASKS)
    open_study(archive, tasks=list(TASKS[:2]))
    assert {judging.serve(f"judge-{number}", study="lab").task for number in range(24)} == set(TASKS[:2])
    with pytest.raises(NothingToJudgeError, match=f"does not ask about {TASKS[2]}; it asks about {TASKS[0]}, {TASKS[1]}"):
        judging.serve("robot", TASKS[2], study="lab", judge_kind="program")


def test_a_fixed_task_stays_with_its_judge(archive, clock):
    judging = room(archive, clock, tasks=TASKS, task_choice="fixed")
    seen = {}
    for number in range(16):
        judge = f"judge-{number % 8}"
        for match in work(judging, judge, 2):
            seen.setdefault(judge, set()).add(match.task)
    assert all(len(tasks) == 1 for tasks in seen.values())
    assert len(set().union(*seen.values())) > 1


@pytest.mark.parametrize("choice", ["fixed", "random"])
def test_people_in_a_study_do_not_choose_their_task(archive, clock, choice):
    judging = room(archive, clock, tasks=TASKS, task_choice=choice)
    match = judging.serve("eve", study="lab")
    for task in TASKS:
        assert judging.serve("eve", task, study="lab").id == match.id
    served = {judging.serve(f"judge-{number}", TASKS[0], study="lab").task for number in range(16)}
    assert len(served) > 1
    assert judging.serve("robot", TASKS[0], study="lab", judge_kind="program").task == TASKS[0]


def test_a_judge_gives_no_more_answers_than_asked_for(archive, clock):
    judging = room(archive, clock, max_answers_per_judge=3)
    assert judging.serve("eve", study="lab").num_wanted == 3
    work(judging, "eve", 3)
    with pytest.raises(QuotaReachedError, match="all 3 answers that one judge may give"):
        judging.serve("eve", study="lab")
    judging.serve("fay", study="lab")
    judging.serve("eve")  # the open room has no such limit


def test_a_late_answer_does_not_go_over_the_quota(archive, clock):
    judging = room(archive, clock, max_answers_per_judge=2)
    late = judging.serve("eve", study="lab")
    clock.advance(700)
    work(judging, "eve", 2)
    with pytest.raises(QuotaReachedError):
        answer(judging, late, "eve")
    assert judging.leaderboard()["num_answers"] == 2


def test_a_full_study_takes_nobody_new_and_the_answers_on_their_way(archive, clock):
    judging = room(archive, clock, target_answers=3)
    on_its_way = judging.serve("gus", study="lab")
    work(judging, "eve", 2)
    work(judging, "fay", 1)
    with pytest.raises(StudyFullError, match="the 3 answers it asked for"):
        judging.serve("fay", study="lab")
    assert judging.serve("gus", study="lab").id == on_its_way.id
    answer(judging, on_its_way, "gus")
    with archive.database.write() as session:
        bans.ban(session, judge="eve", reason="x", now=START)
    judging.serve("fay", study="lab")  # what does not count is asked for again


def test_a_closed_study_serves_nothing_new_and_takes_what_it_has_served(archive, clock):
    judging = room(archive, clock)
    match = judging.serve("eve", study="lab")
    judging.heartbeat(match.id, "eve", draft(), study="lab")
    with archive.database.write() as session:
        studies.close_study(session, "lab", START)
    with pytest.raises(StudyClosedError, match="closed and needs no more answers"):
        judging.serve("fay", study="lab")
    assert judging.serve("eve", study="lab").draft == draft()
    assert answer(judging, match, "eve").sequence == 1
    with pytest.raises(StudyClosedError):
        judging.serve("eve", study="lab")


def test_an_unknown_study_is_answered_with_the_nearest(archive, clock):
    judging = room(archive, clock)
    with pytest.raises(NotFoundError, match="unknown study 'lap'; did you mean 'lab'"):
        judging.serve("eve", study="lap")


def test_rules_that_cannot_be_followed_name_the_study(archive, clock):
    judging = room(archive, clock, task_choice="any")
    with pytest.raises(
        RulesError, match=r"study lab: \[judging\]: task_choice: 'any' is not known\nRemedy: write random or fixed"
    ):
        judging.serve("eve", study="lab")


def test_a_new_version_of_a_study_holds_at_once(archive, clock):
    judging = room(archive, clock, min_reason_chars=50)
    assert judging.serve("eve", study="lab").min_reason_chars == 50
    open_study(archive, min_reason_chars=60)
    assert judging.serve("eve", study="lab").min_reason_chars == 60


def test_a_pair_is_shown_to_a_judge_no_more_often_than_allowed(archive, clock):
    judging = room(archive, clock, agents=2, num_seeds=2, max_shows_of_pair=1)
    pairs = [frozenset((match.left_episode_id, match.right_episode_id)) for match in work(judging, "eve", 2)]
    assert len(set(pairs)) == 2
    with pytest.raises(NothingToJudgeError, match="you have compared everything that one judge can compare"):
        judging.serve("eve", study="lab")
    judging.serve("fay", study="lab")


def test_a_judge_answers_about_two_agents_no_more_often_than_allowed(archive, clock):
    judging = room(archive, clock, agents=3, num_seeds=5, max_answers_of_agents=2)
    counts = {}
    for match in work(judging, "eve", 6):
        pair = frozenset((match.left_agent, match.right_agent))
        counts[pair] = counts.get(pair, 0) + 1
    assert sorted(counts.values()) == [2, 2, 2]
    with pytest.raises(NothingToJudgeError, match="you have compared everything"):
        judging.serve("eve", study="lab")


def test_the_open_match_of_another_study_goes_back(archive, clock):
    judging = room(archive, clock)
    first = judging.serve("eve")
    second = judging.serve("eve", study="lab")
    assert second.id != first.id
    assert judging.get(first.id, "eve").state == "released"


def test_examples_come_with_the_matches_of_their_task(archive, clock):
    examples = [{"task": task, "video": "/media/x.mp4", "caption": task} for task in TASKS[:2]]
    judging = room(archive, clock, examples=[*examples, {"video": "/media/y.mp4", "caption": "all"}])
    assert [example.caption for example in judging.serve("eve", study="lab").examples] == [TASKS[0], "all"]


def test_a_preview_reserves_and_stores_nothing(archive, clock):
    judging = room(archive, clock)
    seen = [judging.preview(study="lab") for _ in range(3)]
    assert len({(str(one.left), str(one.right)) for one in seen}) == 1
    assert archive.has_video(seen[0].left)
    assert seen[0].left != seen[0].right
    assert (seen[0].match.id, seen[0].match.task) == ("", TASK)
    with judging.database.read() as session:
        assert session.scalars(sa.select(Match)).all() == []


# The log is only ever added to


def test_no_code_changes_or_deletes_answers():
    package = Path(interplay.__file__).parent
    for path in sorted(package.rglob("*.py")):
        if "migrations" in path.parts:
            continue
        text = path.read_text()
        assert not re.search(r"\b(update|delete)\(\s*Answer\b", text), path
        assert not re.search(r"(?i)\b(update\s+answers|delete\s+from\s+answers)\b", text), path


def test_ratings_count_what_is_added_after_a_change_of_what_counts(judging, archive):
    for judge in ("eve", "fay"):
        answer(judging, judging.serve(judge), judge)
    assert judging.leaderboard()["num_answers"] == 2
    with archive.database.write() as session:
        bans.ban(session, judge="eve", reason="x", now=START)
    answer(judging, judging.serve("gus"), "gus")
    assert judging.leaderboard()["num_answers"] == 2


# The pool


def test_an_entry_that_gets_its_video_later_is_known_with_its_length(archive):
    fill(archive, agents=("ada", "bob"), num_seeds=1)
    name = episode_id(TASK, "ada", find(TASK).held_out_seeds[0])
    pool = Candidates()

    def length() -> int:
        with archive.database.read() as session:
            return {one.episode_id: one.num_steps for one in pool.of_task(session, TASK)}[name]

    with archive.database.write() as session:
        session.get(EpisodeRow, name).num_steps = 0
    assert length() == 0
    with archive.database.write() as session:
        episode = session.get(EpisodeRow, name)
        episode.num_steps, episode.created_at = 500, START + timedelta(minutes=1)
    assert length() == 500


# A clock that is set


def test_a_clock_set_back_by_hours_asks_nobody_to_wait_for_hours(archive):
    clock, seconds = Clock(), Clock()
    judging = Judging(fill(archive), rng=np.random.default_rng(0), clock=clock, monotonic=lambda: seconds.now.timestamp())
    match = judging.serve("eve")
    clock.advance(-7200)
    with pytest.raises(TooEarlyError, match="; 10 s are left"):
        answer(judging, match, "eve")
    seconds.advance(10)
    assert judging.get(match.id, "eve").elapsed_s == 10
    answer(judging, match, "eve")
    assert kept_durations(judging) == [10]


def test_a_clock_set_forward_by_a_year_makes_no_answer_a_year_long(archive):
    clock, seconds = Clock(), Clock()
    judging = Judging(fill(archive), rng=np.random.default_rng(0), clock=clock, monotonic=lambda: seconds.now.timestamp())
    match = judging.serve("eve")
    clock.advance(400 * 86_400)
    seconds.advance(42)
    answer(judging, match, "eve")
    assert kept_durations(judging) == [42]


@pytest.mark.parametrize("jump", [-18_000, 34_552_800])
def test_a_duration_that_only_a_wrong_clock_tells_is_unknown(archive, jump):
    """The server was started again in between, so nothing but the clock says when the match was served."""
    clock = Clock()
    fill(archive)
    match = Judging(archive, rng=np.random.default_rng(0), clock=clock).serve("eve")
    clock.advance(jump)
    restarted = Judging(archive, rng=np.random.default_rng(0), clock=clock)
    with pytest.raises(TooEarlyError, match="; 10 s are left"):
        answer(restarted, match, "eve")
    clock.advance(11)
    answer(restarted, match, "eve")
    assert kept_durations(restarted) == [None]
    (summary,) = restarted.judges()
    assert (summary.median_duration_s, summary.minimum_time_share) == (None, None)


def kept_durations(judging) -> list[float | None]:
    with judging.database.read() as session:
        return list(session.scalars(sa.select(Answer.duration_s).order_by(Answer.sequence)))


def test_study_check_and_open_say_how_many_people_can_judge_at_once(archive, tmp_path, capsys):
    fill(archive, agents=("ada", "bob"), num_seeds=2)
    (tmp_path / "caves.toml").write_text(
        '[study]\nid = "caves"\ntitle = "Caves"\nsummary = "Two videos."\nminutes = 5\nanswers = 1\ncontact = "Ada"\n'
        f'instructions = "Watch."\n[pay]\nreward = 1\n[channels.mturk.hit]\nassignments = 3\n[judging]\ntasks = ["{TASK}"]\n'
    )
    for verb in ("check", "open"):
        assert cli(["study", verb, str(tmp_path / "caves.toml"), "--data", str(archive.root)]) == 0
        said = capsys.readouterr().out
        assert "judges     2 at the same time: each pair of games is shown to one person at a time" in said
        assert "Warning: the HIT has 3 assignments, and the others are turned away. Add agents" in said
    fill(archive, agents=("cyd",), num_seeds=1)  # beside each of the other two on one seed
    assert cli(["study", "check", str(tmp_path / "caves.toml"), "--data", str(archive.root), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["judges_at_once"] == 4
