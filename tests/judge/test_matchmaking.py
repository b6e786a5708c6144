"""The first pair of the order that can be shown is next; never two tasks, versions or seeds; sides and ties by chance alone."""

import math

import numpy as np

from interplay.judge.pairing.matchmaking import AgentPair, Candidate, ChosenEpisodes, JudgeHistory, choose

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


def ids(pairing: ChosenEpisodes) -> frozenset[str]:
    return frozenset(side.episode_id for side in pairing)


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


def test_only_who_held_the_same_seat_is_compared():
    left, right = pool("a", seeds=(1,)), [one._replace(seat="right") for one in pool("b", seeds=(1,))]
    assert pick(left + right, [AB]) is None
    assert pick([one._replace(seat="right") for one in left] + right, [AB]) is not None
