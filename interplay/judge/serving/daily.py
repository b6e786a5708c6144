"""How many answers came from one address in the last 24 hours; kept in memory, by each server process for itself."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

DAY_S = 86_400.0
_MOST_ADDRESSES = 100_000


class AnswersByAddress:
    """Counts; safe to share between threads.

    Args:
        monotonic: Seconds that only go on.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._times: dict[str, deque[float]] = {}

    def add(self, address: str) -> None:
        """One more answer."""
        with self._lock:
            times = self._times.pop(address, None) or deque()
            self._times[address] = times  # the one seen last stands last
            now = self._monotonic()
            times.append(now)
            while times[0] <= now - DAY_S:
                times.popleft()
            if len(self._times) > _MOST_ADDRESSES:
                del self._times[next(iter(self._times))]

    def wait_s(self, address: str, limit: int) -> float:
        """How long until one more answer is within the limit; 0 if it is now."""
        with self._lock:
            times, now = self._times.get(address, ()), self._monotonic()
            recent = [time for time in times if time > now - DAY_S]
            return 0.0 if len(recent) < limit else recent[len(recent) - limit] + DAY_S - now
