"""Make a new land from a seed: hills, rivers, biomes, caves, ore, trees, villages, and a spawn.

>>> land = generate(7, "flat", (32, 128, 32))
>>> land.spawn, int(land.heights[3, 4])
((16, 64, 16), 63)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blockworld.errors import WorldError, unknown_name
from blockworld.grid.light import OPAQUE
from blockworld.registry.biomes import BIOMES
from blockworld.registry.blocks import AIR, BLOCK_OF, BLOCKS, state_of
from blockworld.state import Position
from blockworld.terrain import caves, ground, noise, plants
from blockworld.terrain.ground import SEA
from blockworld.terrain.villages import STYLES, Village, build, plan

KINDS = ("default", "plains", "mountains", "village", *(f"village_{style}" for style in STYLES), "flat")
"""Kinds of land: `default` has any middle, others have plains, mountains or a village (of a style) there; `flat` is grass."""

_STYLE_OF = {
    "plains": "plains", "forest": "plains", "birch_forest": "plains", "desert": "desert", "savanna": "savanna",
    "taiga": "taiga", "snowy_tundra": "snowy", "snowy_taiga": "snowy",
}  # fmt: skip
_BIOME_OF = {"plains": "plains", "desert": "desert", "savanna": "savanna", "taiga": "taiga", "snowy": "snowy_tundra"}
_CLIMATE = {
    "plains": (0.0, -0.35), "desert": (0.8, -0.6), "savanna": (0.8, 0.5), "taiga": (-0.28, 0.3), "snowy": (-0.9, -0.5),
}  # fmt: skip
"""Style of a village -> temperature and humidity at the middle of the village."""

NUM_MOUTHS = {"plains": 3}
"""Kind -> least number of cave mouths within `MOUTH_REACH` blocks of spawn; 1 for other kinds, 0 for `flat`."""
MOUTH_REACH = 60
SNOW_LINE = 99
"""Height above which mountains have snow; it varies by a few blocks."""

ANIMALS: dict[str, tuple[tuple[str, float], ...]] = {
    "plains": (("sheep", 0.3), ("cow", 0.25), ("pig", 0.2), ("chicken", 0.15), ("horse", 0.1)),
    "forest": (("sheep", 0.3), ("pig", 0.3), ("chicken", 0.2), ("cow", 0.2)),
    "birch_forest": (("sheep", 0.3), ("pig", 0.3), ("chicken", 0.2), ("cow", 0.2)),
    "savanna": (("sheep", 0.3), ("cow", 0.3), ("horse", 0.2), ("chicken", 0.2)),
    "taiga": (("sheep", 0.35), ("rabbit", 0.3), ("pig", 0.2), ("chicken", 0.15)),
    "snowy_tundra": (("rabbit", 1.0),),
    "snowy_taiga": (("rabbit", 0.6), ("sheep", 0.4)),
    "desert": (("rabbit", 1.0),),
    "mountains": (("sheep", 0.5), ("cow", 0.25), ("pig", 0.25)),
}
"""Biome -> animals on its surface, with their shares."""


@dataclass(frozen=True)
class Land:
    """A world before its first tick.

    Attributes:
        blocks: uint16, shape (SX, SZ, SY): a state per cell.
        biomes: uint8, shape (SX, SZ): index into `BIOMES`.
        heights: int16, shape (SX, SZ): heights of the highest natural ground (not trees, plants, water, buildings).
        spawn: Cell of the player's feet at the beginning.
        villages: The villages, in the order in which they were made.
        cave_mouths: First underground cell of each way into a cave, nearest to spawn first; see `caves.cave_mouths`.
    """

    seed: int
    kind: str
    blocks: np.ndarray
    biomes: np.ndarray
    heights: np.ndarray
    spawn: Position
    villages: tuple[Village, ...]
    cave_mouths: tuple[Position, ...]


def _smooth(low: float, high: float, values: np.ndarray) -> np.ndarray:
    """Return 0 up to `low`, 1 from `high` on, and a smooth rise between."""
    t = np.clip((values - low) / (high - low), 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


@dataclass
class _Climate:
    """Maps from which a land's blocks are made: float64, shape (SX, SZ)."""

    heights: np.ndarray
    rough: np.ndarray
    biomes: np.ndarray
    detail: np.ndarray


def _climate(seed: int, kind: str, style: str | None, sx: int, sz: int) -> _Climate:
    def field(salt: int, scale: float, octaves: int) -> np.ndarray:
        return noise.field2(seed + 100 * salt, sx, sz, scale, octaves)

    xs, zs = np.indices((sx, sz), np.float64)
    away = np.sqrt((xs - sx / 2) ** 2 + (zs - sz / 2) ** 2)
    middle = 1.0 - _smooth(55.0, 100.0, away + 14.0 * field(9, 40.0, 2))  # 1 where the kind is to show

    continent = 2.2 * field(1, 170.0, 4) + 0.5
    mountain = _smooth(0.12, 0.5, 1.9 * field(2, 150.0, 3))
    hills, detail = field(3, 52.0, 3), field(4, 13.0, 2)
    river = np.abs(field(5, 150.0, 3))
    steps = _smooth(0.05, 0.25, field(6, 80.0, 2))
    warm, wet = 2.4 * field(7, 150.0, 3), 2.4 * field(8, 110.0, 3)

    if kind == "mountains":
        mountain = np.maximum(mountain, middle)
        continent = np.maximum(continent, -0.3 + 0.9 * middle)
        warm *= 1.0 - 0.8 * middle
    elif style is not None:
        mountain *= 1.0 - middle
        continent += (0.45 - continent) * middle
        steps *= 1.0 - middle
        warm += (_CLIMATE[style][0] - warm) * middle
        wet += (_CLIMATE[style][1] - wet) * middle
    elif kind == "plains":
        mountain *= 1.0 - middle
        continent += (0.5 - continent) * middle * 0.8
        steps *= 1.0 - 0.6 * middle
        hills *= 1.0 - 0.35 * middle
        warm += (_CLIMATE["plains"][0] - warm) * middle
        wet += (_CLIMATE["plains"][1] - wet) * middle
    else:  # wherever it is, one starts on land
        near = 1.0 - _smooth(25.0, 95.0, away)
        continent = np.maximum(continent, -0.6 + 1.0 * near)
        river += 0.04 * near

    land = _smooth(-0.05, 0.35, continent)
    mountain = mountain * _smooth(-0.1, 0.3, continent)
    heights = np.interp(continent, [-1.6, -0.6, -0.25, -0.05, 0.1, 0.5, 1.6], [34.0, 46.0, 55.0, 62.4, 64.2, 68.0, 78.0])
    heights += land * hills * np.where(style is not None, 8.0 - 5.0 * middle, 11.0) + land * detail * 1.2
    ridge = 1.0 - np.abs(field(10, 64.0, 3)) * 2.2
    heights += mountain * (16.0 + 26.0 * np.clip(ridge, 0.0, 1.0) ** 2 + 10.0 * hills)
    # steps: in some places the ground goes up in cliffs of 6
    shelf = np.floor(heights / 6.0)
    stepped = 6.0 * (shelf + _smooth(0.62, 0.92, heights / 6.0 - shelf)) + 1.0
    heights += (stepped - heights) * steps * land * (heights > SEA + 2)
    flow = (1.0 - _smooth(0.015, 0.065, river)) * (1.0 - 0.85 * mountain) * _smooth(-0.1, 0.1, continent)
    if kind != "default":
        flow *= 1.0 - middle if style is not None else 1.0 - _smooth(0.0, 1.0, middle) * 0.9
    heights += (57.5 - heights) * flow
    heights = np.where(heights > 96, 96 + 0.55 * (heights - 96), heights)  # room for the sky: worlds end at 127
    heights = np.clip(heights, 30.0, 114.0)
    rough = mountain * 11.0 * _smooth(0.3, 1.0, mountain) * (1.0 - flow)

    cool = warm - np.maximum(0.0, heights - 82.0) * 0.03
    biomes = np.full((sx, sz), BIOMES.index("plains"), np.uint8)

    def paint(name: str, where: np.ndarray) -> None:
        biomes[where] = BIOMES.index(name)

    woods = wet > 0.22
    paint("forest", woods)
    paint("birch_forest", woods & (field(11, 70.0, 2) > 0.12))
    hot = cool > 0.5
    paint("savanna", hot)
    paint("desert", hot & (wet < -0.05))
    paint("taiga", cool < -0.2)
    paint("snowy_tundra", cool < -0.6)
    paint("snowy_taiga", (cool < -0.6) & (wet > 0.1))
    paint("mountains", mountain > 0.4)
    paint("beach", (heights < SEA + 2.2) & (continent < 0.13) & (mountain < 0.3))
    paint("ocean", (heights < SEA + 0.0) & (continent < 0.0))
    paint("river", (heights < SEA + 0.6) & (flow > 0.4) & (continent >= 0.0))
    return _Climate(heights, rough, biomes, detail)


def _ground_of(climate: _Climate, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return for each column the states of surface and filler, and the numbers of cells of filler and of sandstone below."""
    heights, biomes, detail = climate.heights, climate.biomes, climate.detail
    shape = heights.shape
    grass, dirt, sand, stone = (state_of(name) for name in ("grass_block", "dirt", "sand", "stone"))
    surface = np.full(shape, grass, np.uint16)
    filler = np.full(shape, dirt, np.uint16)
    depth = np.full(shape, 3, np.int64) + (detail > 0.1)
    under = np.zeros(shape, np.int64)
    sx, sz = shape
    patches = noise.field2(seed + 1700, sx, sz, 12.0, 2)

    def of(*names: str) -> np.ndarray:
        return np.isin(biomes, [BIOMES.index(name) for name in names])

    sandy = of("desert", "beach")
    surface[sandy] = sand
    filler[sandy] = sand
    under[sandy] = 4
    surface[of("taiga", "snowy_taiga") & (patches > 0.3)] = state_of("podzol")
    surface[of("savanna") & (patches > 0.42)] = state_of("coarse_dirt")
    rise = np.zeros(shape)
    rise[1:-1, 1:-1] = np.maximum(
        np.abs(heights[2:, 1:-1] - heights[:-2, 1:-1]), np.abs(heights[1:-1, 2:] - heights[1:-1, :-2])
    )
    bare = of("mountains") & ((rise + patches * 1.5 > 3.4) | (heights + 8 * patches > 98))
    surface[bare] = stone
    filler[bare] = stone
    scree = of("mountains") & (patches > 0.55)
    surface[scree] = state_of("gravel")
    wet = heights < SEA
    surface[wet] = np.where(sandy | of("ocean"), sand, dirt)[wet]
    surface[of("river") & wet] = sand
    return surface, filler, depth, under


def _flat(seed: int, sx: int, sy: int, sz: int) -> Land:
    blocks = np.zeros((sx, sz, sy), np.uint16)
    blocks[:, :, 0] = state_of("bedrock")
    blocks[:, :, 1:60] = state_of("stone")
    blocks[:, :, 60:63] = state_of("dirt")
    blocks[:, :, 63] = state_of("grass_block")
    biomes = np.full((sx, sz), BIOMES.index("plains"), np.uint8)
    return Land(seed, "flat", blocks, biomes, np.full((sx, sz), 63, np.int16), (sx // 2, 64, sz // 2), (), ())


def _spawn(blocks: np.ndarray, tops: np.ndarray, near: tuple[int, int], allowed: np.ndarray) -> Position:
    """Find the cell nearest to column `near` that has dry, sturdy ground and open sky, in `allowed` columns if possible."""
    sx, sz, sy = blocks.shape
    highest = ground.highest(blocks, np.arange(len(BLOCK_OF)) != AIR)
    soft = np.array([block.name in ("snow", "grass", "fern") for block in BLOCKS])[BLOCK_OF]
    xs, zs = np.indices((sx, sz))
    above = blocks[xs, zs, np.minimum(highest, sy - 1)]
    feet = np.where(soft[above], highest, highest + 1)
    below = blocks[xs, zs, np.clip(feet - 1, 0, sy - 1)]
    good = caves.STANDABLE[below] & (feet - 1 >= SEA) & (feet - 1 == tops) & (feet < sy - 3)
    far = (xs - near[0]) ** 2 + (zs - near[1]) ** 2
    edge = (xs < 8) | (zs < 8) | (xs >= sx - 8) | (zs >= sz - 8)
    cost = far + np.where(allowed, 0, 100_000) + np.where(edge, 200_000, 0) + np.where(good, 0, 10_000_000)
    x, z = (int(v) for v in np.unravel_index(np.argmin(cost), cost.shape))
    return x, int(feet[x, z]), z


def generate(seed: int, kind: str = "default", size: tuple[int, int, int] = (256, 128, 256)) -> Land:
    """Make a land; the same seed, kind and size give exactly the same bytes.

    Args:
        seed: Any integer.
        kind: One of `KINDS`.
        size: Cells east-west, up, north-south, up to 1024, 256, 1024: at least 16, 96, 16 if `flat`, else 160, 96, 160.
    Raises:
        UnknownNameError: If there is no such kind; offers the nearest name.
        WorldError: If the size is invalid.
    """
    if kind not in KINDS:
        raise unknown_name("kind of land", kind, KINDS)
    sx, sy, sz = size
    least = 16 if kind == "flat" else 160
    if min(sx, sz) < least or not 96 <= sy <= 256 or max(sx, sz) > 1024:
        raise WorldError(
            f"size: a land of kind {kind!r} is {least} to 1024 wide and deep and 96 to 256 high, got {sx} {sy} {sz}"
        )
    if kind == "flat":
        return _flat(seed, sx, sy, sz)

    rng = np.random.default_rng([seed & 0xFFFFFFFFFFFFFFFF, KINDS.index(kind)])
    noise_seed = int(rng.integers(1 << 30))
    style = None
    if kind == "village":
        style = STYLES[int(rng.integers(len(STYLES)))]
    elif kind.startswith("village_"):
        style = kind.removeprefix("village_")
    climate = _climate(noise_seed, kind, style, sx, sz)

    plans = []
    if style is not None:
        plans.append(plan(rng, style, (sx // 2, sz // 2), climate.heights, climate.rough))
    elif kind != "mountains":
        site = _village_site(climate, (sx, sz), apart=84 if kind == "plains" else 0)
        if site is not None:
            plans.append(plan(rng, site[2], site[:2], climate.heights, climate.rough))
    built = np.zeros((sx, sz), np.bool_)
    for one in plans:
        built |= one.ground
        climate.biomes[one.ground] = BIOMES.index(_BIOME_OF[one.style])

    blocks = ground.filled(noise_seed, climate.heights, climate.rough, *_ground_of(climate, noise_seed), sy)
    solid = caves.ROOF & (np.arange(len(BLOCK_OF)) != state_of("water"))
    tops = ground.highest(blocks, solid)
    lows = ground.lowest_around(tops, 3)
    shut = np.where(lows <= SEA + 1, lows - 6, sy)
    shut = np.where(ground.lowest_around(np.where(built, 0, 1).astype(np.int16), 4) == 0, np.minimum(shut, tops - 9), shut)
    ground.add_caves(noise_seed, blocks, tops, shut, noise.field2(noise_seed + 1900, sx, sz, 46.0, 2) + 0.02)
    mountains = climate.biomes == BIOMES.index("mountains")
    ground.add_veins(rng, blocks, emeralds=mountains)
    tops = ground.highest(blocks, solid)
    plants.add_waters(rng, blocks, tops, climate.biomes)

    near = (sx // 2, sz // 2)
    fitting = climate.biomes == BIOMES.index("mountains" if kind == "mountains" else "plains")
    free = ~built
    start = _spawn(blocks, tops, plans[0].start if style is not None else near, fitting | (kind in ("default", "village")))
    if style is None:
        _dig_missing(rng, kind, blocks, tops, free, start, solid)
    ground.hold(blocks)
    tops = ground.highest(blocks, solid)
    wet = blocks[:, :, SEA] == state_of("water")

    villages = tuple(build(rng, one, blocks, tops) for one in plans)
    xs, zs = np.indices((sx, sz))
    clearing = (xs - start[0]) ** 2 + (zs - start[2]) ** 2 < 9
    plants.add_trees(rng, blocks, tops, climate.biomes, free & ~clearing & ~wet)
    bare = _open(blocks, tops) & ~wet
    for one in plans:
        for x, z in one.meadow:
            bare[x, z] = False
    plants.add_plants(rng, blocks, tops, climate.biomes, bare)
    cold = np.isin(climate.biomes, [BIOMES.index("snowy_tundra"), BIOMES.index("snowy_taiga")])
    cold |= mountains & (tops + 6 * climate.detail > SNOW_LINE)
    plants.add_snow(blocks, cold, ground.highest(blocks, np.arange(len(BLOCK_OF)) != AIR), _sturdy())

    spawn = _spawn(blocks, tops, plans[0].start if style is not None else (start[0], start[2]), np.ones((sx, sz), np.bool_))
    roofs = ground.highest(blocks, caves.ROOF)
    found = caves.cave_mouths(blocks, roofs, spawn)
    return Land(seed, kind, blocks, climate.biomes, tops, spawn, villages, found)


def _sturdy() -> np.ndarray:
    """bool per state: whether snow can lie on the block."""
    none = ("ice", "packed_ice", "grass_path", "farmland", "campfire", "lectern", "snow", "grass", "fern", "cactus")
    leaves = np.array([block.name.endswith("_leaves") for block in BLOCKS])[BLOCK_OF]
    return (OPAQUE & ~np.array([block.name in none for block in BLOCKS])[BLOCK_OF] & ~caves.PASSABLE) | leaves


def _open(blocks: np.ndarray, tops: np.ndarray) -> np.ndarray:
    """bool, shape (SX, SZ): whether the ground at the top of a column is still grass, earth or sand."""
    xs, zs = np.indices(tops.shape)
    names = ("grass_block", "podzol", "coarse_dirt", "sand", "dirt")
    here = blocks[xs, zs, tops.astype(np.int64)]
    return np.isin(here, [state_of(name) for name in names])


def _dig_missing(
    rng: np.random.Generator,
    kind: str,
    blocks: np.ndarray,
    tops: np.ndarray,
    free: np.ndarray,
    start: Position,
    solid: np.ndarray,
) -> None:
    """Dig tunnels until as many cave mouths are near the start as `NUM_MOUTHS` requires for the kind."""
    wanted = NUM_MOUTHS.get(kind, 1)
    for _ in range(8):
        found = caves.cave_mouths(blocks, ground.highest(blocks, caves.ROOF), start)
        near = [at for at in found if (at[0] - start[0]) ** 2 + (at[2] - start[2]) ** 2 < (MOUTH_REACH - 4) ** 2]
        if len(near) >= wanted:
            return
        clear = free.copy()
        for x, _, z in found:
            clear[max(0, x - 9) : x + 10, max(0, z - 9) : z + 10] = False
        for _ in range(wanted - len(near)):
            caves.dig_tunnel(rng, blocks, tops, clear, start, MOUTH_REACH - 10)
        tops[:] = ground.highest(blocks, solid)


def _village_site(climate: _Climate, size: tuple[int, int], *, apart: int) -> tuple[int, int, str] | None:
    """Find the flattest dry place for a village, at least `apart` blocks from the middle; return x, z and style, or None."""
    sx, sz = size
    best, chosen = 7.0, None
    for x in range(52, sx - 51, 8):
        for z in range(52, sz - 51, 8):
            if (x - sx // 2) ** 2 + (z - sz // 2) ** 2 < apart**2:
                continue
            part = np.sort(climate.heights[x - 36 : x + 37 : 4, z - 36 : z + 37 : 4], axis=None)
            rough = climate.rough[x - 36 : x + 37 : 4, z - 36 : z + 37 : 4]
            if part[len(part) // 8] < SEA + 1.5 or (rough > 0.3).mean() > 0.08:
                continue
            spread = float(part[-len(part) // 20] - part[len(part) // 8]) / 2
            style = _STYLE_OF.get(BIOMES[climate.biomes[x, z]])
            if style is None or spread >= best:
                continue
            names = [_STYLE_OF.get(BIOMES[b]) for b in climate.biomes[x - 24 : x + 25 : 12, z - 24 : z + 25 : 12].ravel()]
            if sum(name == style for name in names) >= 18:
                best, chosen = spread, (x, z, style)
    return chosen


def wildlife(land: Land, rng: np.random.Generator) -> list[tuple[str, float, float, float]]:
    """Choose about 20 animals, in herds, for the surface around spawn; return (name, x, y, z of the feet) of each.

    The animals stand on natural ground under the sky, 10 to 60 blocks from spawn, outside villages.
    """
    sx, sz, sy = land.blocks.shape
    found: list[tuple[str, float, float, float]] = []
    houses = [house.box for village in land.villages for house in village.houses]
    for _ in range(300):
        if len(found) >= 20:
            break
        x, z = (int(v) for v in np.add(rng.integers(-60, 61, 2), (land.spawn[0], land.spawn[2])))
        if not (8 <= x < sx - 8 and 8 <= z < sz - 8) or (x - land.spawn[0]) ** 2 + (z - land.spawn[2]) ** 2 < 100:
            continue
        kinds = ANIMALS.get(BIOMES[land.biomes[x, z]])
        if kinds is None:
            continue
        name = plants.picked(float(rng.random()), kinds)
        for dx, dz in rng.integers(-3, 4, (int(rng.integers(2, 5)), 2)).tolist():
            a, b = x + dx, z + dz
            y = int(land.heights[a, b]) + 1
            dry = SEA < y < sy - 4 and caves.STANDABLE[land.blocks[a, b, y - 1]]
            room = caves.PASSABLE[land.blocks[a, b, y : y + 12]].all()
            inside = any(x0 - 2 <= a <= x1 + 2 and z0 - 2 <= b <= z1 + 2 for x0, _, z0, x1, _, z1 in houses)
            if dry and room and not inside and len(found) < 24:
                found.append((name, a + 0.5, float(y), b + 0.5))
    return found
