"""Random ticks: crops and trees grow, grass spreads, leaves without a log decay, farmland dries, ice melts.

In each tick some cells get a turn: in every section of 16 x 16 x 16 cells near one of the players (they take turns), as many
cells are drawn at random as the game rule randomTickSpeed says (3 by default). The block's rule decides what happens. Compiled
code first skips cells that would not change, such as most grass and leaves.
Chances are those of Minecraft 1.16 (minecraft.wiki, the pages of the blocks).

Differences from the game: a dark oak grows from one sapling; mushrooms, vines, bamboo and corals never grow.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from weakref import WeakKeyDictionary

import numpy as np
from numba import njit

from blockworld.blocks import fire
from blockworld.blocks.updates import break_block, set_block
from blockworld.grid.connections import NAME_OF, SIDES
from blockworld.grid.fluids import FLUID, WATER
from blockworld.grid.grid import SQUARE, Grid
from blockworld.grid.light import EAST, HIDES, NORTH, SOUTH, TAKES, WEST
from blockworld.registry.blocks import AIR, BLOCK_OF, BLOCKS, BY_NAME, change, name_of, per_block, properties_of, state_of
from blockworld.registry.flammability import CATCHES
from blockworld.terrain import trees
from blockworld.world_state import WorldState

REACH = 64
"""Distance from the player within which plants grow, in blocks along x and z."""
DECAY_DISTANCE = 6
"""Leaves decay if no log is within this many steps through leaves. At most 7, because the search counts in 4 bits."""

_NONE, _RULE, _GRASS, _LEAVES, _LAVA = range(5)
Rule = Callable[[WorldState, int, int, int, int], None]


@cache
def sky_darkening(time: int) -> int:
    """Levels by which sky light is reduced at `time` (0 to 23,999): 0 by day to 11 at night (minecraft.wiki, "Light").

    >>> sky_darkening(6000), sky_darkening(18000)
    (0, 11)
    """
    turn = (time / 24000 - 0.25) % 1
    angle = (turn * 2 + (0.5 - math.cos(turn * math.pi) / 2)) / 3
    bright = min(1.0, max(0.0, math.cos(angle * 2 * math.pi) * 2 + 0.5))
    return int((1 - bright) * 11)


def brightness(world: WorldState, x: int, y: int, z: int) -> int:
    """The higher of a cell's sky light and block light, regardless of the time of day."""
    return max(world.grid.lights(x, y, z))


def random_ticks(world: WorldState) -> None:
    speed = int(world.rules.get("randomTickSpeed", "3"))
    if speed == 0:
        return
    blocks = world.grid.blocks
    sx, sz, sy = blocks.shape
    player = world.players[world.ticks % len(world.players)]  # each in turn, so that more players grow no more
    x0, x1 = max(0, int(player.x - REACH) >> 4), min((sx - 1) >> 4, int(player.x + REACH) >> 4)
    z0, z1 = max(0, int(player.z - REACH) >> 4), min((sz - 1) >> 4, int(player.z + REACH) >> 4)
    if x1 < x0 or z1 < z0:
        return
    num = (x1 - x0 + 1) * (z1 - z0 + 1) * ((sy + 15) >> 4) * speed
    draws = world.rng.bit_generator.random_raw(num)  # whose upper 62 bits count
    ruled, grown, states, decayed = _drawn(
        blocks, world.grid.light, _TURNS, _SOIL, draws, (x0, x1, z0, z1), speed, sky_darkening(world.time), *growing(world)
    )
    touches = world.grid.num_touches
    for cell in ruled.tolist():
        if cell < 0:  # lava, which had nothing around that catches fire
            if world.grid.num_touches == touches:
                continue
            cell = ~cell
        x, z, y = cell >> 20, cell >> 10 & 1023, cell & 1023
        state = int(blocks[x, z, y])  # another turn of this tick may have changed it
        rule = _RULES[BLOCK_OF[state]]
        if rule is not None:
            rule(world, x, y, z, state)
    for cell, state in zip(grown.tolist(), states.tolist(), strict=True):
        x, z, y = cell >> 20, cell >> 10 & 1023, cell & 1023
        here = int(_SOIL[blocks[x, z, y]])
        if state < 0 and here & 2:
            set_block(world, x, y, z, _DIRT)
        elif state >= 0 and here & 1:
            set_block(world, x, y, z, state)
    for cell in decayed.tolist():
        x, z, y = cell >> 20, cell >> 10 & 1023, cell & 1023
        if _TURNS[blocks[x, z, y]] == _LEAVES:
            break_block(world, x, y, z)


def _soil() -> np.ndarray:
    """Bits per state: 1 dirt, 2 grass or mycelium, 4 a block under which grass dies, 8 water, 16 log, 32 leaves."""
    soil = per_block({"dirt": 1, "grass_block": 2, "mycelium": 2}, 0, np.uint8)
    soil |= np.where((TAKES == 15) | (HIDES & 1 != 0) & (BLOCKS.index(BY_NAME["snow"]) != BLOCK_OF), 4, 0).astype(np.uint8)
    soil |= np.where(FLUID & 3 == WATER, 8, 0).astype(np.uint8)
    soil |= np.where((FLUID >> 2 & 15) == 8, 4, 0).astype(np.uint8)
    logs = {block.name: 16 for block in BLOCKS if block.name.endswith(("_log", "_wood", "_stem", "_hyphae"))}
    for name in ("pumpkin_stem", "melon_stem", "attached_pumpkin_stem", "attached_melon_stem", "mushroom_stem"):
        logs.pop(name, None)
    soil |= per_block(logs, 0, np.uint8)
    soil |= per_block({block.name: 32 for block in BLOCKS if block.name.endswith("_leaves")}, 0, np.uint8)
    return soil


_SOIL = _soil()


@njit(cache=True)
def _far_from_logs(blocks, soil, x, y, z):
    """Whether the leaves in a cell have no log within `DECAY_DISTANCE` steps through leaves."""
    sx, sz, sy = blocks.shape
    side_length = 2 * DECAY_DISTANCE + 1
    seen = np.zeros((side_length, side_length, side_length), np.bool_)
    cells = np.empty(side_length**3, np.int32)
    cells[0] = DECAY_DISTANCE << 8 | DECAY_DISTANCE << 4 | DECAY_DISTANCE
    seen[DECAY_DISTANCE, DECAY_DISTANCE, DECAY_DISTANCE] = True
    start, num = 0, 1
    for _ in range(DECAY_DISTANCE):
        end = num
        for i in range(start, end):
            u, v, w = cells[i] >> 8, cells[i] >> 4 & 15, cells[i] & 15
            for side in range(6):
                a = u + (-1 if side == 4 else 1 if side == 5 else 0)
                b = v + (-1 if side == 0 else 1 if side == 1 else 0)
                c = w + (-1 if side == 2 else 1 if side == 3 else 0)
                nx, ny, nz = x + a - DECAY_DISTANCE, y + b - DECAY_DISTANCE, z + c - DECAY_DISTANCE
                if seen[a, b, c] or nx < 0 or nx >= sx or nz < 0 or nz >= sz or ny < 0 or ny >= sy:
                    continue
                seen[a, b, c] = True
                kind = soil[blocks[nx, nz, ny]]
                if kind & 16:
                    return False
                if kind & 32:
                    cells[num] = a << 8 | b << 4 | c
                    num += 1
        start = end
    return True


PLOT = 4
"""Cells along each side of a plot, a small cube of cells. Two numbers for each column of plots have one bit per plot: whether
the plot contains blocks that get random turns (number 0), and blocks that catch fire (number 1)."""
_LOOK_AGAIN_TICKS = 32
_GROWING: WeakKeyDictionary[Grid, tuple[np.ndarray, np.ndarray]] = WeakKeyDictionary()
"""Per grid: the bits of its plots, written by `_look_over`, and the squares of columns changed since `_look_over` last ran."""


def growing(world: WorldState) -> tuple[np.ndarray, np.ndarray]:
    """Bits of a world's plots, and the squares of columns changed since the bits were set; the first call is slow (some ms)."""
    grid, first = world.grid, world.first
    found = _GROWING.get(grid)
    if found is None:
        if first not in _GROWING:
            sx, _, sz = first.size
            plots = np.zeros((-(-sx // PLOT), -(-sz // PLOT), 2), np.uint64)
            _look_over(first.blocks, _TURNS, CATCHES, plots, ~first.untouched()[0])
            _GROWING[first] = plots, first.untouched()[0]
        noted = grid.untouched()
        noted[0] = grid.touched[0]
        grid.watched.append(noted)
        found = _GROWING[grid] = _GROWING[first][0].copy(), noted[0]
    if world.ticks % _LOOK_AGAIN_TICKS == 0:
        _look_over(grid.blocks, _TURNS, CATCHES, *found)
    return found


@njit(cache=True, nogil=True)
def _look_over(blocks, turns, catches, plots, touched):
    sx, sz, sy = blocks.shape
    for u in range((sx + SQUARE - 1) // SQUARE):
        for w in range((sz + SQUARE - 1) // SQUARE):
            if not touched[u + 1, w + 1]:
                continue
            touched[u + 1, w + 1] = False
            plots[u * SQUARE // PLOT : (u + 1) * SQUARE // PLOT, w * SQUARE // PLOT : (w + 1) * SQUARE // PLOT] = 0
            for x in range(u * SQUARE, min(sx, u * SQUARE + SQUARE)):
                for z in range(w * SQUARE, min(sz, w * SQUARE + SQUARE)):
                    for y in range(sy):
                        height = np.uint64(1) << np.uint64(y // PLOT)
                        if turns[blocks[x, z, y]]:
                            plots[x // PLOT, z // PLOT, 0] |= height
                        if catches[blocks[x, z, y]]:
                            plots[x // PLOT, z // PLOT, 1] |= height


@njit(cache=True)
def _may_kindle(plots, touched, x, y, z):
    """Whether a flammable block may be near enough for lava to set it on fire (`fire.kindle`)."""
    heights = np.uint64(0)
    for v in range(max(0, y - 2) // PLOT, (y + 5) // PLOT + 1):
        heights |= np.uint64(1) << np.uint64(v)
    for u in range(max(0, x - 2) // PLOT, min(plots.shape[0] - 1, (x + 2) // PLOT) + 1):
        for w in range(max(0, z - 2) // PLOT, min(plots.shape[1] - 1, (z + 2) // PLOT) + 1):
            if plots[u, w, 1] & heights or touched[u * PLOT // SQUARE + 1, w * PLOT // SQUARE + 1]:
                return True
    return False


@njit(cache=True)
def _drawn(blocks, light, turns, soil, draws, sections, speed, dark, plots, touched):
    """Read the drawn cells and return the cells that may change, as four arrays.

    The arrays: cells whose block has a rule (~cell for lava without fuel near it); cells of soil that change; the new states of
    these, -1 for dirt; leaves that decay. Cells in plots that cannot change are not read. All reads come first, for speed.
    """
    sx, sz, sy = blocks.shape
    x0, x1, z0, z1 = sections
    cells, bits = np.empty(draws.size, np.int32), np.empty(draws.size, np.int64)
    num = n = 0
    for u in range(x0, x1 + 1):
        for w in range(z0, z1 + 1):
            is_touched = touched[u + 1, w + 1]
            for v in range((sy + 15) >> 4):
                for _ in range(speed):
                    draw = np.int64(draws[n] >> np.uint64(2))
                    n += 1
                    x, z, y = u << 4 | draw & 15, w << 4 | draw >> 4 & 15, v << 4 | draw >> 8 & 15
                    if x >= sx or z >= sz or y >= sy:
                        continue
                    if is_touched or plots[x // PLOT, z // PLOT, 0] >> np.uint64(y // PLOT) & np.uint64(1):
                        cells[num], bits[num] = x << 20 | z << 10 | y, draw
                        num += 1
    there = np.empty(num, blocks.dtype)
    for i in range(num):
        there[i] = blocks[cells[i] >> 20, cells[i] >> 10 & 1023, cells[i] & 1023]
    ruled, decayed = np.empty(num, np.int32), np.empty(num, np.int32)
    grown, states = np.empty(num * 4, np.int32), np.empty(num * 4, np.int32)
    num_ruled = num_grown = num_decayed = 0
    for i in range(num):
        turn = turns[there[i]]
        if turn == 0:
            continue
        x, z, y, draw = cells[i] >> 20, cells[i] >> 10 & 1023, cells[i] & 1023, bits[i]
        if turn == 1 or turn == 4:
            ruled[num_ruled] = cells[i] if turn == 1 or _may_kindle(plots, touched, x, y, z) else ~cells[i]
            num_ruled += 1
        elif turn == 3:
            if _far_from_logs(blocks, soil, x, y, z):
                decayed[num_decayed] = cells[i]
                num_decayed += 1
        elif y + 1 < sy and soil[blocks[x, z, y + 1]] & 4:
            grown[num_grown] = cells[i]
            states[num_grown] = -1
            num_grown += 1
        else:
            above = light[x, z, y + 1] if y + 1 < sy else 15 << 4
            if max((above >> 4) - dark, above & 15) < 9:
                continue
            for k in range(4):
                chosen = draw >> 12 + 12 * k & 4095
                nx, nz, ny = x + chosen % 3 - 1, z + chosen // 3 % 3 - 1, y + chosen // 9 % 5 - 3
                if nx < 0 or nx >= sx or nz < 0 or nz >= sz or ny < 0 or ny >= sy:
                    continue
                if not soil[blocks[nx, nz, ny]] & 1:
                    continue
                if ny + 1 < sy and soil[blocks[nx, nz, ny + 1]] & 12:
                    continue
                grown[num_grown] = nx << 20 | nz << 10 | ny
                states[num_grown] = there[i]
                num_grown += 1
    return ruled[:num_ruled], grown[:num_grown], states[:num_grown], decayed[:num_decayed]


assert SQUARE == 16  # a square of columns that is noted as touched is one of sections


_DIRT = state_of("dirt")
_SOILS = {"dirt", "grass_block", "podzol", "coarse_dirt", "farmland"}


def _age(state: int) -> int:
    return int(properties_of(state)["age"])


def growth_speed(world: WorldState, x: int, y: int, z: int, state: int) -> float:
    """Growth points of a crop: more with wet farmland below and around; half if equal crops beside it form no single row."""
    get = world.grid.get
    points = 1.0
    for dx in (-1, 0, 1):
        for dz in (-1, 0, 1):
            soil = get(x + dx, y - 1, z + dz)
            if name_of(soil) == "farmland":
                worth = 3.0 if properties_of(soil)["moisture"] != "0" else 1.0
                points += worth if dx == dz == 0 else worth / 4
    block = BLOCK_OF[state]

    def same(dx: int, dz: int) -> bool:
        return BLOCK_OF[get(x + dx, y, z + dz)] == block

    along_x, along_z = same(-1, 0) or same(1, 0), same(0, -1) or same(0, 1)
    if (along_x and along_z) or any(same(dx, dz) for dx in (-1, 1) for dz in (-1, 1)):
        points /= 2
    return points


def _thrives(world: WorldState, x: int, y: int, z: int, state: int) -> bool:
    if brightness(world, x, y, z) < 9:
        return False
    return world.rng.integers(int(25 / growth_speed(world, x, y, z, state)) + 1) == 0


def _crop(world: WorldState, x: int, y: int, z: int, state: int) -> None:
    oldest = BLOCKS[BLOCK_OF[state]].num_states - 1
    age = _age(state)
    if oldest == 3 and world.rng.integers(3) == 0:  # beetroots
        return
    if age < oldest and _thrives(world, x, y, z, state):
        set_block(world, x, y, z, change(state, age=str(age + 1)))


def _stem(world: WorldState, x: int, y: int, z: int, state: int) -> None:
    if not _thrives(world, x, y, z, state):
        return
    age = _age(state)
    if age < 7:
        set_block(world, x, y, z, change(state, age=str(age + 1)))
        return
    side = (NORTH, SOUTH, WEST, EAST)[int(world.rng.integers(4))]
    dx, _, dz = SIDES[side]
    nx, nz = x + dx, z + dz
    soil = name_of(world.grid.get(nx, y - 1, nz))
    if world.grid.inside(nx, y, nz) and world.grid.get(nx, y, nz) == AIR and soil in _SOILS:
        stem = name_of(state)
        set_block(world, nx, y, nz, state_of(stem.removesuffix("_stem")))
        set_block(world, x, y, z, state_of(f"attached_{stem}", facing=NAME_OF[side]))


def _older(chance: int, lit: bool = False) -> Rule:
    """Make the rule of a plant that grows one step with a chance of 1 in `chance` per turn; if `lit`, only in light."""

    def rule(world: WorldState, x: int, y: int, z: int, state: int) -> None:
        age, oldest = _age(state), len(BLOCKS[BLOCK_OF[state]].properties["age"]) - 1
        if age < oldest and world.rng.integers(chance) == 0 and (not lit or brightness(world, x, y + 1, z) >= 9):
            set_block(world, x, y, z, change(state, age=str(age + 1)))

    return rule


def _tall(world: WorldState, x: int, y: int, z: int, state: int) -> None:
    """Grow cactus and sugar cane up to three blocks high, by one block every sixteenth turn of the top block."""
    grid = world.grid
    block = BLOCK_OF[state]
    if not grid.inside(x, y + 1, z) or grid.get(x, y + 1, z) != AIR:
        return
    height = 1
    while height < 3 and BLOCK_OF[grid.get(x, y - height, z)] == block:
        height += 1
    if height >= 3:
        return
    age = _age(state)
    if age < 15:
        set_block(world, x, y, z, change(state, age=str(age + 1)))
    else:
        set_block(world, x, y + 1, z, change(state, age="0"))
        set_block(world, x, y, z, change(state, age="0"))


def _kelp(world: WorldState, x: int, y: int, z: int, state: int) -> None:
    age = _age(state)
    if age < 25 and world.rng.random() < 0.14 and world.grid.get(x, y + 1, z) == state_of("water"):
        set_block(world, x, y + 1, z, change(state, age=str(age + 1)))
        set_block(world, x, y, z, state_of("kelp_plant"))


def _farmland(world: WorldState, x: int, y: int, z: int, state: int) -> None:
    blocks = world.grid.blocks
    around = blocks[max(0, x - 4) : x + 5, max(0, z - 4) : z + 5, y : y + 2]
    moisture = int(properties_of(state)["moisture"])
    if bool((FLUID[around] & 3 == WATER).any()) or (world.weather != "clear" and world.grid.lights(x, y + 1, z)[0] == 15):
        if moisture < 7:
            set_block(world, x, y, z, change(state, moisture="7"))
    elif moisture:
        set_block(world, x, y, z, change(state, moisture=str(moisture - 1)))
    elif _RULES[BLOCK_OF[world.grid.get(x, y + 1, z)]] not in (_crop, _stem):
        set_block(world, x, y, z, _DIRT)


def _sapling(world: WorldState, x: int, y: int, z: int, state: int) -> None:
    if brightness(world, x, y + 1, z) >= 9 and world.rng.integers(7) == 0:
        advance_sapling(world, x, y, z, state)


def advance_sapling(world: WorldState, x: int, y: int, z: int, state: int) -> None:
    if properties_of(state)["stage"] == "0":
        set_block(world, x, y, z, change(state, stage="1"))
    else:
        grow_tree(world, x, y, z, name_of(state).removesuffix("_sapling"))


def grow_tree(world: WorldState, x: int, y: int, z: int, wood: str) -> bool:
    """Grow a tree in place of a sapling; return whether there was room. Without room, nothing changes.

    Args:
        wood: `oak`, `birch`, `spruce`, `jungle`, `acacia` or `dark_oak`; jungle and dark oak trees have the shape of oaks.
    """
    rng, grid = world.rng, world.grid
    kind = wood if wood in ("birch", "spruce", "acacia") else "oak"
    if wood == "oak" and rng.integers(10) == 0:
        kind = "big_oak"
    offsets, states, is_log = trees.stencil(kind, int(rng.integers(trees.NUM_SHAPES)))
    at = offsets + np.array((x, y, z))
    sx, sy, sz = grid.size
    if ((at < 0) | (at >= (sx, sy, sz))).any():
        return False
    where = at[:, 0], at[:, 2], at[:, 1]
    free = _ROOM[grid.blocks[where]]
    if not free[is_log].all():
        return False
    if wood not in ("oak", "birch", "spruce", "acacia"):
        states = np.array(
            [state_of(name_of(s).replace("oak", wood, 1), **properties_of(s)) for s in states.tolist()], np.uint16
        )
    grid.blocks[where[0][free], where[1][free], where[2][free]] = states[free]
    cells = (where[0] << 20 | where[1] << 10 | where[2])[free].astype(np.int32)
    grid.changed_cells(cells)
    if world.grid.get(x, y - 1, z) in (state_of("grass_block"), state_of("grass_block", snowy="true")):
        set_block(world, x, y - 1, z, _DIRT)
    return True


_ROOM = per_block(
    {
        block.name: True
        for block in BLOCKS
        if block.name in ("air", "grass", "fern", "dead_bush", "snow", "vine", "tall_grass", "large_fern")
        or block.name.endswith(("_leaves", "_sapling"))
    },
    False,
    np.bool_,
)


def _ice(world: WorldState, x: int, y: int, z: int, state: int) -> None:
    if world.grid.lights(x, y, z)[1] > 10:
        set_block(world, x, y, z, state_of("water"))


def _snow(world: WorldState, x: int, y: int, z: int, state: int) -> None:
    if world.grid.lights(x, y, z)[1] > 11:
        set_block(world, x, y, z, AIR)


def _ore(world: WorldState, x: int, y: int, z: int, state: int) -> None:
    if properties_of(state)["lit"] == "true":
        set_block(world, x, y, z, change(state, lit="false"))


def _lava(world: WorldState, x: int, y: int, z: int, state: int) -> None:
    fire.kindle(world, x, y, z)


def _rule(name: str) -> Rule | None:
    if name.endswith("_sapling") and name != "bamboo_sapling" and not name.startswith("potted_"):
        return _sapling
    return {
        **dict.fromkeys(("wheat", "carrots", "potatoes", "beetroots"), _crop),
        **dict.fromkeys(("pumpkin_stem", "melon_stem"), _stem),
        **dict.fromkeys(("cactus", "sugar_cane"), _tall),
        **{"nether_wart": _older(10), "cocoa": _older(5), "sweet_berry_bush": _older(5, lit=True)},
        **{"kelp": _kelp, "farmland": _farmland, "ice": _ice, "snow": _snow, "redstone_ore": _ore, "lava": _lava},
    }.get(name)


_RULES: tuple[Rule | None, ...] = tuple(_rule(block.name) for block in BLOCKS)
_TURNS: np.ndarray = per_block(
    {
        **{block.name: _RULE for block, rule in zip(BLOCKS, _RULES, strict=True) if rule is not None},
        **{"grass_block": _GRASS, "mycelium": _GRASS, "lava": _LAVA},
        **{block.name: _LEAVES for block in BLOCKS if block.name.endswith("_leaves")},
    },
    _NONE,
    np.uint8,
)
for _block in BLOCKS:
    if _block.name.endswith("_leaves"):
        for _state in range(_block.first, _block.first + _block.num_states):
            if properties_of(_state)["persistent"] == "true":
                _TURNS[_state] = _NONE
_TURNS[state_of("redstone_ore", lit="false")] = _NONE


def bone_meal(world: WorldState, x: int, y: int, z: int) -> bool:
    """Use bone meal on a block; return whether it had an effect, so that it is used up.

    Crops grow 2 to 5 steps, berries one step, saplings one step with a chance of 45 %. On grass, plants grow around the cell.
    """
    grid, rng = world.grid, world.rng
    state = grid.get(x, y, z)
    name = name_of(state)
    rule = _RULES[BLOCK_OF[state]]
    if rule is _sapling:
        if rng.random() < 0.45:
            advance_sapling(world, x, y, z, state)
        return True
    if rule in (_crop, _stem) or name in ("cocoa", "sweet_berry_bush"):
        age, oldest = _age(state), len(BLOCKS[BLOCK_OF[state]].properties["age"]) - 1
        if age == oldest:
            return False
        steps = int(rng.integers(2, 6)) if rule in (_crop, _stem) and name != "beetroots" else 1
        if name != "beetroots" or rng.integers(4):
            set_block(world, x, y, z, change(state, age=str(min(oldest, age + steps))))
        return True
    if name in ("grass", "fern") and grid.inside(x, y + 1, z) and grid.get(x, y + 1, z) == AIR:
        tall = "tall_grass" if name == "grass" else "large_fern"
        grid.set(x, y + 1, z, state_of(tall, half="upper"))
        set_block(world, x, y, z, state_of(tall, half="lower"))
        return True
    if name == "grass_block" and grid.get(x, y + 1, z) == AIR:
        flowers = [state_of("dandelion"), state_of("poppy")]
        for _ in range(48):
            nx, nz = x + int(rng.integers(-3, 4)), z + int(rng.integers(-3, 4))
            ny = y + 1 + int(rng.integers(-1, 2))
            chosen = flowers[int(rng.integers(2))] if rng.integers(8) == 0 else state_of("grass")
            on_grass = name_of(grid.get(nx, ny - 1, nz)) == "grass_block"
            if grid.inside(nx, ny, nz) and on_grass and grid.get(nx, ny, nz) == AIR:
                set_block(world, nx, ny, nz, chosen)
        return True
    return False
