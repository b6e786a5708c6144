"""Convert held keys to an action, by one of three kinds of key map.

A *table* map is for games with a joystick. It has one action for each combination of buttons that means something:

1. Each held key presses its button; a button is pressed while any of its keys is held.
2. Opposite buttons (left and right, up and down) cancel each other.
3. Of the combinations that have an action, the one with most of the pressed buttons is used; among equals, the combination
whose buttons come first in the task's list. So every combination of keys has an action; without keys it is the no-op.

A *composed* map (`compose`) is for worlds seen in first person, whose action is a Dict. Rules 1 and 2 hold, too. Each button
sets the entry of the same name: 1 while it is pressed, 0 otherwise. One more entry, the `pointer`, is how far the view turns in
this step: (pitch, yaw) in degrees. It is the turn of the mouse, plus a fixed angle for each of the pressed `turns`. These are
buttons that turn the view while they are held; they have no entry.

A *steered* map (`axes`) is for worlds whose action is a Box of one or two numbers. Each number follows the pointer's place
over the picture. While a button of the axis is held, it is one end of its range; two held buttons cancel each other.

Browsers send the pressed buttons as a bit mask (bit i is button i), and with it two numbers: the angles that the mouse has
turned, or the values that the pointer asks for. `KeyMap.action` returns the action.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

MAX_BUTTONS = 12
"""Largest number of buttons of a table map, whose table then has 2 ** 12 entries."""
MAX_COMPOSED_BUTTONS = 32
"""Largest number of buttons of a composed map, turns included, since a mask is a u32."""
MAX_TURN = 180.0
"""Largest turn of the view in one step, in degrees, in each direction and on each axis."""
POINTER_DEGREES = 0.15
"""Degrees for one CSS pixel of mouse movement, by default."""

_NONE: Mapping[str, Any] = MappingProxyType({})
POINTERS = ("x", "y")
_MOST_KNOWN = 256
"""Largest number of masks in a map's cache."""


@dataclass(frozen=True)
class Axis:
    """One number of a Box action, and how a person sets it.

    Attributes:
        pointer: The direction of the pointer that changes the number: `x` from left to right, `y` from bottom to top.
        values: The values at the two ends of that direction, float32; the first may be the larger one.
        buttons: The buttons for the first and for the second value; empty if only the pointer changes the number.
    """

    pointer: str
    values: tuple[float, float]
    buttons: tuple[str, ...] = ()

    @property
    def rest(self) -> float:
        """Value of the axis while nobody touches anything: 0, or the end that is nearest to 0."""
        return self.clip(0.0)

    def clip(self, value: float) -> float:
        return min(max(value, min(self.values)), max(self.values))


@dataclass(frozen=True)
class KeyMap:
    """Buttons of a task, the keys that press them, and their meaning.

    Attributes:
        buttons: Names in priority order, the `turns` last: at most 12, or 32 in a composed map.
        bindings: Key (`KeyboardEvent.code`, or `MouseLeft`, `MouseMiddle`, `MouseRight`) -> button.
        actions: Set of buttons -> action; the empty set, the no-op, must be in it. Empty for composed maps.
        opposites: Pairs of buttons that cancel each other.
        labels: Button -> its text in the list of keys.
        compose: Whether each button is an entry of the environment's Dict action.
        pointer: The entry that the mouse turns, float32, shape (2,): (pitch, yaw) in degrees, down and right positive.
        pointer_degrees: Degrees for one CSS pixel of mouse movement.
        turns: Button -> (pitch, yaw) in degrees per step while it is held.
        axes: The numbers of a Box action, at most one for each of `POINTERS`; empty for the other kinds of maps.
        seats: Seat -> its own `actions`, if the seats of a table map act differently.
    """

    buttons: tuple[str, ...]
    bindings: Mapping[str, str]
    actions: Mapping[frozenset[str], Any]
    opposites: tuple[tuple[str, str], ...] = ()
    labels: Mapping[str, str] = field(default_factory=lambda: _NONE)
    compose: bool = False
    pointer: str | None = None
    pointer_degrees: float = POINTER_DEGREES
    turns: Mapping[str, tuple[float, float]] = field(default_factory=lambda: _NONE)
    axes: tuple[Axis, ...] = ()
    seats: Mapping[str, Mapping[frozenset[str], Any]] = field(default_factory=lambda: _NONE)

    def of(self, seat: str) -> KeyMap:
        return replace(self, actions=self.seats[seat], seats=_NONE) if seat in self.seats else self

    @property
    def has_table(self) -> bool:
        """Whether the map has an action for each combination of buttons: it is neither composed nor steered."""
        return not self.compose and not self.axes

    @property
    def noop(self) -> Any:
        return self.actions[frozenset()] if self.has_table else self.resolve(0)

    @cached_property
    def entries(self) -> tuple[str, ...]:
        """The buttons that are entries of a composed action: all but the turns."""
        return tuple(button for button in self.buttons if button not in self.turns)

    def mask(self, pressed: set[str] | frozenset[str]) -> int:
        """Return the bit mask of a set of buttons; bit i is `buttons[i]`."""
        return sum(1 << index for index, button in enumerate(self.buttons) if button in pressed)

    def pressed(self, mask: int) -> frozenset[str]:
        """Return the buttons of a bit mask; bits beyond the last button are ignored."""
        return frozenset(button for index, button in enumerate(self.buttons) if mask >> index & 1)

    @property
    def full_mask(self) -> int:
        return (1 << len(self.buttons)) - 1

    def resolve(self, mask: int, turn: tuple[float, float] = (0.0, 0.0)) -> Any:
        """Return the action for a mask of pressed buttons, by the rules at the top of this module.

        Args:
            turn: The turn of the mouse since the last step, (pitch, yaw) in degrees; for a steered map the values that the
                pointer asks for, (x, y), limited to the ends of the axes. Table maps ignore it.
        Returns:
            For a table map, the action in the table. For a composed map, a new dict in the environment's Dict space: 0 or 1 for
                each button's entry; and for the pointer, if any, a float32 array of shape (2,), from -180 to 180. For a steered
                map, a new float32 array of shape (number of axes,).

        >>> from interplay.tasks import find
        >>> keys = find("atari/space_invaders").keys
        >>> keys.resolve(keys.mask({"LEFT", "RIGHT", "FIRE"}))  # left and right cancel, fire stays
        1
        """
        if self.compose:
            entries, turned = self._of_mask(mask)
            return entries | self._pointed(turn, turned)
        held = self._held(mask)
        if self.axes:
            return self._steered(held, turn)
        best = max(
            (combination for combination in self.actions if combination <= held),
            key=lambda combination: (len(combination), -sum(1 << self.buttons.index(button) for button in combination)),
        )
        return self.actions[best]

    def _held(self, mask: int) -> frozenset[str]:
        held = self.pressed(mask)
        for first, second in self.opposites:
            if first in held and second in held:
                held -= {first, second}
        return held

    def _of_mask(self, mask: int) -> tuple[dict[str, Any], list[tuple[float, float]]]:
        """Return the entries of a composed map for a mask, and the angles of the held `turns`. The result is cached, since
        people hold the same keys for many steps."""
        found = self._known.get(mask)
        if found is None:
            held = self._held(mask)
            entries = {button: int(button in held) for button in self.entries}
            found = entries, [turn for button, turn in self.turns.items() if button in held]
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[mask] = found
        return found

    @cached_property
    def _known(self) -> dict[int, tuple[dict[str, Any], list[tuple[float, float]]]]:
        return {}

    def _pointed(self, turn: tuple[float, float], held: list[tuple[float, float]]) -> dict[str, Any]:
        if self.pointer is None:
            return {}
        pitch, yaw = turn
        for down, right in held:
            pitch, yaw = pitch + down, yaw + right
        return {self.pointer: np.array([clip_turn(pitch), clip_turn(yaw)], np.float32)}

    def _steered(self, held: frozenset[str], wanted: tuple[float, float]) -> np.ndarray:
        values = []
        for axis in self.axes:
            ends = [end for button, end in zip(axis.buttons, axis.values, strict=False) if button in held]
            values.append(ends[0] if len(ends) == 1 else axis.clip(wanted[POINTERS.index(axis.pointer)]))
        return np.array(values, np.float32)

    def chosen(self, held: int, pressed: int) -> int:
        """Return the mask of a press in a task of turns: all held buttons if they have an action, else the pressed buttons.

        Args:
            held: Mask of the held buttons, including the pressed buttons.
            pressed: Mask of the buttons that were pressed now.
        """
        together = (held | pressed) & self.full_mask
        return together if self.pressed(together) in self.actions else pressed & self.full_mask

    @cached_property
    def table(self) -> tuple[Any, ...]:
        """Return the action of every mask of a table map, `2 ** len(buttons)` entries. Raises `TypeError` for a composed or
        steered map, which has too many masks; use `action` there."""
        if not self.has_table:
            raise TypeError("a composed or steered map has no table of actions; use action(mask, turn)")
        return tuple(self.resolve(mask) for mask in range(1 << len(self.buttons)))

    def action(self, mask: int, turn: tuple[float, float] = (0.0, 0.0)) -> Any:
        """Return the same action as `resolve`, but faster: a table map reads it from its table. A server calls this at each
        step."""
        return self.table[mask & self.full_mask] if self.has_table else self.resolve(mask, turn)

    def mask_of_action(self, action: Any) -> int:
        """Return the smallest mask that gives this action, so that a program can play with keys.

        For a composed action the mask has its buttons; for a steered action it is empty. `turn_of_action` returns the rest, so
        that `keys.action(keys.mask_of_action(a), keys.turn_of_action(a))` equals `a`. Raises `KeyError` if no combination gives
        the action.
        """
        if self.compose:
            return self._mask_of_composed(action)
        if self.axes:
            return 0
        for mask, candidate in sorted(enumerate(self.table), key=lambda item: (item[0].bit_count(), item[0])):
            if candidate == action:
                return mask
        raise KeyError(action)

    def _mask_of_composed(self, action: Mapping[str, Any]) -> int:
        named = {*self.entries} | ({self.pointer} if self.pointer is not None else set())
        held = {button for button in self.entries if button in action and action[button] == 1}
        if (
            set(action) != named
            or any(action[button] not in (0, 1) for button in self.entries)
            or any(first in held and second in held for first, second in self.opposites)
        ):
            raise KeyError(action)
        return self.mask(held)

    def turn_of_action(self, action: Any) -> tuple[float, float]:
        """Return the turn of a composed action, (pitch, yaw) in degrees, or the values of a steered action, (x, y); otherwise
        zeros. Raises `KeyError` if the turn is not two numbers from -180 to 180, or if the values are not possible on the
        axes."""
        if self.axes:
            return self._values_of_steered(action)
        if self.pointer is None:
            return 0.0, 0.0
        values = [float(value) for value in action[self.pointer]]
        if len(values) != 2 or not all(abs(value) <= MAX_TURN for value in values):
            raise KeyError(action)
        return values[0], values[1]

    def _values_of_steered(self, action: Any) -> tuple[float, float]:
        wanted = [0.0, 0.0]
        values = [float(value) for value in action]
        if len(values) != len(self.axes):
            raise KeyError(action)
        for axis, value in zip(self.axes, values, strict=True):
            if np.float32(axis.clip(value)) != np.float32(value):
                raise KeyError(action)
            wanted[POINTERS.index(axis.pointer)] = value
        return wanted[0], wanted[1]

    def to_json(self) -> dict[str, Any]:
        """Return the form that episodes store: buttons, bindings, labels, and the actions by joined button names.

        A composed map has `compose`, `pointer`, `pointer_degrees` and `turns` in place of the actions, a steered map `axes`; a
        table map has neither, so that hashes of older documents stay the same.
        """
        document: dict[str, Any] = {
            "buttons": list(self.buttons),
            "bindings": dict(self.bindings),
            "labels": dict(self.labels),
            "opposites": [list(pair) for pair in self.opposites],
        }
        if self.compose:
            return document | {
                "compose": True,
                "pointer": self.pointer,
                "pointer_degrees": self.pointer_degrees,
                "turns": {button: list(turn) for button, turn in self.turns.items()},
            }
        if self.axes:
            axes = [{"pointer": one.pointer, "values": list(one.values), "buttons": list(one.buttons)} for one in self.axes]
            return document | {"axes": axes}
        document["actions"] = self._named(self.actions)
        return document | (
            {"seats": {seat: self._named(actions) for seat, actions in self.seats.items()}} if self.seats else {}
        )

    def _named(self, actions: Mapping[frozenset[str], Any]) -> dict[str, Any]:
        return {
            "+".join(button for button in self.buttons if button in combination): action
            for combination, action in actions.items()
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> KeyMap:
        return cls(
            tuple(document["buttons"]),
            dict(document["bindings"]),
            _unnamed(document.get("actions", {})),
            tuple((first, second) for first, second in document["opposites"]),
            dict(document["labels"]),
            document.get("compose", False),
            document.get("pointer"),
            document.get("pointer_degrees", POINTER_DEGREES),
            {button: (down, right) for button, (down, right) in document.get("turns", {}).items()},
            tuple(Axis(one["pointer"], tuple(one["values"]), tuple(one["buttons"])) for one in document.get("axes", [])),
            {seat: _unnamed(actions) for seat, actions in document.get("seats", {}).items()},
        )


def _unnamed(actions: Mapping[str, Any]) -> dict[frozenset[str], Any]:
    return {frozenset(part for part in names.split("+") if part): action for names, action in actions.items()}


def clip_turn(degrees: float) -> float:
    """Return degrees limited to the turn of one step. Raises `ValueError` for NaN."""
    if math.isnan(degrees):
        raise ValueError("a turn must be a number of degrees, got nan")
    return min(MAX_TURN, max(-MAX_TURN, degrees))
