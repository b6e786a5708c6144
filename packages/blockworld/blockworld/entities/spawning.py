"""Monsters spawn in the dark near one player per tick, in turn, and vanish when far from all (rules of Minecraft 1.16).

Differences from the game: monsters spawn 24 to 64 blocks away (the game: up to 128) and vanish at 96 blocks (the game: 128);
none vanishes by chance beyond 32 blocks; at most 20 live at once (the game: 70).
"""

from __future__ import annotations

import math
from bisect import bisect_right

import numpy as np
from numba import njit

from blockworld.blocks.growth import sky_darkening
from blockworld.entities import mobs
from blockworld.grid.light import OPAQUE
from blockworld.grid.physics import FLUID_KIND, is_free
from blockworld.registry.blocks import AIR, BOX_START, BOXES, NUM_BOXES
from blockworld.registry.entity_types import HEIGHTS, HOSTILE, KIND, KINDS, NUM_THINGS, PERSISTENT, TEMPERS, WIDTHS
from blockworld.world_state import WorldState

MOST_HOSTILE = 20
NEAREST, FARTHEST = 24.0, 64.0
"""Distances from the player between which monsters spawn, in blocks."""
GONE = 96.0
"""Distance from all players at which monsters vanish, in blocks."""
DARK = 8
"""Light level below which monsters spawn."""
_TRIES = 4
_CHANCES = (("zombie", 95), ("skeleton", 100), ("spider", 100), ("creeper", 100), ("enderman", 10), ("witch", 5))
_NAMES = tuple(name for name, _ in _CHANCES)
_UP_TO = (np.cumsum([weight for _, weight in _CHANCES]) / sum(weight for _, weight in _CHANCES)).tolist()
_ALONE = (TEMPERS == HOSTILE) | (np.arange(len(KINDS)) == KIND["enderman"])
_COMES_ALONE: np.ndarray = _ALONE & (np.arange(len(KINDS)) >= NUM_THINGS)
_HOSTILE: np.ndarray = TEMPERS == HOSTILE
"""bool, per kind: whether it is hostile."""
_FULL: np.ndarray = OPAQUE & (NUM_BOXES == 1) & (BOXES[BOX_START.clip(max=len(BOXES) - 1)] == (0, 0, 0, 1, 1, 1)).all(axis=1)


def tick(world: WorldState) -> None:
    """Remove monsters that are too far away or unwanted at this difficulty, and spawn some."""
    rows, peaceful = world.entities, world.difficulty == "peaceful"
    number, unwanted = _leaving(rows, np.array([(me.x, me.y, me.z) for me in world.players]), peaceful, _COMES_ALONE, _HOSTILE)
    for row in unwanted.tolist():
        world.extras.pop(int(rows["id"][row]), None)
        rows["kind"][row] = -1
        number -= 1
    if world.rules.get("doMobSpawning") != "true" or peaceful:
        return
    # As many draws every tick, whether there is room or not.
    draws = world.rng.random((_TRIES, 4))
    if number >= MOST_HOSTILE:
        return
    me, dark = world.players[world.ticks % len(world.players)], sky_darkening(world.time)
    columns = np.empty((_TRIES, 2), np.int64)
    for column, (turn, distance, _, _) in zip(columns, draws.tolist(), strict=True):
        far = NEAREST + distance * (FARTHEST - NEAREST)
        column[0] = math.floor(me.x + math.cos(turn * 2 * math.pi) * far)
        column[1] = math.floor(me.z + math.sin(turn * 2 * math.pi) * far)
    heights = _dark_cells(world.grid.blocks, world.grid.light, _FULL, columns, draws, dark).tolist()
    for (x, z), y, (_, _, _, which) in zip(columns.tolist(), heights, draws.tolist(), strict=True):
        if y < 0 or number >= MOST_HOSTILE:
            continue
        name = _NAMES[bisect_right(_UP_TO, which)]
        kind = KIND[name]
        if is_free(world.grid.blocks, x + 0.5, float(y), z + 0.5, float(WIDTHS[kind]) / 2, float(HEIGHTS[kind])):
            mobs.spawn(world, name, x + 0.5, float(y), z + 0.5)
            number += 1


@njit(cache=True)
def _leaving(rows, players, peaceful, alone, hostile):
    """Count the monsters and find those to remove: (number of monsters, rows of the monsters to remove).

    Args:
        players: float64, shape (N, 3): positions of the players.
    """
    number = num_leaving = 0
    leaving = np.empty(rows.size, np.int64)
    for i in range(rows.size):
        e = rows[i]
        if e.kind < 0 or not alone[e.kind]:
            continue
        number += 1
        if peaceful:
            goes = hostile[e.kind]
        else:
            goes = e.flags & PERSISTENT == 0
            for x, y, z in players:
                goes &= (e.x - x) * (e.x - x) + (e.y - y) * (e.y - y) + (e.z - z) * (e.z - z) > GONE * GONE
        if goes:
            leaving[num_leaving] = i
            num_leaving += 1
    return number, leaving[:num_leaving]


@njit(cache=True)
def _dark_cells(blocks, light, full, columns, draws, dark):
    """For each column draw a height, up to just above its highest block; -1 if there is no ground or it is not dark there."""
    sx, sz, sy = blocks.shape
    heights = np.full(len(columns), -1)
    for i in range(len(columns)):
        x, z = columns[i]
        if not (0 <= x < sx and 0 <= z < sz):
            continue
        top = sy - 1
        while top >= 0 and blocks[x, z, top] == AIR:
            top -= 1
        y = 1 + int(draws[i, 2] * min(sy - 2, top + 1))
        if y < 1 or y >= sy - 2 or not full[blocks[x, z, y - 1]] or FLUID_KIND[blocks[x, z, y]]:
            continue
        here = light[x, z, y]
        if max((here >> 4) - dark, here & 15) < DARK:
            heights[i] = y
    return heights
