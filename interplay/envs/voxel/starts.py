"""Start places of players other than the land's own spawn: option `start` of a task of the block world.

The place is drawn from the world's seed, so that the same seed always begins in the same place, and a task can promise that its
goal is in sight.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType

import numpy as np

from blockworld import EYE_HEIGHT, Action, Position, World
from blockworld.grid import physics
from blockworld.terrain import PASSABLE, SEA, STANDABLE
from interplay.envs.base import EnvError
from interplay.envs.voxel.land import blocks_named
from interplay.envs.voxel.village import houses_of, within

LOG = blocks_named(lambda name: name.endswith("_log") and not name.startswith("stripped_"))
"""bool for each block state: whether the block is a log of a tree."""
TREE_FAR = (4, 9)
"""Smallest and largest distance between a trunk and the player's start, in blocks."""
VILLAGE_FAR = (14, 30)
"""Smallest and largest distance between the nearest house and the player's start, in blocks."""
ASIDE_DEGREES = 35.0
"""Largest angle between the middle of the view and a goal that is in sight."""
_TRIES = 4000


def trunks(world: World) -> list[Position]:
    """Return the lowest log of each tree outside villages that is at least two logs high."""
    blocks, heights = world.land.blocks, world.land.heights
    xs, zs = np.indices(heights.shape)
    foot = np.minimum(heights.astype(np.int64) + 1, blocks.shape[2] - 2)
    found = np.argwhere(LOG[blocks[xs, zs, foot]] & LOG[blocks[xs, zs, foot + 1]])
    houses = houses_of(world)
    return [(x, int(foot[x, z]), z) for x, z in found.tolist() if not any(within(house, x, z, margin=2) for house in houses)]


def _before_a_tree(world: World, rng: np.random.Generator) -> None:
    """Put the player before a tree, with a level way to it."""
    sx, _, sz = world.spawn
    near = sorted(trunks(world), key=lambda at: (at[0] - sx) ** 2 + (at[2] - sz) ** 2)[:30]
    for tree, (x, z) in _drawn(rng, near, lambda tree: (tree[0], tree[2]), TREE_FAR):
        goal = tree[0] + 0.5, tree[1] + 1.5, tree[2] + 0.5
        if _is_free(world, x, z) and _is_level(world, (x, z), (tree[0], tree[2])) and _sees(world, (x, z), goal):
            return _stand(world, rng, (x, z), goal)
    raise EnvError(f"seed {world.land.seed} has no tree that can be walked to\nChoose another seed, or another kind of land.")


def _before_a_village(world: World, rng: np.random.Generator) -> None:
    """Put the player outside a village, with a house in sight and a level way to it."""
    houses = houses_of(world)

    def middle(house) -> tuple[int, int]:  # type: ignore[no-untyped-def]
        x0, _, z0, x1, _, z1 = house.box
        return (x0 + x1) // 2, (z0 + z1) // 2

    tall = [house for house in houses if house.box[4] - house.box[1] >= 4]
    least, most = VILLAGE_FAR
    for house, (x, z) in _drawn(rng, tall, middle, (least + 4, most + 4)):
        a, b = middle(house)
        goal = a + 0.5, house.box[4] - 0.5, b + 0.5
        far = min(distance_to(one.box, x, z) for one in houses)
        if not least <= far <= most or not _is_free(world, x, z):
            continue
        edge = house.box[0], house.box[2], house.box[3], house.box[5]
        if _is_level(world, (x, z), (a, b), until=edge) and _sees(world, (x, z), goal, within=house.box):
            return _stand(world, rng, (x, z), goal)
    raise EnvError(
        f"seed {world.land.seed} has no village that can be seen and walked to\nChoose another seed, or another kind of land."
    )


STARTS: Mapping[str, Callable[[World, np.random.Generator], None]] = MappingProxyType(
    {"tree": _before_a_tree, "village": _before_a_village}
)
"""Value of the option `start` -> the function that puts the player there."""


def put(world: World, start: str) -> None:
    """Put the player of a fresh world where its task begins (EnvError if the land has no such place)."""
    STARTS[start](world, np.random.default_rng([world.land.seed, sorted(STARTS).index(start)]))


def distance_to(box: tuple[int, int, int, int, int, int], x: float, z: float) -> float:
    x0, _, z0, x1, _, z1 = box
    return math.hypot(max(x0 - x, 0, x - x1 - 1), max(z0 - z, 0, z - z1 - 1))


def _drawn(  # type: ignore[no-untyped-def]
    rng: np.random.Generator, things: list, place: Callable, far: tuple[int, int]
) -> Iterator[tuple]:
    """Yield random things, each with a random column at a distance within `far`, until the caller accepts one."""
    for _ in range(_TRIES if things else 0):
        thing = things[int(rng.integers(len(things)))]
        x, z = place(thing)
        angle, distance = rng.uniform(0, 2 * math.pi), rng.uniform(*far)
        yield thing, (round(x + distance * math.cos(angle)), round(z + distance * math.sin(angle)))


def _feet(world: World, x: int, z: int) -> int:
    return int(world.land.heights[x, z]) + 1


def _is_free(world: World, x: int, z: int) -> bool:
    """Return whether a player can stand on the ground of a column, dry and under the sky."""
    sx, sz, sy = world.land.blocks.shape
    if not (8 <= x < sx - 8 and 8 <= z < sz - 8) or any(within(house, x, z, margin=2) for house in houses_of(world)):
        return False
    y = _feet(world, x, z)
    above = world.land.blocks[x, z, y : y + 12]
    return bool(SEA < y < sy - 12 and STANDABLE[world.land.blocks[x, z, y - 1]] and PASSABLE[above].all())


def _is_level(
    world: World, start: tuple[int, int], goal: tuple[int, int], *, until: tuple[int, int, int, int] | None = None
) -> bool:
    """Return whether a player can walk straight from one column towards another over level ground. Level ground has no step
    higher than a block, no water, and no obstacle. The last two blocks of the way, or the way from two blocks before the
    rectangle `until` (x0, z0, x1, z1), are not checked."""
    num = 2 * max(abs(goal[0] - start[0]), abs(goal[1] - start[1]))
    before = _feet(world, *start)
    for share in np.linspace(0, 1, num + 1)[1:]:
        x, z = round(start[0] + share * (goal[0] - start[0])), round(start[1] + share * (goal[1] - start[1]))
        is_there = max(abs(goal[0] - x), abs(goal[1] - z)) <= 1
        if until is not None:
            is_there = until[0] - 2 <= x <= until[2] + 2 and until[1] - 2 <= z <= until[3] + 2
        if is_there:
            return True
        y = _feet(world, x, z)
        blocks = world.land.blocks[x, z, y - 1 : y + 2]
        if abs(y - before) > 1 or not STANDABLE[blocks[0]] or not PASSABLE[blocks[1:]].all():
            return False
        before = y
    return True


def _sees(
    world: World,
    start: tuple[int, int],
    goal: tuple[float, float, float],
    *,
    within: tuple[int, int, int, int, int, int] | None = None,
) -> bool:
    """Return whether the first block on the line from a column's eye height to a point is at that point, or in a box."""
    x, z = start
    eye = x + 0.5, _feet(world, x, z) + EYE_HEIGHT, z + 0.5
    way = goal[0] - eye[0], goal[1] - eye[1], goal[2] - eye[2]
    hit, *met = physics.ray(world.land.blocks, *eye, *way, math.dist(eye, goal) + 2.0, sources=False)
    if not hit:
        return False
    a, b, c = (int(value) for value in met[:3])
    if within is None:
        return (a, c) == (math.floor(goal[0]), math.floor(goal[2]))
    x0, y0, z0, x1, y1, z1 = within
    return x0 <= a <= x1 and y0 <= b <= y1 and z0 <= c <= z1


def _stand(world: World, rng: np.random.Generator, start: tuple[int, int], goal: Iterable[float]) -> None:
    me, (gx, _, gz) = world.player, goal
    me.x, me.y, me.z = start[0] + 0.5, float(_feet(world, *start)), start[1] + 0.5
    towards = math.degrees(math.atan2(-(gx - me.x), gz - me.z))
    me.yaw, me.pitch = towards + float(rng.uniform(-ASIDE_DEGREES, ASIDE_DEGREES)), 0.0


ORIGIN_TICKS = 20
"""Number of ticks after the commands until the scene is ready."""


def ready(world: World) -> World:
    """Return a copy of a world whose commands have just run, advanced by the idle ticks; the world itself does not change."""
    idle = world.fork()
    for _ in range(ORIGIN_TICKS):
        idle.step(*(Action() for _ in idle.players))
    return idle
