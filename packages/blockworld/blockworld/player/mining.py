"""The attack key: hit mobs and players, and mine blocks, by the rules of Minecraft 1.16."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numba import njit

from blockworld.blocks.updates import break_block, set_block
from blockworld.entities import items_and_projectiles, mobs
from blockworld.grid import physics
from blockworld.player import hands, vitals
from blockworld.player.movement import direction
from blockworld.registry.blocks import AIR, block_of, name_of
from blockworld.registry.entity_types import HEIGHTS, KINDS, NUM_THINGS, WIDTHS
from blockworld.registry.items import copied, item_named
from blockworld.registry.tools import can_harvest, enchantment, speed_on
from blockworld.state import ATTACK_REACH, HALF_WIDTH, REACH, Action, Position, Stack
from blockworld.world_state import WorldState

PAUSE_TICKS = 6
"""Ticks between the end of mining one block and the start of the next while the key stays down."""
SWING_TICKS = 6
CREATIVE_REACH = 5.0
_EXPERIENCE: dict[str, tuple[int, int]] = {
    "coal_ore": (0, 2),
    "diamond_ore": (3, 7),
    "emerald_ore": (3, 7),
    "lapis_ore": (2, 5),
    "redstone_ore": (1, 5),
    "nether_quartz_ore": (2, 5),
    "nether_gold_ore": (0, 1),
    "spawner": (15, 43),
}
"""Block -> smallest and largest number of experience points for mining it."""
_WEAR: dict[str, tuple[int, int]] = {
    **{"sword": (2, 1), "trident": (2, 1), "shears": (1, 0)},
    **dict.fromkeys(("pickaxe", "axe", "shovel", "hoe"), (1, 2)),
}
"""Kind of tool -> its wear by mining a block, and by a blow (minecraft.wiki, "Durability"); other items have no wear."""

Target = tuple[int, int, int, int, float, float, float]
"""A block in reach: x, y, z, the face, and the point on this face."""


def target(world: WorldState, *, sources: bool = False) -> Target | None:
    """Return the block in reach that the player looks at; None without such a block, or if it has changed since it was seen."""
    player = world.player
    reach = CREATIVE_REACH if player.game_mode == "creative" else REACH
    dx, dy, dz = direction(player)
    blocks, unseen = world.grid.blocks, world.unseen
    now = {cell: world.grid.get(*cell) for cell in unseen}
    _show(blocks, unseen)
    hit, *found = physics.ray(blocks, player.x, player.eye_y, player.z, dx, dy, dz, reach, sources)
    _show(blocks, now)
    if not hit or tuple(map(int, found[:3])) in unseen:
        return None
    x, y, z, face, hx, hy, hz = found
    return int(x), int(y), int(z), int(face), float(hx), float(hy), float(hz)


def _show(blocks: np.ndarray, states: Mapping[Position, int]) -> None:
    """Put states into cells temporarily, to test what the player looks at; light and everything else stay unchanged."""
    for (x, y, z), state in states.items():
        blocks[x, z, y] = state


def body(entity: np.void) -> tuple[float, float]:
    """Width and height of an entity, in blocks: young mobs are half as large; slimes have their own size."""
    kind = int(entity["kind"])
    share = entity["variant"] / 4 if KINDS[kind] == "slime" else 0.5 if entity["age"] < 0 else 1.0
    return float(WIDTHS[kind] * share), float(HEIGHTS[kind] * share)


@njit(cache=True)
def _near(those, x, z):
    """Return the rows of mobs that may be in reach: less than 6 blocks away in x and in z."""
    near, found = np.empty(those.size, np.int64), 0
    for i in range(those.size):
        if those[i].kind >= NUM_THINGS and abs(those[i].x - x) < 6 and abs(those[i].z - z) < 6:
            near[found] = i
            found += 1
    return near[:found]


def mob_in_front(world: WorldState, reach: float = ATTACK_REACH) -> int | None:
    """Row of the nearest mob that the player looks at; None without a mob, or if a block hides it."""
    those = world.entities
    bodies = []
    for row in _near(those, world.player.x, world.player.z).tolist():
        width, height = body(those[row])
        bodies.append((row, float(those[row]["x"]), float(those[row]["y"]), float(those[row]["z"]), width / 2, height))
    return _looked_at(world, bodies, reach)[0]


def _looked_at(
    world: WorldState, bodies: list[tuple[int, float, float, float, float, float]], reach: float
) -> tuple[int | None, float]:
    """Find the first body (number, feet, half width, height) that the look hits before a block: its number and distance."""
    if not bodies:
        return None, reach
    me, block = world.player, target(world)
    found: int | None = None
    best = reach if block is None else min(reach, math.dist((me.x, me.eye_y, me.z), block[4:]))
    look = direction(me)
    for number, x, y, z, half, height in bodies:
        at, _ = physics.box_entry(me.x, me.eye_y, me.z, *look, x - half, y, z - half, x + half, y + height, z + half)
        if 0 <= at < best:
            best, found = float(at), number
    return found, best


def player_in_front(world: WorldState) -> int | None:
    """Seat of the nearest other player that the player looks at; None if no player is seen or a block or mob is in front."""
    others = [
        (seat, other.x, other.y, other.z, HALF_WIDTH, other.height)
        for seat, other in enumerate(world.players)
        if seat != world.seat and not other.dead and other.game_mode != "spectator"
    ]
    found, best = _looked_at(world, others, ATTACK_REACH)
    return None if found is None or mob_in_front(world, best) is not None else found


def attack(world: WorldState, action: Action) -> None:
    """Apply the attack key for one tick; called every tick, also while the key is up.

    A mob in front is hit when the key goes down, not while it stays down. A block is mined tick by tick; it is whole again when
    the key is released, the look moves away or another item comes into the hand (`hands.notice`).
    """
    player = world.player
    player.attack_delay = max(0, player.attack_delay - 1)
    player.swing = max(0, player.swing - 1)
    player.since_swing = min(1000, player.since_swing + 1)
    fresh, player.attack_held = action.attack and not player.attack_held, bool(action.attack)
    if not action.attack or player.dead or player.sleeping or player.eating or player.drawing:
        player.mining = None
        return
    if player.game_mode == "spectator":
        return
    other = player_in_front(world)
    row = mob_in_front(world) if other is None else None
    if other is not None or row is not None:
        player.mining = None
        if fresh:
            _hit(world, row, other)
        return
    if fresh:
        player.swing = SWING_TICKS
    _mine(world, fresh)


def _hit(world: WorldState, row: int | None, seat: int | None) -> None:
    """Hit a mob, or the player in a seat; the weapon does full damage only if enough time has passed since the last blow."""
    player = world.player
    tool = player.in_hand
    item = None if tool is None else item_named(tool.item)
    damage = (1.0 if item is None else item.attack_damage) + 3 * vitals.strength(player, "strength")
    damage = max(0.0, damage - 4 * vitals.strength(player, "weakness"))
    charge = min(1.0, (player.since_swing + 0.5) * (4.0 if item is None else item.attack_speed) / 20)
    damage *= 0.2 + charge * charge * 0.8
    falling = player.fall_distance > 0 and not (player.on_ground or player.on_ladder or player.in_water or player.sprinting)
    if falling and charge > 0.9:
        damage *= 1.5
    sharpness = enchantment(tool, "sharpness")
    damage += charge * (0.5 * sharpness + 0.5) if sharpness else 0.0
    player.swing, player.since_swing = SWING_TICKS, 0
    vitals.exhaust(player, 0.1)
    if row is not None:
        mobs.hit_by_player(world, row, damage)
    else:
        assert seat is not None
        with world.acting(seat) as other:
            vitals.hurt(world, damage, "player", knock_x=other.x - player.x, knock_z=other.z - player.z)
    if player.sprinting:
        player.sprinting = False
        player.vx, player.vz = player.vx * 0.6, player.vz * 0.6
    hands.wear(world, player.hotbar, _wear(tool)[1])


def _wear(tool: Stack | None) -> tuple[int, int]:
    """Wear of a tool by mining a block, and by a blow."""
    if tool is None:
        return 0, 0
    return _WEAR.get(item_named(tool.item).kind or tool.item, (0, 0))


def progress(world: WorldState, state: int) -> float:
    """Share of a block that the player mines in one tick, with the current tool and surroundings; 1: the whole block."""
    player, block = world.player, block_of(state)
    if block.hardness is None:
        return 0.0
    tool = player.in_hand
    if block.name.startswith("bamboo") and tool is not None and item_named(tool.item).kind == "sword":
        return 1.0
    speed = speed_on(block, tool)
    efficiency = enchantment(tool, "efficiency")
    if speed > 1 and efficiency:
        speed += efficiency * efficiency + 1
    speed *= 1 + 0.2 * max(vitals.strength(player, "haste"), vitals.strength(player, "conduit_power"))
    fatigue = vitals.strength(player, "mining_fatigue")
    speed *= (1.0, 0.3, 0.09, 0.0027, 0.00081)[min(fatigue, 4)]
    if vitals.eyes_in(world) == physics.WATER and not any(enchantment(worn, "aqua_affinity") for worn in player.slots[36:40]):
        speed /= 5
    if not player.on_ground:
        speed /= 5
    if block.hardness == 0:
        return 1.0
    return speed / block.hardness / (30 if can_harvest(block, tool) else 100)


def break_ticks(world: WorldState, state: int) -> int | None:
    """Ticks that the player would need to mine a block from the current place; None if mining is impossible."""
    share = progress(world, state)
    return None if share <= 0 else 1 if share >= 1 else math.ceil(1 / share - 1e-9)


def _mine(world: WorldState, fresh: bool) -> None:
    player = world.player
    found = target(world)
    if found is None:
        player.mining = None
        return
    x, y, z, face = found[:4]
    state = world.grid.get(x, y, z)
    if not world.grid.inside(x, y, z) or player.game_mode == "adventure":
        player.mining = None
        return
    # Fire is put out by a blow to what burns.
    dx, dy, dz = physics.NORMALS[face]
    if fresh and name_of(world.grid.get(x + dx, y + dy, z + dz)) in ("fire", "soul_fire"):
        set_block(world, x + dx, y + dy, z + dz, AIR)
        return
    if player.attack_delay:
        player.mining = None
        return
    player.swing = player.swing or SWING_TICKS
    if player.game_mode == "creative":
        tool = player.in_hand
        if tool is not None and item_named(tool.item).kind == "sword":
            return
        break_block(world, x, y, z, None, False)
        player.count("mined", name_of(state))
        player.attack_delay = PAUSE_TICKS
        return
    share = progress(world, state)
    done = player.mining[3] if player.mining is not None and player.mining[:3] == (x, y, z) else 0.0
    done += share
    # Less a millionth: a thirtieth thirty times is not quite 1.
    if done < 1 - 1e-6:
        player.mining = (x, y, z, done)
        return
    player.mining = None
    if share < 1:
        player.attack_delay = PAUSE_TICKS + 1
    tool = player.in_hand
    kept = None if tool is None else copied(tool, tool.count)
    break_block(world, x, y, z, kept)
    player.count("mined", name_of(state))
    vitals.exhaust(player, 0.005)
    if name_of(state) in _EXPERIENCE and can_harvest(block_of(state), kept) and not enchantment(kept, "silk_touch"):
        least, most = _EXPERIENCE[name_of(state)]
        items_and_projectiles.spawn_xp(world, x + 0.5, y + 0.5, z + 0.5, int(world.rng.integers(least, most + 1)))
    if kept is not None and (block_of(state).hardness or kept.item == "shears"):
        hands.wear(world, player.hotbar, _wear(kept)[0])
