"""Fire burns flammable blocks, spreads and dies out. Odds are those of Minecraft 1.16 (minecraft.wiki, Fire).

Differences from the game: rain does not put out fires, and TNT burns away like wood.
"""

from __future__ import annotations

from numba import njit

from blockworld.blocks.updates import set_block
from blockworld.grid.connections import SIDES, sturdy
from blockworld.grid.light import UP
from blockworld.registry.blocks import AIR, change, name_of, properties_of, state_of
from blockworld.registry.flammability import BURNS, CATCHES
from blockworld.world_state import WorldState

_FIRE = state_of("fire", age="0", east="false", north="false", south="false", up="false", west="false")
_FOR_EVER = {"netherrack", "magma_block"}
_DIFFICULTIES = ("peaceful", "easy", "normal", "hard")


def fire_at(world: WorldState, x: int, y: int, z: int, age: int = 0) -> int:
    """State of a fire in a cell: it stands on the floor if it can, else it clings to its flammable neighbours."""
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


def burn(world: WorldState, x: int, y: int, z: int) -> bool:
    """Give a fire its turn; return whether it still burns and needs another turn."""
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
        set_block(world, x, y, z, AIR)
        return False
    if not for_ever:
        if (not fuel and age > 3) or (age == 15 and not CATCHES[below] and rng.integers(4) == 0):
            set_block(world, x, y, z, AIR)
            return False
        if older != age:
            set_block(world, x, y, z, fire_at(world, x, y, z, older))
    if not fuel and not _any_fuel(world.grid.blocks, x, y, z):
        return True
    for (nx, ny, nz), (_, dy, _) in zip(near, SIDES, strict=True):
        burns = int(BURNS[get(nx, ny, nz)])
        if burns and world.grid.inside(nx, ny, nz) and rng.integers(250 if dy else 300) < burns:
            if rng.integers(age + 10) < 5:
                set_block(world, nx, ny, nz, fire_at(world, nx, ny, nz, min(15, age + int(rng.integers(5)) // 4)))
            else:
                set_block(world, nx, ny, nz, AIR)
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
                    set_block(world, *cell, fire_at(world, *cell, min(15, age + int(rng.integers(5)) // 4)))
    return True


@njit(cache=True)
def _any_fuel(blocks, x, y, z):
    """Whether a flammable block is near enough for a fire or lava to set it on fire."""
    sx, sz, sy = blocks.shape
    for i in range(max(0, x - 2), min(sx, x + 3)):
        for k in range(max(0, z - 2), min(sz, z + 3)):
            for j in range(max(0, y - 2), min(sy, y + 6)):
                if CATCHES[blocks[i, k, j]]:
                    return True
    return False


def kindle(world: WorldState, x: int, y: int, z: int) -> None:
    """Give lava its random turn, which may set fire to blocks above and around it."""
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
                set_block(world, *cell, fire_at(world, *cell))
                return
        elif climbs and sturdy(here, UP):
            return
