"""The interface of statistics: what a number means, the steps that a collector sees, and the collector itself."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Literal

from interplay.errors import InterplayError

Kind = Literal["int", "float", "duration"]
"""The kind of a value: a whole number, a number, or seconds."""
Better = Literal["higher", "lower"]
_MAX_SYMBOL = 2
"""Largest number of characters of a unit that is a symbol; a longer unit is a word that the title contains."""
_SINGLE = struct.Struct("<f")


class StatisticError(InterplayError):
    """A statistic does not exist, or cannot be collected in this world."""


@dataclass(frozen=True)
class Statistic:
    """The quantity that a statistic measures, and how its values are shown.

    Attributes:
        name: Name used in `--where`, files and the database: lower-case letters, digits and `_`.
        unit: Unit of the values, if they have one; durations are in seconds.
        better: The better direction; None if neither is better.
        is_share: Whether the values are parts of a whole, 0 to 1; people see them as percent.
        description: A sentence about the number, which the page shows at the end of a game.
    """

    name: str
    title: str
    kind: Kind = "float"
    unit: str = ""
    better: Better | None = None
    is_share: bool = False
    description: str = ""

    def typed(self, value: float | None) -> int | float | None:
        """Return a value as an int if `kind` is `int`, else as a float; None if it is not a finite number.

        >>> Statistic("hits", "Hits", "int").typed(3.0)
        3
        """
        if value is None or not math.isfinite(value):
            return None
        return int(value) if self.kind == "int" else float(value)

    def readable(self, value: float | None) -> str:
        """Return a value as text for people, in the form that `statistics.js` shows during the game.

        >>> Statistic("time", "Time", "duration", "s").readable(65.9)
        '1:05'
        """
        if value is None:
            return "–"
        if self.is_share:
            return f"{100 * value:.0f} %"
        if self.kind == "duration":
            return f"{int(value) // 60}:{int(value) % 60:02}"
        number = f"{value if self.kind == 'int' else round(value, 1):,g}" if abs(value) < 1e6 else f"{value:,.0f}"
        return f"{number} {self.unit}" if 0 < len(self.unit) <= _MAX_SYMBOL else number

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Setting:
    """Facts about a game before it begins.

    Attributes:
        frame_rate_hz: Number of steps in a second of play.
        noop: The no-op, the action when no key is pressed; None if every step is an action.
        takes_turns: Whether the world waits for its players. Then steps do not measure time, and each step is an action.
        noops: Seat -> its own no-op, for seats whose no-op is not `noop`.
    """

    env: str
    seats: tuple[str, ...]
    frame_rate_hz: float
    noop: Any = None
    takes_turns: bool = False
    noops: Mapping[str, Any] = field(default_factory=dict)

    def plain_noop(self, seat: str) -> Any:
        """Return the no-op of a seat, in the form of `SeenStep.plain_actions`."""
        return plain(self.noops.get(seat, self.noop))


@dataclass(slots=True)
class SeenStep:
    """One step, as a collector sees it.

    Attributes:
        rewards: Seat -> reward as the task counts it (`Task.reward`).
        earned: Seat -> reward as the world gave it, before a task shares rewards.
        info: As the environment gave it.
        owners: Seat -> name of its owner.
        readings: Name of a reading -> its value in the world, for all readings that a collector of the game needs.
    """

    step: int
    actions: Mapping[str, Any]
    rewards: Mapping[str, float]
    earned: Mapping[str, float]
    info: Mapping[str, Any]
    owners: Mapping[str, str]
    readings: Mapping[str, Any] = field(default_factory=dict)
    _plain: dict[str, Any] | None = None

    @property
    def plain_actions(self) -> dict[str, Any]:
        """Return seat -> action, in values that can be compared; see `plain`."""
        if self._plain is None:
            self._plain = {seat: action if action.__class__ is int else plain(action) for seat, action in self.actions.items()}
        return self._plain


class Collector:
    """Base of objects that compute one statistic from the steps of an episode.

    `counts` holds numbers that add up: over the steps of an episode, over the owners of a seat, and over the episodes of a
    sitting. `value` computes the statistic from them. `memory` holds whatever else must last from one step to the next; it
    stays with the seat when the owner changes. Both hold JSON values only, so that a game can continue after its process died.
    Read both from `self` at each step, because they may be replaced, for example when a seat gets a new owner.

    Class attributes:
        statistic: The statistic that it computes.
        count_names: Names of the numbers in `counts`.
        needs: Readings of the world that it uses in addition to the info, as named in `PlayableEnv.readings`: `ram`.
        watches: Bytes of a reading, as (name in `needs`, first byte, byte after the last): `see` is called only when these
            bytes change or a seat earns something. With None, it is called at every step.
    """

    statistic: Statistic
    count_names: ClassVar[tuple[str, ...]] = ("count",)
    needs: ClassVar[tuple[str, ...]] = ()
    watches: ClassVar[tuple[str, int, int] | None] = None

    counts: dict[str, dict[str, float]]
    memory: dict[str, Any]
    setting: Setting

    def begin(self, setting: Setting, info: Mapping[str, Any]) -> None:
        """Begin an episode. Raises `StatisticError` if the statistic is undefined in this world."""
        self.setting = setting
        self.counts = {seat: self.zero() for seat in setting.seats}
        self.memory = {}

    def zero(self) -> dict[str, float]:
        return dict.fromkeys(self.count_names, 0)

    def see(self, step: SeenStep) -> None:
        raise NotImplementedError

    def value(self, counts: Mapping[str, float]) -> float | None:
        """Return the statistic for these counts; None where it is undefined. By default it is the first count."""
        return counts[self.count_names[0]]

    def values(self) -> dict[str, int | float | None]:
        """Return seat -> present value, in the type that `Statistic.typed` gives."""
        return {seat: self.statistic.typed(self.value(counts)) for seat, counts in self.counts.items()}


def share(part: float, whole: float) -> float | None:
    """Return a part of a whole as a share, 0 to 1; None if the whole is 0.

    >>> share(1, 4)
    0.25
    """
    return part / whole if whole else None


def plain(action: Any) -> Any:
    """Return an action of a player or a recording as values that can be compared. Entries that are 0 are left out, and real
    numbers are rounded to single precision, as in recordings.

    >>> plain({"forward": 1, "camera": (0.0, 0.1)}) == plain({"forward": 1, "jump": 0, "camera": (0.0, 0.10000000001)})
    True
    """
    kind = action.__class__
    if kind is int or kind is str or action is None:
        return action
    if kind is float:
        return _SINGLE.unpack(_SINGLE.pack(action))[0] if abs(action) < 1e38 else action
    if isinstance(action, Mapping):
        entries = {name: part if part.__class__ is int else plain(part) for name, part in action.items()}
        return {
            name: part
            for name, part in entries.items()
            if part != 0 and part is not None and not (isinstance(part, list) and not any(part))
        }
    if isinstance(action, bool):
        return int(action)
    if isinstance(action, list | tuple):
        return [plain(part) for part in action]
    return plain(action.tolist()) if hasattr(action, "tolist") else action
