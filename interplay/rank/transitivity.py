"""Check whether a ranking can explain the answers: count cycles of majorities, and violations of stochastic transitivity.

Kendall & Babington Smith, "On the Method of Paired Comparisons" (Biometrika 1940) count cyclic triads; weak and strong
stochastic transitivity are from Block & Marschak (1960). With few answers, cycles occur by chance. So every count is compared
with counts expected for the same number of answers about each pair: if all agents were equal, and if a fitted model were true.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from interplay.rank.bradley_terry import Array, check_counts, fit


class Transitivity(NamedTuple):
    """Counts of triads (three agents, each pair compared).

    Attributes:
        num_triads: Triads with answers about all three pairs.
        num_decided: Triads whose three pairs all have a majority.
        num_cyclic: Triads whose majorities form a cycle: a over b, b over c, c over a.
        num_weak_violations: Triads with an order a, b, c in which p(a, b), p(b, c) are at least 1/2 and p(a, c) is below 1/2.
        num_strong_violations: The same with p(a, c) below the larger of p(a, b) and p(b, c), in place of 1/2.
    """

    num_triads: int
    num_decided: int
    num_cyclic: int
    num_weak_violations: int
    num_strong_violations: int

    @property
    def share_cyclic(self) -> float | None:
        """Share of decided triads that are cyclic."""
        return self.num_cyclic / self.num_decided if self.num_decided else None


class Expected(NamedTuple):
    """Mean and 95 % range of the counts over simulated logs; each value is (mean, low, high)."""

    num_cyclic: tuple[float, float, float]
    num_weak_violations: tuple[float, float, float]
    num_strong_violations: tuple[float, float, float]


def transitivity(num_wins: Array, num_ties: Array | None = None) -> Transitivity:
    """Count triads; arguments as of `interplay.rank.bradley_terry.fit`; a tie is half a win for each side.

    >>> transitivity(np.array([[0, 2, 0], [0, 0, 2], [2, 0, 0]])).num_cyclic
    1
    """
    if not np.size(num_wins):
        return Transitivity(0, 0, 0, 0, 0)
    counts = _count(check_counts(num_wins, num_ties)[None])
    return Transitivity(*(int(values[0]) for values in counts))


def expected(
    num_wins: Array, num_ties: Array | None = None, *, rng: np.random.Generator, num_logs: int = 1000, equal: bool = False
) -> Expected:
    """Simulate the counts that transitive judging would give, with the same number of answers about each pair.

    Decided answers are drawn from the fitted Bradley-Terry model, or with probability 1/2 each if `equal`; ties are kept.
    """
    if not np.size(num_wins):
        return Expected((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    ties = np.zeros_like(np.asarray(num_wins, float)) if num_ties is None else np.asarray(num_ties, float)
    wins = check_counts(num_wins, None)
    n = len(wins)
    probability = np.full((n, n), 0.5) if equal else fit(wins, ties).win_probabilities()
    decided = np.triu(wins + wins.T, 1).round().astype(np.int64)
    drawn = rng.binomial(decided, probability, size=(num_logs, n, n))
    upper = drawn + np.swapaxes(decided - drawn, 1, 2)  # both halves: what one won the other lost
    counts = _count(upper + ties / 2)
    ranges = [(float(c.mean()), *np.quantile(c, [0.025, 0.975]).tolist()) for c in counts[2:]]
    return Expected(*ranges)


def _count(weights: Array) -> tuple[NDArray[np.int64], ...]:
    """The five counts of B logs; weights (B, n, n) -> (B,) each."""
    totals = weights + np.swapaxes(weights, 1, 2)
    n = weights.shape[1]
    triads = np.array(list(combinations(range(n), 3)), np.int64).reshape(-1, 3)
    a, b, c = triads.T
    with np.errstate(invalid="ignore"):
        share = np.where(totals > 0, weights / np.where(totals > 0, totals, 1), np.nan)
    ab, bc, ca = share[:, a, b], share[:, b, c], share[:, c, a]
    is_compared = ~(np.isnan(ab) | np.isnan(bc) | np.isnan(ca))
    is_decided = is_compared & (ab != 0.5) & (bc != 0.5) & (ca != 0.5)
    cyclic = is_decided & (((ab > 0.5) & (bc > 0.5) & (ca > 0.5)) | ((ab < 0.5) & (bc < 0.5) & (ca < 0.5)))
    weak, strong = np.zeros_like(cyclic), np.zeros_like(cyclic)
    # Each of the six orders x, y, z: p(x, y), p(y, z) and p(x, z).
    for xy, yz, xz in (
        (ab, bc, 1 - ca),
        (bc, ca, 1 - ab),
        (ca, ab, 1 - bc),
        (1 - ab, 1 - ca, bc),
        (1 - bc, 1 - ab, ca),
        (1 - ca, 1 - bc, ab),
    ):
        premise = is_compared & (xy >= 0.5) & (yz >= 0.5)
        weak |= premise & (xz < 0.5)
        strong |= premise & (xz < np.maximum(xy, yz) - 1e-12)
    return tuple(mask.sum(axis=1) for mask in (is_compared, is_decided, cyclic, weak, strong))
