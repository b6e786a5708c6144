"""Find changed cells of the land, and groups of cells, for outcome checks.

The present world is compared with the land as it was generated, so nothing has to be stored during play.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np

from blockworld import Position, World
from blockworld.registry import BLOCKS, per_block

Answers = dict[str, bool | int | float]


def blocks_named(wanted: Callable[[str], bool]) -> np.ndarray:
    return per_block({block.name: True for block in BLOCKS if wanted(block.name)}, False, np.bool_)


def changed_cells(world: World) -> np.ndarray:
    """Return x, y, z of every cell that differs from the generated land, int64, shape (N, 3), in a fixed order."""
    _, sz, sy = world.grid.blocks.shape
    flat = np.flatnonzero(world.grid.blocks.reshape(-1) != world.land.blocks.reshape(-1))
    return np.stack([flat // (sz * sy), flat % sy, flat // sy % sz], axis=1)


def cell_of(x: float, y: float, z: float) -> Position:
    """Return the cell of a player's feet; on a slab or a path, the cell above it."""
    return math.floor(x), math.floor(y + 0.5), math.floor(z)


def sides(cell: Position) -> list[Position]:
    x, y, z = cell
    return [(x + 1, y, z), (x - 1, y, z), (x, y + 1, z), (x, y - 1, z), (x, y, z + 1), (x, y, z - 1)]


def clusters(cells: Iterable[Position]) -> list[set[Position]]:
    """Return groups of cells that touch, also at a corner, largest first."""
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
