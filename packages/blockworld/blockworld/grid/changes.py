"""Find the changes of a grid since the last call, for readers that keep a copy of its blocks and light.

>>> grid = Grid(np.zeros((32, 32, 32), np.uint16))
>>> changes = Changes(grid)
>>> _ = grid.set(1, 2, 3, 1)
>>> news = changes.take()
>>> news.cells.tolist(), news.states.tolist()
([1122], [1])
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numba import njit

from blockworld.grid.grid import SQUARE, Grid


class News(NamedTuple):
    """Changed cells, by number in ascending order. A cell's number is (x * SZ + z) * SY + y.

    Attributes:
        cells, states: Cells whose block has changed, uint32, shape (N,), and their new states, uint16.
        lit, lights: Cells whose light has changed, uint32, shape (M,), and their new light as in `Grid.light`, uint8.
    """

    cells: np.ndarray
    states: np.ndarray
    lit: np.ndarray
    lights: np.ndarray


NOTHING = News(np.empty(0, np.uint32), np.empty(0, np.uint16), np.empty(0, np.uint32), np.empty(0, np.uint8))


class Changes:
    """Watcher of a grid: it compares touched squares of columns with a copy. A grid may have several watchers.

    A forked or restored world has a new grid, without watchers.
    """

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self._touched = grid.untouched()
        known = grid.copy()
        self._known = known.blocks, known.light
        self._num_touches = grid.num_touches
        grid.watched.append(self._touched)
        weakref.finalize(self, _forget, grid.watched, self._touched)

    def take(self) -> News:
        """Return the changes since the last call, or since watching began."""
        if self._num_touches == self.grid.num_touches:
            return NOTHING
        self._num_touches = self.grid.num_touches
        news: list[np.ndarray] = []
        for now, known, touched in zip((self.grid.blocks, self.grid.light), self._known, self._touched[:2], strict=True):
            cells, values = _differing(now, known, touched)
            known.reshape(-1)[cells] = values
            news += cells, values
        self._touched[:] = False
        return News(*news)


def differences(first: Grid, now: Grid) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the cells in which `now` differs from `first`, the grid that it was first copied from, and their values in `now`.

    The result has one pair each for blocks, light and skip: numbers of cells in ascending order, and values.
    """
    pairs = (now.blocks, first.blocks), (now.light, first.light), (now.skip, first.skip)
    return [_differing(*pair, touched) for pair, touched in zip(pairs, now.touched, strict=True)]


def apply(found: Iterable[tuple[bytes, bytes]], grid: Grid) -> None:
    """Apply the result of `differences`, as bytes of its arrays, to a grid that is equal to its argument `first`."""
    for array, touched, (numbers, values) in zip((grid.blocks, grid.light, grid.skip), grid.touched, found, strict=True):
        cells = np.frombuffer(numbers, np.uint32)
        array.reshape(-1)[cells] = np.frombuffer(values, array.dtype)
        x, z = np.divmod(cells // grid.size[1], grid.size[2])
        touched[x // SQUARE + 1, z // SQUARE + 1] = True


def _forget(watched: list[np.ndarray], touched: np.ndarray) -> None:
    watched[:] = [other for other in watched if other is not touched]


@njit(cache=True)
def _differing(now, known, touched):
    """Numbers of the cells in touched squares that differ, in ascending order, and their current values."""
    if not touched.any():
        return np.empty(0, np.uint32), np.empty(0, now.dtype)
    sx, sz, sy = now.shape
    columns = np.empty(sx * sz, np.uint32)
    num_columns = num_cells = 0
    for x in range(sx):
        for square in range(touched.shape[1] - 2):
            if not touched[x // SQUARE + 1, square + 1]:
                continue
            for z in range(square * SQUARE, min(sz, square * SQUARE + SQUARE)):
                num = 0
                for y in range(sy):
                    num += now[x, z, y] != known[x, z, y]
                if num:
                    columns[num_columns] = x * sz + z
                    num_columns += 1
                    num_cells += num
    cells, values = np.empty(num_cells, np.uint32), np.empty(num_cells, now.dtype)
    i = 0
    for column in columns[:num_columns]:
        x, z = column // sz, column % sz
        for y in range(sy):
            if now[x, z, y] != known[x, z, y]:
                values[i] = now[x, z, y]
                cells[i] = column * sy + y
                i += 1
    return cells, values
