"""`Stopwatch`: how long matches have been before their judges, also when the clock of the machine is set."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

LONGEST_S = 30 * 86_400.0
"""A time that only the clock tells and that is longer is taken for a clock that was set."""
_REMEMBERED = 65_536


class Elapsed(NamedTuple):
    """Time since a match was served.

    Attributes:
        seconds: Zero or more; since this process first heard of the match where `is_known` is false.
        is_known: Whether that is the whole time.
    """

    seconds: float
    is_known: bool


class Stopwatch:
    """Times matches; safe to share between threads.

    A match that this process has served is timed by a source that only goes on, so that setting the clock changes nothing. Of
    one that was served before (by another process, or before a restart) the clock tells how long ago, if that can be true.

    Args:
        monotonic: Seconds that only go on.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._began: dict[str, tuple[float, bool]] = {}

    def start(self, match_id: str) -> None:
        """A match is served now."""
        self._remember(match_id, self._monotonic(), True)

    def elapsed(self, match_id: str, served_at: datetime, now: datetime) -> Elapsed:
        """How long ago a match was served; `served_at` and `now` are what the clock says."""
        here = self._monotonic()
        began = self._began.get(match_id)
        if began is None:
            by_clock = (now - served_at).total_seconds()
            can_be = 0 <= by_clock <= LONGEST_S
            began = (here - by_clock if can_be else here, can_be)
            self._remember(match_id, *began)
        return Elapsed(max(0.0, here - began[0]), began[1])

    def _remember(self, match_id: str, began: float, is_known: bool) -> None:
        with self._lock:
            self._began[match_id] = (began, is_known)
            if len(self._began) > _REMEMBERED:
                del self._began[next(iter(self._began))]
