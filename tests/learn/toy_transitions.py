"""Transitions made by hand."""

import numpy as np

from interplay.learn.transitions import EpisodeCounts, Owner, Transitions


def make_transitions(
    pictures, actions, num_episodes, *, stack=0, at=None, first=None, rewards=None, terminated=None, until_takeover=None
):
    """Transitions made by hand: episodes of equal length, one picture a decision unless `at` says otherwise."""
    size = len(actions)
    return Transitions(
        pictures,
        stack,
        at=np.arange(size) if at is None else at,
        first=np.zeros(size, int) if first is None else first,
        actions=np.asarray(actions, np.int64),
        rewards=np.zeros(size) if rewards is None else rewards,
        terminated=np.zeros(size, bool) if terminated is None else terminated,
        truncated=np.zeros(size, bool),
        steps=np.arange(size),
        held=np.ones(size, int),
        offsets=np.zeros(size, int),
        episodes=np.arange(size) * num_episodes // size,
        owners=np.zeros(size, int),
        until_takeover=np.full(size, -1) if until_takeover is None else until_takeover,
        labels=np.full(size, -1),
        counts=tuple(EpisodeCounts(f"e{index}", index, 160, size // num_episodes) for index in range(num_episodes)),
        names=(Owner("ann", "human"),),
    )


def corridor(*, rewarded=True):
    """Ten episodes in a corridor of four places: right (1) leads to the reward at its end, left (0) back, players do both."""
    rng = np.random.default_rng(0)
    seen, actions, rewards, ends, at, first = [], [], [], [], [], []
    for _episode in range(10):
        place, start = 0, len(seen)
        for _ in range(12):
            at.append(len(seen))
            first.append(start)
            seen.append(np.eye(4)[place])
            actions.append(int(rng.integers(2)))
            place = max(0, place + (1 if actions[-1] else -1))
            rewards.append(float(place == 4) if rewarded else 0.0)
            ends.append(place == 4)
            place = 0 if place == 4 else place
        seen.append(np.eye(4)[place])
    return make_transitions(
        np.array(seen, np.float32),
        actions,
        10,
        at=np.array(at),
        first=np.array(first),
        rewards=np.array(rewards),
        terminated=np.array(ends),
    )
