"""Ways into caves: find openings that players can reach on foot, and dig tunnels where there are too few.

On foot means steps to one of four neighbours, at most 1 up (a jump) and 3 down (no harm), with two free cells for the body.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from blockworld.registry.blocks import AIR, BLOCK_OF, BLOCKS, BOX_START, BOXES, NUM_BOXES, state_of
from blockworld.state import Position
from blockworld.terrain.ground import SEA

_LIQUID = np.array([block.name in ("water", "lava", "seagrass", "tall_seagrass", "kelp", "kelp_plant") for block in BLOCKS])[
    BLOCK_OF
]
_EMPTY = np.array(
    [NUM_BOXES[s] == 0 or BOXES[BOX_START[s] : BOX_START[s] + NUM_BOXES[s], 4].max() <= 0.13 for s in range(len(BLOCK_OF))]
)
_HARM = np.array([block.name in ("cactus", "sweet_berry_bush", "fire", "magma_block", "campfire") for block in BLOCKS])[
    BLOCK_OF
]
_DOORS = np.array([block.name.endswith(("_door", "_fence_gate")) and block.name != "iron_door" for block in BLOCKS])[BLOCK_OF]
_FENCES = np.array([block.name.endswith(("_fence", "_wall")) for block in BLOCKS])[BLOCK_OF]

PASSABLE: np.ndarray = ((_EMPTY | _DOORS) & ~_LIQUID & ~_HARM).astype(np.bool_)
"""bool per state: whether a player can be in the cell; doors and gates count, because they open."""
STANDABLE: np.ndarray = (~_EMPTY & ~_LIQUID & ~_HARM & ~_DOORS & ~_FENCES).astype(np.bool_)
"""bool per state: whether a player can stand on the block."""
ROOF: np.ndarray = np.array(
    [
        block.name
        in ("stone", "granite", "diorite", "andesite", "dirt", "grass_block", "gravel", "sand", "sandstone", "coal_ore",
            "iron_ore", "coarse_dirt", "podzol", "clay", "gold_ore", "red_sand", "water", "emerald_ore", "lapis_ore",
            "redstone_ore")
        for block in BLOCKS
    ]
)[BLOCK_OF]  # fmt: skip
"""bool per state: whether it is natural ground. Hollow space under natural ground is a cave, not a house."""

MIN_DEPTH = 10
"""Number of steps that a way must lead underground, so that its opening counts as the mouth of a cave."""


@njit(cache=True, nogil=True)
def walk(blocks, passable, standable, x0, z0, y0):  # type: ignore[no-untyped-def]
    """Find the cells reachable on foot from (x0, y0, z0): int32, shape (N, 3), as x, z, y, in the order of reaching."""
    sx, sz, sy = blocks.shape
    seen = np.zeros((sx, sz, sy), np.bool_)
    queue = np.empty((sx * sz * 4, 3), np.int32)
    queue[0, 0], queue[0, 1], queue[0, 2] = x0, z0, y0
    seen[x0, z0, y0] = True
    start, end = 0, 1
    while start < end:
        x, z, y = queue[start, 0], queue[start, 1], queue[start, 2]
        start += 1
        for way in range(4):
            a = x + (way == 0) - (way == 1)
            b = z + (way == 2) - (way == 3)
            if a < 0 or b < 0 or a >= sx or b >= sz:
                continue
            for up in range(1, -4, -1):
                h = y + up
                if h < 1 or h >= sy - 2:
                    continue
                if up == 1 and not passable[blocks[x, z, y + 2]]:
                    continue
                if not passable[blocks[a, b, h]] or not passable[blocks[a, b, h + 1]]:
                    if up <= 0:
                        break  # something is in the way of falling farther
                    continue
                if standable[blocks[a, b, h - 1]]:
                    if not seen[a, b, h] and end < queue.shape[0]:
                        seen[a, b, h] = True
                        queue[end, 0], queue[end, 1], queue[end, 2] = a, b, h
                        end += 1
                    break
    return queue[:end].copy()


@njit(cache=True, nogil=True)
def _ways_in(blocks, cells, roofs, passable, number):  # type: ignore[no-untyped-def]
    """For each cell, find the opening that leads to it (index into `cells`, -1 outdoors) and the number of steps underground.

    `number`: zeros, int32, shape (SX, SZ, SY), to write to. NumPy makes this array, because Numba would write every zero.
    """
    sx, sz, sy = blocks.shape
    num = cells.shape[0]
    for n in range(num):
        number[cells[n, 0], cells[n, 1], cells[n, 2]] = n + 1
    mouth = np.full(num, -2, np.int32)
    depth = np.zeros(num, np.int32)
    queue = np.empty(num, np.int32)
    end = 0
    for n in range(num):
        x, z, y = cells[n, 0], cells[n, 1], cells[n, 2]
        if roofs[x, z] < y:
            mouth[n] = -1
            queue[end] = n
            end += 1
    start = 0
    while start < end:
        n = queue[start]
        start += 1
        x, z, y = cells[n, 0], cells[n, 1], cells[n, 2]
        for way in range(4):
            a = x + (way == 0) - (way == 1)
            b = z + (way == 2) - (way == 3)
            if a < 0 or b < 0 or a >= sx or b >= sz:
                continue
            for up in range(1, -4, -1):
                h = y + up
                if h < 1 or h >= sy - 2 or (up == 1 and not passable[blocks[x, z, y + 2]]):
                    continue
                if not passable[blocks[a, b, h]] or not passable[blocks[a, b, h + 1]]:
                    if up <= 0:
                        break
                    continue
                m = number[a, b, h] - 1
                if m >= 0:
                    if mouth[m] == -2:
                        mouth[m] = m if mouth[n] == -1 else mouth[n]
                        depth[m] = depth[n] + 1
                        queue[end] = m
                        end += 1
                    break
    return mouth, depth


def cave_mouths(blocks: np.ndarray, roofs: np.ndarray, spawn: Position) -> tuple[Position, ...]:
    """Find openings that lead on foot from outdoors at least `MIN_DEPTH` steps into a cave, nearest to `spawn` first.

    Of openings less than 8 blocks apart, only the opening that leads deepest is returned.

    Args:
        roofs: int16, shape (SX, SZ): heights of the highest cells of natural ground; see `ROOF`.
    """
    x, y, z = spawn
    cells = walk(blocks, PASSABLE, STANDABLE, x, z, y)
    mouth, depth = _ways_in(blocks, cells, roofs.astype(np.int64), PASSABLE, np.zeros(blocks.shape, np.int32))
    # as far in as one gets behind each opening, counted only where ground lies at least 3 thick above the head
    thick = roofs[cells[:, 0], cells[:, 1]] > cells[:, 2] + 4
    deepest = np.zeros(len(cells), np.int32)
    inside = (mouth >= 0) & thick
    np.maximum.at(deepest, mouth[inside], depth[inside])
    found = np.flatnonzero(deepest >= MIN_DEPTH)
    order = found[np.argsort(-deepest[found], kind="stable")]
    kept: list[Position] = []
    for n in order.tolist():
        a, b, h = (int(v) for v in cells[n])
        if all(abs(a - i) + abs(b - k) >= 8 for i, _, k in kept):
            kept.append((a, h, b))
    return tuple(sorted(kept, key=lambda at: ((at[0] - x) ** 2 + (at[2] - z) ** 2, at)))


@njit(cache=True, nogil=True)
def _dig(blocks, x, y, z, radius, height, water):  # type: ignore[no-untyped-def]
    """Dig a rounded hole with a level floor at `y`, avoiding water and the bottom of the world."""
    sx, sz, sy = blocks.shape
    reach = int(radius) + 1
    for a in range(max(1, int(x) - reach), min(sx - 1, int(x) + reach + 2)):
        for b in range(max(1, int(z) - reach), min(sz - 1, int(z) + reach + 2)):
            flat = ((a - x) * (a - x) + (b - z) * (b - z)) / (radius * radius)
            for h in range(max(5, y), min(sy - 1, y + height + 1)):
                up = (h - y) / (height + 0.5)
                if flat + up * up * up < 1.0 and blocks[a, b, h] != water:
                    blocks[a, b, h] = AIR


def dig_tunnel(
    rng: np.random.Generator, blocks: np.ndarray, tops: np.ndarray, free: np.ndarray, middle: Position, reach: int
) -> bool:
    """Dig a winding ramp from the surface down to a new room, into rising ground if possible.

    Args:
        tops: int16, shape (SX, SZ): heights of the ground.
        free: bool, same shape: columns in which the tunnel may open or pass.
        middle, reach: The opening will be 20 to `reach` blocks from `middle`.
    Returns:
        Whether a place for the tunnel was found.
    """
    sx, sz = tops.shape
    best, start = -99.0, None
    for _ in range(60):
        dx, dz = (float(v) for v in rng.uniform(-reach, reach, 2))
        way = rng.normal(size=2)
        way /= np.sqrt(way @ way) + 1e-9
        x, z = middle[0] + dx, middle[2] + dz
        if not 400 <= dx * dx + dz * dz <= (reach - 4) ** 2:
            continue
        ahead = [(int(x + way[0] * s), int(z + way[1] * s)) for s in range(0, 18, 2)]
        if any(not (6 <= a < sx - 6 and 6 <= b < sz - 6) or not free[a, b] or tops[a, b] <= SEA + 1 for a, b in ahead):
            continue
        heights = [int(tops[a, b]) for a, b in ahead]
        rise = heights[3] - heights[0] + 0.3 * (heights[6] - heights[0])
        if rise > best:
            best, start = rise, (x, float(heights[0]), z, float(way[0]), float(way[1]))
    if start is None or best < -6:
        return False
    x, y, z, wx, wz = start
    water = state_of("water")
    bend = 0.0
    steps = int(rng.integers(34, 46))
    for step in range(steps):
        _dig(blocks, x, int(y), z, 1.9 + 0.5 * float(rng.random()), 3, water)
        bend = 0.8 * bend + 0.12 * float(rng.random() - 0.5) if step > 14 else 0.0
        wx, wz = wx - wz * bend, wz + wx * bend
        size = float(np.sqrt(wx * wx + wz * wz))
        wx, wz = wx / size, wz / size
        a, b = int(x + 3 * wx), int(z + 3 * wz)
        if not (8 <= a < sx - 8 and 8 <= b < sz - 8) or (step > 12 and tops[a, b] < y + 8):
            wx, wz = -wz, wx
            if not (8 <= int(x + 3 * wx) < sx - 8 and 8 <= int(z + 3 * wz) < sz - 8):
                wx, wz = -wx, -wz
        x, z, y = x + wx, z + wz, max(14.0, y - 0.55)
    _dig(blocks, x, int(y), z, 5.5, 5, water)
    return True
