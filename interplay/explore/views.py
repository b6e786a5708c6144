"""Draw pictures of a scene: through the eyes of its player, from above, and from four sides."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from interplay.explore.instance import GAMMA
from interplay.explore.rules import Point, cell

if TYPE_CHECKING:
    from blockworld import World

FIRST_PERSON, OVERHEAD = "first person", "overhead"
SIDES = {"north": 0.0, "east": 90.0, "south": 180.0, "west": -90.0}
"""Side of the scene -> yaw of a camera there."""
VIEWS = (FIRST_PERSON, OVERHEAD, *SIDES)
SIZE = (480, 300)
_DOWN_DEG = 24.0
"""Degrees by which the side views look down; the overhead view looks straight down, with north at the top."""
_ROOM = 8.0
"""Least distance of the camera in blocks."""
_AROUND = 24
"""Distance in blocks around the player within which the middle of the scene is searched."""


def stands(world: World, spawn: Point) -> tuple[Point, float]:
    """Return the middle of the blocks that stand around a player at `spawn`, and half of their extent, both in blocks."""
    from blockworld.registry import AIR

    x, y, z = cell(spawn)
    low_x, low_z = max(0, x - _AROUND), max(0, z - _AROUND)
    window = world.grid.blocks[low_x : x + _AROUND, low_z : z + _AROUND, y : y + 16]
    cells = np.argwhere(window != AIR)
    xs, zs = (np.append(cells[:, axis] + low, here) for axis, low, here in ((0, low_x, x), (1, low_z, z)))
    middle = tuple((float(one.min()) + float(one.max()) + 1) / 2 for one in (xs, zs))
    half = max(float(xs.max() - xs.min()), float(zs.max() - zs.min()), float(cells[:, 2].max(initial=0))) / 2
    return (middle[0], spawn[1], middle[1]), half


def picture(world: World, spawn: Point, view: str, size: tuple[int, int] = SIZE) -> np.ndarray:
    """Draw one of `VIEWS` of a ready scene: uint8, shape (H, W, 3); `spawn` is its `facts.feet`, `size` is (width, height)."""
    from blockworld import Renderer
    from blockworld.render import Camera, figures

    renderer = Renderer(size, gamma=GAMMA)
    if view == FIRST_PERSON:
        return renderer.frame(world, Fraction(1))
    (x, y, z), half = stands(world, spawn)
    away = max(half + _ROOM, 2 * half)
    if view == OVERHEAD:
        camera = Camera(x, y + away + _ROOM, z, 180.0, 90.0, renderer.fov, size)
    else:
        yaw = SIDES[view]
        ahead = {"north": (0, 1), "east": (-1, 0), "south": (0, -1), "west": (1, 0)}[view]
        camera = Camera(x - ahead[0] * away, y + away / 2, z - ahead[1] * away, yaw, _DOWN_DEG, renderer.fov, size)
    shown = renderer.view(world.grid, camera, time=world.time, ticks=world.ticks, weather=world.weather)
    figures.draw(world, camera, shown, renderer.depth, renderer.gamma)
    return shown
