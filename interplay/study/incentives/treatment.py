"""`Treatment`: the reward, requirements and bonus that people are promised, and the pay that a visit earns under them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from interplay.study.incentives.bonus import Bonus
from interplay.study.incentives.requirements import Game, Progress, Requirement, completion, progress, total


@dataclass(frozen=True)
class Earned:
    """The result of a treatment for one visit.

    Attributes:
        completion: The least progress, from 0 to 1.
        totals: Each statistic that a rule reads, summed over the games.
    """

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
    """The promise to a participant.

    Attributes:
        requirements: To be reached before anything is paid.
        reward_cents: For a visit that has reached them, in hundredths of `currency`.
        bonus: On top, for doing well; None: no bonus.
    """

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
        """The result of a visit with these games.

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
