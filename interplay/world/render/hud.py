"""What lies over the picture of the world: the bars at the bottom, the thing in the hand, screens with slots and the cursor.

Sizes are GUI pixels as in the game (a hotbar of 182 x 22, panels 176 x 166), each `scale_of(frame)` pixels of the picture. All
of it is drawn here in code: warm stone panels, slots pressed into them, letters of our own font.
"""

from __future__ import annotations

import math
import threading
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

from interplay.world.player import clicks, inventory, panels, screens
from interplay.world.registry import trades
from interplay.world.registry.blocks import name_of
from interplay.world.registry.items import BY_NAME
from interplay.world.render import exact, figures, font, icons
from interplay.world.render.skins import FRONT, Body, Colour, Part, coated, paint, patches
from interplay.world.render.sprites import shaded
from interplay.world.state import OFFHAND, Player, Stack

if TYPE_CHECKING:
    from interplay.world.player.screens import Screen
    from interplay.world.world import World

MIN_HEIGHT = 240
"""GUI pixels that fit above each other at least; smaller pictures are drawn larger first and shrunk after."""
SWING_TICKS = 6

PANEL: Colour = (197, 190, 181)
SLOT: Colour = (142, 134, 126)
INK: Colour = (66, 60, 56)
SHIRT: Colour = (190, 106, 52)
"""Of the player, whose sleeve the bare hand shows."""
TITLES = {"inventory": "Crafting", "crafting_table": "Crafting", "villager": "Trades", "large_chest": "Large Chest"}


class Scales(NamedTuple):
    """How large the display is drawn over a picture.

    Attributes:
        times: The display is drawn on a picture so many times as large, which is shrunk after.
        gui: Pixels of that larger picture per GUI pixel.
        panel: The same of the open screen's panel, which is smaller where it would not fit.
    """

    times: int
    gui: int
    panel: int


def scale_of(frame: np.ndarray) -> int:
    """Pixels of a picture per GUI pixel."""
    return natural_scale(frame.shape[1], frame.shape[0])


def natural_scale(width: int, height: int) -> int:
    """Pixels per GUI pixel in a picture of this size, as agents see it."""
    return max(1, min(height // MIN_HEIGHT, width // 320))


def scales(size: tuple[int, int], gui_scale: Fraction | None, screen: Screen | None) -> Scales:
    """How large to draw over a picture.

    Args:
        size: (width, height) of the picture.
        gui_scale: Pixels of it per GUI pixel; None for the natural scale.
        screen: The open one: a panel that does not fit at `gui_scale` gets the largest scale at which it does.

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
    """GUI pixels, (width, height), that a picture shows around an open screen."""
    times, _, panel = scales(size, gui_scale, screen)
    return size[0] * times / panel, size[1] * times / panel


# ---------------------------------------------------------------- pieces of a picture
class Sprite(NamedTuple):
    """A picture ready to be put on another.

    Attributes:
        colour: uint8, shape (H, W, 3).
        solid: bool, shape (H, W, 1): where it hides what is behind.
        alpha: uint16, shape (H, W, 1), 0 to 256, if parts of it are see-through; else None.
    """

    colour: np.ndarray
    solid: np.ndarray
    alpha: np.ndarray | None


def ready(picture: np.ndarray, scale: int = 1) -> Sprite:
    """A picture (H, W, 4), enlarged, as a sprite."""
    if scale > 1:
        picture = np.repeat(np.repeat(picture, scale, 0), scale, 1)
    alpha = picture[..., 3:]
    part = (alpha > 0) & (alpha < 255)
    blend = (alpha.astype(np.uint16) * 257) >> 8 if part.any() else None
    return Sprite(np.ascontiguousarray(picture[..., :3]), np.ascontiguousarray(alpha == 255), blend)


def put(frame: np.ndarray, sprite: Sprite, x: int, y: int) -> None:
    """Draw a sprite with its upper left at x, y; what reaches outside is cut off."""
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


def fill(frame: np.ndarray, x: int, y: int, width: int, height: int, colour: Colour) -> None:
    """Fill a rectangle, cut off at the edges of the picture."""
    frame[max(0, y) : max(0, y + height), max(0, x) : max(0, x + width)] = colour


@njit(cache=True)
def _veil(frame, red, green, blue, share):
    """Mix a colour into a picture: `share` of 256."""
    keep = 256 - share
    r, g, b = red * share, green * share, blue * share
    for j in range(frame.shape[0]):
        for i in range(frame.shape[1]):
            frame[j, i, 0] = (frame[j, i, 0] * keep + r) >> 8
            frame[j, i, 1] = (frame[j, i, 1] * keep + g) >> 8
            frame[j, i, 2] = (frame[j, i, 2] * keep + b) >> 8


@njit(cache=True)
def _enlarge(frame, times, canvas):
    """Every pixel as a square of `times` by `times`."""
    for j in range(canvas.shape[0]):
        row, from_row = canvas[j], frame[j // times]
        for i in range(frame.shape[1]):
            red, green, blue = from_row[i, 0], from_row[i, 1], from_row[i, 2]
            for k in range(i * times, i * times + times):
                row[k, 0], row[k, 1], row[k, 2] = red, green, blue


@njit(cache=True)
def _shrink(canvas, times, frame):
    """The mean of every square, rounded down."""
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


def veil(frame: np.ndarray, colour: Colour, share: float) -> None:
    """Mix a colour into the whole picture: `share` from 0 to 1."""
    _veil(frame, *colour, round(256 * min(1.0, max(0.0, share))))


@cache
def _text(text: str, colour: Colour, scale: int, shadow: bool) -> Sprite:
    letters = font.written(text)
    picture = np.zeros((letters.shape[0] + 1, letters.shape[1] + 1, 4), np.uint8)
    if shadow:
        picture[1:, 1:][letters] = (*(c // 4 for c in colour), 255)
    picture[:-1, :-1][letters] = (*colour, 255)
    return ready(picture, scale)


def write(
    frame: np.ndarray, text: str, x: int, y: int, colour: Colour = (255, 255, 255), *, scale: int = 1, shadow: bool = True
) -> int:
    """Write a line of text with its upper left at x, y; returns its width in pixels."""
    sprite = _text(text, colour, scale, shadow)
    put(frame, sprite, x, y)
    return sprite.colour.shape[1]


@cache
def _icon(name: str, scale: int) -> Sprite:
    return ready(icons.icon(name, scale))


# ---------------------------------------------------------------- small pictures
_HEART = ["..kk.kk..", ".kmmkmmk.", "kmwmmmmmk", "kmmmmmmmk", "kmmmmmmmk", ".kmmmmmk.", "..kmmmk..", "...kmk...", "....k...."]
_DRUMSTICK = [
    "..kkkk...",
    ".kmmmmk..",
    "kmwmmmmk.",
    "kmwmmmmk.",
    "kmmmmmmk.",
    ".kmmmmmk.",
    "..kkkksk.",
    "......ksk",
    ".......k.",
]
_SHIRT = ["kkk...kkk", "kmmkkkmmk", "kmmmmmmmk", "kmwmmmmmk", ".kmmmmmk.", ".kmmmmmk.", ".kmmmmmk.", ".kkmmmkk.", "..kkkkk.."]
_BUBBLE = ["..kkkk...", ".kbbbbk..", "kbwwbbbk.", "kbwbbbbk.", "kbbbbbbk.", "kbbbbbwk.", ".kbbbbk..", "..kkkk...", "........."]
_FLAME = [
    "......f.......",
    "......ff......",
    "...f..fff.....",
    "...ff.ffff....",
    "..fff.ffff.f..",
    "..ffffyyff.ff.",
    ".fffyyyyffff..",
    ".ffyyyyyyyff..",
    ".ffyywwyyyff..",
    ".ffywwwwyyff..",
    "..fywwwwwyf...",
    "..ffywwwyff...",
    "...ffyyyff....",
    "....ffff......",
]
_ARROW = [
    "...............m........",
    "...............mm.......",
    "...............mmm......",
    "...............mmmm.....",
    "...............mmmmm....",
    "mmmmmmmmmmmmmmmmmmmmm...",
    "mmmmmmmmmmmmmmmmmmmmmm..",
    "mmmmmmmmmmmmmmmmmmmmmmm.",
    "mmmmmmmmmmmmmmmmmmmmmmm.",
    "mmmmmmmmmmmmmmmmmmmmmm..",
    "mmmmmmmmmmmmmmmmmmmmm...",
    "...............mmmmm....",
    "...............mmmm.....",
    "...............mmm......",
    "...............mm.......",
    "...............m........",
]
_POINTER = [
    "k...........",
    "kk..........",
    "kwk.........",
    "kwwk........",
    "kwwwk.......",
    "kwwwwk......",
    "kwwwwwk.....",
    "kwwwwwwk....",
    "kwwwwwwwk...",
    "kwwwwwwwwk..",
    "kwwwwwwwwwk.",
    "kwwwwwwkkkkk",
    "kwwwkwwk....",
    "kwwkkwwwk...",
    "kkk..kwwk...",
    "......kkk...",
]
_COLOURS: dict[str, Colour] = {
    "k": (30, 20, 22),
    "w": (255, 236, 232),
    "f": (236, 122, 30),
    "y": (252, 206, 70),
    "s": (236, 226, 208),
    "b": (96, 166, 240),
}


def _drawn(rows: list[str], main: Colour, **others: Colour) -> np.ndarray:
    colours = {**_COLOURS, **others, "m": main}
    picture = np.zeros((len(rows), max(map(len, rows)), 4), np.uint8)
    for r, row in enumerate(rows):
        for c, letter in enumerate(row):
            if letter != ".":
                picture[r, c] = (*colours[letter], 255)
    return picture


@cache
def _mark(name: str, scale: int) -> Sprite:
    """One of the small pictures of the bars: `heart`, `half heart`, `no heart`, the same of `food` and `armour`, `bubble`..."""
    rows = {"heart": _HEART, "food": _DRUMSTICK, "armour": _SHIRT, "bubble": _BUBBLE, "pop": _BUBBLE}[name.split()[-1]]
    main = {"heart": (222, 40, 44), "food": (176, 108, 52), "armour": (210, 212, 216)}.get(name.split()[-1], (0, 0, 0))
    if name == "pop":
        rows = [
            "...b.....",
            ".b.......",
            "......b..",
            "b........",
            "........b",
            ".b.......",
            ".....b...",
            "...b.....",
            ".........",
        ]
        return ready(_drawn(rows, main), scale)
    if name.startswith(("no ", "half ")):
        empty = _drawn(rows, (58, 50, 50), w=(58, 50, 50), s=(58, 50, 50))
        if name.startswith("half "):
            # Hearts and shirts fill from the left, food from the right
            left = name != "half food"
            full = _drawn(rows, main)
            part = np.s_[:, :5] if left else np.s_[:, 4:]
            empty[part] = full[part]
        return ready(empty, scale)
    shade = {"food": {"w": (214, 150, 88)}}.get(name, {})
    return ready(_drawn(rows, main, **shade), scale)


@cache
def _bar(scale: int) -> tuple[Sprite, Sprite]:
    """The hotbar, 182 x 22, and the frame of the selected slot, 24 x 24."""
    bar = np.zeros((22, 182, 4), np.uint8)
    bar[...] = (58, 52, 50, 150)
    bar[[0, -1]] = bar[:, [0, -1]] = (26, 22, 22, 235)
    bar[1, 1:-1] = bar[1:-1, 1] = (126, 118, 110, 220)
    bar[-2, 1:-1] = bar[1:-1, -2] = (92, 86, 80, 220)
    for slot in range(1, 9):
        bar[1:-1, slot * 20 + 1] = (126, 118, 110, 200)
        bar[1:-1, slot * 20] = (82, 76, 72, 200)
    frame = np.zeros((24, 24, 4), np.uint8)
    frame[:, :] = (40, 34, 32, 255)
    frame[1:-1, 1:-1] = (246, 240, 226, 255)
    frame[2:-1, 2:-1] = (198, 188, 170, 255)
    frame[3:-3, 3:-3] = 0
    return ready(bar, scale), ready(frame, scale)


def _pressed(picture: np.ndarray, x: int, y: int, width: int, height: int, colour: Colour = SLOT) -> None:
    """A rectangle pressed into a panel, with a border of one pixel."""
    picture[y : y + height, x : x + width] = colour
    picture[y, x : x + width] = picture[y : y + height, x] = (92, 84, 78)
    picture[y + height - 1, x : x + width] = picture[y : y + height, x + width - 1] = (238, 232, 222)
    picture[y, x + width - 1] = picture[y + height - 1, x] = colour


@cache
def _panel(kind: str, scale: int) -> Sprite:
    """An empty panel with its slots, title and signs."""
    layout = panels.panel(kind)
    width, height = layout.width, layout.height
    grain = np.random.default_rng(4).normal(0, 1.6, (height, width, 1))
    colour = np.clip(np.array(PANEL) + grain, 0, 255).astype(np.uint8)
    for inset, light, dark in ((0, INK, INK), (1, (246, 241, 232), (120, 112, 106)), (2, (230, 224, 214), (150, 142, 134))):
        colour[inset, inset : width - inset] = colour[inset : height - inset, inset] = light
        colour[height - 1 - inset, inset : width - inset] = colour[inset : height - inset, width - 1 - inset] = dark
    for place in layout.places:
        if place.owner == "option" and kind == "villager":
            colour[place.y : place.y + place.height, place.x : place.x + place.width] = (176, 168, 158)
            colour[place.y, place.x : place.x + place.width] = (222, 214, 204)
            colour[place.y + place.height - 1, place.x : place.x + place.width] = (128, 120, 112)
        elif place.owner == "option":
            _pressed(colour, place.x, place.y, place.width, place.height, (166, 158, 148))
        elif place.owner == "scroll":
            _pressed(colour, place.x, place.y, place.width, place.height, (158, 150, 142))
        elif place.owner == "result" and kind != "inventory":
            _pressed(colour, place.x - 5, place.y - 5, 26, 26)
        else:
            _pressed(colour, place.x - 1, place.y - 1, 18, 18)
    arrow = _drawn(_ARROW, (130, 122, 114))
    at = {
        "crafting_table": (90, 35),
        "furnace": (79, 35),
        "blast_furnace": (79, 35),
        "smoker": (79, 35),
        "villager": (187, 38),
    }.get(kind)
    if at:
        _stamp(colour, arrow, *at)
    if kind == "inventory":
        small = _drawn([row[9:] for row in _ARROW[2:-2]], (130, 122, 114))
        _stamp(colour, small, 136, 30)
        _pressed(colour, 25, 7, 51, 72, (54, 48, 50))
        for index, name in enumerate(("leather_helmet", "leather_chestplate", "leather_leggings", "leather_boots")):
            _shadow(colour, name, 8, 8 + 18 * index)
        _shadow(colour, "shield", 77, 62)
    if kind in ("furnace", "blast_furnace", "smoker"):
        _stamp(colour, _drawn(_FLAME, (122, 114, 106), f=(128, 120, 112), y=(128, 120, 112), w=(128, 120, 112)), 57, 37)
    title = TITLES.get(kind, kind.replace("_", " ").title())
    x = {"inventory": 97, "crafting_table": 28, "villager": 107}.get(kind, 8)
    if kind in ("furnace", "blast_furnace", "smoker"):
        x = (width - font.written(title).shape[1]) // 2
    _stamp(colour, _text(title, INK, 1, False), x, 5)
    if kind != "inventory":
        first = next(place for place in layout.places if place.owner == "player" and place.index == 9)
        _stamp(colour, _text("Inventory", INK, 1, False), first.x, first.y - 11)
    picture = np.full((height, width, 4), 255, np.uint8)
    picture[..., :3] = colour
    for y, x in ((0, 0), (0, width - 1), (height - 1, 0), (height - 1, width - 1)):
        picture[y, x] = 0
    return ready(picture, scale)


def _stamp(colour: np.ndarray, picture: np.ndarray | Sprite, x: int, y: int) -> None:
    put(colour, picture if isinstance(picture, Sprite) else ready(picture), x, y)


def _shadow(colour: np.ndarray, name: str, x: int, y: int) -> None:
    """The outline of what belongs into a slot."""
    there = icons.icon(name)[..., 3] > 0
    part = colour[y : y + 16, x : x + 16]
    part[there] = (part[there] * 0.86).astype(np.uint8)


# ---------------------------------------------------------------- stacks
def _stack(frame: np.ndarray, stack: Stack | None, x: int, y: int, scale: int) -> None:
    """An item with how many there are and how worn it is, its 16 x 16 with the upper left at x, y."""
    if stack is None or stack.count <= 0 or stack.item not in BY_NAME:
        return
    put(frame, _icon(stack.item, scale), x, y)
    durability = BY_NAME[stack.item].durability
    if durability and stack.damage > 0:
        left = max(0.0, 1 - stack.damage / durability)
        fill(frame, x + 2 * scale, y + 13 * scale, 13 * scale, 2 * scale, (12, 10, 10))
        colour = (round(255 * min(1, 2 - 2 * left)), round(255 * min(1, 2 * left)), 30)
        fill(frame, x + 2 * scale, y + 13 * scale, max(1, round(13 * left)) * scale, scale, colour)
    if stack.count > 1:
        sprite = _text(str(stack.count), (255, 255, 255), scale, True)
        put(frame, sprite, x + 18 * scale - sprite.colour.shape[1], y + 9 * scale)


def label(stack: Stack) -> str:
    """The name of a stack as a person reads it.

    >>> label(Stack("oak_planks", 3))
    'Oak Planks'
    """
    name = (stack.tag or {}).get("name")
    return name if isinstance(name, str) else stack.item.replace("_", " ").title()


# ---------------------------------------------------------------- the parts of the display
def _bars(world: World, frame: np.ndarray, g: int) -> None:
    """The hotbar, and above it hearts, food, armour, air and experience."""
    player = world.player
    height, width = frame.shape[:2]
    left, bottom = width // 2 - 91 * g, height
    bar, chosen = _bar(g)
    put(frame, bar, left, bottom - 22 * g)
    put(frame, chosen, left + (player.hotbar * 20 - 1) * g, bottom - 23 * g)
    for slot in range(9):
        _stack(frame, player.slots[slot], left + (3 + slot * 20) * g, bottom - 19 * g, g)
    if player.slots[OFFHAND] is not None:
        fill(frame, left - 29 * g, bottom - 22 * g, 22 * g, 22 * g, (46, 42, 40))
        fill(frame, left - 28 * g, bottom - 21 * g, 20 * g, 20 * g, (104, 98, 92))
        _stack(frame, player.slots[OFFHAND], left - 26 * g, bottom - 19 * g, g)
    if player.game_mode in ("creative", "spectator"):
        return
    fill(frame, left, bottom - 29 * g, 182 * g, 5 * g, (24, 20, 20))
    fill(frame, left + g, bottom - 28 * g, 180 * g, 3 * g, (62, 66, 50))
    if player.level > 0:
        text = str(player.level)
        write(frame, text, width // 2 - font.written(text).shape[1] * g // 2, bottom - 35 * g, (150, 240, 70), scale=g)
    _row(frame, "heart", math.ceil(player.health), left, bottom - 39 * g, g)
    _row(frame, "food", player.food, left + 173 * g, bottom - 39 * g, -g)
    armour = inventory.armour_points(player.slots)[0]
    if armour:
        _row(frame, "armour", armour, left, bottom - 49 * g, g)
    if player.air < 300:
        whole = max(0, math.ceil((player.air - 2) * 10 / 300))
        popping = max(0, math.ceil(player.air * 10 / 300)) - whole
        for index in range(whole + popping):
            put(frame, _mark("bubble" if index < whole else "pop", g), left + (173 - 8 * index) * g, bottom - 49 * g)


def _row(frame: np.ndarray, name: str, halves: int, x: int, y: int, step: int) -> None:
    """Ten marks, of which `halves` half ones are full; `step` is the scale, negative to fill from the right."""
    for index in range(10):
        filled = halves - 2 * index
        kind = name if filled >= 2 else f"half {name}" if filled == 1 else f"no {name}"
        put(frame, _mark(kind, abs(step)), x + 8 * step * index, y)


def _crosshair(frame: np.ndarray, g: int) -> None:
    height, width = frame.shape[:2]
    x, y = width // 2, height // 2
    arm, thick = 4 * g, max(1, g)
    across = frame[y : y + thick, max(0, x - arm) : x + arm + thick]
    across[...] = 255 - across
    for part in (frame[max(0, y - arm) : y, x : x + thick], frame[y + thick : y + thick + arm, x : x + thick]):
        part[...] = 255 - part


@cache
def _arm() -> int:
    """The bare arm, as a model of figures."""
    arm = Part((0, 0, 0), (-2, -12, -2, 2, 2, 2), (206, 156, 122), grain=4)
    coated([arm], "arm")
    for face in range(6):
        rows = arm.faces[face].shape[0]
        if rows > 4:
            arm.faces[face][:6, :, :3] = (arm.faces[face][:6, :, :3] * 0.1 + np.array(SHIRT) * 0.9).astype(np.uint8)
    return figures.WARDROBE.add(Body([arm]))


_of_thread = threading.local()


def _scratch(shape: tuple[int, int]) -> np.ndarray:
    """Depths to draw with, float32, kept for the next picture of this thread."""
    kept: dict[tuple[int, int], np.ndarray] | None = getattr(_of_thread, "depths", None)
    if kept is None:
        kept = _of_thread.depths = {}
    if shape not in kept:
        kept[shape] = np.empty(shape, np.float32)
    return kept[shape]


class _Eye(NamedTuple):
    """A camera of its own for what is held: at the origin, looking along +z."""

    x: float
    y: float
    z: float
    yaw: float
    pitch: float
    fov: float
    size: tuple[int, int]


def _hand(world: World, frame: np.ndarray, gamma: float) -> None:
    """The thing in the hand, or the bare arm, at the lower right."""
    player = world.player
    height, width = frame.shape[:2]
    swing = min(1.0, player.swing / SWING_TICKS)
    reach, dip = exact.sin(swing * math.pi), exact.sin(math.sqrt(swing) * math.pi)
    pose = np.zeros((1, figures.POSE))
    row = pose[0]
    row[figures.SCALE] = 1.0
    cell = tuple(math.floor(value) for value in (player.x, player.eye_y, player.z))
    sky, block = world.grid.lights(*cell)
    row[figures.RED : figures.BLUE + 1] = figures.brightness(sky * 16 + block, world.time, world.weather, gamma)
    stack = player.in_hand
    if player.eating:
        x, y = 0.16, -0.36 + 0.03 * exact.sin(player.eating * 1.6)
    else:
        x, y = 0.64 - 0.32 * reach, -0.52 + 0.12 * dip - 0.06 * reach
    z = 0.90 + 0.10 * reach
    row[figures.X], row[figures.Y], row[figures.Z] = -x, y, z
    if stack is None or stack.item not in BY_NAME:
        row[figures.MODEL] = _arm()
        row[figures.X : figures.Z + 1] = -0.86 + 0.24 * reach, -0.74 + 0.14 * dip, 0.80 + 0.1 * reach
        row[figures.PITCH], row[figures.YAW] = math.radians(-122 + 14 * reach), math.radians(-30 - 14 * reach)
        row[figures.ROLL] = math.radians(-14)
    elif not figures.WARDROBE.is_flat(stack.item):
        row[figures.MODEL] = figures.WARDROBE.item(stack.item, 5.0)
        row[figures.Y] -= 0.06
        row[figures.YAW] = math.radians(45 - 30 * reach)
        row[figures.PITCH] = math.radians(24 * reach)
    else:
        tool = BY_NAME[stack.item].kind in ("sword", "shovel", "pickaxe", "axe", "hoe") or stack.item in (
            "stick",
            "bone",
            "fishing_rod",
            "trident",
        )
        row[figures.MODEL] = figures.WARDROBE.item(stack.item, 8.5 if tool else 6.0)
        row[figures.Y] -= 0.05 if tool else 0.0
        row[figures.YAW] = math.radians((58 if tool else 28) - 26 * reach)
        row[figures.PITCH] = math.radians((16 if tool else 0) + 52 * dip)
        row[figures.ROLL] = math.radians(-14 if tool else 0)
        if player.drawing:
            pulled = min(1.0, player.drawing / 20)
            row[figures.X], row[figures.Y], row[figures.Z] = -0.34, -0.44, 0.80 - 0.08 * pulled
            row[figures.YAW], row[figures.ROLL] = math.radians(70), math.radians(-8 * pulled)
    depth = _scratch((height, width))
    depth.fill(1e9)
    figures.paint(pose, figures.basis(_Eye(0.0, 0.0, 0.0, 0.0, 0.0, 70.0, (width, height))), frame, depth)


def _moods(world: World, frame: np.ndarray) -> None:
    """Water over the eyes, a blow, fire, sleep and death, as colours over everything."""
    player = world.player
    x, z = math.floor(player.x), math.floor(player.z)
    y = math.floor(player.eye_y)
    inside = name_of(world.grid.get(x, y, z)) if world.grid.inside(x, y, z) else "air"
    if inside in ("water", "seagrass", "tall_seagrass", "kelp", "kelp_plant", "bubble_column"):
        veil(frame, (18, 52, 128), 0.14)  # the renderer has clouded the distance already
    elif inside == "lava":
        veil(frame, (226, 84, 10), 0.72)
    if player.burning > 0 and inside != "lava":
        _flames(frame, world.ticks)
    if player.invulnerable > 0 and not player.dead:
        veil(frame, (200, 16, 12), 0.03 * min(10, player.invulnerable))


def _flames(frame: np.ndarray, ticks: int) -> None:
    """Fire licking up from the lower edge."""
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


# ---------------------------------------------------------------- screens
@cache
def _likeness() -> int:
    """The player, as a model of figures: short hair, a teal shirt, brown trousers."""
    skin, hair = (206, 156, 122), (52, 40, 44)
    head = Part((0, 24, 0), (-4, 0, -4, 4, 8, 4), skin, head=True, grain=3)
    body = Part((0, 12, 0), (-4, 0, -2, 4, 12, 2), SHIRT, grain=5)
    arms = [Part((x, 22, 0), (-2, -10, -2, 2, 2, 2), skin, grain=4) for x in (6, -6)]
    legs = [Part((x, 12, 0), (-2, -12, -2, 2, 0, 2), (58, 66, 92), grain=5) for x in (2, -2)]
    parts = coated([head, body, *arms, *legs], "player")
    for face in range(5):
        rows = 8 if face == 4 else 2 if face == FRONT else 4
        head.faces[face][:rows, :, :3] = np.array(hair) + (head.faces[face][:rows, :, :3].astype(int) % 5)
    paint(head, FRONT, ["hhhhhhhh", "hhhhhhhh", "h......h", "........", ".wb..bw.", "...nn...", "..mmmm.."], {
        "h": hair, "w": (250, 250, 250), "b": (52, 88, 140), "n": (176, 124, 94), "m": (160, 92, 80),
    })  # fmt: skip
    for arm in arms:
        for face in range(4):
            arm.faces[face][:4, :, :3] = np.clip(np.array(SHIRT) + (arm.faces[face][:4, :, :3].astype(int) % 7) - 3, 0, 255)
    for leg in legs:
        for face in range(4):
            leg.faces[face][-2:, :, :3] = (74, 52, 38)
    patches([body], (170, 92, 44), 0.15, "shirt")
    return figures.WARDROBE.add(Body(parts))


def _portrait(frame: np.ndarray, x: int, y: int, g: int, looks: tuple[float, float]) -> None:
    """The player in the window of the inventory, 49 x 70, looking at the cursor."""
    picture = np.ascontiguousarray(frame[max(0, y) : y + 70 * g, max(0, x) : x + 49 * g])
    if picture.shape[:2] != (70 * g, 49 * g):
        return
    pose = np.zeros((1, figures.POSE))
    row = pose[0]
    row[figures.MODEL], row[figures.SCALE], row[figures.Z] = _likeness(), 1.0, 7.4
    yaw, pitch = -exact.atan2(float(looks[0]), 40.0), exact.atan2(float(looks[1]), 40.0)
    row[figures.YAW], row[figures.HEAD_YAW], row[figures.HEAD_PITCH] = math.pi + 0.5 * yaw, 0.5 * yaw, 0.6 * pitch
    row[figures.RED : figures.BLUE + 1] = 1.0
    depth = _scratch(picture.shape[:2])
    depth.fill(1e9)
    figures.paint(pose, figures.basis(_Eye(0.0, 1.0, 0.0, 0.0, 0.0, 17.0, (49, 70))), picture, depth)
    frame[y : y + 70 * g, x : x + 49 * g] = picture


def _cooking(world: World, screen: Screen, frame: np.ndarray, x: int, y: int, g: int) -> None:
    container = world.containers.get(screen.position) if screen.position else None
    if container is None:
        return
    if container.burn > 0 and container.burn_total > 0:
        rows = max(1, math.ceil(14 * container.burn / container.burn_total))
        flame = _drawn(_FLAME, (0, 0, 0), w=(255, 246, 190))
        put(frame, ready(flame[14 - rows :], g), x + 57 * g, y + (37 + 14 - rows) * g)
    total = 200 if container.kind == "furnace" else 100
    columns = min(23, 23 * container.cook // total)
    if columns > 0:
        arrow = _drawn(_ARROW, (250, 244, 232))
        put(frame, ready(np.ascontiguousarray(arrow[:, :columns]), g), x + 79 * g, y + 35 * g)


@cache
def _offered(still: bool, scale: int) -> Sprite:
    """The arrow of an offer; crossed out in red when it is used up."""
    rows = [".....m....", ".....mmm..", "mmmmmmmmm.", "mmmmmmmmmm", "mmmmmmmmm.", ".....mmm..", ".....m...."]
    picture = _drawn(rows, INK if still else (150, 142, 134))
    if not still:
        for step in range(7):
            picture[step, 1 + step] = picture[6 - step, 1 + step] = (196, 40, 36, 255)
    return ready(picture, scale)


def _offers(world: World, screen: Screen, frame: np.ndarray, x: int, y: int, g: int) -> None:
    """A villager's list: what it wants, an arrow, what it gives."""
    shown = clicks.offers(world, screen)[screen.scroll :]
    for place in screen.panel.places:
        if place.owner != "option" or place.index >= len(shown):
            continue
        offer = shown[place.index]
        px, py = x + place.x * g, y + (place.y + 2) * g
        if place.index + screen.scroll == screen.choice:
            _edge(frame, x + place.x * g, y + place.y * g, place.width * g, place.height * g, g, (250, 240, 214))
        for wanted, dx in ((offer["buy"], 4), (offer.get("buy2"), 26)):
            if wanted:
                _stack(frame, Stack(wanted[0], wanted[1]), px + dx * g, py, g)
        put(frame, _offered(trades.is_open(offer), g), px + 48 * g, py + 4 * g)
        _stack(frame, trades.sold(offer), px + 66 * g, py, g)


def _edge(frame: np.ndarray, x: int, y: int, width: int, height: int, thick: int, colour: Colour) -> None:
    fill(frame, x, y, width, thick, colour)
    fill(frame, x, y + height - thick, width, thick, colour)
    fill(frame, x, y, thick, height, colour)
    fill(frame, x + width - thick, y, thick, height, colour)


def _screen(world: World, screen: Screen, frame: np.ndarray, g: int) -> None:
    height, width = frame.shape[:2]
    layout = screen.panel
    veil(frame, (20, 16, 18), 0.58)
    x, y = (width - layout.width * g) // 2, (height - layout.height * g) // 2
    put(frame, _panel(screen.kind, g), x, y)
    if screen.kind == "inventory":
        _portrait(frame, x + 26 * g, y + 8 * g, g, (screen.x - 50, screen.y - 24))
    elif screen.kind in ("furnace", "blast_furnace", "smoker"):
        _cooking(world, screen, frame, x, y, g)
    elif screen.kind == "villager":
        _offers(world, screen, frame, x, y, g)
    hovered, pointed = screen.hovered, None
    for number, place in enumerate(layout.places):
        px, py = x + place.x * g, y + place.y * g
        stack = screens.stack_in(world, screen, number)
        if number == hovered:
            pointed = stack
            part = frame[max(0, py) : py + place.height * g, max(0, px) : px + place.width * g]
            part[...] = part + (255 - part) // 3
        if place.owner == "option":
            if screen.kind == "stonecutter" and stack is not None:
                if place.index == screen.choice:
                    _edge(frame, px, py, place.width * g, place.height * g, g, (250, 240, 214))
                _stack(frame, stack, px, py + g, g)
            continue
        _stack(frame, stack, px, py, g)
    cx, cy = x + math.floor(screen.x * g), y + math.floor(screen.y * g)
    if world.player.held is not None:
        _stack(frame, world.player.held, cx - 8 * g, cy - 8 * g, g)
    elif pointed is not None:
        _tooltip(frame, label(pointed), cx + 12 * g, cy - 14 * g, g)
    put(frame, _cursor(g), cx, cy)


@cache
def _cursor(scale: int) -> Sprite:
    """An arrow 16 pixels high whatever the scale below 3, as MineRL pastes it: its tip is the point."""
    return ready(_drawn(_POINTER, (255, 255, 255), w=(252, 252, 252), k=(8, 8, 8)), max(1, scale - 1))


def _tooltip(frame: np.ndarray, text: str, x: int, y: int, g: int) -> None:
    sprite = _text(text, (255, 250, 240), g, True)
    width, height = sprite.colour.shape[1] + 5 * g, sprite.colour.shape[0] + 4 * g
    x = min(x, frame.shape[1] - width - 2 * g)
    y = max(2 * g, y)
    part = frame[y : y + height, max(0, x) : x + width]
    part[...] = part // 12 + np.array([26, 20, 18], np.uint8)
    _edge(frame, x, y, width, height, g, (150, 112, 58))
    put(frame, sprite, x + 3 * g, y + 2 * g)


# ---------------------------------------------------------------- all of it
def draw(world: World, frame: np.ndarray, gui_scale: Fraction | None = None, gamma: float = 0.0) -> None:
    """Draw everything that is not the world itself over its picture.

    Args:
        world: Its `player` and `screen` are shown.
        frame: uint8, shape (H, W, 3), any size; changed in place. Below 240 rows or 320 columns the display is made on an
            enlarged copy, so that it fits, and shrunk with the picture.
        gui_scale: Pixels of the picture per GUI pixel, for people; None as agents see it.
        gamma: Of the light on the hand, as `daylight.brightness` has it.
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


def _draw(world: World, frame: np.ndarray, g: int, panel: int, gamma: float) -> None:
    player: Player = world.player
    if player.game_mode == "spectator":  # nobody is there
        return
    if not player.sleeping and not player.dead:
        _hand(world, frame, gamma)
    _moods(world, frame)
    if player.dead:
        veil(frame, (140, 8, 8), 0.5)
        text = "You died!"
        across = font.written(text).shape[1] * 2 * g
        write(frame, text, (frame.shape[1] - across) // 2, frame.shape[0] // 3, scale=2 * g)
        return
    if player.sleeping:
        veil(frame, (6, 8, 22), min(0.92, 0.3 + player.sleeping / 120))
    if world.screen is None:
        _crosshair(frame, g)
    _bars(world, frame, g)
    if world.screen is not None:
        _screen(world, world.screen, frame, panel)


__all__ = ["Sprite", "draw", "label", "natural_scale", "put", "ready", "scale_of", "shaded", "shown", "veil", "write"]
