"""The statistics of one game: collectors that see every step, and the values for each owner of a seat."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from interplay.errors import InterplayError
from interplay.statistics.registry import StatisticSpec
from interplay.statistics.statistic import Collector, Kind, SeenStep, Setting, Statistic, StatisticError

log = logging.getLogger("interplay.statistics")


@dataclass(frozen=True)
class Measure:
    """A statistic of one owner in one seat.

    Attributes:
        value: The value, int or float as its kind; None if it is undefined, such as the share of hits when there was no shot.
        counts: The numbers from which the value is computed; they add up over the games of a sitting.
    """

    seat: str
    actor: str
    name: str
    kind: Kind
    value: int | float | None
    counts: Mapping[str, float]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Sitting:
    """Games of one task that a participant has played in one sitting. `counts`: statistic -> its counts, summed over these
    games."""

    num_games: int
    counts: Mapping[str, Mapping[str, float]]


class Collection:
    """The collectors of one game.

    A collector that raises an error is left out from then on. The log names it, and the game continues without it.

    Args:
        owners: Seat -> name of its owner at the start.

    Attributes:
        num_steps: Steps seen.
        left_out: Name of a statistic -> why it is left out.
        sittings: Seat -> the earlier games of its player in this sitting.
    """

    def __init__(self, specs: Iterable[StatisticSpec], setting: Setting, owners: Mapping[str, str]) -> None:
        self.setting = setting
        self.num_steps = 0
        self.left_out: dict[str, str] = {}
        self.sittings: Mapping[str, Sitting] = {}
        self._collectors: list[Collector] = []
        self._owners: Mapping[str, str] = dict(owners)
        self._first_owners = self._owners
        self._given: Mapping[str, str] | None = None
        """The last `owners` that `see` was given."""
        self._earlier: dict[tuple[str, str], dict[str, dict[str, float]]] = {}
        """(seat, earlier owner) -> statistic -> counts."""
        self._reads: list[tuple[str, Callable[[], Any]]] = []
        self._shown: dict[tuple[str, int, int] | None, list[Collector]] | None = None
        self._watched: dict[tuple[str, int, int], Any] = {}
        """Last values of the bytes that collectors name in `watches`."""
        self._is_kept = True
        for spec in specs:
            try:
                collector = spec.build()
                collector.setting = setting
                self._collectors.append(collector)
            except InterplayError as error:
                self._leave_out(spec.name, error)

    @property
    def statistics(self) -> list[Statistic]:
        return [collector.statistic for collector in self._collectors]

    def begin(self, info: Mapping[str, Any], readings: Mapping[str, Callable[[], Any]]) -> None:
        """Begin the episode with the `info` of the world's reset and its readings (see `PlayableEnv.readings`)."""
        for collector in list(self._collectors):
            try:
                _begin(collector, self.setting, info, readings)
            except Exception as error:  # whatever somebody's collector does
                self._drop(collector, error)
        needs = dict.fromkeys(need for collector in self._collectors for need in collector.needs)
        self._reads = [(need, readings[need]) for need in needs]

    def see(
        self,
        actions: Mapping[str, Any],
        rewards: Mapping[str, float],
        earned: Mapping[str, float],
        info: Mapping[str, Any],
        owners: Mapping[str, str] | None = None,
    ) -> None:
        """Update all collectors with the next step.

        Args:
            actions, rewards, earned, info: As in `SeenStep`.
            owners: Seat -> name of its owner; seats that are not named belong to their owners at the start.
        """
        self.num_steps += 1
        if owners != self._given:
            self._given = None if owners is None else dict(owners)
            given = self._given or {}
            self._change_owners({seat: given.get(seat) or first for seat, first in self._first_owners.items()})
        step = SeenStep(
            self.num_steps, actions, rewards, earned, info, self._owners, {need: read() for need, read in self._reads}
        )
        if self._shown is None:
            self._shown = {}
            for collector in self._collectors:
                self._shown.setdefault(collector.watches, []).append(collector)
        failed = None
        for watched, collectors in self._shown.items():
            for collector in collectors if watched is None or self._has_news(watched, step) else ():
                try:
                    collector.see(step)
                except Exception as error:  # whatever somebody's collector does: the game goes on
                    failed = [*(failed or ()), (collector, error)]
        for collector, error in failed or ():
            self._drop(collector, error)

    def _has_news(self, watched: tuple[str, int, int], step: SeenStep) -> bool:
        """Whether one of the watched bytes has changed or a seat has earned something; True, too, if the reading is not
        bytes."""
        need, first, end = watched
        try:
            now = bytes(step.readings[need][first:end])
        except Exception:  # what its needs are is the world's to say: it is shown the step
            return True
        if now == self._watched.get(watched) and not any(step.earned.values()):
            return False
        self._watched[watched] = now
        return True

    def _change_owners(self, owners: Mapping[str, str]) -> None:
        for seat in self.setting.seats:
            if owners[seat] == self._owners[seat]:
                continue
            kept = self._earlier.setdefault((seat, self._owners[seat]), {})
            back = self._earlier.pop((seat, owners[seat]), {})
            for collector in self._collectors:
                name = collector.statistic.name
                kept[name] = collector.counts[seat]
                collector.counts[seat] = back.get(name) or collector.zero()
        self._owners = dict(owners)

    def values(self, seat: str) -> dict[str, int | float | None]:
        """Return name -> present value of each statistic, over all owners of a seat."""
        earlier = [counts for (one, _), counts in self._earlier.items() if one == seat]

        def of_all(name: str, now: dict[str, float]) -> Mapping[str, float]:
            return total([now, *(others[name] for others in earlier if name in others)]) if earlier else now

        return self._values({one.statistic.name: of_all(one.statistic.name, one.counts[seat]) for one in self._collectors})

    def own(self, seat: str) -> tuple[dict[str, int | float | None], dict[str, float]] | None:
        """Return `values` and `counts` of a seat's first owner alone; None if the seat has had only this owner."""
        if not any(one == seat for one, _ in self._earlier):
            return None
        first = self._first_owners[seat]
        past = {} if self._owners[seat] == first else self._earlier.get((seat, first), {})
        counts = {
            one.statistic.name: one.counts[seat] if self._owners[seat] == first else past.get(one.statistic.name, one.zero())
            for one in self._collectors
        }
        return self._values(counts), {f"{name}.{count}": value for name, one in counts.items() for count, value in one.items()}

    def sitting_values(self, sitting: Sitting, seat: str | None = None) -> dict[str, int | float | None]:
        """Return name -> value over all games of a sitting: the earlier games and, if `seat` is given, its present game."""
        found = {}
        for collector in self._collectors:
            now = collector.zero() if seat is None else collector.counts[seat]
            earlier = sitting.counts.get(collector.statistic.name, {})
            parts = [now, earlier] if earlier.keys() == now.keys() else [now]  # another version may count other things
            found[collector.statistic.name] = total(parts)
        return self._values(found)

    def _values(self, counts: Mapping[str, Mapping[str, float]]) -> dict[str, int | float | None]:
        """Return name -> value for these counts; a collector that fails is left out."""
        found = {one.statistic.name: self._value(one, counts[one.statistic.name]) for one in list(self._collectors)}
        return {name: value for name, value in found.items() if name not in self.left_out}

    def counts(self, seat: str) -> dict[str, float]:
        """Return `<statistic>.<count>` -> present number, for the present owner of a seat."""
        return {
            f"{collector.statistic.name}.{name}": count
            for collector in self._collectors
            for name, count in collector.counts[seat].items()
        }

    def measures(self) -> list[Measure]:
        held = {**self._earlier}
        for seat in self.setting.seats:
            held[seat, self._owners[seat]] = {one.statistic.name: one.counts[seat] for one in self._collectors}
        found = []
        for (seat, owner), by_name in held.items():
            for collector in list(self._collectors):
                statistic = collector.statistic
                counts = by_name.get(statistic.name, collector.zero())
                value = self._value(collector, counts)
                found.append(Measure(seat, owner, statistic.name, statistic.kind, value, dict(counts)))
        order = {seat: place for place, seat in enumerate(self.setting.seats)}
        found = [one for one in found if one.name not in self.left_out]
        return sorted(found, key=lambda one: order[one.seat])

    def _value(self, collector: Collector, counts: Mapping[str, float]) -> int | float | None:
        try:
            if not all(isinstance(count, int | float) and math.isfinite(count) for count in counts.values()):
                raise StatisticError(f"its counts must be finite numbers of Python, int or float, got {dict(counts)}")
            return collector.statistic.typed(collector.value(counts))
        except Exception as error:  # as in `see`
            self._drop(collector, error)
            return None

    def state(self) -> str | None:
        """Return the state of the collectors as JSON, for `restore`. None if a collector holds values that JSON cannot hold."""
        if not self._is_kept:
            return None
        by_name = {one.statistic.name: {"counts": one.counts, "memory": one.memory} for one in self._collectors}
        earlier = [[seat, owner, counts] for (seat, owner), counts in self._earlier.items()]
        state = {"steps": self.num_steps, "owners": self._owners, "earlier": earlier, "collectors": by_name}
        try:
            return json.dumps(state, separators=(",", ":"), allow_nan=False)
        except (TypeError, ValueError) as error:
            self._is_kept = False
            log.warning(
                "the statistics of a game of %s cannot be kept on its way, so it would be played again from its start "
                "after a crash: %s",
                self.setting.env,
                error,
            )
            return None

    def restore(self, state: str) -> None:
        """Continue from the result of `state()`. Call it after `begin`."""
        document = json.loads(state)
        self.num_steps = document["steps"]
        self._owners, self._given = document["owners"], {}
        self._watched.clear()
        self._earlier = {(seat, owner): counts for seat, owner, counts in document["earlier"]}
        for collector in list(self._collectors):
            kept = document["collectors"].get(collector.statistic.name)
            if kept is None:
                self._drop(collector, InterplayError("it was left out earlier in this game"))
            else:
                collector.counts, collector.memory = kept["counts"], kept["memory"]

    def _drop(self, collector: Collector, error: Exception) -> None:
        self._collectors.remove(collector)
        self._shown = None
        self._leave_out(collector.statistic.name, error)
        needs = {need for one in self._collectors for need in one.needs}
        self._reads = [(need, read) for need, read in self._reads if need in needs]

    def _leave_out(self, name: str, error: Exception) -> None:
        said = str(error) if isinstance(error, InterplayError) else f"{type(error).__name__}: {error}"
        self.left_out[name] = said
        log.warning(
            "statistic %s is left out of a game of %s from step %d on: %s",
            name,
            self.setting.env,
            self.num_steps,
            said,
            exc_info=None if isinstance(error, InterplayError) else error,
        )


def _begin(collector: Collector, setting: Setting, info: Mapping[str, Any], readings: Mapping[str, Callable[[], Any]]) -> None:
    if missing := [need for need in collector.needs if need not in readings]:
        raise StatisticError(f"{setting.env} does not offer {', '.join(missing)}, which this statistic needs")
    if collector.watches is not None and collector.watches[0] not in collector.needs:
        raise StatisticError(f"it watches {collector.watches[0]!r}, which is not among its needs\nRemedy: add it to `needs`.")
    collector.begin(setting, info)


def try_out(spec: StatisticSpec, setting: Setting, info: Mapping[str, Any], readings: Mapping[str, Callable[[], Any]]) -> None:
    """Check that a statistic can be computed in a world, by beginning an episode; `info` and `readings` are as in
    `Collection.begin`. Raises `StatisticError` or `NotFoundError` if it cannot."""
    _begin(spec.build(), setting, info, readings)


def total(parts: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the sum of counts, separately for each name.

    >>> total([{"hits": 1, "shots": 4}, {"hits": 2, "shots": 3}])
    {'hits': 3, 'shots': 7}
    """
    first, *others = parts
    return {name: sum((part[name] for part in others), count) for name, count in first.items()}
