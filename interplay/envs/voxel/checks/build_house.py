"""Build a house together: how many blocks each player placed, and whether a room has a roof, an entrance and a window."""

from __future__ import annotations

import math

from blockworld import World
from interplay.envs.voxel.checks.build_village_house import built_cells, find_room
from interplay.envs.voxel.land import Answers, clusters

LEAST = 10
"""Least number of blocks that each player must place."""


def check(world: World) -> Answers:
    """Return whether a building on the ground has a room and a window, and each player placed at least `LEAST` blocks.

    The ground that the task levels lies below the first player's start, and does not count as built. Earth where there was
    earth at the start also counts as ground, so the rest of a hill that was dug out is not a roof.
    """
    ground = math.floor(world.spawn[1])
    cells = {cell for cell in built_cells(world) if cell[1] >= ground}
    rooms = [room for group in clusters(cells) if len(group) >= LEAST and (room := find_room(world, group)) is not None]
    placed = [sum(me.counts.get("used", {}).values()) for me in world.players]
    has_window = any(rooms)
    return {
        "closed": bool(rooms),
        "has_window": has_window,
        "num_placed": sum(placed),
        "placed_least": min(placed),
        "success": has_window and min(placed) >= LEAST,
    }
