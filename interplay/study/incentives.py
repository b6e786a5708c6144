"""Incentives of a study of play: the requirements of a visit, and the pay that a visit earns. Only arithmetic.

A game is a mapping {statistic: number}; a visit is the sequence of its games. Fractions of a cent are rounded up, as in all
calculations of pay.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

DURATIONS = ("time", "active_time")
"""Statistics that are times, in seconds."""


def readable(statistic: str) -> str:
    """Return the name of a statistic as people read it.

    >>> readable("active_time")
    'active time'
    """
    return statistic.replace("_", " ").replace(".", " ")


def amount(statistic: str, value: float, *, is_share: bool = False) -> str:
    """Return a value of a statistic as people read it.

    >>> amount("time", 200.9), amount("score", 1240.0), amount("score", 0.5), amount("good", 0.62, is_share=True)
    ('3:20', '1,240', '0.5', '62 %')
    """
    if is_share:
        return f"{100 * value:.0f} %"
    if statistic in DURATIONS:
        return f"{int(value) // 60}:{int(value) % 60:02d}"
    return f"{int(value):,}" if float(value).is_integer() else f"{value:,.3g}"


Game = Mapping[str, float]
"""The statistics of one finished game; a missing statistic counts as 0."""
Scope = Literal["visit", "game"]
SCOPES: tuple[Scope, ...] = ("visit", "game")


@dataclass(frozen=True)
class Requirement:
    """One amount that a visit must reach in a statistic.

    Attributes:
        required: The amount to be reached, in the unit of the statistic; above 0.
        out_of: Another statistic: the share `statistic` / `out_of` must then be reached, such as aliens hit in the right order
            divided by all aliens hit. Empty: the statistic itself.
        scope: `visit`: all games of the visit are added up. `game`: only the best game counts.
    """

    statistic: str
    required: float
    out_of: str = ""
    scope: Scope = "visit"
    label: str = ""

    @property
    def statistics(self) -> tuple[str, ...]:
        return (self.statistic, self.out_of) if self.out_of else (self.statistic,)

    def achieved(self, games: Sequence[Game]) -> float:
        """Return the amount reached in these games, in the statistic's unit; a share is 0 if its denominator is 0."""
        groups = [games] if self.scope == "visit" else [[game] for game in games]
        return float(max(map(self._amount, groups), default=Fraction(0)))

    def _amount(self, games: Sequence[Game]) -> Fraction:
        amount = total(games, self.statistic)
        if not self.out_of:
            return amount
        whole = total(games, self.out_of)
        return amount / whole if whole > 0 else Fraction(0)


@dataclass(frozen=True)
class Progress:
    """Progress of a visit with one requirement: the amount reached, and its share of the required amount, from 0 to 1."""

    requirement: Requirement
    achieved: float
    share: float


def progress(requirements: Iterable[Requirement], games: Sequence[Game]) -> tuple[Progress, ...]:
    """Return the progress of a visit with each requirement.

    >>> progress([Requirement("aliens", 50)], [{"aliens": 20}, {"aliens": 5}])[0].share
    0.5
    """
    found = []
    for one in requirements:
        achieved = one.achieved(games)
        found.append(Progress(one, achieved, min(1.0, max(0.0, achieved / one.required))))
    return tuple(found)


def completion(requirements: Iterable[Requirement], games: Sequence[Game]) -> float:
    """Return the smallest progress of all requirements, from 0 to 1; 1 without requirements.

    >>> completion([Requirement("s", 300), Requirement("good", 0.8, out_of="all")], [{"s": 400, "good": 2, "all": 5}])
    0.5
    """
    return min((one.share for one in progress(requirements, games)), default=1.0)


def total(games: Iterable[Game], statistic: str) -> Fraction:
    """Add up a statistic over games, without rounding; values that are not finite count as 0.

    >>> total([{"a": 0.5}, {"a": 2}, {}], "a")
    Fraction(5, 2)
    """
    values = (game.get(statistic, 0) for game in games)
    return sum((Fraction(value) for value in values if math.isfinite(value)), Fraction(0))


@dataclass(frozen=True)
class SlidingBonus:
    """Equation (1) of the CrowdPlay paper (appendix A.4), corrected.

        p = p_max * min(1, n_correct / N) * max(0, 2 * (n_correct / n_total - 1/2))

    Differences: the paper prints max(1, .) and min(0, .), with which the bonus could never be above 0, and prints 500 where its
    text says N = 200. With n_total = 0 the bonus is 0.

    Attributes:
        max_cents: p_max, in hundredths of the currency.
        correct: Statistic that counts n_correct.
        out_of: Statistic that counts n_total, which includes n_correct.
        full_at: N: larger numbers do not increase the bonus.
        label: Words for what `correct` counts; empty: the name of the statistic.
        statistic: Statistic that replaces n_correct in n_correct / N, such as the score; empty: `correct`.
    """

    max_cents: int
    correct: str
    out_of: str
    full_at: float = 200
    label: str = ""
    statistic: str = ""

    @property
    def statistics(self) -> tuple[str, ...]:
        """Statistics that the rule reads; the first one is counted up to N."""
        return tuple(dict.fromkeys((self.statistic or self.correct, self.correct, self.out_of)))

    def cents(self, games: Sequence[Game]) -> int:
        """Return the bonus for these games in whole cents, 0 to `max_cents`, rounded up.

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
    """A bonus that grows with one statistic, such as the score: max_cents * min(1, x / full_at).

    With `correct` and `out_of`, the bonus is at most `max_cents` times the share `correct` / `out_of`.

    Attributes:
        max_cents: Largest bonus of a visit, in hundredths of the currency.
        statistic: Statistic that is added up over the games of a visit.
        full_at: Value from which on the bonus does not grow.
        label: Words for the statistic; empty: its name.
        correct, out_of: Statistics whose quotient limits the bonus; empty: no limit.
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
        """Return the bonus for these games in whole cents, as `SlidingBonus.cents`.

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


@dataclass(frozen=True)
class Earned:
    """The earnings of a visit: `completion` is the smallest progress, `totals` are the sums of the statistics that count."""

    progress: tuple[Progress, ...]
    completion: float
    reward_cents: int
    bonus_cents: int
    totals: dict[str, float]

    @property
    def is_complete(self) -> bool:
        return self.completion >= 1

    @property
    def cents(self) -> int:
        return self.reward_cents + self.bonus_cents if self.is_complete else 0


@dataclass(frozen=True)
class Treatment:
    """The promise to a participant: a reward for reaching all requirements, and also a bonus.
    `reward_cents` is in hundredths of `currency`."""

    requirements: tuple[Requirement, ...] = ()
    reward_cents: int = 0
    bonus: Bonus | None = None
    currency: str = "USD"

    @property
    def max_cents(self) -> int:
        return self.reward_cents + (0 if self.bonus is None else self.bonus.max_cents)

    @property
    def statistics(self) -> tuple[str, ...]:
        rules = [*self.requirements, *([] if self.bonus is None else [self.bonus])]
        return tuple(dict.fromkeys(name for rule in rules for name in rule.statistics))

    def earned(self, games: Sequence[Game]) -> Earned:
        """Return what a visit with these games has earned.

        >>> Treatment((Requirement("time", 300),), 75).earned([{"time": 200}, {"time": 100}]).cents
        75
        """
        return Earned(
            progress(self.requirements, games),
            completion(self.requirements, games),
            self.reward_cents,
            0 if self.bonus is None else self.bonus.cents(games),
            {name: float(total(games, name)) for name in self.statistics},
        )

    def to_json(self) -> dict[str, Any]:
        bonus = None
        if self.bonus is not None:
            bonus = {"kind": type(self.bonus).__name__.removesuffix("Bonus").lower(), **vars(self.bonus)}
        return {
            "requirements": [vars(one) for one in self.requirements],
            "reward_cents": self.reward_cents,
            "bonus": bonus,
            "currency": self.currency,
        }
