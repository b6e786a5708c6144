"""Explosions, by the rules of Minecraft 1.16: resistance protects blocks, distance and cover protect bodies."""

from __future__ import annotations

import math

import numpy as np

from blockworld.blocks.updates import set_block
from blockworld.entities import mob_kernel, mobs
from blockworld.entities.entity_kernel import blasted, exposure
from blockworld.errors import WorldError
from blockworld.grid.physics import FLUID_KIND
from blockworld.player import vitals
from blockworld.registry.blocks import AIR, BLOCK_OF, BLOCKS, block_of, properties_of
from blockworld.registry.drops import drops
from blockworld.registry.entity_types import HEIGHTS, ITEM, NUM_THINGS, STEADINESS, WIDTHS
from blockworld.state import HALF_WIDTH
from blockworld.world_state import WorldState, check_finite

_RESISTANCES: np.ndarray = np.array([block.resistance for block in BLOCKS], np.float64)[BLOCK_OF]
_NUM_RAYS = 16**3 - 14**3


def explode(world: WorldState, x: float, y: float, z: float, power: float, breaks: bool = True) -> int:
    """Break blocks and hurt bodies around a point; return the number of broken blocks.

    Args:
        power: Power of the explosion: 3 for a creeper, 4 for TNT.
        breaks: Whether blocks break; each broken block drops items with probability 1 / `power`.
    """
    check_finite(x, y, z)
    if not 0 < power <= 10:
        raise WorldError(f"an explosion has a power above 0 and up to 10, got {power}")
    blocks, entities = world.grid.blocks, world.entities
    cells = blasted(blocks, _RESISTANCES, x, y, z, power, world.rng.random(_NUM_RAYS)) if breaks else np.zeros((0, 3), np.int32)
    reach = 2 * power

    def impact(ox: float, oy: float, oz: float, half: float, height: float) -> float:
        far = math.dist((ox, oy, oz), (x, y, z)) / reach
        return 0.0 if far >= 1 else (1 - far) * float(exposure(blocks, x, y, z, ox, oy, oz, half, height))

    for row in np.flatnonzero(entities["kind"] >= 0).tolist():
        one = entities[row]
        kind = int(one["kind"])
        ox, oy, oz = float(one["x"]), float(one["y"]), float(one["z"])
        share = impact(ox, oy, oz, WIDTHS[kind] / 2, HEIGHTS[kind])
        if share <= 0:
            continue
        if kind == ITEM:
            world.remove(row)
        elif kind >= NUM_THINGS:
            mobs.hit(world, row, _blast(share, power), -1, ox - x, oz - z, 0.0)
            if not one["flags"] & mob_kernel.NO_AI:
                length = max(1e-6, math.dist((ox, oy, oz), (x, y, z)))
                push = share * (1 - STEADINESS[kind])
                one["vx"] += (ox - x) / length * push
                one["vy"] += (oy - y) / length * push
                one["vz"] += (oz - z) / length * push
    for seat, me in enumerate(world.players):
        share = impact(me.x, me.y, me.z, HALF_WIDTH, me.height)
        if share > 0 and not me.dead:
            amount = _blast(share, power) * {"easy": 0.5, "hard": 1.5, "peaceful": 0.0}.get(world.difficulty, 1.0)
            if amount > 0:
                with world.acting(seat):
                    vitals.hurt(world, amount, "explosion")
            if me.game_mode in ("survival", "adventure"):
                length = max(1e-6, math.dist((me.x, me.y, me.z), (x, y, z)))
                me.vx += (me.x - x) / length * share
                me.vy += (me.y - y) / length * share
                me.vz += (me.z - z) / length * share
    for cx, cy, cz in cells.tolist():
        state = world.grid.get(cx, cy, cz)
        if state == AIR:
            continue
        chance = float(world.rng.random())
        set_block(world, cx, cy, cz, AIR)
        # Half of a door or bed gives nothing: the other half does.
        half = properties_of(state).get("half", properties_of(state).get("part"))
        if (
            chance < 1 / power
            and half not in ("upper", "head")
            and not FLUID_KIND[state]
            and block_of(state).hardness is not None
        ):
            for stack in drops(state, None, world.rng):
                world.spawn_item(cx + 0.5, cy + 0.3, cz + 0.5, stack)
    return len(cells)


def _blast(share: float, power: float) -> float:
    """Damage of an explosion, in half hearts (minecraft.wiki, "Explosion: Damage"); the share `share` reaches the body."""
    return math.floor((share * share + share) / 2 * 7 * 2 * power + 1)
