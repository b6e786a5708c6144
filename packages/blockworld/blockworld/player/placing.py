"""The use key: use a mob or block in front, use the held item, or place a block.

The order is the game's: the mob in front, then the block in front (unless the player sneaks with an item in the hand), then the
held item; the main hand comes before the other hand. While the key is held down, it acts every 4 ticks.
"""

from __future__ import annotations

import numpy as np

from blockworld.blocks.orientation import CLOCKWISE, STEPS, TALL, double_slab, grows, is_replaceable, placement_state
from blockworld.blocks.updates import set_block
from blockworld.grid import physics
from blockworld.player import animals, mining, using
from blockworld.player.hands import use_up
from blockworld.player.touching import touch
from blockworld.registry.blocks import AIR, BOX_START, BOXES, NUM_BOXES, change, name_of, properties_of, state_of
from blockworld.registry.entity_types import NUM_THINGS
from blockworld.registry.items import block_of_item, item_of_block
from blockworld.slots import inventory
from blockworld.state import HALF_WIDTH, OFFHAND, Action, Stack
from blockworld.world_state import WorldState

__all__ = ["pick_item", "place", "placement_state", "use"]

REPEAT_TICKS = 4


def use(world: WorldState, action: Action) -> None:
    """Apply the use key for one tick; called every tick, also while the key is up."""
    player = world.player
    player.use_delay = max(0, player.use_delay - 1)
    fresh, player.use_held = action.use and not player.use_held, bool(action.use)
    if player.dead:
        return
    if player.sleeping:
        # Out of bed again; the key that put one in it does not count.
        if action.sneak or action.jump:
            player.sleeping = 0
        return
    if player.eating or player.drawing:
        _go_on(world, action)
        return
    if not action.use or (player.use_delay and not fresh) or player.game_mode == "spectator":
        return
    player.use_delay = REPEAT_TICKS
    for slot in (player.hotbar, OFFHAND):
        if _use_hand(world, slot, fresh):
            player.swing = mining.SWING_TICKS
            return


def _go_on(world: WorldState, action: Action) -> None:
    """Continue eating or drawing the bow while the key is down; shoot the arrow when the key is released."""
    player = world.player
    if player.drawing:
        slot = next((slot for slot in (player.hotbar, OFFHAND) if (held := player.slots[slot]) and held.item == "bow"), None)
        if slot is None:
            player.drawing = 0
        elif action.use:
            player.drawing += 1
        else:
            using.shoot(world, slot)
        return
    if not action.use:
        player.eating = 0
        return
    for slot in (player.hotbar, OFFHAND):
        stack = player.slots[slot]
        if stack is not None and using.eatable(world, stack):
            using.eat(world, slot)
            player.use_delay = REPEAT_TICKS
            return
    player.eating = 0


def _use_hand(world: WorldState, slot: int, fresh: bool) -> bool:
    player = world.player
    row = mining.mob_in_front(world)
    if row is not None:
        return animals.interact(world, row, slot) or using.in_air(world, slot, fresh)
    found = mining.target(world)
    stack = player.slots[slot]
    if found is not None and world.grid.inside(*found[:3]):
        quiet = player.sneaking and (player.slots[player.hotbar] is not None or player.slots[OFFHAND] is not None)
        if not quiet and touch(world, *found[:3], slot):
            return True
        if player.game_mode != "adventure" and using.on_block(world, slot, found):
            return True
    if stack is not None and stack.item == "lily_pad":
        return _place_on_water(world, slot)
    if found is not None and player.game_mode != "adventure" and place(world, slot, found):
        return True
    return using.in_air(world, slot, fresh)


def place(world: WorldState, slot: int, found: mining.Target) -> bool:
    """Place the block in a slot against a face of another block; if the block cannot be there, do nothing and return False."""
    player, stack = world.player, world.player.slots[slot]
    if stack is None:
        return False
    x, y, z, face, *hit = found
    point = hit[0], hit[1], hit[2]
    state = world.grid.get(x, y, z)
    name = block_of_item(stack.item)
    if name is None:
        return False
    inside = double_slab(state, stack.item, face, point[1] - y) is not None
    # More snow or pickles go into the same cell; a look at what can be replaced puts the block there.
    inside = inside or (grows(world, x, y, z, state_of(name)) is not None and (name != "snow" or face == physics.UP))
    inside = inside or (is_replaceable(state) and name_of(state) != name)
    if not inside:
        dx, dy, dz = physics.NORMALS[face]
        x, y, z = x + dx, y + dy, z + dz
    if not world.grid.inside(x, y, z) or (x, y, z) in world.unseen:
        return False
    here = world.grid.get(x, y, z)
    # Beside a half slab the other half fills the cell, seen from within it.
    grown = grows(world, x, y, z, state_of(name)) is not None
    other_slab = stack.item.endswith("_slab") and name_of(here) == name
    if not inside and not is_replaceable(here) and not grown and not other_slab:
        return False
    if other_slab and not inside:
        values_double = change(here, type="double", waterlogged="false")
        if here == values_double:
            return False
        made: int | None = values_double
    else:
        made = placement_state(world, stack.item, x, y, z, face, point, player.yaw, player.pitch)
    if made is None or _in_the_way(world, x, y, z, made):
        return False
    made_name = name_of(made)
    if made_name.endswith("_bed"):
        using.place_bed(world, x, y, z, made)
    elif made_name.endswith("_door") or made_name in TALL:
        if not using.place_tall(world, x, y, z, made):
            return False
    else:
        if name_of(here) in TALL:
            mining.break_block(world, x, y, z, None, False)
        set_block(world, x, y, z, made)
        partner = _new_partner(world, x, y, z, made)
        if partner is not None:
            set_block(world, *partner[0], partner[1])
    player.count("used", stack.item)
    player.count("placed", stack.item)
    use_up(world, slot)
    return True


def _place_on_water(world: WorldState, slot: int) -> bool:
    found = mining.target(world, sources=True)
    if found is None or name_of(world.grid.get(*found[:3])) not in ("water", "ice"):
        return False
    x, y, z = found[0], found[1] + 1, found[2]
    if not world.grid.inside(x, y, z) or world.grid.get(x, y, z) != AIR:
        return False
    set_block(world, x, y, z, state_of("lily_pad"))
    world.player.count("used", "lily_pad")
    world.player.count("placed", "lily_pad")
    use_up(world, slot)
    return True


def _in_the_way(world: WorldState, x: int, y: int, z: int, state: int) -> bool:
    if not NUM_BOXES[state]:
        return False
    boxes = BOXES[BOX_START[state] : BOX_START[state] + NUM_BOXES[state]] + np.array((x, y, z, x, y, z))
    entities = world.entities
    bodies = [(one.x, one.y, one.z, HALF_WIDTH, one.height) for one in world.players]
    near = (entities["kind"] >= NUM_THINGS) & (abs(entities["x"] - x) < 4) & (abs(entities["z"] - z) < 4)
    for row in near.nonzero()[0].tolist():
        width, tall = mining.body(entities[row])
        bx, by, bz = (float(entities[row][axis]) for axis in "xyz")
        bodies.append((bx, by, bz, width / 2, tall))
    for bx, by, bz, half, tall in bodies:
        low, high = (bx - half, by, bz - half), (bx + half, by + tall, bz + half)
        if ((boxes[:, :3] < [v - 1e-7 for v in high]) & (boxes[:, 3:] > [v + 1e-7 for v in low])).all(axis=1).any():
            return True
    return False


def _new_partner(world: WorldState, x: int, y: int, z: int, state: int) -> tuple[tuple[int, int, int], int] | None:
    if name_of(state) not in ("chest", "trapped_chest"):
        return None
    values = properties_of(state)
    if values["type"] == "single":
        return None
    side = CLOCKWISE[values["facing"]]
    dx, _, dz = STEPS[side]
    sign = 1 if values["type"] == "left" else -1
    cell = x + dx * sign, y, z + dz * sign
    other = world.grid.get(*cell)
    return cell, change(other, type="right" if values["type"] == "left" else "left")


def pick_item(world: WorldState) -> None:
    """Take the block that the player looks at into the hand, from any slot, hotbar first; create the item in creative mode."""
    player, found = world.player, mining.target(world)
    if found is None:
        return
    item = item_of_block(name_of(world.grid.get(*found[:3])))
    if item is None:
        return
    places = [slot for slot in range(36) if (there := player.slots[slot]) is not None and there.item == item]
    if not places and player.game_mode != "creative":
        return
    if places and places[0] < 9:
        player.hotbar = places[0]
        return
    free = next((slot for slot in (player.hotbar, *range(9)) if player.slots[slot] is None), player.hotbar)
    player.hotbar = free
    if places:
        inventory.swap(player.slots, places[0], free)
    else:
        player.slots[free] = Stack(item)
