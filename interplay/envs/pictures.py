"""The 128 colours of an NTSC Atari 2600, as the Arcade Learning Environment shows them, and PNG files of frames.

The colours were measured: registers of the emulator were set one after the other, and the RGB screen was read. Screens hold
only even indices (the console ignores bit 0), so entry i of the table is index 2 i.
"""

from __future__ import annotations

import struct
import zlib

import numpy as np

from interplay.envs.base import Frame

_RGB = (
    "0000004a4a4a6f6f6f8e8e8eaaaaaac0c0c0d6d6d6ececec48480069690f86861da2a22abbbb35d2d240e8e84afcfc54"
    "7c2c00904811a26221b47a30c3903dd2a44adfb755ecc860901c00a33915b55328c66c3ad5824ae39759f0aa67fcbc74"
    "940000a71a1ab83232c84848d65c5ce46f6ff08080fc909084006497197aa8308fb846a2c659b3d46cc3e07cd2ec8ce0"
    "50008468199a7d30ad9246c0a459d0b56ce0c57ceed48cfc140090331aa34e32b56848c67f5cd5956fe3a980f0bc90fc"
    "000094181aa72d32b84248c8545cd6656fe47580f08490fc001c88183b9d2d57b04272c2548ad265a0e175b5ef84c8fc"
    "0030641850802d6d984288b054a0c565b7d975cceb84e0fc00403018624e2d8169429e8254b89965d1ae75e7c284fcd4"
    "0044001a661a32843248a0485cba5c6fd26f80e88090fc90143c00355f18527e2d6e9c4287b7549ed065b4e775c8fc84"
    "3038005059166d762b88923ea0ab4fb7c25fccd86ee0ec7c482c00694d14866a26a28638bb9f47d2b656e8cc63fce070"
)

PALETTE = np.repeat(np.frombuffer(bytes.fromhex(_RGB), np.uint8).reshape(128, 3), 2, axis=0)
"""uint8, shape (256, 3): palette index to RGB."""
PALETTE.flags.writeable = False

LUMA = np.rint(PALETTE @ (0.299, 0.587, 0.114)).astype(np.uint8)
"""uint8, shape (256,): palette index to grey, ITU-R BT.601 luma as the emulator computes it."""
LUMA.flags.writeable = False


def png(frame: Frame, *, level: int = 9) -> bytes:
    """Return a frame as PNG, with its palette if it has one; `level` is zlib's level, from 1 (quick) to 9 (small)."""
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
