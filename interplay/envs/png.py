"""A frame as PNG, written without a picture library."""

from __future__ import annotations

import struct
import zlib

import numpy as np

from interplay.envs.base import Frame


def png(frame: Frame, *, level: int = 9) -> bytes:
    """A frame as PNG, with its palette where it has one; `level` is zlib's, 1 quick to 9 small."""
    pixels = np.ascontiguousarray(frame.pixels)
    height, width = pixels.shape[:2]
    colour_type = 2 if frame.palette is None else 3
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], axis=1)  # each row: filter 0, data
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, colour_type, 0, 0, 0))]
    if frame.palette is not None:
        chunks.append((b"PLTE", frame.palette.tobytes()))
    chunks += [(b"IDAT", zlib.compress(rows.tobytes(), level)), (b"IEND", b"")]
    body = b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + body
