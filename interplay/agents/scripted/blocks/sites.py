"""Building sites in a village: level natural ground beside houses and paths."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from blockworld import World
from blockworld.registry import NUM_BOXES, per_block
from blockworld.terrain import PASSABLE

_SOIL: np.ndarray = per_block(
    dict.fromkeys(("grass_block", "dirt", "podzol", "coarse_dirt", "sand", "snow_block", "red_sand", "gravel", "stone"), True),
    False,
    np.bool_,
)


def free_ground(world: World, *, margin: int = 1, blocks: np.ndarray | None = None) -> np.ndarray:
    """Columns of natural ground under open sky, outside the village's buildings and paths: bool, shape (SX, SZ)."""
    blocks = world.grid.blocks if blocks is None else blocks
    tops = world.land.heights.astype(np.int64)
    xs, zs = np.indices(tops.shape)
    good = _SOIL[blocks[xs, zs, tops]]
    for up in range(1, 12):
        above = blocks[xs, zs, np.minimum(tops + up, blocks.shape[2] - 1)]
        good &= PASSABLE[above] & (NUM_BOXES[above] == 0)
    for village in world.land.villages:
        for house in village.houses:
            x0, _, z0, x1, _, z1 = house.box
            good[max(0, x0 - margin) : x1 + 1 + margin, max(0, z0 - margin) : z1 + 1 + margin] = False
        for x, _, z in village.paths:
            good[x, z] = False
    good[:4] = good[-4:] = False
    good[:, :4] = good[:, -4:] = False
    return good


def near_boxes(shape: tuple[int, int], boxes: list[tuple[int, int, int, int]], reach: int) -> np.ndarray:
    """Return for each column whether one of the boxes (x0, z0, x1, z1) is at most `reach` away along the longer axis: bool."""
    near = np.zeros(shape, np.bool_)
    for x0, z0, x1, z1 in boxes:
        near[max(0, x0 - reach) : x1 + 1 + reach, max(0, z0 - reach) : z1 + 1 + reach] = True
    return near


def _sums(mask: np.ndarray, width: int, depth: int) -> np.ndarray:
    """Number of True columns in each rectangle of this size, indexed by the rectangle's least corner."""
    total = np.zeros((mask.shape[0] + 1, mask.shape[1] + 1), np.int64)
    total[1:, 1:] = mask.cumsum(axis=0).cumsum(axis=1)
    return total[width:, depth:] - total[:-width, depth:] - total[width:, :-depth] + total[:-width, :-depth]


def level_rectangles(
    world: World, good: np.ndarray, near: np.ndarray, width: int, depth: int
) -> Iterator[tuple[int, int, int]]:
    """Yield (x, z, height of the ground) of level rectangles in which all columns are `good` and at least one is near."""
    tops = world.land.heights
    close = _sums(near, width, depth) > 0
    for level in np.unique(tops[near & good]).tolist():
        full = _sums(good & (tops == level), width, depth) == width * depth
        for x, z in np.argwhere(full & close).tolist():
            yield x, z, level
