"""The clock of one episode: due times on an absolute grid, and rules for late steps. Pure arithmetic, in microseconds."""

from __future__ import annotations

MAX_CATCH_UP_US = 100_000
"""A clock later than this skips the frame times it missed."""

SLOTS = 4
"""Moments in a frame interval at which the episodes of a worker step. Those of one slot share a wake-up of the worker and a
write to the web process, which at 60 frames a second costs a tenth of all time if each does it alone; with fewer slots the
last of a slot waits too long."""


class EpisodeClock:
    """Due times of the steps of one episode.

    A step that is late runs at once and the next stays on the grid, so small delays leave no trace in the frame rate. After a
    delay of more than a tenth of a second the missed frame times are skipped: a world that was stalled continues at its own
    pace, it never runs fast for long.

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
        """Start, or start again after a pause; returns when the first step is due: within one interval from now. `phase`: where
        in the frame interval it steps, from 0 to 1."""
        self._anchor_us = now_us + (phase * self.period_us - now_us) % self.period_us
        self._ticks = 0
        self.due_us = round(self._anchor_us)
        return self.due_us

    def advance(self, now_us: int) -> int:
        """A step runs at `now_us`: moves `due_us` to the next one. Returns how late this step is, microseconds."""
        late = now_us - self.due_us
        self._ticks += 1
        if late > MAX_CATCH_UP_US:
            self.num_stalls += 1
            self._ticks += int(late // self.period_us)
        self.due_us = round(self._anchor_us + self._ticks * self.period_us)
        return late


class TurnClock:
    """The clock of an episode that waits for its players: a step is due when it is asked for, but never sooner than one frame
    interval after the last.

    Args:
        rate_hz: Steps per second at most.

    Attributes:
        due_us: When the next step is due; None while nobody has asked for it.
        num_stalls: Always 0: it has no frame times to miss.

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
        """Start, or start again after a pause; nobody has asked for a step yet."""
        self._free_us, self.due_us = now_us, None

    def ask(self, now_us: int) -> None:
        """The players have chosen; another call changes nothing."""
        if self.due_us is None:
            self.due_us = max(now_us, self._free_us)

    def take_back(self) -> None:
        """A player has not chosen after all."""
        self.due_us = None

    def advance(self, now_us: int) -> int:
        """A step runs at `now_us`. Returns how late it is, microseconds."""
        late_us = now_us - (now_us if self.due_us is None else self.due_us)
        self._free_us, self.due_us = now_us + self._period_us, None
        return late_us


class Lateness:
    """A histogram of delays, in steps of 0.1 ms up to 100 ms: cheap to add to, exact enough to report.

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
