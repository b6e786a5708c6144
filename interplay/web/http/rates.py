"""Limit how often one address may do something. Requests are counted in the memory of this process."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable

_MAX_CLIENTS = 10_000


class Rate:
    """Allows each client an action at most `most` times in `within_s` seconds.

    >>> rate = Rate(2, 60, clock=iter([0.0, 1.0, 2.0, 61.0]).__next__)
    >>> [rate.allows("192.0.2.7") for _ in range(4)]
    [True, True, False, True]
    """

    def __init__(self, most: int, within_s: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.most, self.within_s, self._clock = most, within_s, clock
        self._times: OrderedDict[str, deque[float]] = OrderedDict()
        self._lock = threading.Lock()
        self._now = 0.0

    def has_room(self, client: str) -> bool:
        with self._lock:
            return len(self._recent(client)) < self.most

    def allows(self, client: str) -> bool:
        with self._lock:
            times = self._recent(client)
            if len(times) >= self.most:
                return False
            times.append(self._now)
            return True

    def _recent(self, client: str) -> deque[float]:
        self._now = self._clock()
        times = self._times.setdefault(client, deque())
        self._times.move_to_end(client)
        if len(self._times) > _MAX_CLIENTS:
            self._times.popitem(last=False)
        while times and self._now - times[0] >= self.within_s:
            times.popleft()
        return times
