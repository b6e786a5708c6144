"""Mobs (animals, villagers and monsters): spawning them, hitting them, and their loot when they die.

Rules of Minecraft 1.16. Movement and behaviour are in `mob_kernel`, the consequences of a tick in `mob_events`, the player's
use of animals in `player.animals`, the natural spawning of monsters in `spawning`.

>>> KINDS[cow := KIND["cow"]], round(float(WIDTHS[cow]), 1), FLAGS["no_ai"]
('cow', 0.9, 1)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from blockworld.entities import items_and_projectiles, mob_kernel
from blockworld.entities.trading import offers_from, offers_of
from blockworld.errors import WorldError, unknown_name
from blockworld.registry.entity_types import (
    ANGRY,
    FLAGS,
    HEIGHTS,
    IGNITED,
    INVULNERABLE,
    KIND,
    KINDS,
    MOBS,
    NO_AI,
    NUM_THINGS,
    PERSISTENT,
    PROFESSIONS,
    REST_TICKS,
    SHEARED,
    SILENT,
    SITTING,
    TAMED,
    WIDTHS,
)
from blockworld.registry.facts import table
from blockworld.registry.items import COLOURS
from blockworld.state import MAX_MOBS, Stack
from blockworld.world_state import WorldState

__all__ = ["FLAGS", "HEIGHTS", "KIND", "KINDS", "MOBS", "WIDTHS", "hit", "hit_by_player", "kill", "spawn"]

_CHICKEN, _CREEPER, _SLIME, _VILLAGER, _WOLF = (KIND[name] for name in ("chicken", "creeper", "slime", "villager", "wolf"))
_IRON_GOLEM, _SNOW_GOLEM = KIND["iron_golem"], KIND["snow_golem"]

# NBT: name -> flag, and names that are read besides.
_BITS = {
    "NoAI": NO_AI,
    "PersistenceRequired": PERSISTENT,
    "Silent": SILENT,
    "Tame": TAMED,
    "Sheared": SHEARED,
    "Sitting": SITTING,
    "Invulnerable": INVULNERABLE,
    "ignited": IGNITED,
}
_NUMBERS = ("Age", "InLove", "Color", "Health", "Size", "Variant", "CatType", "RabbitType", "Fire", "AngerTime")
_OTHERS = ("VillagerData", "Offers", "CustomName", "Owner", "Rotation", "Motion", "Tags", "CustomNameVisible", "Home")
_VARIANTS = {"Color": ("sheep", 16), "CatType": ("cat", 11), "RabbitType": ("rabbit", 6)}
_NATURAL_WOOL = ((0.81836, 0), (0.86836, 15), (0.91836, 7), (0.96836, 8), (0.99836, 12), (1.0, 6))
"""Colours of new sheep as (cumulative share, colour): white, black, gray, light gray, brown, pink (minecraft.wiki, "Sheep")."""


# Coming into the world


def num_mobs(world: WorldState) -> int:
    """Number of mobs in the world; at most `MAX_MOBS`."""
    return int((world.entities["kind"] >= NUM_THINGS).sum())


def spawn(world: WorldState, name: str, x: float, y: float, z: float, **nbt: Any) -> int:
    """Spawn a mob; return its id.

    Args:
        name: One of `MOBS`, with or without `minecraft:`.
        x, y, z: Position of its feet, in blocks.
        nbt: Data as for /summon: `NoAI`, `PersistenceRequired`, `Silent`, `Invulnerable`, `Age`, `InLove`, `Health`, `Fire`,
            `CustomName`, `Tags`, `Tame`, `Owner`, `Sitting`, `Sheared`, `Color` (0 to 15), `Size` (of a slime, 0 to 3),
            `Variant`, `CatType`, `RabbitType`, `ignited`, `AngerTime`, `VillagerData` {profession, level, type},
            `Offers` {Recipes: [...]}, `Rotation` [yaw, pitch], `Motion` [x, y, z]; and `Home` [x, z], where a villager
            sleeps.

    Raises:
        UnknownNameError: If there is no such mob, property or profession; the nearest name is offered.
        WorldError: If the mob is known but not simulated, or a value is invalid.
    """
    short = name.removeprefix("minecraft:")
    if short not in MOBS:
        known = {row["name"] for row in table("entities")}
        if short in known:
            raise WorldError(f"{short} is not simulated; the mobs of this world are {', '.join(MOBS)}")
        raise unknown_name("mob", short[:100], MOBS)
    if num_mobs(world) >= MAX_MOBS:
        raise WorldError(f"the world has {MAX_MOBS} mobs and cannot have more; remove some with /kill")
    if not all(map(math.isfinite, (x, y, z))):
        raise WorldError(f"a {short} cannot be at {x} {y} {z}; give finite numbers")
    values = _values(short, nbt)
    extra = _extra(short, nbt)
    mob, kind = MOBS[short], KIND[short]
    fresh = np.zeros((), world.entities.dtype)
    fresh["kind"], fresh["target"] = kind, -1
    fresh["x"], fresh["y"], fresh["z"] = x, y, z
    fresh["goal_x"], fresh["goal_y"], fresh["goal_z"] = x, y, z
    # Four draws for every mob, so that what it is does not change what comes after.
    draws = world.rng.random(4)
    fresh["yaw"] = fresh["head_yaw"] = np.float32(draws[0] * 360 - 180)
    fresh["goal_ticks"] = int(draws[1] * 100)
    fresh["variant"] = _looks(short, nbt, values, float(draws[2]))
    fresh["health"] = mob.health if short != "slime" else float(int(fresh["variant"]) ** 2)
    fresh["flags"] = values["flags"]
    if values["flags"] & TAMED:
        fresh["health"] = {"wolf": 20.0}.get(short, mob.health)
    fresh["age"] = min(0, int(values.get("Age", 0)))
    fresh["love"] = values.get("InLove", -min(max(0, int(values.get("Age", 0))), REST_TICKS))
    fresh["fire"] = values.get("Fire", 0)
    if "Health" in values:
        fresh["health"] = values["Health"]
    if kind == _CHICKEN:
        fresh["count"] = 6000 + int(draws[3] * 6000)
    if kind == _VILLAGER:
        home = nbt.get("Home", (math.floor(x), math.floor(z)))
        fresh["item"], fresh["count"] = (min(max(-1, int(at)), 32767) for at in home)
    if values.get("AngerTime", 0) > 0:
        fresh["flags"] |= ANGRY
        fresh["target"] = 0
    if "Rotation" in nbt:
        fresh["yaw"] = fresh["head_yaw"] = float(nbt["Rotation"][0])
    if "Motion" in nbt:
        fresh["vx"], fresh["vy"], fresh["vz"] = (float(value) for value in nbt["Motion"])
    row = world.free_row()
    fresh["id"] = entity = int(world.entities["id"][row])
    world.entities[row] = fresh
    if extra:
        world.extras[entity] = extra
    return entity


def _values(name: str, nbt: dict[str, Any]) -> dict[str, Any]:
    """Check a mob's NBT and return its numbers by key; all its true-or-false keys together are the bits of `flags`."""
    known = (*_BITS, *_NUMBERS, *_OTHERS)
    values: dict[str, Any] = {"flags": 0}
    for key, value in nbt.items():
        if key not in known:
            raise unknown_name(f"property of a {name}", key[:100], known)
        if key in _OTHERS:
            continue
        if isinstance(value, str) or not isinstance(value, (bool, int, float)) or not math.isfinite(value):
            raise WorldError(f"{key} of a {name} is a number, got {value!r}")
        if key in _BITS:
            values["flags"] |= _BITS[key] if value else 0
        else:
            values[key] = value
    if nbt.get("Owner"):
        values["flags"] |= TAMED
    limits = {"Age": (-(2**31), 2**31 - 1), "InLove": (0, 32767), "Fire": (-20, 32767), "Health": (0, 1024), "Size": (0, 3)}
    for key, (least, most) in limits.items():
        if key in values and not least <= values[key] <= most:
            raise WorldError(f"{key} of a {name} is a number from {least} to {most}, got {values[key]!r}")
    for key, (whose, number) in _VARIANTS.items():
        if key in values and not (name == whose and 0 <= values[key] < number):
            raise WorldError(f"{key} of a {whose} is a number from 0 to {number - 1}, got {values[key]!r} for a {name}")
    if "Health" in values and not values["Health"] > 0:
        raise WorldError(f"Health of a {name} must be more than 0, got {values['Health']!r}")
    return values


def _looks(name: str, nbt: dict[str, Any], values: dict[str, Any], draw: float) -> int:
    """Return a mob's `variant`: from its NBT, else at random."""
    for key in _VARIANTS:
        if key in values:
            return int(values[key])
    if name == "sheep":
        return next(colour for share, colour in _NATURAL_WOOL if draw < share)
    if name == "slime":
        return int(values["Size"]) + 1 if "Size" in values else (1, 2, 4)[int(draw * 3)]
    if name == "villager":
        return PROFESSIONS.index(_villager_data(nbt)[0])
    if "Variant" in values:
        return int(values["Variant"]) % 256
    return int(draw * {"cat": 10, "rabbit": 3, "horse": 7}.get(name, 1))


def _villager_data(nbt: dict[str, Any]) -> tuple[str, int]:
    data = nbt.get("VillagerData", {})
    if not isinstance(data, dict):
        raise WorldError(f"VillagerData must be {{profession, level, type}}, got {data!r}")
    profession = str(data.get("profession", "none")).removeprefix("minecraft:")
    if profession not in PROFESSIONS:
        raise unknown_name("profession", profession[:100], PROFESSIONS)
    level = data.get("level", 1)
    if not isinstance(level, int) or not 1 <= level <= 5:
        raise WorldError(f"a villager's level is a number from 1 to 5, got {level!r}")
    return profession, level


def _extra(name: str, nbt: dict[str, Any]) -> dict[str, Any]:
    """Return a mob's entry in `WorldState.extras`, from its NBT."""
    extra: dict[str, Any] = {}
    if nbt.get("CustomName"):
        extra["name"] = str(nbt["CustomName"])
    if nbt.get("Tags"):
        extra["tags"] = [str(tag) for tag in nbt["Tags"]]
    for key, size in (("Rotation", (1, 2)), ("Motion", (3,)), ("Home", (2,))):
        if key in nbt:
            value = nbt[key]
            fine = isinstance(value, (list, tuple)) and len(value) in size
            if not fine or not all(isinstance(part, (int, float)) and math.isfinite(part) for part in value):
                raise WorldError(f"{key} of a {name} must be a list of {size[-1]} numbers, got {value!r}")
    if name == "villager":
        profession, level = _villager_data(nbt)
        extra["level"] = level
        extra["type"] = str(nbt.get("VillagerData", {}).get("type", "plains")).removeprefix("minecraft:")
        offers = offers_from(nbt["Offers"]) if "Offers" in nbt else offers_of(profession, level)
        if offers:
            extra["offers"] = offers
    return extra


# Blows and death


def hit(world: WorldState, row: int, amount: float, by: int, dx: float, dz: float, knock: float = 0.4) -> bool:
    """Take `amount` half hearts from a mob, which may die, and push it along (dx, dz); False in the safe ticks after a blow.

    Args:
        by: Id of the attacker: 0 the player, -1 nobody.
        knock: Speed of the push, in blocks per tick.
    """
    if not mob_kernel.hurt(world.entities, row, float(amount), by, float(dx), float(dz), float(knock)):
        return False
    if by == 0:
        _rouse(world, row)
    if world.entities["health"][row] <= 0:
        kill(world, row, by)
    return True


def hit_by_player(world: WorldState, row: int, damage: float, knock: float = 0.4) -> bool:
    """Let the player hit a mob: hurt it, push it (more in a sprint), and let others react; False if the blow did not count."""
    one, me = world.entities[row], world.player
    if one["kind"] < NUM_THINGS:
        return False
    dx, dz = float(one["x"]) - me.x, float(one["z"]) - me.z
    if me.sprinting:
        knock += 0.4
    name = KINDS[one["kind"]]
    if not hit(world, row, damage, 0, dx, dz, knock):
        return False
    me.count("hit", name)
    return True


def _rouse(world: WorldState, row: int) -> None:
    """After a player's blow, let the mob's allies (golem, wolves) attack the player, and the player's wolves attack the mob."""
    rows = world.entities
    one = rows[row]
    kind = int(one["kind"])
    near = (rows["kind"] >= NUM_THINGS) & (np.hypot(rows["x"] - one["x"], rows["z"] - one["z"]) < 16) & (rows["health"] > 0)
    allies = None
    if kind == _VILLAGER:
        allies = near & (rows["kind"] == _IRON_GOLEM)
    elif kind == _WOLF and not one["flags"] & TAMED:
        allies = near & (rows["kind"] == _WOLF) & (rows["flags"] & TAMED == 0)
    if allies is not None:
        rows["target"][allies] = 0
        rows["flags"][allies] |= ANGRY
    call_wolves(world, row)


def call_wolves(world: WorldState, row: int) -> None:
    """Let the player's wolves attack a mob, unless it is tame, a creeper or one of these wolves."""
    rows = world.entities
    one = rows[row]
    if one["flags"] & TAMED or one["kind"] == _CREEPER:
        return
    wolves = (rows["kind"] == _WOLF) & (rows["flags"] & TAMED != 0) & (rows["flags"] & SITTING == 0)
    rows["target"][wolves & (rows["id"] != one["id"])] = int(one["id"])


# Item, fewest, most; what only the player's kills leave has a chance (minecraft.wiki, Java Edition 1.16). Which items: the
# table `entity_loot`, checked by a test.
_LOOT: dict[str, tuple[tuple[str, int, int], ...]] = {
    "cow": (("leather", 0, 2), ("beef", 1, 3)),
    "pig": (("porkchop", 1, 3),),
    "sheep": (("mutton", 1, 2),),
    "chicken": (("feather", 0, 2), ("chicken", 1, 1)),
    "rabbit": (("rabbit_hide", 0, 1), ("rabbit", 0, 1)),
    "horse": (("leather", 0, 2),),
    "donkey": (("leather", 0, 2),),
    "cat": (("string", 0, 2),),
    "zombie": (("rotten_flesh", 0, 2),),
    "skeleton": (("arrow", 0, 2), ("bone", 0, 2)),
    "spider": (("string", 0, 2),),
    "creeper": (("gunpowder", 0, 2),),
    "enderman": (("ender_pearl", 0, 1),),
    "iron_golem": (("poppy", 0, 2), ("iron_ingot", 3, 5)),
    "snow_golem": (("snowball", 0, 15),),
}
_RARE: dict[str, tuple[float, tuple[str, ...]]] = {
    "rabbit": (0.1, ("rabbit_foot",)),
    "zombie": (0.025, ("iron_ingot", "carrot", "potato")),
    "spider": (1 / 3, ("spider_eye",)),
}
_WITCH = ("glowstone_dust", "sugar", "redstone", "spider_eye", "glass_bottle", "gunpowder", "stick", "stick")
_COOKED = ("beef", "porkchop", "mutton", "chicken", "rabbit")


def loot(world: WorldState, row: int, by_player: bool) -> list[Stack]:
    """Return a mob's drops at death; young mobs leave nothing, burning mobs leave cooked meat."""
    one, rng = world.entities[row], world.rng
    name = KINDS[one["kind"]]
    if one["age"] < 0 and name != "zombie":
        return []
    found: list[tuple[str, int]] = []
    for item, least, most in _LOOT.get(name, ()):
        found.append((item, int(rng.integers(least, most + 1))))
    if name == "sheep" and not one["flags"] & SHEARED:
        found.append((f"{COLOURS[int(one['variant']) % 16]}_wool", 1))
    if name == "slime" and one["variant"] == 1:
        found.append(("slime_ball", int(rng.integers(3))))
    if name == "witch":
        found += [(_WITCH[int(rng.integers(len(_WITCH)))], int(rng.integers(3))) for _ in range(int(rng.integers(1, 4)))]
    if by_player and name in _RARE:
        chance, items = _RARE[name]
        if rng.random() < chance:
            found.append((items[int(rng.integers(len(items)))], 1))
    cooked = one["fire"] > 0
    return [Stack(f"cooked_{item}" if cooked and item in _COOKED else item, number) for item, number in found if number]


def described(one: np.void) -> dict[str, Any]:
    """Return a mob's id, name, position of the feet and health in half hearts, for `world.box`."""
    x, y, z, health = (float(one[name]) for name in ("x", "y", "z", "health"))
    return {"id": int(one["id"]), "name": KINDS[one["kind"]], "x": x, "y": y, "z": z, "health": health}


def kill(world: WorldState, row: int, by: int = -1) -> None:
    """Let a mob die: drop its loot, and count it if the player killed it.

    Args:
        by: Id of the attacker: 0 the player, -1 nobody.
    """
    one = world.entities[row]
    if one["kind"] < NUM_THINGS:
        raise WorldError(f"the entity in row {row} is not a mob; call WorldState.remove for other entities")
    kind = int(one["kind"])
    name = KINDS[kind]
    x, y, z = float(one["x"]), float(one["y"]), float(one["z"])
    if world.rules.get("doMobLoot", "true") == "true":
        for stack in loot(world, row, by == 0):
            turn = float(world.rng.random()) * 2 * math.pi
            world.spawn_item(x, y + 0.3, z, stack, vx=math.cos(turn) * 0.08, vy=0.2, vz=math.sin(turn) * 0.08)
    world.deaths.append(described(one) | {"killer": "player" if by == 0 else "other"})
    size, young, tame = int(one["variant"]), bool(one["age"] < 0), bool(one["flags"] & TAMED)
    world.remove(row)
    if by == 0:
        world.player.count("killed", name)
        if not young and not tame:
            points = size if kind == _SLIME else MOBS[name].experience
            items_and_projectiles.spawn_xp(world, x, y, z, int(world.rng.integers(1, 4)) if points == 2 else points)
    if kind == _SLIME and size > 1:
        for _ in range(int(world.rng.integers(2, 5))):
            dx, dz = (float(draw) - 0.5 for draw in world.rng.random(2))
            if num_mobs(world) < MAX_MOBS:
                spawn(world, "slime", x + dx * size / 4, y + 0.5, z + dz * size / 4, Size=size // 2 - 1)
