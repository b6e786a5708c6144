"""Sums of rewards that may be NaN or infinite: the rule is in `docs/episode-format.md` under "Rewards"."""

from __future__ import annotations

import math

import numpy as np

NONFINITE_REWARDS = "nonfinite_rewards"
"""Statistic of an episode in which rewards are NaN or infinite: how many of them, of the first seat."""


def total_of(rewards: np.ndarray) -> float:
    """The sum of the rewards that are finite numbers; itself finite.

    >>> total_of(np.array([1.0, np.nan, np.inf, 2.0]))
    3.0
    """
    with np.errstate(over="ignore"):  # of rewards near the largest number there is
        return float(np.nan_to_num(rewards[np.isfinite(rewards)].sum()))


def counted(reward: float) -> float:
    """A reward as it counts towards a total: 0 where it is NaN or infinite."""
    return reward if math.isfinite(reward) else 0.0
