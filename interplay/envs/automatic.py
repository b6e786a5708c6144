"""What can be said about an episode in the block world without a judge: read from the world at its end.

The world of now is compared with the land as generated, so nothing has to be kept while somebody plays. These are answers
beside the judges' ones, called automatic evaluation; no agent is given them as reward.

Differences from what people see: style, beauty and effort are nobody's business here, and a building counts only as far as the
rules below can tell.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numba import njit

from interplay.errors import unknown_name
from interplay.world.blocks import (
    AIR,
    BLOCKS,
    BOX_START,
    BOXES,
    NUM_BOXES,
    NUM_STATES,
    name_of,
    per_block,
    properties_of,
)
from interplay.world.kinds import KINDS, NUM_THINGS
from interplay.world.light import OPAQUE
from interplay.world.mouths import PASSABLE, ROOF, STANDABLE
from interplay.world.orient import is_replaceable
from interplay.world.physics import FLUID_KIND, WATER
from interplay.world.state import Position
from interplay.world.village_houses import FARMS, PENS
from interplay.world.villages import House
from interplay.world.world import World

Answers = dict[str, bool | int | float]

MILESTONES: dict[str, float] = {
    "log": 1.0, "planks": 2.0, "stick": 4.0, "crafting_table": 4.0, "wooden_pickaxe": 8.0, "cobblestone": 16.0, "furnace": 32.0,
    "stone_pickaxe": 32.0, "iron_ore": 64.0, "iron_ingot": 128.0, "iron_pickaxe": 256.0, "diamond": 1024.0,
    "diamond_shovel": 2048.0,
}  # fmt: skip
"""MineRL's table of ObtainDiamondShovel: what the first of each item is worth, 3,619 in all; any log and any planks count."""

DARK = 8
"""Sky light of a cave is below this."""
CAVE_CELLS = 120
"""A cave goes on for so many cells of air under natural roofs."""
FALL = 3
"""Blocks that water falls at least to be a waterfall."""
VIEW_REACH, VIEW_FOV = 64.0, 70.0
RAYS = (96, 54)
"""Rays across and down the picture of 640 x 360."""
IN_VIEW = 4
"""Rays that must meet the waterfall: less than 1 in 1,000 of the picture is too small to see."""
PEN_CELLS = (4, 400)
"""Least and most cells of ground in a pen."""
NEAR_HOUSE, NEAR_PATH = 6, 8
"""Blocks, counted along the longer axis."""
LEAST_BLOCKS = 30
"""Of a house."""
DOORWAY = 6
"""Cells through which a room with one doorway and some holes for windows may be open."""

PENNED = ("cow", "pig", "sheep", "chicken", "rabbit")
_CROPS = ("wheat", "carrots", "potatoes", "beetroots", "farmland", "melon_stem", "pumpkin_stem")
_SOIL = frozenset({"dirt", "grass_block", "grass_path", "farmland", "podzol", "coarse_dirt"})
_PLANTS = frozenset(
    ["air", "water", "snow", "grass", "fern", "tall_grass", "large_fern", "vine", "sugar_cane", "cactus", "fire", *_CROPS[:4]]
)
_PENS, _FARMS = tuple(one.name for one in PENS), tuple(one.name for one in FARMS)
_ROOM_HEIGHT = 16
"""Cells above a floor in which its roof is looked for."""


def _named(wanted: Callable[[str], bool]) -> np.ndarray:
    """bool per state: whether the name of its block is wanted."""
    return per_block({block.name: True for block in BLOCKS if wanted(block.name)}, False, np.bool_)


_LEAVES = _named(lambda name: name.endswith("_leaves"))
_BLOCKS_VIEW: np.ndarray = OPAQUE | _LEAVES
_GATE = _named(lambda name: name.endswith("_fence_gate"))
_DOOR = _named(lambda name: name.endswith("_door"))
_FENCE = _named(lambda name: name.endswith(("_fence", "_wall")))
_WATER = _named(lambda name: name == "water")
_FULL = np.array(
    [NUM_BOXES[s] > 0 and BOXES[BOX_START[s] : BOX_START[s] + NUM_BOXES[s], 4].max() > 0.6 for s in range(NUM_STATES)]
)
"""bool per state: no animal steps onto it without a jump."""
_NATURAL = _named(lambda name: name in _PLANTS or name.endswith("_sapling"))


def evaluate(world: World, task_name: str) -> Answers:
    """Answers about an episode of a task, from the world at its end.

    Args:
        task_name: `find_cave`, `make_waterfall`, `create_village_animal_pen`, `build_village_house` or `obtain_diamond_shovel`.
    Returns:
        What was reached, by name; `success` is always there. Where the task is to stop at the right moment (cave,
        waterfall) it also takes the ESC of somebody who knew.
    Raises:
        NotFoundError: If nothing is known about tasks of that name.

    >>> evaluate(World(7, "flat", inhabited=False), "find_cave")
    {'inside_cave': False, 'depth': 0, 'success': False}
    """
    if task_name not in RULES:
        raise unknown_name("task with automatic evaluation", task_name, RULES)
    return RULES[task_name](world)


def changed_cells(world: World) -> np.ndarray:
    """int64, shape (N, 3): x, y, z of every cell that is not as it was generated, in a fixed order."""
    _, sz, sy = world.grid.blocks.shape
    flat = np.flatnonzero(world.grid.blocks.reshape(-1) != world.land.blocks.reshape(-1))
    return np.stack([flat // (sz * sy), flat % sy, flat // sy % sz], axis=1)


# Caves.


def inside_cave(world: World) -> bool:
    """Whether the player stands in a cave: where there was air under a natural roof, in the dark, and it goes on from there."""
    blocks = world.land.blocks
    x, y, z = _cell(world.player.x, world.player.y, world.player.z)
    sx, sz, sy = blocks.shape
    if not (0 <= x < sx and 0 <= z < sz and 1 <= y < sy - 3):
        return False
    if not (PASSABLE[blocks[x, z, y]] and PASSABLE[blocks[x, z, y + 1]]):
        return False
    if not ROOF[blocks[x, z, y + 2 :]].any() or world.grid.lights(x, y + 1, z)[0] >= DARK:
        return False
    if any(_within(house, x, z) and house.box[1] <= y <= house.box[4] for house in _houses(world)):
        return False
    return bool(_roomy(blocks, PASSABLE, ROOF, x, y, z, CAVE_CELLS))


@njit(cache=True)
def _roomy(blocks, passable, roof, x, y, z, enough):  # type: ignore[no-untyped-def]
    """Whether `enough` cells of air with a roof above hang together around a cell."""
    sx, sz, sy = blocks.shape
    xs, ys, zs = np.empty(enough, np.int64), np.empty(enough, np.int64), np.empty(enough, np.int64)
    xs[0], ys[0], zs[0] = x, y, z
    start, end = 0, 1
    while start < end:
        for way in range(6):
            a = xs[start] + (way == 0) - (way == 1)
            h = ys[start] + (way == 2) - (way == 3)
            b = zs[start] + (way == 4) - (way == 5)
            if a < 0 or b < 0 or h < 1 or a >= sx or b >= sz or h >= sy or not passable[blocks[a, b, h]]:
                continue
            known = False
            for i in range(end):
                known = known or (xs[i] == a and ys[i] == h and zs[i] == b)
            if known:
                continue
            covered = False
            for k in range(h + 1, sy):
                if roof[blocks[a, b, k]]:
                    covered = True
                    break
            if covered:
                xs[end], ys[end], zs[end] = a, h, b
                end += 1
                if end == enough:
                    return True
        start += 1
    return False


def _find_cave(world: World) -> Answers:
    x, y, z = _cell(world.player.x, world.player.y, world.player.z)
    sx, sz, _ = world.grid.blocks.shape
    surface = int(world.land.heights[min(max(x, 0), sx - 1), min(max(z, 0), sz - 1)])
    inside = inside_cave(world)
    return {"inside_cave": inside, "depth": max(0, surface - y), "success": inside and world.said_done}


# Waterfalls.


@njit(cache=True)
def _rays(blocks, marks, stops, x, y, z, yaw, pitch, fov, across, down, reach):  # type: ignore[no-untyped-def]
    """How many rays of a picture meet a marked cell before one that stops them."""
    sx, sz, sy = blocks.shape
    high = math.tan(math.radians(fov) / 2)
    wide = high * 640.0 / 360.0
    a, p = math.radians(yaw), math.radians(pitch)
    met = 0
    for column in range(across):
        right = wide * ((column + 0.5) / across * 2 - 1)
        for row in range(down):
            up = high * (1 - (row + 0.5) / down * 2)
            dx = -math.sin(a) * math.cos(p) - math.cos(a) * right - math.sin(a) * math.sin(p) * up
            dy = -math.sin(p) + math.cos(p) * up
            dz = math.cos(a) * math.cos(p) - math.sin(a) * right + math.cos(a) * math.sin(p) * up
            size = math.sqrt(dx * dx + dy * dy + dz * dz)
            dx, dy, dz = dx / size, dy / size, dz / size
            cx, cy, cz = math.floor(x), math.floor(y), math.floor(z)
            far = 1e300
            next_x = (cx + (dx > 0) - x) / dx if dx != 0 else far
            next_y = (cy + (dy > 0) - y) / dy if dy != 0 else far
            next_z = (cz + (dz > 0) - z) / dz if dz != 0 else far
            at = 0.0
            while at <= reach:
                if 0 <= cx < sx and 0 <= cz < sz and 0 <= cy < sy:
                    if marks[cx, cz, cy]:
                        met += 1
                        break
                    if stops[blocks[cx, cz, cy]]:
                        break
                at = min(next_x, next_y, next_z)
                if at == next_x:
                    cx += 1 if dx > 0 else -1
                    next_x += abs(1 / dx)
                elif at == next_y:
                    cy += 1 if dy > 0 else -1
                    next_y += abs(1 / dy)
                else:
                    cz += 1 if dz > 0 else -1
                    next_z += abs(1 / dz)
    return met


def poured(world: World) -> np.ndarray:
    """int64, shape (N, 3): x, y, z of water that the land did not have."""
    cells = changed_cells(world)
    now = world.grid.blocks[cells[:, 0], cells[:, 2], cells[:, 1]]
    before = world.land.blocks[cells[:, 0], cells[:, 2], cells[:, 1]]
    return cells[_WATER[now] & (FLUID_KIND[before] != WATER)]


def rays_in_view(world: World, cells: np.ndarray) -> int:
    """How many of the `RAYS` of the player's picture meet some cells; farther than `VIEW_REACH` or hidden ones meet none."""
    if not len(cells):
        return 0
    marks = np.zeros(world.grid.blocks.shape, np.bool_)
    marks[cells[:, 0], cells[:, 2], cells[:, 1]] = True
    player = world.player
    view = (player.x, player.eye_y, player.z, player.yaw, player.pitch)
    return int(_rays(world.grid.blocks, marks, _BLOCKS_VIEW, *view, VIEW_FOV, *RAYS, VIEW_REACH))


def _make_waterfall(world: World) -> Answers:
    cells = poured(world)
    tallest, falls = 0, []
    order = np.lexsort((cells[:, 1], cells[:, 2], cells[:, 0]))
    columns = cells[order]
    breaks = np.flatnonzero((np.diff(columns[:, [0, 2]], axis=0) != 0).any(axis=1) | (np.diff(columns[:, 1]) != 1)) + 1
    for run in np.split(columns, breaks):
        tallest = max(tallest, len(run))
        if len(run) > FALL:  # a source or stream, and what falls from it
            falls.append(run)
    made = tallest > FALL
    num_rays = rays_in_view(world, np.concatenate(falls)) if made else 0
    in_view = num_rays >= IN_VIEW
    return {
        "made_waterfall": made,
        "in_view": in_view,
        "height": max(0, tallest - 1),
        "num_cells": len(cells),
        "share_of_view": round(num_rays / (RAYS[0] * RAYS[1]), 4),
        "success": made and in_view and world.said_done,
    }


# Villages.


def _cell(x: float, y: float, z: float) -> Position:
    """The cell of somebody's feet; who stands on a slab or a path stands above it."""
    return math.floor(x), math.floor(y + 0.5), math.floor(z)


def _houses(world: World) -> list[House]:
    return [house for village in world.land.villages for house in village.houses]


def _within(house: House, x: float, z: float, margin: int = 0) -> bool:
    x0, _, z0, x1, _, z1 = house.box
    return x0 - margin <= x < x1 + 1 + margin and z0 - margin <= z < z1 + 1 + margin


def harmed_village(world: World) -> bool:
    """Whether something built or planted is gone or exchanged, a villager was hit, or animals were taken out of a pen.

    Doors may stand open, and fields grow and dry by themselves: of those, only what the player broke counts.
    """
    counts = world.player.counts
    if counts.get("hit", {}).get("villager") or counts.get("hit", {}).get("iron_golem"):
        return True
    if world.land.villages and any(counts.get("mined", {}).get(name) for name in _CROPS):
        return True
    cells = changed_cells(world)
    if len(cells):
        built = np.zeros(world.land.blocks.shape[:2], np.bool_)
        for house in _houses(world):
            x0, _, z0, x1, _, z1 = house.box
            built[x0 : x1 + 1, z0 : z1 + 1] = True
        paths = {cell for village in world.land.villages for cell in village.paths}
        for x, y, z in cells.tolist():
            before, now = name_of(int(world.land.blocks[x, z, y])), name_of(int(world.grid.blocks[x, z, y]))
            if before == now:
                continue
            if (x, y, z) in paths:
                if before != "grass_path" or now not in _SOIL or _covered_by_player(world, x, y + 1, z):
                    return True
            elif (
                built[x, z]
                and before not in _PLANTS
                and before not in _SOIL
                and any(_holds(house.box, x, y, z) for house in _houses(world))
            ):
                return True
    return _fewer_penned(world)


def _covered_by_player(world: World, x: int, y: int, z: int) -> bool:
    now, before = int(world.grid.get(x, y, z)), int(world.land.blocks[x, z, y])
    return NUM_BOXES[now] > 0 and now != before


def _holds(box: tuple[int, int, int, int, int, int], x: int, y: int, z: int) -> bool:
    x0, y0, z0, x1, y1, z1 = box
    return x0 <= x <= x1 and y0 <= y <= y1 and z0 <= z <= z1


def _fewer_penned(world: World) -> bool:
    """Whether a pen of the village has fewer animals than at first, and stands open, is broken, or some were hit.

    Some perish on their own, so a loss alone says nothing.
    """
    hit = any(world.player.counts.get("hit", {}).get(name) for name in PENNED)
    for village in world.land.villages:
        for house in village.houses:
            if house.kind not in _PENS:
                continue
            x0, y0, z0, x1, y1, z1 = house.box
            part = slice(x0, x1 + 1), slice(z0, z1 + 1), slice(y0, y1 + 1)
            now, before = world.grid.blocks[part], world.land.blocks[part]
            opened = bool(((now != before) & (_GATE[before] | _FENCE[before])).any())
            first = [name for name, x, _, z in village.livestock if _within(house, x, z)]
            if (opened or hit) and sum(_within(house, x, z, 1) for _, x, _, z in _animals(world)) < len(first):
                return True
    return False


def _animals(world: World) -> list[tuple[str, float, float, float]]:
    """Name and place of every farm animal."""
    rows = world.entities[(world.entities["kind"] >= NUM_THINGS) & (world.entities["health"] > 0)]
    found = [(KINDS[row["kind"]], float(row["x"]), float(row["y"]), float(row["z"])) for row in rows]
    return [one for one in found if one[0] in PENNED]


# Pens.


@dataclass(frozen=True)
class Pen:
    """Ground that an animal could walk on from one place without leaving it.

    Attributes:
        cells: Of the feet.
        gates: Fence gates at its edge, all of them the player's.
    """

    cells: frozenset[Position]
    gates: frozenset[Position]


def _ground_around(world: World, start: Position, *, shut: bool) -> Pen | None:
    """Where an animal gets from a cell; None if that is farther than a pen reaches.

    Args:
        shut: Whether open gates are taken for closed ones.
    """
    grid = world.grid
    seen, queue, gates = {start}, [start], set()
    while queue:
        x, y, z = queue.pop()
        for dx, dz in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            a, b = x + dx, z + dz
            for h in (y, y + 1, y - 1):
                state = grid.get(a, h, b)
                if _GATE[state]:
                    gates.add((a, h, b))
            h = _step(world, x, y, z, a, b, shut=shut)
            if h is not None and (a, h, b) not in seen:
                if not grid.inside(a, h, b) or len(seen) > PEN_CELLS[1]:
                    return None
                seen.add((a, h, b))
                queue.append((a, h, b))
    return Pen(frozenset(seen), frozenset(gates))


def _step(world: World, x: int, y: int, z: int, a: int, b: int, *, shut: bool) -> int | None:
    """Height at which an animal stands after a step from one column to the next; None if it cannot take it."""
    grid = world.grid

    def free(cx: int, cy: int, cz: int) -> bool:
        state = grid.get(cx, cy, cz)
        if _GATE[state]:
            return not shut and properties_of(state)["open"] == "true"
        if _DOOR[state]:
            return properties_of(state)["open"] == "true"
        return not _FULL[state]

    if _tall(grid.get(a, y, b), shut) or not free(a, y + 1, b):
        return None
    if not free(a, y, b):  # up one by a jump
        return y + 1 if free(x, y + 1, z) else None
    for h in range(y, y - 5, -1):
        if not free(a, h - 1, b) or FLUID_KIND[grid.get(a, h - 1, b)]:
            return h
    return None


def _tall(state: int, shut: bool) -> bool:
    """Whether it is a fence, wall or closed gate, which nobody jumps."""
    if _GATE[state]:
        return shut or properties_of(state)["open"] == "false"
    return bool(_FENCE[state])


def pens(world: World) -> list[Pen]:
    """Enclosed ground beside fences and gates that the player placed, open gates taken for closed; largest first."""
    cells = changed_cells(world)
    now = world.grid.blocks[cells[:, 0], cells[:, 2], cells[:, 1]]
    mine = {(x, y, z) for x, y, z in cells[_GATE[now] | _FENCE[now]].tolist()}
    found: list[Pen] = []
    tried: set[Position] = set()
    for x, y, z in sorted(mine):
        for dx, dz in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            for h in (y, y + 1, y - 1):
                start = (x + dx, h, z + dz)
                if start in tried or not world.grid.inside(*start) or not _stands(world, *start):
                    continue
                tried.add(start)
                pen = _ground_around(world, start, shut=True)
                if pen is None:
                    continue
                tried |= pen.cells
                if len(pen.cells) >= PEN_CELLS[0]:
                    found.append(Pen(pen.cells, pen.gates & mine))
    return sorted(found, key=lambda pen: (-len(pen.cells), sorted(pen.cells)[0]))


def _stands(world: World, x: int, y: int, z: int) -> bool:
    here, below = world.grid.get(x, y, z), world.grid.get(x, y - 1, z)
    if _FULL[here] or _GATE[here] or _FENCE[here] or _FENCE[below] or _GATE[below]:
        return False
    return bool(STANDABLE[below])


def _create_village_animal_pen(world: World) -> Answers:
    best, score = None, (-1, -1)
    inside: list[str] = []
    for pen in pens(world):
        columns = {(x, z): y for x, y, z in pen.cells}
        there = [name for name, x, y, z in _animals(world) if abs(columns.get((math.floor(x), math.floor(z)), -99) - y) < 3]
        if (len(there), len(pen.cells)) > score:
            best, score, inside = pen, (len(there), len(pen.cells)), there
    kinds = set(inside)
    closed = best is not None and _ground_around(world, min(best.cells), shut=False) is not None
    has_gate = best is not None and any(_leads_out(world, best, gate) for gate in sorted(best.gates))
    houses = [house for house in _houses(world) if house.kind not in (*_FARMS, *_PENS)]
    near = best is not None and any(_within(house, x, z, NEAR_HOUSE) for x, _, z in best.cells for house in houses)
    harmed = harmed_village(world)
    one_kind = len(kinds) == 1
    return {
        "closed": closed,
        "num_animals": len(inside),
        "one_kind": one_kind,
        "has_gate": has_gate,
        "near_house": near,
        "harmed_village": harmed,
        "success": closed and len(inside) >= 2 and one_kind and has_gate and near and not harmed,
    }


def _leads_out(world: World, pen: Pen, gate: Position) -> bool:
    """Whether one side of a gate is in the pen and the other is ground outside of it."""
    x, y, z = gate
    for dx, dz in ((1, 0), (0, 1)):
        sides = [[(x + dx * s, h, z + dz * s) for h in (y, y + 1, y - 1)] for s in (1, -1)]
        within = [any(cell in pen.cells for cell in side) for side in sides]
        if within[0] != within[1] and any(_stands(world, *cell) for cell in sides[within.index(False)]):
            return True
    return False


# Houses.


def built_cells(world: World) -> dict[Position, int]:
    """Cells where the player built something, and its state: not what grows, flows or is left of the ground."""
    found: dict[Position, int] = {}
    for x, y, z in changed_cells(world).tolist():
        now, before = int(world.grid.blocks[x, z, y]), int(world.land.blocks[x, z, y])
        if _NATURAL[now] or now == AIR:
            continue
        was_name, name = name_of(before), name_of(now)
        if name == was_name or (name in _SOIL and was_name in _SOIL):
            continue
        if is_replaceable(before) or before == AIR or NUM_BOXES[before] == 0 or name not in _SOIL:
            found[x, y, z] = now
    return found


def _clusters(cells: Iterable[Position]) -> list[set[Position]]:
    """Cells that touch, be it at a corner, largest group first."""
    left = set(cells)
    found = []
    for cell in sorted(left):
        if cell not in left:
            continue
        left.discard(cell)
        group, queue = {cell}, [cell]
        while queue:
            x, y, z = queue.pop()
            for dx in (-1, 0, 1):
                for dy in (-1, 0, 1):
                    for dz in (-1, 0, 1):
                        near = (x + dx, y + dy, z + dz)
                        if near in left:
                            left.discard(near)
                            group.add(near)
                            queue.append(near)
        found.append(group)
    return sorted(found, key=lambda group: (-len(group), min(group)))


def is_room(world: World, built: set[Position]) -> bool:
    """Whether there is a room among what was built: at least 4 cells of floor, a roof, walls, and a way in."""
    xs, ys, zs = ([cell[axis] for cell in built] for axis in range(3))
    low, high = (min(xs), min(ys), min(zs)), (max(xs), max(ys), max(zs))
    grid = world.grid

    def wall(x: int, y: int, z: int) -> bool:
        state = grid.get(x, y, z)
        return NUM_BOXES[state] > 0 and not _DOOR[state] and not _GATE[state]

    roofs: dict[tuple[int, int], list[int]] = {}
    for x, y, z in built:
        if wall(x, y, z):
            roofs.setdefault((x, z), []).append(y)

    def covered(x: int, y: int, z: int) -> bool:
        return any(y < roof <= y + _ROOM_HEIGHT for roof in roofs.get((x, z), ()))

    seen: set[Position] = set()
    for x in range(low[0] + 1, high[0]):
        for z in range(low[2] + 1, high[2]):
            for y in range(low[1], high[1]):
                start = (x, y, z)
                standing = wall(x, y - 1, z) and not wall(*start) and not wall(x, y + 1, z)
                if start in seen or not standing or not covered(*start):
                    continue
                room, leaks, ways = _room(grid.get, wall, covered, start, seen)
                floor = sum(wall(a, h - 1, b) for a, h, b in room)
                if room and floor >= 4 and ways and leaks <= DOORWAY:
                    return True
    return False


def _room(
    state_at: Callable[[int, int, int], int],
    wall: Callable[[int, int, int], bool],
    covered: Callable[[int, int, int], bool],
    start: Position,
    seen: set[Position],
) -> tuple[set[Position], int, int]:
    """Roofed cells that hang together, through how many cells they are open to the sides, and how many ways in there are."""
    room, queue, leaks, ways = {start}, [start], set(), 0
    while queue:
        x, y, z = queue.pop()
        for dx, dy, dz in ((1, 0, 0), (-1, 0, 0), (0, 0, 1), (0, 0, -1), (0, 1, 0), (0, -1, 0)):
            near = (x + dx, y + dy, z + dz)
            if near in room or wall(*near):
                continue
            if _DOOR[state_at(*near)]:
                ways += 1
            elif not covered(*near):
                leaks.add(near)
            elif len(room) > 4000:
                return set(), 0, 0
            else:
                room.add(near)
                queue.append(near)
    seen |= room
    ways += sum((x, y + 1, z) in leaks and wall(x, y - 1, z) for x, y, z in leaks)
    return room, len(leaks), ways


def palette(world: World) -> frozenset[str]:
    """Names of the blocks that the houses of the land's villages are built of."""
    names: set[str] = set()
    for house in _houses(world):
        if house.kind in (*_FARMS, *_PENS):
            continue
        x0, y0, z0, x1, y1, z1 = house.box
        states = np.unique(world.land.blocks[x0 : x1 + 1, z0 : z1 + 1, y0 : y1 + 1])
        names |= {name_of(state) for state in states.tolist()}
    return frozenset(names - _PLANTS - {"dirt", "grass_block", "stone", "gravel"})


def _build_village_house(world: World) -> Answers:
    cells = built_cells(world)
    groups = [group for group in _clusters(cells) if len(group) >= 12]
    house = next((group for group in groups if is_room(world, group)), None)
    one = house if house is not None else groups[0] if groups else set()
    paths = [path for village in world.land.villages for path in village.paths]
    columns = {(x, z) for x, _, z in one}
    near = any(max(abs(x - a), abs(z - b)) <= NEAR_PATH for x, _, z in paths for a, b in columns)
    fitting = palette(world)
    share = sum(name_of(cells[cell]) in fitting for cell in one) / len(one) if one else 0.0
    harmed = harmed_village(world)
    return {
        "closed": house is not None,
        "near_path": near,
        "village_blocks": round(share, 3),
        "harmed_village": harmed,
        "num_placed": len(cells),
        "success": house is not None and near and share >= 0.7 and not harmed and len(one) >= LEAST_BLOCKS,
    }


# The diamond shovel.


def milestone_of(item: str) -> str:
    """The name that an item has in `MILESTONES`: any log is `log`, any planks are `planks`."""
    return "log" if item.endswith("_log") else "planks" if item.endswith("_planks") else item


def milestones(world: World) -> set[str]:
    """Which items of `MILESTONES` the player has had: picked up, made, smelted or given."""
    counts = world.player.counts
    items = {stack.item for stack in world.player.slots if stack is not None}
    for kind in ("picked_up", "crafted", "smelted"):
        items |= set(counts.get(kind, {}))
    return {milestone_of(item) for item in items} & set(MILESTONES)


def _obtain_diamond_shovel(world: World) -> Answers:
    reached = milestones(world)
    total = sum(MILESTONES[name] for name in sorted(reached))
    return {"milestones": len(reached), "total": total, "success": "diamond_shovel" in reached}


RULES: dict[str, Callable[[World], Answers]] = {
    "find_cave": _find_cave,
    "make_waterfall": _make_waterfall,
    "create_village_animal_pen": _create_village_animal_pen,
    "build_village_house": _build_village_house,
    "obtain_diamond_shovel": _obtain_diamond_shovel,
}
"""Task -> how it is looked at."""
