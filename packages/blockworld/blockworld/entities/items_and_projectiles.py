"""Things that lie, fly and fall: items on the ground, arrows, snowballs, eggs, pearls, orbs: how they come and go.

How they move is in `entity_kernel`, and what happens when they meet something in `thing_events`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from blockworld.errors import WorldError, unknown_name
from blockworld.registry.entity_types import (
    CRITICAL,
    ITEM,
    KIND,
    TAGGED,
    XP_ORB,
)
from blockworld.registry.items import ITEMS, item_named
from blockworld.state import Stack

if TYPE_CHECKING:
    from blockworld.world import World

SHOT = ("arrow", "snowball", "egg", "ender_pearl")


def checked(x: float, y: float, z: float) -> None:
    """Refuse a place or speed that is not finite."""
    if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
        raise WorldError(f"there is no place {x} {y} {z}; give finite numbers")


def _new(world: World, kind: int, x: float, y: float, z: float, vx: float, vy: float, vz: float) -> int:
    """A fresh row."""
    row = world.free_row()
    one = world.entities[row]
    one["kind"], one["target"] = kind, -1
    one["x"], one["y"], one["z"] = x, y, z
    one["vx"], one["vy"], one["vz"] = vx, vy, vz
    return row


def spawn_item(
    world: World,
    x: float,
    y: float,
    z: float,
    stack: Stack,
    *,
    vx: float = 0.0,
    vy: float = 0.2,
    vz: float = 0.0,
    delay: int = 10,
) -> int:
    """Let a stack lie in the world; returns the entity's id.

    Args:
        x, y, z: Of its bottom, in blocks.
        vx, vy, vz: Blocks per tick.
        delay: Ticks until it can be picked up, up to 32,766; 32,767 for never.

    Raises:
        UnknownNameError: If there is no such item.
        WorldError: If the place is not finite, or the count or delay out of range.
    """
    item = item_named(stack.item)
    checked(x, y, z)
    if not 1 <= stack.count <= 32767 or not 0 <= delay <= 32767:
        raise WorldError(f"an item lies there 1 to 32767 at a time for 0 to 32767 ticks, got {stack.count} for {delay}")
    row = _new(world, ITEM, x, y, z, vx, vy, vz)
    one = world.entities[row]
    one["item"], one["count"], one["goal_ticks"] = item.index, stack.count, delay
    entity = int(one["id"])
    if stack.damage or stack.tag:
        one["flags"] |= TAGGED
        world.extras[entity] = {"damage": stack.damage, "tag": stack.tag}
    return entity


def stack_of(world: World, row: int) -> Stack:
    """What an item on the ground is."""
    one = world.entities[row]
    extra = world.extras.get(int(one["id"]), {})
    return Stack(ITEMS[int(one["item"])].name, int(one["count"]), extra.get("damage", 0), extra.get("tag"))


def spawn_xp(world: World, x: float, y: float, z: float, points: int) -> int | None:
    """Leave an orb of experience; returns its id, None for no points."""
    if points <= 0:
        return None
    row = _new(world, XP_ORB, x, y, z, 0.0, 0.2, 0.0)
    world.entities["count"][row] = min(points, 32767)
    return int(world.entities["id"][row])


def shoot(
    world: World,
    kind: str,
    x: float,
    y: float,
    z: float,
    vx: float,
    vy: float,
    vz: float,
    owner: int,
    *,
    seat: int = 0,
    damage: float = 2.0,
    critical: bool = False,
    can_take: bool | None = None,
) -> int:
    """Let something fly; returns the entity's id.

    Args:
        kind: `arrow`, `snowball`, `egg` or `ender_pearl`.
        x, y, z: From where.
        vx, vy, vz: Blocks per tick; a fully drawn bow gives 3.
        owner: Id of who shot: 0 a player, -1 nobody.
        seat: Of the player who shot.
        damage: Of an arrow: half hearts per block per tick of speed.
        critical: Of an arrow: hits harder by chance, as from a fully drawn bow.
        can_take: Whether an arrow can be picked up; the player's can, if not said.

    Raises:
        UnknownNameError: If nothing of that name flies.
        WorldError: If place or speed is not finite.
    """
    if kind not in SHOT:
        raise unknown_name("thing to shoot", kind[:100], SHOT)
    checked(x, y, z)
    checked(vx, vy, vz)
    row = _new(world, KIND[kind], x, y, z, vx, vy, vz)
    one = world.entities[row]
    one["target"], one["health"], one["variant"] = owner, damage, seat
    one["yaw"], one["pitch"] = math.degrees(math.atan2(-vx, vz)), -math.degrees(math.atan2(vy, math.hypot(vx, vz)))
    one["count"] = int(kind == "arrow" and (owner == 0 if can_take is None else can_take))
    if critical:
        one["flags"] |= CRITICAL
    return int(one["id"])


def remove(world: World, row: int) -> None:
    """Take an entity out of the world, without a trace."""
    world.extras.pop(int(world.entities["id"][row]), None)
    world.entities["kind"][row] = -1


def gain(world: World, points: int) -> None:
    """Add experience; 2 n + 7 points lead from level n to the next, more from level 15 on (minecraft.wiki, "Experience")."""
    me = world.player
    me.count("experience", "gained", points)
    me.experience += points
    while me.experience >= (need := points_needed(me.level)):
        me.experience -= need
        me.level += 1


def points_needed(level: int) -> int:
    """How many lead from a level to the next."""
    if level >= 30:
        return 112 + (level - 30) * 9
    return 37 + (level - 15) * 5 if level >= 15 else 7 + level * 2
