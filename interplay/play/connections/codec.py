"""Encode and decode frames: as palette indices (compressed XOR deltas), or as JPEG for pictures with many colours.

A palette frame is lossless and costs about 100 bytes and 10 us for Atari. A JPEG loses detail and costs more, but natural
pictures compress badly as deltas. A world begins with a palette if its first picture has at most 256 colours, and changes to
JPEG at its 257th colour.
"""

from __future__ import annotations

import base64
import functools
from typing import Any, Literal

import numpy as np
from isal import isal_zlib

from interplay.envs import Frame
from interplay.play.connections import wire
from interplay.record.format.picture_changes import Change, PictureChanges, difference

Codec = Literal["palette", "jpeg"]
JPEG_QUALITY = 85
_MAX_REWARD = float(np.finfo(np.float32).max)
_RAW_DEFLATE = -15
_InflateError: type[Exception] = isal_zlib.error  # type: ignore[assignment] (its stub calls it a value)


class FrameEncoder:
    """Turns the frames of one seat into messages. Each delta gives the difference from the frame encoded before it.

    Args:
        first: The first frame, which decides the coding; it is not encoded yet.
        size: (height, width) of the full picture, for a world whose pictures are sometimes smaller; None if all pictures have
            the size of the first.

    Attributes:
        palette: uint8, shape (256, 3), when the codec is `palette`.
        height, width: Size of the full picture. Smaller pictures are sent as JPEG, which contains its own size.
    """

    codec: Codec

    def __init__(self, first: Frame, size: tuple[int, int] | None = None) -> None:
        self.height, self.width = size or first.pixels.shape[:2]
        self._resizes = size is not None
        self.palette: np.ndarray | None = None
        self._colours: ColourTable | None = None
        self._changes = PictureChanges(self.height, self.width)
        self._last_step = -1
        self._last_ms = 0
        self._last_jpeg: bytes | None = None
        self._needs_key = True
        self._notices: list[str] = []
        if first.palette is not None:
            self.codec, self.palette = "palette", first.palette
            return
        self._colours = ColourTable(self.height, self.width)
        if first.pixels.shape[:2] != (self.height, self.width) or self._colours.indices(first.pixels) is None:
            self.codec = "jpeg"
        else:
            self.codec, self.palette = "palette", self._colours.palette

    def welcome(self) -> dict[str, Any]:
        return {"width": self.width, "height": self.height, "codec": self.codec, "palette": palette_text(self.palette)}

    def request_key(self) -> None:
        self._needs_key = True

    def take_notices(self) -> list[str]:
        """Return the JSON messages that must reach the client before the frame just encoded; usually the list is empty."""
        if not self._notices:
            return self._notices
        notices, self._notices = self._notices, []
        return notices

    def encode(
        self,
        frame: Frame,
        *,
        step: int,
        time_ms: int,
        reward: float,
        flags: int = 0,
        change: Change | None = None,
    ) -> bytes:
        """Encode one frame as a message.

        Args:
            frame: The view of the player after `step` steps.
            change: Where the frame differs from the frame one step earlier; None if this is not known.
            time_ms: Milliseconds since the episode's clock started.
            reward: Sum of rewards since the last encoded frame, finite; sent as the nearest float32.
        Raises:
            ValueError: If the frame has another size than the first, and no `size` was given.
        """
        reward = finite_reward(reward)
        pixels = frame.pixels
        if pixels.shape[:2] != (self.height, self.width):
            if not self._resizes:
                height, width = pixels.shape[:2]
                raise ValueError(f"the picture changed its size from {self.width}x{self.height} to {width}x{height}")
            self._change_to_jpeg()
        if frame.palette is not None:
            if frame.palette is not self.palette:
                self._change_palette(frame.palette)
        else:
            indices = self._indices(pixels) if self.codec == "palette" else None
            if indices is None:
                head = wire.pack_header(wire.JPEG_FRAME, flags, 0, step, 0, time_ms, reward)
                self._last_jpeg = head + _jpeg(pixels)
                return self._last_jpeg
            pixels = indices
        if change is None or self._last_step < 0 or step != self._last_step + 1:
            change = self._changes.take(pixels)
        else:
            self._changes.follow(change)
        if self._needs_key:
            self._needs_key = False
            head = wire.pack_header(wire.KEY_FRAME, flags, 0, step, 0, time_ms, reward)
            payload = _deflate(self._changes.last)
        else:
            head = wire.pack_header(wire.DELTA_FRAME, flags, 0, step, self._last_step, time_ms, reward)
            size = self._changes.last.size
            payload = difference(size, change, _deflate) if len(change.places) else _nothing(size)
        self._last_step, self._last_ms = step, time_ms
        return head + payload

    def standing(self) -> bytes | None:
        """Return the last frame as a message that stands alone, for a new watcher; None before the first frame. The call does
        not change later frames."""
        if self.codec == "jpeg":
            return self._last_jpeg
        if self._last_step < 0:
            return None
        head = wire.pack_header(wire.KEY_FRAME, 0, 0, self._last_step, 0, self._last_ms, 0.0)
        return head + _deflate(self._changes.last)

    def _change_palette(self, palette: np.ndarray) -> None:
        """Set the palette. If its values have changed, announce it and send a key frame next, since the old indices mean other
        colours."""
        changed = self.codec != "palette" or self.palette is None or not np.array_equal(palette, self.palette)
        self.palette = palette
        if changed:
            if self.codec != "palette":
                self.codec = "palette"
                self._notices.append(wire.text("codec", codec="palette"))
            self._notices.append(wire.text("palette", palette=palette_text(palette)))
            self._needs_key = True

    def _change_to_jpeg(self) -> None:
        if self.codec != "jpeg":
            self.codec, self.palette = "jpeg", None
            self._notices.append(wire.text("codec", codec="jpeg"))

    def _indices(self, rgb: np.ndarray) -> np.ndarray | None:
        """Return the palette indices of an RGB picture. If it has too many colours, change to JPEG and return None."""
        assert self._colours is not None
        known = self._colours.num_colours
        indices = self._colours.indices(rgb)
        if indices is None:
            self._change_to_jpeg()
            return None
        if self._colours.num_colours != known:
            self.palette = self._colours.palette
            self._notices.append(wire.text("palette", palette=palette_text(self.palette)))
        return indices


def _deflate(picture: Any) -> bytes:
    return isal_zlib.compress(picture, 1, _RAW_DEFLATE)


@functools.cache
def _nothing(num_pixels: int) -> bytes:
    return _deflate(bytes(num_pixels))


def picture_alone(frame: Frame, *, step: int, time_ms: int) -> bytes:
    """Encode a picture as a frame message of its own, outside any stream: always a JPEG."""
    pixels = frame.pixels if frame.palette is None else frame.palette[frame.pixels]
    return wire.pack_header(wire.JPEG_FRAME, 0, 0, step, 0, time_ms, 0.0) + _jpeg(pixels)


def _jpeg(pixels: np.ndarray) -> bytes:
    import simplejpeg

    picture = np.ascontiguousarray(pixels)
    return simplejpeg.encode_jpeg(picture, quality=JPEG_QUALITY, colorspace="RGB", colorsubsampling="420", fastdct=True)


def finite_reward(reward: float) -> float:
    """Return the finite float32 that is nearest to a finite reward.

    >>> finite_reward(1e300) == float(np.finfo(np.float32).max)
    True
    """
    return max(-_MAX_REWARD, min(reward, _MAX_REWARD))


class ColourTable:
    """Gives each new colour an index, for up to 256 colours; it is fast on pictures that change little.

    A colour's slot is 16 bits of its 24-bit value times a multiplier. The multiplier is drawn again until no two known colours
    share a slot. Every look-up is checked, so a wrong answer is impossible.
    """

    MAX_COLOURS = 256

    def __init__(self, height: int, width: int) -> None:
        self.num_colours = 0
        self._values = np.zeros(self.MAX_COLOURS, np.uint32)
        self._slots = np.zeros(1 << 16, np.uint8)
        self._multiplier = np.uint32(0x9E3779B1)
        self._bytes = np.zeros((height, width, 4), np.uint8)
        self._packed = self._bytes.view(np.uint32)[..., 0]
        self._previous = np.full((height, width), 0xFFFFFFFF, np.uint32)
        self._indices = np.zeros((height, width), np.uint8)

    @property
    def palette(self) -> np.ndarray:
        """uint8, shape (256, 3); unused entries are black."""
        return np.ascontiguousarray(self._values.view(np.uint8).reshape(-1, 4)[:, :3])

    def indices(self, rgb: np.ndarray) -> np.ndarray | None:
        """Return the index of every pixel of an RGB picture: uint8, shape (H, W), reused by the next call; None if a 257th
        colour appears."""
        self._bytes[..., :3] = rgb
        rows = np.flatnonzero((self._packed != self._previous).any(axis=1))
        if rows.size == 0:
            return self._indices
        changed = slice(int(rows[0]), int(rows[-1]) + 1)
        packed = self._packed[changed]
        found = self._look_up(packed)
        unknown = self._values[found] != packed
        if self.num_colours == 0:
            unknown[:] = True
        if unknown.any():
            if not self._learn(np.unique(packed[unknown])):
                return None
            found = self._look_up(packed)
        self._indices[changed] = found
        self._previous[changed] = packed
        return self._indices

    def _look_up(self, packed: np.ndarray) -> np.ndarray:
        return self._slots[(packed * self._multiplier) >> np.uint32(16)]

    def _learn(self, colours: np.ndarray) -> bool:
        total = self.num_colours + len(colours)
        if total > self.MAX_COLOURS:
            return False
        self._values[self.num_colours : total] = colours
        self.num_colours = total
        known = self._values[:total]
        rng = np.random.default_rng(total)  # any draw will do; a fixed seed makes the choice repeatable
        while True:
            slots = (known * self._multiplier) >> np.uint32(16)
            if len(np.unique(slots)) == total:
                break
            self._multiplier = np.uint32(rng.integers(1 << 31) * 2 + 1)
        self._slots[:] = 0
        self._slots[slots] = np.arange(total, dtype=np.uint8)
        return True


class OutOfStepError(ValueError):
    """A delta frame builds on a frame other than the current one. Ask for a key frame."""


class FrameDecoder:
    """Applies frame messages to a picture, in place.

    Attributes:
        pixels: uint8, shape (H, W) palette indices, or (H, W, 3) RGB once a JPEG came; valid after the first message.
        step: The step of `pixels`; -1 before the first message.
    """

    def __init__(self, width: int, height: int, palette: np.ndarray | None) -> None:
        self.palette = palette
        self.step = -1
        self._indices = np.zeros((height, width), np.uint8)
        self._flat = self._indices.reshape(-1)
        self.pixels = self._indices

    def apply(self, message: bytes) -> wire.FrameHeader:
        """Decode one message into `pixels`; return its header. Raises `OutOfStepError` if it is a delta against another frame,
        `ProtocolError` if it is no frame message of this picture's size."""
        header = wire.unpack_header(message)
        if header.kind == wire.JPEG_FRAME:
            import simplejpeg

            self.pixels = simplejpeg.decode_jpeg(message[wire.HEADER_BYTES :])
            self.step = header.step
            return header
        if header.kind == wire.DELTA_FRAME and header.base_step != self.step:
            raise OutOfStepError(f"frame {header.step} builds on frame {header.base_step}; the current frame is {self.step}")
        try:
            payload = isal_zlib.decompress(memoryview(message)[wire.HEADER_BYTES :], _RAW_DEFLATE, self._flat.size)
        except _InflateError as error:
            raise wire.ProtocolError(f"frame {header.step} cannot be decompressed: {error}") from None
        if len(payload) != self._flat.size:
            raise wire.ProtocolError(f"frame {header.step} holds {len(payload)} pixels, expected {self._flat.size}")
        values = np.frombuffer(payload, np.uint8)
        if header.kind == wire.DELTA_FRAME:
            np.bitwise_xor(self._flat, values, out=self._flat)
        elif header.kind == wire.KEY_FRAME:
            np.copyto(self._flat, values)
        else:
            raise wire.ProtocolError(f"unknown kind of frame {header.kind}")
        self.pixels = self._indices
        self.step = header.step
        return header

    def frame(self) -> Frame:
        """The current frame; the next message reuses its array."""
        return Frame(self.pixels, self.palette if self.pixels is self._indices else None)


def palette_text(palette: np.ndarray | None) -> str | None:
    """Return a palette in the form that messages use: base64 of 768 bytes."""
    return None if palette is None else base64.b64encode(np.ascontiguousarray(palette, np.uint8).tobytes()).decode()


def palette_from_text(text: str | None) -> np.ndarray | None:
    return None if text is None else np.frombuffer(base64.b64decode(text), np.uint8).reshape(256, 3)
