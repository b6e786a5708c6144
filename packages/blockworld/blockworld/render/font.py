"""The font of the display (`data/font.png`): letters have seven rows above the baseline, two below, and up to five columns."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np

from blockworld.registry.facts import table
from blockworld.render import sheets

HEIGHT = 9
"""Rows of a line of text: seven above the baseline, two below."""
_CELL = (6, 10)
"""Distance between two letters in the file, and between two rows of letters, in pixels."""


@cache
def glyphs() -> Mapping[str, np.ndarray]:
    """Map each letter to its pixels: bool, shape (HEIGHT, width)."""
    found, drawn = {" ": np.zeros((HEIGHT, 3), np.bool_)}, sheets.picture("font")[..., 3] > 0
    for row, letters in enumerate(table("font")):
        for column, letter in enumerate(letters):
            x, y = column * _CELL[0], row * _CELL[1]
            glyph = drawn[y : y + HEIGHT, x : x + 5]
            used = np.flatnonzero(glyph.any(0))
            # Digits keep their width, so that numbers do not dance
            found[letter] = glyph if letter.isdigit() else glyph[:, : used[-1] + 1]
    return found


@cache
def written(text: str) -> np.ndarray:
    """Draw a line of text: bool, shape (HEIGHT, width), with a free column between letters; unknown letters become `?`."""
    letters = [glyphs().get(letter, glyphs()["?"]) for letter in text]
    if not letters:
        return np.zeros((HEIGHT, 0), np.bool_)
    gap = np.zeros((HEIGHT, 1), np.bool_)
    return np.concatenate([part for letter in letters for part in (letter, gap)][:-1], 1)
