"""The grid of blocks: three arrays over the cells (blocks, light, skip), updated together.

Arrays are indexed [x, z, y], so that the cells of a column lie next to each other in memory.
"""

from __future__ import annotations

import numpy as np

from blockworld.errors import WorldError
from blockworld.grid import light
from blockworld.grid.memory import Original
from blockworld.registry.blocks import AIR, NUM_STATES, state_of

SIZE = (256, 128, 256)
"""Number of cells east-west, up, and north-south."""
BEDROCK = state_of("bedrock")
MAX_SKIP = 16
SQUARE = 16
"""Columns along each side of a square of columns. A grid notes changes per square: a square with a change is "touched"."""
_LIGHT_REACH = 15


class Grid:
    """A finite box of blocks with their light.

    Args:
        blocks: uint16, shape (SX, SZ, SY): a state per cell; the array is used, not copied.

    Attributes:
        size: (SX, SY, SZ).
        blocks: As above. Change cells only with `set` and `fill`, which update light and skip.
        light: uint8, shape (SX, SZ, SY): sky light times 16, plus block light; each 0 to 15.
        skip: uint8, shape (SX, SZ, SY): how many cells a ray may jump: 0 in a block; in air at most `MAX_SKIP`, and at most
            the Chebyshev distance to the nearest block.
        touched: bool, shape (3, SX / SQUARE + 2, SZ / SQUARE + 2): squares whose blocks [0], light [1] and skip [2] may differ
            from the grid that this one was first copied from; there is a margin of one square all around.
        watched: For each watcher, such as a `changes.Changes`, an array like `touched` of squares changed since its last call.
        num_touches: Number of changes so far.
    """

    def __init__(self, blocks: np.ndarray) -> None:
        sx, sz, sy = blocks.shape
        self.size = (sx, sy, sz)
        self.blocks = blocks
        self.light = light.lit(blocks)
        self.skip = light.distances(blocks, MAX_SKIP)
        self.touched = self.untouched()
        self.watched: list[np.ndarray] = []
        self.num_touches = 0
        self._original: Original | None = None

    @classmethod
    def of(cls, arrays: tuple[np.ndarray, ...], original: Original | None = None) -> Grid:
        """Make a grid of given blocks, light and skip; the arrays are used, not copied."""
        grid = cls.__new__(cls)
        grid.blocks, grid.light, grid.skip = arrays
        sx, sz, sy = grid.blocks.shape
        grid.size, grid.watched, grid.num_touches, grid._original = (sx, sy, sz), [], 0, original
        grid.touched = grid.untouched()
        return grid

    def untouched(self) -> np.ndarray:
        """Return an array like `touched` for a grid in which nothing has changed."""
        sx, _, sz = self.size
        return np.zeros((3, -(-sx // SQUARE) + 2, -(-sz // SQUARE) + 2), np.bool_)

    def frozen(self) -> Grid:
        """Return a read-only copy of this grid; copies of that copy take memory only where they become different."""
        original = Original(self.blocks, self.light, self.skip)
        return Grid.of(original.arrays, original)

    def copy(self) -> Grid:
        """Return an independent grid with the same cells and no watchers."""
        now, original = (self.blocks, self.light, self.skip), self._original
        if original is None:
            copy = Grid.of(tuple(array.copy() for array in now), None)
        else:
            copy = Grid.of(original.copies(now if self.blocks is not original.arrays[0] else None), original)
        copy.touched[:] = self.touched
        return copy

    def inside(self, x: int, y: int, z: int) -> bool:
        sx, sy, sz = self.size
        return 0 <= x < sx and 0 <= y < sy and 0 <= z < sz

    def get(self, x: int, y: int, z: int) -> int:
        """Return the state of a cell; outside the grid, air above and bedrock elsewhere, so that nothing can walk out."""
        sx, sy, sz = self.size
        if 0 <= x < sx and 0 <= z < sz:
            if 0 <= y < sy:
                return int(self.blocks[x, z, y])
            return AIR if y >= sy else BEDROCK
        return BEDROCK

    def set(self, x: int, y: int, z: int, state: int) -> int:
        """Put a state into a cell, update light and skip, and return the old state; WorldError if there is no such cell."""
        if not self.inside(x, y, z):
            sx, sy, sz = self.size
            raise WorldError(f"there is no block at {x} {y} {z}: the world reaches from 0 0 0 to {sx - 1} {sy - 1} {sz - 1}")
        before = int(self.blocks[x, z, y])
        if before != state:
            self.blocks[x, z, y] = state
            light.relight(self.blocks, self.light, x, y, z, before, state)
            light.update_distances(self.skip, x, y, z, before, state)
            self._touch(x, z, x, z, bool(light.LIGHTING[before] != light.LIGHTING[state]))
        return before

    def fill(self, x0: int, y0: int, z0: int, x1: int, y1: int, z1: int, state: int) -> int:
        """Put a state into every cell of a box, given by two opposite corners (included); return the number of changed cells.

        Light and skip are updated once for the whole box; neighbours do not react (see `blocks.updates.set_block`).

        Raises:
            WorldError: If the box is not inside the world, or there is no such state.
        """
        (x0, x1), (y0, y1), (z0, z1) = sorted((x0, x1)), sorted((y0, y1)), sorted((z0, z1))
        if not (self.inside(x0, y0, z0) and self.inside(x1, y1, z1)):
            sx, sy, sz = self.size
            raise WorldError(
                f"the box from {x0} {y0} {z0} to {x1} {y1} {z1} is not inside the world, which reaches from 0 0 0 to "
                f"{sx - 1} {sy - 1} {sz - 1}"
            )
        if not 0 <= state < NUM_STATES:
            raise WorldError(f"there is no block state {state}: states are numbered from 0 to {NUM_STATES - 1}")
        box = self.blocks[x0 : x1 + 1, z0 : z1 + 1, y0 : y1 + 1]
        num_changed = int(np.count_nonzero(box != state))
        if num_changed:
            box[...] = state
            self.changed_box(x0, y0, z0, x1, y1, z1)
        return num_changed

    def changed_box(self, x0: int, y0: int, z0: int, x1: int, y1: int, z1: int) -> None:
        """Update light and skip after `blocks` was written to directly within a box, both corners included."""
        light.relight_box(self.blocks, self.light, x0, y0, z0, x1, y1, z1)
        light.distances_box(self.blocks, self.skip, x0, z0, x1, z1, MAX_SKIP)
        self._touch(x0, z0, x1, z1)

    def changed_cells(self, cells: np.ndarray) -> None:
        """Update light and skip of single cells: int32, shape (N,), each x << 20 | z << 10 | y."""
        light.relight_cells(self.blocks, self.light, cells)
        light.update_distances_of(self.blocks, self.skip, cells)
        for column in np.unique(cells >> 10).tolist():
            self._touch(column >> 10, column & 1023, column >> 10, column & 1023)

    def _touch(self, x0: int, z0: int, x1: int, z1: int, lit: bool = True) -> None:
        """Mark the squares of these columns as touched; for light and skip also the squares that these blocks can affect."""
        self.num_touches += 1
        for kind, reach in enumerate((0, _LIGHT_REACH, MAX_SKIP)):
            if kind == 1 and not lit:
                continue
            x, end_x = (x0 - reach) // SQUARE + 1, (x1 + reach) // SQUARE + 2
            z, end_z = (z0 - reach) // SQUARE + 1, (z1 + reach) // SQUARE + 2
            for touched in (self.touched, *self.watched):
                touched[kind, x:end_x, z:end_z] = True

    def top(self, x: int, z: int) -> int:
        """Height of the highest cell of a column that is not air; -1 if all is air."""
        cells = np.flatnonzero(self.blocks[x, z])
        return int(cells[-1]) if cells.size else -1

    def lights(self, x: int, y: int, z: int) -> tuple[int, int]:
        """Sky light and block light of a cell, 0 to 15 each; outside the grid, full sky light."""
        if not self.inside(x, y, z):
            return 15, 0
        value = int(self.light[x, z, y])
        return value >> 4, value & 15
