"""A player's movement: one tick of walking, jumping, swimming and climbing, by the formulas of Minecraft 1.16.

In each tick the keys push the body, it moves and collides with blocks, then gravity and drag change its speed. As a result,
players walk 4.317 blocks/s, sprint 5.612, sneak 1.295, and jump 1.25 blocks high.

Differences from the game: no gliding, no crawling (gaps below 1.5 blocks), no flying in creative mode; swimmers keep their
height.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import cast

import numpy as np

from blockworld.grid import physics
from blockworld.player import vitals
from blockworld.registry.blocks import name_of, per_block, properties_of
from blockworld.state import HALF_WIDTH, HEIGHT, Action, Player
from blockworld.world_state import WorldState

_immersion = cast("Callable[..., tuple[float, float, float, float, int]]", physics.immersion)
"""The kernel `physics.immersion` with a cast, because type checkers think that its floats are arrays."""
GRAVITY, DRAG = 0.08, 0.98
_FRICTION = per_block(
    {"ice": 0.98, "packed_ice": 0.98, "frosted_ice": 0.98, "blue_ice": 0.989, "slime_block": 0.8}, 0.6, np.float64
)
_SLOWING = per_block({"soul_sand": 0.4, "honey_block": 0.4}, 1.0, np.float64)
_CLIMBABLE = per_block(
    dict.fromkeys(
        ("ladder", "vine", "scaffolding", "weeping_vines", "weeping_vines_plant", "twisting_vines", "twisting_vines_plant"),
        True,
    ),
    False,
    np.bool_,
)
_WEB, _BERRIES = 1, 2
_STICKY = per_block({"cobweb": _WEB, "sweet_berry_bush": _BERRIES}, 0, np.uint8)


def look(player: Player, action: Action) -> None:
    """Turn by the camera; yaw stays in [-180, 180), pitch in [-90, 90]."""
    player.yaw = (player.yaw + action.camera_yaw + 180.0) % 360.0 - 180.0
    player.pitch = min(90.0, max(-90.0, player.pitch + action.camera_pitch))


def direction(player: Player) -> tuple[float, float, float]:
    """Direction of the player's look: a vector of length 1."""
    yaw, pitch = math.radians(player.yaw), math.radians(player.pitch)
    return -math.sin(yaw) * math.cos(pitch), -math.sin(pitch), math.cos(yaw) * math.cos(pitch)


def move(world: WorldState, action: Action) -> None:
    """Turn and move the player for one tick by the keys of `action`; dead and sleeping players stay where they are."""
    player, blocks = world.player, world.grid.blocks
    if player.dead:
        return
    look(player, action)
    if player.sleeping:
        player.vx = player.vy = player.vz = 0.0
        return
    _sneak(world, action)
    forward, strafe = float(action.forward) - float(action.back), float(action.left) - float(action.right)
    if player.sneaking:
        forward, strafe = forward * 0.3, strafe * 0.3
    if player.eating or player.drawing:
        forward, strafe = forward * 0.2, strafe * 0.2
    water, fx, fy, fz, cells = _immersion(blocks, player.x, player.y, player.z, HALF_WIDTH, player.height, physics.WATER)
    _carry(player, fx, fy, fz, cells, 0.014)
    lava, fx, fy, fz, cells = _immersion(blocks, player.x, player.y, player.z, HALF_WIDTH, player.height, physics.LAVA)
    _carry(player, fx, fy, fz, cells, 0.0023333333)
    player.in_water = water > 0
    if player.in_water:
        player.fall_distance = 0.0
    if lava > 0:
        player.fall_distance *= 0.5
    _sprint(world, action, forward)
    player.vx, player.vy, player.vz = (v if abs(v) >= 0.003 else 0.0 for v in (player.vx, player.vy, player.vz))
    if player.in_water and action.sneak:
        player.vy -= 0.04
    _jump(world, action, water, lava)
    forward, strafe = forward * 0.98, strafe * 0.98
    before = player.x, player.y, player.z
    if player.in_water:
        _swim(world, action, forward, strafe)
    elif lava > 0:
        _wade(world, forward, strafe, lava)
    else:
        _walk(world, action, forward, strafe)
    _tire(player, before)


def _sneak(world: WorldState, action: Action) -> None:
    """Sneak while the key is held, and stay down where blocks are too low to stand up."""
    player = world.player
    if action.sneak:
        player.sneaking = True
    elif player.sneaking:
        player.sneaking = not physics.is_free(world.grid.blocks, player.x, player.y, player.z, HALF_WIDTH, HEIGHT)


def _sprint(world: WorldState, action: Action, forward: float) -> None:
    """Start or stop sprinting, which needs the key, a step forward, and food; a collision with a wall stops it."""
    player = world.player
    able = forward >= 0.8 and player.food > 6 and "blindness" not in player.effects
    diving = player.in_water and vitals.eyes_in(world) == physics.WATER
    if player.sprinting:
        if not able or player.hit_wall or (player.in_water and not diving):
            player.sprinting = False
    elif able and action.sprint and (not player.in_water or diving):
        player.sprinting = True


def _jump(world: WorldState, action: Action, water: float, lava: float) -> None:
    player = world.player
    player.jump_delay = max(0, player.jump_delay - 1)
    if not action.jump:
        player.jump_delay = 0
    elif (water > 0 and not (player.on_ground and water <= 0.4)) or (lava > 0 and not (player.on_ground and lava <= 0.4)):
        player.vy += 0.04
    elif player.on_ground and not player.jump_delay:
        player.jump_delay = 10
        feet, below = _at(world, 0.0), _at(world, 0.5000001)
        honey = "honey_block" in (name_of(feet), name_of(below))
        player.vy = 0.42 * (0.5 if honey else 1.0) + 0.1 * vitals.strength(player, "jump_boost")
        if player.sprinting:
            yaw = math.radians(player.yaw)
            player.vx -= math.sin(yaw) * 0.2
            player.vz += math.cos(yaw) * 0.2
        player.count("moved", "jump")
        vitals.exhaust(player, 0.2 if player.sprinting else 0.05)


def speed(player: Player) -> float:
    """The game's speed attribute, to which walking is proportional: 0.1, changed by sprinting and effects."""
    value = 0.1 * (1.3 if player.sprinting else 1.0) * (1 + 0.2 * vitals.strength(player, "speed"))
    return max(0.0, value * (1 - 0.15 * vitals.strength(player, "slowness")))


def _push(player: Player, forward: float, strafe: float, by: float) -> None:
    """Accelerate in the direction of the keys, by `by` blocks per tick when they are fully pressed."""
    square = forward * forward + strafe * strafe
    if square < 1e-7:
        return
    scale = by / math.sqrt(square) if square > 1 else by
    yaw = math.radians(player.yaw)
    sin, cos = math.sin(yaw), math.cos(yaw)
    player.vx += (strafe * cos - forward * sin) * scale
    player.vz += (forward * cos + strafe * sin) * scale


def _carry(player: Player, fx: float, fy: float, fz: float, cells: int, by: float) -> None:
    length = math.sqrt(fx * fx + fy * fy + fz * fz)
    if not cells or length == 0:
        return
    scale = by / cells
    if abs(player.vx) < 0.003 and abs(player.vz) < 0.003 and length * scale < 0.0045:
        scale = 0.0045 / length
    player.vx, player.vy, player.vz = player.vx + fx * scale, player.vy + fy * scale, player.vz + fz * scale


def _at(world: WorldState, below: float) -> int:
    """State of the cell `below` blocks under the feet."""
    player = world.player
    return world.grid.get(math.floor(player.x), math.floor(player.y - below), math.floor(player.z))


def on_climbable(world: WorldState) -> bool:
    """Whether the feet are in a ladder, vine or scaffolding, or in an open trapdoor above a ladder."""
    state = _at(world, 0.0)
    if _CLIMBABLE[state]:
        return True
    if name_of(state).endswith("_trapdoor") and properties_of(state)["open"] == "true":
        below = _at(world, 1.0)
        return name_of(below) == "ladder" and properties_of(below)["facing"] == properties_of(state)["facing"]
    return False


def _walk(world: WorldState, action: Action, forward: float, strafe: float) -> None:
    player = world.player
    friction = float(_FRICTION[_at(world, 0.5000001)])
    drag = friction * 0.91 if player.on_ground else 0.91
    if player.on_ground:
        by = speed(player) * (0.21600002 / (friction * friction * friction))
    else:
        by = 0.026 if player.sprinting else 0.02
    _push(player, forward, strafe, by)
    player.on_ladder = on_climbable(world)
    if player.on_ladder:
        player.fall_distance = 0.0
        player.vx, player.vz = min(0.15, max(-0.15, player.vx)), min(0.15, max(-0.15, player.vz))
        player.vy = max(player.vy, -0.15)
        if player.vy < 0 and action.sneak and name_of(_at(world, 0.0)) != "scaffolding":
            player.vy = 0.0
    _slide(world, action)
    player.on_ladder = on_climbable(world)
    if (player.hit_wall or action.jump) and player.on_ladder:
        player.vy = 0.2
    if "levitation" in player.effects:
        player.vy += (0.05 * vitals.strength(player, "levitation") - player.vy) * 0.2
        player.fall_distance = 0.0
    else:
        player.vy -= _gravity(player, player.vy <= 0)
    player.vx, player.vy, player.vz = player.vx * drag, player.vy * DRAG, player.vz * drag


def _gravity(player: Player, falling: bool) -> float:
    if falling and "slow_falling" in player.effects:
        player.fall_distance = 0.0
        return 0.01
    return GRAVITY


def _sink(player: Player, gravity: float, falling: bool) -> None:
    """Sink slowly, as in water; a sprinting swimmer does not sink."""
    if player.sprinting:
        return
    if falling and abs(player.vy - 0.005) >= 0.003 and abs(player.vy - gravity / 16) < 0.003:
        player.vy = -0.003
    else:
        player.vy -= gravity / 16


def _swim(world: WorldState, action: Action, forward: float, strafe: float) -> None:
    player = world.player
    if player.sprinting:
        up = direction(player)[1]
        surfacing = physics.fluid_at(world.grid.blocks, math.floor(player.x), math.floor(player.y + 0.9), math.floor(player.z))
        if up <= 0 or action.jump or surfacing[0]:
            player.vy += (up - player.vy) * (0.085 if up < -0.2 else 0.06)
    from_y, falling = player.y, player.vy <= 0
    _push(player, forward, strafe, 0.02)
    _slide(world, action)
    player.on_ladder = on_climbable(world)
    if player.hit_wall and player.on_ladder:
        player.vy = 0.2
    drag = 0.9 if player.sprinting else 0.8
    player.vx, player.vy, player.vz = player.vx * drag, player.vy * 0.8, player.vz * drag
    _sink(player, _gravity(player, falling), falling)
    _climb_out(world, from_y)


def _wade(world: WorldState, forward: float, strafe: float, depth: float) -> None:
    player = world.player
    from_y, falling = player.y, player.vy <= 0
    gravity = _gravity(player, falling)
    _push(player, forward, strafe, 0.02)
    _slide(world, Action())
    player.vx, player.vz = player.vx * 0.5, player.vz * 0.5
    if depth <= 0.4:
        player.vy *= 0.8
        _sink(player, gravity, falling)
    else:
        player.vy *= 0.5
    player.vy -= gravity / 4
    _climb_out(world, from_y)


def _climb_out(world: WorldState, from_y: float) -> None:
    """Let a player at the edge of a liquid jump onto the land."""
    player, blocks = world.player, world.grid.blocks
    if not player.hit_wall:
        return
    x, y, z = player.x + player.vx, from_y + player.vy + 0.6, player.z + player.vz
    if physics.is_free(blocks, x, y, z, HALF_WIDTH, player.height):
        for kind in (physics.WATER, physics.LAVA):
            if physics.immersion(blocks, x, y, z, HALF_WIDTH, player.height, kind)[4]:
                return
        player.vy = 0.3


def _hold_edge(world: WorldState, dx: float, dz: float) -> tuple[float, float]:
    """Shorten a sneaking player's step so that ground stays under the body, at most 0.6 below."""
    player, blocks = world.player, world.grid.blocks

    def over_nothing(x: float, z: float) -> bool:
        # One body height below, so that only what is under the feet counts.
        y = player.y - physics.STEP_HEIGHT
        return bool(physics.is_free(blocks, player.x + x, y, player.z + z, HALF_WIDTH, physics.STEP_HEIGHT))

    def shorter(d: float) -> float:
        return 0.0 if abs(d) < 0.05 else d - math.copysign(0.05, d)

    while dx != 0 and over_nothing(dx, 0.0):
        dx = shorter(dx)
    while dz != 0 and over_nothing(0.0, dz):
        dz = shorter(dz)
    while dx != 0 and dz != 0 and over_nothing(dx, dz):
        dx, dz = shorter(dx), shorter(dz)
    return dx, dz


def _slide(world: WorldState, action: Action) -> None:
    """Move the player by the speed, colliding with blocks; a collision ends the speed along its axis; landing may hurt."""
    player, blocks = world.player, world.grid.blocks
    tall = player.height
    dx, dy, dz = player.vx, player.vy, player.vz
    sticky = physics.touched(blocks, player.x, player.y, player.z, HALF_WIDTH, tall, _STICKY)
    if sticky:
        across, along = (0.25, 0.05) if sticky & _WEB else (0.8, 0.75)
        dx, dy, dz = dx * across, dy * along, dz * across
        player.vx = player.vy = player.vz = 0.0
        player.fall_distance = 0.0
    # A sneaking player sinks through scaffolding, so holds no edge there.
    sinks = action.sneak and name_of(_at(world, 0.5)) == "scaffolding"
    if player.sneaking and dy <= 0 and player.on_ground and not sinks:
        dx, dz = _hold_edge(world, dx, dz)
    x, y, z, hit_x, hit_y, hit_z = physics.move_box(
        blocks,
        player.x,
        player.y,
        player.z,
        dx,
        dy,
        dz,
        HALF_WIDTH,
        tall,
        -1.0 if sinks else physics.STEP_HEIGHT,
        player.on_ground,
    )
    moved_y = y - player.y
    player.x, player.y, player.z = float(x), float(y), float(z)
    player.hit_wall = bool(hit_x or hit_z)
    player.on_ground = bool(hit_y and dy < 0)
    if hit_x:
        player.vx = 0.0
    if hit_z:
        player.vz = 0.0
    below = _at(world, 0.2)
    on_slime = name_of(below) == "slime_block" and not action.sneak
    _land(world, moved_y, below)
    if hit_y:
        player.vy = -player.vy if on_slime and player.vy < 0 else 0.0
    if player.on_ground and on_slime and abs(player.vy) < 0.1:
        player.vx, player.vz = player.vx * (0.4 + abs(player.vy) * 0.2), player.vz * (0.4 + abs(player.vy) * 0.2)
    slowing = float(_SLOWING[_at(world, 0.0)])
    if slowing == 1.0 and not player.in_water:
        slowing = float(_SLOWING[_at(world, 0.5000001)])
    player.vx, player.vz = player.vx * slowing, player.vz * slowing


def _land(world: WorldState, moved_y: float, below: int) -> None:
    """Count the distance of a fall; at its end take half a heart per block beyond 3 (minecraft.wiki, "Damage: Fall damage")."""
    player = world.player
    if moved_y < 0 and not player.on_ground:
        player.fall_distance -= moved_y
        return
    if not player.on_ground:
        return
    distance, player.fall_distance = player.fall_distance - min(0.0, moved_y), 0.0
    if distance <= 3 or player.game_mode not in ("survival", "adventure"):
        return
    if physics.immersion(world.grid.blocks, player.x, player.y, player.z, HALF_WIDTH, player.height, physics.WATER)[4]:
        return
    name = name_of(below)
    share = {"hay_block": 0.2, "honey_block": 0.2, "slime_block": 1.0 if player.sneaking else 0.0}.get(name, 1.0)
    if name.endswith("_bed"):
        distance /= 2  # the way, not the damage
    # Less a millionth: a drop of exactly 4 is summed from many floats.
    damage = math.ceil((distance - 3 - vitals.strength(player, "jump_boost")) * share - 1e-6)
    if damage > 0:
        vitals.hurt(world, float(damage), "fall")


def _tire(player: Player, before: tuple[float, float, float]) -> None:
    """Count the distance moved, and let sprinting and swimming make the player hungry."""
    across = math.hypot(player.x - before[0], player.z - before[2])
    if player.in_water:
        vitals.exhaust(player, 0.01 * math.hypot(across, player.y - before[1]))
    elif player.on_ground and player.sprinting:
        vitals.exhaust(player, 0.1 * across)
