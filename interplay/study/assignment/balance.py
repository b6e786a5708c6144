"""Giving a variant to somebody who comes: seats that wait for a player first, then the variant that lacks most accepted time.

CrowdPlay counts completed sessions. Here it is minutes of play in visits that met their requirements, because sessions differ
in length, and harder variants lose more people.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

import numpy as np

from interplay.study.play.variants import AtTarget, Variant

PRIOR_VISITS = 2.0
"""What a study estimates about a visit counts as so many visits that have ended, until there are more."""


@dataclass(frozen=True)
class Stand:
    """How one variant stands now.

    Attributes:
        accepted_min: Minutes that count: of visits that ended and met their requirements.
        ended: Visits of it that ended, with any outcome.
        working: People who have it and have not ended.
        open_seats: Seats in its games that wait for one more player.
    """

    variant: Variant
    accepted_min: float = 0.0
    ended: int = 0
    working: int = 0
    open_seats: int = 0

    def expected_min(self, minutes: float) -> float:
        """Mean accepted minutes of a visit, dropouts counting as 0; `minutes` is the study's estimate."""
        return (PRIOR_VISITS * minutes + self.accepted_min) / (PRIOR_VISITS + self.ended)

    def filled(self, minutes: float) -> float:
        """Accepted time by its target, with the expected time of people who work now; 1 is enough."""
        return (self.accepted_min + self.working * self.expected_min(minutes)) / (self.variant.target_min or 1.0)

    def places(self, minutes: float) -> int:
        """How many more people it probably takes to fill the target; 0 without a target, or where nothing is missing.

        >>> from interplay.study.incentives.treatment import Treatment
        >>> Stand(Variant("pong", "atari/pong", "", (), Treatment(), target_min=100.0), 70.0, 8, working=1).places(10)
        3
        """
        missing = (self.variant.target_min or 0.0) * (1 - self.filled(minutes))
        return max(0, math.ceil(missing / self.expected_min(minutes) - 1e-9))


class Assignment(NamedTuple):
    """A variant, and why: `open_seat`: somebody waits for a partner in it. `target`: it lacks most. `link`: the link named it.
    `chosen`: the person did."""

    variant: str
    reason: Literal["open_seat", "target", "link", "chosen"]


def available(stands: Iterable[Stand], *, now: datetime, history: Mapping[str, int]) -> list[Stand]:
    """The variants that a person may be given now; `history` is in how many visits they had each."""
    found = []
    for one in stands:
        variant = one.variant
        is_time = (variant.opens is None or variant.opens <= now) and (variant.closes is None or now < variant.closes)
        if is_time and (variant.max_visits is None or history.get(variant.name, 0) < variant.max_visits):
            found.append(one)
    return found


def assign(
    stands: Iterable[Stand],
    *,
    now: datetime,
    history: Mapping[str, int],
    minutes: float,
    rng: np.random.Generator,
    at_target: AtTarget = "continue",
) -> Assignment | None:
    """A variant for a new visit; None without a suitable one.

    Open seats come first, so that nobody waits longer than needed. Then the least filled variant (`Stand.filled`), ties at
    random.

    Args:
        stands: Every variant of the study, as it stands now.
        now, history: As in `available`.
        minutes: The study's estimate of a visit.
        at_target: `stop`: no variant is given once its target is filled. Nobody is sent away before that, so a target is
            overshot by the length of a visit, and never missed while people come.
    """
    open_to = available(stands, now=now, history=history)
    waiting = [one for one in open_to if one.open_seats > 0]
    if at_target == "stop":
        open_to = [one for one in open_to if one.filled(minutes) < 1]
    if not (rest := waiting or open_to):
        return None
    least = min(one.filled(minutes) for one in rest)
    alike = [one for one in rest if one.filled(minutes) <= least + 1e-9]
    return Assignment(alike[int(rng.integers(len(alike)))].variant.name, "open_seat" if waiting else "target")
