"""Make a waterfall: whether water that the player poured falls through air, and the player looks at it."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from blockworld import World, compiling
from blockworld.grid import FLUID_KIND, OPAQUE, WATER
from blockworld.terrain import PASSABLE
from interplay.envs.voxel.land import Answers, blocks_named, changed_cells

compiling.register(__file__)

FALL = 3
"""Least number of blocks that water falls in a waterfall."""
VIEW_REACH, VIEW_FOV = 64.0, 70.0
RAYS = (96, 54)
"""Number of rays across and down the picture of 640 x 360."""
IN_VIEW = 4
"""Least number of rays that must meet the waterfall; if fewer rays meet it, it is too small to see."""
_LEAVES = blocks_named(lambda name: name.endswith("_leaves"))
_BLOCKS_VIEW: np.ndarray = OPAQUE | _LEAVES
_WATER = blocks_named(lambda name: name == "water")


def check(world: World) -> Answers:
    """Return whether poured water falls, the share of the picture that the falls cover, and whether the player said "done"."""
    cells = poured(world)
    tallest, falls = 0, []
    for run in _upright(cells):
        tallest = max(tallest, len(run))
        if len(run) > FALL:  # a source or stream, and what falls from it
            falls += [part for part in _upright(run[_falls_free(world, run)]) if len(part) >= FALL]
    made = bool(falls)
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


def poured(world: World) -> np.ndarray:
    """Return x, y, z of water that the land did not have, int64, shape (N, 3)."""
    cells = changed_cells(world)
    now = world.grid.blocks[cells[:, 0], cells[:, 2], cells[:, 1]]
    before = world.land.blocks[cells[:, 0], cells[:, 2], cells[:, 1]]
    return cells[_WATER[now] & (FLUID_KIND[before] != WATER)]


def rays_in_view(world: World, cells: np.ndarray) -> int:
    """Count the `RAYS` of the player's picture that meet these cells, if these are not hidden or farther than `VIEW_REACH`."""
    if not len(cells):
        return 0
    marks = np.zeros(world.grid.blocks.shape, np.bool_)
    marks[cells[:, 0], cells[:, 2], cells[:, 1]] = True
    player = world.player
    view = (player.x, player.eye_y, player.z, player.yaw, player.pitch)
    return int(_rays(world.grid.blocks, marks, _BLOCKS_VIEW, *view, VIEW_FOV, *RAYS, VIEW_REACH))


@njit(cache=True)
def _rays(blocks, marks, stops, x, y, z, yaw, pitch, fov, across, down, reach):  # type: ignore[no-untyped-def]
    """Count the rays of a picture that meet a marked cell before a cell that stops them."""
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


def _upright(cells: np.ndarray) -> list[np.ndarray]:
    """Return cells, shape (N, 3), as vertical columns without gaps, each from the bottom up."""
    columns = cells[np.lexsort((cells[:, 1], cells[:, 2], cells[:, 0]))]
    breaks = np.flatnonzero((np.diff(columns[:, [0, 2]], axis=0) != 0).any(axis=1) | (np.diff(columns[:, 1]) != 1)) + 1
    return np.split(columns, breaks)


def _falls_free(world: World, cells: np.ndarray) -> np.ndarray:
    """Return for each cell whether the water falls freely, bool, shape (N,): the cell has air at a side now, and had air at
    this side in the generated land, so that it is not in a dug pit or shaft."""
    sx, sz, _ = world.grid.blocks.shape
    free = np.zeros(len(cells), np.bool_)
    for dx, dz in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        x, z, y = np.clip(cells[:, 0] + dx, 0, sx - 1), np.clip(cells[:, 2] + dz, 0, sz - 1), cells[:, 1]
        free |= PASSABLE[world.grid.blocks[x, z, y]] & PASSABLE[world.land.blocks[x, z, y]]
    return free
