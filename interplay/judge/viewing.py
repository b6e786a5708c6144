"""Share of both videos that was played, by the page's report, and whether that is possible. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any, NamedTuple

FASTEST = 5.0
"""The highest speed of the page's player."""
SLACK_S = 2.0
"""What rounding (pieces of half a second) and a page's clock may add, seconds."""


class Lengths(NamedTuple):
    """Lengths of the two videos, seconds; None where the server does not know."""

    left: float | None = None
    right: float | None = None


def watched_shares(viewing: Mapping[str, Any], lengths: Lengths | None = None) -> tuple[float, float]:
    """Share of the left and of the right video that was played, from 0 to 1.

    Args:
        viewing: The page's report; missing or invalid values count as nothing.
        lengths: By the server; preferred to the page's.

    >>> watched_shares({"left": {"length_s": 10, "watched_s": 6}, "right": {"length_s": 1, "watched_s": 1}}, Lengths(10, 4))
    (0.6, 0.25)
    """
    known = lengths or Lengths()
    left, right = (_share(viewing.get(side), getattr(known, side)) for side in ("left", "right"))
    return left, right


def implausible(viewing: Mapping[str, Any], elapsed_s: float) -> str:
    """The impossible part of a report this long after serving; empty if all is possible.

    >>> side = {"length_s": 100, "watched_s": 100}
    >>> implausible({"left": side, "right": side}, 30), implausible({"left": side, "right": side}, 3)
    ('', '100 s of the left video cannot be played in 3 s, at 5 times the speed at most')
    """
    most = FASTEST * elapsed_s + SLACK_S
    for side in ("left", "right"):
        watched = _number(viewing.get(side), "watched_s")
        if watched > most:
            return (
                f"{watched:g} s of the {side} video cannot be played in {elapsed_s:.0f} s, "
                f"at {FASTEST:g} times the speed at most"
            )
    return ""


def _share(side: Any, length: float | None) -> float:
    whole = _number(side, "length_s") if length is None else length
    return min(1.0, _number(side, "watched_s") / whole) if whole > 0 else 0.0


def _number(side: Any, name: str) -> float:
    value = side.get(name) if isinstance(side, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    try:
        found = float(value)
    except OverflowError:
        return 0.0
    return found if isfinite(found) and found > 0 else 0.0
