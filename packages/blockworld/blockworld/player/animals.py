"""Use items on animals and villagers: feed, tame, shear, milk, dye, trade."""

from __future__ import annotations

import math

from blockworld.player import screens
from blockworld.player.hands import exchange, use_up, wear
from blockworld.registry.entity_types import ANGRY, IGNITED, KINDS, LOVE_TICKS, MOBS, NUM_THINGS, SHEARED, SITTING, TAMED
from blockworld.registry.items import COLOURS, item_named
from blockworld.state import Stack
from blockworld.world_state import WorldState

_TAMING = {"wolf": ("bone",), "cat": ("cod", "salmon")}
_MAX_HEALTH = {"wolf": 20.0}
"""Largest health of tame animals, if it differs from the health of wild animals."""


def interact(world: WorldState, row: int, slot: int) -> bool:
    """Use the held item in `slot`, or the bare hand, on the mob in `row`; return whether something happened."""
    one = world.entities[row]
    if one["kind"] < NUM_THINGS or one["health"] <= 0:
        return False
    name = KINDS[one["kind"]]
    stack = world.player.slots[slot]
    if name == "villager":
        return _trade(world, row)
    if stack is not None:
        item = stack.item
        if item == "name_tag" and stack.tag and stack.tag.get("name"):
            return _name(world, row, slot, stack)
        if name == "sheep" and item == "shears":
            return _shear(world, row, slot)
        if name == "sheep" and item.endswith("_dye"):
            return _dye(world, row, slot, stack)
        if name == "cow" and item == "bucket" and one["age"] >= 0:
            exchange(world, slot, "milk_bucket")
            return _done(world, "milked", row)
        if name == "creeper" and item == "flint_and_steel":
            return _ignite(world, row, slot)
        if item in _TAMING.get(name, ()) and not one["flags"] & TAMED:
            return _tame(world, row, slot)
        if item in MOBS[name].foods and _feed(world, row, slot, stack):
            return True
    if one["flags"] & TAMED and name in _TAMING and one["age"] >= 0:
        one["flags"] ^= SITTING
        one["target"] = -1
        one["goal_x"], one["goal_z"] = one["x"], one["z"]
        return True
    return False


def _done(world: WorldState, what: str, row: int) -> bool:
    name = KINDS[world.entities["kind"][row]]
    world.player.count(what, name)
    return True


def _trade(world: WorldState, row: int) -> bool:
    """Open a villager's offers; the villager stands still and looks at the player."""
    one = world.entities[row]
    entity = int(one["id"])
    if one["age"] < 0 or not world.extras.get(entity, {}).get("offers"):
        return False
    screens.open(world, "villager", entity=entity)
    return _done(world, "talked_to", row)


def _name(world: WorldState, row: int, slot: int, stack: Stack) -> bool:
    assert stack.tag is not None
    world.extras.setdefault(int(world.entities["id"][row]), {})["name"] = str(stack.tag["name"])
    use_up(world, slot)
    return _done(world, "named", row)


def _shear(world: WorldState, row: int, slot: int) -> bool:
    """Shear a sheep, which drops one to three pieces of wool of its colour."""
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
    _done(world, "sheared", row)
    wear(world, slot)
    return True


def _dye(world: WorldState, row: int, slot: int, stack: Stack) -> bool:
    one = world.entities[row]
    colour = COLOURS.index(stack.item.removesuffix("_dye"))
    if one["variant"] == colour or one["flags"] & SHEARED:
        return False
    one["variant"] = colour
    use_up(world, slot)
    return _done(world, "dyed", row)


def _ignite(world: WorldState, row: int, slot: int) -> bool:
    world.entities["flags"][row] |= IGNITED
    _done(world, "ignited", row)
    wear(world, slot)
    return True


def _tame(world: WorldState, row: int, slot: int) -> bool:
    """Try to tame an animal; one try in three succeeds."""
    one = world.entities[row]
    if one["flags"] & ANGRY:
        return False
    use_up(world, slot)
    if world.rng.random() < 1 / 3:
        one["flags"] |= TAMED | SITTING
        one["target"] = -1
        one["health"] = _MAX_HEALTH.get(KINDS[one["kind"]], MOBS[KINDS[one["kind"]]].health)
        one["goal_x"], one["goal_z"] = one["x"], one["z"]
        _done(world, "tamed", row)
    return True


def _feed(world: WorldState, row: int, slot: int, stack: Stack) -> bool:
    """Feed an animal: heal a tame animal, let an adult look for a partner, or shorten the growth of a young animal by 10 %."""
    one = world.entities[row]
    name = KINDS[one["kind"]]
    if name in _TAMING:
        if not one["flags"] & TAMED:
            return False
        most = _MAX_HEALTH.get(name, MOBS[name].health)
        if one["health"] < most:
            one["health"] = min(most, float(one["health"]) + max(1, item_named(stack.item).food))
            use_up(world, slot)
            return _done(world, "fed", row)
    if one["age"] < 0:
        one["age"] += math.ceil(-int(one["age"]) / 10)
    elif one["love"] == 0:
        one["love"] = LOVE_TICKS
    else:
        return False
    use_up(world, slot)
    return _done(world, "fed", row)
