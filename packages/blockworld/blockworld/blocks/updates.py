"""Changing and breaking blocks, and the immediate reactions of other blocks.

Every rule that changes a block calls `set_block`, which updates the cell and its six neighbours: blocks without support break,
fences and stairs join, sand and fluids get a turn some ticks later (see `turns`). Updates run in the order of the changes, so
that equal worlds stay equal.

Redstone is not simulated: levers, buttons and plates change their own state only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from blockworld.blocks import supports
from blockworld.blocks.falling import FALLS, TICKS_PER_CELL, can_fall
from blockworld.blocks.halves import chest_partner, other_half
from blockworld.grid import connections, fluids, physics
from blockworld.grid.connections import SIDE_OF, SIDES
from blockworld.grid.fluids import DELAYS, FLUID, LAVA, WATER
from blockworld.grid.grid import Grid
from blockworld.registry.blocks import AIR, BLOCK_OF, BLOCKS, NUM_BOXES, block_of, change, name_of, properties_of, state_of
from blockworld.registry.drops import drops
from blockworld.registry.items import copied, item_named
from blockworld.registry.tools import enchantment
from blockworld.state import Stack
from blockworld.world_state import WorldState, pack

_NOTHING, SINKS, POWDER, _TRODDEN, FIRE, BUTTON, _STEM, _VINE = range(8)
_BUTTON_TICKS = {"stone_button": 20, "polished_blackstone_button": 20}
_WOODEN_BUTTON_TICKS = 30
_DIRT, _WATER = state_of("dirt"), state_of("water")


def _reaction(name: str, falls: bool) -> int:
    if name.endswith("_concrete_powder"):
        return POWDER
    if falls:
        return SINKS
    if name in ("farmland", "grass_path"):
        return _TRODDEN
    if name == "fire":
        return FIRE
    if name.endswith("_button"):
        return BUTTON
    if name in ("attached_pumpkin_stem", "attached_melon_stem"):
        return _STEM
    return _VINE if name == "vine" else _NOTHING


REACTIONS = tuple(_reaction(block.name, falls) for block, falls in zip(BLOCKS, FALLS, strict=True))

MINDS: np.ndarray = np.array(
    [
        support is not None or join is not None or reaction != _NOTHING
        for support, join, reaction in zip(supports.RULES, connections.RULES, REACTIONS, strict=True)
    ]
)[BLOCK_OF]
"""bool, shape (NUM_STATES,): whether a block of this state reacts when a neighbour changes; fluids do not count."""
_MINDS_OR_FLOWS_TABLE = MINDS | (FLUID & 3 != 0)
_MINDS_OR_FLOWS = _MINDS_OR_FLOWS_TABLE.tobytes()


def set_block(world: WorldState, x: int, y: int, z: int, state: int) -> int:
    """Put a state into a cell, let its neighbours react, and return the old state.

    The new block joins, falls or flows, but is not checked for support: it may be placed before the block that supports it.

    Raises:
        WorldError: If there is no such cell.
    """
    before = world.change_block(x, y, z, state)
    if before != state:
        settle(world)
    return before


def tell(world: WorldState, x: int, y: int, z: int, before: int, after: int) -> None:
    """Let a cell that was changed directly in the grid and its neighbours react as in `set_block`; give both states."""
    if before != after:
        world.updates.changes.append((x, y, z, True, before))
        settle(world)


def changed_box(world: WorldState, x0: int, y0: int, z0: int, before: np.ndarray) -> None:
    """Let the cells of a box and their neighbours react after many cells of the box have changed at once.

    Args:
        x0, y0, z0: The low corner of the box.
        before: uint16, (x, z, y): old states of the box.
    """
    blocks = world.grid.blocks
    width, depth, height = before.shape
    now = blocks[x0 : x0 + width, z0 : z0 + depth, y0 : y0 + height]
    low = max(0, x0 - 1), max(0, z0 - 1), max(0, y0 - 1)
    around = _MINDS_OR_FLOWS_TABLE[blocks[low[0] : x0 + width + 1, low[1] : z0 + depth + 1, low[2] : y0 + height + 1]]
    wide = np.zeros((width + 2, depth + 2, height + 2), np.bool_)  # the same with a border where the world ends
    offset = low[0] - x0 + 1, low[1] - z0 + 1, low[2] - y0 + 1
    wide[tuple(slice(start, start + size) for start, size in zip(offset, around.shape, strict=True))] = around
    asked = wide[1:-1, 1:-1, 1:-1].copy()
    for axis in range(3):
        for side in (slice(None, -2), slice(2, None)):
            asked |= wide[tuple(side if one == axis else slice(1, -1) for one in range(3))]
    for dx, dz, dy in np.argwhere(asked & (now != before)).tolist():
        world.updates.changes.append((x0 + dx, y0 + dy, z0 + dz, True, int(before[dx, dz, dy])))
    settle(world)


def break_block(world: WorldState, x: int, y: int, z: int, tool: Stack | None = None, drop: bool = True) -> None:
    """Break a block together with its other half and its contents; water that was in it stays.

    Args:
        tool: The tool that mined it, which decides the drops.
        drop: Whether the block drops items, if the game rule doTileDrops allows it; the contents of chests always drop.
    """
    state = world.grid.get(x, y, z)
    if state == AIR or not world.grid.inside(x, y, z):
        return
    found = drops(state, tool, world.rng) if drop and world.rules.get("doTileDrops", "true") == "true" else []
    place, partner = other_half(world, x, y, z), chest_partner(world, x, y, z)
    before = left = AIR  # of the other half, if there is one
    if place is not None:
        # Straight into the grid, so that no rule of updates sees half a door and drops it again.
        before = world.grid.get(*place)
        left = _left_behind(before)
        world.grid.set(*place, left)
    set_block(world, x, y, z, _left_behind(state, world.grid.get(x, y - 1, z), tool, drop))
    if place is not None:
        tell(world, *place, before, left)
    if partner is not None:
        set_block(world, *partner, change(world.grid.get(*partner), type="single"))
    container = world.containers.pop((x, y, z), None)
    for stack in [*found, *(stack for stack in (container.slots if container else ()) if stack is not None)]:
        _toss(world, x, y, z, stack)


def _left_behind(state: int, below: int = AIR, tool: Stack | None = None, melts: bool = False) -> int:
    """State of a cell after its block is broken: the water in which the block stood, water of molten ice, or air."""
    name = name_of(state)
    if name not in ("water", "bubble_column") and physics.FLUID_KIND[state] == physics.WATER:
        return _WATER
    if name == "ice" and melts and not enchantment(tool, "silk_touch") and (NUM_BOXES[below] or physics.FLUID_KIND[below]):
        return _WATER
    return AIR


def _toss(world: WorldState, x: int, y: int, z: int, stack: Stack) -> None:
    at = world.rng.random(3) * 0.5 + 0.25
    push = (world.rng.random(2) - 0.5) * 0.2
    size = item_named(stack.item).stack
    while stack.count > 0:
        part = copied(stack, min(size, stack.count))
        stack = copied(stack, stack.count - part.count)
        world.spawn_item(x + float(at[0]), y + float(at[1]), z + float(at[2]), part, vx=float(push[0]), vz=float(push[1]))


def settle(world: WorldState) -> None:
    """Process the queued changes. Changes made during this join the end of the queue, and a nested call does nothing."""
    updates = world.updates
    if updates.is_settling:
        return
    updates.is_settling = True
    waiting, blocks = updates.changes, world.grid.blocks
    sx, sz, sy = blocks.shape
    try:
        while waiting:
            x, y, z, itself, before = waiting.popleft()
            if _MINDS_OR_FLOWS[blocks[x, z, y]]:
                _react(world, x, y, z, itself)
            if not itself:
                continue
            for dx, dy, dz in SIDES:
                nx, ny, nz = x + dx, y + dy, z + dz
                inside = 0 <= nx < sx and 0 <= nz < sz and 0 <= ny < sy
                if inside and _MINDS_OR_FLOWS[blocks[nx, nz, ny]]:
                    _react(world, nx, ny, nz, False, (x, y, z, before) if before is not None else None)
    finally:
        waiting.clear()
        updates.is_settling = False


def _react(world: WorldState, x: int, y: int, z: int, itself: bool, cause: tuple[int, int, int, int] | None = None) -> None:
    """Let the block in a cell react to a change of its own cell (`itself`) or of a neighbour.

    Args:
        cause: (x, y, z, old state) of the neighbour that changed; None if unknown.
    """
    grid = world.grid
    state = int(grid.blocks[x, z, y])
    block = BLOCK_OF[state]
    fluid = int(FLUID[state]) & 3
    if fluid:
        if fluid == LAVA and (hard := fluids.hardened(grid.blocks, x, y, z)) is not None:
            world.change_block(x, y, z, hard)
            return
        world.updates.fluids[fluid].add(world.updates.ticks + DELAYS[fluid], pack(x, y, z))
    support = supports.RULES[block]
    if support is not None and not itself and not support(grid, x, y, z, state):
        # What hung in the air before, put there by a command, stays: only what held it can make it fall. Sugar cane also
        # depends on water that is not beside it.
        if cause is None or name_of(state) == "sugar_cane" or _held_before(grid, x, y, z, state, support, cause):
            break_unsupported(world, x, y, z)
        return
    join = connections.RULES[block]
    if join is not None:
        new = join(grid, x, y, z, state)
        if new != state:
            world.change_block(x, y, z, new)
        return
    reaction = REACTIONS[block]
    if reaction != _NOTHING:
        _special(world, x, y, z, state, reaction)


def _special(world: WorldState, x: int, y: int, z: int, state: int, reaction: int) -> None:
    grid, updates = world.grid, world.updates
    if reaction == POWDER and _touches_water(grid, x, y, z):
        world.change_block(x, y, z, state_of(name_of(state).removesuffix("_powder")))
    elif reaction in (SINKS, POWDER):
        if can_fall(grid, x, y, z) or pack(x, y, z) in updates.moving:
            updates.schedule(x, y, z, TICKS_PER_CELL)
    elif reaction == _TRODDEN:
        above = grid.get(x, y + 1, z)
        if NUM_BOXES[above] and not name_of(above).endswith("_fence_gate"):
            world.change_block(x, y, z, _DIRT)
    elif reaction == FIRE:
        if pack(x, y, z) not in updates.blocks.waiting:
            updates.schedule(x, y, z, fire_delay(world))
    elif reaction == BUTTON:
        if properties_of(state)["powered"] == "true":
            updates.schedule(x, y, z, _BUTTON_TICKS.get(name_of(state), _WOODEN_BUTTON_TICKS))
    elif reaction == _STEM:
        dx, _, dz = SIDES[SIDE_OF[properties_of(state)["facing"]]]
        stem = name_of(state).removeprefix("attached_")
        if name_of(grid.get(x + dx, y, z + dz)) != stem.removesuffix("_stem"):
            world.change_block(x, y, z, state_of(stem, age="7"))
    elif reaction == _VINE:
        new = change(state, **supports.vine_faces(grid, x, y, z, state))
        if new != state and "true" in properties_of(new).values():
            world.change_block(x, y, z, new)


def fire_delay(world: WorldState) -> int:
    """Ticks until a fire's next turn: 30 to 39."""
    return 30 + int(world.rng.integers(10))


def break_unsupported(world: WorldState, x: int, y: int, z: int, drop: bool = True) -> None:
    """Break a block that has lost its support; it drops its items even if these would need a tool."""
    fits = sorted(name for name in block_of(world.grid.get(x, y, z)).tools if name.endswith(("_pickaxe", "_sword")))
    break_block(world, x, y, z, Stack(fits[0]) if fits else None, drop)


def _held_before(grid: Grid, x: int, y: int, z: int, state: int, support: Any, cause: tuple[int, int, int, int]) -> bool:
    nx, ny, nz, before = cause
    now = grid.blocks[nx, nz, ny]
    grid.blocks[nx, nz, ny] = before
    held = bool(support(grid, x, y, z, state))
    grid.blocks[nx, nz, ny] = now
    return held


def _touches_water(grid: Grid, x: int, y: int, z: int) -> bool:
    return any(int(FLUID[grid.get(x + dx, y + dy, z + dz)]) & 3 == WATER for dx, dy, dz in SIDES[1:])
