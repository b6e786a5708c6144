"""Drawing the display on pictures: the hand, and over it the operations of `display`.

Sizes are GUI pixels as in the game; a GUI pixel is `natural_scale` pixels of the picture.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import NamedTuple

import numpy as np
from numba import njit

from blockworld.errors import WorldError
from blockworld.render import display, exact, figures
from blockworld.render.camera import Camera
from blockworld.render.pieces import sprite
from blockworld.slots.screen import Screen
from blockworld.world_state import WorldState

MIN_HEIGHT = 240
"""Least height of a picture in GUI pixels. A smaller picture is enlarged, gets its display, and is then shrunk again."""


class Scales(NamedTuple):
    """Sizes of the display over a picture.

    Attributes:
        times: Factor by which the picture is enlarged before the display is drawn; afterwards it is shrunk.
        gui: Pixels of the enlarged picture per GUI pixel.
        panel: Pixels of the enlarged picture per GUI pixel of the open screen's panel; less than `gui` if it would not fit.
    """

    times: int
    gui: int
    panel: int


def natural_scale(width: int, height: int) -> int:
    """Pixels per GUI pixel in a picture of this size that is made for agents."""
    return max(1, min(height // MIN_HEIGHT, width // 320))


def scales(size: tuple[int, int], gui_scale: Fraction | None, screen: Screen | None) -> Scales:
    """Return the sizes of the display over a picture.

    Args:
        size: (width, height) of the picture.
        gui_scale: Pixels of the picture per GUI pixel; None for the natural scale.
        screen: The open screen; if its panel does not fit at `gui_scale`, it gets the largest scale at which it fits.

    >>> scales((640, 360), Fraction(2), None), scales((480, 270), Fraction(3, 2), None)
    (Scales(times=1, gui=2, panel=2), Scales(times=2, gui=3, panel=3))
    """
    width, height = size
    if gui_scale is None:
        times = max(1, -(-MIN_HEIGHT // height), -(-320 // width))
        gui = natural_scale(width * times, height * times)
        return Scales(times, gui, gui)
    times, gui = gui_scale.denominator, gui_scale.numerator
    if screen is None:
        return Scales(times, gui, gui)
    fits = min(width * times // screen.panel.width, height * times // screen.panel.height)
    return Scales(times, gui, min(gui, fits)) if fits else Scales(2 * times, 2 * gui, 1)


def shown(size: tuple[int, int], gui_scale: Fraction | None, screen: Screen) -> tuple[float, float]:
    """Return the size of the picture, (width, height), in GUI pixels of the open screen's panel."""
    times, _, panel = scales(size, gui_scale, screen)
    return size[0] * times / panel, size[1] * times / panel


# ---------------------------------------------------------------- pieces of a picture
class Sprite(NamedTuple):
    """A picture in a form that is quickly drawn on another picture.

    Attributes:
        colour: uint8, shape (H, W, 3).
        solid: bool, shape (H, W, 1): whether each pixel is opaque.
        alpha: uint16, shape (H, W, 1), 0 to 256, if some pixels are partly transparent; else None.
    """

    colour: np.ndarray
    solid: np.ndarray
    alpha: np.ndarray | None


def ready(picture: np.ndarray, scale: int = 1) -> Sprite:
    """Make a sprite of a picture (H, W, 4), enlarged `scale` times."""
    if scale > 1:
        picture = np.repeat(np.repeat(picture, scale, 0), scale, 1)
    alpha = picture[..., 3:]
    part = (alpha > 0) & (alpha < 255)
    blend = (alpha.astype(np.uint16) * 257) >> 8 if part.any() else None
    return Sprite(np.ascontiguousarray(picture[..., :3]), np.ascontiguousarray(alpha == 255), blend)


def put(frame: np.ndarray, sprite: Sprite, x: int, y: int) -> None:
    colour, solid, alpha = sprite
    height, width = colour.shape[:2]
    left, top = max(0, -x), max(0, -y)
    right, bottom = min(width, frame.shape[1] - x), min(height, frame.shape[0] - y)
    if right <= left or bottom <= top:
        return
    here = frame[y + top : y + bottom, x + left : x + right]
    if (left, top, right, bottom) != (0, 0, width, height):
        colour, solid = colour[top:bottom, left:right], solid[top:bottom, left:right]
        alpha = None if alpha is None else alpha[top:bottom, left:right]
    if alpha is None:
        np.copyto(here, colour, where=solid)
    else:
        here[...] = (here * (256 - alpha) + colour * alpha) >> 8


def fill(frame: np.ndarray, x: int, y: int, width: int, height: int, colour: Sequence[int]) -> None:
    frame[max(0, y) : max(0, y + height), max(0, x) : max(0, x + width)] = colour


@njit(cache=True)
def _veil(frame, red, green, blue, share):
    keep = 256 - share
    r, g, b = red * share, green * share, blue * share
    for j in range(frame.shape[0]):
        for i in range(frame.shape[1]):
            frame[j, i, 0] = (frame[j, i, 0] * keep + r) >> 8
            frame[j, i, 1] = (frame[j, i, 1] * keep + g) >> 8
            frame[j, i, 2] = (frame[j, i, 2] * keep + b) >> 8


@njit(cache=True)
def _enlarge(frame, times, canvas):
    for j in range(canvas.shape[0]):
        row, from_row = canvas[j], frame[j // times]
        for i in range(frame.shape[1]):
            red, green, blue = from_row[i, 0], from_row[i, 1], from_row[i, 2]
            for k in range(i * times, i * times + times):
                row[k, 0], row[k, 1], row[k, 2] = red, green, blue


@njit(cache=True)
def _shrink(canvas, times, frame):
    """Write the mean of every square of `times` x `times` pixels into `frame`, rounded down."""
    count = times * times
    for j in range(frame.shape[0]):
        for i in range(frame.shape[1]):
            red, green, blue = 0, 0, 0
            for m in range(j * times, j * times + times):
                for k in range(i * times, i * times + times):
                    red += canvas[m, k, 0]
                    green += canvas[m, k, 1]
                    blue += canvas[m, k, 2]
            frame[j, i, 0], frame[j, i, 1], frame[j, i, 2] = red // count, green // count, blue // count


@cache
def _sprite(key: str, scale: int) -> Sprite:
    picture, pixels = sprite(key, scale)
    return ready(picture, scale // pixels)


# ---------------------------------------------------------------- operations
def _crosshair(frame: np.ndarray, g: int) -> None:
    height, width = frame.shape[:2]
    x, y = width // 2, height // 2
    arm, thick = 4 * g, max(1, g)
    across = frame[y : y + thick, max(0, x - arm) : x + arm + thick]
    across[...] = 255 - across
    for part in (frame[max(0, y - arm) : y, x : x + thick], frame[y + thick : y + thick + arm, x : x + thick]):
        part[...] = 255 - part


def _flames(frame: np.ndarray, ticks: int) -> None:
    height, width = frame.shape[:2]
    columns = np.arange(0, width, 8)
    phase = ticks * 0.7
    slow, quick = (exact.each(exact.sin, angles) for angles in (columns * 0.05 + phase, columns * 0.13 - 1.7 * phase))
    tops = height * (0.84 - 0.07 * slow - 0.05 * quick)
    for x, top in zip(columns.tolist(), tops.astype(int).tolist(), strict=True):
        part = frame[top:, x : x + 8]
        part[...] = (part.astype(np.uint16) * 2 + np.array([250, 130, 26], np.uint16) * 3) // 5
        core = frame[min(height, top + (height - top) // 2) :, x : x + 8]
        core[...] = (core.astype(np.uint16) * 2 + np.array([255, 220, 90], np.uint16) * 2) // 4


_of_thread = threading.local()


def _scratch(shape: tuple[int, int]) -> np.ndarray:
    """Return a scratch array of depths, float32; each thread keeps its array for the next picture."""
    kept: dict[tuple[int, int], np.ndarray] | None = getattr(_of_thread, "depths", None)
    if kept is None:
        kept = _of_thread.depths = {}
    if shape not in kept:
        kept[shape] = np.empty(shape, np.float32)
    return kept[shape]


def _model(frame: np.ndarray, pose: np.ndarray, eye: Camera) -> None:
    depth = _scratch(frame.shape[:2])
    depth.fill(1e9)
    figures.paint(pose[None], figures.basis(eye), frame, depth)


def _portrait(frame: np.ndarray, x: int, y: int, g: int, pose: list[float]) -> None:
    wide, tall = display.PORTRAIT
    picture = np.ascontiguousarray(frame[max(0, y) : y + tall * g, max(0, x) : x + wide * g])
    if picture.shape[:2] == (tall * g, wide * g):
        _model(picture, np.array(pose), Camera(*display.PORTRAIT_EYE, 0.0, 0.0, display.PORTRAIT_FOV, display.PORTRAIT))
        frame[y : y + tall * g, x : x + wide * g] = picture


def _tooltip(frame: np.ndarray, written: Sprite, x: int, y: int, g: int) -> None:
    width, height = written.colour.shape[1] + 5 * g, written.colour.shape[0] + 4 * g
    x = min(x, frame.shape[1] - width - 2 * g)
    y = max(2 * g, y)
    box = frame[y : y + height, max(0, x) : x + width]
    box[...] = box // 12 + np.array([26, 20, 18], np.uint8)
    for edge in ((0, 0, width, g), (0, height - g, width, g), (0, 0, g, height), (width - g, 0, g, height)):
        fill(frame, x + edge[0], y + edge[1], edge[2], edge[3], (150, 112, 58))
    put(frame, written, x + 3 * g, y + 2 * g)


def paint(frame: np.ndarray, operations: Sequence[display.Operation], gui: int, panel: int) -> None:
    """Draw operations of `display` on a picture.

    Args:
        frame: uint8, shape (H, W, 3), changed in place.
        gui: Pixels of the picture per GUI pixel.
        panel: Pixels of the picture per GUI pixel of the open screen.
    """
    height, width = frame.shape[:2]
    g, left, top = gui, 0, 0
    for operation in operations:
        match operation:
            case "sprite", key, x, y:
                put(frame, _sprite(key, g), left + math.ceil(x * g), top + y * g)  # the middle of a line may be half a pixel
            case "fill", x, y, wide, tall, *colour:
                fill(frame, left + x * g, top + y * g, wide * g, tall * g, colour)
            case "veil", red, green, blue, share:
                _veil(frame, red, green, blue, share)
            case "flames", ticks:
                _flames(frame, ticks)
            case ("crosshair",):
                _crosshair(frame, g)
            case "title", key:
                title = _sprite(key, 2 * g)
                put(frame, title, (width - title.colour.shape[1] + 2 * g) // 2, height // 3)
            case ("bars",):
                left, top = width // 2, height
            case "panel", key:
                g, empty = panel, _sprite(key, panel)
                left, top = (width - empty.colour.shape[1]) // 2, (height - empty.colour.shape[0]) // 2
                put(frame, empty, left, top)
            case "cursor", x, y:
                left, top = left + math.floor(x * g), top + math.floor(y * g)
            case "lighten", x, y, wide, tall:
                x, y = left + x * g, top + y * g
                part = frame[max(0, y) : y + tall * g, max(0, x) : x + wide * g]
                part[...] = part + (255 - part) // 3
            case "portrait", x, y, pose:
                _portrait(frame, left + x * g, top + y * g, g, pose)
            case "tooltip", key, x, y:
                _tooltip(frame, _sprite(key, g), left + x * g, top + y * g, g)
            case ("pointer",):  # an arrow 16 pixels high whatever the scale below 3, as MineRL pastes it: its tip is the point
                put(frame, _sprite("pointer", max(1, g - 1)), left, top)
            case _:
                raise WorldError(f"{operation!r:.80} is not an operation of the display; render.display lists the operations")


def draw(world: WorldState, frame: np.ndarray, gui_scale: Fraction | None = None, gamma: float = 0.0) -> None:
    """Draw the hand, bars and screens over a picture of the world.

    Args:
        frame: uint8, shape (H, W, 3), any size; changed in place. Below 240 rows or 320 columns the display is drawn on an
            enlarged copy, so that it fits, and shrunk with the picture.
        gui_scale: Pixels of the picture per GUI pixel, for people; None for the scale that agents see.
        gamma: Gamma of the light on the hand, as in `daylight.brightness`.
    """
    height, width = frame.shape[:2]
    times, gui, panel = scales((width, height), gui_scale, world.screen)
    if times > 1:
        canvas = np.empty((height * times, width * times, 3), np.uint8)
        _enlarge(frame, times, canvas)
        _draw(world, canvas, gui, panel, gamma)
        _shrink(canvas, times, frame)
    else:
        _draw(world, frame, gui, panel, gamma)


def _draw(world: WorldState, frame: np.ndarray, gui: int, panel: int, gamma: float) -> None:
    held = display.hand(world, gamma)
    if held is not None:
        _model(frame, held, Camera(0.0, 0.0, 0.0, 0.0, 0.0, display.HAND_FOV, (frame.shape[1], frame.shape[0])))
    paint(frame, display.operations(world), gui, panel)
