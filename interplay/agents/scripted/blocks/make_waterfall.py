"""Make a waterfall: climb to an edge with a drop, pour water over it, walk to a place with a good view, and look at it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from blockworld import Action, Position, World
from blockworld.grid import Grid
from blockworld.terrain import PASSABLE
from interplay.agents.skills.body import Acts, Body
from interplay.agents.skills.navigation import Routes
from interplay.envs.voxel.checks.make_waterfall import FALL, IN_VIEW, poured, rays_in_view

_SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1))
GOOD_VIEW = 52
"""Number of rays of the picture that must meet the water: one hundredth of all `RAYS`."""


class Place(NamedTuple):
    """A place for a waterfall: the cell to pour from, the cell that gets the water, and the highest cell of the drop."""

    stand: Position
    edge: Position
    fall: Position
    drop: int
    cost: float


def play(world: World, rng: np.random.Generator) -> Acts:
    body = Body(world, rng)
    routes = Routes(world.grid, body.footing, None, most=1500.0)
    found = sorted(
        places(body, routes), key=lambda place: 0.12 * place.cost - min(place.drop, 16) * 12 - float(rng.uniform(0, 20))
    )[:8]
    for place in found:
        if not (yield from body.walk(place.stand)):
            continue
        if not (yield from _pour(body, place)):
            continue
        yield from body.wait(20 + 4 * place.drop)
        if (yield from _admire(body, world, place)):
            break
    yield from body.end()
    return True


def places(body: Body, routes: Routes) -> list[Place]:
    """Return edges in reach that have air on one side, and ground to stand on at the opposite side."""
    grid = body.world.grid
    found = []
    cells = routes.reached()
    for number in _beside_drops(grid, cells).tolist():
        (x, y, z), (dx, dz) = cells[number // 4].tolist(), _SIDES[number % 4]
        a, b = x + dx, z + dz
        drop = FALL + 2
        while drop < 24 and PASSABLE[grid.get(a, y - 1 - drop, b)] and y - drop > 4:
            drop += 1
        stand = (x - dx, y, z - dz)
        if not body.stands(*stand) or body.name(x, y - 1, z).endswith("_leaves") or not math.isfinite(routes.cost(stand)):
            continue
        others = sum(bool(PASSABLE[grid.get(x + i, y - 1, z + k)]) for i, k in _SIDES)
        found.append(Place(stand, (x, y, z), (a, y - 1, b), drop, routes.cost((x, y, z)) + 10 * others))
    return found


def _beside_drops(grid: Grid, cells: np.ndarray) -> np.ndarray:
    """Return the sides of cells where all is air, from the height of the head down to `FALL` + 2 below the feet. The side i of
    the cell c is the number 4 c + i, where i is an index of `_SIDES`. `cells` has the form of `Routes.reached`."""
    sx, sy, sz = grid.size
    y = np.repeat(cells[:, 1], 4)
    x, z = (cells[:, [0, 2]][:, None] + np.array(_SIDES)).reshape(-1, 2).T
    kept = np.flatnonzero((x >= 0) & (x < sx) & (z >= 0) & (z < sz) & (y > FALL + 5))
    for up in range(1, -FALL - 3, -1):
        kept = kept[PASSABLE[grid.blocks[x[kept], z[kept], np.minimum(y[kept] + up, sy - 1)]]]
    return kept


def _pour(body: Body, place: Place) -> Acts:
    if not (yield from body.hold("water_bucket")):
        return False
    x, y, z = place.edge
    for _ in range(4):
        aimed = body.aim((x, y - 1, z), (1,), into=place.edge)
        if aimed is None:
            return False
        yield from body.look(*aimed, tolerance=0.5)
        yield from body.wait(int(body.rng.integers(2, 8)))
        yield Action(use=True)
        yield from body.wait(1)
        if body.name(x, y, z) == "water" or not body.count("water_bucket"):
            return True
    return False


def _admire(body: Body, world: World, place: Place) -> Acts:
    """Go to the place with the best view of the fall, and look at it."""
    cells = poured(world)
    low, high = place.fall[1] - place.drop + 1, place.fall[1]
    middle = (place.fall[0] + 0.5, (low + high) / 2 + 0.5, place.fall[2] + 0.5)
    dx, dz = place.fall[0] - place.edge[0], place.fall[2] - place.edge[2]
    wet = {(x, y, z) for x, y, z in cells.tolist()}
    views = []
    routes = Routes(world.grid, body.footing, None, most=700.0)
    heights = np.linspace(low + 0.5, high + 0.5, 5)
    reached = routes.reached()
    far = np.hypot(reached[:, 0] + 0.5 - middle[0], reached[:, 2] + 0.5 - middle[2])
    for x, y, z in reached[(far > 4.9) & (far < 26.1)].tolist():  # a little wider than below: it may round otherwise
        away = math.hypot(x + 0.5 - middle[0], z + 0.5 - middle[2])
        if not 5 <= away <= 26 or (x, y, z) in wet or (x, y + 1, z) in wet or body.name(x, y, z) == "water":
            continue
        front = ((x + 0.5 - middle[0]) * dx + (z + 0.5 - middle[2]) * dz) / away
        if front < 0.1:
            continue
        steep = abs(math.degrees(math.atan2(middle[1] - y - 1.62, away)))
        worth = 60 * front - abs(away - 1.1 * place.drop - 4) * 1.5 - 0.08 * routes.cost((x, y, z)) - max(0.0, steep - 25) * 2
        views.append((worth, (x, y, z)))
    tried: list[Position] = []
    for _, view in sorted(views, reverse=True)[:600]:
        if any(max(abs(view[0] - x), abs(view[2] - z)) < 4 for x, _, z in tried):
            continue
        eye = view[0] + 0.5, view[1] + 1.62, view[2] + 0.5
        if sum(body.sees(middle[0] + 0.4 * dx, h, middle[2] + 0.4 * dz, eye=eye) for h in heights) < 4:
            continue
        tried.append(view)
        if len(tried) > 4:
            break
        if (yield from body.walk(view, tries=4)):
            yield from body.look_at(*middle)
            if rays_in_view(world, poured(world)) >= GOOD_VIEW:
                yield from body.wait(int(body.rng.integers(8, 25)))
                return True
    yield from body.look_at(*middle)  # no such place: at least look from here
    return rays_in_view(world, poured(world)) >= IN_VIEW
