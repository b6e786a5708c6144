"""Walk to a village: whether the player stands among its houses, and said "done"."""

from __future__ import annotations

from blockworld import World
from interplay.envs.voxel.land import Answers
from interplay.envs.voxel.starts import distance_to
from interplay.envs.voxel.village import houses_of

NEAR = 6.0
"""Largest distance from a house, in blocks, at which a player is still in the village."""
NOWHERE = 256.0
"""Distance that is reported if there is no village."""


def check(world: World) -> Answers:
    me = world.player
    far = min((distance_to(house.box, me.x, me.z) for house in houses_of(world)), default=NOWHERE)
    return {"in_village": far <= NEAR, "distance": round(far, 1), "success": far <= NEAR and world.said_done}
