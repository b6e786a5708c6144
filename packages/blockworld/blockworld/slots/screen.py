"""The state of an open screen: its block or villager, its cursor, and the loose stacks in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from blockworld.errors import WorldError, unknown_name
from blockworld.slots import inventory
from blockworld.slots.inventory import Slots
from blockworld.slots.panels import FRAME, KINDS, Panel, panel
from blockworld.state import Position


@dataclass
class Screen:
    """An open screen.

    Attributes:
        kind: One of `KINDS`.
        position: Position of its block; None for the player's own screen and for a villager's screen.
        entity: Id of the villager; -1 if it is no villager's screen.
        blocks: Positions of all blocks whose slots are shown: two for a large chest.
        x, y: The cursor, in GUI pixels from the upper left of the panel.
        craft: Stacks in the input slots of the crafting grid, the stonecutter or the trade.
        choice: Index of the chosen option of a stonecutter, or of the chosen offer; -1 for no choice.
        chosen_for: The stone in the stonecutter when the choice was made; with another stone the choice does not count.
        scroll: Index of the first offer that is shown.
        before: Keys and buttons that were down in the last tick.
    """

    kind: str
    position: Position | None = None
    entity: int = -1
    blocks: list[Position] = field(default_factory=list)
    x: float = 88.0
    y: float = 83.0
    craft: Slots = field(default_factory=list)
    choice: int = -1
    chosen_for: str = ""
    scroll: int = 0
    before: list[str] = field(default_factory=list)

    @property
    def panel(self) -> Panel:
        return panel(self.kind)

    @property
    def corner(self) -> tuple[int, int]:
        """Position of the panel's upper left corner in the frame, in GUI pixels."""
        return (FRAME[0] - self.panel.width) // 2, (FRAME[1] - self.panel.height) // 2

    @property
    def hovered(self) -> int | None:
        return slot_at(self, self.x, self.y)

    def state(self) -> dict[str, Any]:
        """Return JSON values from which `load` makes the screen again."""
        return asdict(self) | {"craft": inventory.dump(self.craft)}

    @classmethod
    def load(cls, state: Mapping[str, Any]) -> Screen:
        """Make a screen from the values of `state`; UnknownNameError for an unknown kind, WorldError for other wrong values."""
        if state.get("kind") not in KINDS:
            raise unknown_name("screen", str(state.get("kind"))[:100], KINDS)
        fields = dict(state)
        try:
            fields["craft"] = inventory.load(fields["craft"])
            fields["blocks"] = [(int(x), int(y), int(z)) for x, y, z in fields["blocks"]]
            fields["position"] = None if fields["position"] is None else tuple(fields["position"])
            return cls(**fields)
        except (KeyError, TypeError, ValueError) as error:
            raise WorldError(f"not the state of a screen ({error}); give what Screen.state() returned") from None


def slot_at(screen: Screen, x: float, y: float) -> int | None:
    for number, place in enumerate(screen.panel.places):
        border = 1 if (place.width, place.height) == (16, 16) else 0
        if -border <= x - place.x < place.width + border and -border <= y - place.y < place.height + border:
            return number
    return None
