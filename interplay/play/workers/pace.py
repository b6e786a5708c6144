"""Smaller pictures before fewer steps: the size of picture with which a game keeps its rate. Pure arithmetic."""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Sequence

LATE_SHARE = 0.5
"""Of a frame interval: a step that begins later than this is late. Frame times are skipped from two intervals on."""
_NUM_RECENT = 5
"""Steps whose median cost counts, so that one hiccup says nothing."""
_HURRY_SHARE, _HURRY_STEPS = 0.9, 3
"""So many late steps in a row are enough for a smaller picture, where a step costs nearly the whole interval ..."""
_PATIENCE_S = 1.0
"""... and so long otherwise: then it is the other games of this worker that take the time."""
_ROOM_SHARE = 0.85
"""A larger picture is tried when a step with it should cost less than this share of the interval."""
CALM_S = 5.0
"""How long steps must have been in time before a larger picture is tried; twice as long after each try that failed ..."""
_MAX_CALM_S = 80.0
"""... up to this."""


class Pace:
    """Chooses the height of the pictures of one game, step by step.

    Args:
        rate_hz: Steps per second.
        heights: Rows of the pictures that can be drawn, the largest first.

    Attributes:
        level: Index into `heights` of the size to draw.

    >>> pace = Pace(20, (360, 270, 180))
    >>> for late_us in (0, 10_000, 20_000, 30_000, 40_000, 50_000):  # each step takes 60 ms of its 50
    ...     pace.add(cost_us=60_000, late_us=late_us)
    >>> pace.height
    270
    """

    def __init__(self, rate_hz: float, heights: Sequence[int]) -> None:
        self.level = 0
        self._heights = heights
        self._rate_hz = rate_hz
        self._period_us = 1e6 / rate_hz
        self._costs_us: deque[int] = deque(maxlen=_NUM_RECENT)
        self._num_late = 0
        self._num_calm = 0
        self._num_since_try = 0
        self._calm_s = CALM_S
        self._tried = False

    @property
    def height(self) -> int:
        return self._heights[self.level]

    def add(self, cost_us: int, late_us: int) -> None:
        """A step was made; its successor may be drawn at another size. `cost_us`: from its beginning to its picture's end, real
        time. `late_us`: how late it began."""
        self._costs_us.append(cost_us)
        self._num_since_try += 1
        is_late = late_us > LATE_SHARE * self._period_us
        self._num_late = self._num_late + 1 if is_late else 0
        if len(self._costs_us) < _HURRY_STEPS:
            return
        usual_us = statistics.median(self._costs_us)
        in_a_hurry = usual_us > _HURRY_SHARE * self._period_us
        if self._num_late >= (_HURRY_STEPS if in_a_hurry else _PATIENCE_S * self._rate_hz):
            if self.level + 1 < len(self._heights):
                self._go_down()
            return
        if not self.level:
            return
        # The cost of a step grows with the rows of its picture, not with its pixels: 14, 25 and 32 ms at 180, 270 and 360.
        growth = self._heights[self.level - 1] / self.height
        self._num_calm = self._num_calm + 1 if not is_late and usual_us * growth < _ROOM_SHARE * self._period_us else 0
        if self._num_calm >= self._calm_s * self._rate_hz:
            self._change(-1)
            self._tried = True

    def _go_down(self) -> None:
        if self._tried and self._num_since_try < self._calm_s * self._rate_hz:
            self._calm_s = min(_MAX_CALM_S, 2 * self._calm_s)
        self._change(1)
        self._tried = False

    def _change(self, by: int) -> None:
        self.level += by
        self._costs_us.clear()
        self._num_late = self._num_calm = self._num_since_try = 0
