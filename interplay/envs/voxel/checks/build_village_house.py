"""Build a village house: whether the building has a room, stands by a path and resembles the houses of the village."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from blockworld import Position, World, is_replaceable
from blockworld.registry import AIR, NUM_BOXES, name_of
from interplay.envs.voxel.land import Answers, blocks_named, changed_cells, clusters, sides
from interplay.envs.voxel.village import (
    DOOR,
    FARM_KINDS,
    GATE,
    PEN_KINDS,
    PLANTS,
    SOIL,
    harmed_village,
    houses_of,
)

NEAR_PATH = 8
"""Largest distance between a house and a path in blocks, along the longer axis."""
LEAST_BLOCKS = 30
"""Least number of blocks of a house."""
DOORWAY = 6
"""Largest number of cells through which a room may be open: one doorway and some holes for windows."""
_ROOM_HEIGHT = 16
"""Number of cells above a floor in which its roof is searched for."""
_SEEN_THROUGH = blocks_named(
    lambda name: "glass" in name or name == "iron_bars" or name.endswith(("_fence", "_trapdoor", "_gate"))
)
"""bool for each block state: whether the block counts as a window in a wall."""
_NATURAL = blocks_named(lambda name: name in PLANTS or name.endswith("_sapling"))


def check(world: World) -> Answers:
    """Return properties of the best building: one with a room with a window, else with a room; the largest of several."""
    cells = built_cells(world)
    groups = [group for group in clusters(cells) if len(group) >= 12]
    rooms = [(has_window, group) for group in groups if (has_window := find_room(world, group)) is not None]
    room, one = max(rooms, key=lambda found: found[0]) if rooms else (None, groups[0] if groups else set())
    has_window = bool(room)
    paths = [path for village in world.land.villages for path in village.paths]
    columns = {(x, z) for x, _, z in one}
    near = any(max(abs(x - a), abs(z - b)) <= NEAR_PATH for x, _, z in paths for a, b in columns)
    fitting = palette(world)
    share = sum(name_of(cells[cell]) in fitting for cell in one) / len(one) if one else 0.0
    harmed = harmed_village(world)
    return {
        "closed": room is not None,
        "has_window": has_window,
        "near_path": near,
        "village_blocks": round(share, 3),
        "harmed_village": harmed,
        "num_placed": len(cells),
        "success": has_window and near and share >= 0.7 and not harmed and len(one) >= LEAST_BLOCKS,
    }


def built_cells(world: World) -> dict[Position, int]:
    """Return the cells where the player built something, and their states; growth, water and remains of ground do not count."""
    found: dict[Position, int] = {}
    for x, y, z in changed_cells(world).tolist():
        now, before = int(world.grid.blocks[x, z, y]), int(world.land.blocks[x, z, y])
        if _NATURAL[now] or now == AIR:
            continue
        was_name, name = name_of(before), name_of(now)
        if name == was_name or (name in SOIL and was_name in SOIL):
            continue
        if is_replaceable(before) or before == AIR or NUM_BOXES[before] == 0 or name not in SOIL:
            found[x, y, z] = now
    return found


def find_room(world: World, built: set[Position]) -> bool | None:
    """Return whether a building has a room with a window; None without a room. A window is glass, bars, a fence, or an opening
    in addition to the entrance.

    A room has at least 4 cells of floor, a roof, walls, and a door or doorway.
    """
    xs, ys, zs = ([cell[axis] for cell in built] for axis in range(3))
    low, high = (min(xs), min(ys), min(zs)), (max(xs), max(ys), max(zs))
    grid = world.grid

    def wall(x: int, y: int, z: int) -> bool:
        state = grid.get(x, y, z)
        return NUM_BOXES[state] > 0 and not DOOR[state] and not GATE[state]

    roofs: dict[tuple[int, int], list[int]] = {}
    for x, y, z in built:
        if wall(x, y, z):
            roofs.setdefault((x, z), []).append(y)

    def covered(x: int, y: int, z: int) -> bool:
        return any(y < roof <= y + _ROOM_HEIGHT for roof in roofs.get((x, z), ()))

    found, seen = None, set[Position]()
    for x in range(low[0] + 1, high[0]):
        for z in range(low[2] + 1, high[2]):
            for y in range(low[1], high[1]):
                start = (x, y, z)
                standing = wall(x, y - 1, z) and not wall(*start) and not wall(x, y + 1, z)
                if start in seen or not standing or not covered(*start):
                    continue
                room, leaks, doors = _room(grid.get, wall, covered, start, seen)
                openings = clusters(leaks | doors)
                if sum(wall(a, h - 1, b) for a, h, b in room) < 4 or len(leaks) > DOORWAY:
                    continue
                if any(group & doors or _can_walk_in(wall, group) for group in openings):
                    panes = (near for cell in room for near in sides(cell) if near in built)
                    has_window = len(openings) > 1 or any(_SEEN_THROUGH[grid.get(*near)] for near in panes)
                    if has_window:
                        return True
                    found = False
    return found


def _can_walk_in(wall: Callable[[int, int, int], bool], opening: set[Position]) -> bool:
    """Return whether a person can stand right outside an opening, or a step below it, and walk in upright."""
    return any((x, y + 1, z) in opening and (wall(x, y - 1, z) or wall(x, y - 2, z)) for x, y, z in opening)


def _room(
    state_at: Callable[[int, int, int], int],
    wall: Callable[[int, int, int], bool],
    covered: Callable[[int, int, int], bool],
    start: Position,
    seen: set[Position],
) -> tuple[set[Position], set[Position], set[Position]]:
    """Return the cells of a room under a roof, the outer cells through which the room is open, and the doors at its sides."""
    room, queue, leaks, doors = {start}, [start], set[Position](), set[Position]()
    while queue:
        for near in sides(queue.pop()):
            if near in room or wall(*near):
                continue
            if DOOR[state_at(*near)]:
                doors.add(near)
            elif not covered(*near):
                leaks.add(near)
            elif len(room) > 4000:
                return set(), set(), set()
            else:
                room.add(near)
                queue.append(near)
    seen |= room
    return room, leaks, doors


def palette(world: World) -> frozenset[str]:
    """Return the names of the blocks in the houses of the land's villages."""
    names: set[str] = set()
    for house in houses_of(world):
        if house.kind in (*FARM_KINDS, *PEN_KINDS):
            continue
        x0, y0, z0, x1, y1, z1 = house.box
        states = np.unique(world.land.blocks[x0 : x1 + 1, z0 : z1 + 1, y0 : y1 + 1])
        names |= {name_of(state) for state in states.tolist()}
    return frozenset(names - PLANTS - {"dirt", "grass_block", "stone", "gravel"})
