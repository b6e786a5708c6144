"""Create a village animal pen: whether a closed pen with a gate holds two animals of one kind, near houses, without harm."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from blockworld import Position, World
from blockworld.grid import FLUID_KIND
from blockworld.registry import BOX_START, BOXES, NUM_BOXES, NUM_STATES, properties_of
from blockworld.terrain import STANDABLE
from interplay.envs.voxel.land import Answers, changed_cells
from interplay.envs.voxel.village import (
    DOOR,
    FARM_KINDS,
    FENCE,
    GATE,
    PEN_KINDS,
    animals,
    harmed_village,
    houses_of,
    within,
)

PEN_CELLS = (4, 400)
"""Smallest and largest number of ground cells in a pen."""
NEAR_HOUSE = 6
"""Largest distance between a pen and a house in blocks, along the longer axis."""
_FULL = np.array(
    [NUM_BOXES[s] > 0 and BOXES[BOX_START[s] : BOX_START[s] + NUM_BOXES[s], 4].max() > 0.6 for s in range(NUM_STATES)]
)
"""bool for each block state: whether animals must jump to get onto the block."""


def check(world: World) -> Answers:
    best, score = None, (-1, -1)
    inside: list[str] = []
    for pen in pens(world):
        columns = {(x, z): y for x, y, z in pen.cells}
        there = [name for name, x, y, z in animals(world) if abs(columns.get((math.floor(x), math.floor(z)), -99) - y) < 3]
        if (len(there), len(pen.cells)) > score:
            best, score, inside = pen, (len(there), len(pen.cells)), there
    kinds = set(inside)
    closed = best is not None and ground_around(world, min(best.cells), shut=False) is not None
    has_gate = best is not None and any(_leads_out(world, best, gate) for gate in sorted(best.gates))
    houses = [house for house in houses_of(world) if house.kind not in (*FARM_KINDS, *PEN_KINDS)]
    near = best is not None and any(within(house, x, z, NEAR_HOUSE) for x, _, z in best.cells for house in houses)
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


@dataclass(frozen=True)
class Pen:
    """Ground that an animal cannot leave: the cells in which its feet can be, and the fence gates at the edge."""

    cells: frozenset[Position]
    gates: frozenset[Position]


def pens(world: World) -> list[Pen]:
    """Return enclosed ground beside fences and gates that the player placed, largest first; open gates count as closed."""
    cells = changed_cells(world)
    now = world.grid.blocks[cells[:, 0], cells[:, 2], cells[:, 1]]
    mine = {(x, y, z) for x, y, z in cells[GATE[now] | FENCE[now]].tolist()}
    found: list[Pen] = []
    tried: set[Position] = set()
    for x, y, z in sorted(mine):
        for dx, dz in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            for h in (y, y + 1, y - 1):
                start = (x + dx, h, z + dz)
                if start in tried or not world.grid.inside(*start) or not _stands(world, *start):
                    continue
                tried.add(start)
                pen = ground_around(world, start, shut=True)
                if pen is None:
                    continue
                tried |= pen.cells
                if len(pen.cells) >= PEN_CELLS[0]:
                    found.append(Pen(pen.cells, pen.gates & mine))
    return sorted(found, key=lambda pen: (-len(pen.cells), sorted(pen.cells)[0]))


def ground_around(world: World, start: Position, *, shut: bool) -> Pen | None:
    """Return the ground that an animal can reach from a cell; None if this is more than a pen may have. With `shut`, open gates
    count as closed."""
    grid = world.grid
    seen, queue, gates = {start}, [start], set()
    while queue:
        x, y, z = queue.pop()
        for dx, dz in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            a, b = x + dx, z + dz
            for h in (y, y + 1, y - 1):
                state = grid.get(a, h, b)
                if GATE[state]:
                    gates.add((a, h, b))
            h = _step(world, x, y, z, a, b, shut=shut)
            if h is not None and (a, h, b) not in seen:
                if not grid.inside(a, h, b) or len(seen) > PEN_CELLS[1]:
                    return None
                seen.add((a, h, b))
                queue.append((a, h, b))
    return Pen(frozenset(seen), frozenset(gates))


def _step(world: World, x: int, y: int, z: int, a: int, b: int, *, shut: bool) -> int | None:
    """Return the height at which an animal stands after a step from one column to the next; None if it cannot step there."""
    grid = world.grid

    def free(cx: int, cy: int, cz: int) -> bool:
        state = grid.get(cx, cy, cz)
        if GATE[state]:
            return not shut and properties_of(state)["open"] == "true"
        if DOOR[state]:
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
    """Return whether the block is a fence, wall or closed gate, over which no animal jumps."""
    if GATE[state]:
        return shut or properties_of(state)["open"] == "false"
    return bool(FENCE[state])


def _stands(world: World, x: int, y: int, z: int) -> bool:
    here, below = world.grid.get(x, y, z), world.grid.get(x, y - 1, z)
    if _FULL[here] or GATE[here] or FENCE[here] or FENCE[below] or GATE[below]:
        return False
    return bool(STANDABLE[below])


def _leads_out(world: World, pen: Pen, gate: Position) -> bool:
    x, y, z = gate
    for dx, dz in ((1, 0), (0, 1)):
        sides = [[(x + dx * s, h, z + dz * s) for h in (y, y + 1, y - 1)] for s in (1, -1)]
        within = [any(cell in pen.cells for cell in side) for side in sides]
        if within[0] != within[1] and any(_stands(world, *cell) for cell in sides[within.index(False)]):
            return True
    return False
