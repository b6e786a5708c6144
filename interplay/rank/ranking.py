"""A method's `Ranking` of a log, its `Options`, and one order for every leaderboard.

Scores that differ by rounding alone are equal and share a rank. Agents that no chain of answers connects cannot be compared:
each connected group has an order of its own, from rank 1 on.
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
"""Scores closer than this are one score; rounding leaves some 1e-14, and no answer moves a rating by so little."""
GROUPS_NOTE = (
    "answers connect these agents in {number} groups, with none between them; who is better across groups is not known, so "
    "each group has ranks of its own"
)


def ranks(score: Array, group: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """Places from 1 on by falling score, along the last axis; equal scores share the best place, groups are ranked apart.

    Args:
        score: float64, shape (..., n).
        group: int64, shape (n,): the group of each agent; one group if None.

    >>> ranks(np.array([3.0, 9.0, 3.0 + 1e-14])).tolist(), ranks(np.array([3.0, 9.0]), np.array([1, 2])).tolist()
    ([2, 1, 2], [1, 1])
    """
    is_above = score[..., None, :] > score[..., :, None] + TOLERANCE
    if group is not None:
        is_above = is_above & (group[None, :] == group[:, None])
    return 1 + is_above.sum(axis=-1)


def place_key(group: int, score: float, mu: float, agent: str) -> tuple[int, float, float, str]:
    """Sort key of rows: group, then falling score, then falling mu, then name; rounding alone decides nothing."""
    return (group, -round(score, 9), -round(mu, 9), agent)


def connected(num: int, pairs: Iterable[tuple[int, int]], weight: Sequence[int] | None = None) -> NDArray[np.int64]:
    """The group of each of n agents, from 1 on, shape (n,): agents that a chain of pairs connects share one.

    Args:
        weight: Of each agent, such as its answers; the heaviest group comes first. Each weighs 1 if None.

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
    """Agents of a log as a method ranks them.

    Attributes:
        scale: Unit of `mu`: skill points, the log strength of Bradley-Terry and Davidson, or a mean z-score.
        agents: Names, sorted.
        mu: float64, shape (n,).
        sigma: float64, shape (n,): standard deviation of the belief, or standard error.
        score: float64, shape (n,): what agents are sorted by: mu - 3 sigma of skills, mu of everything else.
        covariance: float64, shape (n, n), of mu.
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
        """Skills, sorted by mu - 3 sigma and treated as independent of each other."""
        return cls("skill", agents, mu, sigma, mu - 3 * sigma, np.diag(sigma**2))

    @property
    def rank(self) -> NDArray[np.int64]:
        """Places from 1 on, shape (n,), all agents taken for connected; equal scores share the best."""
        return ranks(self.score)


class Scores(NamedTuple):
    """Mu and score of B logs about n agents: float64, shape (B, n) each."""

    mu: Array
    score: Array
