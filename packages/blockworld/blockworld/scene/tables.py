"""Tables for a browser (states, textures, tiling pictures) in one file, which never changes within a release."""

from __future__ import annotations

import hashlib
from functools import cache
from typing import NamedTuple

import numpy as np

from blockworld.raycaster.records import LEVELS
from blockworld.render import renderer
from blockworld.render.textures import atlas, texture
from blockworld.scene import packing

NUM_CRACKS = 10


class StaticTables(NamedTuple):
    """The file with the tables.

    Attributes:
        digest: The file's name: the first 16 hexadecimal digits of the SHA-256 of `data`.
        data: The content: a packed message, deflated.
    """

    digest: str
    data: bytes


@cache
def static_tables() -> StaticTables:
    """Return the tables; the first call in a process takes about a second. docs/protocol.md explains the fields."""
    info, faces, ranges, boxes, box_faces, height, glow, _, _ = renderer.tables()
    ranges, boxes = ranges.view(np.int32).reshape(-1, 2), boxes.view(np.float32).reshape(-1, 6)
    cracks = np.array([texture(f"crack_{stage}") for stage in range(NUM_CRACKS)], np.int32)
    faces = np.where(info[:, None] & 15, faces, -1)  # air shows none
    # In the order of their first use, so that the file does not depend on what this process painted before.
    used, first = np.unique(np.concatenate([faces.ravel(), box_faces.ravel(), cracks]), return_index=True)
    used, first = used[used >= 0], first[used >= 0]
    used = used[np.argsort(first)]
    number = np.full(len(atlas()) + 1, -1, np.int32)  # the last stands for no face at all
    number[used] = np.arange(len(used))

    states = np.zeros((len(info), 8), np.uint32)
    faces = number[faces].astype(np.uint16).astype(np.uint32)
    states[:, 0] = info
    states[:, 1:4] = faces[:, ::2] | faces[:, 1::2] << 16
    states[:, 4] = ranges[:, 0].astype(np.uint32) | ranges[:, 1].astype(np.uint32) << 24
    states[:, 5], states[:, 6] = height.view(np.uint32), glow.view(np.uint32)
    rows = np.zeros((len(boxes), 12), np.float32)
    box_faces = number[box_faces]
    rows[:, 0:3], rows[:, 3], rows[:, 4:7], rows[:, 7:] = boxes[:, :3], box_faces[:, 0], boxes[:, 3:], box_faces[:, 1:]

    pages, starts = renderer.pyramid(atlas()[used])
    arrays = {"states": states, "boxes": rows, "pages": _from_larger(pages.view(np.uint8).reshape(-1, 4), starts)}
    document: dict[str, object] = {"textures": len(used), "levels": LEVELS, "cracks": number[cracks].tolist()}
    for name, values in zip(("land", "clouds", "ripples"), renderer.scenery(), strict=True):
        offset, scale = float(values.min()), float(values.max() - values.min())
        arrays[name] = _from_neighbours(np.round((values - offset) * (255 / scale)).astype(np.uint8))
        document[name] = {"offset": offset, "scale": scale}
    data = packing.deflate(packing.pack(document, arrays), 9)
    return StaticTables(hashlib.sha256(data).hexdigest()[:16], data)


def _from_larger(pages: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Replace smaller textures by differences, modulo 256, from the mean of four pixels of the larger one: 1/3 of the bytes."""
    levels = [level.copy() for level in np.split(pages, starts[1:])]
    for number in range(LEVELS - 1, 0, -1):
        side = 16 >> number
        four = levels[number - 1].reshape(-1, side, 2, side, 2, 4).sum((2, 4), dtype=np.uint16)
        levels[number] -= (four >> 2).astype(np.uint8).reshape(-1, 4)
    return np.concatenate(levels)


def _from_neighbours(values: np.ndarray) -> np.ndarray:
    """Replace values by differences, modulo 256, from the previous value on the first two axes, to compress better."""
    return np.diff(np.diff(values, axis=0, prepend=np.uint8(0)), axis=1, prepend=np.uint8(0))
