"""Pictures of a recording: the cursor that the recorder left out, and the size in which VPT sees them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

SCREEN_ROWS = 720
"""Of the screen in whose pixels the mouse is recorded."""
SIZE = 128
"""VPT sees pictures of so many rows and columns, whatever their shape was."""
_CURSOR = Path(__file__).with_name("cursor.txt")


@cache
def _cursor() -> tuple[np.ndarray, np.ndarray]:
    """Colour times opacity and one minus opacity, float64, shape (16, 16, 1)."""
    rows = [line.split() for line in _CURSOR.read_text().splitlines() if not line.startswith("#")]
    values = np.array([[(int(pixel[:2], 16), int(pixel[2:], 16)) for pixel in row] for row in rows])
    opacity = values[..., 1:] / 255.0
    return values[..., :1] * opacity, 1 - opacity


def draw_cursor(picture: np.ndarray, x: Any, y: Any) -> bool:
    """Draw the cursor into a picture, as much of it as is inside; the frame always stays.

    Args:
        picture: uint8, shape (H, W, 3); written into.
        x, y: Its tip in pixels of a screen of `SCREEN_ROWS` rows; what is no number is not drawn.
    """
    if not all(isinstance(one, int | float) and abs(one) < 1e6 for one in (x, y)):
        return True
    left, top = _at(picture, x), _at(picture, y)
    cut_left, cut_top = max(0, -left), max(0, -top)
    colour, rest = (part[cut_top:, cut_left:] for part in _cursor())
    _blend(picture[max(0, top) :, max(0, left) :], colour, rest)
    return True


def draw_cursor_as_bedd(picture: np.ndarray, x: Any, y: Any) -> bool:
    """As `draw_cursor`, fault by fault as BEDD's loader does it; returns whether the frame stays.

    Left of the picture or above it, its slices count from the other end: just outside they are empty and the frame is left out
    with its action, farther outside the cursor is drawn at the opposite side.

    Raises:
        TypeError, ValueError, OverflowError: If `x` or `y` is no finite number.
    """
    left, top = _at(picture, x), _at(picture, y)
    colour, rest = _cursor()
    rows, columns = (max(0, min(side - at, 16)) for side, at in zip(picture.shape[:2], (top, left), strict=True))
    if rows == 0 or columns == 0:
        return True
    region = picture[top : top + rows, left : left + columns]
    if region.shape[:2] != (rows, columns):
        return False
    _blend(region, colour[:rows, :columns], rest[:rows, :columns])
    return True


def _at(picture: np.ndarray, pixels: Any) -> int:
    return int(pixels * (picture.shape[0] / SCREEN_ROWS))


def _blend(region: np.ndarray, colour: np.ndarray, rest: np.ndarray) -> None:
    rows, columns = min(len(region), len(colour)), min(region.shape[1], colour.shape[1])
    place = region[:rows, :columns]
    place[...] = (place * rest[:rows, :columns] + colour[:rows, :columns]).astype(np.uint8)
