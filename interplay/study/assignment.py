"""Choose the variant for a new visit: a variant where a player waits, or else the variant that lacks most accepted time.

CrowdPlay balances by the number of completed sessions. This module balances by the minutes of play in visits that met their
requirements, because sessions differ in length and harder variants lose more people. `simulate` tests with simulated people
whether accepted time comes near the targets, and nearer than with random draws.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, NamedTuple

import numpy as np

from interplay.study.play.variants import AtTarget, PlayPart, Variant

PRIOR_VISITS = 2.0
"""In the mean accepted time of a visit, the study's estimate counts as much as this number of ended visits."""


@dataclass(frozen=True)
class Stand:
    """The present state of one variant.

    Attributes:
        accepted_min: Accepted minutes: play in visits that ended and met their requirements.
        ended: Number of visits to this variant that ended, with any outcome.
        working: Number of people who are playing this variant now.
        open_seats: Number of seats in games of this variant that wait for a player.
    """

    variant: Variant
    accepted_min: float = 0.0
    ended: int = 0
    working: int = 0
    open_seats: int = 0

    def expected_min(self, minutes: float) -> float:
        """Return the mean accepted minutes of a visit; a dropout counts as 0. `minutes` is the study's estimate."""
        return (PRIOR_VISITS * minutes + self.accepted_min) / (PRIOR_VISITS + self.ended)

    def filled(self, minutes: float) -> float:
        """Return the accepted time plus the expected time of people who play now, divided by the target; 1 means reached."""
        return (self.accepted_min + self.working * self.expected_min(minutes)) / (self.variant.target_min or 1.0)

    def places(self, minutes: float) -> int:
        """Return how many more people are probably needed to reach the target; 0 without a target or if it is reached.

        >>> from interplay.study.incentives import Treatment
        >>> Stand(Variant("pong", "atari/pong", "", (), Treatment(), target_min=100.0), 70.0, 8, working=1).places(10)
        3
        """
        missing = (self.variant.target_min or 0.0) * (1 - self.filled(minutes))
        return max(0, math.ceil(missing / self.expected_min(minutes) - 1e-9))


class Assignment(NamedTuple):
    """A variant and the reason why it was given.
    `open_seat`: a player waits there for a partner. `target`: the variant lacks most time. `link`: the link named the variant.
    `chosen`: the person chose it."""

    variant: str
    reason: Literal["open_seat", "target", "link", "chosen"]


def available(stands: Iterable[Stand], *, now: datetime, history: Mapping[str, int]) -> list[Stand]:
    """Return the variants that a person may be given now; `history`: variant -> number of this person's visits to it."""
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
    """Return a variant for a new visit; None if no variant is suitable.

    Variants with open seats come first, so that nobody waits longer than needed. Then comes the least filled variant
    (`Stand.filled`); equally filled variants are chosen at random.

    Args:
        stands: All variants of the study in their present state.
        now, history: As in `available`.
        minutes: The study's estimate of a visit, in minutes.
        at_target: `stop`: a variant is no longer given once its target is filled, unless a player waits there. The accepted
            time may exceed the target by about the length of a visit. `continue`: filled variants are given, too.
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


START = datetime(2026, 1, 1, tzinfo=UTC)
AT_ONCE = 5.0
"""Mean number of people who play at the same time in the simulation."""

Method = Literal["balanced", "random"]


@dataclass(frozen=True)
class Outcome:
    """The result of one simulated study.

    Attributes:
        method: `balanced`: variants by `assign`. `random`: variants drawn in proportion to their targets, whatever was accepted
            so far.
        accepted_min: Variant -> accepted minutes.
        of_target: Variant -> accepted time divided by its target. In a study without targets, the target is an equal share.
        deviation: Largest difference between `of_target` and 1 over all variants.
        spread: Standard deviation of `of_target` over the variants, divided by its mean.
        turned_away: Number of people who got no variant.
        dropped_out: Number of people who left early.
    """

    seed: int
    method: Method
    accepted_min: dict[str, float]
    of_target: dict[str, float]
    deviation: float
    spread: float
    turned_away: int
    dropped_out: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def simulate(play: PlayPart, *, minutes: float, arrivals: int, dropout: float, seeds: int) -> Iterator[Outcome]:
    """Simulate a study with both methods, `balanced` first, once for each seed 0, 1, ...

    People arrive at random times, so that on average `AT_ONCE` of them are present. Each seed draws how long each variant
    really takes (0.7 to 1.4 times the estimate, with a spread of 30 % between people) and which share of the people who stay
    meets its requirements (60 to 100 %). Both methods get the same people.

    Args:
        play: The variants of the study with their targets; without targets, all variants count equally.
        minutes: The study's estimate of a visit, in minutes.
        dropout: Share of people who leave before they have finished, 0 to 1.
    """
    for seed in range(seeds):
        for method in ("balanced", "random"):
            yield _one(play, method, seed, minutes=minutes, arrivals=arrivals, dropout=dropout)  # type: ignore[arg-type]


def _one(play: PlayPart, method: Method, seed: int, *, minutes: float, arrivals: int, dropout: float) -> Outcome:
    rng = np.random.default_rng(seed)
    names = [one.name for one in play.variants]
    slow = dict(zip(names, rng.uniform(0.7, 1.4, len(names)), strict=True))
    good = dict(zip(names, rng.uniform(0.6, 1.0, len(names)), strict=True))
    gaps = rng.exponential(minutes / AT_ONCE, arrivals)
    leaves, meets = rng.uniform(size=arrivals) < dropout, rng.uniform(size=arrivals)
    pace, stays = rng.lognormal(0.0, 0.3, arrivals), rng.uniform(size=arrivals)
    choosing = np.random.default_rng([seed, 1])
    stands = {one.name: Stand(one) for one in play.variants}
    working: list[tuple[float, int, str, float]] = []  # when they end, who, what, accepted minutes
    turned_away = dropped_out = 0

    def end_until(time: float) -> None:
        while working and working[0][0] <= time:
            _, _, name, accepted = heapq.heappop(working)
            before = stands[name]
            stands[name] = replace(
                before, accepted_min=before.accepted_min + accepted, ended=before.ended + 1, working=before.working - 1
            )

    for person, time in enumerate(np.cumsum(gaps)):
        end_until(time)
        name = _given(play, method, stands, START + timedelta(minutes=float(time)), minutes, choosing)
        if name is None:
            turned_away += 1
            continue
        length = float(minutes * slow[name] * pace[person])
        accepted = length if not leaves[person] and meets[person] < good[name] else 0.0
        dropped_out += bool(leaves[person])
        heapq.heappush(working, (time + length * (stays[person] if leaves[person] else 1.0), person, name, accepted))
        before = stands[name]
        stands[name] = replace(before, working=before.working + 1)
    end_until(np.inf)
    return _outcome(play, method, seed, stands, turned_away, dropped_out)


def _given(
    play: PlayPart, method: Method, stands: dict[str, Stand], now: datetime, minutes: float, rng: np.random.Generator
) -> str | None:
    if method == "balanced":
        found = assign(stands.values(), now=now, history={}, minutes=minutes, rng=rng, at_target=play.at_target)
        return None if found is None else found.variant
    open_to = available(stands.values(), now=now, history={})
    if not open_to:
        return None
    weights = np.array([one.variant.target_min or 1.0 for one in open_to])
    return open_to[int(rng.choice(len(open_to), p=weights / weights.sum()))].variant.name


def _outcome(
    play: PlayPart, method: Method, seed: int, stands: dict[str, Stand], turned_away: int, dropped_out: int
) -> Outcome:
    accepted = {name: one.accepted_min for name, one in stands.items()}
    share = sum(accepted.values()) / len(accepted) or 1.0
    of_target = {one.name: accepted[one.name] / (one.target_min or share) for one in play.variants}
    values = np.array(list(of_target.values()))
    return Outcome(
        seed,
        method,
        accepted,
        of_target,
        deviation=float(np.max(np.abs(values - 1))),
        spread=float(values.std() / values.mean()) if values.any() else 0.0,
        turned_away=turned_away,
        dropped_out=dropped_out,
    )
