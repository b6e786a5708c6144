"""Pictures of a world: blocks, then bodies, then bars and screens."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import Any, cast

import numba
import numpy as np

from blockworld.errors import WorldError
from blockworld.grid.grid import Grid
from blockworld.player import mining
from blockworld.raycaster.picture import first_steps, paint
from blockworld.raycaster.records import (
    FIELDS,
    FLAGS_SHIFT,
    LEVELS,
    STILL,
    TILE,
    WET,
    Box,
    Canvas,
    Cells,
    Looks,
    Marks,
    Range,
    Rays,
    Scenery,
    View,
)
from blockworld.render import exact, figures, hud
from blockworld.render.camera import Camera
from blockworld.render.daylight import brightness, of_sky, smooth
from blockworld.render.models import WATER, models
from blockworld.render.textures import atlas, texture
from blockworld.world_state import WorldState

int32: Any = numba.int32
f32 = np.float32
MOST_GAMMA = 8


def pyramid(pictures: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Make all mip levels of textures (uint8, shape (N, 16, 16, 4)): uint32 pixels, and int32 indices of each level's start.

    In a texture with holes, each level has the same share of visible pixels; leaves have no holes from the third level on.
    """
    number, now = len(pictures), pictures.astype(np.float64)
    binary = cast(np.ndarray, ~((now[..., 3] > 0) & (now[..., 3] < 255)).any((1, 2)))
    share = (now[..., 3] > 0).mean((1, 2))
    pages, starts = [], [0]
    for level in range(LEVELS):
        if level:
            weight = np.maximum(now[..., 3:], 1e-3)
            four = (now[..., :3] * weight).reshape(number, now.shape[1] // 2, 2, -1, 2, 3).sum((2, 4))
            total = weight.reshape(number, now.shape[1] // 2, 2, -1, 2, 1).sum((2, 4))
            alpha = now[..., 3].reshape(number, now.shape[1] // 2, 2, -1, 2).mean((2, 4))
            now = np.concatenate([four / total, alpha[..., None]], -1)
        shown = now.copy()
        if level:
            flat = np.sort(now[..., 3].reshape(number, -1), 1)
            place = np.clip(((1 - share * 1.08) * flat.shape[1]).astype(int), 0, flat.shape[1] - 1)
            bound = np.maximum(flat[np.arange(number), place], 1)[:, None, None]
            seen = now[..., 3] >= bound
            if level >= 2:
                seen |= (share > 0.7)[:, None, None]
            shown[..., 3] = np.where(binary[:, None, None], seen * 255, now[..., 3])
        bytes_ = np.clip(np.round(shown), 0, 255).astype(np.uint8)
        pages.append(np.ascontiguousarray(bytes_).view(np.uint32).reshape(-1))
        starts.append(starts[-1] + pages[-1].size)
    return np.concatenate(pages), np.array(starts[:-1], np.int32)


def _tiling(rng: np.random.Generator, side: int, cells: int) -> np.ndarray:
    """Make smooth noise from -1 to 1 that repeats without a seam: float64, shape (side, side)."""
    at = np.arange(side) * cells / side
    low = at.astype(int)
    part = at - low
    part = part * part * (3 - 2 * part)
    grid = rng.random((cells, cells)) * 2 - 1
    rows = grid[low] * (1 - part)[:, None] + grid[(low + 1) % cells] * part[:, None]
    return rows[:, low] * (1 - part) + rows[:, (low + 1) % cells] * part


@cache
def scenery() -> Scenery:
    rng = np.random.default_rng(1216)
    wide, near, fine = _tiling(rng, 256, 5), _tiling(rng, 256, 22), _tiling(rng, 256, 128)
    dry = 0.6 * wide + 0.4 * near
    land = np.stack([1 + 0.12 * dry + 0.03 * fine, 1 + 0.04 * dry + 0.035 * fine, 1 - 0.04 * dry + 0.03 * fine], -1)
    clouds = (
        0.55 * _tiling(rng, 256, 8) + 0.3 * _tiling(rng, 256, 20) + 0.16 * _tiling(rng, 256, 48) + 0.08 * _tiling(rng, 256, 100)
    )
    waves = _tiling(rng, 128, 12) + 0.6 * _tiling(rng, 128, 27) + 0.35 * _tiling(rng, 128, 60)
    slopes = np.stack([np.roll(waves, -1, 0) - waves, np.roll(waves, -1, 1) - waves], -1)
    return Scenery(land.astype(f32), clouds.astype(f32), slopes.astype(f32))


@cache
def tables() -> Looks:
    look = models()
    info = look.kind | look.wet.astype(np.uint32) * WET | look.flags.astype(np.uint32) << FLAGS_SHIFT
    info |= ((look.kind == WATER) & (look.height > 0.87)) * np.uint32(STILL)
    for stage in range(10):
        texture(f"crack_{stage}")
    pages, page_starts = pyramid(atlas())
    ranges = np.stack([look.box_start, look.num_boxes], -1).astype(np.int32).view(Range).reshape(-1)
    boxes = look.boxes.view(Box).reshape(-1)
    return Looks(info, look.faces, ranges, boxes, look.box_faces, look.height, look.glow, pages, page_starts)


class Renderer:
    """Draw pictures of a world.

    Args:
        size: (width, height) of the picture, in pixels.
        fov: Vertical angle of view, in degrees.
        distance: Distance in blocks up to which blocks are visible; fog hides all beyond.
        gamma: How much dark places are brightened, see `daylight.brightness`; MineRL uses 2.

    Attributes:
        depth: float32, shape (H, W): blocks from the eye to the surface in each pixel of the last picture; `distance` for
            pixels of the sky.

    Raises:
        WorldError: If a number is out of its range.
    """

    def __init__(
        self, size: tuple[int, int] = (640, 360), fov: float = 70.0, distance: float = 96.0, gamma: float = 0.0
    ) -> None:
        if len(size) != 2 or not all(1 <= side <= 4096 for side in size):
            raise WorldError(f"size is (width, height), each from 1 to 4096 pixels, got {size}")
        if not 10 <= fov <= 150:
            raise WorldError(f"fov is 10 to 150 degrees from bottom to top, got {fov}")
        if not 8 <= distance <= 512:
            raise WorldError(f"distance is 8 to 512 blocks, got {distance}")
        if not 0 <= gamma <= MOST_GAMMA:
            raise WorldError(f"gamma is 0 to {MOST_GAMMA}, got {gamma}; MineRL plays at 2")
        self.size, self.fov, self.distance, self.gamma = size, fov, distance, gamma
        width, height = size
        self.depth = np.zeros((height, width), f32)
        self._starts = np.zeros((-(-height // TILE), -(-width // TILE)), f32)
        self._columns, self._rays = np.empty((2, self._starts.shape[1] * TILE), f32), np.empty(1, Rays)

    def camera(self, world: WorldState) -> Camera:
        player = world.player
        return Camera(player.x, player.eye_y, player.z, player.yaw, player.pitch, self.fov, self.size)

    def frame(self, world: WorldState, gui_scale: Fraction | None = None) -> np.ndarray:
        """Draw the view of the player whose turn it is, with mobs, hand and screens: uint8, shape (H, W, 3).

        For another seat: `with world.acting(seat): picture = renderer.frame(world)`.

        Args:
            gui_scale: Scale of the bars and screens, see `hud.draw`.
        """
        camera = self.camera(world)
        looked_at = mining.target(world)
        begun = world.player.mining
        crack = None if begun is None else (*begun[:3], min(9, int(begun[3] * 10)))
        picture = self.view(
            world.grid,
            camera,
            time=world.time,
            ticks=world.ticks,
            weather=world.weather,
            selected=None if looked_at is None else looked_at[:3],
            crack=crack,
        )
        figures.draw(world, camera, picture, self.depth, self.gamma)
        hud.draw(world, picture, gui_scale, self.gamma)
        return picture

    def view(
        self,
        grid: Grid,
        camera: Camera,
        *,
        time: int = 6000,
        ticks: int = 0,
        weather: str = "clear",
        selected: tuple[int, int, int] | None = None,
        crack: tuple[int, int, int, int] | None = None,
    ) -> np.ndarray:
        """Draw only the blocks, seen from any camera: uint8, shape (H, W, 3). This also sets `depth`.

        Args:
            camera: The camera; its size must be that of this renderer.
            time: Time of day, 0 to 23,999.
            ticks: Ticks of the world, which move clouds and ripples.
            weather: `clear`, `rain` or `thunder`.
            selected: A block to outline.
            crack: A block being mined, and the stage of its cracks, 0 to 9.
        """
        width, height = self.size
        out = np.empty((height, width, 3), np.uint8)
        sx, sy, sz = grid.size
        tops = np.full((-(-sx // TILE), -(-sz // TILE)), -1, np.int16)
        flat = grid.blocks.reshape(-1), grid.light.reshape(-1), grid.skip.reshape(-1)
        cells = Cells(*flat, int32(sx), int32(sy), int32(sz), tops)
        bright = brightness(of_sky(time, weather), self.gamma)
        looked_from = self.numbers(grid, camera, time, ticks, weather, bright).view(View)[0]
        marks = np.full(7, -1, np.int32)
        if selected is not None:
            marks[:3] = selected
        if crack is not None:
            marks[3:6], marks[6] = crack[:3], texture(f"crack_{crack[3]}")
        canvas = Canvas(self._starts, self._columns, self._rays, out, self.depth)
        first_steps(cells, looked_from, width, height, 0, 1, self._starts)
        paint(cells, tables(), scenery(), bright, looked_from, marks.view(Marks)[0], canvas, 0, 1)
        return out

    def numbers(self, grid: Grid, camera: Camera, time: int, ticks: int, weather: str, bright: np.ndarray) -> np.ndarray:
        """Return a picture's `View` as numbers, float32, shape (NUM_NUMBERS,); `bright` comes from `daylight.brightness`."""
        tan = exact.tan(math.radians(camera.fov) / 2)
        angle = time / 24000 * 2 * math.pi
        height = exact.sin(angle)
        sun = np.array([exact.cos(angle), height * 0.94, -height * 0.34])
        day, clear = of_sky(time, weather), {"rain": 0.25, "thunder": 0.1}.get(weather, 1.0)
        low = exact.exp(-((height / 0.2) ** 2))  # around sunrise and sunset
        grey = np.array([150.0, 158.0, 166.0]) * max(day, 0.08)
        horizon = np.array([192.0, 214.0, 234.0]) * day + np.array([14.0, 18.0, 34.0]) * (1 - day)
        horizon += low * clear * np.array([26.0, -6.0, -30.0])
        zenith = np.array([88.0, 142.0, 214.0]) * day + np.array([3.0, 5.0, 15.0]) * (1 - day)
        cloud = (np.array([250.0, 251.0, 253.0]) * day + np.array([20.0, 22.0, 34.0]) * (1 - day)) * (0.7 + 0.3 * clear)
        slant = 0.10 * sun[0] * max(0.0, day - 0.2)
        sky, block = grid.lights(math.floor(camera.x), math.floor(camera.y), math.floor(camera.z))
        fields = {
            "eye": (camera.x, camera.y, camera.z),
            **dict(zip(("right", "up", "ahead"), camera.axes, strict=True)),
            "sun": sun,
            "horizon": horizon * clear + grey * (1 - clear),
            "zenith": zenith * clear + grey * 0.85 * (1 - clear),
            "glow": (np.array([230.0, 96.0, 6.0]) * low + np.array([22.0, 20.0, 12.0]) * day) * clear,
            "cloud": cloud + low * clear * np.array([20.0, -14.0, -30.0]),
            "tan": (tan * camera.size[0] / camera.size[1], tan),
            "far": self.distance,
            "pixel": 2 * tan / camera.size[1],
            "drift": ticks * 0.0025 % 256,
            "stars": (1 - of_sky(time)) ** 2 * clear,
            "cover": 0.02 if weather == "clear" else 0.5,
            "ripple": ticks * 0.02 % 16 + 4096,
            "disc": clear * smooth(sun[1], -0.12, 0.05),
            "shade": (0.66 - slant, 0.66 + slant, 0.84, 0.76, 1.0, 0.52),
            "eye_light": bright[sky * 16 + block],
        }
        return np.hstack([fields[name] for name in FIELDS]).astype(f32)
