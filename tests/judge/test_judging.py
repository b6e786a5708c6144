"""The life of a match: served, watched, abandoned, released, answered once, and what the leaderboard makes of it."""

import dataclasses

import numpy as np
import pytest
import sqlalchemy as sa
from judging_world import REASON, START, TASKS, add_episode, episode_id, fill, form

from interplay.errors import NotFoundError
from interplay.judge import (
    AlreadyAnsweredError,
    ForeignMatchError,
    InvalidAnswerError,
    Judging,
    NothingToJudgeError,
    SupersededError,
    UnknownMatchError,
)
from interplay.judge.ratings import Ratings
from interplay.rank import expected_drop
from interplay.store import Answer, EpisodeRow, EpisodeStatistic, Match
from interplay.store import judging as store
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
    return judging.answer(match.id, judge, **form(match.task, outcome))


def two_agents_one_seed(archive, clock) -> Judging:
    """A room with exactly one pair of videos."""
    return Judging(fill(archive, agents=("ada", "bob"), num_seeds=1), rng=np.random.default_rng(0), clock=clock)


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


def test_two_judges_get_two_pairs(judging):
    assert episodes(judging, judging.serve("eve")) != episodes(judging, judging.serve("fay"))


def test_the_pair_of_agents_that_tells_most_is_served(judging):
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
    judging = Judging(fill(archive, tasks=TASKS[:2], num_seeds=11), rng=np.random.default_rng(0), clock=clock)
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
    judging = Judging(archive, rng=np.random.default_rng(0), clock=clock)
    assert row(judging, judging.serve("eve")).seed == find(TASK).held_out_seeds[0]
    with pytest.raises(NothingToJudgeError):
        judging.serve("fay")


def test_versions_of_a_task_are_not_mixed(archive, clock):
    fill(archive, agents=("ada",), num_seeds=1)
    seed = find(TASK).held_out_seeds[0]
    add_episode(archive, TASK, "bob", seed, task_hash="another-version")
    with archive.database.write() as session:
        store.admit(session, name="bob", task=TASK, kind="agent", now=START)
    judging = Judging(archive, rng=np.random.default_rng(0), clock=clock)
    with pytest.raises(NothingToJudgeError):
        judging.serve("eve", TASK)


def test_an_interrupted_episode_is_not_shown(archive, clock):
    fill(archive, agents=("ada",), num_seeds=1)
    add_episode(archive, TASK, "bob", find(TASK).held_out_seeds[0], outcome="interrupted")
    with archive.database.write() as session:
        store.admit(session, name="bob", task=TASK, kind="agent", now=START)
    with pytest.raises(NothingToJudgeError):
        Judging(archive, rng=np.random.default_rng(0), clock=clock).serve("eve", TASK)


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
    judging = Judging(fill(archive, tasks=TASKS, num_seeds=11), rng=np.random.default_rng(0), clock=clock)
    assert {judging.serve(f"judge-{number}").task for number in range(30)} == set(TASKS)


def test_asking_for_another_task_gives_back_the_open_match(archive, clock):
    judging = Judging(fill(archive, tasks=TASKS[:2]), rng=np.random.default_rng(0), clock=clock)
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
    with pytest.raises(NothingToJudgeError, match="every pair of videos of any task is before a judge right now"):
        judging.serve("fay")


def test_an_empty_study_says_how_to_begin(archive, clock):
    with pytest.raises(NothingToJudgeError, match="interplay play TASK --agent random --seeds heldout"):
        Judging(archive, rng=np.random.default_rng(0), clock=clock).serve("eve")


def test_a_withdrawn_agent_is_served_no_more_and_can_come_back(judging, archive):
    with archive.database.write() as session:
        assert store.withdraw(session, name="cyd", now=START) == 1
    for number in range(3):
        found = row(judging, judging.serve(f"judge-{number}"))
        assert {found.left_agent, found.right_agent} == {"ada", "bob"}
    with pytest.raises(NothingToJudgeError):
        judging.serve("judge-3")
    with archive.database.write() as session:
        store.admit(session, name="cyd", task=TASK, kind="agent", now=START)
    judging.serve("judge-3")


# Signs of life


def test_an_abandoned_match_is_released_and_its_pair_comes_back(archive, clock):
    judging = two_agents_one_seed(archive, clock)
    abandoned = judging.serve("eve")
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
    assert (kept.responses, kept.reason, kept.viewing) == (form(TASK)["responses"], REASON, {"left_s": 12.5})
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
    with pytest.raises(AlreadyAnsweredError, match="answers are kept as given"):
        answer(judging, match, "eve", "right")
    with judging.database.read() as session:
        assert [found.outcome for found in store.answers(session)] == ["left"]


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


def test_a_late_answer_is_refused_when_the_same_judge_has_answered_about_the_pair_since(archive, clock):
    judging = two_agents_one_seed(archive, clock)
    late = judging.serve("eve")
    clock.advance(3600)
    again = judging.serve("eve")
    assert again.id != late.id
    answer(judging, again, "eve")
    with pytest.raises(SupersededError, match="you have answered about the same two videos since"):
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
        store.admit(session, name="ada", task=TASK, kind="scripted", now=START)
        store.withdraw(session, name="bob", now=START)
    board = judging.leaderboard(TASK)
    assert (board["rows"], board["unrated"], board["num_answers"], board["num_judges"]) == ([], ["ada", "cyd"], 0, 0)
    assert board["next_pair"] == {"task": TASK, "agents": ("ada", "cyd"), "expected_drop": pytest.approx(36.91, abs=0.01)}
    match = judging.serve("eve", TASK)
    answer(judging, match, "eve")
    with archive.database.write() as session:
        store.withdraw(session, name="cyd", now=START)
    board = judging.leaderboard(TASK)
    assert {found["agent"]: (found["kind"], found["withdrawn"]) for found in board["rows"]} == {
        "ada": ("scripted", False),
        "cyd": ("agent", True),
    }
    assert (board["unrated"], board["next_pair"], board["num_judges"]) == ([], None, 1)


def test_automatic_evaluation_stands_beside_the_answers(judging, archive):
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
