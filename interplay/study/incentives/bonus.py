"""Bonuses: what doing well is worth, in whole cents. Fractions of a cent are rounded up, as everywhere in pay."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from interplay.study.incentives.requirements import Game, total
from interplay.study.incentives.words import amount, readable


@dataclass(frozen=True)
class SlidingBonus:
    """Equation (1) of the CrowdPlay paper (appendix A.4), corrected.

        p = p_max * min(1, n_correct / N) * max(0, 2 * (n_correct / n_total - 1/2))

    Differences: the paper prints max(1, .) and min(0, .), which would pay at least p_max times nothing or less, and 500 where
    its text says N = 200. With n_total = 0 the bonus is 0.

    Attributes:
        max_cents: p_max, hundredths of the currency.
        correct: Statistic that counts n_correct.
        out_of: Statistic that counts n_total, of which the correct ones are a part.
        full_at: N, from which number on more gives no more.
        label: Words for the correct ones; empty: the statistic's name.
        statistic: Counted up to N instead of the correct ones, such as the score; empty: the correct ones.
    """

    max_cents: int
    correct: str
    out_of: str
    full_at: float = 200
    label: str = ""
    statistic: str = ""

    @property
    def statistics(self) -> tuple[str, ...]:
        """Statistics that it reads; the first is counted up to N."""
        return tuple(dict.fromkeys((self.statistic or self.correct, self.correct, self.out_of)))

    def cents(self, games: Sequence[Game]) -> int:
        """The bonus for these games, whole cents from 0 to `max_cents`, rounded up.

        >>> rule = SlidingBonus(300, "good", "all")
        >>> [rule.cents([{"good": good, "all": of}]) for good, of in ((200, 200), (100, 100), (150, 200), (1, 2), (0, 0))]
        [300, 150, 113, 0, 0]
        """
        part = _share(games, self.correct, self.out_of)
        counted = total(games, self.statistic) if self.statistic else part * max(Fraction(0), total(games, self.out_of))
        enough = min(Fraction(1), max(Fraction(0), counted) / Fraction(self.full_at))
        return max(0, math.ceil(self.max_cents * enough * (2 * part - 1)))

    def in_words(self) -> str:
        counted = self.statistic or self.correct
        words = f"rises with {self.label or readable(counted)} up to {amount(counted, self.full_at)}"
        share = _share_of(self.correct) if self.statistic else "their share of all"
        return f"{words}, and with {share} above one half"


@dataclass(frozen=True)
class LinearBonus:
    """A bonus that grows with one statistic: max_cents * min(1, x / full_at), such as with the score.

    With `correct` and `out_of` it is also never more than that share of `max_cents`.

    Attributes:
        max_cents: Of the whole visit, hundredths of the currency.
        statistic: Summed over the games of a visit.
        full_at: From which value on more gives no more.
        label: Words for the statistic; empty: its name.
        correct, out_of: Statistics whose share limits the bonus; empty: no limit.
    """

    max_cents: int
    statistic: str
    full_at: float
    label: str = ""
    correct: str = ""
    out_of: str = ""

    @property
    def statistics(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for name in (self.statistic, self.correct, self.out_of) if name))

    def cents(self, games: Sequence[Game]) -> int:
        """Whole cents for these games, as `SlidingBonus.cents`.

        >>> LinearBonus(300, "score", 20000).cents([{"score": 700}, {"score": 301}])
        16
        >>> LinearBonus(300, "score", 700, correct="left", out_of="all").cents([{"score": 700, "left": 9, "all": 10}])
        270
        """
        share = min(Fraction(1), max(Fraction(0), total(games, self.statistic)) / Fraction(self.full_at))
        return math.ceil(self.max_cents * (min(share, _share(games, self.correct, self.out_of)) if self.out_of else share))

    def in_words(self) -> str:
        words = f"rises with {self.label or readable(self.statistic)} up to {amount(self.statistic, self.full_at)}"
        share = "their share of all" if self.statistic == self.correct else _share_of(self.correct)
        return f"{words}, but no further than {share}" if self.out_of else words


def _share_of(statistic: str) -> str:
    return f"the share '{readable(statistic.partition('.')[0])}'"


def _share(games: Sequence[Game], correct: str, out_of: str) -> Fraction:
    whole = total(games, out_of)
    return max(Fraction(0), min(whole, total(games, correct))) / whole if whole > 0 else Fraction(0)


Bonus = SlidingBonus | LinearBonus
