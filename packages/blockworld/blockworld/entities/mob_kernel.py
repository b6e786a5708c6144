"""One tick of all mobs: they decide, walk, swim, fall, are pushed and hurt.

One kernel call moves all mobs. It reports all other effects (blows to the player, arrows, eggs, deaths) as events. All its
random numbers come from the argument `draws`. Speeds and accelerations are those of Minecraft 1.16: on the ground a mob gains
`speed**2` blocks per tick in each tick and keeps 0.546 of its old speed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from blockworld.entities.pathfinding import DOORS, REACH, feet, footing, sees, walkable, way
from blockworld.grid.physics import LAVA, WATER, immersion, is_free, move_box, touched
from blockworld.registry.blocks import block_named, per_block, properties_of, state_of
from blockworld.registry.entity_types import (
    ANGRY,
    ATTACKS,
    FLEES,
    FUSE_TICKS,
    GOLEM,
    HEIGHTS,
    HOSTILE,
    IGNITED,
    INVULNERABLE,
    KIND,
    LUREDS,
    NEUTRAL,
    NO_AI,
    NUM_THINGS,
    PASSIVE,
    PERSON,
    PLAYER_HIT,
    REST_TICKS,
    SAFE_TICKS,
    SIGHTS,
    SITTING,
    SPEEDS,
    STEADINESS,
    STEPS,
    TAMED,
    TEMPERS,
    WANDERS,
    WIDTHS,
)

IDLE, WANDER, FLEE, FOLLOW, COURT, CHASE, GRAZE, LOOK, HOME = range(9)
"""Values of `ENTITY.goal`."""
HURT_PLAYER, SHOOT, BURST, LAY, GRAZED, BIRTH, DIED, OPEN_DOOR = range(1, 9)
"""Kinds of events. An event is (kind, row, detail). The detail is the other parent's row for a birth, the target's id for a
shot, the packed cell for a door, the player's seat for a blow."""
X, Y, Z, EYE, IS_TARGET, PUSH_X, PUSH_Z, LURE, SEAT = range(9)
"""Columns of `players`. The kernel writes the pushes. `LURE` has the bits of the kinds that follow the player's held item."""
TICK, IS_DAY, IS_NIGHT, DIFFICULTY, IS_WET = range(5)
"""Indices in `about`, the array of facts about the world that the kernel needs."""

SHEEP, CHICKEN, WOLF, CAT, VILLAGER = (KIND[name] for name in ("sheep", "chicken", "wolf", "cat", "villager"))
ZOMBIE, SKELETON, SPIDER, CREEPER, SLIME = (KIND[name] for name in ("zombie", "skeleton", "spider", "creeper", "slime"))
IRON_GOLEM, SNOW_GOLEM = KIND["iron_golem"], KIND["snow_golem"]

LURE_RANGE, LURE_STOP = 10.0, 2.5
COURT_RANGE, COURT_TICKS = 8.0, 60
FLEE_TICKS = 100
BLOW_TICKS = 20
FIRE_HARM, CACTUS_HARM, LAVA_HARM, CAMPFIRE_HARM, SOUL_CAMPFIRE_HARM = (1 << bit for bit in range(5))


def _harm() -> np.ndarray:
    """Mark the states that harm a body; a campfire harms only while it is lit."""
    harm = per_block({"fire": FIRE_HARM, "soul_fire": FIRE_HARM, "cactus": CACTUS_HARM, "lava": LAVA_HARM}, 0, np.uint8)
    for name, mark in (("campfire", CAMPFIRE_HARM), ("soul_campfire", SOUL_CAMPFIRE_HARM)):
        block = block_named(name)
        for state in range(block.first, block.first + block.num_states):
            if properties_of(state)["lit"] == "true":
                harm[state] = mark
    return harm


HARM: np.ndarray = _harm()
"""uint8, shape (NUM_STATES,): marks of harmful states, for `physics.touched`."""
GRASS_BLOCK, GRASS = state_of("grass_block", snowy="false"), state_of("grass")


_Kernel = Callable[..., Any]
_options: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # Numba's stubs do not list them
_inner: Callable[[_Kernel], _Kernel] = njit(cache=True, **_options)
"""Decorator of kernels that only other kernels call; without entry points for Python, compiling takes a tenth less time."""


@njit(cache=True)
def say(events, what, row, other):  # type: ignore[no-untyped-def]
    """Add an event; row 0 of the array has the number of events."""
    number = events[0, 0] + 1
    if number < events.shape[0]:
        events[0, 0] = number
        events[number, 0], events[number, 1], events[number, 2] = what, row, other


@_inner
def scale(e):  # type: ignore[no-untyped-def]
    """A mob's size relative to its kind: young mobs are half as large; slimes have their own size."""
    if e.kind == SLIME:
        return e.variant / 4.0
    return 0.5 if e.age < 0 else 1.0


@njit(cache=True)
def row_of(entities, one):  # type: ignore[no-untyped-def]
    for i in range(entities.shape[0]):
        if entities[i].id == one and entities[i].kind >= NUM_THINGS and entities[i].health > 0:
            return i
    return -1


@_inner
def nearest(players, e, able):  # type: ignore[no-untyped-def]
    """Row of the player nearest to a body; players whose column `able` is 0 count only if there are no others."""
    best, found = math.inf, 0
    for k in range(players.shape[0]):
        player = players[k]
        far = (player[X] - e.x) ** 2 + (player[Y] - e.y) ** 2 + (player[Z] - e.z) ** 2
        if player[able] == 0.0:
            far += 1e12
        if far < best:
            best, found = far, k
    return found


@_inner
def _turned(yaw, wanted, most):  # type: ignore[no-untyped-def]
    by = (wanted - yaw + 180.0) % 360.0 - 180.0
    return (yaw + min(max(by, -most), most) + 180.0) % 360.0 - 180.0


@_inner
def _yaw_to(dx, dz):  # type: ignore[no-untyped-def]
    return math.degrees(math.atan2(-dx, dz))


@_inner
def _light(light, e, height):  # type: ignore[no-untyped-def]
    """Sky light and block light at a mob's eyes."""
    sx, sz, sy = light.shape
    cx, cz, cy = math.floor(e.x), math.floor(e.z), math.floor(e.y + height * 0.85)
    if cx < 0 or cz < 0 or cy < 0 or cx >= sx or cz >= sz or cy >= sy:
        return 15, 0
    value = int(light[cx, cz, cy])
    return value >> 4, value & 15


# Blows


@njit(cache=True)
def hurt(entities, row, amount, by, dx, dz, push):  # type: ignore[no-untyped-def]
    """Take `amount` half hearts from a mob and push it along (dx, dz); return False within the safe ticks after a blow.

    Args:
        by: Id of the attacker: 0 the player, -1 nobody.
        push: Speed of the push, in blocks per tick.
    """
    e = entities[row]
    if e.health <= 0 or e.hurt > 0 or e.flags & INVULNERABLE:
        return False
    e.health -= amount
    if amount > 0:
        e.hurt = SAFE_TICKS
    if by == 0:
        e.flags |= PLAYER_HIT
    elif by > 0:
        e.flags &= ~PLAYER_HIT
    shove(e, dx, dz, push)
    if by >= 0:
        _react(e, by)
    return True


@_inner
def shove(e, dx, dz, push):  # type: ignore[no-untyped-def]
    """Push a mob by a blow: it keeps half of its old speed, and also moves up if it stands."""
    push *= 1.0 - STEADINESS[e.kind]
    length = math.sqrt(dx * dx + dz * dz)
    if push <= 0.0 or length < 1e-9:
        return
    e.vx = e.vx / 2 + dx / length * push
    e.vz = e.vz / 2 + dz / length * push
    if e.on_ground:
        e.vy = min(0.4, e.vy / 2 + push)


@_inner
def _react(e, by):  # type: ignore[no-untyped-def]
    temper = TEMPERS[e.kind]
    e.flags &= ~SITTING
    if temper in (PASSIVE, PERSON):
        e.goal, e.goal_ticks, e.target = FLEE, FLEE_TICKS, by
        e.goal_x, e.goal_y, e.goal_z = e.x, e.y, e.z
        e.love = min(e.love, 0)
        return
    if e.kind == WOLF and e.flags & TAMED and by == 0:
        return
    e.target = by
    if by == 0:
        e.flags |= ANGRY


# Walking


@_inner
def _head_for(e, x, y, z, ticks):  # type: ignore[no-untyped-def]
    e.goal_x, e.goal_y, e.goal_z, e.goal_ticks = x, y, z, ticks


@_inner
def _approach(e, blocks, tx, ty, tz, half, height, budget):  # type: ignore[no-untyped-def]
    """Set a mob's next goal on the way to a target: the target itself if the straight line is free, else a spot on a detour."""
    if e.goal_ticks > 0:
        e.goal_ticks -= 1
    near = (e.goal_x - e.x) ** 2 + (e.goal_z - e.z) ** 2 < 0.3
    if not (e.goal_ticks <= 0 or (near and e.goal_ticks <= 20)) or not (e.on_ground or e.in_water):
        return
    far = math.sqrt((tx - e.x) ** 2 + (tz - e.z) ** 2)
    if far < 0.8 or (
        abs(ty - e.y) < 3.5
        and far < 2 * REACH
        and walkable(blocks, e.x, e.y, e.z, tx, tz, half, height, e.on_ground or e.in_water) >= far - max(0.6, half)
    ):
        _head_for(e, tx, ty, tz, 5)
    elif budget[0] > 0:
        budget[0] -= 1
        x, y, z, steps = way(blocks, e.x, e.y, e.z, tx, ty, tz, half, height, e.kind == VILLAGER)
        if steps > 0:
            _head_for(e, x, y, z, 20)
        else:
            _head_for(e, e.x, e.y, e.z, 50)


@_inner
def _stroll(e, blocks, half, height, turn, length):  # type: ignore[no-untyped-def]
    """Choose a spot that the mob can reach in a straight line; return False if the line is blocked.

    Args:
        turn: Direction as a share of a full circle, 0 to 1.
        length: Length of the way, in blocks.
    """
    dx, dz = math.cos(turn * 2 * math.pi), math.sin(turn * 2 * math.pi)
    far = walkable(blocks, e.x, e.y, e.z, e.x + dx * length, e.z + dz * length, half, height, e.in_water)
    far = min(far, length)
    if far < length:
        far -= 0.5
    if far < 1.0:
        return False
    _head_for(e, e.x + dx * far, e.y, e.z + dz * far, int(40 + far * 20))
    return True


@_inner
def _arrived(e, within):  # type: ignore[no-untyped-def]
    return (e.goal_x - e.x) ** 2 + (e.goal_z - e.z) ** 2 < within * within


@_inner
def _begin(e, goal):  # type: ignore[no-untyped-def]
    if e.goal != goal:
        e.goal, e.goal_ticks = goal, 0
        e.goal_x, e.goal_y, e.goal_z = e.x, e.y, e.z


@_inner
def _rest(e, draw):  # type: ignore[no-untyped-def]
    e.goal, e.goal_ticks = IDLE, 40 + int(draw * 160)


# Minds: each returns the factor on its speed with which the mob walks to (goal_x, goal_z); 0 to stand.


@_inner
def _flee(entities, e, blocks, player, draw, half, height):  # type: ignore[no-untyped-def]
    e.goal_ticks -= 1
    if e.goal_ticks <= 0:
        e.target = -1
        _rest(e, draw[0])
        return 0.0
    stuck = e.goal_ticks % 8 == 0 and e.vx * e.vx + e.vz * e.vz < 1e-4
    if _arrived(e, 0.7) or stuck:
        left = e.goal_ticks
        turn = draw[1]
        if e.target >= 0:
            tx, tz = player[X], player[Z]
            other = row_of(entities, e.target) if e.target > 0 else -1
            if other >= 0:
                tx, tz = entities[other].x, entities[other].z
            turn = math.atan2(e.z - tz, e.x - tx) / (2 * math.pi) + (draw[1] - 0.5) * (0.9 if stuck else 0.4)
        for k in range(4):
            if _stroll(e, blocks, half, height, turn + 0.17 * ((k + 1) // 2) * (1 - 2 * (k % 2)), 5.0 + 3 * draw[2]):
                break
        e.goal_ticks = left
    return FLEES[e.kind]


@_inner
def _calm(entities, e, blocks, player, draw, half, height):  # type: ignore[no-untyped-def]
    """Let a mob stand, look at the player, stroll or graze; young mobs stay near grown ones."""
    kind = e.kind
    away = (player[X] - e.x) ** 2 + (player[Z] - e.z) ** 2 + (player[Y] - e.y) ** 2
    if e.goal == GRAZE:
        e.goal_ticks -= 1
        if e.goal_ticks == 4:
            return -1.0
        if e.goal_ticks <= 0:
            _rest(e, draw[0])
        return 0.0
    if e.goal == LOOK:
        e.goal_ticks -= 1
        if e.goal_ticks <= 0 or away > 64.0:
            _rest(e, draw[0])
        return 0.0
    if e.goal == WANDER:
        e.goal_ticks -= 1
        stuck = e.goal_ticks % 10 == 0 and e.vx * e.vx + e.vz * e.vz < 1e-5 and e.on_ground
        if e.goal_ticks <= 0 or _arrived(e, 0.4) or stuck:
            _rest(e, draw[0])
            return 0.0
        return WANDERS[kind]
    if e.goal != IDLE:
        _rest(e, draw[0])
    if kind == SHEEP and draw[3] < (0.02 if e.age < 0 else 0.001) and e.on_ground and _on_grass(blocks, e):
        e.goal, e.goal_ticks = GRAZE, 40
        return 0.0
    e.goal_ticks -= 1
    if e.goal_ticks > 0 and not e.in_water:
        if draw[3] > 0.98 and away < 36.0:
            e.goal, e.goal_ticks = LOOK, 40 + int(draw[0] * 40)
        return 0.0
    if not (e.on_ground or e.in_water):
        return 0.0
    length, turn = 2.0 + 8.0 * draw[1], draw[2]
    if e.age < 0:
        parent = _nearest_grown(entities, e)
        if parent >= 0:
            other = entities[parent]
            far = math.sqrt((other.x - e.x) ** 2 + (other.z - e.z) ** 2)
            if far > 3.0:
                length, turn = far - 2.0, math.atan2(other.z - e.z, other.x - e.x) / (2 * math.pi)
    if _stroll(e, blocks, half, height, turn, length):
        e.goal = WANDER
    else:
        e.goal_ticks = 10 + int(draw[0] * 20)
    return 0.0


@_inner
def _on_grass(blocks, e):  # type: ignore[no-untyped-def]
    cx, cz, cy = math.floor(e.x), math.floor(e.z), math.floor(e.y + 0.01)
    sx, sz, sy = blocks.shape
    if cx < 0 or cz < 0 or cy < 1 or cx >= sx or cz >= sz or cy >= sy:
        return False
    return blocks[cx, cz, cy] == GRASS or blocks[cx, cz, cy - 1] == GRASS_BLOCK


@_inner
def _nearest_grown(entities, e):  # type: ignore[no-untyped-def]
    """Row of the nearest grown mob of the same kind within 8 blocks, or -1."""
    found, best = -1, 64.0
    for i in range(entities.shape[0]):
        o = entities[i]
        if o.kind == e.kind and o.age >= 0 and o.health > 0:
            far = (o.x - e.x) ** 2 + (o.z - e.z) ** 2 + (o.y - e.y) ** 2
            if far < best:
                found, best = i, far
    return found


@_inner
def _court(entities, row, e, blocks, half, height, budget, events):  # type: ignore[no-untyped-def]
    """Let a mob in love walk to a partner; then a young mob is born. Return the factor on its speed, -1.0 without a partner."""
    found, best = -1, COURT_RANGE**2
    for i in range(entities.shape[0]):
        o = entities[i]
        if i != row and o.kind == e.kind and o.love > 0 and o.age >= 0 and o.health > 0:
            far = (o.x - e.x) ** 2 + (o.z - e.z) ** 2 + (o.y - e.y) ** 2
            if far < best:
                found, best = i, far
    if found < 0:
        return -1.0
    o = entities[found]
    if e.goal != COURT:
        _begin(e, COURT)
        e.fall = 0.0
        e.target = 0
    # The ticks of a courtship stand in `target`, which nobody else needs then.
    e.target += 1
    if e.target >= COURT_TICKS and best < 9.0:
        if o.goal == COURT and row < found:
            say(events, BIRTH, row, found)
            e.love = o.love = -REST_TICKS
            e.target = o.target = -1
            e.goal = o.goal = IDLE
            e.goal_ticks = o.goal_ticks = 60
        return 0.0
    _approach(e, blocks, o.x, o.y, o.z, half, height, budget)
    return 0.0 if best < (half * 2 + 0.3) ** 2 else 1.0


@_inner
def _follow(e, blocks, tx, ty, tz, half, height, budget, stop, factor):  # type: ignore[no-untyped-def]
    _begin(e, FOLLOW)
    if (tx - e.x) ** 2 + (tz - e.z) ** 2 + (ty - e.y) ** 2 < stop * stop:
        e.goal_x, e.goal_z, e.goal_ticks = e.x, e.z, 0
        return 0.0
    _approach(e, blocks, tx, ty, tz, half, height, budget)
    return factor


@_inner
def _live_in_village(entities, e, blocks, about, draw, half, height, budget, events, row):  # type: ignore[no-untyped-def]
    """Let a villager stay near home by day, inside by night. Return the factor on its speed, -1.0 to let `_calm` decide."""
    if (about[TICK] + e.id) % 10 == 0:
        for i in range(entities.shape[0]):
            o = entities[i]
            if o.kind == ZOMBIE and o.health > 0 and (o.x - e.x) ** 2 + (o.z - e.z) ** 2 < 64.0 and abs(o.y - e.y) < 4:
                e.goal, e.goal_ticks, e.target = FLEE, 40, o.id
                e.goal_x, e.goal_y, e.goal_z = e.x, e.y, e.z
                return 0.0
    if e.item < 0:
        return -1.0
    hx, hz = e.item + 0.5, e.count + 0.5
    far = (hx - e.x) ** 2 + (hz - e.z) ** 2
    if about[IS_NIGHT] or about[IS_WET]:
        if far < 0.6:
            if e.goal == HOME:
                _rest(e, draw[0])
            e.goal_ticks = max(e.goal_ticks, 20)
            return -1.0
    else:
        # Another spot around the house every 40 seconds, and half of the time none at all
        when = (about[TICK] + e.id * 37) // 800
        mixed = (when * 2654435761 + e.id * 40503) & 0xFFFFFFFF
        mixed = (mixed ^ (mixed >> 15)) * 2246822519 & 0xFFFFFFFF
        mixed ^= mixed >> 13
        if mixed & 1 and far < 400.0:
            return -1.0
        hx += (mixed >> 4) % 25 - 12
        hz += (mixed >> 12) % 25 - 12
        if (hx - e.x) ** 2 + (hz - e.z) ** 2 < 4.0:
            return -1.0
    _begin(e, HOME)
    _approach(e, blocks, hx, e.y, hz, half, height, budget)
    if _arrived(e, 0.3):
        return 0.0
    _push_door(e, blocks, events, row)
    return WANDERS[VILLAGER]


@_inner
def _push_door(e, blocks, events, row):  # type: ignore[no-untyped-def]
    dx, dz = e.goal_x - e.x, e.goal_z - e.z
    length = math.sqrt(dx * dx + dz * dz)
    if length < 1e-6:
        return
    sx, sz, sy = blocks.shape
    cy = math.floor(e.y + 0.1)
    for k in range(3):
        cx, cz = math.floor(e.x + dx / length * 0.4 * k), math.floor(e.z + dz / length * 0.4 * k)
        if 0 <= cx < sx and 0 <= cz < sz and 0 <= cy < sy and DOORS[blocks[cx, cz, cy]]:
            say(events, OPEN_DOOR, row, (cx * sz + cz) * sy + cy)
            return


@_inner
def _choose_target(entities, e, blocks, light, player, about, height):  # type: ignore[no-untyped-def]
    kind, temper = e.kind, TEMPERS[e.kind]
    sight = SIGHTS[kind]
    eye = e.y + height * 0.85
    to_player = math.sqrt((player[X] - e.x) ** 2 + (player[Y] - e.y) ** 2 + (player[Z] - e.z) ** 2)
    if e.target > 0 and row_of(entities, e.target) < 0:
        e.target = -1
    if e.target == 0 and (not player[IS_TARGET] or to_player > sight * 1.5 or (temper == HOSTILE and about[DIFFICULTY] == 0)):
        e.target = -1
        e.flags &= ~ANGRY
    if e.target >= 0:
        return
    if temper == HOSTILE and about[DIFFICULTY] > 0:
        hunts = player[IS_TARGET] and to_player < sight
        if hunts and kind == SPIDER:
            sky, glow = _light(light, e, height)
            hunts = max(sky if about[IS_DAY] else sky - 11, glow) < 12
        if hunts and sees(blocks, e.x, eye, e.z, player[X], player[EYE], player[Z]):
            e.target = 0
            e.count = max(e.count, 10)
            return
    if kind != ZOMBIE and temper != GOLEM:
        return
    found, best = -1, min(sight, 16.0) ** 2
    for i in range(entities.shape[0]):
        o = entities[i]
        if o.kind < NUM_THINGS or o.health <= 0:
            continue
        foe = TEMPERS[o.kind] == HOSTILE and (o.kind != CREEPER or kind != IRON_GOLEM)
        if kind == ZOMBIE:
            foe = o.kind == VILLAGER or o.kind == IRON_GOLEM
        if foe:
            far = (o.x - e.x) ** 2 + (o.y - e.y) ** 2 + (o.z - e.z) ** 2
            if far < best and sees(blocks, e.x, eye, e.z, o.x, o.y + HEIGHTS[o.kind] * 0.8, o.z):
                found, best = i, far
    if found >= 0:
        e.target = entities[found].id


@_inner
def _fight(entities, row, e, blocks, player, about, half, height, budget, events):  # type: ignore[no-untyped-def]
    """Let a mob chase its target and strike, shoot or explode. Return the factor on its speed, -1.0 if it has no target."""
    kind = e.kind
    tx, ty, tz, teye, twidth = player[X], player[Y], player[Z], player[EYE], 0.6
    other = -1
    if e.target > 0:
        other = row_of(entities, e.target)
        if other < 0:
            e.target = -1
            return -1.0
        o = entities[other]
        tx, ty, tz, twidth = o.x, o.y, o.z, WIDTHS[o.kind]
        teye = o.y + HEIGHTS[o.kind] * 0.8
    elif not player[IS_TARGET]:
        e.target = -1
        e.flags &= ~ANGRY
        return -1.0
    dx, dy, dz = tx - e.x, ty - e.y, tz - e.z
    far = math.sqrt(dx * dx + dy * dy + dz * dz)
    eye = e.y + height * 0.85
    if kind == CREEPER:
        if e.goal_ticks < 0:
            e.goal_x, e.goal_z = e.x, e.z
            near = e.flags & IGNITED or (far < 7.0 and sees(blocks, e.x, eye, e.z, tx, teye, tz))
            e.goal_ticks += -1 if near else 1
            if e.goal_ticks <= -FUSE_TICKS:
                say(events, BURST, row, 0)
                e.health = 0.0
            return 0.0
        if far < 3.0 and sees(blocks, e.x, eye, e.z, tx, teye, tz):
            e.goal_ticks = -1
            return 0.0
    _begin(e, CHASE)
    if kind in (SKELETON, SNOW_GOLEM):
        reach = 15.0 if kind == SKELETON else 10.0
        clear = far < reach and sees(blocks, e.x, eye, e.z, tx, teye, tz)
        if clear:
            e.goal_x, e.goal_z, e.goal_ticks = e.x, e.z, 0
            if e.count <= 0:
                say(events, SHOOT, row, e.target)
                e.count = 20 if kind == SNOW_GOLEM or about[DIFFICULTY] >= 3 else 40
            if far > 4.5 and (far < 9.0 or kind == SNOW_GOLEM):
                return 0.0
            if far <= 4.5 and kind == SKELETON:
                # Back off, as far as there is ground
                length = math.sqrt(dx * dx + dz * dz) + 1e-9
                bx, bz = e.x - dx / length * 2.0, e.z - dz / length * 2.0
                if walkable(blocks, e.x, e.y, e.z, bx, bz, half, height, e.in_water) >= 1.5:
                    e.goal_x, e.goal_z = bx, bz
                    return 0.9
                return 0.0
        _approach(e, blocks, tx, ty, tz, half, height, budget)
        return 1.0
    if kind == SPIDER and e.on_ground and 2.0 < far < 4.0 and (about[TICK] + e.id) % 9 == 0:
        length = math.sqrt(dx * dx + dz * dz) + 1e-9
        e.vx += dx / length * 0.4
        e.vz += dz / length * 0.4
        e.vy = 0.4
    reach = 4.0 * (2 * half) ** 2 + twidth
    if kind == SLIME:
        reach = (half + twidth / 2 + 0.1) ** 2 + 0.6
    ready = far * far <= reach and e.count <= 0 and (kind != SLIME or e.variant > 1)
    if ready and sees(blocks, e.x, eye, e.z, tx, teye, tz):
        e.count = BLOW_TICKS
        if e.target == 0:
            say(events, HURT_PLAYER, row, int(player[SEAT]))
        else:
            damage = ATTACKS[kind] * (e.variant if kind == SLIME else 1)
            if hurt(entities, other, damage, e.id, dx, dz, 0.4) and kind == IRON_GOLEM:
                entities[other].vy += 0.4
    if kind == SPIDER:
        # No way round for who climbs
        _head_for(e, tx, ty, tz, 0)
    else:
        _approach(e, blocks, tx, ty, tz, half, height, budget)
    if math.sqrt(dx * dx + dz * dz) < half + twidth / 2:
        return 0.0
    return 1.0


@_inner
def _pet(e, blocks, player, half, height, budget):  # type: ignore[no-untyped-def]
    """Let a tame wolf or cat sit or follow the player. Return the factor on its speed, -1.0 if it does neither."""
    if e.flags & SITTING:
        e.goal, e.goal_ticks = IDLE, 20
        return 0.0
    far = math.sqrt((player[X] - e.x) ** 2 + (player[Y] - e.y) ** 2 + (player[Z] - e.z) ** 2)
    if far > 12.0 and e.age >= 0:
        cy = math.floor(player[Y] + 0.01)
        for k in range(16):
            cx, cz = math.floor(player[X]) + k % 4 * 2 - 3, math.floor(player[Z]) + k // 4 * 2 - 3
            at = footing(blocks, cx, cy, cz, 1, 1)
            if at >= 0:
                top = feet(blocks, cx, at, cz)
                if is_free(blocks, cx + 0.5, top + 0.001, cz + 0.5, half, height):
                    e.x, e.y, e.z = cx + 0.5, top, cz + 0.5
                    e.vx = e.vy = e.vz = 0.0
                    e.fall = 0.0
                    e.goal, e.goal_ticks = IDLE, 20
                    return 0.0
    if far > 10.0 or (e.goal == FOLLOW and far > 2.5):
        return _follow(e, blocks, player[X], player[Y], player[Z], half, height, budget, 2.5, 1.0)
    return -1.0


@_inner
def _mind(entities, row, e, blocks, light, player, about, draw, half, height, budget, events):  # type: ignore[no-untyped-def]
    """Decide a mob's behaviour in this tick; return the factor on its speed."""
    kind, temper = e.kind, TEMPERS[e.kind]
    if e.fire > 0 and temper == PASSIVE and e.goal != FLEE:
        e.goal, e.goal_ticks, e.target = FLEE, FLEE_TICKS, -1
        e.goal_x, e.goal_y, e.goal_z = e.x, e.y, e.z
    if e.goal == FLEE:
        return _flee(entities, e, blocks, player, draw, half, height)
    factor = -1.0
    if temper >= NEUTRAL and temper != PERSON:
        if (about[TICK] + e.id) % 10 == 0:
            _choose_target(entities, e, blocks, light, player, about, height)
        if kind == CREEPER and e.flags & IGNITED and e.target < 0:
            e.target = 0
            e.goal_ticks = min(e.goal_ticks, -1)
        if e.target >= 0 and not e.flags & SITTING:
            factor = _fight(entities, row, e, blocks, player, about, half, height, budget, events)
            if factor >= 0.0:
                return factor
        if kind == CREEPER and e.goal_ticks < 0:
            e.goal_ticks += 1
            return 0.0
    if e.flags & TAMED and (kind in (WOLF, CAT)):
        factor = _pet(e, blocks, player, half, height, budget)
        if factor >= 0.0:
            return factor
    if e.love > 0 and e.age >= 0:
        factor = _court(entities, row, e, blocks, half, height, budget, events)
        if factor >= 0.0:
            return factor
    if int(player[LURE]) >> kind & 1:
        away = (player[X] - e.x) ** 2 + (player[Y] - e.y) ** 2 + (player[Z] - e.z) ** 2
        if away < LURE_RANGE**2:
            return _follow(e, blocks, player[X], player[Y], player[Z], half, height, budget, LURE_STOP, LUREDS[kind])
    # One that looks at somebody, as while trading, goes nowhere.
    if temper == PERSON and e.goal != LOOK:
        factor = _live_in_village(entities, e, blocks, about, draw, half, height, budget, events, row)
        if factor >= 0.0:
            return factor
    if e.goal == COURT:
        e.target = -1
    factor = _calm(entities, e, blocks, player, draw, half, height)
    if factor == -1.0:
        say(events, GRAZED, row, 0)
        return 0.0
    return factor


# Bodies


@_inner
def _face(e, player, factor):  # type: ignore[no-untyped-def]
    """Turn a mob's body in the direction of its walk, and its head to the player if it has a reason."""
    dx, dz = e.goal_x - e.x, e.goal_z - e.z
    at_player = e.goal == LOOK or (e.goal == FOLLOW) or (e.goal == CHASE and e.target == 0)
    if factor > 0 and dx * dx + dz * dz > 0.01:
        e.yaw = _turned(e.yaw, _yaw_to(dx, dz), 30.0)
    elif e.goal == CHASE and e.target == 0:
        e.yaw = _turned(e.yaw, _yaw_to(player[X] - e.x, player[Z] - e.z), 30.0)
    if at_player:
        px, py, pz = player[X] - e.x, player[EYE] - e.y - HEIGHTS[e.kind] * 0.85, player[Z] - e.z
        e.head_yaw = _turned(e.head_yaw, _yaw_to(px, pz), 15.0)
        pitch = -math.degrees(math.atan2(py, math.sqrt(px * px + pz * pz)))
        e.pitch += min(max(pitch - e.pitch, -10.0), 10.0)
        if factor <= 0 and abs((e.head_yaw - e.yaw + 180.0) % 360.0 - 180.0) > 60.0:
            e.yaw = _turned(e.yaw, e.head_yaw, 10.0)
    else:
        e.head_yaw = _turned(e.head_yaw, e.yaw, 15.0)
        down = 50.0 if e.goal == GRAZE else 0.0
        e.pitch += min(max(down - e.pitch, -10.0), 10.0)


@_inner
def _walk(e, blocks, factor, half, height, draw):  # type: ignore[no-untyped-def]
    """Move a mob for one tick: accelerate, collide with blocks, fall, float and jump."""
    kind = e.kind
    depth, fx, fy, fz, cells = immersion(blocks, e.x, e.y, e.z, half, height, WATER)
    lava = 0.0
    if touched(blocks, e.x, e.y, e.z, half, height, HARM) & LAVA_HARM:
        lava = immersion(blocks, e.x, e.y, e.z, half, height, LAVA)[0]
    e.in_water = depth > 0
    if cells > 0:
        length = math.sqrt(fx * fx + fy * fy + fz * fz)
        if length > 1e-9:
            e.vx += fx / length * 0.014
            e.vy += fy / length * 0.014
            e.vz += fz / length * 0.014
    dx, dz = e.goal_x - e.x, e.goal_z - e.z
    far = math.sqrt(dx * dx + dz * dz)
    speed = SPEEDS[kind] * factor
    if e.age < 0 and e.kind == ZOMBIE:
        speed *= 1.5
    push = 0.0
    swims = depth > 0 or lava > 0
    if factor > 0 and far > 0.05:
        dx, dz = dx / far, dz / far
        push = speed * 0.04 if swims else (speed * speed if e.on_ground else 0.012)
        if kind == SLIME:
            push = 0.0
            # Slimes hop instead of walking
            if e.on_ground and draw[0] < (0.15 if e.target >= 0 else 0.06):
                e.vx, e.vy, e.vz = dx * 0.25, 0.42, dz * 0.25
                e.on_ground = False
        # Not past the spot
        push = min(push, far)
    else:
        dx = dz = 0.0
    e.vx += dx * push
    e.vz += dz * push
    if abs(e.vx) < 0.003:
        e.vx = 0.0
    if abs(e.vz) < 0.003:
        e.vz = 0.0
    if swims and kind != IRON_GOLEM and max(depth, lava) > 0.4 * min(height, 1.0):
        e.vy += 0.04
    vx, vy, vz = e.vx, e.vy, e.vz
    x, y, z, hit_x, hit_y, hit_z = move_box(blocks, e.x, e.y, e.z, vx, vy, vz, half, height, STEPS[kind], e.on_ground)
    moved = math.sqrt((x - e.x) ** 2 + (z - e.z) ** 2)
    fallen = e.y - y
    e.x, e.y, e.z = x, y, z
    e.walked += moved
    was_on_ground = e.on_ground
    e.on_ground = hit_y and vy < 0
    if hit_x:
        e.vx = 0.0
    if hit_z:
        e.vz = 0.0
    if hit_y:
        e.vy = 0.0
    damage = 0.0
    if swims:
        e.fall = 0.0
    elif e.on_ground:
        if e.fall > 3.0 and kind != CHICKEN and kind != CAT and kind != IRON_GOLEM:
            damage = math.ceil(e.fall - 3.0 - 1e-6)
        e.fall = 0.0
    elif fallen > 0:
        e.fall += fallen
    if swims:
        drag = 0.8 if lava <= 0 else 0.5
        e.vx *= drag
        e.vz *= drag
        e.vy = e.vy * drag - 0.02
        if (hit_x or hit_z) and factor > 0 and is_free(blocks, e.x + dx * 0.3, e.y + 0.6, e.z + dz * 0.3, half, height):
            e.vy = 0.3
    else:
        e.vy = (e.vy - 0.08) * 0.98
        drag = 0.546 if was_on_ground else 0.91
        e.vx *= drag
        e.vz *= drag
        if kind == CHICKEN and not e.on_ground and e.vy < 0:
            e.vy *= 0.6
        if (hit_x or hit_z) and factor > 0:
            if kind == SPIDER:
                e.vy = 0.2
            elif e.on_ground and is_free(blocks, e.x + dx * 0.35, e.y + 1.05, e.z + dz * 0.35, half, height):
                e.vy = 0.42
                e.on_ground = False
    return damage, lava


@_inner
def _suffer(entities, row, e, blocks, light, about, draw, half, height, fell, lava):  # type: ignore[no-untyped-def]
    if fell > 0:
        hurt(entities, row, fell, -1, 0.0, 0.0, 0.0)
    harm = touched(blocks, e.x, e.y, e.z, half, height, HARM)
    if lava > 0:
        e.fire = 300
        hurt(entities, row, 4.0, -1, 0.0, 0.0, 0.0)
    elif harm & FIRE_HARM:
        e.fire = max(e.fire, 160)
        hurt(entities, row, 1.0, -1, 0.0, 0.0, 0.0)
    if harm & (CAMPFIRE_HARM | SOUL_CAMPFIRE_HARM):
        hurt(entities, row, 2.0 if harm & SOUL_CAMPFIRE_HARM else 1.0, -1, 0.0, 0.0, 0.0)
    if harm & CACTUS_HARM:
        hurt(entities, row, 1.0, -1, 0.0, 0.0, 0.0)
    burns = e.kind in (ZOMBIE, SKELETON) and about[IS_DAY] and not about[IS_WET] and not e.in_water and e.fire < 40
    if burns and draw[3] < 0.06 and _light(light, e, height)[0] == 15:
        e.fire = 160
    if e.fire > 0:
        if e.in_water:
            e.fire = 0
        else:
            if e.fire % 20 == 0:
                hurt(entities, row, 1.0, -1, 0.0, 0.0, 0.0)
            e.fire -= 1


@_inner
def _push_apart(entities, live, num_live, players):  # type: ignore[no-untyped-def]
    """Push overlapping bodies apart, players' bodies too, by up to 0.05 blocks per tick."""
    for k in range(players.shape[0]):
        players[k, PUSH_X] = players[k, PUSH_Z] = 0.0
    for a in range(num_live):
        e = entities[live[a]]
        size = scale(e)
        half, height = WIDTHS[e.kind] / 2 * size, HEIGHTS[e.kind] * size
        for b in range(a + 1, num_live + players.shape[0]):
            if b < num_live:
                o = entities[live[b]]
                ox, oy, oz = o.x, o.y, o.z
                size = scale(o)
                reach, tall = half + WIDTHS[o.kind] / 2 * size, HEIGHTS[o.kind] * size
            else:
                player = players[b - num_live]
                ox, oy, oz, reach, tall = player[X], player[Y], player[Z], half + 0.3, 1.8
            dx, dz = ox - e.x, oz - e.z
            if abs(dx) >= reach or abs(dz) >= reach or e.y >= oy + tall or oy >= e.y + height:
                continue
            most = max(abs(dx), abs(dz))
            if most < 0.01:
                continue
            root = math.sqrt(most)
            by = min(1.0, 1.0 / root) * 0.05 / root
            if not e.flags & NO_AI:
                e.vx -= dx * by
                e.vz -= dz * by
            if b >= num_live:
                players[b - num_live, PUSH_X] += dx * by
                players[b - num_live, PUSH_Z] += dz * by
            elif not entities[live[b]].flags & NO_AI:
                entities[live[b]].vx += dx * by
                entities[live[b]].vz += dz * by


@njit(cache=True)
def move_mobs(entities, blocks, light, players, about, draws, events):  # type: ignore[no-untyped-def]
    """Advance every mob by one tick.

    Args:
        entities: `ENTITY`, shape (N,); changed in place.
        players: float64, shape (number of players, 9): see `X` ... `SEAT`; pushes are written to it. A mob reacts to the
            nearest player.
        about: int64, shape (5,): see `TICK` ... `IS_WET`.
        draws: float64, shape (N, 4): this tick's random numbers, 0 to 1.
        events: int32, shape (M, 3), output: row 0 gets the number of events, the next rows get the events.
    """
    events[0, 0] = 0
    live = np.empty(entities.shape[0], np.int64)
    num_live = 0
    budget = np.full(1, 2)
    for i in range(entities.shape[0]):
        if entities[i].kind >= NUM_THINGS:
            live[num_live] = i
            num_live += 1
    _push_apart(entities, live, num_live, players)
    for at in range(num_live):
        row = live[at]
        e = entities[row]
        e.age += 1
        if e.hurt > 0:
            e.hurt -= 1
        if e.love > 0:
            e.love -= 1
        elif e.love < 0:
            e.love += 1
        if not e.flags & NO_AI and e.health > 0:
            size = scale(e)
            half, height = WIDTHS[e.kind] / 2 * size, HEIGHTS[e.kind] * size
            if e.kind != VILLAGER and e.count > 0:
                e.count -= 1
                if e.kind == CHICKEN and e.count == 0:
                    if e.age >= 0:
                        say(events, LAY, row, 0)
                    e.count = 6000 + int(draws[row, 0] * 6000)
            player = players[nearest(players, e, IS_TARGET)]
            factor = _mind(entities, row, e, blocks, light, player, about, draws[row], half, height, budget, events)
            fell, lava = _walk(e, blocks, factor, half, height, draws[row])
            _face(e, player, factor)
            _suffer(entities, row, e, blocks, light, about, draws[row], half, height, fell, lava)
        if e.health <= 0:
            say(events, DIED, row, 0)
