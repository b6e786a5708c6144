"""Find things on a palette screen by their colour index; no computer vision is needed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Box(NamedTuple):
    """The place of a thing in pixels; row `bottom` and column `right` belong to the thing."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def x(self) -> float:
        return (self.left + self.right) / 2

    @property
    def y(self) -> float:
        return (self.top + self.bottom) / 2


def find(
    pixels: np.ndarray, colours: int | tuple[int, ...], *, top: int = 0, bottom: int = 210, left: int = 0, right: int = 160
) -> Box | None:
    """Return the box around all pixels of some colours in a window, or None. Row `bottom` and column `right` are outside.

    `pixels` are palette indices: uint8, shape (H, W).
    """
    mask = _mask(pixels[top:bottom, left:right], colours)
    rows = np.flatnonzero(mask.any(axis=1))
    if not rows.size:
        return None
    columns = np.flatnonzero(mask.any(axis=0))
    return Box(left + int(columns[0]), top + int(rows[0]), left + int(columns[-1]), top + int(rows[-1]))


def find_all(
    pixels: np.ndarray,
    colours: int | tuple[int, ...],
    *,
    top: int = 0,
    bottom: int = 210,
    left: int = 0,
    right: int = 160,
    gap: int = 1,
) -> list[Box]:
    """Find boxes of things separated by more than `gap` empty rows or columns, top to bottom, then left to right.

    The window is cut into bands of rows, each band into runs of columns, and each run is trimmed to its rows. This is enough
    for sprites, because no sprite is inside another.
    """
    mask = _mask(pixels[top:bottom, left:right], colours)
    boxes = []
    for first, last in _runs(np.any(mask, axis=1), gap):
        band = mask[first : last + 1]
        for start, stop in _runs(np.any(band, axis=0), gap):
            rows = np.flatnonzero(band[:, start : stop + 1].any(axis=1))
            boxes.append(Box(left + start, top + first + int(rows[0]), left + stop, top + first + int(rows[-1])))
    return boxes


def _mask(window: np.ndarray, colours: int | tuple[int, ...]) -> np.ndarray:
    if isinstance(colours, int):
        return window == colours
    return np.isin(window, colours)


def _runs(present: np.ndarray, gap: int) -> list[tuple[int, int]]:
    """First and last index of each run of True values; runs separated by at most `gap` False values count as one."""
    where = np.flatnonzero(present)
    if not where.size:
        return []
    breaks = np.flatnonzero(np.diff(where) > gap + 1)
    firsts = where[np.concatenate(([0], breaks + 1))]
    lasts = where[np.concatenate((breaks, [where.size - 1]))]
    return [(int(first), int(last)) for first, last in zip(firsts, lasts, strict=True)]
