"""Which sections of the land a player could have seen: a net of rays from the eye, another one in every tick."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numba import njit

from interplay.world.grid.grid import Grid
from interplay.world.render.models import CUBE, LAVA, models

NUM_RAYS = 512
"""Of a batch; every second one goes where the player looks."""
MOST_BATCHES = 3
"""Of a tick: as long as a batch finds something, there is another one."""
FIRST_RAYS = 24_576
"""Of the first batch for who begins to look."""
REACH = 112.0
"""Blocks; one sees 96."""
AT_ONCE = 32
"""Rays that go on in turns. What they meet is read for all of them before anything depends on it, so that they wait for the
memory together."""


@cache
def _opaque() -> np.ndarray:
    """Whether nothing is seen through a state: bool, shape (NUM_STATES,)."""
    kind = models().kind
    return (kind == CUBE) | (kind == LAVA)


def look(
    grid: Grid, eye: tuple[float, float, float], axis: tuple[float, float, float], seen: np.ndarray, first: int, number: int
) -> int:
    """Mark the sections that rays from an eye pass through, and those of what they meet; returns how many are new.

    Args:
        axis: Where the eye looks, of length 1.
        seen: bool, shape (SX / 16, SY / 16, SZ / 16); changed in place.
        first, number: Which rays of an endless row, in which any stretch covers all directions evenly.
    """
    return _look(grid.blocks, grid.skip, _opaque(), *eye, *axis, seen, first, number)


@njit(cache=True, error_model="numpy", nogil=True)
def _look(blocks, skip, opaque, ex, ey, ez, ax, ay, az, seen, first, number):
    sx, sz, sy = blocks.shape
    # Two directions at right angles to the axis (Duff et al. 2017)
    sign = 1.0 if az >= 0.0 else -1.0
    a = -1.0 / (sign + az)
    b = ax * ay * a
    rays = np.empty((AT_ONCE, 4))  # direction, and how far it has come
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
            going += 1
            ray += 1
        for k in range(going):
            t = rays[k, 3]
            x, y, z = math.floor(ex + rays[k, 0] * t), math.floor(ey + rays[k, 1] * t), math.floor(ez + rays[k, 2] * t)
            is_over = t >= REACH or x < 0 or y < 0 or z < 0 or x >= sx or y >= sy or z >= sz
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
                for i in range(4):
                    rays[k, i] = rays[going, i]
    return found
