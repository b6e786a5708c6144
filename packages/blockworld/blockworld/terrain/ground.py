"""The ground of a land: solid columns under a height map, caves, and ore."""

from __future__ import annotations

import numpy as np
from numba import njit

from blockworld.registry.blocks import AIR, state_of
from blockworld.terrain import noise

SEA = 62
"""Height of the sea's topmost water."""
LAVA_TOP = 10
"""Height up to which caves are filled with lava."""
_STEP = 4
"""Distance in cells between the points at which three-dimensional noise is computed."""

_STONE, _DIRT, _GRAVEL = state_of("stone"), state_of("dirt"), state_of("gravel")
_SAND, _SANDSTONE = state_of("sand"), state_of("sandstone")
_WATER, _LAVA, _BEDROCK = state_of("water"), state_of("lava"), state_of("bedrock")

VEINS: tuple[tuple[str, int, int, float, int], ...] = (
    ("dirt", 0, 110, 7, 33),
    ("gravel", 0, 110, 5, 33),
    ("granite", 0, 80, 7, 33),
    ("diorite", 0, 80, 7, 33),
    ("andesite", 0, 80, 7, 33),
    ("coal_ore", 4, 100, 20, 20),
    ("iron_ore", 4, 63, 20, 7),
    ("gold_ore", 4, 31, 2, 7),
    ("redstone_ore", 4, 15, 8, 5),
    ("diamond_ore", 4, 15, 1, 5),
    ("lapis_ore", 4, 30, 1, 6),
)
"""Rows: block, lowest and highest height of a vein's middle, veins per 16 x 16 columns, approximate blocks per vein. Heights
and numbers are those of Minecraft 1.16, but varieties of stone are a little rarer, because a world of 128 blocks has less rock.
Our veins are round; their sizes give as much ore as in the game (minecraft.wiki, Ore, before 1.18: 143 coal, 77 iron, 25
redstone, 8 gold, 3 diamonds and 3 lapis on 16 x 16 columns)."""


@njit(cache=True, nogil=True)
def _across(lattice: np.ndarray, x: int, z: int, out: np.ndarray) -> None:
    """Write into `out` the column of a lattice at (x, z), interpolated between the four columns around it."""
    i, k = x // _STEP, z // _STEP
    u, v = (x % _STEP) / _STEP, (z % _STEP) / _STEP
    for j in range(lattice.shape[2]):
        a = lattice[i, k, j] + u * (lattice[i + 1, k, j] - lattice[i, k, j])
        b = lattice[i, k + 1, j] + u * (lattice[i + 1, k + 1, j] - lattice[i, k + 1, j])
        out[j] = a + v * (b - a)


@njit(cache=True, nogil=True)
def _at(column: np.ndarray, y: int) -> float:
    j = y // _STEP
    return column[j] + (y % _STEP) / _STEP * (column[j + 1] - column[j])


@njit(cache=True, nogil=True)
def _fill(blocks, heights, rough, surface, filler, depth, under, seed, lattice):  # type: ignore[no-untyped-def]
    """Fill every column with stone, ground and water. `rough`: by how many blocks noise may move the ground."""
    sx, sz, sy = blocks.shape
    column = np.empty(lattice.shape[2], np.float64)
    for x in range(sx):
        for z in range(sz):
            height, amplitude = heights[x, z], rough[x, z]
            top = min(sy - 2, int(np.floor(height)))
            for y in range(1, max(top, 1) + 1):
                blocks[x, z, y] = _STONE
            if amplitude > 0.3:
                _across(lattice, x, z, column)
                for y in range(max(2, int(height - amplitude)), min(sy - 2, int(height + amplitude) + 2)):
                    solid = y <= height + amplitude * 1.6 * _at(column, y)
                    blocks[x, z, y] = _STONE if solid else AIR
            # the ground: what looks at the sky, with some filler beneath, and again under every overhang
            left = -1
            first = True
            for y in range(sy - 1, 0, -1):
                if blocks[x, z, y] == AIR:
                    left = -1
                    if y <= SEA and first:
                        blocks[x, z, y] = _WATER
                    continue
                first = False
                if left == -1:
                    left = depth[x, z] + under[x, z]
                    blocks[x, z, y] = surface[x, z]
                elif left > under[x, z]:
                    left -= 1
                    blocks[x, z, y] = filler[x, z]
                elif left > 0:
                    left -= 1
                    blocks[x, z, y] = _SANDSTONE
            blocks[x, z, 0] = _BEDROCK
            for y in range(1, 4):
                if noise.mixed(seed, x, y, z) % 4 >= y:
                    blocks[x, z, y] = _BEDROCK


@njit(cache=True, nogil=True)
def _carve(blocks, tops, shut, gates, one, two, rooms):  # type: ignore[no-untyped-def]
    """Carve caves: tunnels where two noise fields are both near 0, rooms where a third field is high.

    From height `shut` upwards, a column stays solid, because water or a village is above. Caves may open at the surface where
    `gates` is not negative.
    """
    sx, sz, sy = blocks.shape
    a = np.empty(one.shape[2], np.float64)
    b = np.empty(one.shape[2], np.float64)
    c = np.empty(one.shape[2], np.float64)
    for x in range(sx):
        for z in range(sz):
            _across(one, x, z, a)
            _across(two, x, z, b)
            _across(rooms, x, z, c)
            for y in range(4, min(tops[x, z], shut[x, z] - 1, sy - 5) + 1):
                here = blocks[x, z, y]
                if here in (AIR, _WATER, _BEDROCK):
                    continue
                cover = tops[x, z] - y
                near = min(1.0, cover / 8.0) if gates[x, z] < 0.0 else 1.0
                width = 0.0125 * (0.55 + 0.45 * min(1.0, (tops[x, z] + 12 - y) / 24.0)) * near
                p, q = _at(a, y), _at(b, y)
                room = _at(c, y) > 0.5 + (0.4 if cover < 9 else 0.0) + max(0.0, (y - 40) * 0.02)
                if p * p + q * q < width or room:
                    blocks[x, z, y] = _LAVA if y <= LAVA_TOP else AIR


@njit(cache=True, nogil=True)
def hold(blocks) -> None:  # type: ignore[no-untyped-def]
    """Put solid blocks under sand and gravel above caves, and into places where water would flow into caves."""
    sx, sz, sy = blocks.shape
    for x in range(sx):
        for z in range(sz):
            for y in range(1, sy):
                here = blocks[x, z, y]
                if here == AIR and y <= SEA:
                    wet = blocks[x, z, y + 1] == _WATER
                    wet = wet or (x > 0 and blocks[x - 1, z, y] == _WATER) or (x < sx - 1 and blocks[x + 1, z, y] == _WATER)
                    wet = wet or (z > 0 and blocks[x, z - 1, y] == _WATER) or (z < sz - 1 and blocks[x, z + 1, y] == _WATER)
                    if wet:
                        blocks[x, z, y] = _STONE
                elif here in (_SAND, _GRAVEL):
                    below = blocks[x, z, y - 1]
                    if below in (AIR, _WATER, _LAVA):
                        blocks[x, z, y] = _SANDSTONE if here == _SAND else _STONE


@njit(cache=True, nogil=True)
def _veins(blocks, middles, radii, states, hosts):  # type: ignore[no-untyped-def]
    """Place lumps of ore, each two overlapping balls (`middles`: shape (N, 6)); only blocks in `hosts` become ore."""
    sx, sz, sy = blocks.shape
    for n in range(middles.shape[0]):
        radius = radii[n]
        for ball in range(2):
            mx, my, mz = middles[n, 3 * ball], middles[n, 3 * ball + 1], middles[n, 3 * ball + 2]
            for x in range(max(0, int(mx - radius)), min(sx, int(mx + radius) + 2)):
                for z in range(max(0, int(mz - radius)), min(sz, int(mz + radius) + 2)):
                    for y in range(max(1, int(my - radius)), min(sy, int(my + radius) + 2)):
                        dx, dy, dz = x - mx, y - my, z - mz
                        if dx * dx + dy * dy + dz * dz < radius * radius:
                            here = blocks[x, z, y]
                            if here == hosts[0] or here == hosts[1] or here == hosts[2] or here == hosts[3]:
                                blocks[x, z, y] = states[n]


@njit(cache=True, nogil=True)
def highest(blocks: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Height of the highest cell in each column whose state is `wanted`: int16, shape (SX, SZ); -1 without such a cell."""
    sx, sz, sy = blocks.shape
    out = np.full((sx, sz), -1, np.int16)
    for x in range(sx):
        for z in range(sz):
            for y in range(sy - 1, -1, -1):
                if wanted[blocks[x, z, y]]:
                    out[x, z] = y
                    break
    return out


@njit(cache=True, nogil=True)
def lowest_around(heights: np.ndarray, reach: int) -> np.ndarray:
    """Smallest value among the columns at most `reach` away in x and in z, for each column; same shape and dtype."""
    sx, sz = heights.shape
    rows = heights.copy()
    out = heights.copy()
    for x in range(sx):
        for z in range(sz):
            for a in range(max(0, x - reach), min(sx, x + reach + 1)):
                if heights[a, z] < rows[x, z]:
                    rows[x, z] = heights[a, z]
    for x in range(sx):
        for z in range(sz):
            out[x, z] = rows[x, z]
            for b in range(max(0, z - reach), min(sz, z + reach + 1)):
                if rows[x, b] < out[x, z]:
                    out[x, z] = rows[x, b]
    return out


def filled(
    seed: int,
    heights: np.ndarray,
    rough: np.ndarray,
    surface: np.ndarray,
    filler: np.ndarray,
    depth: np.ndarray,
    under: np.ndarray,
    height: int,
) -> np.ndarray:
    """Make a land of solid columns: uint16, shape (SX, SZ, `height`).

    Args:
        heights: float64, shape (SX, SZ): heights of the ground.
        rough: float64, same shape: number of blocks by which noise may move the ground, which makes cliffs and overhangs.
        surface, filler: uint16, same shape: states of the ground and of the layer under it.
        depth, under: int64, same shape: number of cells of filler, and of sandstone under the filler.
    """
    sx, sz = heights.shape
    blocks = np.zeros((sx, sz, height), np.uint16)
    lattice = noise.lattice3(seed, sx // _STEP + 2, sz // _STEP + 2, height // _STEP + 2, _STEP, 26.0, 22.0, 2)
    _fill(blocks, heights, rough, surface, filler, depth, under, seed, lattice)
    return blocks


def add_caves(seed: int, blocks: np.ndarray, tops: np.ndarray, shut: np.ndarray, gates: np.ndarray) -> None:
    """Carve caves; see `_carve` for `shut` and `gates`, both shape (SX, SZ)."""
    sx, sz, sy = blocks.shape
    shape = (sx // _STEP + 2, sz // _STEP + 2, sy // _STEP + 2)
    one = noise.lattice3(seed + 11, *shape, _STEP, 44.0, 30.0, 1)
    two = noise.lattice3(seed + 12, *shape, _STEP, 44.0, 30.0, 1)
    rooms = noise.lattice3(seed + 13, *shape, _STEP, 40.0, 24.0, 1)
    _carve(blocks, tops.astype(np.int64), shut.astype(np.int64), gates, one, two, rooms)


def add_veins(rng: np.random.Generator, blocks: np.ndarray, *, emeralds: np.ndarray) -> None:
    """Add ore and pockets of other stone, by `VEINS`; emeralds only where the map `emeralds` (bool, shape (SX, SZ)) is true."""
    sx, sz, sy = blocks.shape
    chunks = sx * sz / 256
    hosts = np.array([state_of(name) for name in ("stone", "granite", "diorite", "andesite")], np.int64)
    for name, low, high, often, size in VEINS:
        num = int(chunks * often)
        middles = np.empty((num, 6), np.float64)
        middles[:, 0] = rng.random(num) * sx
        middles[:, 2] = rng.random(num) * sz
        if name == "lapis_ore":  # densest at 16, as in the game
            middles[:, 1] = low + (rng.random(num) + rng.random(num)) / 2 * (high - low)
        else:
            middles[:, 1] = low + rng.random(num) * (min(high, sy - 2) - low)
        reach = 0.3 * size ** (1 / 2) if size > 20 else 0.55
        middles[:, 3:] = middles[:, :3] + (rng.random((num, 3)) - 0.5) * 2 * reach
        # two balls of this radius hold about `size` blocks at most
        radii = (0.75 + 0.25 * rng.random(num)) * (size / 6.0) ** (1 / 3)
        state = np.full(num, state_of(name), np.uint16)
        if high < sy - 2 and name.endswith("_ore"):
            # a vein's rim may not rise above its highest height
            middles[:, 4] = np.minimum(middles[:, 4], high - 0.5)
            middles[:, 1] = np.minimum(middles[:, 1], high - 0.5)
        _veins(blocks, middles, radii, state, hosts)
    found = np.argwhere(emeralds)
    if len(found):
        picks = found[rng.integers(0, len(found), max(1, len(found) // 256 * 4))]
        for (x, z), y in zip(picks.tolist(), rng.integers(4, 32, len(picks)).tolist(), strict=True):
            if blocks[x, z, y] == _STONE:
                blocks[x, z, y] = state_of("emerald_ore")
