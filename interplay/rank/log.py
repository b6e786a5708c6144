"""A log of answers as arrays, which is what methods that look at all answers at once compute with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from interplay.rank.ranking import connected
from interplay.rank.standings import Comparison
from interplay.rank.trueskill import OUTCOMES

LEFT, RIGHT, DRAW = range(3)
"""Codes of outcomes: their places in `OUTCOMES`."""
_CODE = {outcome: code for code, outcome in enumerate(OUTCOMES)}


@dataclass(frozen=True, eq=False)
class Log:
    """N answers about n agents.

    Attributes:
        agents: Names, sorted; arrays name agents by their places here.
        left, right: int64, shape (N,).
        outcome: int64, shape (N,); `LEFT`, `RIGHT` or `DRAW`.
        judges, judge: Names, sorted, and int64, shape (N,).
    """

    agents: tuple[str, ...]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    outcome: NDArray[np.int64]
    judges: tuple[str, ...]
    judge: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.outcome)

    @classmethod
    def of(cls, comparisons: Iterable[Comparison], *, agents: Sequence[str] = ()) -> Log:
        """Arrays of answers, in their order.

        Args:
            agents: Agents to have a place whether an answer names them or not.
        Raises:
            ValueError: If an answer has one agent on both sides or no known outcome.

        >>> log = Log.of([Comparison("bob", "ada", "left"), Comparison("ada", "bob", "draw")])
        >>> log.agents, log.left.tolist(), log.outcome.tolist()
        (('ada', 'bob'), [1, 0], [0, 2])
        """
        comparisons = comparisons if isinstance(comparisons, list) else list(comparisons)
        for comparison in comparisons:
            if comparison.left == comparison.right:
                raise ValueError(f"an agent cannot be compared with itself, got {comparison.left!r} on both sides")
            if comparison.outcome not in _CODE:
                raise ValueError(f"outcome must be one of {', '.join(OUTCOMES)}, got {comparison.outcome!r}")
        names = sorted({c.left for c in comparisons} | {c.right for c in comparisons} | set(agents))
        place = {name: number for number, name in enumerate(names)}
        judges = sorted({c.judge for c in comparisons})
        seat = {name: number for number, name in enumerate(judges)}
        return cls(
            agents=tuple(names),
            left=np.array([place[c.left] for c in comparisons], np.int64),
            right=np.array([place[c.right] for c in comparisons], np.int64),
            outcome=np.array([_CODE[c.outcome] for c in comparisons], np.int64),
            judges=tuple(judges),
            judge=np.array([seat[c.judge] for c in comparisons], np.int64),
        )

    def select(self, rows: NDArray[np.int64]) -> Log:
        """Only some answers, in the given order; agents and judges keep their places."""
        return replace(self, left=self.left[rows], right=self.right[rows], outcome=self.outcome[rows], judge=self.judge[rows])

    def compact(self) -> Log:
        used = np.unique(np.concatenate([self.left, self.right]))
        place = np.zeros(len(self.agents), np.int64)
        place[used] = np.arange(len(used))
        agents = tuple(self.agents[number] for number in used.tolist())
        return replace(self, agents=agents, left=place[self.left], right=place[self.right])

    def counts(self, weights: NDArray[np.float64] | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Wins and ties, shape (n, n) or (B, n, n): how often i was better than j, and, symmetric, how often the two tied.

        Args:
            weights: How often each answer counts: shape (N,), or (B, N) for B logs at once; once each if None.
        """
        n = len(self.agents)
        weights = np.ones(len(self)) if weights is None else np.asarray(weights, float)
        first = np.where(self.outcome == RIGHT, self.right, self.left)
        second = np.where(self.outcome == RIGHT, self.left, self.right)
        is_draw = self.outcome == DRAW
        cells = is_draw * n * n + first * n + second
        rows = np.atleast_2d(weights)
        used, place = np.unique(cells, return_inverse=True)
        sums = np.zeros((len(rows), 2 * n * n))
        # Answers in the order of their cells, then one sum for each stretch: no loop, and any number of logs.
        order = np.argsort(place, kind="stable")
        starts = np.searchsorted(place[order], np.arange(len(used)))
        if len(used):
            sums[:, used] = np.add.reduceat(rows[:, order], starts, axis=1)
        tables = sums.reshape(*weights.shape[:-1], 2, n, n)
        ties = tables[..., 1, :, :]
        return tables[..., 0, :, :], ties + np.swapaxes(ties, -1, -2)

    def groups(self) -> NDArray[np.int64]:
        """The group of each agent, from 1 on, shape (n,): those that answers connect share one; most answers come first."""
        pairs = np.unique(np.stack([self.left, self.right], axis=1), axis=0)
        weight = np.bincount(np.concatenate([self.left, self.right]), minlength=len(self.agents))
        return connected(len(self.agents), [(a, b) for a, b in pairs.tolist()], weight.tolist())

    def num_sources(self, unit: str) -> NDArray[np.int64]:
        """Number of different `answers` about each agent, or of `judges` who gave them, shape (n,)."""
        agent = np.concatenate([self.left, self.right])
        if unit == "judges":
            agent = np.unique(np.stack([agent, np.concatenate([self.judge, self.judge])], axis=1), axis=0)[:, 0]
        return np.bincount(agent, minlength=len(self.agents))

    def won_drew_lost(self) -> NDArray[np.int64]:
        """How often each agent was better, as good and worse, shape (n, 3)."""
        wins, ties = self.counts()
        return np.stack([wins.sum(axis=1), ties.sum(axis=1), wins.sum(axis=0)], axis=1).astype(np.int64)
