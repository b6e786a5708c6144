"""Outlines of blocks: the boxes that a look or a click can hit. Bodies collide with other boxes, the collision boxes.

A torch stops no body but can be aimed at; a fence is 1.5 high for a body and 1 high for a look. Sizes are those of the
black outline in the game.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from blockworld.registry.blocks import BLOCKS, BOX_START, BOXES, NUM_BOXES, NUM_STATES, SMALL_FLOWERS, properties_of

Box = tuple[float, float, float, float, float, float]

FULL: Box = (0, 0, 0, 16, 16, 16)
NOTHING = frozenset({"air", "cave_air", "void_air", "water", "lava", "bubble_column", "structure_void", "moving_piston"})
"""Blocks that a look passes through."""

_COLLIDES_LOWER = {"soul_sand": FULL, "honey_block": FULL, "cactus": (1, 0, 1, 15, 16, 15), "scaffolding": FULL}
_SIZES: Mapping[str, Box] = {
    "torch": (6, 0, 6, 10, 10, 10),
    "soul_torch": (6, 0, 6, 10, 10, 10),
    "redstone_torch": (6, 0, 6, 10, 10, 10),
    "grass": (2, 0, 2, 14, 13, 14),
    "fern": (2, 0, 2, 14, 13, 14),
    "dead_bush": (2, 0, 2, 14, 13, 14),
    "seagrass": (2, 0, 2, 14, 12, 14),
    "brown_mushroom": (5, 0, 5, 11, 6, 11),
    "red_mushroom": (5, 0, 5, 11, 6, 11),
    "crimson_fungus": (4, 0, 4, 12, 9, 12),
    "warped_fungus": (4, 0, 4, 12, 9, 12),
    "crimson_roots": (2, 0, 2, 14, 13, 14),
    "warped_roots": (2, 0, 2, 14, 13, 14),
    "nether_sprouts": (2, 0, 2, 14, 3, 14),
    "sugar_cane": (2, 0, 2, 14, 16, 14),
    "kelp": (0, 0, 0, 16, 9, 16),
    "bamboo_sapling": (4, 0, 4, 12, 12, 12),
    "redstone_wire": (1, 0, 1, 15, 1, 15),
    "tripwire": (0, 1, 0, 16, 2.5, 16),
    "fire": (0, 0, 0, 16, 1, 16),
    "soul_fire": (0, 0, 0, 16, 1, 16),
    "snow": (0, 0, 0, 16, 2, 16),
    "sea_pickle": (6, 0, 6, 10, 6, 10),
}
_ENDINGS: tuple[tuple[str, Box], ...] = (
    ("_sapling", (2, 0, 2, 14, 12, 14)),
    ("_sign", (4, 0, 4, 12, 16, 12)),
    ("_banner", (4, 0, 4, 12, 16, 12)),
    ("_pressure_plate", (1, 0, 1, 15, 1, 15)),
    ("rail", (0, 0, 0, 16, 2, 16)),
    ("_coral", (2, 0, 2, 14, 15, 14)),
    ("_coral_fan", (2, 0, 2, 14, 4, 14)),
)
# On a wall that lies to the south, facing north; turned for the others.
_WALL_ENDINGS: tuple[tuple[str, Box], ...] = (
    ("wall_torch", (5.5, 3, 11, 10.5, 13, 16)),
    ("wall_sign", (0, 4.5, 14, 16, 12.5, 16)),
    ("wall_banner", (0, 0, 14, 16, 12.5, 16)),
    ("tripwire_hook", (5, 0, 10, 11, 10, 16)),
    ("wall_fan", (0, 4, 5, 16, 12, 16)),
)
_GROWING = {"wheat": 2, "carrots": 1, "potatoes": 1, "beetroots": 2, "nether_wart": 3, "pumpkin_stem": 2, "melon_stem": 2}


def turned(box: Box, facing: str) -> Box:
    x0, y0, z0, x1, y1, z1 = box
    if facing == "south":
        return (16 - x1, y0, 16 - z1, 16 - x0, y1, 16 - z0)
    if facing == "east":
        return (16 - z1, y0, x0, 16 - z0, y1, x1)
    if facing == "west":
        return (z0, y0, 16 - x1, z1, y1, 16 - x0)
    return box


def _attached(name: str, values: Mapping[str, str]) -> Box:
    high = 6 if name == "lever" else (1 if values["powered"] == "true" else 2)
    half = 4 if name == "lever" else 3
    if values["face"] == "wall":
        low, top = (4, 12) if name == "lever" else (6, 10)
        return turned((8 - 3, low, 16 - high, 8 + 3, top, 16), values["facing"])
    y0, y1 = (0, high) if values["face"] == "floor" else (16 - high, 16)
    deep = (8 - half, y0, 8 - half, 8 + half, y1, 8 + half) if name == "lever" else (5, y0, 6, 11, y1, 10)
    return turned(deep, values["facing"])


def _without_collision(name: str, values: Mapping[str, str]) -> list[Box]:
    """Outline of a block state that has no collision, in sixteenths of a block."""
    if name in _SIZES:
        return [_SIZES[name]]
    if name in SMALL_FLOWERS:
        return [(5, 0, 5, 11, 10, 11)]
    if name == "lever" or name.endswith("_button"):
        return [_attached(name, values)]
    if name.endswith("_fence_gate"):
        return [(0, 0, 6, 16, 16, 10) if values["facing"] in ("north", "south") else (6, 0, 0, 10, 16, 16)]
    if name == "vine":
        sides = [turned((0, 0, 0, 16, 16, 1), side) for side in ("north", "east", "south", "west") if values[side] == "true"]
        return [*sides, *([(0, 15, 0, 16, 16, 16)] if values["up"] == "true" else [])] or [FULL]
    if name == "sweet_berry_bush":
        return [(3, 0, 3, 13, 8, 13) if values["age"] == "0" else (1, 0, 1, 15, 16, 15)]
    if name in _GROWING:
        tall = min(16, _GROWING[name] * (int(values["age"]) + 1) + (2 if name == "nether_wart" else 0))
        return [(7, 0, 7, 9, tall, 9) if "stem" in name else (0, 0, 0, 16, tall, 16)]
    for ending, box in _WALL_ENDINGS:
        if name.endswith(ending):
            return [turned(box, values["facing"])]
    for ending, box in _ENDINGS:
        if name.endswith(ending):
            return [box]
    return [FULL]


def _outlines() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    starts, counts = np.zeros(NUM_STATES, np.int32), np.zeros(NUM_STATES, np.int32)
    rows: list[Box] = []
    known: dict[tuple[Box, ...], int] = {}
    for block in BLOCKS:
        if block.name in NOTHING:
            continue
        for state in range(block.first, block.first + block.num_states):
            if block.name in _COLLIDES_LOWER:
                boxes = (_COLLIDES_LOWER[block.name],)
            elif block.name == "snow":
                boxes = ((0, 0, 0, 16, 2 * int(properties_of(state)["layers"]), 16),)
            elif NUM_BOXES[state]:
                found = BOXES[BOX_START[state] : BOX_START[state] + NUM_BOXES[state]] * 16
                boxes = tuple((x0, y0, z0, x1, min(y1, 16.0), z1) for x0, y0, z0, x1, y1, z1 in found.tolist())
            else:
                boxes = tuple(_without_collision(block.name, properties_of(state)))
            if boxes not in known:
                known[boxes] = len(rows)
                rows.extend(boxes)
            starts[state], counts[state] = known[boxes], len(boxes)
    return starts, counts, np.array(rows, np.float64) / 16


OUTLINE_START, NUM_OUTLINES, OUTLINES = _outlines()
"""Outline boxes of each state, in the same form as the collision boxes `BOX_START`, `NUM_BOXES`, `BOXES` of `blocks`."""
