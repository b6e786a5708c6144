"""Creating projectiles and orbs of experience, and gaining experience.

`entity_kernel` moves things; `thing_events` decides what happens when they hit blocks and bodies.
"""

from __future__ import annotations

import math

from blockworld.errors import unknown_name
from blockworld.registry.entity_types import CRITICAL, KIND, XP_ORB
from blockworld.registry.items import ITEMS
from blockworld.state import Stack
from blockworld.world_state import WorldState, check_finite

SHOT = ("arrow", "snowball", "egg", "ender_pearl")


def stack_of(world: WorldState, row: int) -> Stack:
    one = world.entities[row]
    extra = world.extras.get(int(one["id"]), {})
    return Stack(ITEMS[int(one["item"])].name, int(one["count"]), extra.get("damage", 0), extra.get("tag"))


def spawn_xp(world: WorldState, x: float, y: float, z: float, points: int) -> int | None:
    """Create an orb of experience; return its id, or None for no points."""
    if points <= 0:
        return None
    row = world.add_thing(XP_ORB, x, y, z, 0.0, 0.2, 0.0)
    world.entities["count"][row] = min(points, 32767)
    return int(world.entities["id"][row])


def shoot(
    world: WorldState,
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
    """Shoot a projectile; return the entity's id.

    Args:
        kind: `arrow`, `snowball`, `egg` or `ender_pearl`.
        vx, vy, vz: Velocity in blocks per tick; a fully drawn bow gives a speed of 3.
        owner: Id of the shooter: 0 a player, -1 nobody.
        seat: Seat of the player who shot.
        damage: Strength of an arrow: half hearts for each block per tick of its speed.
        critical: Whether an arrow hits harder by chance, as from a fully drawn bow.
        can_take: Whether an arrow can be picked up; by default, only a player's arrow can.

    Raises:
        UnknownNameError: If there is no such projectile.
        WorldError: If the place or the velocity is not finite.
    """
    if kind not in SHOT:
        raise unknown_name("thing to shoot", kind[:100], SHOT)
    check_finite(x, y, z)
    check_finite(vx, vy, vz)
    row = world.add_thing(KIND[kind], x, y, z, vx, vy, vz)
    one = world.entities[row]
    one["target"], one["health"], one["variant"] = owner, damage, seat
    one["yaw"], one["pitch"] = math.degrees(math.atan2(-vx, vz)), -math.degrees(math.atan2(vy, math.hypot(vx, vz)))
    one["count"] = int(kind == "arrow" and (owner == 0 if can_take is None else can_take))
    if critical:
        one["flags"] |= CRITICAL
    return int(one["id"])


def gain(world: WorldState, points: int) -> None:
    """Give the player experience. From level n to the next it takes 2 n + 7 points, from level 15 on more (minecraft.wiki,
    "Experience")."""
    me = world.player
    me.count("experience", "gained", points)
    me.experience += points
    while me.experience >= (need := points_needed(me.level)):
        me.experience -= need
        me.level += 1


def points_needed(level: int) -> int:
    if level >= 30:
        return 112 + (level - 30) * 9
    return 37 + (level - 15) * 5 if level >= 15 else 7 + level * 2
