"""Find a cave: whether the player stands in a natural cave, and did not dig a way into this cave."""

from __future__ import annotations

import numpy as np
from numba import njit

from blockworld import Position, World, compiling
from blockworld.grid import FLUID_KIND
from blockworld.terrain import PASSABLE, ROOF
from interplay.envs.voxel.land import Answers, cell_of, changed_cells, clusters, sides
from interplay.envs.voxel.village import houses_of, within

compiling.register(__file__)

DARK = 8
"""In a cave, the level of sky light (0 to 15) is below this."""
CAVE_CELLS = 120
"""Least number of air cells under natural roofs that make a cave."""
BESIDE = 4
"""Natural openings are searched within this many blocks of the dug cells: a cave that has one there was open before."""
NEAR_OPEN = 3
"""Dug cells at most this many blocks below the surface count as a hole from the surface that was covered again."""


def check(world: World) -> Answers:
    x, y, z = cell_of(world.player.x, world.player.y, world.player.z)
    sx, sz, _ = world.grid.blocks.shape
    surface = int(world.land.heights[min(max(x, 0), sx - 1), min(max(z, 0), sz - 1)])
    inside, dug = inside_cave(world), dug_in(world)
    return {
        "inside_cave": inside,
        "dug_in": dug,
        "depth": max(0, surface - y),
        "success": inside and not dug and world.said_done,
    }


def inside_cave(world: World) -> bool:
    """Return whether the player stands in a large enough natural cave: in air, under a natural roof, in the dark."""
    blocks = world.land.blocks
    x, y, z = cell_of(world.player.x, world.player.y, world.player.z)
    sx, sz, sy = blocks.shape
    if not (0 <= x < sx and 0 <= z < sz and 1 <= y < sy - 3):
        return False
    if not (PASSABLE[blocks[x, z, y]] and PASSABLE[blocks[x, z, y + 1]]):
        return False
    if not ROOF[blocks[x, z, y + 2 :]].any() or world.grid.lights(x, y + 1, z)[0] >= DARK:
        return False
    if any(within(house, x, z) and house.box[1] <= y <= house.box[4] for house in houses_of(world)):
        return False
    return bool(_roomy(blocks, PASSABLE, ROOF, x, y, z, CAVE_CELLS))


@njit(cache=True)
def _roomy(blocks, passable, roof, x, y, z, enough):  # type: ignore[no-untyped-def]
    """Return whether at least `enough` connected cells of air with a roof above lie around a cell."""
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


def dug_in(world: World) -> bool:
    """Return whether the player dug a way into a cave that has no natural way in at this place. A tunnel that almost reaches
    the open air also counts. Widening the mouth of a cave, or digging inside the cave, does not count."""
    cells = changed_cells(world)
    before = world.land.blocks[cells[:, 0], cells[:, 2], cells[:, 1]]
    now = world.grid.blocks[cells[:, 0], cells[:, 2], cells[:, 1]]
    opened = ROOF[before] & (FLUID_KIND[before] == 0) & (PASSABLE[now] | (FLUID_KIND[now] != 0))
    return any(_is_way_in(world, group) for group in clusters(map(tuple, cells[opened].tolist())))


def _is_way_in(world: World, dug: set[Position]) -> bool:
    """Return whether connected dug cells join the open air to a natural hollow that has no opening of its own nearby."""
    blocks = world.land.blocks
    bounds = [(min(values), max(values)) for values in zip(*dug, strict=True)]
    (x0, x1), (y0, y1), (z0, z1) = ((max(0, low - BESIDE), high + BESIDE + 1) for low, high in bounds)
    part = blocks[x0:x1, z0:z1, y0:y1]
    hollow = {(x0 + dx, y0 + dy, z0 + dz) for dx, dz, dy in np.argwhere(PASSABLE[part]).tolist()}
    touched = {near for cell in dug for near in sides(cell) if near in hollow}
    in_open = any(y >= world.land.heights[x, z] - NEAR_OPEN for x, y, z in dug)
    in_cave = False
    while touched:
        group, queue, is_open = set(), [touched.pop()], False
        while queue:
            cell = queue.pop()
            if cell in hollow:
                hollow.discard(cell)
                group.add(cell)
                queue += sides(cell)
                x, y, z = cell
                is_open = is_open or not ROOF[blocks[x, z, y + 1 :]].any()
        touched -= group
        in_open, in_cave = in_open or is_open, in_cave or not is_open
    return in_open and in_cave
