"""Plants and ground cover: trees, grass, flowers, cactus, cane, snow, ice, and the beds of waters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blockworld.registry.biomes import BIOMES
from blockworld.registry.blocks import AIR, change, state_of
from blockworld.terrain import noise, trees
from blockworld.terrain.ground import SEA

_GRASS, _DIRT, _SAND, _WATER = state_of("grass_block"), state_of("dirt"), state_of("sand"), state_of("water")
_SNOWY = change(_GRASS, snowy="true")

TREES: dict[str, tuple[float, tuple[tuple[str, float], ...]]] = {
    "plains": (0.0012, (("oak", 0.7), ("big_oak", 0.3))),
    "forest": (0.034, (("oak", 0.65), ("big_oak", 0.15), ("birch", 0.2))),
    "birch_forest": (0.032, (("birch", 1.0),)),
    "savanna": (0.006, (("acacia", 0.85), ("oak", 0.15))),
    "taiga": (0.033, (("spruce", 0.7), ("pine", 0.3))),
    "snowy_taiga": (0.03, (("spruce", 0.8), ("pine", 0.2))),
    "snowy_tundra": (0.0012, (("spruce", 1.0),)),
    "mountains": (0.006, (("spruce", 0.6), ("oak", 0.4))),
    "river": (0.001, (("oak", 1.0),)),
}
"""Biome -> (trees per column, kinds of trees with their shares)."""

PLANTS: dict[str, tuple[float, tuple[tuple[str, float], ...]]] = {
    "plains": (0.2, (("grass", 0.86), ("tall_grass", 0.05), ("dandelion", 0.02), ("poppy", 0.02), ("azure_bluet", 0.02),
                     ("oxeye_daisy", 0.015), ("cornflower", 0.015))),
    "forest": (0.12, (("grass", 0.75), ("dandelion", 0.05), ("poppy", 0.06), ("lily_of_the_valley", 0.04), ("rose_bush", 0.03),
                      ("lilac", 0.02), ("peony", 0.02), ("brown_mushroom", 0.02), ("red_mushroom", 0.01))),
    "birch_forest": (0.1, (("grass", 0.8), ("dandelion", 0.05), ("lily_of_the_valley", 0.07), ("lilac", 0.04),
                            ("peony", 0.04))),
    "savanna": (0.34, (("grass", 0.78), ("tall_grass", 0.2), ("dandelion", 0.01), ("poppy", 0.01))),
    "taiga": (0.16, (("fern", 0.55), ("grass", 0.25), ("large_fern", 0.12), ("brown_mushroom", 0.03), ("poppy", 0.02),
                     ("sweet_berry_bush", 0.03))),
    "snowy_taiga": (0.08, (("fern", 0.7), ("grass", 0.25), ("sweet_berry_bush", 0.05))),
    "snowy_tundra": (0.012, (("grass", 1.0),)),
    "mountains": (0.05, (("grass", 0.94), ("dandelion", 0.03), ("poppy", 0.03))),
    "desert": (0.01, (("dead_bush", 1.0),)),
    "beach": (0.002, (("dead_bush", 1.0),)),
    "river": (0.08, (("grass", 1.0),)),
}  # fmt: skip
"""Biome -> (plants per column, kinds of plants with their shares); flowers grow in patches, other plants evenly."""

_TALL = ("tall_grass", "large_fern", "rose_bush", "lilac", "peony", "sunflower")
_FLOWERS = (
    "dandelion",
    "poppy",
    "azure_bluet",
    "oxeye_daisy",
    "cornflower",
    "lily_of_the_valley",
    "rose_bush",
    "lilac",
    "peony",
)
_COLD = np.array([name in ("snowy_tundra", "snowy_taiga") for name in BIOMES])


def picked(draw: float, shares: Sequence[tuple[str, float]]) -> str:
    """Return the name that belongs to `draw`, a number from 0 to 1; a name's part of this range is as large as its share."""
    for name, share in shares:
        draw -= share
        if draw < 0:
            return name
    return shares[-1][0]


def _index(name: str) -> int:
    return BIOMES.index(name)


def add_trees(rng: np.random.Generator, blocks: np.ndarray, tops: np.ndarray, biomes: np.ndarray, free: np.ndarray) -> None:
    """Plant trees by `TREES` on grass or dirt where `free`; noise decides where forests and clearings are."""
    sx, sz = tops.shape
    chance = np.zeros(len(BIOMES))
    for name, (often, _) in TREES.items():
        chance[_index(name)] = often
    glades = noise.field2(int(rng.integers(1 << 31)), sx, sz, 38.0, 2)
    wanted = rng.random((sx, sz)) < chance[biomes] * np.clip(1.15 + 1.8 * glades, 0.1, 2.2)
    for x, z in np.argwhere(wanted & free).tolist():
        y = int(tops[x, z])
        draw, shape = rng.random(), int(rng.integers(trees.NUM_SHAPES))
        if y < SEA or blocks[x, z, y] not in (_GRASS, _SNOWY, _DIRT, state_of("podzol"), state_of("coarse_dirt")):
            continue
        trees.plant(blocks, x, y + 1, z, picked(draw, TREES[BIOMES[biomes[x, z]]][1]), shape)


def add_plants(rng: np.random.Generator, blocks: np.ndarray, tops: np.ndarray, biomes: np.ndarray, free: np.ndarray) -> None:
    """Grow plants by `PLANTS`, cactus in deserts, sugar cane at water, and a few pumpkins."""
    sx, sz, sy = blocks.shape
    xs, zs = np.indices((sx, sz))
    y = np.minimum(tops.astype(np.int64), sy - 4)
    ground, above, higher = (blocks[xs, zs, y + up] for up in range(3))
    soil = (ground == _GRASS) | (ground == _SNOWY) | (ground == state_of("podzol")) | (ground == state_of("coarse_dirt"))
    open_ = (above == AIR) & (higher == AIR) & free & (tops >= SEA) & (tops < sy - 5)
    draw, pick = rng.random((sx, sz)), rng.random((sx, sz))
    patches = noise.field2(int(rng.integers(1 << 31)), sx, sz, 17.0, 2)
    for name, (often, kinds) in PLANTS.items():
        start = 0.0
        here = (biomes == _index(name)) & open_ & (draw < often)
        here &= (ground == _SAND) if name in ("desert", "beach") else soil
        for kind, share in kinds:
            chosen = here & (pick >= start) & (pick < start + share)
            start += share
            if kind in _FLOWERS:
                chosen &= patches > -0.05
            cells = (xs[chosen], zs[chosen], y[chosen] + 1)
            if kind in _TALL:
                blocks[cells] = state_of(kind, half="lower")
                blocks[cells[0], cells[1], cells[2] + 1] = state_of(kind, half="upper")
            elif kind == "sweet_berry_bush":
                blocks[cells] = state_of(kind, age="3")
            else:
                blocks[cells] = state_of(kind)
    _sunflowers(rng, blocks, y, biomes, open_ & soil)
    _cactus(rng, blocks, y, (biomes == _index("desert")) & open_ & (ground == _SAND))
    _cane(rng, blocks, y, free & (tops == SEA))
    for x, z in rng.integers(8, (sx - 8, sz - 8), (2, 2)).tolist():
        for dx, dz in rng.integers(-4, 5, (14, 2)).tolist():
            a, b = x + dx, z + dz
            if open_[a, b] and soil[a, b] and biomes[a, b] in (_index("plains"), _index("forest"), _index("taiga")):
                _clear(blocks, a, b, int(y[a, b]) + 1)
                blocks[a, b, y[a, b] + 1] = state_of("pumpkin")


def _clear(blocks: np.ndarray, x: int, z: int, y: int) -> None:
    tall = {state_of(name, half="upper") for name in _TALL}
    if int(blocks[x, z, y + 1]) in tall:
        blocks[x, z, y + 1] = AIR
    blocks[x, z, y] = AIR


def _sunflowers(rng: np.random.Generator, blocks: np.ndarray, y: np.ndarray, biomes: np.ndarray, free: np.ndarray) -> None:
    sx, sz = y.shape
    for x, z in rng.integers(8, (sx - 8, sz - 8), (2, 2)).tolist():
        for dx, dz in rng.integers(-5, 6, (16, 2)).tolist():
            a, b = x + dx, z + dz
            if free[a, b] and biomes[a, b] == _index("plains"):
                _clear(blocks, a, b, int(y[a, b]) + 1)
                blocks[a, b, y[a, b] + 1] = state_of("sunflower", half="lower")
                blocks[a, b, y[a, b] + 2] = state_of("sunflower", half="upper")


def _cactus(rng: np.random.Generator, blocks: np.ndarray, y: np.ndarray, free: np.ndarray) -> None:
    sx, sz = y.shape
    for x, z in np.argwhere(free & (rng.random((sx, sz)) < 0.006)).tolist():
        tall, h = int(rng.integers(1, 4)), int(y[x, z])
        if not (0 < x < sx - 1 and 0 < z < sz - 1):
            continue
        sides = [blocks[a, b, h + 1 : h + 1 + tall] for a, b in ((x + 1, z), (x - 1, z), (x, z + 1), (x, z - 1))]
        if not any(side.any() for side in sides):  # a cactus breaks where anything touches its side
            blocks[x, z, h + 1 : h + 1 + tall] = state_of("cactus")


def _cane(rng: np.random.Generator, blocks: np.ndarray, y: np.ndarray, free: np.ndarray) -> None:
    water = blocks[:, :, SEA] == _WATER
    beside = np.zeros_like(water)
    beside[1:] |= water[:-1]
    beside[:-1] |= water[1:]
    beside[:, 1:] |= water[:, :-1]
    beside[:, :-1] |= water[:, 1:]
    sx, sz = y.shape
    groves = noise.field2(int(rng.integers(1 << 31)), sx, sz, 12.0, 1) > 0.22
    ground = blocks[:, :, SEA]
    soil = (ground == _GRASS) | (ground == _SAND) | (ground == _DIRT)
    for x, z in np.argwhere(beside & free & groves & soil & (rng.random(y.shape) < 0.5)).tolist():
        for up in range(1, int(rng.integers(2, 5))):
            if blocks[x, z, SEA + up] not in (AIR, state_of("grass")):
                break
            blocks[x, z, SEA + up] = state_of("sugar_cane")


def add_waters(rng: np.random.Generator, blocks: np.ndarray, tops: np.ndarray, biomes: np.ndarray) -> None:
    """Add clay, sand and gravel on the beds of waters, seagrass above the bed, lily pads on rivers, and ice in cold biomes."""
    sx, sz, _ = blocks.shape
    seed = int(rng.integers(1 << 31))
    xs, zs = np.indices((sx, sz))
    y = np.maximum(tops.astype(np.int64), 1)
    wet = (blocks[:, :, SEA] == _WATER) & (tops < SEA) & (blocks[xs, zs, y + 1] == _WATER)
    clay = noise.field2(seed, sx, sz, 11.0, 1) > 0.36
    gravel = noise.field2(seed + 5, sx, sz, 14.0, 2) > 0.3
    shallow = wet & (tops > SEA - 9)
    for mask, state in ((wet & gravel, state_of("gravel")), (shallow & clay, state_of("clay"))):
        blocks[xs[mask], zs[mask], y[mask]] = state
        lower = mask & (blocks[xs, zs, y - 1] != AIR)
        if state == state_of("clay"):
            blocks[xs[lower], zs[lower], y[lower] - 1] = state
    cold = _COLD[biomes]
    soil = wet & ~cold & (rng.random((sx, sz)) < 0.12) & (noise.field2(seed + 9, sx, sz, 22.0, 1) > -0.1)
    blocks[xs[soil], zs[soil], y[soil] + 1] = state_of("seagrass")
    tall = soil & (tops < SEA - 2) & (rng.random((sx, sz)) < 0.3)
    blocks[xs[tall], zs[tall], y[tall] + 1] = state_of("tall_seagrass", half="lower")
    blocks[xs[tall], zs[tall], y[tall] + 2] = state_of("tall_seagrass", half="upper")
    kelp = wet & ~cold & ~soil & (tops < SEA - 5) & (noise.field2(seed + 7, sx, sz, 26.0, 1) > 0.25)
    kelp &= rng.random((sx, sz)) < 0.15
    for x, z in np.argwhere(kelp).tolist():
        h = int(y[x, z])
        end = int(rng.integers(h + 2, SEA))
        blocks[x, z, h + 1 : end] = state_of("kelp_plant")
        blocks[x, z, end] = state_of("kelp")
    pads = wet & ~cold & (tops >= SEA - 3) & (rng.random((sx, sz)) < 0.12) & (noise.field2(seed + 8, sx, sz, 19.0, 1) > 0.4)
    pads &= (blocks[:, :, SEA] == _WATER) & (blocks[:, :, SEA + 1] == AIR) & (biomes == _index("river"))
    blocks[:, :, SEA + 1][pads] = state_of("lily_pad")
    blocks[:, :, SEA][cold & (blocks[:, :, SEA] == _WATER)] = state_of("ice")


def add_snow(blocks: np.ndarray, cold: np.ndarray, tops: np.ndarray, sturdy: np.ndarray) -> None:
    """Lay snow on the highest blocks of the columns that are `cold`.

    Args:
        tops: Height of the highest cell of each column that is not air.
        sturdy: bool per state: whether snow can lie on it.
    """
    xs, zs = np.nonzero(cold & (tops < blocks.shape[2] - 1))
    y = tops[xs, zs].astype(np.int64)
    under = blocks[xs, zs, y]
    lies = sturdy[under]
    blocks[xs[lies], zs[lies], y[lies] + 1] = state_of("snow")
    grass = under == _GRASS
    blocks[xs[grass], zs[grass], y[grass]] = _SNOWY
