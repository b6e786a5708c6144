"""Make the blocks of a house from its drawing.

The functions make storeys, roofs, and furniture that faces the room; turn and mirror houses; and join panes, fences and stairs.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import cache
from typing import cast

import numpy as np

from blockworld.grid import connections
from blockworld.grid.grid import Grid
from blockworld.registry.blocks import AIR, BLOCK_OF, BLOCKS, change, parse, properties_of, state_of
from blockworld.terrain.houses import TOOL_OF, Style, Template

KEEP = 65535
"""Value in a `Volume` for a cell whose block in the world stays unchanged."""
STOREY = 4
"""Height of a storey: cells from one floor to the next."""
SIDES = {"north": (0, -1), "east": (1, 0), "south": (0, 1), "west": (-1, 0)}
_NAMES = tuple(SIDES)
_WALL = "#LGDCA"
_SOLID_WALL = "#LCA"
_OUTSIDE_WALK = "_.pe="


def opposite(side: str) -> str:
    return _NAMES[(_NAMES.index(side) + 2) % 4]


@dataclass(frozen=True)
class Volume:
    """A building ready to be placed, with its front to the south.

    Attributes:
        cells: uint16, shape (W, D, H): states or `KEEP`; the floor is at y = 0; every side has a margin of one cell.
        door: Cell (x, z) of the front door or gate; None if the building has none.
        front: The cell (x, z) outside the door, or None.
        way: Outdoor cells (x, z) from `front` to the front edge, which will be paved.
        rooms: Indoor cells (x, y, z) in which a body can stand.
        founded: Cells (x, z) that need ground below.
    """

    cells: np.ndarray
    door: tuple[int, int] | None
    front: tuple[int, int] | None
    way: tuple[tuple[int, int], ...]
    rooms: tuple[tuple[int, int, int], ...]
    beds: int
    founded: tuple[tuple[int, int], ...]


class _House:
    """Builder of one template in one style. Cells are (x, z) of the drawing; the volume has a margin of one cell."""

    def __init__(self, template: Template, style: Style, profession: str, rng: np.random.Generator) -> None:
        self.template, self.style, self.profession, self.rng = template, style, profession, rng
        self.plans = template.storeys
        self.depth, self.width = len(self.plans[0]), len(self.plans[0][0])
        height = STOREY * len(self.plans) + max(self.width, self.depth) // 2 + 5
        self.cells = np.full((self.width + 2, self.depth + 2, height), KEEP, np.uint16)
        self.roof_of: dict[tuple[int, int], int] = {}
        self.indoors = [self._indoors(plan) for plan in self.plans]
        self.colour = style.bed[int(rng.integers(len(style.bed)))]

    def char(self, storey: int, x: int, z: int) -> str:
        if 0 <= x < self.width and 0 <= z < self.depth and storey < len(self.plans):
            return self.plans[storey][z][x]
        return "_"

    def put(self, x: int, z: int, y: int, state: int) -> None:
        self.cells[x + 1, z + 1, y] = state

    def _indoors(self, plan: tuple[str, ...]) -> set[tuple[int, int]]:
        """Return the cells that walls separate from the edge of the drawing."""
        queue = deque([(-1, -1)])
        seen = {(-1, -1)}
        while queue:
            x, z = queue.popleft()
            for dx, dz in SIDES.values():
                a, b = x + dx, z + dz
                if (a, b) in seen or not (-1 <= a <= self.width and -1 <= b <= self.depth):
                    continue
                if 0 <= a < self.width and 0 <= b < self.depth and plan[b][a] in _WALL:
                    continue
                seen.add((a, b))
                queue.append((a, b))
        return {(x, z) for z in range(self.depth) for x in range(self.width) if (x, z) not in seen and plan[z][x] not in _WALL}

    def facing(self, storey: int, x: int, z: int) -> str:
        """Return the direction away from a wall, into the room."""
        best, chosen = -1, "south"
        for side in ("south", "east", "west", "north"):
            dx, dz = SIDES[side]
            score = 2 * (self.char(storey, x + dx, z + dz) in ".c*") + (self.char(storey, x - dx, z - dz) in _WALL)
            if score > best:
                best, chosen = score, side
        return chosen

    def wall_behind(self, storey: int, x: int, z: int) -> str | None:
        """Return the side of a cell with a wall that has no opening; None if there is no such wall."""
        for side in ("north", "west", "east", "south"):
            dx, dz = SIDES[side]
            if self.char(storey, x + dx, z + dz) in _SOLID_WALL:
                return side
        return None

    def storey(self, n: int) -> None:
        style, ground = self.style, n * STOREY
        floor, base, post = parse(style.floor), parse(style.base), parse(style.post)
        courses = [parse(block) for block in style.walls]
        for z in range(self.depth):
            for x in range(self.width):
                char = self.char(n, x, z)
                if char in _WALL:
                    beam = parse(style.beam)
                    if n and "axis" in properties_of(beam) and char != "L":
                        along_x = self.char(n, x - 1, z) in _WALL and self.char(n, x + 1, z) in _WALL
                        beam = change(beam, axis="x" if along_x else "z")
                    self.put(x, z, ground, base if n == 0 else beam)
                    for y in range(1, STOREY):
                        state = courses[y - 1]
                        if char == "L":
                            state = post
                        elif char == "A":
                            state = parse(style.accent)
                        elif char == "C":
                            state = parse(style.chimney)
                        elif char == "G" and y == 2:
                            state = state_of("glass_pane")
                        self.put(x, z, ground + y, state)
                    if char == "D":
                        self.door(n, x, z, ground)
                elif char in "_e":
                    continue
                else:
                    self.put(x, z, ground, floor)
                    for y in range(1, STOREY):
                        self.put(x, z, ground + y, AIR)
        for z in range(self.depth):
            for x in range(self.width):
                char = self.char(n, x, z)
                if char not in _WALL + "_.e":
                    self.furnish(n, x, z, ground, char)

    def door(self, n: int, x: int, z: int, ground: int) -> None:
        """Place a door that, when closed, is on the outer side of its cell."""
        facing = "north"
        for side in ("south", "east", "west", "north"):
            dx, dz = SIDES[side]
            if (x - dx, z - dz) in self.indoors[n] and self.char(n, x + dx, z + dz) not in _WALL:
                facing = opposite(side)
                if (x + dx, z + dz) not in self.indoors[n]:
                    break
        door = state_of(f"{self.style.wood}_door", facing=facing)
        self.put(x, z, ground, parse(self.style.floor))
        self.put(x, z, ground + 1, door)
        self.put(x, z, ground + 2, change(door, half="upper"))

    def furnish(self, n: int, x: int, z: int, ground: int, char: str) -> None:
        """Place the blocks of one character of the drawing, into a cell that already has floor and air."""
        style, y = self.style, ground + 1
        if char == "B":
            for side, (dx, dz) in SIDES.items():
                if self.char(n, x + dx, z + dz) == "b":
                    bed = state_of(f"{self.colour}_bed", facing=side)
                    self.put(x, z, y, bed)
                    self.put(x + dx, z + dz, y, change(bed, part="head"))
                    return
        elif char in "hF":
            name = "chest" if char == "h" else "furnace"
            self.put(x, z, y, state_of(name, facing=self.facing(n, x, z)))
        elif char == "T":
            self.put(x, z, y, state_of("crafting_table"))
        elif char == "w":
            self.put(x, z, y, self.tool(n, x, z))
        elif char == "k":
            self.put(x, z, y, state_of("bookshelf"))
            self.put(x, z, y + 1, state_of("bookshelf"))
        elif char == "t":
            self.put(x, z, y, state_of(style.fence))
            self.put(x, z, y + 1, state_of(f"{style.wood}_pressure_plate"))
        elif char == "s":
            for side, (dx, dz) in SIDES.items():
                if self.char(n, x + dx, z + dz) == "t":
                    self.put(x, z, y, state_of(f"{style.wood}_stairs", facing=opposite(side)))
        elif char == "c":
            self.put(x, z, y, state_of(style.carpet))
        elif char == "a":
            self.put(x, z, y, state_of("barrel", facing="up"))
        elif char == "o":
            self.put(x, z, y, state_of(style.flowers[int(self.rng.integers(len(style.flowers)))]))
        elif char == "l":
            wall = self.wall_behind(n, x, z)
            ladder = state_of("ladder", facing=opposite(wall or "north"))
            if n:  # the hole through which one comes up
                self.put(x, z, ground, ladder)
                return
            for up in range(STOREY):
                self.put(x, z, y + up, ladder)
        elif char == "*":
            wall = self.wall_behind(n, x, z)
            if wall is None:
                self.put(x, z, y, state_of("torch"))
            else:
                self.put(x, z, y + 1, state_of("wall_torch", facing=opposite(wall)))
        elif char == "J":
            self.put(x, z, y + 2, state_of("lantern", hanging="true"))
        elif char == "H":
            self.put(x, z, ground, KEEP)
            self.put(x, z, y, state_of("hay_block"))
        elif char == "P":
            for up in range(STOREY - 1):
                self.put(x, z, y + up, state_of(style.fence))
        elif char == "V":
            self.put(x, z, ground, KEEP)
            self.put(x, z, y, parse(style.bush))
        elif char in "fg":
            self.put(x, z, ground, KEEP)
            self.put(x, z, y, state_of(style.fence if char == "f" else f"{style.wood}_fence_gate"))
        elif char == "=":
            rim = parse(style.rim)
            if "axis" in properties_of(rim):
                rim = change(rim, axis="x" if "=" in self.char(n, x - 1, z) + self.char(n, x + 1, z) else "z")
            self.put(x, z, ground, rim)
        elif char == "~":
            self.put(x, z, ground, state_of("water"))
        elif char == "u":
            crop = style.crops[(z if self.width > self.depth else x) % len(style.crops)]
            ages = len(next(block for block in BLOCKS if block.name == crop).properties["age"])
            self.put(x, z, ground, state_of("farmland", moisture="7"))
            self.put(x, z, y, state_of(crop, age=str(int(self.rng.integers(ages // 2, ages)))))

    def tool(self, n: int, x: int, z: int) -> int:
        name = TOOL_OF[self.profession]
        state = state_of(name)
        if name == "grindstone":
            return change(state, face="floor", facing=self.facing(n, x, z))
        if name == "barrel":
            return change(state, facing="up")
        return change(state, facing=self.facing(n, x, z)) if "facing" in properties_of(state) else state

    def roofs(self) -> None:
        best: dict[tuple[int, int], tuple[int, int]] = {}
        for kind, storey, where in self.template.roofs:
            x0, z0, x1, z1 = where or (0, 0, self.width - 1, self.depth - 1)
            top = (storey + 1) * STOREY
            if kind in ("flat", "dome"):
                self.deck(kind, storey, x0, z0, x1, z1)
                continue
            for x in range(x0 - 1, x1 + 2):
                for z in range(z0 - 1, z1 + 2):
                    if self.char(storey + 1, x, z) != "_":
                        continue
                    # twice the height, so that the halves of low roofs compare too
                    twice, state = self.slope(kind, top, x, z, x0 - 1, z0 - 1, x1 + 1, z1 + 1)
                    if twice > best.get((x, z), (-1, 0))[0]:
                        best[x, z] = (twice, state)
        for (x, z), (twice, state) in best.items():
            y = twice // 2
            self.roof_of[x, z] = y
            low = 0
            for n in range(len(self.plans)):
                if self.char(n, x, z) != "_":
                    low = (n + 1) * STOREY
            char = self.char(low // STOREY - 1, x, z) if low else "_"
            for fill in range(low, y):
                if char in _WALL:
                    self.put(x, z, fill, parse(self.style.accent if char == "A" else self.style.walls[2]))
                elif char != "_" and low:
                    self.put(x, z, fill, AIR)
            if char in _WALL and properties_of(state).get("type") == "top":
                state = parse(self.style.full)
            self.put(x, z, y, state)

    def slope(self, kind: str, top: int, x: int, z: int, x0: int, z0: int, x1: int, z1: int) -> tuple[int, int]:
        """Return twice the height of a roof above a cell, and the state of the roof block there."""
        style = self.style
        dx, dz = min(x - x0, x1 - x), min(z - z0, z1 - z)
        by_z = kind.endswith("_x") or (kind.endswith("hip") and dz <= dx)
        far = dz if by_z else dx
        if kind.startswith("low"):
            twice = 2 * top - 1 + far
            return twice, state_of(style.slab, type="top" if twice % 2 else "bottom")
        both = (z - z0 == z1 - z) if by_z else (x - x0 == x1 - x)
        if both:
            return 2 * (top - 1 + far), state_of(style.slab)
        verge = not kind.endswith("hip") and (dx if by_z else dz) == 0
        up = ("south" if z - z0 < z1 - z else "north") if by_z else ("east" if x - x0 < x1 - x else "west")
        return 2 * (top - 1 + far), state_of(style.verge if verge else style.stairs, facing=up)

    def deck(self, kind: str, storey: int, x0: int, z0: int, x1: int, z1: int) -> None:
        top = (storey + 1) * STOREY
        full = parse(self.style.full)
        for x in range(x0, x1 + 1):
            for z in range(z0, z1 + 1):
                char = self.char(storey, x, z)
                if char == "_" or self.char(storey + 1, x, z) not in "_l":
                    continue
                if char != "l":
                    self.put(x, z, top, full)
                self.roof_of[x, z] = top
                far = min(x - x0, z - z0, x1 - x, z1 - z)
                if kind == "dome":
                    if far >= 2:
                        self.put(x, z, top + 1, full)
                elif char in "LP":
                    self.put(x, z, top + 1, parse(self.style.walls[2]))
                elif char in _WALL:
                    self.put(x, z, top + 1, state_of(self.style.slab))

    def chimneys(self) -> None:
        for z in range(self.depth):
            for x in range(self.width):
                if self.char(0, x, z) == "C":
                    top = self.roof_of.get((x, z), STOREY) + 2
                    self.cells[x + 1, z + 1, STOREY : top + 1] = parse(self.style.chimney)

    def outside(self, x: int, z: int) -> list[tuple[int, int]]:
        """Return the outdoor cells beside a door or gate, cells to the south first."""
        near = [(x + SIDES[side][0], z + SIDES[side][1]) for side in ("south", "east", "west", "north")]
        return [cell for cell in near if cell not in self.indoors[0] and self.char(0, *cell) not in _WALL + "f"]

    def front(self) -> tuple[tuple[int, int] | None, tuple[int, int] | None, list[tuple[int, int]]]:
        """Return the front door, the cell outside it, and the cells of a way from there to the front edge."""
        doors = [
            (z, x) for z in range(self.depth) for x in range(self.width) if self.char(0, x, z) == "D" and self.outside(x, z)
        ]
        doors = doors or [(z, x) for z in range(self.depth) for x in range(self.width) if self.char(0, x, z) == "g"]
        if not doors:
            return None, None, []
        z, x = max(doors)
        start = self.outside(x, z)[0]
        before: dict[tuple[int, int], tuple[int, int] | None] = {start: None}
        queue = deque([start])
        while queue:
            a, b = here = queue.popleft()
            if b >= self.depth:
                way = []
                step: tuple[int, int] | None = here
                while step is not None:
                    way.append(step)
                    step = before[step]
                return (x, z), start, way[::-1]
            for ax, az in ((0, 1), (1, 0), (-1, 0), (0, -1)):
                near = (a + ax, b + az)
                if near in before or not (0 <= near[0] < self.width and 0 <= near[1] <= self.depth):
                    continue
                if self.char(0, *near) in _OUTSIDE_WALK + "g":
                    before[near] = here
                    queue.append(near)
        return (x, z), start, [start]

    def torches(self, door: tuple[int, int], front: tuple[int, int]) -> None:
        side = (front[0] - door[0], front[1] - door[1])
        for turn in ((side[1], side[0]), (-side[1], -side[0])):
            x, z = door[0] + turn[0], door[1] + turn[1]
            if self.char(0, x, z) in _SOLID_WALL and self.char(0, x + side[0], z + side[1]) not in _WALL + "PVf":
                facing = next(name for name, step in SIDES.items() if step == side)
                self.put(x + side[0], z + side[1], 2, state_of("wall_torch", facing=facing))
                return


def volume(template: Template, style: Style, profession: str, rng: np.random.Generator) -> Volume:
    house = _House(template, style, profession, rng)
    for n in range(len(house.plans)):
        house.storey(n)
    house.roofs()
    house.chimneys()
    door, front, way = house.front()
    if door is not None and front is not None and house.char(0, *door) == "D":
        house.torches(door, front)
    rooms = [(x + 1, 1, z + 1) for x, z in sorted(house.indoors[0]) if house.char(0, x, z) in ".c"]
    founded = [(x + 1, z + 1) for z in range(house.depth) for x in range(house.width) if house.char(0, x, z) not in "_eVfgH"]
    return Volume(
        cells=house.cells,
        door=None if door is None else (door[0] + 1, door[1] + 1),
        front=None if front is None else (front[0] + 1, front[1] + 1),
        way=tuple((x + 1, z + 1) for x, z in way if house.char(0, x, z) in "_e"),
        rooms=tuple(rooms),
        beds=sum(row.count("B") for plan in house.plans for row in plan),
        founded=tuple(founded),
    )


@cache
def turned(state: int, turns: int, mirrored: bool) -> int:
    """Return a state after its building is mirrored (east and west swapped), then turned clockwise by `turns` quarter turns."""
    if state == KEEP:
        return KEEP
    properties = dict(properties_of(state))
    facing = properties.get("facing")
    changes: dict[str, str] = {}
    if facing in _NAMES:
        index = _NAMES.index(facing)
        if mirrored and index % 2:
            index = (index + 2) % 4
        changes["facing"] = _NAMES[(index + turns) % 4]
    if mirrored and "hinge" in properties:
        changes["hinge"] = "left" if properties["hinge"] == "right" else "right"
    if turns % 2 and properties.get("axis") in ("x", "z"):
        changes["axis"] = "z" if properties["axis"] == "x" else "x"
    return change(state, **changes)


def turned_cell(x: int, z: int, width: int, depth: int, turns: int, mirrored: bool) -> tuple[int, int]:
    """Return the new position of a cell of a `width` x `depth` plan that is mirrored and turned as in `turned`."""
    if mirrored:
        x = width - 1 - x
    for _ in range(turns):
        x, z, width, depth = depth - 1 - z, x, depth, width
    return x, z


class _Blocks:
    """An array of blocks with the method `get` of a grid, which `grid.connections` needs."""

    def __init__(self, blocks: np.ndarray) -> None:
        self.blocks = blocks

    def get(self, x: int, y: int, z: int) -> int:
        sx, sz, sy = self.blocks.shape
        return int(self.blocks[x, z, y]) if 0 <= x < sx and 0 <= y < sy and 0 <= z < sz else AIR


_JOINED: np.ndarray = np.array([block.name.endswith(("_fence", "glass_pane", "_stairs", "_wall")) for block in BLOCKS])[
    BLOCK_OF
]


def join(blocks: np.ndarray, box: tuple[int, int, int, int, int, int]) -> None:
    """Join panes, fences and stairs in a box (x0, y0, z0, x1, y1, z1; ends included), as if a player had placed them."""
    grid = cast(Grid, _Blocks(blocks))
    x0, y0, z0, x1, y1, z1 = box
    x0, y0, z0 = max(x0, 0), max(y0, 0), max(z0, 0)
    part = blocks[x0 : x1 + 1, z0 : z1 + 1, y0 : y1 + 1]
    for x, z, y in np.add(np.argwhere(_JOINED[part]), (x0, z0, y0)).tolist():
        blocks[x, z, y] = connections.joined(grid, x, y, z, int(blocks[x, z, y]))
