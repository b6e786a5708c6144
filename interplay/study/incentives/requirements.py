"""Requirements: the amounts that a visit must reach before it is paid, and its progress."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

Game = Mapping[str, float]
"""The statistics of one finished game; a statistic that is not there counts as 0."""
Scope = Literal["visit", "game"]
SCOPES: tuple[Scope, ...] = ("visit", "game")


@dataclass(frozen=True)
class Requirement:
    """One amount that a visit must reach.

    Attributes:
        required: Enough of it, in its unit; above 0.
        out_of: Another statistic; then the share of `statistic` in it counts, such as aliens in the right order out of all
            aliens hit. Empty: the statistic itself.
        scope: `visit`: all games of the visit together. `game`: the best game alone.
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
        """The amount reached in these games, in the statistic's unit; a share of nothing is 0."""
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
    """How far a visit is with one requirement: the amount, and its share of the required one, from 0 to 1."""

    requirement: Requirement
    achieved: float
    share: float


def progress(requirements: Iterable[Requirement], games: Sequence[Game]) -> tuple[Progress, ...]:
    """Progress of a visit with each requirement.

    >>> progress([Requirement("aliens", 50)], [{"aliens": 20}, {"aliens": 5}])[0].share
    0.5
    """
    found = []
    for one in requirements:
        achieved = one.achieved(games)
        found.append(Progress(one, achieved, min(1.0, max(0.0, achieved / one.required))))
    return tuple(found)


def completion(requirements: Iterable[Requirement], games: Sequence[Game]) -> float:
    """Progress with the requirement that is least fulfilled, from 0 to 1; without any requirement 1.

    >>> completion([Requirement("s", 300), Requirement("good", 0.8, out_of="all")], [{"s": 400, "good": 2, "all": 5}])
    0.5
    """
    return min((one.share for one in progress(requirements, games)), default=1.0)


def total(games: Iterable[Game], statistic: str) -> Fraction:
    """A statistic summed over games, without rounding; values that are not finite count as 0.

    >>> total([{"a": 0.5}, {"a": 2}, {}], "a")
    Fraction(5, 2)
    """
    values = (game.get(statistic, 0) for game in games)
    return sum((Fraction(value) for value in values if math.isfinite(value)), Fraction(0))
