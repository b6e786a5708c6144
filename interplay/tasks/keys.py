"""From held keys to an action, by one stated rule.

1. Each held key presses its button; a button is pressed while any of its keys is held.
2. Opposite buttons (left and right, up and down) cancel each other.
3. Of the combinations that have an action, the one that uses most of the pressed buttons wins; among equals, the one
   whose buttons come first in the task's list. So every combination of keys has an answer, and the answer for no keys
   is the no-op.

Browsers send the pressed buttons as a bit mask (bit i is button i), and `KeyMap.table` answers all masks at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

MAX_BUTTONS = 12


@dataclass(frozen=True)
class KeyMap:
    """Buttons of a task, the keys that press them, and the action of each combination.

    Attributes:
        buttons: Names in priority order, at most 12.
        bindings: `KeyboardEvent.code` -> button.
        actions: Set of buttons -> action; the empty set is the no-op and must be there.
        opposites: Pairs that cancel.
        labels: Button -> what the player reads in the list of keys.
    """

    buttons: tuple[str, ...]
    bindings: Mapping[str, str]
    actions: Mapping[frozenset[str], Any]
    opposites: tuple[tuple[str, str], ...] = ()
    labels: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def noop(self) -> Any:
        """The action of no keys at all."""
        return self.actions[frozenset()]

    def mask(self, pressed: set[str] | frozenset[str]) -> int:
        """Bit mask of a set of buttons; bit i is `buttons[i]`."""
        return sum(1 << index for index, button in enumerate(self.buttons) if button in pressed)

    def pressed(self, mask: int) -> frozenset[str]:
        """The buttons of a bit mask; bits beyond the last button are ignored."""
        return frozenset(button for index, button in enumerate(self.buttons) if mask >> index & 1)

    def resolve(self, mask: int) -> Any:
        """The action of a mask of pressed buttons, by the rule on top of this module.

        >>> from interplay.tasks import find
        >>> keys = find("atari/space_invaders").keys
        >>> keys.resolve(keys.mask({"LEFT", "RIGHT", "FIRE"}))  # left and right cancel, fire stays
        1
        """
        held = self.pressed(mask)
        for first, second in self.opposites:
            if first in held and second in held:
                held -= {first, second}
        best = max(
            (combination for combination in self.actions if combination <= held),
            key=lambda combination: (len(combination), -self._reverse_rank(combination)),
        )
        return self.actions[best]

    def _reverse_rank(self, combination: frozenset[str]) -> int:
        """Smaller for combinations of buttons that stand earlier in the list."""
        return sum(1 << self.buttons.index(button) for button in combination)

    @cached_property
    def table(self) -> tuple[Any, ...]:
        """The action of every mask, `2 ** len(buttons)` entries: what a server looks up each step."""
        return tuple(self.resolve(mask) for mask in range(1 << len(self.buttons)))

    def mask_of_action(self, action: Any) -> int:
        """The smallest mask that gives this action: how a program plays through the keyboard's door.

        Raises:
            KeyError: If no combination gives the action.
        """
        for mask, candidate in sorted(enumerate(self.table), key=lambda item: (item[0].bit_count(), item[0])):
            if candidate == action:
                return mask
        raise KeyError(action)

    def to_json(self) -> dict[str, Any]:
        """The form the browser gets: buttons, bindings, labels, and the actions by joined button names."""
        return {
            "buttons": list(self.buttons),
            "bindings": dict(self.bindings),
            "labels": dict(self.labels),
            "opposites": [list(pair) for pair in self.opposites],
            "actions": {
                "+".join(button for button in self.buttons if button in combination): action
                for combination, action in self.actions.items()
            },
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> KeyMap:
        """The inverse of `to_json`."""
        return cls(
            tuple(document["buttons"]),
            dict(document["bindings"]),
            {frozenset(part for part in names.split("+") if part): action for names, action in document["actions"].items()},
            tuple((first, second) for first, second in document["opposites"]),
            dict(document["labels"]),
        )
