"""The recorded part of an `info`, by the rule in `docs/episode-format.md` under "Infos", and how the game of a seat ends."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np

MAX_VALUES = 64
"""Largest number of values in a recorded list or array: Taxi's `action_mask` has 6, a chess board 64."""

MAX_TEXT = 4096
"""Largest number of characters in a recorded text."""

# Built once: this runs at every step.
_BOOLEANS, _INTEGERS, _FLOATS = (bool, np.bool_), (int, np.integer), (float, np.floating)
_MAX_DEPTH = 4
_NOTHING = object()
"""Stand-in for a value that is left out."""


def recordable(info: Any) -> dict[str, Any]:
    """Return the part of an info that is recorded, as JSON values in the order of the info; all values are copies.

    Numbers, texts of at most `MAX_TEXT` characters, and lists, tuples and arrays of at most `MAX_VALUES` such values are kept.
    NaN and infinities become None. A NUL or half of a surrogate pair in a text becomes U+FFFD. A key that is a number becomes a
    text. Everything else is left out (tables, bytes, sets, objects, whole numbers beyond 64 bits, None). If the info is not a
    mapping, the result is empty.

    >>> recordable({"mask": np.array([0, 1], np.int8), "prob": np.float32(0.5), "nested": {"a": 1}})
    {'mask': [0, 1], 'prob': 0.5}
    """
    kept: dict[str, Any] = {}
    if type(info) is not dict and not isinstance(info, Mapping):
        return kept
    for key, value in info.items():
        if not isinstance(key, str):
            if not isinstance(key, _INTEGERS):
                continue
            key = str(int(key))
        plain = _plain(value)
        if plain is not _NOTHING:
            kept.setdefault(clean_text(key), plain)
    return kept


class SeatEnd(NamedTuple):
    """How the game of one seat ended: by the world (`terminated`) or cut off (`truncated`); both are False during the game."""

    terminated: bool
    truncated: bool


def seat_end(seat: str, info: Mapping[str, Any], *, seats: Collection[str], terminated: bool, truncated: bool) -> SeatEnd:
    """Return how the game of one seat ended, in the step that gave this info or in an earlier step.

    In an info, `seats_done` lists the seats that have finished. `seats_truncated` lists the finished seats that were cut off;
    the other finished seats terminated. If a game was cut off with all seats done and no `seats_truncated`, all seats were cut
    off. A seat that is not done ends as the game does. A seat that ended in both ways counts as terminated.

    Args:
        terminated, truncated: Whether this step ended the game, and how.

    >>> info, seats = {"seats_done": ["left", "right"], "seats_truncated": ["right"]}, ("left", "right")
    >>> [seat_end(seat, info, seats=seats, terminated=True, truncated=False) for seat in seats]
    [SeatEnd(terminated=True, truncated=False), SeatEnd(terminated=False, truncated=True)]
    """
    is_cut_off = truncated and not terminated
    done = info.get("seats_done", ())
    if seat not in done:
        return SeatEnd(terminated, is_cut_off)
    if "seats_truncated" in info or not set(done) >= set(seats):
        is_cut_off = seat in info.get("seats_truncated", ())
    return SeatEnd(not is_cut_off, is_cut_off)


def clean_text(text: str) -> str:
    """Return a text that every file and database can store: a NUL and halves of surrogate pairs become U+FFFD.

    >>> clean_text("a\\x00b")
    'a\\ufffdb'
    """
    if text.isascii():
        return text.replace("\x00", "\ufffd") if "\x00" in text else str.__str__(text)
    return text.replace("\x00", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _plain(value: Any, depth: int = 0) -> Any:
    if isinstance(value, str):
        return clean_text(value) if len(value) <= MAX_TEXT else _NOTHING
    if isinstance(value, _BOOLEANS):
        return bool(value)
    if isinstance(value, _INTEGERS):
        number = int(value)
        return number if -(2**63) <= number < 2**63 else _NOTHING
    if isinstance(value, _FLOATS):
        real = float(value)
        return real if math.isfinite(real) else None
    if isinstance(value, np.ndarray):
        return _plain(value.tolist(), depth) if value.size <= MAX_VALUES else _NOTHING
    if isinstance(value, list | tuple) and depth < _MAX_DEPTH:
        values, size = [], 0
        for item in value:
            plain = _plain(item, depth + 1)
            size += _size(plain)
            if plain is _NOTHING or size > MAX_VALUES:
                return _NOTHING
            values.append(plain)
        return values
    return _NOTHING


def _size(value: Any) -> int:
    """Return how many values a list holds; an empty list, or any other value, counts as one."""
    return max(1, sum(map(_size, value))) if isinstance(value, list) else 1
