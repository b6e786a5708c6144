"""Houses, farms and pens of villages (`data/houses.json`): drawings made of characters, and their blocks in each style.

A house is drawn from above, with one drawing for each storey and the front (with the door) at the bottom. `#` is wall, `L` a
post, `G` a window, `D` the door, `C` a chimney, `A` wall of another material; `.` is floor; `_` is outside. Indoors: `b` `B` a
bed (head, foot), `h` chest, `F` furnace, `T` crafting table, `w` the tool of the trade, `k` bookshelves, `t` table, `s` chair,
`c` carpet, `a` barrel, `o` flower pot, `l` ladder, `*` torch on the wall, `J` lantern below the roof, `H` hay. Outside: `p`
porch, `P` porch with a post, `V` bush, `f` fence, `g` gate, `=` log in the ground, `u` field, `~` water, `e` unchanged ground.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from blockworld.registry.facts import table

STYLES = ("plains", "desert", "savanna", "taiga", "snowy")


@dataclass(frozen=True)
class Style:
    """Materials of a style: block names, or states as `blocks.parse` reads them.

    Attributes:
        walls: Blocks of the lowest, middle and highest layer of a storey's walls.
        post: Upright block of corners; `beam` lies in walls between storeys.
        stairs, slab, full: Blocks of roofs; `verge`: stairs at the ends of roofs.
        lamp: Block on top of a lamp post.
    """

    wood: str
    walls: tuple[str, str, str]
    accent: str
    post: str
    beam: str
    base: str
    floor: str
    stairs: str
    slab: str
    full: str
    verge: str
    fence: str
    chimney: str
    paths: tuple[str, ...]
    lamp: str
    bed: tuple[str, ...]
    carpet: str
    bush: str
    flowers: tuple[str, ...]
    crops: tuple[str, ...]
    rim: str


@dataclass(frozen=True)
class Template:
    """The design of one house.

    Attributes:
        storeys: Drawings, lowest storey first, all of the same size; rows go from the back to the front.
        roofs: Kind, storey below, and rectangle of the walls (x0, z0, x1, z1; None: the whole drawing). Kinds: `gable_x` and
            `gable_z` (ridge east-west, north-south), `hip`, `low_x`, `low_z`, `low_hip` (half as steep), `flat`, `dome`.
        professions: Possible professions of its residents.
    """

    name: str
    storeys: tuple[tuple[str, ...], ...]
    roofs: tuple[tuple[str, int, tuple[int, int, int, int] | None], ...]
    professions: tuple[str, ...]


TOOL_OF = {
    "farmer": "composter", "librarian": "lectern", "toolsmith": "smithing_table", "armorer": "blast_furnace",
    "weaponsmith": "grindstone",
    "butcher": "smoker", "fletcher": "fletching_table", "shepherd": "loom", "mason": "stonecutter", "leatherworker": "cauldron",
    "cartographer": "cartography_table", "cleric": "brewing_stand", "fisherman": "barrel", "none": "crafting_table",
}  # fmt: skip
"""Profession -> block at which a villager with this profession works."""


def _tuples(value: Any) -> Any:
    return tuple(_tuples(one) for one in value) if isinstance(value, list) else value


def _designs(rows: list[dict[str, Any]]) -> tuple[Template, ...]:
    return tuple(Template(**{field: _tuples(value) for field, value in row.items()}) for row in rows)


_TABLE: dict[str, Any] = table("houses")
STYLE = {style: Style(**{field: _tuples(value) for field, value in row.items()}) for style, row in _TABLE["styles"].items()}
HOUSES = {style: _designs(rows) for style, rows in _TABLE["houses"].items()}
"""Style -> designs of its houses."""
FARMS, PENS = _designs(_TABLE["farms"]), _designs(_TABLE["pens"])
