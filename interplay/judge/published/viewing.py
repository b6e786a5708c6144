"""Viewing reports (`Answer.viewing`) as the published format's events, and as numbers for a table.

The report comes from a page, so it may hold anything: invalid parts are left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

PLAYERS = ("player_1", "player_2")
"""The published names of left and right."""
_QUARTERS = ("first-quarter", "second-quarter", "third-quarter", "fourth-quarter")
MAX_TIME_S = 366 * 86_400.0
"""An event later than this after serving is ignored."""


def published_events(viewing: Mapping[str, Any], *, served_ms: int, videos: tuple[str, str]) -> list[dict[str, Any]]:
    """`VIDEO_EVENTS` of an answer given here: each start of playing, the first one, and each quarter that was reached.

    Both videos play as one, so each event is listed for both. Pauses, jumps, steps and speeds have no published name; `viewing`
    itself has them.

    Args:
        viewing: With `events`, a list of {`t`: seconds since serving, `event`: name}.
        served_ms: Time of serving, milliseconds since 1970.
        videos: Sources of the left and the right one.
    """
    found: list[dict[str, Any]] = []
    has_played = False
    events = viewing.get("events")
    for event in events if isinstance(events, list) else ():
        seconds = _number(event.get("t")) if isinstance(event, dict) else None
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
    """Columns of a table; None where the report has no value.

    >>> watched({"played_s": 12.5, "num_events": 4, "left": {"watched_s": 10}, "right": None})
    {'played_s': 12.5, 'left_watched_s': 10.0, 'right_watched_s': None, 'num_viewing_events': 4}
    """
    left, right = (viewing.get(side) for side in ("left", "right"))
    published = viewing.get("published_events")
    num_events = float(len(published)) if isinstance(published, list) else _number(viewing.get("num_events"))
    return {
        "played_s": _number(viewing.get("played_s")),
        "left_watched_s": _number(left.get("watched_s")) if isinstance(left, Mapping) else None,
        "right_watched_s": _number(right.get("watched_s")) if isinstance(right, Mapping) else None,
        "num_viewing_events": None if num_events is None else int(min(max(num_events, 0), 2**53)),
    }


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
