"""Sprites, the small pictures of the display, by key: panels, hearts, the cursor, items and lines of text.

The pictures of all sprites except items and text are in `data/display.png`.

| key | is |
| --- | --- |
| `icon:NAME` | an item |
| `text:RRGGBB:WORDS` | a line of text with a shadow |
| `mark:NAME` | `heart`, `half heart`, `no heart`, the same for `food` and `armour`, `bubble` or `pop` (a bursting bubble) |
| `panel:KIND` | an empty screen |
| `hotbar`, `chosen` | the bar of nine slots, the frame of the selected slot |
| `flame:ROWS`, `arrow:COLUMNS` | fuel and progress of a furnace |
| `offer`, `no offer` | the arrow between price and goods of an open, a closed offer |
| `pointer` | the cursor |
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import numpy as np

from blockworld.errors import WorldError
from blockworld.render import font, icons, sheets
from blockworld.render.sheets import Colour

DETAIL = 4
"""Default number of pixels per GUI pixel for items that are drawn in more detail: blocks."""


def _text(text: str, colour: Colour) -> np.ndarray:
    letters = font.written(text)
    picture = np.zeros((letters.shape[0] + 1, letters.shape[1] + 1, 4), np.uint8)
    picture[1:, 1:][letters] = (*(c // 4 for c in colour), 255)
    picture[:-1, :-1][letters] = (*colour, 255)
    return picture


@cache
def sprite(key: str, detail: int = DETAIL) -> tuple[np.ndarray, int]:
    """Return the sprite of a key; do not change it.

    Args:
        detail: Pixels per GUI pixel of items that are drawn in more detail than the GUI: blocks.
    Returns:
        uint8, shape (H, W, 4), and its pixels per GUI pixel: `detail` or 1.
    Raises:
        UnknownNameError: If the key names an item that does not exist.
        WorldError: For any other unknown key.

    >>> sprite("icon:stone")[0].shape, sprite("mark:heart")[0].shape
    ((64, 64, 4), (9, 9, 4))
    """
    kind, _, name = key.partition(":")
    match kind:
        case "icon":
            fine = detail if icons.is_cube(name) or icons.is_boxes(name) else 1
            return icons.icon(name, fine), fine
        case "text":
            colour, _, words = name.partition(":")
            red, green, blue = bytes.fromhex(colour)
            picture = _text(words, (red, green, blue))
        case "flame":
            picture = sheets.pieces("display")[kind][-int(name) :]
        case "arrow":
            picture = sheets.pieces("display")[kind][:, : int(name)]
        case _ if key in sheets.pieces("display"):
            picture = sheets.pieces("display")[key]
        case _:
            raise WorldError(f"there is no sprite {key!r:.60}; the docstring of render.pieces lists the sprites")
    picture.flags.writeable = False
    return picture, 1


def sheet(keys: Iterable[str]) -> tuple[list[tuple[str, int, int, int]], np.ndarray]:
    """Return sprites for a browser: (key, width, height, pixels per GUI pixel) for each, and the RGBA bytes of all, joined."""
    named = [(key, *sprite(key)) for key in keys]
    rows = [(key, picture.shape[1], picture.shape[0], pixels) for key, picture, pixels in named]
    return rows, np.concatenate([np.zeros(0, np.uint8), *(picture.reshape(-1) for _, picture, _ in named)])
