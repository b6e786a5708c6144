"""Movement of things: items, arrows, snowballs, eggs, pearls and orbs, all in one kernel call.

Numbers of Minecraft 1.16 (minecraft.wiki, "Entity: Motion"): in each tick a thing loses a share of its speed and is
pulled down by gravity; both depend on its kind. The kernel changes only the rows of entities and reports all else as events.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from blockworld.entities.mob_kernel import FIRE_HARM, HARM, LAVA_HARM, nearest, say, scale
from blockworld.entities.pathfinding import first_block, sees
from blockworld.grid.physics import WATER, box_entry, immersion, is_free, move_box, touched
from blockworld.registry.entity_types import (
    ARROW,
    EGG,
    ENDER_PEARL,
    HEIGHTS,
    ITEM,
    NUM_THINGS,
    SNOWBALL,
    TAGGED,
    WIDTHS,
    XP_ORB,
)

PICK_UP, HIT_MOB, HIT_PLAYER, HIT_BLOCK, GAINED, TAKE_ARROW, GONE = range(1, 8)
"""Kinds of events. An event is (kind, row of the thing, row of the mob that was hit or seat of the player)."""
X, Y, Z, CAN_PICK, SEAT = range(5)
"""Columns of `players`, the facts about each player that the kernel needs."""
ITEM_TICKS, ARROW_TICKS = 6_000, 1_200
_BURNS_ITEMS = FIRE_HARM | LAVA_HARM


_Kernel = Callable[..., Any]
_options: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # Numba's stubs do not list them
_inner: Callable[[_Kernel], _Kernel] = njit(cache=True, **_options)
"""Decorator of kernels that only other kernels call; without entry points for Python, compiling takes a tenth less time."""


@_inner
def _free_from_block(e, blocks):  # type: ignore[no-untyped-def]
    best, found = 1e9, -1
    for side in range(5):
        ox = 1 if side == 1 else (-1 if side == 2 else 0)
        oz = 1 if side == 3 else (-1 if side == 4 else 0)
        oy = 1 if side == 0 else 0
        cx, cy, cz = math.floor(e.x) + ox, math.floor(e.y) + oy, math.floor(e.z) + oz
        if not is_free(blocks, cx + 0.5, cy + 0.3, cz + 0.5, 0.125, 0.25):
            continue
        fx, fy, fz = e.x - math.floor(e.x), e.y - math.floor(e.y), e.z - math.floor(e.z)
        far = 1 - fy if side == 0 else (1 - fx if side == 1 else (fx if side == 2 else (1 - fz if side == 3 else fz)))
        if far < best:
            best, found = far, side
    if found == 0:
        e.y += 0.2
        e.vy = 0.0
    elif found > 0:
        e.x += 0.2 if found == 1 else (-0.2 if found == 2 else 0.0)
        e.z += 0.2 if found == 3 else (-0.2 if found == 4 else 0.0)


@_inner
def _lie(e, blocks, gravity):  # type: ignore[no-untyped-def]
    """Move an item or orb for one tick: it falls, slides, and floats and drifts on water."""
    half, height = WIDTHS[e.kind] / 2, HEIGHTS[e.kind]
    depth, fx, fy, fz, cells = immersion(blocks, e.x, e.y, e.z, half, height, WATER)
    e.in_water = depth > 0
    if cells > 0:
        length = math.sqrt(fx * fx + fy * fy + fz * fz)
        if length > 1e-9:
            e.vx += fx / length * 0.014
            e.vz += fz / length * 0.014
    if depth > 0.1:
        e.vx *= 0.99
        e.vz *= 0.99
        if e.vy < 0.06:
            e.vy += 0.0005 if depth < 0.25 else 0.015
        e.vy *= 0.95
    else:
        e.vy -= gravity
    if e.on_ground and e.vx * e.vx + e.vz * e.vz < 1e-5 and (e.age + e.id) % 4 != 0:
        e.vy = 0.0
        return
    if not is_free(blocks, e.x, e.y, e.z, half, height):
        _free_from_block(e, blocks)
    vy = e.vy
    x, y, z, hit_x, hit_y, hit_z = move_box(blocks, e.x, e.y, e.z, e.vx, e.vy, e.vz, half, height, 0.0, False)
    e.x, e.y, e.z = x, y, z
    e.on_ground = hit_y and vy < 0
    drag = 0.588 if e.on_ground else 0.98
    e.vx = 0.0 if hit_x else e.vx * drag
    e.vz = 0.0 if hit_z else e.vz * drag
    e.vy = 0.0 if hit_y else e.vy * 0.98


@_inner
def _merge(entities, row, limits):  # type: ignore[no-untyped-def]
    """Merge an item with equal items near it; the row with the larger count stays."""
    e = entities[row]
    if e.flags & TAGGED or e.count >= limits[e.item]:
        return
    for i in range(entities.shape[0]):
        o = entities[i]
        if i == row or o.kind != ITEM or o.item != e.item or o.flags & TAGGED or o.count + e.count > limits[e.item]:
            continue
        if abs(o.x - e.x) > 0.75 or abs(o.z - e.z) > 0.75 or abs(o.y - e.y) > 0.25:
            continue
        into, other = (row, i) if e.count >= o.count else (i, row)
        a, b = entities[into], entities[other]
        a.count += b.count
        a.goal_ticks = max(a.goal_ticks, b.goal_ticks)
        a.age = min(a.age, b.age)
        b.kind = -1
        if other == row:
            return


@_inner
def _near_player(e, player, side, up):  # type: ignore[no-untyped-def]
    half, height = WIDTHS[e.kind] / 2, HEIGHTS[e.kind]
    return (
        abs(e.x - player[X]) < 0.3 + side + half
        and abs(e.z - player[Z]) < 0.3 + side + half
        and e.y < player[Y] + 1.8 + up
        and e.y + height > player[Y] - up
    )


@_inner
def _fly(entities, row, e, blocks, player, players, events):  # type: ignore[no-untyped-def]
    kind = e.kind
    if kind == ARROW and e.goal == 1:
        e.goal_ticks += 1
        cx, cy, cz = int(e.goal_x), int(e.goal_y), int(e.goal_z)
        sx, sz, sy = blocks.shape
        inside = 0 <= cx < sx and 0 <= cz < sz and 0 <= cy < sy
        if inside and blocks[cx, cz, cy] != e.item and is_free(blocks, e.x, e.y, e.z, 0.06, 0.06):
            e.goal, e.vx, e.vy, e.vz = 0, 0.0, 0.0, 0.0
        elif e.goal_ticks >= ARROW_TICKS:
            e.kind = -1
        elif e.count == 1 and player[CAN_PICK] > 0 and _near_player(e, player, 1.0, 0.5):
            say(events, TAKE_ARROW, row, int(player[SEAT]))
        return
    speed = math.sqrt(e.vx * e.vx + e.vy * e.vy + e.vz * e.vz)
    if speed > 1e-9:
        share, _face, cx, cy, cz = first_block(blocks, e.x, e.y, e.z, e.vx, e.vy, e.vz)
        best, met = min(share, 1.0), -1
        for i in range(entities.shape[0] + players.shape[0]):
            if i < entities.shape[0]:
                o = entities[i]
                if o.kind < NUM_THINGS or o.health <= 0 or (o.id == e.target and e.age < 5):
                    continue
                ox, oy, oz = o.x, o.y, o.z
                if abs(ox - e.x) > 8 or abs(oz - e.z) > 8:
                    continue
                size = scale(o)
                half, height = WIDTHS[o.kind] / 2 * size, HEIGHTS[o.kind] * size
            else:
                player = players[i - entities.shape[0]]
                if player[CAN_PICK] <= 0 or (e.target == 0 and e.age < 5 and e.variant == int(player[SEAT])):
                    continue
                ox, oy, oz, half, height = player[X], player[Y], player[Z], 0.3, 1.8
            at, _ = box_entry(
                e.x,
                e.y,
                e.z,
                e.vx,
                e.vy,
                e.vz,
                ox - half - 0.3,
                oy - 0.3,
                oz - half - 0.3,
                ox + half + 0.3,
                oy + height + 0.3,
                oz + half + 0.3,
            )
            if 0.0 <= at < best:
                best, met = at, i
        e.yaw = math.degrees(math.atan2(-e.vx, e.vz))
        e.pitch = -math.degrees(math.atan2(e.vy, math.sqrt(e.vx * e.vx + e.vz * e.vz)))
        if met >= 0 or share <= 1.0:
            # A little before it, so that it does not end up inside
            back = max(0.0, best - 0.05 / speed)
            e.x, e.y, e.z = e.x + e.vx * back, e.y + e.vy * back, e.z + e.vz * back
            if met >= entities.shape[0]:
                say(events, HIT_PLAYER, row, met - entities.shape[0])
            elif met >= 0:
                say(events, HIT_MOB, row, met)
            elif kind == ARROW:
                sx, sz, sy = blocks.shape
                inside = 0 <= cx < sx and 0 <= cz < sz and 0 <= cy < sy
                e.goal, e.goal_ticks = 1, 0
                e.goal_x, e.goal_y, e.goal_z = cx, cy, cz
                e.item = blocks[cx, cz, cy] if inside else 0
                e.vx = e.vy = e.vz = 0.0
                e.on_ground = True
                say(events, HIT_BLOCK, row, 0)
            else:
                say(events, HIT_BLOCK, row, 0)
            return
    e.x, e.y, e.z = e.x + e.vx, e.y + e.vy, e.z + e.vz
    wet = immersion(blocks, e.x, e.y, e.z, WIDTHS[kind] / 2, HEIGHTS[kind], WATER)[0] > 0
    drag = (0.6 if kind == ARROW else 0.8) if wet else 0.99
    e.in_water = wet
    e.vx *= drag
    e.vz *= drag
    e.vy = e.vy * drag - (0.05 if kind == ARROW else 0.03)
    if e.y < -64 or e.age > ARROW_TICKS:
        e.kind = -1


@njit(cache=True)
def move_things(entities, blocks, players, limits, events):  # type: ignore[no-untyped-def]
    """Advance all entities except mobs by one tick.

    Args:
        entities: `ENTITY`, shape (N,); changed in place.
        players: float64, shape (number of players, 5): position of the feet, 1 if the player can take things and be hit, seat.
            A thing can meet only the nearest player.
        limits: int16, one per item: largest number of this item in one slot.
        events: int32, shape (M, 3), output: row 0 gets the number of events, the next rows get the events.
    """
    events[0, 0] = 0
    for row in range(entities.shape[0]):
        e = entities[row]
        kind = e.kind
        if kind < 0 or kind >= NUM_THINGS:
            continue
        e.age += 1
        player = players[nearest(players, e, CAN_PICK)]
        if kind == ITEM:
            if 0 < e.goal_ticks < 32767:
                e.goal_ticks -= 1
            _lie(e, blocks, 0.04)
            if touched(blocks, e.x, e.y, e.z, 0.125, 0.25, HARM) & _BURNS_ITEMS or e.age >= ITEM_TICKS or e.y < -64:
                if e.flags & TAGGED:
                    say(events, GONE, row, 0)
                else:
                    e.kind = -1
                continue
            still = e.on_ground and e.vx == 0.0 and e.vz == 0.0
            if (e.age + e.id) % (40 if still else 4) == 0:
                _merge(entities, row, limits)
            if e.kind == ITEM and e.goal_ticks == 0 and player[CAN_PICK] > 0 and _near_player(e, player, 1.0, 0.5):
                say(events, PICK_UP, row, int(player[SEAT]))
        elif kind == XP_ORB:
            dx, dy, dz = player[X] - e.x, player[Y] + 0.8 - e.y, player[Z] - e.z
            far = math.sqrt(dx * dx + dy * dy + dz * dz)
            if player[CAN_PICK] > 0 and 1e-6 < far < 8.0:
                pull = (1.0 - far / 8.0) ** 2 * 0.1
                e.vx += dx / far * pull
                e.vy += dy / far * pull
                e.vz += dz / far * pull
            _lie(e, blocks, 0.03)
            if e.age >= ITEM_TICKS:
                e.kind = -1
            elif e.age > 10 and player[CAN_PICK] > 0 and _near_player(e, player, 0.0, 0.0):
                say(events, GAINED, row, int(player[SEAT]))
        elif kind in (ARROW, SNOWBALL, EGG, ENDER_PEARL):
            _fly(entities, row, e, blocks, player, players, events)


# Explosions


@njit(cache=True)
def exposure(blocks, x, y, z, ox, oy, oz, half, height):  # type: ignore[no-untyped-def]
    """Share of a body, 0 to 1, that no block shields from an explosion at (x, y, z); 27 points of the body are tested."""
    seen = 0
    for i in range(3):
        for j in range(3):
            for k in range(3):
                if sees(blocks, x, y, z, ox + (i - 1) * half * 0.9, oy + height * (0.1 + 0.4 * j), oz + (k - 1) * half * 0.9):
                    seen += 1
    return seen / 27.0


@njit(cache=True)
def blasted(blocks, resistances, x, y, z, power, draws):  # type: ignore[no-untyped-def]
    """Cells that an explosion breaks: int32, shape (N, 3), in the order of [x, z, y].

    1,352 rays leave towards the outer cells of a 16 by 16 by 16 cube (minecraft.wiki, "Explosion"). A ray starts with 0.7 to
    1.3 times the power. Every 0.3 blocks it loses 0.225 and, inside a block, also 0.3 times (the block's resistance + 0.3).

    Args:
        resistances: float64, one per state.
        draws: float64, shape (1352,): random numbers from 0 to 1.
    """
    sx, sz, sy = blocks.shape
    reach = int(power * 2.3) + 2
    side = 2 * reach + 1
    ox, oy, oz = math.floor(x) - reach, math.floor(y) - reach, math.floor(z) - reach
    broken = np.zeros((side, side, side), np.bool_)
    ray = 0
    for i in range(16):
        for j in range(16):
            for k in range(16):
                if not (i == 0 or i == 15 or j == 0 or j == 15 or k == 0 or k == 15):
                    continue
                dx, dy, dz = i / 7.5 - 1, j / 7.5 - 1, k / 7.5 - 1
                length = math.sqrt(dx * dx + dy * dy + dz * dz)
                dx, dy, dz = dx / length * 0.3, dy / length * 0.3, dz / length * 0.3
                left = power * (0.7 + draws[ray] * 0.6)
                ray += 1
                px, py, pz = x, y, z
                while left > 0:
                    cx, cy, cz = math.floor(px), math.floor(py), math.floor(pz)
                    if cx < 0 or cz < 0 or cy < 0 or cx >= sx or cz >= sz or cy >= sy:
                        break
                    state = blocks[cx, cz, cy]
                    if state != 0:
                        left -= (resistances[state] + 0.3) * 0.3
                        lx, lz, ly = cx - ox, cz - oz, cy - oy
                        if left > 0 and 0 <= lx < side and 0 <= lz < side and 0 <= ly < side:
                            broken[lx, lz, ly] = True
                    px, py, pz = px + dx, py + dy, pz + dz
                    left -= 0.225
    number = 0
    cells = np.empty((int(broken.sum()), 3), np.int32)
    for lx in range(side):
        for lz in range(side):
            for ly in range(side):
                if broken[lx, lz, ly]:
                    cells[number, 0], cells[number, 1], cells[number, 2] = lx + ox, ly + oy, lz + oz
                    number += 1
    return cells
