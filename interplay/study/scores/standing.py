"""How one value stands among others: percentile and histogram. Pure arithmetic."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

MOST_BINS = 12


@dataclass(frozen=True)
class Standing:
    """How one person stands among the others.

    Attributes:
        others: How many others there are.
        percentile: Percent of the others who did worse, equals counted half, rounded down; None without others.
        rank: 1 for the best; equals share the better one.
    """

    value: float
    others: int
    percentile: int | None
    rank: int


def standing(value: float, others: Sequence[float], *, is_lower_better: bool = False) -> Standing:
    """Place a value among those of the others, itself left out.

    >>> standing(30, [10, 20, 30, 40])
    Standing(value=30, others=4, percentile=62, rank=2)
    >>> standing(30, [10, 20, 30, 40], is_lower_better=True).percentile
    37
    """
    ordered = sorted(others)
    below, upto = bisect_left(ordered, value), bisect_right(ordered, value)
    equal, above = upto - below, len(ordered) - upto
    worse, better = (above, below) if is_lower_better else (below, above)
    percentile = math.floor(100 * (worse + equal / 2) / len(ordered)) if ordered else None
    return Standing(value, len(ordered), percentile, better + 1)


@dataclass(frozen=True)
class Bins:
    """A histogram with round edges; a bin holds the values from its lower edge, `low` for the first, up to below its upper
    edge."""

    low: float
    width: float
    counts: tuple[int, ...]

    @property
    def high(self) -> float:
        return self.low + self.width * len(self.counts)

    def place(self, value: float) -> int:
        return min(len(self.counts) - 1, max(0, math.floor((value - self.low) / self.width + 1e-9)))


def bins(values: Sequence[float], marks: Sequence[float] = (), *, is_whole: bool = False) -> Bins:
    """Count values in at most `MOST_BINS` bins with round edges, wide enough for the marks too.

    Args:
        values: At least one; finite.
        marks: Other values that must have a place in the plot.
        is_whole: Whether all values are whole numbers, so that bins are at least 1 wide.

    >>> bins([9, 12, 30, 186], is_whole=True)
    Bins(low=0.0, width=20.0, counts=(2, 1, 0, 0, 0, 0, 0, 0, 0, 1))
    """
    low, high = min((*values, *marks)), max((*values, *marks))
    rough = max((high - low) / (MOST_BINS - 2), 1.0 if is_whole else 0.0)
    if rough <= 0:
        rough = abs(high) / 10 or 1.0
    size = 10.0 ** math.floor(math.log10(rough))
    width = next(size * times for times in (1, 2, 5, 10) if size * times >= rough - size * 1e-9)
    first = math.floor(low / width + 1e-9)
    number = max(1, math.floor(high / width + 1e-9) - first + 1)
    empty = Bins(first * width, width, (0,) * number)
    counts = [0] * number
    for value in values:
        counts[empty.place(value)] += 1
    return Bins(empty.low, width, tuple(counts))
