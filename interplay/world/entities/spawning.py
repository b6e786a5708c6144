"""Monsters come in the dark and go when they are far: rules of Minecraft 1.16; around each player in turn.

Differences: monsters come 24 to 64 blocks away and not up to 128; they vanish at 96 blocks and not at 128, and none vanishes by
chance beyond 32; at most 20 live at once and not 70.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from interplay.world.grid.light import OPAQUE
from interplay.world.grid.physics import FLUID_KIND, is_free
from interplay.world.registry.blocks import BOX_START, BOXES, NUM_BOXES
from interplay.world.registry.entity_types import HEIGHTS, HOSTILE, KIND, KINDS, NUM_THINGS, PERSISTENT, TEMPERS, WIDTHS
from interplay.world.state import Player

if TYPE_CHECKING:
    from interplay.world.world import World

MOST_HOSTILE = 20
NEAREST, FARTHEST = 24.0, 64.0
"""Blocks from the player at which monsters come."""
GONE = 96.0
"""Blocks from the player at which they vanish."""
DARK = 8
"""They come where there is less light than this."""
_TRIES = 4
_CHANCES = (("zombie", 95), ("skeleton", 100), ("spider", 100), ("creeper", 100), ("enderman", 10), ("witch", 5))
_NAMES = tuple(name for name, _ in _CHANCES)
_UP_TO = (np.cumsum([weight for _, weight in _CHANCES]) / sum(weight for _, weight in _CHANCES)).tolist()
_ALONE = (TEMPERS == HOSTILE) | (np.arange(len(KINDS)) == KIND["enderman"])
_COMES_ALONE: np.ndarray = np.append(_ALONE & (np.arange(len(KINDS)) >= NUM_THINGS), False)
"""bool, by kind; the last for free rows, whose kind is -1."""
_FULL: np.ndarray = OPAQUE & (NUM_BOXES == 1) & (BOXES[BOX_START.clip(max=len(BOXES) - 1)] == (0, 0, 0, 1, 1, 1)).all(axis=1)


def darkening(time: int) -> int:
    """How much of the sky's light, of 15, the time of day takes: 0 at noon, 11 at midnight (minecraft.wiki, "Light")."""
    turn = (time / 24000 - 0.25) % 1.0
    turn = (turn * 2 + 0.5 - math.cos(turn * math.pi) / 2) / 3
    return int((1 - min(1.0, max(0.0, math.cos(turn * 2 * math.pi) * 2 + 0.5))) * 11)


def tick(world: World) -> None:
    """Let monsters go that are too far off or unwanted, and some come."""
    rows = world.entities
    hostile = np.flatnonzero(_COMES_ALONE[rows["kind"]])
    number = len(hostile)
    peaceful = world.difficulty == "peaceful"
    if number:
        they = rows[hostile]
        if peaceful:
            unwanted = TEMPERS[they["kind"]] == HOSTILE
        else:
            unwanted = reduce(np.logical_and, (_far(they, me) for me in world.players)) & (they["flags"] & PERSISTENT == 0)
        for row in hostile[unwanted].tolist():
            world.extras.pop(int(rows["id"][row]), None)
            rows["kind"][row] = -1
            number -= 1
    if world.rules.get("doMobSpawning") != "true" or peaceful:
        return
    # As many draws every tick, whether there is room or not.
    draws = world.rng.random((_TRIES, 4))
    me, dark = world.players[world.ticks % len(world.players)], darkening(world.time)
    for turn, distance, level, which in draws.tolist():
        if number < MOST_HOSTILE and _try(world, me, dark, turn, distance, level, which):
            number += 1


def _far(they: np.ndarray, me: Player) -> np.ndarray:
    return (they["x"] - me.x) ** 2 + (they["y"] - me.y) ** 2 + (they["z"] - me.z) ** 2 > GONE**2


def _try(world: World, me: Player, dark: int, turn: float, distance: float, level: float, which: float) -> bool:
    """Try one cell of one column around a player; whether a monster came."""
    grid = world.grid
    sx, sy, sz = grid.size
    far = NEAREST + distance * (FARTHEST - NEAREST)
    x, z = math.floor(me.x + math.cos(turn * 2 * math.pi) * far), math.floor(me.z + math.sin(turn * 2 * math.pi) * far)
    if not (0 <= x < sx and 0 <= z < sz):
        return False
    y = 1 + int(level * min(sy - 2, grid.top(x, z) + 1))
    if y < 1 or y >= sy - 2 or not _FULL[grid.blocks[x, z, y - 1]] or FLUID_KIND[grid.blocks[x, z, y]]:
        return False
    sky, glow = grid.lights(x, y, z)
    if max(sky - dark, glow) >= DARK:
        return False
    name = _NAMES[bisect_right(_UP_TO, which)]
    kind = KIND[name]
    if not is_free(grid.blocks, x + 0.5, float(y), z + 0.5, float(WIDTHS[kind]) / 2, float(HEIGHTS[kind])):
        return False
    world.spawn_mob(name, x + 0.5, float(y), z + 0.5)
    return True
