"""The clock of one episode: due times on an absolute grid, rules for late steps, and the size of pictures, which shrinks before
steps are lost. This module only computes, in microseconds."""

from __future__ import annotations

import statistics
import time
from collections import deque
from collections.abc import Sequence

MAX_CATCH_UP_US = 100_000
"""A clock that is later than this skips the frame times that it missed."""

SLOTS = 4
"""Number of moments in a frame interval at which the episodes of a worker step. Episodes of one slot share a wake-up and a
write to the web process; at 60 frames a second this saves a tenth of all time. With fewer slots the last episode of a slot
waits too long."""


def now_us() -> int:
    """Return the time of the monotonic clock, which all processes of a machine share, in microseconds."""
    return time.monotonic_ns() // 1000


class EpisodeClock:
    """Due times of the steps of one episode.

    A step that is late runs at once and the next stays on the grid, so small delays do not change the frame rate. After a delay
    of more than a tenth of a second the missed frame times are skipped: a world that was stalled continues at its own pace and
    never runs fast for long.

    Attributes:
        due_us: When the next step is due.
        num_stalls: How often frame times were skipped.

    >>> clock = EpisodeClock(50)
    >>> clock.start(1_000_000)
    1000000
    >>> clock.advance(1_000_100), clock.due_us  # 0.1 ms late: runs, and the grid stays
    (100, 1020000)
    >>> clock.advance(1_127_000), clock.due_us, clock.num_stalls  # five frames late: runs once, then continues with the next
    (107000, 1140000, 1)
    """

    def __init__(self, rate_hz: float) -> None:
        self.period_us = 1e6 / rate_hz
        self._anchor_us = 0.0
        self._ticks = 0
        self.due_us = 0
        self.num_stalls = 0

    def start(self, now_us: int, *, phase: float = 0.0) -> int:
        """Start, or start again after a pause. Return when the first step is due, which is within one interval from now.
        `phase`: the moment of the steps in a frame interval, from 0 (its beginning) to 1."""
        self._anchor_us = now_us + (phase * self.period_us - now_us) % self.period_us
        self._ticks = 0
        self.due_us = round(self._anchor_us)
        return self.due_us

    def advance(self, now_us: int) -> int:
        """Note that a step runs at `now_us`, and move `due_us` to the next step. Return how late this step is, in
        microseconds."""
        late = now_us - self.due_us
        self._ticks += 1
        if late > MAX_CATCH_UP_US:
            self.num_stalls += 1
            self._ticks += int(late // self.period_us)
        self.due_us = round(self._anchor_us + self._ticks * self.period_us)
        return late


class TurnClock:
    """The clock of an episode that waits for its players. A step is due when it is asked for, but never sooner than one frame
    interval after the last step.

    Args:
        rate_hz: Largest number of steps per second.

    Attributes:
        due_us: When the next step is due; None while nobody has asked for it.
        num_stalls: Always 0, because this clock has no frame times to miss.

    >>> clock = TurnClock(10)
    >>> clock.start(1_000_000)
    >>> clock.ask(1_500_000)
    >>> clock.advance(1_500_200), clock.due_us  # 0.2 ms late; no other step is due
    (200, None)
    >>> clock.ask(1_510_000)
    >>> clock.due_us  # asked for too soon: a tenth of a second after the last
    1600200
    """

    def __init__(self, rate_hz: float) -> None:
        self._period_us = round(1e6 / rate_hz)
        self._free_us = 0
        self.due_us: int | None = None
        self.num_stalls = 0

    def start(self, now_us: int, *, phase: float = 0.0) -> None:
        """Start, or start again after a pause. No step has been asked for yet."""
        self._free_us, self.due_us = now_us, None

    def ask(self, now_us: int) -> None:
        """Ask for a step, since the players have chosen. A second call changes nothing."""
        if self.due_us is None:
            self.due_us = max(now_us, self._free_us)

    def take_back(self) -> None:
        """Take the request for a step back, since a player has not chosen after all."""
        self.due_us = None

    def advance(self, now_us: int) -> int:
        """Note that a step runs at `now_us`. Return how late it is, in microseconds."""
        late_us = now_us - (now_us if self.due_us is None else self.due_us)
        self._free_us, self.due_us = now_us + self._period_us, None
        return late_us


class Lateness:
    """A histogram of delays, in steps of 0.1 ms up to 100 ms: adding is fast, and the result is exact enough for reports.

    >>> lateness = Lateness()
    >>> for late_us in (50, 150, 250, 9_000):
    ...     lateness.add(late_us)
    >>> lateness.quantile_ms(0.5), lateness.quantile_ms(1.0)
    (0.2, 9.1)
    """

    BINS = 1000

    def __init__(self, counts: list[int] | None = None) -> None:
        self.counts = counts if counts is not None else [0] * (self.BINS + 1)

    def add(self, late_us: int) -> None:
        index = late_us // 100
        self.counts[0 if index < 0 else index if index < self.BINS else self.BINS] += 1

    def quantile_ms(self, fraction: float) -> float | None:
        """Return the upper edge, in ms, of the bin that holds this fraction; None before the first count."""
        total = sum(self.counts)
        if not total:
            return None
        target, seen = fraction * total, 0
        for index, count in enumerate(self.counts):
            seen += count
            if count and seen >= target:
                return (index + 1) / 10
        return (self.BINS + 1) / 10


LATE_SHARE = 0.5
"""A step that begins later than this share of a frame interval is late; `MAX_CATCH_UP_US` is the limit for skipping."""
_NUM_RECENT = 5
"""Number of recent steps whose median cost is used, so that one slow step has no effect."""
_HURRY_SHARE, _HURRY_STEPS = 0.9, 3
"""The picture becomes smaller after this many late steps in a row, if a step costs more than this share of the interval."""
_PATIENCE_S = 1.0
"""Time of late steps after which the picture becomes smaller although steps cost less: other games of the worker delay them."""
_ROOM_SHARE = 0.85
"""A larger picture is tried when a step with it should cost less than this share of the interval."""
CALM_S = 5.0
"""Time without late steps before a larger picture is tried; it doubles after each try that failed."""
_MAX_CALM_S = 80.0
"""Longest time before a larger picture is tried."""


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
        """Note that a step was made; the next step may be drawn at another size.

        Args:
            cost_us: Microseconds of real time from the beginning of the step to the end of its picture.
            late_us: How many microseconds late the step began.
        """
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
                if self._tried and self._num_since_try < self._calm_s * self._rate_hz:
                    self._calm_s = min(_MAX_CALM_S, 2 * self._calm_s)
                self._change(1)
                self._tried = False
            return
        if not self.level:
            return
        # The cost of a step grows with the rows of its picture, not with its pixels: 14, 25 and 32 ms at 180, 270 and 360.
        growth = self._heights[self.level - 1] / self.height
        self._num_calm = self._num_calm + 1 if not is_late and usual_us * growth < _ROOM_SHARE * self._period_us else 0
        if self._num_calm >= self._calm_s * self._rate_hz:
            self._change(-1)
            self._tried = True

    def _change(self, by: int) -> None:
        self.level += by
        self._costs_us.clear()
        self._num_late = self._num_calm = self._num_since_try = 0
