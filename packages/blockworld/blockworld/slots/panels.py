"""Layout of the screens: sizes and places in GUI pixels, as in Minecraft 1.16."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from blockworld.errors import unknown_name
from blockworld.state import ARMOUR, OFFHAND

FRAME = (640, 360)
"""Width and height of the whole frame, in GUI pixels."""
NUM_OFFERS_SHOWN = 7
GRID_WIDTH: Mapping[str, int] = {"inventory": 2, "crafting_table": 3}
"""Kind of screen -> width of its crafting grid, in slots; other kinds have no such grid."""

KINDS = (
    "inventory",
    "crafting_table",
    "chest",
    "large_chest",
    "barrel",
    "shulker_box",
    "dispenser",
    "hopper",
    "furnace",
    "blast_furnace",
    "smoker",
    "stonecutter",
    "villager",
)


@dataclass(frozen=True)
class Place:
    """A clickable part of a panel.

    Attributes:
        x, y: Upper left corner, in GUI pixels from the panel's upper left.
        owner, index: Kind and number of the place. Kinds: `player` (a slot of the player), `container` (a slot of the block),
            `craft` (an input of a crafting grid, stonecutter or trade), `result` (the output of one of these), `option` (a
            choice of a stonecutter, or a villager's offer), `scroll` (0: up, 1: down the list of offers).
        width, height: Size in GUI pixels without the slot's border of one pixel.
    """

    x: int
    y: int
    owner: str
    index: int
    width: int = 16
    height: int = 16


class Panel(NamedTuple):
    """A kind of screen: its size in GUI pixels, and its places."""

    width: int
    height: int
    places: tuple[Place, ...]


@cache
def panel(kind: str) -> Panel:
    """Size and places of a kind of screen; UnknownNameError if there is no such kind."""
    if kind not in KINDS:
        raise unknown_name("screen", kind[:100], KINDS)
    places: list[Place] = []

    def block(x: int, y: int, columns: int, rows: int, owner: str) -> None:
        places.extend(Place(x + 18 * (i % columns), y + 18 * (i // columns), owner, i) for i in range(columns * rows))

    if kind in ("chest", "barrel", "shulker_box", "large_chest"):
        rows = 6 if kind == "large_chest" else 3
        block(8, 18, 9, rows, "container")
        return Panel(176, 114 + 18 * rows, (*places, *_carried(8, 31 + 18 * rows)))
    if kind == "hopper":
        block(44, 20, 5, 1, "container")
        return Panel(176, 133, (*places, *_carried(8, 51)))
    if kind == "villager":
        places += [Place(136, 37, "craft", 0), Place(162, 37, "craft", 1), Place(220, 37, "result", 0)]
        places += [Place(5, 18 + 20 * i, "option", i, 88, 20) for i in range(NUM_OFFERS_SHOWN)]
        places += [Place(94, 18, "scroll", 0, 6, 69), Place(94, 88, "scroll", 1, 6, 69)]
        return Panel(276, 166, (*places, *_carried(108, 84)))
    if kind == "inventory":
        block(98, 18, 2, 2, "craft")
        places.append(Place(154, 28, "result", 0))
        places += [Place(8, 8 + 18 * i, "player", ARMOUR + 3 - i) for i in range(4)]
        places.append(Place(77, 62, "player", OFFHAND))
    elif kind == "crafting_table":
        block(30, 17, 3, 3, "craft")
        places.append(Place(124, 35, "result", 0))
    elif kind == "dispenser":
        block(62, 17, 3, 3, "container")
    elif kind == "stonecutter":
        places += [Place(20, 33, "craft", 0), Place(143, 33, "result", 0)]
        places += [Place(52 + 16 * (i % 4), 15 + 18 * (i // 4), "option", i, 16, 18) for i in range(12)]
    else:
        places += [Place(x, y, "container", i) for i, (x, y) in enumerate(((56, 17), (56, 53), (116, 35)))]
    return Panel(176, 166, (*places, *_carried(8, 84)))


def _carried(x: int, y: int) -> list[Place]:
    """Places of the player's main slots from (x, y) on and, 4 pixels below these, of the hotbar."""
    main = [Place(x + 18 * (i % 9), y + 18 * (i // 9), "player", 9 + i) for i in range(27)]
    return main + [Place(x + 18 * i, y + 58, "player", i) for i in range(9)]
