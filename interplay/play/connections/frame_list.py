"""Frames of a recorded episode as `frames`, `scenes` and `land` of `/api/episodes/{id}` return them: the length of each frame
in bytes, then the frame."""

from __future__ import annotations

import struct

from interplay.envs import Frame
from interplay.play.connections.codec import FrameEncoder, finite_reward, palette_text
from interplay.play.connections.wire import FRESH, LAND_FRAME, LAST_FRAME, SCENE_FRAME, pack_header
from interplay.record import Episode
from interplay.record.sealed.seal import total_of

_LENGTH = struct.Struct("<I")


class FrameList:
    """Takes frames of one kind in the order of their steps; the first picture becomes a key frame."""

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
        self._encoder = encoder = self._encoder or FrameEncoder(frame, self._size)
        time_ms, reward, flags = self._head(step)
        self._put(encoder.encode(frame, step=step, time_ms=time_ms, reward=reward, flags=flags))
        self._palette = encoder.palette if encoder.palette is not None else self._palette

    def add_scene(self, step: int, payload: bytes, *, fresh: bool) -> None:
        time_ms, reward, flags = self._head(step)
        head = pack_header(SCENE_FRAME, flags | (FRESH if fresh else 0), 0, step, 0, time_ms, finite_reward(reward))
        self._put(head + payload)

    def add_land(self, payload: bytes) -> None:
        self._put(pack_header(LAND_FRAME, 0, 0, 0, 0, 0, 0.0) + payload)

    def _head(self, step: int) -> tuple[int, float, int]:
        first = max(0, step - 1) if self._rewarded is None else self._rewarded
        self._rewarded = step
        reward = total_of(self._rewards[first:step])
        return round(1000 * step / self._rate), reward, LAST_FRAME if step == self._num_steps else 0

    def _put(self, message: bytes) -> None:
        self._parts += [_LENGTH.pack(len(message)), message]

    @property
    def body(self) -> bytes:
        return b"".join(self._parts)

    @property
    def palette(self) -> str | None:
        """The palette of all frames, in base64. One palette serves all, because later colours are only ever added to it."""
        return palette_text(self._palette)
