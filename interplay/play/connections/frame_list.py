"""Frames of a recorded episode as `GET /api/episodes/{id}/frames` sends them: each message with its length before it."""

from __future__ import annotations

import struct

from interplay.envs import Frame
from interplay.play.connections.codec import FrameEncoder, palette_text
from interplay.play.connections.wire import LAST_FRAME
from interplay.record import Episode
from interplay.record.rewards import total_of

_LENGTH = struct.Struct("<I")


class FrameList:
    """Takes frames in the order of their steps; the first one becomes a key frame."""

    def __init__(self, episode: Episode) -> None:
        header = episode.header
        self._size = None if header.view is None else (header.height, header.width)
        self._rewards = episode.rewards()
        self._num_steps = episode.num_steps
        self._rate = episode.task.frame_rate_hz
        self._encoder: FrameEncoder | None = None
        self._parts: list[bytes] = []
        self._rewarded: int | None = None
        self._palette = None

    def add(self, step: int, frame: Frame) -> None:
        """Append the frame that shows the world after `step` steps."""
        self._encoder = encoder = self._encoder or FrameEncoder(frame, self._size)
        first = max(0, step - 1) if self._rewarded is None else self._rewarded
        self._rewarded = step
        message = encoder.encode(
            frame,
            step=step,
            time_ms=round(1000 * step / self._rate),
            reward=total_of(self._rewards[first:step]),
            flags=LAST_FRAME if step == self._num_steps else 0,
        )
        self._parts += [_LENGTH.pack(len(message)), message]
        self._palette = encoder.palette if encoder.palette is not None else self._palette

    @property
    def body(self) -> bytes:
        """All messages, joined."""
        return b"".join(self._parts)

    @property
    def palette(self) -> str | None:
        """In base64. One serves all frames: colours that a world shows later are only ever added to it."""
        return palette_text(self._palette)
