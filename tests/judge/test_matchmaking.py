"""The pair that tells most is shown next; never two tasks, versions or seeds; sides and ties by chance alone."""

import math
from collections import Counter

import numpy as np
import pytest

from interplay.judge.matchmaking import AgentPair, Candidate, JudgeHistory, Pairing, agent_pairs, choose
from interplay.rank import Rating, expected_drop

NEW = JudgeHistory.of([])


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def pool(agents="abc", seeds=(1, 2, 3), task_hash="v1", copies=1):
    return [
        Candidate(agent, task_hash, seed, f"{agent}{seed}{copy or ''}{task_hash}", 100, False)
        for agent in agents
        for seed in seeds
        for copy in range(copies)
    ]


def pick(candidates, pairs, *, taken=frozenset(), history=NEW, shown=None, can_show=lambda candidate: True, seed=0):
    return choose(
        candidates,
        pairs,
        taken=taken,
        history=history,
        times_shown=lambda a, b: shown or {},
        can_show=can_show,
        rng=rng(seed),
    )


def ids(pairing: Pairing) -> frozenset[str]:
    return frozenset(side.episode_id for side in pairing)


# Pairs of agents


def test_pairs_come_by_falling_expected_drop():
    ratings = {"a": Rating(25, 8), "b": Rating(25, 3), "c": Rating(30, 1), "d": Rating(10, 5)}
    pairs = agent_pairs("abcd", ratings.__getitem__, [], rng())
    drops = [pair.expected_drop for pair in pairs]
    assert len(pairs) == 6
    assert drops == sorted(drops, reverse=True)
    assert all(pair.expected_drop == expected_drop(ratings[pair.a], ratings[pair.b]) for pair in pairs)
    best = max(((a, b) for a in "abcd" for b in "abcd" if a < b), key=lambda p: expected_drop(ratings[p[0]], ratings[p[1]]))
    assert pairs[0][:2] == best


def test_equal_pairs_come_in_every_order():
    firsts = Counter(agent_pairs("abc", lambda name: Rating(), [], rng(seed))[0][:2] for seed in range(300))
    assert set(firsts) == {("a", "b"), ("a", "c"), ("b", "c")}
    assert all(abs(count - 100) < 4 * math.sqrt(300 * 2 / 9) for count in firsts.values())


def test_a_pair_that_is_awaited_gives_way_to_others():
    pairs = agent_pairs("abcd", lambda name: Rating(), [("a", "b")], rng())
    assert pairs[0][:2] == ("c", "d")
    assert pairs[-1][:2] == ("a", "b")


def test_twenty_judges_who_come_at_once_are_spread_over_all_agents():
    awaited = []
    for turn in range(20):
        awaited.append(agent_pairs("abcde", lambda name: Rating(), awaited, rng(turn))[0][:2])
    times = Counter(agent for pair in awaited for agent in pair)
    assert all(7 <= times[agent] <= 9 for agent in "abcde")  # 20 matches, 40 seats, 5 agents: 8 each


def test_an_awaited_agent_outside_the_pool_does_no_harm():
    assert agent_pairs("ab", lambda name: Rating(), [("a", "gone"), ("x", "y")], rng())[0][:2] == ("a", "b")


@pytest.mark.parametrize("agents", ["", "a"])
def test_fewer_than_two_agents_make_no_pair(agents):
    assert agent_pairs(agents, lambda name: Rating(), [], rng()) == []


# Episodes


AB, AC = AgentPair("a", "b", 2.0), AgentPair("a", "c", 1.0)


def test_both_sides_share_version_and_seed():
    mixed = pool(seeds=(1, 2), task_hash="v1") + pool(seeds=(2, 3), task_hash="v2")
    for seed in range(100):
        left, right = pick(mixed, [AB], seed=seed)
        assert {left.agent, right.agent} == {"a", "b"}
        assert (left.task_hash, left.seed) == (right.task_hash, right.seed)


def test_agents_without_a_common_seed_or_version_are_passed_over():
    apart = pool("a", seeds=(1,)) + pool("b", seeds=(2,)) + pool("b", seeds=(1,), task_hash="v2")
    assert pick(apart, [AB]) is None
    assert pick(apart + pool("c", seeds=(1,)), [AB, AC]) is not None


def test_the_first_pair_of_agents_wins():
    assert all({side.agent for side in pick(pool(), [AB, AC], seed=seed)} == {"a", "b"} for seed in range(50))


def test_left_and_right_are_even():
    num = 2000
    num_a_left = sum(pick(pool(), [AB], seed=seed).left.agent == "a" for seed in range(num))
    assert abs(num_a_left - num / 2) < 3 * math.sqrt(num) / 2


def test_what_is_before_a_judge_is_not_shown_to_another():
    taken = frozenset({frozenset({"a1v1", "b1v1"}), frozenset({"a2v1", "b2v1"})})
    assert all(ids(pick(pool(), [AB], taken=taken, seed=seed)) == {"a3v1", "b3v1"} for seed in range(30))
    everything = taken | {frozenset({"a3v1", "b3v1"})}
    assert pick(pool(), [AB], taken=everything) is None
    assert {side.agent for side in pick(pool(), [AB, AC], taken=everything)} == {"a", "c"}


def test_a_judge_sees_new_videos_before_any_again():
    seen = []
    for turn in range(6):
        pairing = pick(pool(), [AB, AC], history=JudgeHistory.of(seen), seed=turn)
        assert ids(pairing) not in [pair for _, pair in seen]
        seen.append((pairing.left.seed, ids(pairing)))
    assert ids(pick(pool(), [AB, AC], history=JudgeHistory.of(seen))) in [pair for _, pair in seen]


def test_a_judge_sees_new_seeds_before_known_ones():
    seen = [(1, frozenset({"x", "y"})), (2, frozenset({"x", "z"}))]
    assert all(pick(pool(), [AB], history=JudgeHistory.of(seen), seed=seed).left.seed == 3 for seed in range(30))


def test_what_was_shown_least_is_shown_next():
    shown = {frozenset({"a1v1", "b1v1"}): 2, frozenset({"a2v1", "b2v1"}): 1, frozenset({"a3v1", "b3v1"}): 2}
    assert all(ids(pick(pool(), [AB], shown=shown, seed=seed)) == {"a2v1", "b2v1"} for seed in range(30))


def test_several_episodes_of_one_seed_are_all_used():
    found = {ids(pick(pool(seeds=(1,), copies=2), [AB], seed=seed)) for seed in range(100)}
    assert len(found) == 4


def test_an_episode_without_video_is_never_shown():
    pairing = pick(pool(), [AB], can_show=lambda candidate: candidate.episode_id not in ("a1v1", "b3v1"))
    assert pairing.left.seed == 2
    assert pick(pool(), [AB, AC], can_show=lambda candidate: candidate.agent != "a") is None


def test_a_clip_is_compared_with_a_clip_of_its_length_or_a_game_that_ended_within_it():
    def of(agent, num_steps, was_cut):
        return Candidate(agent, "v1", 1, f"{agent}-{num_steps}", num_steps, was_cut)

    pairs = [AgentPair("a", "b", 1.0)]
    clip = of("a", 1800, True)
    for other, fair in (
        (of("b", 1800, True), True),
        (of("b", 36_000, True), False),
        (of("b", 1200, False), True),
        (of("b", 5000, False), False),
    ):
        assert (pick([clip, other], pairs) is not None) == fair, other
    assert pick([of("a", 900, False), of("b", 5000, False)], pairs) is not None
