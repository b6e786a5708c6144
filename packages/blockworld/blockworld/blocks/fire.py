"""Fire: burns what catches, spreads, goes out. Odds are those of Minecraft 1.16 (minecraft.wiki, Fire).

Difference from the game: rain does not reach it, and TNT burns away like wood.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from blockworld.grid.connections import SIDES, sturdy
from blockworld.grid.light import UP
from blockworld.registry.blocks import AIR, BLOCKS, change, name_of, per_block, properties_of, state_of

if TYPE_CHECKING:
    from blockworld.world import World

_FIRE = state_of("fire", age="0", east="false", north="false", south="false", up="false", west="false")
_FOR_EVER = {"netherrack", "magma_block"}
_DIFFICULTIES = ("peaceful", "easy", "normal", "hard")


def _odds() -> dict[str, tuple[int, int]]:
    """Block -> odds to catch fire, odds to be burnt."""
    odds: dict[str, tuple[int, int]] = {
        **{"bookshelf": (30, 20), "tnt": (15, 100), "vine": (15, 100), "coal_block": (5, 5), "hay_block": (60, 20)},
        **{"lectern": (30, 20), "bamboo": (60, 60), "scaffolding": (60, 60), "sweet_berry_bush": (60, 100)},
        **{
            "dried_kelp_block": (30, 60),
            "beehive": (5, 20),
            "bee_nest": (30, 20),
            "composter": (5, 20),
            "dead_bush": (60, 100),
        },
    }
    plants = ("grass", "fern", "tall_grass", "large_fern", "sunflower", "lilac", "rose_bush", "peony", "dandelion", "poppy")
    flowers = ("blue_orchid", "allium", "azure_bluet", "oxeye_daisy", "cornflower", "lily_of_the_valley", "wither_rose")
    odds.update(dict.fromkeys(plants + flowers, (60, 100)))
    woods = ("oak", "spruce", "birch", "jungle", "acacia", "dark_oak")
    for block in BLOCKS:
        name = block.name
        if name.endswith(("_leaves", "_wool")):
            odds[name] = (30, 60)
        elif name.endswith("_tulip"):
            odds[name] = (60, 100)
        elif name.endswith("_carpet"):
            odds[name] = (60, 20)
        elif name.removeprefix("stripped_").startswith(woods):
            if name.endswith(("_log", "_wood")):
                odds[name] = (5, 5)
            elif name.endswith(("_planks", "_slab", "_fence", "_stairs", "_fence_gate")):
                odds[name] = (5, 20)
    return odds


_ODDS = _odds()
CATCHES: np.ndarray = per_block({name: catches for name, (catches, _) in _ODDS.items()}, 0, np.uint8)
"""uint8, shape (NUM_STATES,): odds to catch fire from beside."""
_BURNS: np.ndarray = per_block({name: burns for name, (_, burns) in _ODDS.items()}, 0, np.uint8)


def fire_at(world: World, x: int, y: int, z: int, age: int = 0) -> int:
    """The state that fire takes in a cell: it shows on the sides that burn, unless it stands on a floor."""
    get = world.grid.get
    below = get(x, y - 1, z)
    if name_of(below) in ("soul_sand", "soul_soil"):
        return state_of("soul_fire")
    if sturdy(below, UP) or CATCHES[below]:
        return change(_FIRE, age=str(age))
    names = ("up", "north", "south", "west", "east")
    sides = {
        name: "true" if CATCHES[get(x + dx, y + dy, z + dz)] else "false"
        for name, (dx, dy, dz) in zip(names, SIDES[1:], strict=True)
    }
    return change(_FIRE, age=str(age), **sides)


def delay(world: World) -> int:
    """Ticks until a fire's next turn: 30 to 39."""
    return 30 + int(world.rng.integers(10))


def burn(world: World, x: int, y: int, z: int) -> bool:
    """One turn of a fire; returns whether it wants another."""
    if world.rules.get("doFireTick", "true") != "true":
        return True
    get, rng = world.grid.get, world.rng
    state = get(x, y, z)
    below = get(x, y - 1, z)
    for_ever = name_of(below) in _FOR_EVER
    age = int(properties_of(state)["age"])
    older = min(15, age + int(rng.integers(3)) // 2)
    near = [(x + dx, y + dy, z + dz) for dx, dy, dz in SIDES]
    fuel = any(CATCHES[get(*cell)] for cell in near)
    if not fuel and not sturdy(below, UP):
        world.set_block(x, y, z, AIR)
        return False
    if not for_ever:
        if (not fuel and age > 3) or (age == 15 and not CATCHES[below] and rng.integers(4) == 0):
            world.set_block(x, y, z, AIR)
            return False
        if older != age:
            world.set_block(x, y, z, fire_at(world, x, y, z, older))
    if not fuel and not _any_fuel(world.grid.blocks, x, y, z):
        return True
    for (nx, ny, nz), (_, dy, _) in zip(near, SIDES, strict=True):
        burns = int(_BURNS[get(nx, ny, nz)])
        if burns and world.grid.inside(nx, ny, nz) and rng.integers(250 if dy else 300) < burns:
            if rng.integers(age + 10) < 5:
                world.set_block(nx, ny, nz, fire_at(world, nx, ny, nz, min(15, age + int(rng.integers(5)) // 4)))
            else:
                world.set_block(nx, ny, nz, AIR)
    hard = _DIFFICULTIES.index(world.difficulty) if world.difficulty in _DIFFICULTIES else 2
    for dx in (-1, 0, 1):
        for dz in (-1, 0, 1):
            for dy in range(-1, 5):
                cell = x + dx, y + dy, z + dz
                if (dx, dy, dz) == (0, 0, 0) or not world.grid.inside(*cell) or get(*cell) != AIR:
                    continue
                catches = max(int(CATCHES[get(cell[0] + a, cell[1] + b, cell[2] + c)]) for a, b, c in SIDES)
                if not catches:
                    continue
                chance = (catches + 40 + 7 * hard) // (age + 30)
                if chance > 0 and rng.integers(100 + 100 * max(0, dy - 1)) <= chance:
                    world.set_block(*cell, fire_at(world, *cell, min(15, age + int(rng.integers(5)) // 4)))
    return True


@njit(cache=True)
def _any_fuel(blocks, x, y, z):
    """Whether anything that catches fire is near enough for a fire to spread."""
    sx, sz, sy = blocks.shape
    for i in range(max(0, x - 2), min(sx, x + 3)):
        for k in range(max(0, z - 2), min(sz, z + 3)):
            for j in range(max(0, y - 2), min(sy, y + 6)):
                if CATCHES[blocks[i, k, j]]:
                    return True
    return False


def kindle(world: World, x: int, y: int, z: int) -> None:
    """A random turn of lava: it may set fire to what is above and around it."""
    if world.rules.get("doFireTick", "true") != "true" or not _any_fuel(world.grid.blocks, x, y, z):
        return
    get, rng = world.grid.get, world.rng
    climbs = int(rng.integers(3))
    for _ in range(climbs or 3):
        dx, dz = int(rng.integers(3)) - 1, int(rng.integers(3)) - 1
        cell = (x + dx, y + 1, z + dz)
        if climbs:
            x, y, z = cell
        here = get(*cell)
        if here == AIR and world.grid.inside(*cell):
            if any(CATCHES[get(cell[0] + a, cell[1] + b, cell[2] + c)] for a, b, c in SIDES):
                world.set_block(*cell, fire_at(world, *cell))
                return
        elif climbs and sturdy(here, UP):
            return
