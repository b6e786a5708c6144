"""Houses, farms and pens of villages (`data/houses.json`): drawings in characters, and their blocks in each style.

A house is drawn from above, one drawing for each storey, with the front (and its door) at the bottom. `#` is wall, `L` a post,
`G` a window, `D` the door, `C` a chimney, `A` wall of another material; `.` is floor; `_` is outside. Indoors: `b` `B` a
bed (head, foot), `h` chest, `F` furnace, `T` crafting table, `w` the tool of the trade, `k` bookshelves, `t` table, `s` chair,
`c` carpet, `a` barrel, `o` flower pot, `l` ladder, `*` torch on the wall, `J` lantern below the roof, `H` hay. Outside: `p`
porch, `P` porch with a post, `V` bush, `f` fence, `g` gate, `=` log in the ground, `u` field, `~` water, `e` ground as it is.
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
        walls: Lowest, middle and highest course of a storey.
        post: Upright block of corners; `beam` lies in walls between storeys.
        stairs, slab, full: Blocks of roofs; `verge` is the stairs at the ends of roofs.
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
        storeys: Drawings, lowest first, all of one size, as rows from the back to the front.
        roofs: Kind, storey it covers, and the rectangle of its walls (x0, z0, x1, z1; None: all of the drawing). Kinds:
            `gable_x` and `gable_z` (ridge east-west, north-south), `hip`, `low_x`, `low_z`, `low_hip` (half as
            steep), `flat`, `dome`.
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
"""Profession -> block at which such a villager works."""


def _tuples(value: Any) -> Any:
    return tuple(_tuples(one) for one in value) if isinstance(value, list) else value


def _designs(rows: list[dict[str, Any]]) -> tuple[Template, ...]:
    return tuple(Template(**{field: _tuples(value) for field, value in row.items()}) for row in rows)


_TABLE: dict[str, Any] = table("houses")
STYLE = {style: Style(**{field: _tuples(value) for field, value in row.items()}) for style, row in _TABLE["styles"].items()}
HOUSES = {style: _designs(rows) for style, rows in _TABLE["houses"].items()}
"""Style -> designs of its houses."""
FARMS, PENS = _designs(_TABLE["farms"]), _designs(_TABLE["pens"])
