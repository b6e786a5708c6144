"""What the player does with animals and villagers by hand: feed, tame, shear, milk, dye, trade."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from interplay.world import screens
from interplay.world.inventory import add, wear
from interplay.world.items import COLOURS, item_named
from interplay.world.kinds import ANGRY, IGNITED, KINDS, LOVE_TICKS, MOBS, NUM_THINGS, SHEARED, SITTING, TAMED
from interplay.world.state import Stack

if TYPE_CHECKING:
    from interplay.world.world import World

_TAMING = {"wolf": ("bone",), "cat": ("cod", "salmon")}
_MAX_HEALTH = {"wolf": 20.0}
"""Of the tame."""


def interact(world: World, row: int, stack: Stack | None) -> bool:
    """Use what the player holds, or the bare hand, on a mob.

    Args:
        row: Of the mob.
        stack: What is in the hand: the very object in one of the player's slots, or None.
    Returns:
        Whether something happened.
    """
    one = world.entities[row]
    if one["kind"] < NUM_THINGS or one["health"] <= 0:
        return False
    name = KINDS[one["kind"]]
    item = None if stack is None else stack.item
    if name == "villager":
        return _trade(world, row)
    if stack is not None and item is not None:
        if item == "name_tag" and stack.tag and stack.tag.get("name"):
            return _name(world, row, stack)
        if name == "sheep" and item == "shears":
            return _shear(world, row, stack)
        if name == "sheep" and item.endswith("_dye"):
            return _dye(world, row, stack)
        if name == "cow" and item == "bucket" and one["age"] >= 0:
            return _milk(world, row, stack)
        if name == "creeper" and item == "flint_and_steel":
            return _ignite(world, row, stack)
        if item in _TAMING.get(name, ()) and not one["flags"] & TAMED:
            return _tame(world, row, stack)
        if item in MOBS[name].foods and _feed(world, row, stack):
            return True
    if one["flags"] & TAMED and name in _TAMING and one["age"] >= 0:
        one["flags"] ^= SITTING
        one["target"] = -1
        one["goal_x"], one["goal_z"] = one["x"], one["z"]
        world.events.append(("sat" if one["flags"] & SITTING else "stood", name))
        return True
    return False


def _slot_of(world: World, stack: Stack) -> int | None:
    """The slot in which exactly this stack lies."""
    return next((slot for slot, there in enumerate(world.player.slots) if there is stack), None)


def _use_up(world: World, stack: Stack) -> None:
    """Take one from a stack; nothing in creative mode."""
    if world.player.game_mode == "creative":
        return
    stack.count -= 1
    slot = _slot_of(world, stack)
    if stack.count <= 0 and slot is not None:
        world.player.slots[slot] = None


def _wear(world: World, stack: Stack) -> None:
    slot = _slot_of(world, stack)
    if slot is not None and world.player.game_mode != "creative":
        wear(world.player.slots, slot, 1)


def _done(world: World, what: str, row: int, stack: Stack | None) -> bool:
    """Count something done to a mob."""
    name = KINDS[world.entities["kind"][row]]
    world.player.count(what, name)
    world.events.append((what, name, None if stack is None else stack.item))
    return True


def _trade(world: World, row: int) -> bool:
    """Open a villager's offers; it stands still and looks at the player."""
    one = world.entities[row]
    entity = int(one["id"])
    if one["age"] < 0 or not world.extras.get(entity, {}).get("offers"):
        return False
    screens.open(world, "villager", entity=entity)
    return _done(world, "talked_to", row, None)


def _name(world: World, row: int, stack: Stack) -> bool:
    assert stack.tag is not None
    world.extras.setdefault(int(world.entities["id"][row]), {})["name"] = str(stack.tag["name"])
    _done(world, "named", row, stack)
    _use_up(world, stack)
    return True


def _shear(world: World, row: int, stack: Stack) -> bool:
    """One to three pieces of wool of the sheep's colour."""
    one = world.entities[row]
    if one["flags"] & SHEARED or one["age"] < 0:
        return False
    one["flags"] |= SHEARED
    x, y, z = float(one["x"]), float(one["y"]) + 1, float(one["z"])
    wool = Stack(f"{COLOURS[int(one['variant']) % 16]}_wool")
    for _ in range(int(world.rng.integers(1, 4))):
        draws = world.rng.random(4)
        vx, vy, vz = (draws[0] - draws[1]) * 0.1, draws[2] * 0.05, (draws[3] - draws[0]) * 0.1
        world.spawn_item(x, y, z, wool, vx=float(vx), vy=float(vy), vz=float(vz))
    _done(world, "sheared", row, stack)
    _wear(world, stack)
    return True


def _dye(world: World, row: int, stack: Stack) -> bool:
    one = world.entities[row]
    colour = COLOURS.index(stack.item.removesuffix("_dye"))
    if one["variant"] == colour or one["flags"] & SHEARED:
        return False
    one["variant"] = colour
    _done(world, "dyed", row, stack)
    _use_up(world, stack)
    return True


def _milk(world: World, row: int, stack: Stack) -> bool:
    """A bucket of milk in place of an empty one; what finds no room falls to the ground."""
    _done(world, "milked", row, stack)
    me, slot = world.player, _slot_of(world, stack)
    if me.game_mode == "creative":
        return True
    _use_up(world, stack)
    milk = Stack("milk_bucket")
    if slot is not None and me.slots[slot] is None:
        me.slots[slot] = milk
    else:
        left = add(me.slots, milk)
        if left is not None:
            world.spawn_item(me.x, me.eye_y - 0.3, me.z, left)
    return True


def _ignite(world: World, row: int, stack: Stack) -> bool:
    world.entities["flags"][row] |= IGNITED
    _done(world, "ignited", row, stack)
    _wear(world, stack)
    return True


def _tame(world: World, row: int, stack: Stack) -> bool:
    """One try in three works."""
    one = world.entities[row]
    if one["flags"] & ANGRY:
        return False
    _use_up(world, stack)
    if world.rng.random() < 1 / 3:
        one["flags"] |= TAMED | SITTING
        one["target"] = -1
        one["health"] = _MAX_HEALTH.get(KINDS[one["kind"]], MOBS[KINDS[one["kind"]]].health)
        one["goal_x"], one["goal_z"] = one["x"], one["z"]
        _done(world, "tamed", row, stack)
    return True


def _feed(world: World, row: int, stack: Stack) -> bool:
    """Heal the tame, make the grown look for a partner, let the young grow by a tenth of the time that is left."""
    one = world.entities[row]
    name = KINDS[one["kind"]]
    if name in _TAMING:
        if not one["flags"] & TAMED:
            return False
        most = _MAX_HEALTH.get(name, MOBS[name].health)
        if one["health"] < most:
            one["health"] = min(most, float(one["health"]) + max(1, item_named(stack.item).food))
            _done(world, "fed", row, stack)
            _use_up(world, stack)
            return True
    if one["age"] < 0:
        one["age"] += math.ceil(-int(one["age"]) / 10)
    elif one["love"] == 0:
        one["love"] = LOVE_TICKS
    else:
        return False
    _done(world, "fed", row, stack)
    _use_up(world, stack)
    return True
