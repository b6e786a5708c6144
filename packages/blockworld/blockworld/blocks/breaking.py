"""Taking blocks away by the rules: with their other half, what they drop and what they held."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blockworld.grid import physics
from blockworld.registry.blocks import AIR, NUM_BOXES, change, name_of, properties_of, state_of
from blockworld.registry.drops import drops
from blockworld.registry.items import copied, item_named
from blockworld.registry.tools import enchantment
from blockworld.state import Position, Stack

if TYPE_CHECKING:
    from blockworld.world import World

_WATER = state_of("water")
_TALL = frozenset(["sunflower", "lilac", "rose_bush", "peony", "tall_grass", "large_fern", "tall_seagrass"])
_SIDES: dict[str, tuple[int, int]] = {"north": (0, -1), "south": (0, 1), "west": (-1, 0), "east": (1, 0)}
CLOCKWISE = {"north": "east", "east": "south", "south": "west", "west": "north"}


def other_half(world: World, x: int, y: int, z: int) -> Position | None:
    """The cell of the other half of a door, bed or tall plant, if it is there."""
    state = world.grid.get(x, y, z)
    name, values = name_of(state), properties_of(state)
    if name.endswith("_bed"):
        sx, sz = _SIDES[values["facing"]]
        sign = 1 if values["part"] == "foot" else -1
        place = x + sx * sign, y, z + sz * sign
    elif name.endswith("_door") or name in _TALL:
        place = x, y + (1 if values["half"] == "lower" else -1), z
    else:
        return None
    other = world.grid.get(*place)
    apart = "part" if "part" in values else "half"
    same = name_of(other) == name and properties_of(other)[apart] != values[apart]
    return place if same and world.grid.inside(*place) else None


def chest_partner(world: World, x: int, y: int, z: int) -> Position | None:
    """The cell of the other half of a double chest."""
    state = world.grid.get(x, y, z)
    name, values = name_of(state), properties_of(state)
    if name not in ("chest", "trapped_chest") or values["type"] == "single":
        return None
    side = CLOCKWISE[values["facing"]]
    sx, sz = _SIDES[side]
    sign = 1 if values["type"] == "left" else -1
    place = x + sx * sign, y, z + sz * sign
    other = world.grid.get(*place)
    fits = name_of(other) == name and properties_of(other)["facing"] == values["facing"]
    return place if fits and properties_of(other)["type"] not in ("single", values["type"]) else None


def break_block(world: World, x: int, y: int, z: int, tool: Stack | None = None, drop: bool = True) -> None:
    """Take a block away, with its other half and what it holds; water that was in it stays.

    Args:
        tool: What it was mined with: decides what drops.
        drop: Whether anything does; the contents of chests always do. The rule doTileDrops counts too.
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
    world.set_block(x, y, z, _left_behind(state, world.grid.get(x, y - 1, z), tool, drop))
    if place is not None:
        world.updates.changed(world, *place, before, left)
    if partner is not None:
        world.set_block(*partner, change(world.grid.get(*partner), type="single"))
    container = world.containers.pop((x, y, z), None)
    for stack in [*found, *(stack for stack in (container.slots if container else ()) if stack is not None)]:
        _toss(world, x, y, z, stack)


def _left_behind(state: int, below: int = AIR, tool: Stack | None = None, melts: bool = False) -> int:
    """What fills the cell of a broken block: the water it stood in, or what ice melts to."""
    name = name_of(state)
    if name not in ("water", "bubble_column") and physics.FLUID_KIND[state] == physics.WATER:
        return _WATER
    if name == "ice" and melts and not enchantment(tool, "silk_touch") and (NUM_BOXES[below] or physics.FLUID_KIND[below]):
        return _WATER
    return AIR


def _toss(world: World, x: int, y: int, z: int, stack: Stack) -> None:
    """Drop a stack somewhere in a cell."""
    at = world.rng.random(3) * 0.5 + 0.25
    push = (world.rng.random(2) - 0.5) * 0.2
    size = item_named(stack.item).stack
    while stack.count > 0:
        part = copied(stack, min(size, stack.count))
        stack = copied(stack, stack.count - part.count)
        world.spawn_item(x + float(at[0]), y + float(at[1]), z + float(at[2]), part, vx=float(push[0]), vz=float(push[1]))
