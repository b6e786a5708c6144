"""Pictures without loss: PNG there and back, with its palette where it has one."""

from __future__ import annotations

import numpy as np

from interplay.envs.base import Frame
from interplay.envs.png import png
from interplay.record.errors import RecordingError

_LEVEL = 6
"""zlib's; 9 takes three times as long and gains a hundredth."""


def to_png(frame: Frame) -> bytes:
    return png(frame, level=_LEVEL)


def from_png(data: bytes, palette: np.ndarray | None, height: int, width: int) -> Frame:
    """A picture of its PNG.

    Args:
        palette: uint8, shape (256, 3): of which its colours are indices; None for RGB.
        height, width: Which it must have; of another one nothing is unpacked.
    Raises:
        RecordingError: If it is no such picture.
    """
    import av
    from av.error import FFmpegError

    try:
        if data[12:24] != b"IHDR" + width.to_bytes(4) + height.to_bytes(4):
            raise ValueError(f"it is not a PNG of {width} x {height}")
        decoder = av.CodecContext.create("png", "r")
        (picture,) = [*decoder.decode(av.Packet(data)), *decoder.decode(None)]  # type: ignore[attr-defined]
        if palette is None:
            return Frame(picture.to_ndarray(format="rgb24"))
        pixels = picture.to_ndarray()
        return Frame(pixels[0] if isinstance(pixels, tuple) else pixels, palette)
    except (FFmpegError, ValueError, TypeError) as error:
        raise RecordingError(f"a picture of the data set cannot be read: {error}\nFetch or export it again.") from error
