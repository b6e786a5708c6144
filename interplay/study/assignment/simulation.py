"""Simulated people for a study of play: does accepted time come near its targets, and nearer than by random draws?"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import numpy as np

from interplay.study.assignment.balance import Stand, assign, available
from interplay.study.play.variants import PlayPart

START = datetime(2026, 1, 1, tzinfo=UTC)
AT_ONCE = 5.0
"""People who play at the same time, on average."""

Method = Literal["balanced", "random"]


@dataclass(frozen=True)
class Outcome:
    """One simulated study.

    Attributes:
        method: `balanced`: `balance.assign`. `random`: a draw by targets, whatever was accepted so far.
        accepted_min: Variant -> accepted minutes.
        of_target: Variant -> accepted time by its target; in a study without targets, by an equal share of all that came.
        deviation: Largest difference of `of_target` from 1, over variants.
        spread: Standard deviation of `of_target` over variants, by its mean.
        turned_away: People who got no variant.
        dropped_out: People who left early.
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

    People come at random times, `AT_ONCE` of them being there at a time. Every seed draws how long each variant really takes
    (0.7 to 1.4 times the estimate, with a spread of 30 % between people) and how many of those who stay meet its requirements
    (60 to 100 %). Both methods meet the same people.

    Args:
        play: The study's variants, with their targets; equal ones where it has none.
        minutes: The study's estimate of a visit.
        dropout: Share of people who leave before they are done, 0 to 1.
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
