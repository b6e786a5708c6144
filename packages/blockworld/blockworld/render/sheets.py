"""Pictures for drawing the world: PNG files in `blockworld/data`, each with a JSON file that says where its pictures are.

`data/README.md` lists the files. They are read when first used, and any picture editor can change them.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from functools import cache
from importlib import resources

import numpy as np
from numba import njit

from blockworld.errors import WorldError
from blockworld.registry.facts import table

Colour = tuple[int, int, int]
"""Red, green and blue, 0 to 255."""
SIDE = 16
"""Width and height of textures and items, in pixels."""
_RGBA = (8, 6, 0)
"""Values that the header of a PNG must have: bits per channel, colour type (RGBA), interlacing (none)."""


@njit(cache=True)
def _unfilter(rows, out):
    """Undo the filters of PNG rows (W3C, "Portable Network Graphics", section 9); a row is a filter's number and bytes."""
    for y in range(out.shape[0]):
        kind = rows[y, 0]
        for x in range(out.shape[1]):
            left = np.int64(out[y, x - 4]) if x >= 4 else 0
            up = np.int64(out[y - 1, x]) if y else 0
            corner = np.int64(out[y - 1, x - 4]) if x >= 4 and y else 0
            guess = 0
            if kind == 1:
                guess = left
            elif kind == 2:
                guess = up
            elif kind == 3:
                guess = (left + up) // 2
            elif kind == 4:
                a, b, c = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
                guess = left if a <= b and a <= c else up if b <= c else corner
            out[y, x] = (rows[y, x + 1] + guess) & 255


def _decoded(data: bytes) -> np.ndarray:
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        raise ValueError("it is no PNG")
    at, packed, width, height = 8, b"", 0, 0
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        body, check = data[at + 8 : at + 8 + length], data[at + 8 + length : at + 12 + length]
        if zlib.crc32(kind + body).to_bytes(4) != check:
            raise ValueError("its bytes are damaged")
        if kind == b"IHDR":
            width, height, bits, colours, _, _, interlaced = struct.unpack(">IIBBBBB", body)
            if (bits, colours, interlaced) != _RGBA:
                raise ValueError("its pixels are not stored as 8-bit RGBA without interlacing")
        elif kind == b"IDAT":
            packed += body
        at += 12 + length
    out = np.empty((height, 4 * width), np.uint8)
    _unfilter(np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 4 * width + 1), out)
    return out.reshape(height, width, 4)


@cache
def picture(name: str) -> np.ndarray:
    """Read a file of `blockworld/data`, named without `.png`: uint8, shape (H, W, 4), RGBA; the array is not writeable.

    Raises:
        WorldError: If the file cannot be read.
    """
    file = resources.files("blockworld") / "data" / f"{name}.png"
    try:
        pixels = _decoded(file.read_bytes())
    except (OSError, ValueError, struct.error, zlib.error) as error:
        raise WorldError(
            f"the pictures in {file} cannot be read: {error}\n"
            "Save it as a PNG with 8-bit RGBA that is not interlaced, or install the package again."
        ) from error
    pixels.flags.writeable = False
    return pixels


@cache
def tiles(name: str) -> Mapping[str, np.ndarray]:
    """Map the names of the 16 x 16 pictures in a file to uint8, shape (16, 16, 4); its JSON lists the names row by row.

    Raises:
        WorldError: If the files cannot be read, or do not fit together.
    """
    sheet, rows = picture(name), table(name)
    expected = (SIDE * max(map(len, rows)), SIDE * len(rows))
    if expected != (sheet.shape[1], sheet.shape[0]):
        raise WorldError(
            f"{name}.png is {sheet.shape[1]} x {sheet.shape[0]} pixels, but the names in {name}.json need "
            f"{expected[0]} x {expected[1]}: 16 x 16 for each picture, one row of names for each row of pictures"
        )
    return {
        one: sheet[SIDE * y : SIDE * (y + 1), SIDE * x : SIDE * (x + 1)]
        for y, row in enumerate(rows)
        for x, one in enumerate(row)
    }


@cache
def pieces(name: str) -> Mapping[str, np.ndarray]:
    """Map the names of the pictures in a file to uint8, shape (H, W, 4); its JSON has x, y, width and height of each.

    Raises:
        WorldError: If the files cannot be read, or do not fit together.
    """
    sheet, found = picture(name), {}
    for row in table(name):
        x, y, width, height = row["box"]
        found[row["name"]] = sheet[y : y + height, x : x + width]
        if found[row["name"]].shape[:2] != (height, width):
            raise WorldError(
                f"{name}.json has {row['name']!r} at {row['box']} (x, y, width, height), beyond the "
                f"{sheet.shape[1]} x {sheet.shape[0]} pixels of {name}.png"
            )
    return found
