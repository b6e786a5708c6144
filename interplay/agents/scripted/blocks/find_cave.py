"""Find a cave: walk to its mouth, go in until rock is all around, look around, and say that the task is done."""

from __future__ import annotations

import numpy as np

from blockworld import Position, World
from interplay.agents.skills.body import Acts, Body
from interplay.agents.skills.navigation import Routes
from interplay.envs.voxel.checks.find_cave import inside_cave


def play(world: World, rng: np.random.Generator) -> Acts:
    body = Body(world, rng)
    me = world.player
    for _ in range(2):  # a look around first, as one does in a strange place
        yield from body.look(
            me.yaw + float(rng.uniform(50, 110)) * (1 if rng.random() < 0.5 else -1), float(rng.uniform(0, 12))
        )
    mouths = list(world.land.cave_mouths)
    while mouths:
        routes = Routes(world.grid, body.footing, mouths)
        mouth = routes.goal
        if mouth is None:
            break
        others = [cell for cell in mouths if routes.cost(cell) < 1.15 * routes.cost(mouth) + 20]
        mouth = others[int(rng.integers(len(others)))] if others else mouth
        mouths.remove(mouth)
        if not (yield from body.walk(mouth)):
            continue
        if (yield from _go_in(body, world, mouth)):
            break
    yield from body.end()
    return inside_cave(world)


def _go_in(body: Body, world: World, mouth: Position) -> Acts:
    routes = Routes(world.grid, body.footing, None, most=400.0)
    deep = []
    for x, y, z in routes.reached().tolist():
        if (
            max(abs(x - mouth[0]), abs(z - mouth[2])) <= 30
            and world.grid.lights(x, y + 1, z)[0] < 6
            and world.land.heights[x, z] > y + 3
        ):
            deep.append((routes.cost((x, y, z)), (x, y, z)))
    for _, cell in sorted(deep)[:40:5]:
        yield from body.walk(cell, until=lambda: inside_cave(world) and world.grid.lights(*body.cell)[0] < 4, tries=3)
        if inside_cave(world):
            yaw = world.player.yaw
            for turn in (float(body.rng.uniform(40, 90)), -float(body.rng.uniform(60, 120))):
                yield from body.look(yaw + turn, float(body.rng.uniform(-10, 15)), tolerance=4.0)
                yield from body.wait(int(body.rng.integers(3, 9)))
            return True
    return False
