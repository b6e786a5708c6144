"""Read the viewing reports of judges' pages (`Answer.viewing`). Pure functions.

The functions compute how much of each video was played and whether that is possible. They also convert a report to events of
the published format and to numbers for a table. A report may hold anything; invalid parts are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any, NamedTuple

FASTEST = 5.0
"""The highest speed of the page's video player."""
SLACK_S = 2.0
"""Tolerance in seconds, for rounding (to half seconds) and for errors of a page's clock."""
PLAYERS = ("player_1", "player_2")
"""The published names of the left and the right side."""
_QUARTERS = ("first-quarter", "second-quarter", "third-quarter", "fourth-quarter")
MAX_TIME_S = 366 * 86_400.0
"""Events that come more than this number of seconds after serving are ignored."""


class Lengths(NamedTuple):
    """Lengths of the two videos in seconds; None if the server does not know a length."""

    left: float | None = None
    right: float | None = None


def watched_shares(viewing: Mapping[str, Any], lengths: Lengths | None = None) -> tuple[float, float]:
    """Return the played share of the left and of the right video, each from 0 to 1.

    Args:
        viewing: The page's report. A missing or invalid value counts as 0.
        lengths: Lengths by the server, which are preferred to the lengths in the report.

    >>> watched_shares({"left": {"length_s": 10, "watched_s": 6}, "right": {"length_s": 1, "watched_s": 1}}, Lengths(10, 4))
    (0.6, 0.25)
    """
    known = lengths or Lengths()
    left, right = (_share(viewing.get(side), getattr(known, side)) for side in ("left", "right"))
    return left, right


def implausible(viewing: Mapping[str, Any], elapsed_s: float) -> str:
    """Describe what is impossible in a report that came `elapsed_s` after serving; empty if everything is possible.

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
    found = _finite(side.get(name)) if isinstance(side, Mapping) else None
    return found if found is not None and found > 0 else 0.0


def published_events(viewing: Mapping[str, Any], *, served_ms: int, videos: tuple[str, str]) -> list[dict[str, Any]]:
    """Convert a report to events of the published format: the first start, each start, and each quarter that was reached.

    Both videos play together, so each event is listed for both. Pauses, jumps, steps and speeds have no published name; only
    `viewing` itself holds them.

    Args:
        viewing: The report; its `events` is a list of {`t`: seconds since serving, `event`: name}.
        served_ms: Time of serving, milliseconds since 1970.
        videos: Sources of the left and of the right video.
    """
    found: list[dict[str, Any]] = []
    has_played = False
    events = viewing.get("events")
    for event in events if isinstance(events, list) else ():
        seconds = _finite(event.get("t")) if isinstance(event, dict) else None
        if seconds is None or not 0 <= seconds <= MAX_TIME_S:
            continue
        kinds = []
        if event.get("event") == "play":
            kinds = ["play"] if has_played else ["play", "tracking:firstplay"]
            has_played = True
        elif event.get("event") in _QUARTERS:
            kinds = [f"tracking:{event['event']}"]
        time = served_ms + round(1000 * seconds)
        found += [
            {"type": kind, "source": source, "time": time, "player_id": player}
            for kind in kinds
            for source, player in zip(videos, PLAYERS, strict=True)
        ]
    return found


def watched(viewing: Mapping[str, Any]) -> dict[str, float | int | None]:
    """Return the report's values as columns of a table; None for each value that the report lacks.

    >>> watched({"played_s": 12.5, "num_events": 4, "left": {"watched_s": 10}, "right": None})
    {'played_s': 12.5, 'left_watched_s': 10.0, 'right_watched_s': None, 'num_viewing_events': 4}
    """
    left, right = (viewing.get(side) for side in ("left", "right"))
    published = viewing.get("published_events")
    num_events = float(len(published)) if isinstance(published, list) else _finite(viewing.get("num_events"))
    return {
        "played_s": _finite(viewing.get("played_s")),
        "left_watched_s": _finite(left.get("watched_s")) if isinstance(left, Mapping) else None,
        "right_watched_s": _finite(right.get("watched_s")) if isinstance(right, Mapping) else None,
        "num_viewing_events": None if num_events is None else int(min(max(num_events, 0), 2**53)),
    }


def _finite(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) else None
