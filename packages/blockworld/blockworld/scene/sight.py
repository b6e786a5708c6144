"""Find the sections of the land that a player could have seen: in every tick, new rays are cast from the eye."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numba import njit

from blockworld.grid.grid import Grid
from blockworld.render.models import CUBE, LAVA, models

NUM_RAYS = 256
"""Rays per tick; every second ray goes in a direction near the look."""
LEAST_RAYS = 96
"""Smallest number of rays per tick: while nothing new is found, the number is halved in each tick, down to this number."""
MORE_RAYS = 512
"""Rays of each further batch in a tick; another batch follows if the last batch has found something."""
MOST_BATCHES = 3
"""Largest number of batches per tick."""
FIRST_RAYS = 24_576
"""Rays of the very first batch for a new viewer."""
REACH = 112.0
"""Length of a ray in blocks; the player sees 96 blocks far."""
AT_ONCE = 32
"""Number of rays that advance together. The cells of all these rays are read before any cell is used, so that memory accesses
overlap."""


@cache
def _opaque() -> np.ndarray:
    """Whether a state blocks the sight completely: bool, shape (NUM_STATES,)."""
    kind = models().kind
    return (kind == CUBE) | (kind == LAVA)


def look(
    grid: Grid, eye: tuple[float, float, float], axis: tuple[float, float, float], seen: np.ndarray, first: int, number: int
) -> int:
    """Mark the sections that rays from an eye pass through or end in; return the number of newly marked ones.

    Args:
        axis: Direction of the look, of length 1.
        seen: bool, shape (SX / 16, SY / 16, SZ / 16); changed in place.
        first, number: First ray and number of rays in an endless series; every range covers all directions evenly.
    """
    return _look(grid.blocks, grid.skip, _opaque(), *eye, *axis, seen, first, number)


@njit(cache=True, error_model="numpy", nogil=True)
def _look(blocks, skip, opaque, ex, ey, ez, ax, ay, az, seen, first, number):
    sx, sz, sy = blocks.shape
    # Two directions at right angles to the axis (Duff et al. 2017)
    sign = 1.0 if az >= 0.0 else -1.0
    a = -1.0 / (sign + az)
    b = ax * ay * a
    rays = np.empty((AT_ONCE, 5))  # direction, how far it has come, and how far it goes
    cells, free_around = np.empty((AT_ONCE, 3), np.int64), np.empty(AT_ONCE, np.int64)
    found = going = 0
    ray, end = first, first + number
    while ray < end or going:
        while ray < end and going < AT_ONCE:
            # The additive recurrence of Roberts (2018): evenly over the sphere, every second one over the cap of 55 degrees.
            u, v = (0.5 + ray * 0.7548776662466927) % 1.0, (0.5 + ray * 0.5698402909980532) % 1.0
            height = 1.0 - u * (0.43 if ray & 1 else 2.0)
            around, flat = v * 2.0 * math.pi, math.sqrt(max(0.0, 1.0 - height * height))
            c, s = flat * math.cos(around), flat * math.sin(around)
            rays[going, 0] = height * ax + c * (1.0 + sign * ax * ax * a) + s * b
            rays[going, 1] = height * ay + c * sign * b + s * (sign + ay * ay * a)
            rays[going, 2] = height * az - c * sign * ax - s * ay
            rays[going, 3] = 0.0
            rays[going, 4] = _last_unseen(seen, ex, ey, ez, rays[going, 0], rays[going, 1], rays[going, 2])
            going += rays[going, 4] > 0.0
            ray += 1
        for k in range(going):
            t = rays[k, 3]
            x, y, z = math.floor(ex + rays[k, 0] * t), math.floor(ey + rays[k, 1] * t), math.floor(ez + rays[k, 2] * t)
            is_over = t >= rays[k, 4] or x < 0 or y < 0 or z < 0 or x >= sx or y >= sy or z >= sz
            cells[k, 0], cells[k, 1], cells[k, 2] = x, y, z
            free_around[k] = -1 if is_over else skip[x, z, y]
        for k in range(going - 1, -1, -1):  # backwards: the last one takes the place of one that is over
            x, y, z, free = cells[k, 0], cells[k, 1], cells[k, 2], free_around[k]
            is_over = free < 0
            if not is_over:
                if not seen[x >> 4, y >> 4, z >> 4]:
                    seen[x >> 4, y >> 4, z >> 4] = True
                    found += 1
                dx, dy, dz, t = rays[k, 0], rays[k, 1], rays[k, 2], rays[k, 3]
                # Whatever is nearer than the distance of the cell is air, and no way through a cell is longer than 1.74.
                if free > 2:
                    rays[k, 3] = t + free - 1.0
                elif free == 0 and t > 0.0 and opaque[blocks[x, z, y]]:
                    is_over = True
                else:
                    out = 1e9
                    if dx != 0.0:
                        out = min(out, (x + (dx > 0.0) - ex - dx * t) / dx)
                    if dy != 0.0:
                        out = min(out, (y + (dy > 0.0) - ey - dy * t) / dy)
                    if dz != 0.0:
                        out = min(out, (z + (dz > 0.0) - ez - dz * t) / dz)
                    rays[k, 3] = t + max(out + 1e-6, free - 1.0)
            if is_over:
                going -= 1
                for i in range(5):
                    rays[k, i] = rays[going, i]
    return found


@njit(cache=True, error_model="numpy", nogil=True, inline="always")
def _last_unseen(seen, ex, ey, ez, dx, dy, dz):
    """Distance along a ray, at most `REACH`, at which the last unmarked section ends; 0 if all sections are marked."""
    x, y, z = math.floor(ex / 16.0), math.floor(ey / 16.0), math.floor(ez / 16.0)
    step_x, step_y, step_z = 1 if dx > 0.0 else -1, 1 if dy > 0.0 else -1, 1 if dz > 0.0 else -1
    each_x, each_y, each_z = abs(16.0 / dx), abs(16.0 / dy), abs(16.0 / dz)
    out_x = (16.0 * (x + (dx > 0.0)) - ex) / dx
    out_y = (16.0 * (y + (dy > 0.0)) - ey) / dy
    out_z = (16.0 * (z + (dz > 0.0)) - ez) / dz
    last = out = 0.0
    while out < REACH and 0 <= x < seen.shape[0] and 0 <= y < seen.shape[1] and 0 <= z < seen.shape[2]:
        is_seen = seen[x, y, z]
        if out_x < out_y and out_x < out_z:
            out = out_x
            out_x += each_x
            x += step_x
        elif out_y < out_z:
            out = out_y
            out_y += each_y
            y += step_y
        else:
            out = out_z
            out_z += each_z
            z += step_z
        if not is_seen:
            last = out
    return min(last, REACH)
