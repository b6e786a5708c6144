"""Villages: a well, streets that follow the ground, houses with doors to the street, farms, a pen, lamps, and residents.

A village is made in two steps. `plan` chooses streets and lots on the height map, before any block exists, and levels the map
under them. `build` puts the blocks on the land that was made from this map. So the ground is made only once, and has grass,
sand and snow as everywhere else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from blockworld.registry.blocks import AIR, change, name_of, parse, state_of
from blockworld.state import Position
from blockworld.terrain import carpentry
from blockworld.terrain.carpentry import KEEP, Volume
from blockworld.terrain.ground import SEA
from blockworld.terrain.houses import FARMS, HOUSES, PENS, STYLE, STYLES, Template

__all__ = ["STYLES", "House", "Plan", "Village", "build", "plan"]

Box = tuple[int, int, int, int, int, int]

RADIUS = 46
"""Largest distance of streets and houses from the middle, in blocks."""
_SQUARE = 5
_ANIMALS = ("cow", "sheep", "pig", "chicken")


class House(NamedTuple):
    """One building.

    Attributes:
        box: x0, y0, z0, x1, y1, z1 of the building's cells, ends included; y0 is the floor, so that feet are at y0 + 1.
        door: Cell of the lower half of the front door, or of the gate; None for farms.
        kind: Name of its design, such as `cottage`, `smithy`, `farm`, `pen`.
    """

    box: Box
    door: Position | None
    kind: str


@dataclass(frozen=True)
class Village:
    """The buildings and future residents of a village.

    Attributes:
        style: One of `STYLES`.
        centre: Cell above the ground of the square, beside the well.
        houses: All buildings: first houses with beds or trades, then farms and pens.
        paths: Blocks of paths (in the ground, below the feet), as (x, y, z).
        residents: Cell of the feet (indoors) and profession of every villager.
        livestock: Name and cell of the feet of each animal, in pens and on the grass around.
    """

    style: str
    centre: Position
    houses: tuple[House, ...]
    paths: tuple[Position, ...]
    residents: tuple[tuple[int, int, int, str], ...]
    livestock: tuple[tuple[str, int, int, int], ...]


@dataclass
class _Lot:
    """A place for a building: the building's volume, its turn and mirroring, and the low corner (x, z)."""

    kind: str
    volume: Volume
    x: int
    z: int
    turns: int
    mirrored: bool
    profession: str
    level: int = 0

    @property
    def size(self) -> tuple[int, int]:
        width, depth, _ = self.volume.cells.shape
        return (depth, width) if self.turns % 2 else (width, depth)

    def cell(self, x: int, z: int) -> tuple[int, int]:
        width, depth, _ = self.volume.cells.shape
        a, b = carpentry.turned_cell(x, z, width, depth, self.turns, self.mirrored)
        return self.x + a, self.z + b

    @property
    def area(self) -> tuple[slice, slice]:
        width, depth = self.size
        return slice(self.x, self.x + width), slice(self.z, self.z + depth)


@dataclass
class Plan:
    """A planned village, before its blocks are placed.

    Attributes:
        centre, start: Columns (x, z) of the well, and of the place where a visitor stands.
        ground: bool, shape (SX, SZ): columns of the village, with a margin.
        paths: bool, same shape: columns of paths.
        lamps, hay, meadow: Columns of lamp posts, of heaps of hay, and of grazing animals.
    """

    style: str
    centre: tuple[int, int]
    start: tuple[int, int]
    ground: np.ndarray
    paths: np.ndarray
    lots: list[_Lot] = field(default_factory=list)
    lamps: list[tuple[int, int]] = field(default_factory=list)
    hay: list[tuple[int, int]] = field(default_factory=list)
    meadow: list[tuple[int, int]] = field(default_factory=list)


class _Side:
    """One side of one street; `along` is the distance up to which it has buildings."""

    def __init__(self, way: tuple[int, int], hand: int) -> None:
        self.way, self.hand, self.along = way, hand, _SQUARE + 1


def _blurred(values: np.ndarray, reach: int) -> np.ndarray:
    """Blur a map: take the mean over squares twice; values at the edge are repeated outside."""
    for _ in range(2):
        for axis in (0, 1):
            padding = [(reach + 1, reach), (0, 0)] if axis == 0 else [(0, 0), (reach + 1, reach)]
            sums = np.cumsum(np.pad(values, padding, mode="edge"), axis=axis)
            if axis == 0:
                values = (sums[2 * reach + 1 :] - sums[: -2 * reach - 1]) / (2 * reach + 1)
            else:
                values = (sums[:, 2 * reach + 1 :] - sums[:, : -2 * reach - 1]) / (2 * reach + 1)
    return values


def plan(rng: np.random.Generator, style: str, centre: tuple[int, int], heights: np.ndarray, rough: np.ndarray) -> Plan:
    """Plan a village around `centre`, and level `heights` and `rough` (float64, shape (SX, SZ); changed) under it."""
    sx, sz = heights.shape
    cx, cz = centre
    xs, zs = np.indices((sx, sz))
    away = np.sqrt((xs - cx) ** 2.0 + (zs - cz) ** 2.0)
    t = np.clip((RADIUS + 16 - away) / 20.0, 0.0, 1.0)
    inside = t * t * (3 - 2 * t)
    rough *= 1.0 - inside
    smooth = np.maximum(_blurred(np.maximum(heights, SEA + 1.6), 5), SEA + 2.2)
    heights += (smooth - heights) * inside

    done = Plan(style, centre, (cx, cz + _SQUARE - 1), np.zeros((sx, sz), np.bool_), np.zeros((sx, sz), np.bool_))
    used = np.zeros((sx, sz), np.bool_)
    _pave_square(done, used)
    _lots(rng, done, used)
    _even(done, heights, away)
    _trimmings(rng, done, used, heights)
    taken = used | done.paths
    for x, z in np.argwhere(taken).tolist():
        done.ground[max(0, x - 2) : x + 3, max(0, z - 2) : z + 3] = True
    for x, z in done.meadow:  # no tree reaches down to the animals
        done.ground[max(0, x - 4) : x + 5, max(0, z - 4) : z + 5] = True
    return done


def _pave_square(done: Plan, used: np.ndarray) -> None:
    cx, cz = done.centre
    used[cx - _SQUARE : cx + _SQUARE + 1, cz - _SQUARE : cz + _SQUARE + 1] = True
    disc = [(dx, dz) for dx in range(-4, 5) for dz in range(-4, 5) if dx * dx + dz * dz <= 20]
    for dx, dz in disc:
        done.paths[cx + dx, cz + dz] = True


def _lots(rng: np.random.Generator, done: Plan, used: np.ndarray) -> None:
    """Distribute buildings along the streets, nearest to the square first, and pave the streets as far as buildings stand."""
    cx, cz = done.centre
    style = STYLE[done.style]
    ways = ((1, 0), (0, 1), (-1, 0), (0, -1))
    bends: dict[tuple[int, int], list[int]] = {}
    for way in ways:  # sideways shift of the street at each step
        shift, shifts, drift = 0, [], int(rng.integers(-1, 2))
        for along in range(RADIUS + 8):
            if along > 8 and along % 5 == 0:
                if rng.random() < 0.3:
                    drift = int(rng.integers(-1, 2))
                shift = int(np.clip(shift + drift, -4, 4))
            shifts.append(shift)
        bends[way] = shifts
    reserved = np.zeros_like(used)
    for way in ways:
        for along in range(RADIUS):
            for wide in range(-2, 3):
                x, z = _on_street(cx, cz, way, along, bends[way][along] + wide)
                reserved[x, z] = True

    designs = [HOUSES[done.style][n] for n in rng.permutation(len(HOUSES[done.style])).tolist()]
    num = int(rng.integers(8, 11))
    deck: list[Template] = [designs[n % len(designs)] for n in range(num)]
    for extra in (PENS[int(rng.integers(len(PENS)))], FARMS[0], FARMS[1], FARMS[int(rng.integers(2))])[
        : int(rng.integers(3, 5))
    ]:
        deck.insert(int(rng.integers(3, len(deck) + 1)), extra)
    sides = [_Side(way, hand) for way in ways for hand in (-1, 1)]
    reach = {way: _SQUARE + 2 for way in ways}
    for template in deck:
        profession = template.professions[int(rng.integers(len(template.professions)))]
        volume = carpentry.volume(template, style, profession, rng)
        mirrored = bool(rng.random() < 0.5)
        order = sorted(range(len(sides)), key=lambda n: sides[n].along)
        if rng.random() < 0.5:
            order[0], order[1] = order[1], order[0]
        for n in order:
            back = int(rng.integers(2, 5))
            lot = _fit(sides[n], bends[sides[n].way], back, template.name, volume, mirrored, profession, done, used, reserved)
            if lot is not None:
                reach[sides[n].way] = max(reach[sides[n].way], sides[n].along)
                used[lot.area] = True
                sides[n].along += int(rng.integers(1, 6))
                done.lots.append(lot)
                _pave_to_door(lot, sides[n].way, bends, done)
                break
    for way in ways:
        for along in range(_SQUARE - 2, min(reach[way] + 1, RADIUS)):
            for wide in (-1, 0, 1):
                if wide and rng.random() < 0.1:
                    continue
                x, z = _on_street(cx, cz, way, along, bends[way][along] + wide)
                if not used[x, z] or max(abs(x - cx), abs(z - cz)) <= _SQUARE:
                    done.paths[x, z] = True
            if along % 11 == 9:
                hand = 1 if (along // 11) % 2 else -1
                x, z = _on_street(cx, cz, way, along, bends[way][along] + 2 * hand)
                if not used[x, z] and not done.paths[x, z]:
                    done.lamps.append((x, z))


def _on_street(cx: int, cz: int, way: tuple[int, int], along: int, aside: int) -> tuple[int, int]:
    return cx + way[0] * along - way[1] * aside, cz + way[1] * along + way[0] * aside


def _fit(
    side: _Side,
    bends: list[int],
    back: int,
    kind: str,
    volume: Volume,
    mirrored: bool,
    profession: str,
    done: Plan,
    used: np.ndarray,
    reserved: np.ndarray,
) -> _Lot | None:
    """Find the first free place for a building along one side of a street, and set the side's `along` to its end.

    The building's front is `back` cells from the middle of the street. Return None if there is no free place.
    """
    cx, cz = done.centre
    width, depth, _ = volume.cells.shape
    # the front looks across the street: which way that is depends on the street and the side
    out = (-side.way[1] * side.hand, side.way[0] * side.hand)
    turns = {(0, -1): 0, (1, 0): 1, (0, 1): 2, (-1, 0): 3}[out]
    along = side.along
    while along + width < RADIUS:
        most = max(shift * side.hand for shift in bends[along : along + width])
        near = most + back
        corners = [
            _on_street(cx, cz, side.way, along + a, (near + b) * side.hand) for a in (0, width - 1) for b in (0, depth - 1)
        ]
        x, z = min(c[0] for c in corners), min(c[1] for c in corners)
        x1, z1 = max(c[0] for c in corners), max(c[1] for c in corners)
        inside = min(x, z) >= 6 and x1 < used.shape[0] - 6 and z1 < used.shape[1] - 6
        far = max((c[0] - cx) ** 2 + (c[1] - cz) ** 2 for c in corners)
        area = slice(x, x1 + 1), slice(z, z1 + 1)
        inner = slice(x + 1, x1), slice(z + 1, z1)
        if inside and far <= (RADIUS + 6) ** 2 and not used[area].any() and not reserved[inner].any():
            side.along = along + width
            return _Lot(kind, volume, x, z, turns, mirrored, profession)
        along += 1
    return None


def _pave_to_door(lot: _Lot, way: tuple[int, int], bends: dict, done: Plan) -> None:
    if lot.volume.front is None:
        return
    cx, cz = done.centre
    for cell in lot.volume.way:
        done.paths[lot.cell(*cell)] = True
    last = lot.volume.way[-1] if lot.volume.way else lot.volume.front
    x, z = lot.cell(*last)
    step = {0: (0, 1), 1: (-1, 0), 2: (0, -1), 3: (1, 0)}[lot.turns]
    for _ in range(12):
        done.paths[x, z] = True
        along = (x - cx) * way[0] + (z - cz) * way[1]
        aside = (z - cz) * way[0] - (x - cx) * way[1]
        if aside == bends[way][along]:
            return
        x, z = x + step[0], z + step[1]


def _even(done: Plan, heights: np.ndarray, away: np.ndarray) -> None:
    """Level every lot and the square; between them, make slopes with steps low enough to walk."""
    cx, cz = done.centre
    fixed = np.zeros(heights.shape, np.bool_)
    square = (slice(cx - _SQUARE, cx + _SQUARE + 1), slice(cz - _SQUARE, cz + _SQUARE + 1))
    heights[square] = np.floor(heights[square].mean()) + 0.5
    fixed[square] = True
    for lot in done.lots:
        lot.level = int(np.floor(heights[lot.area].mean()))
        heights[lot.area] = lot.level + 0.5
        fixed[lot.area] = True
    village = away < RADIUS + 14
    for _ in range(24):
        padded = np.pad(heights, 1, mode="edge")
        near = np.stack([padded[2:, 1:-1], padded[:-2, 1:-1], padded[1:-1, 2:], padded[1:-1, :-2]])
        mean, low, high = near.mean(axis=0), near.min(axis=0), near.max(axis=0)
        wanted = np.where(done.paths, 0.4 * heights + 0.6 * mean, 0.9 * heights + 0.1 * mean)
        wanted = np.maximum(np.minimum(wanted, low + 0.9), np.minimum(high - 0.9, low + 0.9))
        heights[:] = np.where(village & ~fixed, np.maximum(wanted, SEA + 1.5), heights)


def _trimmings(rng: np.random.Generator, done: Plan, used: np.ndarray, heights: np.ndarray) -> None:
    """Place heaps of hay and a meadow for animals on columns that are still free."""
    cx, cz = done.centre
    sx, sz = heights.shape
    for _ in range(200):
        dx, dz = (int(v) for v in rng.integers(-30, 31, 2))
        x, z = cx + dx, cz + dz
        if not (8 <= x < sx - 8 and 8 <= z < sz - 8):
            continue
        clear = not used[x - 2 : x + 3, z - 2 : z + 3].any() and not done.paths[x - 2 : x + 3, z - 2 : z + 3].any()
        clear = clear and all(abs(x - a) + abs(z - b) > 3 for a, b in done.lamps)
        if not clear:
            continue
        if len(done.hay) < 3 and done.style in ("plains", "savanna", "desert", "taiga"):
            done.hay.append((x, z))
            used[x - 1 : x + 2, z - 1 : z + 2] = True
        elif len(done.meadow) < 14:
            done.meadow.append((x, z))


def build(rng: np.random.Generator, drawn: Plan, blocks: np.ndarray, tops: np.ndarray) -> Village:
    """Build a planned village on its land.

    Args:
        blocks: uint16, shape (SX, SZ, SY); changed in place.
        tops: int16, shape (SX, SZ): heights of the ground.
    """
    style = STYLE[drawn.style]
    paths = _pave(rng, drawn, blocks, tops)
    houses: list[House] = []
    residents: list[tuple[int, int, int, str]] = []
    livestock: list[tuple[str, int, int, int]] = []
    trade = {FARMS[0].name, FARMS[1].name, PENS[0].name, PENS[1].name}
    for lot in sorted(drawn.lots, key=lambda lot: lot.kind in trade):
        houses.append(_raise(lot, blocks))
        places = [(*lot.cell(x, z), lot.level + y) for x, y, z in lot.volume.rooms]
        if lot.kind in trade:
            if lot.kind in (PENS[0].name, PENS[1].name):
                livestock += _in_pen(rng, lot, blocks)
            continue
        for n in range(min(max(1, lot.volume.beds), 2, len(places))):
            x, z, y = places.pop(int(rng.integers(len(places))))
            residents.append((x, y, z, lot.profession if n == 0 else "none"))
    cx, cz = drawn.centre
    level = int(tops[cx, cz])
    _well(drawn, blocks, level)
    for x, z in drawn.lamps:
        y = int(tops[x, z])
        blocks[x, z, y + 1 : y + 3] = state_of(style.fence)
        blocks[x, z, y + 3] = state_of(style.lamp)
    for x, z in drawn.hay:
        _heap(rng, blocks, tops, x, z)
    sorts = ("chicken", "rabbit") if drawn.style in ("desert", "snowy") else _ANIMALS
    for n, (x, z) in enumerate(drawn.meadow):
        y = int(tops[x, z])
        if blocks[x, z, y + 1] == AIR and blocks[x, z, y + 2] == AIR:
            livestock.append((sorts[(n // 2) % len(sorts)], x, y + 1, z))
    x0, z0 = np.maximum(np.argwhere(drawn.ground).min(axis=0) - 1, 0).tolist()
    x1, z1 = (np.argwhere(drawn.ground).max(axis=0) + 1).tolist()
    heights = tops[x0 : x1 + 1, z0 : z1 + 1]
    carpentry.join(blocks, (x0, int(heights.min()), z0, x1, int(heights.max()) + 20, z1))
    return Village(
        style=drawn.style,
        centre=(drawn.start[0], int(tops[drawn.start]) + 1, drawn.start[1]),
        houses=tuple(houses),
        paths=tuple(paths),
        residents=tuple(residents),
        livestock=tuple(livestock),
    )


def _pave(rng: np.random.Generator, drawn: Plan, blocks: np.ndarray, tops: np.ndarray) -> list[Position]:
    stuff = [state_of(name) for name in STYLE[drawn.style].paths]
    found = []
    for x, z in np.argwhere(drawn.paths).tolist():
        y = int(tops[x, z])
        blocks[x, z, y] = stuff[int(rng.integers(len(stuff)))]
        found.append((x, y, z))
    return found


def _raise(lot: _Lot, blocks: np.ndarray) -> House:
    """Place one building, and put ground under it where there is air."""
    volume = lot.volume
    sy = blocks.shape[2]
    low, high = lot.level, lot.level
    for x, z, y in np.argwhere(volume.cells != KEEP).tolist():
        a, b = lot.cell(x, z)
        h = lot.level + y
        if h < sy:
            blocks[a, b, h] = carpentry.turned(int(volume.cells[x, z, y]), lot.turns, lot.mirrored)
            high = max(high, h)
    for x, z in volume.founded:
        a, b = lot.cell(x, z)
        h = lot.level - 1
        while h > 1 and (blocks[a, b, h] == AIR or name_of(int(blocks[a, b, h])) == "water"):
            blocks[a, b, h] = state_of("dirt")
            h -= 1
    width, depth = lot.size
    box = (lot.x + 1, low, lot.z + 1, lot.x + width - 2, high, lot.z + depth - 2)
    door = None
    if volume.door is not None:
        x, z = lot.cell(*volume.door)
        door = (x, lot.level + 1, z)
    return House(box, door, lot.kind)


def _in_pen(rng: np.random.Generator, lot: _Lot, blocks: np.ndarray) -> list[tuple[str, int, int, int]]:
    """Return three animals of one kind on the grass inside a pen."""
    width, depth = lot.size
    name = _ANIMALS[int(rng.integers(len(_ANIMALS)))]
    places = [
        (x, z)
        for x in range(lot.x + 2, lot.x + width - 2)
        for z in range(lot.z + 2, lot.z + depth - 2)
        if blocks[x, z, lot.level + 1] == AIR and name_of(int(blocks[x, z, lot.level])) not in ("water", "air")
    ]
    picks = rng.permutation(len(places))[:3].tolist()
    return [(name, places[n][0], lot.level + 1, places[n][1]) for n in picks]


def _heap(rng: np.random.Generator, blocks: np.ndarray, tops: np.ndarray, x: int, z: int) -> None:
    for dx, dz, up in ((0, 0, 2), (1, 0, 1), (0, 1, 1), (-1, 0, 1))[: int(rng.integers(2, 5))]:
        y = int(tops[x + dx, z + dz])
        for h in range(1, up + 1):
            blocks[x + dx, z + dz, y + h] = state_of("hay_block", axis=("x", "y", "z")[int(rng.integers(3))])


def _well(drawn: Plan, blocks: np.ndarray, level: int) -> None:
    """Build the well in the middle of the square, under a roof, with a bell, benches and lamps around it."""
    style = STYLE[drawn.style]
    cx, cz = drawn.centre
    stone = parse(style.walls[0] if drawn.style != "snowy" else "stone_bricks")
    water, fence, slab = state_of("water"), state_of(style.fence), state_of(style.slab)
    for dx in range(-2, 3):
        for dz in range(-2, 3):
            edge = max(abs(dx), abs(dz))
            x, z = cx + dx, cz + dz
            drawn.paths[x, z] = False
            if edge == 2:
                corner = abs(dx) == 2 and abs(dz) == 2
                blocks[x, z, level] = parse(style.base) if not corner else stone
                continue
            blocks[x, z, level - 3] = stone
            blocks[x, z, level - 2 : level + 1] = stone if edge == 1 else water
            if edge == 1:
                blocks[x, z, level + 1] = stone
                if abs(dx) == 1 and abs(dz) == 1:
                    blocks[x, z, level + 2 : level + 4] = fence
            else:
                blocks[x, z, level + 1] = water
            blocks[x, z, level + 4] = slab if edge else parse(style.full)
    blocks[cx, cz, level + 5] = slab
    blocks[cx, cz, level + 3] = state_of("lantern", hanging="true")
    for dx, dz in ((-4, -4), (4, 4)):
        blocks[cx + dx, cz + dz, level + 1 : level + 3] = fence
        blocks[cx + dx, cz + dz, level + 3] = state_of(style.lamp)
    bench = state_of(f"{style.wood}_stairs")
    for dx in (-1, 0):
        blocks[cx + dx + 3, cz - 4, level + 1] = change(bench, facing="north")
        blocks[cx + dx - 2, cz + 4, level + 1] = change(bench, facing="south")
    blocks[cx + 4, cz - 4, level + 1] = stone
    blocks[cx + 4, cz - 4, level + 2] = state_of("bell", attachment="floor", facing="north")
