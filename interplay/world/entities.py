"""Things that lie, fly and fall: items on the ground, arrows, snowballs, eggs, pearls, orbs; and explosions.

Rules of Minecraft 1.16. All of them move in one kernel call a tick; here is what happens when they meet something.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from interplay.errors import unknown_name
from interplay.world import mob_kernel
from interplay.world.blocks import AIR, BLOCK_OF, BLOCKS, block_of, properties_of
from interplay.world.entity_kernel import (
    GAINED,
    GONE,
    HIT_BLOCK,
    HIT_MOB,
    HIT_PLAYER,
    PICK_UP,
    TAKE_ARROW,
    blasted,
    exposure,
    move_things,
)
from interplay.world.errors import WorldError
from interplay.world.items import ITEMS, item_named
from interplay.world.kinds import (
    ARROW,
    CRITICAL,
    EGG,
    ENDER_PEARL,
    HEIGHTS,
    ITEM,
    KIND,
    NUM_THINGS,
    STEADINESS,
    TAGGED,
    WIDTHS,
    XP_ORB,
)
from interplay.world.physics import FLUID_KIND
from interplay.world.state import HALF_WIDTH, MAX_ENTITIES, Stack

if TYPE_CHECKING:
    from interplay.world.world import World

__all__ = ["NUM_THINGS", "explode", "remove", "shoot", "spawn_item", "spawn_xp", "stack_of", "tick"]

SHOT = ("arrow", "snowball", "egg", "ender_pearl")
_LIMITS: np.ndarray = np.array([item.stack for item in ITEMS], np.int16)
_RESISTANCES: np.ndarray = np.array([block.resistance for block in BLOCKS], np.float64)[BLOCK_OF]
_NUM_RAYS = 16**3 - 14**3


def _checked(x: float, y: float, z: float) -> None:
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
        NotFoundError: If there is no such item.
        WorldError: If the place is not finite, or the count or delay out of range.
    """
    item = item_named(stack.item)
    _checked(x, y, z)
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
    damage: float = 2.0,
    critical: bool = False,
    can_take: bool | None = None,
) -> int:
    """Let something fly; returns the entity's id.

    Args:
        kind: `arrow`, `snowball`, `egg` or `ender_pearl`.
        x, y, z: From where.
        vx, vy, vz: Blocks per tick; a fully drawn bow gives 3.
        owner: Id of who shot: 0 the player, -1 nobody.
        damage: Of an arrow: half hearts per block per tick of speed.
        critical: Of an arrow: hits harder by chance, as from a fully drawn bow.
        can_take: Whether an arrow can be picked up; the player's can, if not said.

    Raises:
        NotFoundError: If nothing of that name flies.
        WorldError: If place or speed is not finite.
    """
    if kind not in SHOT:
        raise unknown_name("thing to shoot", kind[:100], SHOT)
    _checked(x, y, z)
    _checked(vx, vy, vz)
    row = _new(world, KIND[kind], x, y, z, vx, vy, vz)
    one = world.entities[row]
    one["target"], one["health"] = owner, damage
    one["yaw"], one["pitch"] = math.degrees(math.atan2(-vx, vz)), -math.degrees(math.atan2(vy, math.hypot(vx, vz)))
    one["count"] = int(kind == "arrow" and (owner == 0 if can_take is None else can_take))
    if critical:
        one["flags"] |= CRITICAL
    return int(one["id"])


def remove(world: World, row: int) -> None:
    """Take an entity out of the world, without a trace."""
    world.extras.pop(int(world.entities["id"][row]), None)
    world.entities["kind"][row] = -1


# One tick


def tick(world: World) -> None:
    """One tick of everything that is no mob."""
    entities, me = world.entities, world.player
    able = not me.dead and me.game_mode != "spectator"
    player = np.array([me.x, me.y, me.z, float(able)])
    events = np.empty((2 * MAX_ENTITIES, 3), np.int32)  # of this call: worlds may be stepped in several threads
    move_things(entities, world.grid.blocks, player, _LIMITS, events)
    for what, row, other in events[1 : 1 + int(events[0, 0])].tolist():
        if entities["kind"][row] < 0:
            continue
        if what == PICK_UP:
            _pick_up(world, row)
        elif what == TAKE_ARROW:
            if world.give(Stack("arrow")) is None:
                me.count("picked_up", "arrow")
                remove(world, row)
        elif what == GONE:
            remove(world, row)
        elif what == GAINED:
            gain(world, int(entities["count"][row]))
            remove(world, row)
        elif what == HIT_BLOCK:
            _meet(world, row)
        elif what == HIT_MOB:
            _hit_mob(world, row, other)
        elif what == HIT_PLAYER:
            _hit_player(world, row)


def _pick_up(world: World, row: int) -> None:
    """Put an item into the player's slots, as far as there is room."""
    stack = stack_of(world, row)
    left = world.give(stack)
    taken = stack.count - (0 if left is None else left.count)
    if taken <= 0:
        return
    world.player.count("picked_up", stack.item, taken)
    if left is None:
        remove(world, row)
    else:
        world.entities["count"][row] = left.count


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


def _meet(world: World, row: int) -> None:
    """Of what was thrown and hit something: eggs hatch, pearls carry, all but arrows are gone."""
    one = world.entities[row]
    kind = int(one["kind"])
    if kind == ARROW:
        return
    x, y, z = float(one["x"]), float(one["y"]), float(one["z"])
    owner = int(one["target"])
    remove(world, row)
    if kind == EGG and world.rng.random() < 0.125:
        for _ in range(4 if world.rng.random() < 1 / 32 else 1):
            world.spawn_mob("chicken", x, y, z, Age=-24000)
    elif kind == ENDER_PEARL and owner == 0 and not world.player.dead:
        me = world.player
        me.x, me.y, me.z, me.fall_distance = x, y, z, 0.0
        me.vx = me.vy = me.vz = 0.0
        world.hurt_player(5.0, "fall")


def _damage(world: World, row: int) -> float:
    """Half hearts of an arrow."""
    one = world.entities[row]
    speed = math.sqrt(float(one["vx"]) ** 2 + float(one["vy"]) ** 2 + float(one["vz"]) ** 2)
    damage = math.ceil(speed * float(one["health"]) - 1e-9)
    if one["flags"] & CRITICAL:
        damage += int(world.rng.integers(damage // 2 + 2))
    return float(damage)


def _hit_mob(world: World, row: int, mob: int) -> None:
    """An arrow wounds, everything else only pushes; who shot is who did it."""
    from interplay.world import mobs

    entities = world.entities
    one = entities[row]
    amount = _damage(world, row) if one["kind"] == ARROW else 0.0
    vx, vz, owner = float(one["vx"]), float(one["vz"]), int(one["target"])
    if entities["kind"][mob] < NUM_THINGS:
        return
    hit = mobs.hit(world, mob, amount, owner, vx, vz, 0.4 if amount == 0 else 0.2)
    if one["kind"] != ARROW:
        _meet(world, row)
    elif hit:
        remove(world, row)
    else:
        one["vx"], one["vy"], one["vz"] = -vx * 0.1, -float(one["vy"]) * 0.1, -vz * 0.1


def _hit_player(world: World, row: int) -> None:
    one = world.entities[row]
    if one["kind"] != ARROW:
        _meet(world, row)
        return
    amount = _damage(world, row)
    world.hurt_player(amount, "arrow", knock_x=float(one["vx"]), knock_z=float(one["vz"]))
    remove(world, row)


# Explosions


def explode(world: World, x: float, y: float, z: float, power: float, breaks: bool = True) -> int:
    """Let something burst: blocks break by their resistance, bodies are hurt by distance and cover.

    Args:
        power: 3 of a creeper, 4 of TNT.
        breaks: Whether blocks break; one in `power` of them leaves what it drops.
    Returns:
        How many blocks broke.
    """
    from interplay.world import drops, mobs

    _checked(x, y, z)
    if not 0 < power <= 10:
        raise WorldError(f"an explosion has a power above 0 and up to 10, got {power}")
    blocks, entities = world.grid.blocks, world.entities
    cells = blasted(blocks, _RESISTANCES, x, y, z, power, world.rng.random(_NUM_RAYS)) if breaks else np.zeros((0, 3), np.int32)
    me, reach = world.player, 2 * power

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
            remove(world, row)
        elif kind >= NUM_THINGS:
            mobs.hit(world, row, _blast(share, power), -1, ox - x, oz - z, 0.0)
            if not one["flags"] & mob_kernel.NO_AI:
                length = max(1e-6, math.dist((ox, oy, oz), (x, y, z)))
                push = share * (1 - STEADINESS[kind])
                one["vx"] += (ox - x) / length * push
                one["vy"] += (oy - y) / length * push
                one["vz"] += (oz - z) / length * push
    share = impact(me.x, me.y, me.z, HALF_WIDTH, me.height)
    if share > 0 and not me.dead:
        amount = _blast(share, power) * {"easy": 0.5, "hard": 1.5, "peaceful": 0.0}.get(world.difficulty, 1.0)
        if amount > 0:
            world.hurt_player(amount, "explosion")
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
        world.set_block(cx, cy, cz, AIR)
        # Half of a door or bed gives nothing: the other half does.
        half = properties_of(state).get("half", properties_of(state).get("part"))
        if (
            chance < 1 / power
            and half not in ("upper", "head")
            and not FLUID_KIND[state]
            and block_of(state).hardness is not None
        ):
            for stack in drops.drops(state, None, world.rng):
                spawn_item(world, cx + 0.5, cy + 0.3, cz + 0.5, stack)
    return len(cells)


def _blast(share: float, power: float) -> float:
    """Half hearts that an explosion takes (minecraft.wiki, "Explosion: Damage")."""
    return math.floor((share * share + share) / 2 * 7 * 2 * power + 1)
