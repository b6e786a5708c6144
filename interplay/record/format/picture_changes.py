"""Find the changed parts of a picture once per step, for the recording and for the players.

Pictures are palette indices. They are compared in words of 8 pixels, or of 1 pixel if 8 does not divide the number of pixels.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np


class Change(NamedTuple):
    """Difference between a picture and the previous picture.

    Attributes:
        places: Positions of the words that differ, int64, shape (n,).
        now: New values of these words, shape (n,).
        bits: New values XOR old values, shape (n,).
    """

    places: np.ndarray
    now: np.ndarray
    bits: np.ndarray


class PictureChanges:
    """Finds where each picture, uint8, shape (H, W), differs from the previous picture.
    The first picture is compared with index 0 everywhere."""

    def __init__(self, height: int, width: int) -> None:
        self.last = np.zeros((height, width), np.uint8)
        self._word = _word(self.last.size)
        self._last = self.last.reshape(-1).view(self._word)

    def take(self, pixels: np.ndarray) -> Change:
        words = np.frombuffer(pixels if pixels.flags.c_contiguous else np.ascontiguousarray(pixels), self._word)
        last = self._last
        places = (words != last).nonzero()[0]
        now = words[places]
        bits = now ^ last[places]
        last[places] = now
        return Change(places, now, bits)

    def follow(self, change: Change) -> None:
        self._last[change.places] = change.now


def _word(num_pixels: int) -> type[np.unsignedinteger]:
    return np.uint8 if num_pixels % 8 else np.uint64


class _Canvases(threading.local):
    """Keeps one picture of each size that is all zero except while it is used; all games share it, so it stays in the cache."""

    def __init__(self) -> None:
        self.of_size: dict[int, tuple[np.ndarray, np.ndarray]] = {}


_canvases = _Canvases()


def difference(num_pixels: int, change: Change, use: Callable[[np.ndarray], bytes]) -> bytes:
    """Return `use(picture XOR previous picture)`; the argument is uint8, shape (num_pixels,), valid only during the call."""
    canvas = _canvases.of_size.get(num_pixels)
    if canvas is None:
        pixels = np.zeros(num_pixels, np.uint8)
        canvas = _canvases.of_size[num_pixels] = pixels, pixels.view(_word(num_pixels))
    picture, words = canvas
    words[change.places] = change.bits
    try:
        return use(picture)
    finally:
        words[change.places] = 0


# In journals: for each picture of a batch the number of words that changed (int64), where they are (int64 each), and what they
# are XOR what they were; or the number of all words, and the picture. The first one of a segment is whole.


def packed(pixels: np.ndarray, change: Change, *, whole: bool) -> bytes:
    """Encode a picture for a journal: its changes, or the whole picture if `whole` is set or if that is not longer."""
    places, _, bits = change
    num_words = pixels.size // bits.itemsize
    if whole or 2 * len(places) >= num_words:
        return num_words.to_bytes(8, "little") + pixels.tobytes()
    return len(places).to_bytes(8, "little") + places.tobytes() + bits.tobytes()


def unpacked(block: bytes, picture: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the pictures of a batch; each is valid until the next one.
    `picture`, uint8, shape (num_pixels,), must hold the last picture of the batch before; it is overwritten with each
    picture in turn."""
    words = picture.view(word := _word(picture.size))
    start, size = 0, words.itemsize
    while start < len(block):
        count = int.from_bytes(block[start : start + 8], "little")
        start += 8
        if count == len(words):
            words[:] = np.frombuffer(block, word, count, start)
        else:
            places = np.frombuffer(block, np.int64, count, start)
            start += 8 * count
            words[places] ^= np.frombuffer(block, word, count, start)
        start += size * count
        yield picture
