"""Trees as stencils: each kind has a few shapes, which are made once and copied to every place where a tree grows."""

from __future__ import annotations

from collections import deque
from functools import cache
from typing import NamedTuple

import numpy as np

from blockworld.registry.blocks import BLOCK_OF, BLOCKS, change, state_of

KINDS = ("oak", "big_oak", "birch", "spruce", "pine", "acacia", "bush")
NUM_SHAPES = 10
"""Number of shapes of each kind of tree."""
_MAX_DISTANCE = 6
"""Largest distance of leaves from a log, in steps; leaves farther away would decay."""

Cells = dict[tuple[int, int, int], int]


class Stencil(NamedTuple):
    """One tree with its foot at (0, 0, 0): int64 offsets, shape (N, 3), as x, y, z; uint16 states; bool `is_log`, logs last."""

    offsets: np.ndarray
    states: np.ndarray
    is_log: np.ndarray


def _disc(leaves: set, x: int, y: int, z: int, radius: float, rng: np.random.Generator, keep_corners: float = 0.5) -> None:
    """Add a round layer of leaves; each corner at its edge is kept with the probability `keep_corners`."""
    reach = int(radius)
    for dx in range(-reach, reach + 1):
        for dz in range(-reach, reach + 1):
            corner = reach > 0 and abs(dx) == reach and abs(dz) == reach
            if corner and rng.random() > keep_corners:
                continue
            if dx * dx + dz * dz <= radius * radius + (2 if corner else 0.3):
                leaves.add((x + dx, y, z + dz))


def _round(height: int, leaves: set, rng: np.random.Generator) -> list[tuple[int, int, int]]:
    for y, radius in ((height - 3, 2), (height - 2, 2), (height - 1, 1), (height, 1)):
        _disc(leaves, 0, y, 0, radius + 0.4, rng, 0.0 if y == height else 0.6)
    return [(0, y, 0) for y in range(height)]


def _big_oak(leaves: set, rng: np.random.Generator) -> list[tuple[int, int, int]]:
    height = int(rng.integers(8, 12))
    logs = [(0, y, 0) for y in range(height)]
    tips = [(0, height, 0)]
    turn = int(rng.integers(8))
    ways = ((1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1))
    for n in range(int(rng.integers(4, 7))):
        dx, dz = ways[(turn + n * 3) % 8]
        start, length = int(rng.integers(height // 2, height - 2)), int(rng.integers(2, 4))
        x = y = z = 0
        for step in range(1, length + 1):
            x, z, y = dx * step, dz * step, start + (step + 1) // 2
            logs.append((x, y, z))
        tips.append((x, y + 1, z))
    for x, y, z in tips:
        for dy, radius in ((-2, 1.5), (-1, 2.5), (0, 2.5), (1, 1.5)):
            _disc(leaves, x, y + dy, z, radius, rng, 0.4)
    return logs


def _spruce(leaves: set, rng: np.random.Generator) -> list[tuple[int, int, int]]:
    height = int(rng.integers(7, 12))
    bare, widest = int(rng.integers(1, 3)), int(rng.integers(2, 4))
    radius, limit = 0, 1
    for y in range(height, bare - 1, -1):
        _disc(leaves, 0, y, 0, radius + 0.2, rng, 0.0)
        if radius >= limit:  # rings grow, fall back, and grow a little farther
            radius = 0 if limit == 1 and y > height - 2 else 1
            limit = min(widest, limit + 1)
        else:
            radius += 1
    leaves.add((0, height + 1, 0))
    return [(0, y, 0) for y in range(height)]


def _pine(leaves: set, rng: np.random.Generator) -> list[tuple[int, int, int]]:
    height = int(rng.integers(9, 14))
    for y in range(height - int(rng.integers(3, 6)), height + 1):
        _disc(leaves, 0, y, 0, min(2.2, (height - y) * 0.7 + 0.6), rng, 0.0)
    leaves.add((0, height + 1, 0))
    return [(0, y, 0) for y in range(height)]


def _acacia(leaves: set, rng: np.random.Generator) -> list[tuple[int, int, int]]:
    height = int(rng.integers(5, 8))
    dx, dz = ((1, 0), (0, 1), (-1, 0), (0, -1))[int(rng.integers(4))]
    bend = int(rng.integers(2, 4))
    logs, x, z = [], 0, 0
    for y in range(height):
        if y > bend and abs(x) + abs(z) < 3:
            x, z = x + dx, z + dz
        logs.append((x, y, z))
    heads = [(x, height, z, 3.1)]
    if rng.random() < 0.7:  # a second arm the other way
        ax = az = 0
        for step in range(1, 3):
            ax, az = -dx * step, -dz * step
            logs.append((ax, bend + step, az))
        heads.append((ax, bend + 3, az, 2.1))
    for hx, hy, hz, radius in heads:
        logs.append((hx, hy - 1, hz))
        _disc(leaves, hx, hy, hz, radius, rng, 0.0)
        _disc(leaves, hx, hy + 1, hz, radius - 1.6, rng, 0.0)
    return logs


def _bush(leaves: set, rng: np.random.Generator) -> list[tuple[int, int, int]]:
    _disc(leaves, 0, 0, 0, 1.5, rng, 0.5)
    _disc(leaves, 0, 1, 0, 1.0, rng, 0.0)
    return [(0, 0, 0)]


def _shape(kind: str, rng: np.random.Generator) -> tuple[list[tuple[int, int, int]], set[tuple[int, int, int]], str]:
    leaves: set[tuple[int, int, int]] = set()
    if kind in ("oak", "birch"):
        low = 5 if kind == "oak" else 6
        return _round(int(rng.integers(low, low + 3)), leaves, rng), leaves, kind
    if kind == "big_oak":
        return _big_oak(leaves, rng), leaves, "oak"
    if kind == "spruce":
        return _spruce(leaves, rng), leaves, "spruce"
    if kind == "pine":
        return _pine(leaves, rng), leaves, "spruce"
    if kind == "acacia":
        return _acacia(leaves, rng), leaves, "acacia"
    return _bush(leaves, rng), leaves, "oak"


def _distances(logs: set, leaves: set) -> dict[tuple[int, int, int], int]:
    """Return leaf -> number of steps through leaves to the nearest log."""
    found: dict[tuple[int, int, int], int] = {}
    queue = deque((cell, 0) for cell in sorted(logs))
    while queue:
        (x, y, z), far = queue.popleft()
        for near in ((x + 1, y, z), (x - 1, y, z), (x, y + 1, z), (x, y - 1, z), (x, y, z + 1), (x, y, z - 1)):
            if near in leaves and near not in found and far < _MAX_DISTANCE:
                found[near] = far + 1
                queue.append((near, far + 1))
    return found


@cache
def stencil(kind: str, shape: int) -> Stencil:
    """Return the tree of a kind and a `shape`, 0 to `NUM_SHAPES` - 1; the result is always the same."""
    logs, leaves, wood = _shape(kind, np.random.default_rng([KINDS.index(kind), shape]))
    trunk = dict.fromkeys(logs)
    far = _distances(set(trunk), leaves - set(trunk))
    leaf = state_of(f"{wood}_leaves")
    cells: Cells = {cell: change(leaf, distance=str(steps)) for cell, steps in sorted(far.items())}
    num_leaves = len(cells)
    for cell in trunk:
        upright = (cell[0], cell[1] - 1, cell[2]) in trunk or (cell[0], cell[2]) == (0, 0) or kind == "acacia"
        axis = "y" if upright else ("x" if abs(cell[0]) >= abs(cell[2]) else "z")
        cells[cell] = state_of(f"{wood}_log", axis=axis)
    return Stencil(
        np.array(list(cells), np.int64), np.array(list(cells.values()), np.uint16), np.arange(len(cells)) >= num_leaves
    )


_IS_LEAVES = np.array([block.name.endswith("_leaves") for block in BLOCKS])[BLOCK_OF]
_GIVES_WAY = np.array([
    block.name in ("air", "grass", "tall_grass", "fern", "large_fern", "snow", "dandelion", "poppy", "dead_bush")
    for block in BLOCKS
])[BLOCK_OF]  # fmt: skip


def plant(blocks: np.ndarray, x: int, y: int, z: int, kind: str, shape: int) -> bool:
    """Place a tree with its lowest log at (x, y, z); return False if its trunk meets more than air, plants and leaves."""
    offsets, states, is_log = stencil(kind, shape)
    sx, sz, sy = blocks.shape
    at = np.add(offsets, (x, y, z))
    low, high = at.min(axis=0), at.max(axis=0)
    if low[0] < 0 or low[2] < 0 or high[0] >= sx or high[2] >= sz or high[1] >= sy:
        return False
    where = (at[:, 0], at[:, 2], at[:, 1])
    here = blocks[where]
    free = _GIVES_WAY[here]
    if not (free | _IS_LEAVES[here])[is_log].all():
        return False
    put = free | (is_log & _IS_LEAVES[here])
    blocks[where[0][put], where[1][put], where[2][put]] = states[put]
    if blocks[x, z, y - 1] == state_of("grass_block") or blocks[x, z, y - 1] == state_of("grass_block", snowy="true"):
        blocks[x, z, y - 1] = state_of("dirt")
    return True
