"""A player that notes everything it sees."""

import random
import time

import numpy as np

from interplay.play.client import PlayClient
from interplay.record import Episode
from interplay.record.format.schema import frame_hash


class Watcher:
    """Plays on and notes every frame: step, hash of the picture, time of arrival."""

    def __init__(self, client: PlayClient, rng: random.Random | None = None, *, rgb: bool = False) -> None:
        self.client = client
        self.steps: list[int] = []
        self.hashes: list[int] = []
        self.times: list[float] = []
        self._rng = rng
        self._rgb = rgb

    async def play(self, num_frames: int | None = None) -> None:
        async for frame in self.client.frames():
            assert self.client.header is not None
            self.steps.append(self.client.header.step)
            self.hashes.append(frame_hash(frame.rgb() if self._rgb else frame.pixels))
            self.times.append(time.perf_counter())
            if self._rng is not None and self.steps[-1] % 10 == 0:
                await self.client.press(self._rng.randrange(1 << 5))
            if num_frames is not None and len(self.steps) >= num_frames:
                return

    def disturbance(self) -> str | None:
        """What this player noticed of others' troubles: a message, a step back, a gap; None when nothing.

        A machine that is short of time may keep this process from reading for a while, so frames may be skipped and gaps of
        less than ten seconds say nothing.
        """
        kinds = [message["type"] for message in self.client.messages]
        if kinds not in (["welcome", "started"], ["welcome", "started", "ended"]):
            return f"messages {kinds}"
        jumps, gaps_s = np.diff(self.steps), np.diff(self.times)
        if (jumps < 1).any() or (jumps > 600).any():
            return f"steps jump by {sorted(set(jumps.tolist()))}"
        return f"a gap of {gaps_s.max():.2f} s" if gaps_s.max() > 10.0 else None

    def equals(self, episode: Episode) -> bool:
        recorded = episode.steps().column("frame_hash").to_numpy()
        return bool((recorded[self.steps] == self.hashes).all())
