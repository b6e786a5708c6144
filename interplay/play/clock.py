"""The clock of one episode: due times on an absolute grid, and what to do when late. Pure arithmetic, in microseconds."""

from __future__ import annotations

REANCHOR_FRAMES = 3
"""A clock later than this starts anew from now."""

SLOTS = 8
"""Moments in a frame interval at which episodes step. Those of one slot share a wake-up of the worker and a write to the web
process, which at 60 frames a second costs a tenth of all time if each does it alone."""

_GOLDEN = 0.6180339887498949


class EpisodeClock:
    """Due times of the steps of one episode.

    A step that is late runs at once and the next keeps its place on the grid, so small delays leave no trace in the frame
    rate. After a delay of more than three frames the grid moves: a world that was stalled goes on at its own pace, it never
    runs fast to catch up.

    Args:
        rate_hz: Steps per second.
        index: Any number of its own for each episode; spreads their steps over the slots of the frame interval.

    Attributes:
        due_us: When the next step is due.
        num_reanchors: How often the grid was moved.

    >>> clock = EpisodeClock(50, index=0)
    >>> clock.start(1_000_000)
    1000000
    >>> clock.advance(1_000_100), clock.due_us  # 0.1 ms late: runs, and the grid stays
    (100, 1020000)
    >>> clock.advance(1_100_000), clock.due_us, clock.num_reanchors  # four frames late: the grid moves
    (80000, 1120000, 1)
    """

    def __init__(self, rate_hz: float, *, index: int = 0) -> None:
        self.period_us = 1e6 / rate_hz
        self._phase_us = int(index * _GOLDEN % 1.0 * SLOTS) / SLOTS * self.period_us
        self._anchor_us = 0.0
        self._ticks = 0
        self.due_us = 0
        self.num_reanchors = 0

    def start(self, now_us: int) -> int:
        """Start, or start again after a pause; returns when the first step is due: within one interval from now."""
        self._anchor_us = now_us + (self._phase_us - now_us) % self.period_us
        self._ticks = 0
        self.due_us = round(self._anchor_us)
        return self.due_us

    def advance(self, now_us: int) -> int:
        """A step runs at `now_us`: moves `due_us` to the next one.

        Returns:
            How late this step is, microseconds.
        """
        late = now_us - self.due_us
        if late > REANCHOR_FRAMES * self.period_us:
            self.num_reanchors += 1
            self._anchor_us = float(now_us)
            self._ticks = 0
        self._ticks += 1
        self.due_us = round(self._anchor_us + self._ticks * self.period_us)
        return late


class Lateness:
    """A histogram of how late things were, in steps of 0.1 ms up to 100 ms: cheap to add to, exact enough to report.

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
        """Count one."""
        index = late_us // 100
        self.counts[0 if index < 0 else index if index < self.BINS else self.BINS] += 1

    def quantile_ms(self, fraction: float) -> float | None:
        """The upper edge of the bin that holds this fraction, ms; None before the first count."""
        total = sum(self.counts)
        if not total:
            return None
        target, seen = fraction * total, 0
        for index, count in enumerate(self.counts):
            seen += count
            if count and seen >= target:
                return (index + 1) / 10
        return (self.BINS + 1) / 10
