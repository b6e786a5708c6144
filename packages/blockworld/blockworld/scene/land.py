"""The land for a browser: sections of 16 x 16 x 16 cells, sent in parts of 32 x 32 columns, or one by one if land is hidden.

Parts that have not changed since generation are compressed once per process and kept while a world of that land exists.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from blockworld.grid.grid import Grid
from blockworld.scene import packing
from blockworld.world_state import WorldState

SECTION = 16
PART = 32
"""Columns along each side of a part."""
Section = tuple[int, int, int]
"""A section, given by its low corner divided by 16: x, y, z."""
Part = tuple[int, int]
"""A part, given by its low corner divided by 32: x, z."""

_KEPT: WeakKeyDictionary[Grid, dict[Part, packing.Body]] = WeakKeyDictionary()
"""Cache of parts as generated, by the land's grid, which all worlds of that land share; `Body.data` is deflated."""


def away(part: Part, x: float, z: float) -> tuple[float, Part]:
    """Key for sorting parts: the distance in blocks from a column, then the part itself."""
    off = [max(corner * PART - at, at - corner * PART - PART, 0.0) for corner, at in zip(part, (x, z), strict=True)]
    return math.hypot(*off), part


def parts_of(size: tuple[int, int, int]) -> list[Part]:
    return [(px, pz) for px in range(math.ceil(size[0] / PART)) for pz in range(math.ceil(size[2] / PART))]


def sections_of(size: tuple[int, int, int], part: Part) -> list[Section]:
    """Return the sections of a part: 4 in every layer of 16 cells."""
    ends = [math.ceil(side / SECTION) for side in size]
    step = PART // SECTION
    return [
        (x, y, z)
        for x in range(part[0] * step, min(ends[0], part[0] * step + step))
        for z in range(part[1] * step, min(ends[2], part[1] * step + step))
        for y in range(ends[1])
    ]


def sections(grid: Grid, wanted: Iterable[Section]) -> packing.Body:
    """Make the deflated body of a land frame with these sections; docs/protocol.md explains the fields."""
    wanted = list(wanted)
    blocks = np.empty((len(wanted), SECTION, SECTION, SECTION), np.uint16)
    lights = np.empty(blocks.shape, np.uint8)
    for row, (x, y, z) in enumerate(wanted):
        box = tuple(slice(at * SECTION, at * SECTION + SECTION) for at in (x, z, y))
        blocks[row], lights[row] = grid.blocks[box], grid.light[box]
    palette, cells = np.unique(blocks, return_inverse=True)
    cells = cells.reshape(blocks.shape).astype(np.uint8 if len(palette) <= 256 else np.uint16)
    at = np.array(wanted, np.uint8).reshape(-1, 3)
    found = packing.body({"at": at, "palette": palette, "cells": cells, "lights": lights})
    return packing.Body(found.places, packing.deflate(found.data))


def part(world: WorldState, which: Part) -> packing.Body:
    square = tuple(slice(at * PART, at * PART + PART) for at in which)
    grid, first = world.grid, world.first
    if np.array_equal(grid.blocks[square], first.blocks[square]) and np.array_equal(grid.light[square], first.light[square]):
        return generated(world, which)
    return sections(grid, sections_of(grid.size, which))


def generated(world: WorldState, which: Part) -> packing.Body:
    """Return the sections of a part as generated, from the cache if possible."""
    first = world.first
    kept = _KEPT.setdefault(first, {})
    if which not in kept:
        kept[which] = sections(first, sections_of(first.size, which))
    return kept[which]


def message(document: dict[str, Any], found: packing.Body) -> bytes:
    return packing.deflate_before(packing.head(document, found.places), found.data)
