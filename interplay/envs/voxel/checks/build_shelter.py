"""Build a shelter together: how many blocks each player placed, and whether all stand between walls and under a roof."""

from __future__ import annotations

import math

from blockworld import World
from blockworld.registry import NUM_BOXES
from interplay.envs.voxel.land import Answers

LEAST = 10
"""Least number of blocks that each player must place."""
REACH = 6
"""Largest distance of a wall, in blocks."""
_SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1))


def check(world: World) -> Answers:
    """Return whether each player has placed at least `LEAST` blocks and stands alive under a roof with walls on three sides."""
    placed = [sum(me.counts.get("used", {}).values()) for me in world.players]
    inside = [not me.dead and _is_sheltered(world, me.x, me.y, me.z) for me in world.players]
    return {
        "placed": sum(placed),
        "placed_least": min(placed),
        "inside": sum(inside),
        "success": all(inside) and min(placed) >= LEAST,
    }


def _is_sheltered(world: World, x: float, y: float, z: float) -> bool:
    """Return whether a place has a roof, and walls at head height on at least three sides."""
    cx, cy, cz = math.floor(x), math.floor(y) + 1, math.floor(z)

    def solid(cell_x: int, cell_y: int, cell_z: int) -> bool:
        return bool(NUM_BOXES[world.grid.get(cell_x, cell_y, cell_z)])

    roof = any(solid(cx, cy + up, cz) for up in range(1, REACH + 1))
    walls = sum(any(solid(cx + dx * far, cy, cz + dz * far) for far in range(1, REACH + 1)) for dx, dz in _SIDES)
    return roof and walls >= 3
