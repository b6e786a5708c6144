"""The blocks' part of a tick: scheduled turns of blocks, water and lava, then random turns."""

from __future__ import annotations

import numpy as np

from blockworld.blocks import fire, growth
from blockworld.blocks.falling import can_fall
from blockworld.blocks.updates import (
    BUTTON,
    FIRE,
    MINDS,
    POWDER,
    REACTIONS,
    SINKS,
    break_block,
    break_unsupported,
    fire_delay,
    set_block,
    settle,
)
from blockworld.grid import fluids
from blockworld.grid.fluids import DELAYS, FLUID, LAVA, WATER
from blockworld.registry.blocks import AIR, BLOCK_OF, NUM_BOXES, change, name_of, properties_of
from blockworld.world_state import WorldState, pack, unpack


def tick(world: WorldState) -> None:
    updates = world.updates
    updates.ticks += 1
    for cell in updates.blocks.take(updates.ticks):
        _turn(world, cell)
    for kind in (WATER, LAVA):
        cells = updates.fluids[kind].take(updates.ticks)
        if cells:
            _flow(world, cells)
    growth.random_ticks(world)


def _turn(world: WorldState, cell: int) -> None:
    x, y, z = unpack(cell)
    state = int(world.grid.blocks[x, z, y])
    reaction = REACTIONS[BLOCK_OF[state]]
    updates = world.updates
    moving = cell in updates.moving
    updates.moving.discard(cell)
    if reaction in (SINKS, POWDER):
        updates.moving.add(pack(x, y - 1, z))
        if not _fall(world, x, y, z, moving):
            updates.moving.discard(pack(x, y - 1, z))
    elif reaction == FIRE:
        if fire.burn(world, x, y, z) and name_of(world.grid.get(x, y, z)) == "fire":
            updates.schedule(x, y, z, fire_delay(world))
    elif reaction == BUTTON and properties_of(state)["powered"] == "true":
        set_block(world, x, y, z, change(state, powered="false"))


def _fall(world: WorldState, x: int, y: int, z: int, moving: bool) -> bool:
    """Move a block down one cell if it can fall; return whether it moved. A moving block breaks on a torch and the like."""
    if can_fall(world.grid, x, y, z):
        state = set_block(world, x, y, z, AIR)
        set_block(world, x, y - 1, z, state)
        return True
    if moving and y > 0 and not NUM_BOXES[world.grid.get(x, y - 1, z)]:
        break_block(world, x, y, z)
    return False


def _flow(world: WorldState, cells: list[int]) -> None:
    grid, updates = world.grid, world.updates
    done = fluids.flow(grid.blocks, np.array(cells, np.int32), MINDS)
    if done.changed.size:
        grid.changed_cells(done.changed)
    for kind, due in ((WATER, done.water), (LAVA, done.lava)):
        turns, tick = updates.fluids[kind], updates.ticks + DELAYS[kind]
        for cell in dict.fromkeys(due.tolist()):
            turns.add(tick, cell)
    for cell, filling in zip(done.washed.tolist(), done.fillings.tolist(), strict=True):
        x, y, z = unpack(cell)
        if FLUID[grid.get(x, y, z)] >> 7 & 1 and grid.get(x, y, z) != AIR:
            break_unsupported(world, x, y, z, drop=int(FLUID[filling]) & 3 == WATER)
        if grid.get(x, y, z) == AIR:
            set_block(world, x, y, z, filling)
    updates.changes.extend((*unpack(cell), False, None) for cell in dict.fromkeys(done.minding.tolist()))
    settle(world)
