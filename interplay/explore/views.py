"""Pictures of a scene: what its player sees first, from above, and from four sides."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from interplay.explore.instance import GAMMA
from interplay.explore.rules import Point, cell
from interplay.world import Renderer, World
from interplay.world.registry.blocks import AIR
from interplay.world.render import figures
from interplay.world.render.camera import Camera

FIRST_PERSON, OVERHEAD = "first person", "overhead"
SIDES = {"north": 0.0, "east": 90.0, "south": 180.0, "west": -90.0}
"""Side from which the scene is seen -> yaw of who looks at it from there."""
VIEWS = (FIRST_PERSON, OVERHEAD, *SIDES)
SIZE = (480, 300)
"""Pixels of a picture."""
_AWAY, _UP, _DOWN_DEG = 22.0, 11.0, 24.0
"""Of the side views: blocks away from the middle and above it, and degrees down."""
_AROUND = 24
"""Blocks around the player in which the middle is looked for."""
_HIGH = 30.0
"""Blocks from which the overhead view looks down, north at the top."""


def middle(world: World, spawn: Point) -> Point:
    """The middle of what stands on the ground around a player who begins at `spawn`, at the height of their feet."""
    x, y, z = cell(spawn)
    low_x, low_z = max(0, x - _AROUND), max(0, z - _AROUND)
    window = world.grid.blocks[low_x : x + _AROUND, low_z : z + _AROUND, y : y + 16]
    cells = np.argwhere(window != AIR)
    if not len(cells):
        return spawn
    ends = [np.append(cells[:, axis] + low, here) for axis, low, here in ((0, low_x, x), (1, low_z, z))]
    across, along = ((float(one.min()) + float(one.max()) + 1) / 2 for one in ends)
    return across, spawn[1], along


def picture(world: World, spawn: Point, view: str, size: tuple[int, int] = SIZE) -> np.ndarray:
    """One view of a scene that is ready: uint8, shape (H, W, 3).

    Args:
        world: Only read.
        spawn: `facts.feet` of it.
        view: One of `VIEWS`.
        size: (width, height) in pixels.
    """
    renderer = Renderer(size, gamma=GAMMA)
    if view == FIRST_PERSON:
        return renderer.frame(world, Fraction(1))
    x, y, z = middle(world, spawn)
    if view == OVERHEAD:
        camera = Camera(x, y + _HIGH, z, 180.0, 90.0, renderer.fov, size)
    else:
        yaw = SIDES[view]
        ahead = {"north": (0, 1), "east": (-1, 0), "south": (0, -1), "west": (1, 0)}[view]
        camera = Camera(x - ahead[0] * _AWAY, y + _UP, z - ahead[1] * _AWAY, yaw, _DOWN_DEG, renderer.fov, size)
    shown = renderer.view(world.grid, camera, time=world.time, ticks=world.ticks, weather=world.weather)
    figures.draw(world, camera, shown, renderer.depth, renderer.gamma)
    return shown
