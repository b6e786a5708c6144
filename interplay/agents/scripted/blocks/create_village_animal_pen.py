"""Build a pen beside a village house, lead two animals of one kind into it with food, and shut the gate."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from blockworld import Action, Position, World, is_replaceable
from blockworld.registry import KINDS, MOBS, NUM_THINGS, properties_of
from blockworld.terrain import FARMS, PASSABLE, PENS
from interplay.agents.scripted.blocks.sites import free_ground, level_rectangles, near_boxes
from interplay.agents.skills.body import Acts, Body
from interplay.agents.skills.navigation import Routes
from interplay.envs.voxel.checks.create_village_animal_pen import check

FENCE, GATE = "oak_fence", "oak_fence_gate"
SIZES = ((7, 6), (6, 7), (6, 6), (7, 5), (5, 7), (6, 5), (5, 6), (5, 5))
"""Outer sizes (width, depth) of a pen, from best to worst."""
MOST_WAIT = 120
"""Largest number of ticks for which the player waits for led animals that fall behind."""
_YARDS = tuple(one.name for one in (*FARMS, *PENS))


@dataclass(frozen=True)
class Site:
    """The place of a pen: the corners of its ring of fences, and the height `y` of an animal's feet.

    The first gate is at `gate`; `out` is the direction (dx, dz) that leads out through the gate. A second gate beside the first
    makes the opening wide enough for two animals at once.
    """

    x0: int
    z0: int
    x1: int
    z1: int
    y: int
    gate: Position
    out: tuple[int, int]

    @property
    def gates(self) -> tuple[Position, Position]:
        x, y, z = self.gate
        return self.gate, (x + abs(self.out[1]), y, z + abs(self.out[0]))

    @property
    def ring(self) -> list[Position]:
        """Cells of the fence without the gates, in order around the pen, beginning beside the gates."""
        top = [(x, self.y, self.z0) for x in range(self.x0, self.x1)]
        right = [(self.x1, self.y, z) for z in range(self.z0, self.z1)]
        bottom = [(x, self.y, self.z1) for x in range(self.x1, self.x0, -1)]
        left = [(self.x0, self.y, z) for z in range(self.z1, self.z0, -1)]
        around = top + right + bottom + left
        start = around.index(self.gate)
        return [cell for cell in around[start + 1 :] + around[:start] if cell not in self.gates]

    def holds(self, x: float, z: float) -> bool:
        return self.x0 + 1 <= x < self.x1 and self.z0 + 1 <= z < self.z1

    def inner(self, x: int, z: int, back: int) -> Position:
        """The cell nearest to the column (x, z) at least `back` cells inside the ring, or in the middle of a narrow pen."""
        cx, cz = (self.x0 + self.x1) / 2, (self.z0 + self.z1) / 2
        a = min(max(x, self.x0 + back), self.x1 - back) if self.x1 - self.x0 >= 2 * back else round(cx)
        b = min(max(z, self.z0 + back), self.z1 - back) if self.z1 - self.z0 >= 2 * back else round(cz)
        return a, self.y, b

    def outside(self, far: int) -> Position:
        return self.gate[0] + far * self.out[0], self.y, self.gate[2] + far * self.out[1]

    @property
    def end(self) -> Position:
        """The cell inside the pen that is opposite the gate and farthest from it."""
        dx, dz = self.out
        deep = (self.x1 - self.x0 if dx else self.z1 - self.z0) - 1
        return self.gate[0] - dx * deep, self.y, self.gate[2] - dz * deep


def play(world: World, rng: np.random.Generator) -> Acts:
    body = Body(world, rng)
    chosen = choose(body)
    if chosen is None:
        yield from body.end()
        return False
    site, kind, food = chosen
    yield from body.walk(site.inner((site.x0 + site.x1) // 2, (site.z0 + site.z1) // 2, 2))
    yield from _build(body, site)
    for _ in range(8):
        if check(world)["success"]:
            break
        if any(is_replaceable(body.state(*cell)) for cell in site.ring):
            yield from body.wait(80)  # somebody stood where a piece is to be
            yield from _build(body, site)
        yield from bring(body, site, kind, food)
    yield from body.look_at((site.x0 + site.x1) / 2, site.y + 0.5, (site.z0 + site.z1) / 2)
    yield from body.wait(int(rng.integers(5, 20)))
    yield from body.end()
    return True


def animals(world: World, kind: str | None = None) -> list[tuple[str, int, float, float, float]]:
    """Kind, id and place of the grown animals outside the yards of the village."""
    yards = [house.box for village in world.land.villages for house in village.houses if house.kind in _YARDS]
    found = []
    for row in world.entities[(world.entities["kind"] >= NUM_THINGS) & (world.entities["health"] > 0)]:
        name, x, z = KINDS[row["kind"]], float(row["x"]), float(row["z"])
        if name not in ("cow", "sheep", "pig", "chicken", "rabbit") or (kind is not None and name != kind):
            continue
        if not any(x0 - 1 <= x < x1 + 2 and z0 - 1 <= z < z1 + 2 for x0, _, z0, x1, _, z1 in yards):
            found.append((name, int(row["id"]), x, float(row["y"]), z))
    return found


def choose(body: Body) -> tuple[Site, str, str] | None:
    world = body.world
    good = free_ground(world)
    boxes = [
        (house.box[0], house.box[2], house.box[3], house.box[5])
        for village in world.land.villages
        for house in village.houses
        if house.kind not in _YARDS
    ]
    near = near_boxes(good.shape, boxes, 3)
    routes = Routes(world.grid, body.footing, None, most=700.0)
    everybody = animals(world)
    kinds = {}
    for kind in ("pig", "chicken", "cow", "sheep", "rabbit"):
        food = next(
            (item for item in ("carrot", "wheat_seeds", "wheat") if body.count(item) and item in MOBS[kind].lures), None
        )
        there = [(x, z) for name, _, x, y, z in everybody if name == kind and math.isfinite(_reach(routes, x, y, z))]
        if food is not None and len(there) >= 2:
            kinds[kind] = (food, there)
    best, chosen = math.inf, None
    for rank, (width, depth) in enumerate(SIZES):
        for x, z, level in level_rectangles(world, good, near, width, depth):
            y = level + 1
            cx, cz = x + width / 2, z + depth / 2
            crowd = sum(x - 4 <= a < x + width + 4 and z - 4 <= b < z + depth + 4 for _, _, a, _, b in everybody)
            for kind, (food, there) in kinds.items():
                first, second = sorted(math.hypot(a - cx, b - cz) for a, b in there)[:2]
                rivals = sum(
                    name != kind and food in MOBS[name].lures and math.hypot(a - there[0][0], b - there[0][1]) < 12
                    for name, _, a, _, b in everybody
                )
                cost = first + second + 0.4 * math.hypot(cx - body.world.player.x, cz - body.world.player.z)
                cost += 20 * crowd + 12 * rivals + 3 * rank + (12 if kind == "chicken" else 0) + (8 if food == "wheat" else 0)
                if cost >= best:
                    continue
                gate = _gate(world, routes, (x, z, x + width - 1, z + depth - 1, y), there)
                if gate is not None:
                    best, chosen = cost, (gate, kind, food)
        if chosen is not None and rank >= 3:
            break
    return chosen


def _reach(routes: Routes, x: float, y: float, z: float) -> float:
    a, b = math.floor(x), math.floor(z)
    return min(
        routes.cost((a + dx, math.floor(y + 0.5) + dy, b + dz)) for dx in (-1, 0, 1) for dz in (-1, 0, 1) for dy in (-1, 0, 1)
    )


def _gate(world: World, routes: Routes, ring: tuple[int, int, int, int, int], there: list[tuple[float, float]]) -> Site | None:
    """Return the pen whose gate is on the animals' side, with free ground in front; None if no side has free ground."""
    x0, z0, x1, z1, y = ring
    found = []
    for dx, dz in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        gx = x1 if dx > 0 else x0 if dx < 0 else (x0 + x1) // 2
        gz = z1 if dz > 0 else z0 if dz < 0 else (z0 + z1) // 2
        before = [(gx + dx * far + abs(dz) * aside, gz + dz * far + abs(dx) * aside) for far in (1, 2, 3) for aside in (0, 1)]
        if all(_walkable(world, a, y, b) for a, b in before) and math.isfinite(routes.cost((before[2][0], y, before[2][1]))):
            away = min(math.hypot(a - gx - 4 * dx, b - gz - 4 * dz) for a, b in there)
            found.append((away, Site(x0, z0, x1, z1, y, (gx, y, gz), (dx, dz))))
    return min(found, key=lambda one: one[0])[1] if found else None


def _walkable(world: World, x: int, y: int, z: int) -> bool:
    return int(world.land.heights[x, z]) == y - 1 and bool(
        PASSABLE[world.grid.get(x, y, z)] and PASSABLE[world.grid.get(x, y + 1, z)]
    )


def _build(body: Body, site: Site) -> Acts:
    for _ in range(8):
        missing = [cell for cell in site.ring if not body.name(*cell).endswith(("_fence", "_fence_gate"))]
        for cell in missing:
            yield from _fence(body, site, cell, FENCE)
        if not missing:
            break
        yield from body.wait(25)  # somebody may stand where a piece is to be
    dx, dz = site.out
    for gate in site.gates:
        if not body.name(*gate).endswith("_fence_gate"):
            yield from body.walk((gate[0] - 2 * dx, site.y, gate[2] - 2 * dz))
            yield from _fence(body, site, gate, GATE, walk=False)
    return True


def _fence(body: Body, site: Site, cell: Position, item: str, *, walk: bool = True) -> Acts:
    x, _, z = cell
    goal = site.inner(x, z, 2)
    me = body.world.player
    if (walk and math.hypot(me.x - x - 0.5, me.z - z - 0.5) > 3.2) or math.hypot(me.x - x - 0.5, me.z - z - 0.5) < 1.1:
        yield from body.walk(goal, tries=3)
    if not is_replaceable(body.state(*cell)):
        yield from body.mine(cell)
    if (yield from body.place(cell, item, faces=(1,))):
        return True
    for _ in range(3):  # an animal may stand there, or the view is blocked: from elsewhere
        yield from body.wait(10)
        yield from body.walk(site.inner(x, z, 1 + int(body.rng.integers(0, 2))), tries=2)
        if (yield from body.place(cell, item)):
            return True
    return False


def num_inside(world: World, site: Site, kind: str | None = None) -> int:
    return sum(site.holds(x, z) for _, _, x, _, z in animals(world, kind))


def bring(
    body: Body,
    site: Site,
    kind: str,
    food: str,
    *,
    wanted: int | None = None,
    preference: Callable[[int], float] = lambda one: 0.0,
) -> Acts:
    """Lead `wanted` animals into the pen (by default, so many that two are inside), and close the pen.

    `preference` maps an animal's id to a cost that is added to the cost of the way; an animal of infinite cost is left alone.
    """
    world, me = body.world, body.world.player
    if site.holds(me.x, me.z):
        yield from body.free_hand()
        yield from body.walk(site.outside(2))
        yield from swing(body, site)
    yield from body.hold(food)
    wanted = 2 - num_inside(world, site, kind) if wanted is None else wanted
    led: list[int] = []
    while len(led) < wanted:
        routes = Routes(world.grid, body.footing, None, most=900.0, around=body.field)
        free = [
            (_reach(routes, x, y, z) + preference(one), one, x, y, z)
            for _, one, x, y, z in animals(world, kind)
            if one not in led and not site.holds(x, z)
        ]
        if not free or not math.isfinite(min(free)[0]):
            break
        _, one, x, y, z = min(free)
        around = [
            (a, b, c)
            for a in range(math.floor(x) - 3, math.floor(x) + 4)
            for c in range(math.floor(z) - 3, math.floor(z) + 4)
            for b in range(math.floor(y) - 1, math.floor(y) + 3)
            if body.stands(a, b, c) and not site.holds(a, c)
        ]
        yield from body.walk(around, pace=_pace(body, led), until=lambda one=one: away(body, one) < 3.5, tries=3)  # type: ignore[misc]
        led.append(one)
        if away(body, one) > 6:
            led.remove(one)
            yield from body.wait(5)
            break
    if not led:
        return (yield from swing(body, site))
    yield from body.walk(site.outside(2), pace=_pace(body, led))
    for _ in range(60):  # till they come near
        if all(away(body, one) < 4.5 for one in led):
            break
        yield _watch(body, led)
    yield from swing(body, site, shut=False)
    yield from body.walk(site.end, tries=3)
    waited = 0
    while waited < 240 and sum(_is_in(body, site, one) for one in led) < len(led):
        yield _watch(body, led)
        waited += 1
    yield from body.wait(int(body.rng.integers(2, 8)))
    yield from body.hold(FENCE)
    yield from body.walk(site.outside(1), tries=3)
    yield from swing(body, site)
    return True


def swing(body: Body, site: Site, *, shut: bool = True) -> Acts:
    for _ in range(3):
        for gate in site.gates:
            if _is_shut(body, gate) != shut:
                yield from body.use_on(gate)
        if all(_is_shut(body, gate) == shut for gate in site.gates):
            return True
        yield from body.wait(6)
    return False


def _is_shut(body: Body, gate: Position) -> bool:
    return properties_of(body.state(*gate)).get("open") == "false"


def _row(body: Body, one: int) -> np.void | None:
    row = body.world.row_of(one)
    return None if row is None else body.world.entities[row]


def away(body: Body, one: int) -> float:
    """Distance to an animal; 0 if the animal no longer exists."""
    row = _row(body, one)
    me = body.world.player
    return 0.0 if row is None else math.hypot(float(row["x"]) - me.x, float(row["z"]) - me.z)


def _is_in(body: Body, site: Site, one: int) -> bool:
    row = _row(body, one)
    return row is not None and site.holds(float(row["x"]), float(row["z"]))


def _pace(body: Body, led: list[int]) -> Callable[[], bool]:
    """Return a function that says whether to wait for the led animals; they may follow a nearer player, so a wait is short."""
    num_waited = 0

    def waits() -> bool:
        nonlocal num_waited
        is_behind = any(5.5 < away(body, one) < 10.0 for one in led)
        num_waited = num_waited + 1 if is_behind else 0
        return is_behind and num_waited < MOST_WAIT

    return waits


def _watch(body: Body, led: list[int]) -> Action:
    row = _row(body, led[-1])
    if row is None:
        return body.turn(body.world.player.yaw, 10.0)
    yaw, pitch = body.angles(float(row["x"]), float(row["y"]) + 0.6, float(row["z"]))
    return body.turn(yaw, pitch)
