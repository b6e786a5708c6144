"""Blocks whose look depends on their neighbours: fences, walls, panes, gates in walls, corners of stairs, snowy grass.

`joined` returns the state that fits the neighbours. It only reads, so that placing, commands and updates can all call it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from blockworld.grid.grid import Grid
from blockworld.grid.light import COVERED, DOWN, EAST, NORTH, SOUTH, UP, WEST
from blockworld.registry.blocks import BLOCK_OF, BLOCKS, BOX_START, BOXES, NUM_BOXES, change, name_of, properties_of

SIDES = ((0, -1, 0), (0, 1, 0), (0, 0, -1), (0, 0, 1), (-1, 0, 0), (1, 0, 0))
"""Steps (x, y, z) to the neighbours, in the order of `light.DOWN`, `UP`, `NORTH`, `SOUTH`, `WEST`, `EAST`."""
SIDE_OF = {"down": DOWN, "up": UP, "north": NORTH, "south": SOUTH, "west": WEST, "east": EAST}
NAME_OF = ("down", "up", "north", "south", "west", "east")
_LEFT_OF = {"north": "west", "west": "south", "south": "east", "east": "north"}
_OPPOSITE = {"north": "south", "south": "north", "west": "east", "east": "west"}

_NEVER_JOINED = {"barrier", "carved_pumpkin", "jack_o_lantern", "melon", "pumpkin"}
_POST_ON = ("torch", "_sign", "_banner", "_pressure_plate", "tripwire")

Rule = Callable[[Grid, int, int, int, int], int]


@cache
def sturdy(state: int, side: int) -> bool:
    """Whether other blocks can be fixed to a side of a state, because the side is a full face; leaves are not sturdy."""
    name = name_of(state)
    if name.endswith("_leaves"):
        return False
    if name == "soul_sand" or (name == "snow" and properties_of(state)["layers"] == "8"):
        return True
    return bool(COVERED[state] >> side & 1)


@cache
def covers(state: int, side: int, x0: int, z0: int, x1: int, z1: int) -> bool:
    """Whether the collision boxes of a state cover a rectangle, in sixteenths, of its bottom (`DOWN`) or top (`UP`)."""
    face = np.zeros((16, 16), np.bool_)
    for bx0, by0, bz0, bx1, by1, bz1 in BOXES[BOX_START[state] : BOX_START[state] + NUM_BOXES[state]] * 16:
        if by0 <= 0 if side == DOWN else by1 >= 16:
            face[max(0, round(bx0)) : round(bx1), max(0, round(bz0)) : round(bz1)] = True
    return bool(face[x0:x1, z0:z1].all())


@cache
def _kind(state: int) -> str:
    """How a state joins its neighbours: as `fence`, `nether_brick_fence`, `gate`, `pane`, `wall`, `plain` block, or `never`."""
    name = name_of(state)
    if name == "nether_brick_fence":
        return name
    for end, kind in (
        ("_fence", "fence"),
        ("_fence_gate", "gate"),
        ("glass_pane", "pane"),
        ("iron_bars", "pane"),
        ("_wall", "wall"),
    ):
        if name.endswith(end):
            return kind
    return "never" if name in _NEVER_JOINED or name.endswith(("_leaves", "shulker_box")) else "plain"


@cache
def _joins(kind: str, state: int, side: int) -> bool:
    """Whether a block of this kind joins a neighbour that has `state` and lies on its `side`."""
    other = _kind(state)
    if other == kind:
        return True
    if other == "gate" and kind != "pane":
        across = properties_of(state)["facing"] in ("north", "south")
        return across == (side in (WEST, EAST))
    if {other, kind} == {"pane", "wall"}:
        return True
    return other != "never" and sturdy(state, side ^ 1)


def _fence(grid: Grid, x: int, y: int, z: int, state: int) -> int:
    kind = _kind(state)
    joins = {}
    for side in (NORTH, SOUTH, WEST, EAST):
        dx, _, dz = SIDES[side]
        joins[NAME_OF[side]] = "true" if _joins(kind, grid.get(x + dx, y, z + dz), side) else "false"
    return change(state, **joins)


_STRIP = {"north": (7, 0, 9, 9), "south": (7, 7, 9, 16), "west": (0, 7, 9, 9), "east": (7, 7, 16, 9)}


def _wall(grid: Grid, x: int, y: int, z: int, state: int) -> int:
    above = grid.get(x, y + 1, z)
    heights = {}
    for side in (NORTH, SOUTH, WEST, EAST):
        dx, _, dz = SIDES[side]
        name = NAME_OF[side]
        if _joins("wall", grid.get(x + dx, y, z + dz), side):
            heights[name] = "tall" if covers(above, DOWN, *_STRIP[name]) else "low"
        else:
            heights[name] = "none"
    north, south, west, east = (heights[name] for name in ("north", "south", "west", "east"))
    if (
        (_kind(above) == "wall" and properties_of(above)["up"] == "true")
        or (north == "none") != (south == "none")
        or (west == "none") != (east == "none")
        or north == south == west == east == "none"
    ):
        post = True
    elif north == south == "tall" or west == east == "tall":
        post = False
    else:
        post = name_of(above).endswith(_POST_ON) or covers(above, DOWN, 7, 7, 9, 9)
    return change(state, up="true" if post else "false", **heights)


def _gate(grid: Grid, x: int, y: int, z: int, state: int) -> int:
    along_x = properties_of(state)["facing"] in ("north", "south")
    near = ((x - 1, z), (x + 1, z)) if along_x else ((x, z - 1), (x, z + 1))
    return change(state, in_wall="true" if any(_kind(grid.get(nx, y, nz)) == "wall" for nx, nz in near) else "false")


def _stairs(grid: Grid, x: int, y: int, z: int, state: int) -> int:
    properties = properties_of(state)
    facing, half = properties["facing"], properties["half"]

    def stairs_at(way: str) -> str | None:
        """Facing of the stairs on the side `way`; None if there are no stairs of the same half."""
        dx, _, dz = SIDES[SIDE_OF[way]]
        other = grid.get(x + dx, y, z + dz)
        if not name_of(other).endswith("_stairs") or properties_of(other)["half"] != half:
            return None
        return properties_of(other)["facing"]

    for way, turned in ((facing, "outer"), (_OPPOSITE[facing], "inner")):
        there = stairs_at(way)
        if there is None or there in (facing, _OPPOSITE[facing]):
            continue
        # No corner where the row of stairs goes straight on.
        if stairs_at(_OPPOSITE[there] if turned == "outer" else there) != facing:
            return change(state, shape=f"{turned}_{'left' if there == _LEFT_OF[facing] else 'right'}")
    return change(state, shape="straight")


def _snowy(grid: Grid, x: int, y: int, z: int, state: int) -> int:
    return change(state, snowy="true" if name_of(grid.get(x, y + 1, z)) in ("snow", "snow_block") else "false")


def _rule(name: str) -> Rule | None:
    if name.endswith(("_fence", "glass_pane")) or name == "iron_bars":
        return _fence
    if name.endswith("_fence_gate"):
        return _gate
    if name.endswith("_wall"):
        return _wall
    if name.endswith("_stairs"):
        return _stairs
    return _snowy if name in ("grass_block", "podzol", "mycelium") else None


RULES: tuple[Rule | None, ...] = tuple(_rule(block.name) for block in BLOCKS)
"""Per index into `BLOCKS`: function that joins such a block to its neighbours, or None."""


def joined(grid: Grid, x: int, y: int, z: int, state: int) -> int:
    """The state that fits the neighbours of a cell: connections, corners, snow. Most blocks keep their state."""
    rule = RULES[BLOCK_OF[state]]
    return state if rule is None else rule(grid, x, y, z, state)
