"""One tick of all entities except mobs: items are picked up, arrows hit, eggs hatch, pearls carry players.

Rules of Minecraft 1.16. One kernel call per tick moves all these entities.
"""

from __future__ import annotations

import math

import numpy as np

from blockworld.entities import mobs
from blockworld.entities.entity_kernel import GAINED, GONE, HIT_BLOCK, HIT_MOB, HIT_PLAYER, PICK_UP, TAKE_ARROW, move_things
from blockworld.entities.items_and_projectiles import gain, stack_of
from blockworld.player import vitals
from blockworld.registry.entity_types import ARROW, CRITICAL, EGG, ENDER_PEARL, NUM_THINGS
from blockworld.registry.items import ITEMS
from blockworld.state import MAX_ENTITIES, Stack
from blockworld.world_state import WorldState

_LIMITS: np.ndarray = np.array([item.stack for item in ITEMS], np.int16)


def tick(world: WorldState) -> None:
    entities = world.entities
    players = np.array(
        [[me.x, me.y, me.z, float(not me.dead and me.game_mode != "spectator"), seat] for seat, me in enumerate(world.players)]
    )
    events = np.empty((2 * MAX_ENTITIES, 3), np.int32)  # of this call: worlds may be stepped in several threads
    move_things(entities, world.grid.blocks, players, _LIMITS, events)
    for what, row, other in events[1 : 1 + int(events[0, 0])].tolist():
        if entities["kind"][row] < 0:
            continue
        shooter = int(entities["variant"][row]) if entities["target"][row] == 0 else 0
        with world.acting(shooter if what in (HIT_BLOCK, HIT_MOB) else 0 if what == GONE else other):
            if what == PICK_UP:
                _pick_up(world, row)
            elif what == TAKE_ARROW:
                if world.give(Stack("arrow")) is None:
                    world.player.count("picked_up", "arrow")
                    world.remove(row)
            elif what == GONE:
                world.remove(row)
            elif what == GAINED:
                gain(world, int(entities["count"][row]))
                world.remove(row)
            elif what == HIT_BLOCK:
                _meet(world, row, shooter)
            elif what == HIT_MOB:
                _hit_mob(world, row, other, shooter)
            elif what == HIT_PLAYER:
                _hit_player(world, row, shooter)


def _pick_up(world: WorldState, row: int) -> None:
    stack = stack_of(world, row)
    left = world.give(stack)
    taken = stack.count - (0 if left is None else left.count)
    if taken <= 0:
        return
    world.player.count("picked_up", stack.item, taken)
    if left is None:
        world.remove(row)
    else:
        world.entities["count"][row] = left.count


def _meet(world: WorldState, row: int, shooter: int) -> None:
    """Handle a thrown thing that has hit something: eggs hatch, pearls carry the player, all but arrows vanish."""
    one = world.entities[row]
    kind = int(one["kind"])
    if kind == ARROW:
        return
    x, y, z = float(one["x"]), float(one["y"]), float(one["z"])
    owner = int(one["target"])
    world.remove(row)
    if kind == EGG and world.rng.random() < 0.125:
        for _ in range(4 if world.rng.random() < 1 / 32 else 1):
            mobs.spawn(world, "chicken", x, y, z, Age=-24000)
    elif kind == ENDER_PEARL and owner == 0 and not world.players[shooter].dead:
        me = world.player
        me.x, me.y, me.z, me.fall_distance = x, y, z, 0.0
        me.vx = me.vy = me.vz = 0.0
        vitals.hurt(world, 5.0, "fall")


def _damage(world: WorldState, row: int) -> float:
    """Damage of an arrow, in half hearts."""
    one = world.entities[row]
    speed = math.sqrt(float(one["vx"]) ** 2 + float(one["vy"]) ** 2 + float(one["vz"]) ** 2)
    damage = math.ceil(speed * float(one["health"]) - 1e-9)
    if one["flags"] & CRITICAL:
        damage += int(world.rng.integers(damage // 2 + 2))
    return float(damage)


def _hit_mob(world: WorldState, row: int, mob: int, shooter: int) -> None:
    """Let a thing hit a mob: arrows hurt, other things only push; the shooter counts as the attacker."""
    entities = world.entities
    one = entities[row]
    amount = _damage(world, row) if one["kind"] == ARROW else 0.0
    vx, vz, owner = float(one["vx"]), float(one["vz"]), int(one["target"])
    if entities["kind"][mob] < NUM_THINGS:
        return
    hit = mobs.hit(world, mob, amount, owner, vx, vz, 0.4 if amount == 0 else 0.2)
    if one["kind"] != ARROW:
        _meet(world, row, shooter)
    elif hit:
        world.remove(row)
    else:
        one["vx"], one["vy"], one["vz"] = -vx * 0.1, -float(one["vy"]) * 0.1, -vz * 0.1


def _hit_player(world: WorldState, row: int, shooter: int) -> None:
    one = world.entities[row]
    if one["kind"] != ARROW:
        with world.acting(shooter):
            _meet(world, row, shooter)
        return
    amount = _damage(world, row)
    vitals.hurt(world, amount, "arrow", knock_x=float(one["vx"]), knock_z=float(one["vz"]))
    world.remove(row)
