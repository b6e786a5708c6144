"""A method's `Ranking` of a log, its `Options`, and the common order of all leaderboards.

Scores that differ only by rounding count as equal and share a rank. Agents that no chain of answers connects cannot be
compared: each connected group has its own ranks, from 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from interplay.rank.trueskill import DEFAULTS, Settings

Array = NDArray[np.float64]

TOLERANCE = 1e-9
"""Scores that differ by less than this are equal: rounding errors are about 1e-14, and no answer moves a score so little."""
GROUPS_NOTE = (
    "there are {number} groups of agents that no answers connect; agents of different groups cannot be compared, so "
    "each group has its own ranks"
)


def ranks(score: Array, group: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """Ranks from 1 by falling score, along the last axis; equal scores share the best rank; each group has its own ranks.

    `score` is float64, shape (..., n); `group` is int64, shape (n,); None: one group.

    >>> ranks(np.array([3.0, 9.0, 3.0 + 1e-14])).tolist(), ranks(np.array([3.0, 9.0]), np.array([1, 2])).tolist()
    ([2, 1, 2], [1, 1])
    """
    is_above = score[..., None, :] > score[..., :, None] + TOLERANCE
    if group is not None:
        is_above = is_above & (group[None, :] == group[:, None])
    return 1 + is_above.sum(axis=-1)


def place_key(group: int, score: float, mu: float, agent: str) -> tuple[int, float, float, str]:
    """Sort key of rows: group, falling score, falling mu, name; differences by rounding do not count."""
    return (group, -round(score, 9), -round(mu, 9), agent)


def connected(num: int, pairs: Iterable[tuple[int, int]], weight: Sequence[int] | None = None) -> NDArray[np.int64]:
    """Group of each of n agents, from 1, shape (n,): agents that a chain of pairs connects share a group.

    Group 1 has the largest sum of `weight`, for example each agent's number of answers; None: each agent weighs 1.

    >>> connected(5, [(3, 4), (0, 1), (1, 2)]).tolist()
    [1, 1, 1, 2, 2]
    """
    root = list(range(num))

    def find(one: int) -> int:
        while root[one] != one:
            root[one] = root[root[one]]
            one = root[one]
        return one

    for a, b in pairs:
        root[find(a)] = find(b)
    members: dict[int, list[int]] = {}
    for one in range(num):
        members.setdefault(find(one), []).append(one)
    heavy = weight or [1] * num
    groups = sorted(members.values(), key=lambda group: (-sum(heavy[one] for one in group), group[0]))
    result = np.ones(num, np.int64)
    for number, group in enumerate(groups, start=1):
        result[group] = number
    return result


Scale = Literal["skill", "log-strength", "z-score"]


@dataclass(frozen=True)
class Options:
    """Settings of the methods."""

    settings: Settings = DEFAULTS
    tie_weight: float = 0.5


@dataclass(frozen=True, eq=False)
class Ranking:
    """The agents of a log, ranked by a method.

    Attributes:
        scale: Unit of `mu`: skill points, the log strength of Bradley-Terry and Davidson, or a mean z-score.
        agents: Names, sorted.
        mu: float64, shape (n,).
        sigma: float64, shape (n,): standard deviation of the belief, or standard error.
        score: float64, shape (n,): the number by which agents are sorted: mu - 3 sigma for skills, otherwise mu.
        covariance: float64, shape (n, n): covariance of mu.
        notes: Facts about this fit that a reader must know.
    """

    scale: Scale
    agents: tuple[str, ...]
    mu: Array
    sigma: Array
    score: Array
    covariance: Array
    notes: tuple[str, ...] = ()

    @classmethod
    def of_skills(cls, agents: tuple[str, ...], mu: Array, sigma: Array) -> Ranking:
        """Make a ranking of skills, sorted by mu - 3 sigma and treated as independent of each other."""
        return cls("skill", agents, mu, sigma, mu - 3 * sigma, np.diag(sigma**2))

    @property
    def rank(self) -> NDArray[np.int64]:
        """Ranks from 1, shape (n,), as if all agents were connected; equal scores share the best rank."""
        return ranks(self.score)


class Scores(NamedTuple):
    """Mu and score for B logs about n agents: float64, shape (B, n) each."""

    mu: Array
    score: Array
