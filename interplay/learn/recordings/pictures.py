"""Convert pictures of a recording: draw the cursor that the recorder left out, and resize to the size that VPT sees."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

SCREEN_ROWS = 720
"""Rows of the screen in whose pixels positions of the mouse are recorded."""
SIZE = 128
"""Rows and columns of the pictures that VPT sees; pictures of all other shapes are resized to this."""
_CURSOR = Path(__file__).with_name("cursor.txt")


@cache
def _cursor() -> tuple[np.ndarray, np.ndarray]:
    """The cursor's picture as (colour times opacity, one minus opacity), float64, shape (16, 16, 1)."""
    rows = [line.split() for line in _CURSOR.read_text().splitlines() if not line.startswith("#")]
    values = np.array([[(int(pixel[:2], 16), int(pixel[2:], 16)) for pixel in row] for row in rows])
    opacity = values[..., 1:] / 255.0
    return values[..., :1] * opacity, 1 - opacity


class OutsideError(Exception):
    """BEDD's loader leaves a frame and its action out, because the cursor is just outside the picture."""


class Place(NamedTuple):
    """The visible part of the cursor, and its place in the picture.

    `colour` is colour times opacity; `rest` is one minus opacity: float64, shape (rows, columns, 1).
    """

    top: int
    left: int
    colour: np.ndarray
    rest: np.ndarray


def cursor_place(height: int, width: int, x: Any, y: Any) -> Place | None:
    """Return the part of the cursor inside a picture, or None; the frame is always kept.

    The cursor's tip is at `x` and `y`, in pixels of a screen of `SCREEN_ROWS` rows. None if `x` or `y` is not a number.
    """
    if not all(isinstance(one, int | float) and abs(one) < 1e6 for one in (x, y)):
        return None
    left, top = _at(height, x), _at(height, y)
    cut_top, cut_left = max(0, -top), max(0, -left)
    colour, rest = (part[cut_top : max(0, height - top), cut_left : max(0, width - left)] for part in _cursor())
    return Place(max(0, top), max(0, left), colour, rest) if colour.size else None


def cursor_place_as_bedd(height: int, width: int, x: Any, y: Any) -> Place | None:
    """Like `cursor_place`, but with the faults of BEDD's loader.

    For a cursor left of the picture or above it, that loader's negative slice indices count from the other end. Just outside,
    the slice is empty and the frame and its action are left out; farther outside, the cursor is drawn at the opposite side.

    Raises:
        OutsideError: If the frame is left out.
        TypeError, ValueError, OverflowError: If `x` or `y` is not a finite number.
    """
    left, top = _at(height, x), _at(height, y)
    rows, columns = (max(0, min(side - at, 16)) for side, at in ((height, top), (width, left)))
    if rows == 0 or columns == 0:
        return None
    across, down = range(width)[left : left + columns], range(height)[top : top + rows]
    if (len(down), len(across)) != (rows, columns):
        raise OutsideError
    colour, rest = (part[:rows, :columns] for part in _cursor())
    return Place(down[0], across[0], colour, rest)


def draw_cursor(picture: np.ndarray, place: Place) -> None:
    rows, columns = place.colour.shape[:2]
    region = picture[place.top : place.top + rows, place.left : place.left + columns]
    region[...] = (region * place.rest + place.colour).astype(np.uint8)


def _at(height: int, pixels: Any) -> int:
    return int(pixels * (height / SCREEN_ROWS))
