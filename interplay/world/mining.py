"""Attacking: hitting what lives, mining what stands, by the rules of Minecraft 1.16."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from interplay.world import entities, hands, inventory, physics, vitals
from interplay.world.blocks import AIR, NUM_BOXES, block_of, change, name_of, properties_of, state_of
from interplay.world.drops import drops
from interplay.world.items import item_named
from interplay.world.kinds import HEIGHTS, KINDS, NUM_THINGS, WIDTHS
from interplay.world.player import direction
from interplay.world.state import ATTACK_REACH, REACH, Action, Position, Stack
from interplay.world.tools import can_harvest, enchantment, progress

if TYPE_CHECKING:
    from interplay.world.world import World

__all__ = ["attack", "break_block", "break_ticks", "drops", "mob_in_front", "target"]

PAUSE_TICKS = 6
"""Between the end of one block and the start of the next while the key stays down."""
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
"""Block -> least and most points of experience for who mines it."""
_WEAR: dict[str, tuple[int, int]] = {
    **{"sword": (2, 1), "trident": (2, 1), "shears": (1, 0)},
    **dict.fromkeys(("pickaxe", "axe", "shovel", "hoe"), (1, 2)),
}
"""Kind of tool -> how much it wears by mining a block, and by a blow (minecraft.wiki, "Durability"); all else by neither."""
_WATER = state_of("water")
_TALL = frozenset(["sunflower", "lilac", "rose_bush", "peony", "tall_grass", "large_fern", "tall_seagrass"])
_SIDES: dict[str, tuple[int, int]] = {"north": (0, -1), "south": (0, 1), "west": (-1, 0), "east": (1, 0)}
CLOCKWISE = {"north": "east", "east": "south", "south": "west", "west": "north"}

Target = tuple[int, int, int, int, float, float, float]
"""A block in reach: x, y, z, face, and the point on it."""


def target(world: World, *, sources: bool = False) -> Target | None:
    """The block in reach that the player looks at; None if there is none."""
    player = world.player
    reach = CREATIVE_REACH if player.game_mode == "creative" else REACH
    dx, dy, dz = direction(player)
    hit, *found = physics.ray(world.grid.blocks, player.x, player.eye_y, player.z, dx, dy, dz, reach, sources)
    if not hit:
        return None
    x, y, z, face, hx, hy, hz = found
    return int(x), int(y), int(z), int(face), float(hx), float(hy), float(hz)


def body(entity: np.void) -> tuple[float, float]:
    """Width and height of an entity, in blocks: the young are half as big, slimes as big as they are."""
    kind = int(entity["kind"])
    share = entity["variant"] / 4 if KINDS[kind] == "slime" else 0.5 if entity["age"] < 0 else 1.0
    return float(WIDTHS[kind] * share), float(HEIGHTS[kind] * share)


def mob_in_front(world: World, reach: float = ATTACK_REACH) -> int | None:
    """Row of the nearest mob that the player looks at, if no block is before it; None if there is none."""
    player, those = world.player, world.entities
    near = (those["kind"] >= NUM_THINGS) & (abs(those["x"] - player.x) < 6) & (abs(those["z"] - player.z) < 6)
    rows = near.nonzero()[0].tolist()
    if not rows:
        return None
    block = target(world)
    best = reach if block is None else min(reach, math.dist((player.x, player.eye_y, player.z), block[4:]))
    dx, dy, dz = direction(player)
    found = None
    for row in rows:
        entity = those[row]
        width, height = body(entity)
        x, y, z, half = float(entity["x"]), float(entity["y"]), float(entity["z"]), width / 2
        box = (x - half, y, z - half, x + half, y + height, z + half)
        at, _ = physics.box_entry(player.x, player.eye_y, player.z, dx, dy, dz, *box)
        if 0 <= at < best:
            best, found = float(at), row
    return found


def attack(world: World, action: Action) -> None:
    """One tick of the attack key: called every tick, with the key down or not.

    A mob in front is hit when the key goes down, not while it stays so. A block is worn down tick by tick, and whole again when
    the key is let go, the look moves on or another thing is taken into the hand (`hands.notice`).
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
    row = mob_in_front(world)
    if row is not None:
        player.mining = None
        if fresh:
            _hit(world, row)
        return
    if fresh:
        player.swing = SWING_TICKS
    _mine(world, fresh)


def _hit(world: World, row: int) -> None:
    """Hit a mob: all of the weapon's damage only if enough time went by since the last blow."""
    from interplay.world import mobs

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
    mobs.hit_by_player(world, row, damage)
    if player.sprinting:
        player.sprinting = False
        player.vx, player.vz = player.vx * 0.6, player.vz * 0.6
    hands.wear(world, player.hotbar, _wear(tool)[1])


def _wear(tool: Stack | None) -> tuple[int, int]:
    """How much a thing wears by mining a block, and by a blow."""
    if tool is None:
        return 0, 0
    return _WEAR.get(item_named(tool.item).kind or tool.item, (0, 0))


def break_ticks(world: World, state: int) -> int | None:
    """Ticks that the player would take to mine a block, standing as it does; None if it never would."""
    share = progress(world, state)
    return None if share <= 0 else 1 if share >= 1 else math.ceil(1 / share - 1e-9)


def _mine(world: World, fresh: bool) -> None:
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
        world.set_block(x + dx, y + dy, z + dz, AIR)
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
    kept = None if tool is None else inventory.copied(tool, tool.count)
    break_block(world, x, y, z, kept)
    player.count("mined", name_of(state))
    vitals.exhaust(player, 0.005)
    if name_of(state) in _EXPERIENCE and can_harvest(block_of(state), kept) and not enchantment(kept, "silk_touch"):
        least, most = _EXPERIENCE[name_of(state)]
        entities.spawn_xp(world, x + 0.5, y + 0.5, z + 0.5, int(world.rng.integers(least, most + 1)))
    if kept is not None and (block_of(state).hardness or kept.item == "shears"):
        hands.wear(world, player.hotbar, _wear(kept)[0])


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
        part = inventory.copied(stack, min(size, stack.count))
        stack = inventory.copied(stack, stack.count - part.count)
        world.spawn_item(x + float(at[0]), y + float(at[1]), z + float(at[2]), part, vx=float(push[0]), vz=float(push[1]))
