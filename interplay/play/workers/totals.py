"""Sums over the workers of a server, those that have ended included."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from interplay.play.workers.channel import Statistics


@dataclass
class Totals:
    """Numbers of one worker or of several.

    Attributes:
        num_frames: Number of frames that they made for players.
        late_0_1ms: Lateness in tenths of a millisecond -> number of steps with it; the last bin of `Lateness` has no upper end.
    """

    num_steps: int = 0
    num_frames: int = 0
    cpu_s: float = 0.0
    late_0_1ms: Counter[int] = field(default_factory=Counter)

    def add(self, statistics: Statistics | None, num_frames: int) -> None:
        """Add one worker: its last report, if there is one, and the frames that came from it."""
        self.num_frames += num_frames
        if statistics is not None:
            self.num_steps += statistics.num_steps
            self.cpu_s += statistics.cpu_s
            self.late_0_1ms.update({int(bin): count for bin, count in statistics.late_0_1ms.items()})
