"""Build a house in the style of the village from the inside, then walk around it and look at it from every side."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from blockworld import Action, Position, World, is_replaceable, target
from blockworld.grid import UP
from interplay.agents.scripted.blocks.sites import free_ground, level_rectangles, near_boxes
from interplay.agents.skills.body import Acts, Body
from interplay.agents.skills.crafts import craft
from interplay.agents.skills.navigation import Routes


@dataclass(frozen=True)
class Stuff:
    """The blocks of a house: log for planks (if any), lowest course, walls, roof, smaller upper roof, and corners."""

    log: str
    base: str
    wall: str
    roof: str
    tier: str
    post: str

    @property
    def planks(self) -> str:
        return self.log.replace("_log", "_planks")


STUFF: dict[str, Stuff] = {
    "plains": Stuff("oak_log", "cobblestone", "oak_planks", "oak_planks", "cobblestone", "oak_log"),
    "taiga": Stuff("spruce_log", "cobblestone", "spruce_planks", "spruce_planks", "cobblestone", "spruce_log"),
    "savanna": Stuff("acacia_log", "acacia_log", "acacia_planks", "acacia_planks", "acacia_planks", "acacia_log"),
    "desert": Stuff("", "sandstone", "smooth_sandstone", "smooth_sandstone", "sandstone", "sandstone"),
    "snowy": Stuff("spruce_log", "packed_ice", "snow_block", "spruce_planks", "spruce_planks", "spruce_log"),
}
"""Style of a village -> blocks of a house in this style, made of the items that the player starts with."""
WALL_HEIGHT = 3
LADDER = "dirt"
"""Block that the builder places to stand on, and removes afterwards."""


@dataclass(frozen=True)
class Lot:
    """The place of a house: its walls, and the height `y` of the feet of a player who stands on the ground.

    Attributes:
        door: Column of the doorway; `out` is the direction in which one leaves through it.
        stand: Column in which the builder stands; the middle by default.
    """

    x0: int
    z0: int
    x1: int
    z1: int
    y: int
    door: tuple[int, int]
    out: tuple[int, int]
    stand: tuple[int, int] | None = None

    @property
    def middle(self) -> tuple[int, int]:
        return (self.x0 + self.x1) // 2, (self.z0 + self.z1) // 2

    @property
    def base(self) -> tuple[int, int]:
        return self.stand or self.middle

    @property
    def ring(self) -> list[tuple[int, int]]:
        """Columns of the walls, in the order in which a builder in the middle turns around."""
        cx, cz = self.middle
        cells = [
            (x, z)
            for x in range(self.x0, self.x1 + 1)
            for z in range(self.z0, self.z1 + 1)
            if x in (self.x0, self.x1) or z in (self.z0, self.z1)
        ]
        return sorted(cells, key=lambda cell: math.atan2(cell[1] - cz, cell[0] - cx))

    @property
    def inner(self) -> list[tuple[int, int]]:
        """Columns of the room except the builder's column; columns next to walls come first."""
        cx, cz = self.middle
        cells = [(x, z) for x in range(self.x0 + 1, self.x1) for z in range(self.z0 + 1, self.z1) if (x, z) != self.base]
        return sorted(
            cells, key=lambda cell: (-max(abs(cell[0] - cx), abs(cell[1] - cz)), math.atan2(cell[1] - cz, cell[0] - cx))
        )

    def is_corner(self, x: int, z: int) -> bool:
        return x in (self.x0, self.x1) and z in (self.z0, self.z1)

    def is_window(self, x: int, z: int) -> bool:
        """Whether a column of the ring has a window: windows are in the middle of walls, and beside the door in long fronts."""
        cx, cz = self.middle
        if (x, z) == self.door or self.is_corner(x, z):
            return False
        return (
            (x == cx or z == cz)
            or (abs(x - cx) == 2 and self.x1 - self.x0 == 6)
            or (abs(z - cz) == 2 and self.z1 - self.z0 == 6)
        )


def play(world: World, rng: np.random.Generator) -> Acts:
    body = Body(world, rng)
    style = world.land.villages[0].style if world.land.villages else "plains"
    stuff = STUFF[style]
    lot = choose(body)
    if lot is None:
        yield from body.end()
        return False
    body.kept = {stuff.base, stuff.wall, stuff.roof, stuff.tier, stuff.post, stuff.planks, "glass_pane", "torch", LADDER}
    if stuff.log:
        yield from craft(body, stuff.planks, 24 if stuff.wall == stuff.planks else 14)
    cx, cz = lot.middle
    yield from body.walk((cx, lot.y, cz))
    yield from weed(body, lot)
    for _ in range(4):
        yield from _raise(body, lot, stuff)
        if not num_missing(body, lot):
            break
        yield from body.wait(20)
    yield from _light(body, lot)
    yield from _show(body, lot)
    yield from body.end()
    return True


def choose(body: Body) -> Lot | None:
    """Choose level ground beside a path."""
    world, me = body.world, body.world.player
    paths = [(x, z, x, z) for village in world.land.villages for x, _, z in village.paths]
    routes = Routes(world.grid, body.footing, None, most=900.0)
    columns = np.array([(x, z) for x, z, _, _ in paths]) if paths else np.zeros((0, 2), np.int64)
    sizes = [(7, 5), (5, 7), (5, 5)] if body.rng.random() < 0.6 else [(5, 5), (7, 5), (5, 7)]
    near = near_boxes(world.land.heights.shape, paths, 5)
    best, chosen = math.inf, None
    options = [(margin, pad, rank, size) for margin, pad in ((2, 1), (1, 1), (1, 0)) for rank, size in enumerate(sizes)]
    good = {margin: free_ground(world, margin=margin) for margin in (1, 2)}
    for margin, pad, rank, (width, depth) in options:
        if rank == 0 and chosen is not None:
            break
        for x, z, level in level_rectangles(world, good[margin], near, width + 2 * pad, depth + 2 * pad):
            y = level + 1
            x0, z0, x1, z1 = x + pad, z + pad, x + pad + width - 1, z + pad + depth - 1
            cx, cz = (x0 + x1) // 2, (z0 + z1) // 2
            if not math.isfinite(routes.cost((cx, y, cz))):
                continue
            for dx, dz in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                door = (x1 if dx > 0 else x0 if dx < 0 else cx, z1 if dz > 0 else z0 if dz < 0 else cz)
                if not body.stands(door[0] + dx, y, door[1] + dz):
                    continue
                away = np.abs(columns - (door[0] + 2 * dx, door[1] + 2 * dz)).max(axis=1).min()
                cost = 2.0 * float(away) + 0.3 * math.hypot(cx - me.x, cz - me.z) + 6 * rank
                if cost < best:
                    best, chosen = cost, Lot(x0, z0, x1, z1, y, door, (dx, dz))
    return chosen


def weed(body: Body, lot: Lot) -> Acts:
    for x, z in (lot.base, *lot.inner, *lot.ring):
        for y in (lot.y + 1, lot.y):
            if body.name(x, y, z) not in ("air", "water"):
                yield from body.mine((x, y, z))
    return True


def course(lot: Lot, stuff: Stuff, row: int) -> dict[Position, str]:
    found = {}
    for x, z in lot.ring:
        if (x, z) == lot.door and row < 2:
            continue
        item = stuff.base if row == 0 else stuff.wall
        item = "glass_pane" if row == 1 and lot.is_window(x, z) else item
        found[x, lot.y + row, z] = stuff.post if lot.is_corner(x, z) else item
    return found


def _raise(body: Body, lot: Lot, stuff: Stuff) -> Acts:
    """Build walls and roof, standing on a heap of earth in the middle that grows with the walls."""
    cx, cz = lot.base
    top = lot.y + WALL_HEIGHT
    spare = (stuff.wall, stuff.roof, stuff.tier, stuff.base)
    yield from body.walk([(cx, lot.y + up, cz) for up in range(4)])
    yield from centre(body, lot)
    yield from put_all(body, course(lot, stuff, 0) | course(lot, stuff, 1), spare)
    for height, cells in (
        (1, course(lot, stuff, 2)),
        (2, {(x, top, z): stuff.roof for x, z in (*lot.ring, *lot.inner)}),
        (4, {(x, top + 1, z): stuff.tier for x, z in lot.inner}),
    ):
        if all(not is_replaceable(body.state(*cell)) for cell in cells):
            continue
        if not (yield from climb(body, lot, height)):
            return False
        yield from put_all(body, cells, spare)
    for height, y, item in ((2, top + 1, stuff.tier), (1, top, stuff.roof)):
        yield from descend(body, lot, height)
        yield from put_all(body, {(cx, y, cz): item}, spare)
    yield from descend(body, lot, 0)
    return True


def num_missing(body: Body, lot: Lot) -> int:
    rows = [(x, lot.y + row, z) for x, z in lot.ring for row in range(WALL_HEIGHT) if (x, z) != lot.door or row == 2]
    roof = [(x, lot.y + WALL_HEIGHT, z) for x in range(lot.x0, lot.x1 + 1) for z in range(lot.z0, lot.z1 + 1)]
    return sum(is_replaceable(body.state(*cell)) for cell in (*rows, *roof))


def put_all(body: Body, cells: dict[Position, str], spare: tuple[str, ...]) -> Acts:
    """Place many blocks; if a place cannot be seen yet, or somebody stands in it, try this place again later."""
    left = dict(cells)
    for _ in range(6):
        for cell, wanted in list(left.items()):
            item = wanted if body.count(wanted) else max(spare, key=body.count)
            if not is_replaceable(body.state(*cell)) or (yield from body.place(cell, item)):
                del left[cell]
        if not left:
            return True
        yield from body.wait(10)
    return False


def centre(body: Body, lot: Lot) -> Acts:
    """Stand in the very middle of the builder's column."""
    cx, cz = lot.base
    me = body.world.player
    for _ in range(40):
        if math.hypot(me.x - cx - 0.5, me.z - cz - 0.5) < 0.16:
            return True
        yaw, _ = body.angles(cx + 0.5, me.eye_y, cz + 0.5)
        yield body.turn(yaw, me.pitch, forward=abs(body.off(yaw)) < 20, sneak=True)
    return False


def climb(body: Body, lot: Lot, height: int) -> Acts:
    """Rise to a height: jump and put earth under the feet."""
    cx, cz = lot.base
    me = body.world.player
    yield from body.hold(LADDER if body.count(LADDER) else "oak_planks")
    for _ in range(30):
        feet = math.floor(me.y + 0.1)
        if math.hypot(me.x - cx - 0.5, me.z - cz - 0.5) > 0.25:
            yield from centre(body, lot)
            if (math.floor(me.x), math.floor(me.z)) != (cx, cz):
                return False
        if feet - lot.y >= height and me.on_ground:
            return True
        yield from body.look(me.yaw, 90.0, tolerance=0.5)
        yield Action(jump=True)
        for _ in range(14):
            found = target(body.world)
            clear = me.y >= feet + 1.0 and found is not None and found[:3] == (cx, feet - 1, cz) and found[3] == UP
            yield Action(use=clear)
            if me.on_ground:
                break
        yield Action()
    return False


def descend(body: Body, lot: Lot, height: int) -> Acts:
    """Go down to a height: dig away the earth under the feet."""
    cx, cz = lot.base
    me = body.world.player
    for _ in range(12):
        feet = math.floor(me.y + 0.1)
        if feet - lot.y <= height:
            return True
        if not (yield from body.mine((cx, feet - 1, cz))):
            yield from body.wait(3)
        yield from body.wait(8)
    return False


def _light(body: Body, lot: Lot) -> Acts:
    """Put a torch on the wall opposite the door, or on the floor."""
    cx, cz = lot.middle
    dx, dz = lot.out
    back = (cx - dx * ((lot.x1 - lot.x0) // 2 - 1), lot.y + 2, cz - dz * ((lot.z1 - lot.z0) // 2 - 1))
    if not (yield from body.place(back, "torch", faces=(2, 3, 4, 5))):
        yield from body.place((back[0], lot.y, back[2]), "torch")
    return True


def _show(body: Body, lot: Lot) -> Acts:
    cx, cz = (lot.x0 + lot.x1 + 1) / 2, (lot.z0 + lot.z1 + 1) / 2
    yield from body.walk((lot.door[0] + 2 * lot.out[0], lot.y, lot.door[1] + 2 * lot.out[1]))
    routes = Routes(body.world.grid, body.footing, None, most=400.0)
    cells = [
        (x, y, z)
        for x, y, z in routes.reached().tolist()
        if 5 <= math.hypot(x + 0.5 - cx, z + 0.5 - cz) <= 13 and abs(y - lot.y) < 6 and body.name(x, y, z) != "water"
    ]
    start = math.atan2(lot.out[1], lot.out[0])
    hand = 1 if body.rng.random() < 0.5 else -1
    for step in range(5):
        angle = start + hand * step * math.pi / 2 + math.pi / 5 * (step != 0)
        wanted = cx + 8.5 * math.cos(angle), cz + 8.5 * math.sin(angle)
        around = sorted(cells, key=lambda cell: math.hypot(cell[0] + 0.5 - wanted[0], cell[2] + 0.5 - wanted[1]))
        if around and (yield from body.walk(around[0], tries=3)):
            yield from body.look_at(cx, lot.y + 1.8, cz)
            yield from body.wait(int(body.rng.integers(10, 22)))
    return True
