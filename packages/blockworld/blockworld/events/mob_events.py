"""One tick of all mobs and its consequences: they strike, shoot, burst, graze, breed, open doors and die.

Rules of Minecraft 1.16.
"""

from __future__ import annotations

import math

import numpy as np

from blockworld.blocks.halves import other_half
from blockworld.blocks.updates import set_block
from blockworld.entities import items_and_projectiles, mob_kernel, spawning
from blockworld.entities.mobs import call_wolves, kill, num_mobs, spawn
from blockworld.events.explosions import explode
from blockworld.player import vitals
from blockworld.registry.blocks import AIR, change, name_of, state_of
from blockworld.registry.entity_types import (
    ATTACKS,
    GROWS_TICKS,
    HEIGHTS,
    KIND,
    KINDS,
    LURES,
    NUM_THINGS,
    PLAYER_HIT,
    SHEARED,
    TAMED,
)
from blockworld.state import MAX_ENTITIES, MAX_MOBS, OFFHAND, Player, Stack
from blockworld.world_state import WorldState

ARROW_SPEED = 1.6
"""Speed of a skeleton's arrow, in blocks per tick."""
_SLIME, _VILLAGER, _SNOW_GOLEM = KIND["slime"], KIND["villager"], KIND["snow_golem"]


def is_day(time: int) -> bool:
    """Whether `time` is in the day, when undead monsters burn and villagers are outside."""
    return time < 12542 or time >= 23460


def tick(world: WorldState) -> None:
    """Advance all mobs by one tick; monsters may appear or disappear."""
    spawning.tick(world)
    rows = world.entities
    players = np.array([_seen(world, seat) for seat in range(len(world.players))])
    wet = world.weather != "clear"
    day = is_day(world.time)
    difficulty = ("peaceful", "easy", "normal", "hard").index(world.difficulty)
    about = np.array([world.ticks, day and world.weather != "thunder", not day, difficulty, wet], np.int64)
    for screen in world.screens:
        if screen is not None and screen.kind == "villager":
            trader = (rows["id"] == screen.entity) & (rows["kind"] == _VILLAGER)
            rows["goal"][trader], rows["goal_ticks"][trader] = mob_kernel.LOOK, 20
    # Always the same number of draws, whoever is there.
    draws = world.rng.random((len(rows), 4))
    events = np.empty((2 * MAX_ENTITIES, 3), np.int32)  # of this call: worlds may be stepped in several threads
    mob_kernel.move_mobs(rows, world.grid.blocks, world.grid.light, players, about, draws, events)
    for me, player in zip(world.players, players.tolist(), strict=True):
        if not me.dead and me.game_mode != "spectator":
            me.vx += player[mob_kernel.PUSH_X]
            me.vz += player[mob_kernel.PUSH_Z]
    for what, row, other in events[1 : 1 + int(events[0, 0])].tolist():
        if rows["kind"][row] >= NUM_THINGS:
            with world.acting(other if what == mob_kernel.HURT_PLAYER else _nearest(world, row)):
                _ON_EVENT[what](world, row, other)
    if world.ticks % 20 == 0:
        _shut_doors(world)


def _seen(world: WorldState, seat: int) -> list[float]:
    """Return a player's row of the array `players` for the kernel `move_mobs`."""
    me, lure = world.players[seat], 0
    hunted = not me.dead and me.game_mode in ("survival", "adventure") and world.difficulty != "peaceful"
    if not me.dead and me.game_mode != "spectator":
        for slot in (me.hotbar, OFFHAND):
            stack = me.slots[slot]
            lure |= LURES.get(stack.item, 0) if stack is not None else 0
    return [me.x, me.y, me.z, me.eye_y, float(hunted), 0.0, 0.0, float(lure), float(seat)]


def _nearest(world: WorldState, row: int) -> int:
    """Seat of the living player nearest to a mob."""
    one = world.entities[row]
    at = (float(one["x"]), float(one["y"]), float(one["z"]))
    return min(range(len(world.players)), key=lambda seat: _far(world.players[seat], at))


def _far(me: Player, at: tuple[float, float, float]) -> float:
    return math.inf if me.dead else math.dist((me.x, me.y, me.z), at)


def _strike(world: WorldState, row: int, _: int) -> None:
    """Let a mob hit the player, and the player's wolves attack the mob."""
    one, me = world.entities[row], world.player
    kind = int(one["kind"])
    amount = float(ATTACKS[kind]) * (int(one["variant"]) if kind == _SLIME else 1)
    if world.difficulty == "easy":
        amount = min(amount / 2 + 1, amount)
    elif world.difficulty == "hard":
        amount *= 1.5
    vitals.hurt(world, amount, "mob", knock_x=me.x - float(one["x"]), knock_z=me.z - float(one["z"]))
    call_wolves(world, row)


def _shoot(world: WorldState, row: int, target: int) -> None:
    """Shoot a skeleton's arrow or a snow golem's snowball, aimed a little above the target and with a random error."""
    one, me = world.entities[row], world.player
    if target == 0:
        tx, ty, tz = me.x, me.y + 0.6, me.z
    else:
        found = mob_kernel.row_of(world.entities, target)
        if found < 0:
            return
        other = world.entities[found]
        tx, ty, tz = float(other["x"]), float(other["y"]) + float(HEIGHTS[other["kind"]]) / 3, float(other["z"])
    x, y, z = float(one["x"]), float(one["y"]) + float(HEIGHTS[one["kind"]]) * 0.85 - 0.1, float(one["z"])
    dx, dy, dz = tx - x, ty - y, tz - z
    dy += math.hypot(dx, dz) * 0.2
    length = max(1e-6, math.sqrt(dx * dx + dy * dy + dz * dz))
    spread = 14 - 4 * {"easy": 1, "hard": 3}.get(world.difficulty, 2)
    if one["kind"] == _SNOW_GOLEM:
        spread = 12
    off = world.rng.standard_normal(3) * 0.0075 * spread
    vx, vy, vz = ((d / length + float(o)) * ARROW_SPEED for d, o in zip((dx, dy, dz), off, strict=True))
    kind = "snowball" if one["kind"] == _SNOW_GOLEM else "arrow"
    items_and_projectiles.shoot(world, kind, x, y, z, vx, vy, vz, int(one["id"]))


def _burst(world: WorldState, row: int, _: int) -> None:
    one = world.entities[row]
    x, y, z = float(one["x"]), float(one["y"]), float(one["z"])
    world.remove(row)
    explode(world, x, y, z, 3.0, world.rules.get("mobGriefing", "true") == "true")


def _lay(world: WorldState, row: int, _: int) -> None:
    one = world.entities[row]
    world.spawn_item(float(one["x"]), float(one["y"]), float(one["z"]), Stack("egg"))


def _graze(world: WorldState, row: int, _: int) -> None:
    """Let a sheep eat the grass where it stands: its wool grows back; a lamb becomes a minute older."""
    one = world.entities[row]
    x, y, z = math.floor(one["x"]), math.floor(one["y"] + 0.01), math.floor(one["z"])
    griefs = world.rules.get("mobGriefing", "true") == "true"
    if name_of(world.grid.get(x, y, z)) == "grass":
        eaten, left = (x, y, z), AIR
    elif name_of(world.grid.get(x, y - 1, z)) == "grass_block":
        eaten, left = (x, y - 1, z), state_of("dirt")
    else:
        return
    if griefs:
        set_block(world, *eaten, left)
    one["flags"] &= ~SHEARED
    if one["age"] < 0:
        one["age"] = min(0, int(one["age"]) + 1200)


def _birth(world: WorldState, row: int, other: int) -> None:
    """Spawn a young mob with two parents; a lamb has the colour of one of them."""
    one, two = world.entities[row], world.entities[other]
    name = KINDS[one["kind"]]
    x, y, z = float(one["x"]), float(one["y"]), float(one["z"])
    looks = int((one if world.rng.random() < 0.5 else two)["variant"])
    flags = int(one["flags"]) & TAMED
    points = int(world.rng.integers(1, 8))
    if num_mobs(world) >= MAX_MOBS:
        return
    young = spawn(world, name, x, y, z, Age=-GROWS_TICKS)
    born = world.entities[mob_kernel.row_of(world.entities, young)]
    born["variant"] = looks
    born["flags"] |= flags
    world.player.count("bred", name)
    items_and_projectiles.spawn_xp(world, x, y, z, points)


def _die(world: WorldState, row: int, _: int) -> None:
    if world.entities["health"][row] <= 0:
        kill(world, row, 0 if world.entities["flags"][row] & PLAYER_HIT else -1)


def _open_door(world: WorldState, row: int, cell: int) -> None:
    _, sy, sz = world.grid.size
    at = cell // (sz * sy), cell % sy, cell // sy % sz
    _set_door(world, at, "true")
    world.extras.setdefault(int(world.entities["id"][row]), {})["door"] = list(at)


def _set_door(world: WorldState, at: tuple[int, int, int], opened: str) -> None:
    state = world.grid.get(*at)
    if not name_of(state).endswith("_door"):
        return
    other = other_half(world, *at)
    if other is not None:
        world.grid.set(*other, change(world.grid.get(*other), open=opened))
    set_block(world, *at, change(state, open=opened))


def _shut_doors(world: WorldState) -> None:
    rows = world.entities
    for row in np.flatnonzero((rows["kind"] == _VILLAGER) & (rows["health"] > 0)).tolist():
        extra = world.extras.get(int(rows["id"][row]))
        if extra and "door" in extra:
            x, y, z = extra["door"]
            if math.hypot(rows["x"][row] - x - 0.5, rows["z"][row] - z - 0.5) > 1.1:
                _set_door(world, (x, y, z), "false")
                del extra["door"]


_ON_EVENT = {
    mob_kernel.HURT_PLAYER: _strike,
    mob_kernel.SHOOT: _shoot,
    mob_kernel.BURST: _burst,
    mob_kernel.LAY: _lay,
    mob_kernel.GRAZED: _graze,
    mob_kernel.BIRTH: _birth,
    mob_kernel.DIED: _die,
    mob_kernel.OPEN_DOOR: _open_door,
}
