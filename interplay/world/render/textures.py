"""Textures of all blocks, painted by rules: 16 x 16 pixels each, our own, the same in every process.

A texture has a name, mostly that of its block (`oak_planks`) or of a part of it (`oak_log_top`, `oak_door_bottom`); a
turned one has `@90`, `@180`, `@270` (quarter turns clockwise) or `@flip` (mirrored) after it. Names of blocks are read as
families: a dye and `wool`, a wood and `planks`, a stone and `bricks`. What has no rule gets speckles of a colour of its
own.

>>> index = texture("glass")
>>> atlas()[index].shape
(16, 16, 4)
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable

import numpy as np

from interplay.world.registry.blocks import SMALL_FLOWERS
from interplay.world.render import exact
from interplay.world.render.exact import hypot

SIDE = 16

DYES = {
    "white": 0xE4E4DE,
    "orange": 0xDD8234,
    "magenta": 0xB650AE,
    "light_blue": 0x62ABD3,
    "yellow": 0xE6C446,
    "lime": 0x82B53E,
    "pink": 0xE19DB0,
    "gray": 0x4C5054,
    "light_gray": 0x9B9B95,
    "cyan": 0x31878F,
    "purple": 0x7A449C,
    "blue": 0x3F4D9E,
    "brown": 0x73503A,
    "green": 0x58702F,
    "red": 0xA13A35,
    "black": 0x242428,
}
"""Dye -> colour of cloth in it."""

WOODS = {
    "oak": (0xB08F5C, 0x6A5337, 0x5A8544),
    "spruce": (0x7D5D3B, 0x44321F, 0x426B48),
    "birch": (0xCDBC8A, 0xDAD8CE, 0x7A9C4A),
    "jungle": (0xA97F5C, 0x5F4D2B, 0x46833A),
    "acacia": (0xB16A3F, 0x6C675F, 0x76944A),
    "dark_oak": (0x50371F, 0x3B2E20, 0x48752F),
    "crimson": (0x7B3D57, 0x61252F, 0x84191C),
    "warped": (0x327C77, 0x40304C, 0x177A78),
    "petrified_oak": (0xA39A86, 0, 0),
}
"""Wood -> colours of its planks, its bark, its leaves."""

METALS = {
    "gold": 0xECCB4B,
    "iron": 0xD7D5D0,
    "diamond": 0x6FD8D0,
    "emerald": 0x43BE66,
    "lapis": 0x2F53A4,
    "redstone": 0xA81E14,
    "coal": 0x24242A,
    "netherite": 0x463F43,
    "nether_quartz": 0xE2D8CE,
    "quartz": 0xE8E3DA,
    "nether_gold": 0xECCB4B,
}

STONES = {
    "stone": 0x85858A,
    "granite": 0x9C7060,
    "diorite": 0xC1C1C2,
    "andesite": 0x8A8D8B,
    "cobblestone": 0x808084,
    "bedrock": 0x4C4C52,
    "sand": 0xDDD1A1,
    "red_sand": 0xBC6A2F,
    "gravel": 0x87817E,
    "dirt": 0x80644A,
    "coarse_dirt": 0x735A44,
    "clay": 0xA0A6B2,
    "netherrack": 0x6E3434,
    "soul_sand": 0x54402F,
    "soul_soil": 0x4C3A2D,
    "end_stone": 0xDCDFA5,
    "obsidian": 0x1B1428,
    "crying_obsidian": 0x24103C,
    "blackstone": 0x2C262E,
    "basalt": 0x4E4E54,
    "ice": 0x9DC0F4,
    "packed_ice": 0x8FB4EE,
    "blue_ice": 0x74A6F2,
    "frosted_ice": 0xA4C8F6,
    "snow": 0xF3F8FA,
    "terracotta": 0x98604A,
    "sandstone": 0xD9CC9B,
    "red_sandstone": 0xB7642C,
    "prismarine": 0x639C94,
    "dark_prismarine": 0x35594D,
    "purpur": 0xA87AA8,
    "brick": 0x96594A,
    "nether_brick": 0x31191E,
    "red_nether_brick": 0x47090D,
    "quartz": 0xEAE5DC,
    "bone": 0xE2DDC8,
    "glowstone": 0xD8A658,
    "smooth_stone": 0x9D9D9D,
    "glass": 0xCFE6EA,
    "ancient_debris": 0x60463F,
    "magma": 0x8A3B1A,
    "mycelium": 0x70616A,
    "podzol": 0x5F4320,
    "grass": 0x7B9E55,
    "path": 0x9D8652,
    "sponge": 0xC5C04E,
}

FLOWERS = {
    "dandelion": (0xF0D23C, 0xE2A520),
    "poppy": (0xCE3B30, 0x5A1414),
    "blue_orchid": (0x3FA5DE, 0xE8E2B0),
    "allium": (0xB26AD8, 0xD9A6EE),
    "azure_bluet": (0xE6ECE8, 0xE8D458),
    "red_tulip": (0xC83A30, 0x9C2320),
    "orange_tulip": (0xE08432, 0xC0631E),
    "white_tulip": (0xEEEEEA, 0xCFCFC8),
    "pink_tulip": (0xE8A9C2, 0xD07F9E),
    "oxeye_daisy": (0xF2F2EC, 0xE7C53E),
    "cornflower": (0x5078DC, 0x2F4CA6),
    "wither_rose": (0x2A2420, 0x101010),
    "lily_of_the_valley": (0xF6F6F2, 0xE4EADA),
    "sunflower": (0xEFC53A, 0x6D4620),
    "lilac": (0xC597CE, 0xE0BEE4),
    "rose_bush": (0xB83230, 0x7E1C1E),
    "peony": (0xE0B2D6, 0xF1D6E8),
}

CORALS = {"tube": 0x3358CE, "brain": 0xCE5B9B, "bubble": 0xA61DA0, "fire": 0xA8262C, "horn": 0xD8C644}

Painter = Callable[..., np.ndarray]
_RULES: list[tuple[re.Pattern[str], Painter]] = []


def _paints(*patterns: str) -> Callable[[Painter], Painter]:
    """Register a painter for the names that match: it gets the generator, the name and the groups."""

    def register(painter: Painter) -> Painter:
        _RULES.extend((re.compile(pattern), painter) for pattern in patterns)
        return painter

    return register


def _any(names: object) -> str:
    return "(" + "|".join(sorted(names, key=len, reverse=True)) + ")"  # type: ignore[call-overload]


# Brushes: colours are float arrays (..., 3) from 0 to 255; pictures are (16, 16, 4); row 0 is the top.


def _rgb(colour: int | np.ndarray) -> np.ndarray:
    return colour if isinstance(colour, np.ndarray) else np.array([colour >> 16, colour >> 8 & 255, colour & 255], float)


def _mix(a: int | np.ndarray, b: int | np.ndarray, share: float) -> np.ndarray:
    return _rgb(a) * (1 - share) + _rgb(b) * share


def _spline(cells: int) -> np.ndarray:
    """Weights (16, cells) of a smooth interpolation that wraps around."""
    at = (np.arange(SIDE) + 0.5) * cells / SIDE - 0.5
    low = np.floor(at).astype(int)
    part = at - low
    part = part * part * (3 - 2 * part)
    weights = np.zeros((SIDE, cells))
    weights[np.arange(SIDE), low % cells] += 1 - part
    weights[np.arange(SIDE), (low + 1) % cells] += part
    return weights


_WEIGHTS = {cells: _spline(cells) for cells in (1, 2, 3, 4, 5, 6, 8, 12, 16)}
_Y, _X = np.mgrid[0:SIDE, 0:SIDE]


def _sin(angles: np.ndarray) -> np.ndarray:
    return exact.each(exact.sin, angles)


def _cos(angles: np.ndarray) -> np.ndarray:
    return exact.each(exact.cos, angles)


def _arctan2(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    return exact.each(exact.atan2, y, x)


def _noise(rng: np.random.Generator, across: int, down: int) -> np.ndarray:
    """Smooth noise (16, 16) that tiles, from -1 to 1, with so many bumps across and down."""
    # Not `@`, which adds up in another order on another processor.
    rows = (_WEIGHTS[down][..., None] * (rng.random((down, across)) * 2 - 1)).sum(1)
    return (rows[..., None] * _WEIGHTS[across].T).sum(1)


def _grain(rng: np.random.Generator, coarse: float = 0.5, fine: float = 0.5) -> np.ndarray:
    return coarse * (_noise(rng, 4, 4) + 0.5 * _noise(rng, 8, 8)) + fine * _noise(rng, 16, 16)


def _picture(colour: int | np.ndarray, shade: np.ndarray | float = 0.0, alpha: int = 255) -> np.ndarray:
    """A picture of one colour, lighter and warmer where shade is positive, darker and cooler where it is negative."""
    out = np.empty((SIDE, SIDE, 4))
    shade = np.broadcast_to(np.round(np.asarray(shade, float) * 24) / 24, (SIDE, SIDE))[..., None]
    out[..., :3] = _rgb(colour) * (1 + shade * np.array([1.0, 0.97, 0.88]))
    out[..., 3] = alpha
    return out


def _clear() -> np.ndarray:
    return np.zeros((SIDE, SIDE, 4))


def _dot(out: np.ndarray, x: int, y: int, colour: int | np.ndarray, shade: float = 0.0) -> None:
    if 0 <= x < SIDE and 0 <= y < SIDE:
        out[y, x, :3] = _rgb(colour) * (1 + shade)
        out[y, x, 3] = 255


def _box(out: np.ndarray, x0: int, y0: int, x1: int, y1: int, colour: int | np.ndarray, shade: float = 0.0) -> None:
    """Fill pixels x0..x1, y0..y1, both ends included."""
    out[y0 : y1 + 1, x0 : x1 + 1, :3] = _rgb(colour) * (1 + shade)
    out[y0 : y1 + 1, x0 : x1 + 1, 3] = 255


def _edges(out: np.ndarray, light: float = 0.12, dark: float = 0.16) -> np.ndarray:
    """A bevel: lighter above and left, darker below and right."""
    out[0, :, :3] *= 1 + light
    out[:, 0, :3] *= 1 + light * 0.6
    out[-1, :, :3] *= 1 - dark
    out[:, -1, :3] *= 1 - dark * 0.7
    return out


def _stones(rng: np.random.Generator, number: int = 11) -> np.ndarray:
    """Shade of round stones: a Voronoi diagram that tiles, lit from above left, with dark joints."""
    points = rng.random((number, 2)) * SIDE
    for _ in range(3):  # pushed apart
        gap = (points[:, None] - points[None] + 8) % SIDE - 8
        far = hypot(gap[..., 0], gap[..., 1]) + np.eye(number) * 99
        points = (points + (gap / far[..., None] ** 2).sum(1) * 1.5) % SIDE
    dx = (_X[..., None] + 0.5 - points[:, 0] + 8) % SIDE - 8
    dy = (_Y[..., None] + 0.5 - points[:, 1] + 8) % SIDE - 8
    far = hypot(dx, dy * 1.15)
    order = np.argsort(far, axis=-1, kind="stable")
    near = np.take_along_axis(far, order, -1)
    mine = order[..., :1]
    slope = -(np.take_along_axis(dx, mine, -1) + np.take_along_axis(dy, mine, -1))[..., 0]
    tone = rng.random(number)[order[..., 0]] * 0.22 - 0.11
    shade = tone + np.clip(slope * 0.035, -0.12, 0.12)
    return np.where(near[..., 1] - near[..., 0] < 1.1, -0.30, shade)


def _courses(rng: np.random.Generator, height: int, width: int, mortar: float = -0.26, shift: int | None = None) -> np.ndarray:
    """Shade of bricks in courses, every second one shifted."""
    row = _Y // height
    along = (_X + np.where(row % 2 == 1, width // 2 if shift is None else shift, 0)) % SIDE
    tone = rng.random((SIDE, SIDE))[row, along // width] * 0.18 - 0.09
    joint = (_Y % height == height - 1) | (along % width == width - 1)
    lit = ((_Y % height == 0) | (along % width == 0)) * 0.09
    return np.where(joint, mortar, tone + lit + 0.07 * _noise(rng, 8, 8))


def _boards(rng: np.random.Generator) -> np.ndarray:
    """Shade of four boards with their grain."""
    tone = (rng.random(4) * 0.12 - 0.06)[_Y // 4]
    grain = 0.09 * _noise(rng, 3, 16) + 0.05 * _noise(rng, 8, 16)
    shade = tone + grain + np.where(_Y % 4 == 0, 0.05, 0)
    joint = np.array([11, 4, 14, 7])[_Y // 4]
    return np.where(_Y % 4 == 3, -0.24, np.where(joint == _X, -0.18, shade))


def _blobs(rng: np.random.Generator, out: np.ndarray, colour: int | np.ndarray, number: int = 7, size: int = 2) -> np.ndarray:
    """Lumps of something in the ground, each with a light and a dark edge."""
    spots = [(3, 2), (10, 3), (6, 7), (12, 9), (2, 11), (8, 13), (13, 13), (14, 5)]
    for x, y in (spots[i] for i in rng.permutation(len(spots))[:number]):
        x, y = x + int(rng.integers(-1, 1)), y + int(rng.integers(-1, 1))
        wide = int(rng.integers(1, size + 1))
        for i in range(-1, wide + 1):
            _dot(out, x + i, y + 2, _mix(out[(y + 2) % 16, (x + i) % 16, :3], 0, 0.25))
        for i in range(wide + 1):
            _dot(out, x + i, y, colour, 0.14 if i == 0 else 0.02)
            _dot(out, x + i - (1 if rng.random() < 0.4 else 0), y + 1, colour, -0.14)
    return out


def _cut(out: np.ndarray, keep: np.ndarray) -> np.ndarray:
    out[..., 3] = np.where(keep, out[..., 3], 0)
    return out


# Ground and stone


@_paints("grass_block_top", "grass_block")
def _grass_top(rng, name):
    shade = 0.10 * _noise(rng, 4, 4) + 0.10 * _noise(rng, 8, 8) + 0.10 * _noise(rng, 16, 16)
    out = _picture(STONES["grass"], shade)
    for _ in range(9):  # a few blades in the light
        x, y = rng.integers(0, SIDE, 2)
        out[y, x, :3] = _rgb(0x8DB066)
        out[(y + 1) % SIDE, x, :3] *= 0.92
    return out


def _fringe(rng, ground: np.ndarray, cover: np.ndarray, deep: int = 2) -> np.ndarray:
    """Ground with a cover that hangs over its top edge."""
    hang = deep + np.round(_noise(rng, 8, 1)[0] * 1.4 + _noise(rng, 16, 1)[0] * 1.0).astype(int)
    over = hang[None] >= _Y
    out = np.where(over[..., None], cover, ground)
    under = hang[None] + 1 == _Y
    out[under, :3] *= 0.84
    return out


@_paints("grass_block_side")
def _grass_side(rng, name):
    return _fringe(rng, _paint("dirt"), _picture(STONES["grass"], 0.12 * _noise(rng, 16, 8) - 0.02), 3)


@_paints("(podzol|mycelium|crimson_nylium|warped_nylium|grass_path|snowy_grass)_side")
def _covered_side(rng, name, kind: str):
    ground = "netherrack" if "nylium" in kind else "dirt"
    cover = {"snowy_grass": "snow", "grass_path": "grass_path"}.get(kind, kind)
    return _fringe(rng, _paint(ground), _paint(cover), 3)


@_paints("(podzol|mycelium|grass_path)")
def _soil_top(rng, name, kind):
    colour = STONES["path" if kind == "grass_path" else kind]
    out = _picture(colour, 0.9 * 0.12 * _grain(rng, 1.0, 1.0))
    if kind == "podzol":
        for _ in range(26):
            x, y = rng.integers(0, SIDE, 2)
            out[y, x, :3] = _rgb((0x7C5522, 0x4A3318, 0x8A6A34)[rng.integers(3)])
    if kind == "mycelium":
        for _ in range(14):
            x, y = rng.integers(0, SIDE, 2)
            out[y, x, :3] = _rgb(0x8F7F92)
    return out


@_paints("(crimson|warped)_nylium")
def _nylium(rng, name, kind):
    out = _picture({"crimson": 0x86262A, "warped": 0x2B7266}[kind], 0.16 * _grain(rng))
    return _blobs(rng, out, {"crimson": 0xA93434, "warped": 0x3E8C7C}[kind], 5, 1)


@_paints("(dirt|coarse_dirt|stone|sand|red_sand|clay|soul_soil|netherrack|end_stone|ice|packed_ice|snow|bedrock|gravel)")
def _ground(rng, name, kind):
    colour = STONES[kind]
    soft = {"sand": 0.07, "red_sand": 0.07, "clay": 0.05, "snow": 0.028, "ice": 0.05, "packed_ice": 0.05, "stone": 0.09}.get(
        kind, 0.13
    )
    shade = soft * _grain(rng, 0.8, 0.8)
    if kind == "stone":
        shade = 0.09 * _noise(rng, 3, 8) + 0.06 * _noise(rng, 8, 16) + 0.03 * _noise(rng, 16, 16)
    elif kind == "bedrock":
        shade = 0.55 * _noise(rng, 6, 6) + 0.2 * _noise(rng, 16, 16)
    elif kind == "gravel":
        shade = 0.6 * _stones(rng, 30) + 0.08 * _noise(rng, 16, 16)
    elif kind == "netherrack":
        shade = 0.24 * _noise(rng, 6, 6) + 0.14 * _noise(rng, 16, 16)
    elif kind == "end_stone":
        shade = 0.4 * _stones(rng, 14)
    out = _picture(colour, shade, 170 if kind == "ice" else 255)
    if kind in ("dirt", "coarse_dirt"):
        for _ in range(7 if kind == "dirt" else 16):
            x, y = rng.integers(0, SIDE, 2)
            out[y, x, :3] = _rgb(0x92785C if rng.random() < 0.5 else 0x6A6158) if kind == "dirt" else _rgb(0x8E7A62)
    if kind in ("ice", "packed_ice"):
        for _ in range(3):
            x, y = (int(v) for v in rng.integers(0, 10, 2))
            for i in range(int(rng.integers(3, 7))):
                _tint = out[(y + i) % SIDE, (x + i) % SIDE]
                _tint[:3] = _mix(_tint[:3], 0xFFFFFF, 0.35)
    return out


@_paints("(granite|diorite|andesite|blackstone|ancient_debris_side|gilded_blackstone)")
def _rough(rng, name, kind):
    if kind == "ancient_debris_side":
        return _picture(STONES["ancient_debris"], 0.22 * _noise(rng, 4, 12) + 0.1 * _noise(rng, 16, 16))
    colour = STONES["blackstone" if "blackstone" in kind else kind]
    out = _picture(colour, 0.13 * _noise(rng, 5, 5) + 0.12 * _noise(rng, 12, 12))
    if kind == "diorite":
        out = _picture(colour, np.where(_noise(rng, 8, 8) > 0.25, -0.24, 0.04) + 0.05 * _noise(rng, 16, 16))
    if kind == "gilded_blackstone":
        _blobs(rng, out, METALS["gold"], 4, 1)
    return out


@_paints("polished_(granite|diorite|andesite|blackstone)", "(smooth_stone|smooth_stone_slab_side)")
def _polished(rng, name, kind):
    out = _edges(_picture(STONES[kind if kind in STONES else "smooth_stone"], 0.045 * _grain(rng)), 0.10, 0.18)
    if name == "smooth_stone_slab_side":
        out[7, :, :3] *= 0.8
        out[8, :, :3] *= 1.08
    return out


@_paints("(mossy_)?(cobblestone)")
def _cobblestone(rng, name, mossy, kind):
    rng = np.random.default_rng(5)
    out = _picture(STONES["cobblestone"], _stones(rng, 12) + 0.04 * _noise(rng, 16, 16))
    return _moss(rng, out) if mossy else out


def _moss(rng, out: np.ndarray) -> np.ndarray:
    where = _noise(rng, 4, 4) + 0.6 * _noise(rng, 12, 12) > 0.22
    out[where, :3] = out[where, :3] * 0.35 + _rgb(0x6C8442) * 0.6
    return out


@_paints(
    "(mossy_|cracked_|chiseled_|)(stone|nether|red_nether|end_stone|polished_blackstone|prismarine|quartz)?_?bricks",
    "(chiseled_)(polished_blackstone)",
)
def _bricks(rng, name, kind, stone):
    rng = np.random.default_rng(zlib.crc32((stone or "brick").encode()))
    colours = {
        "": 0x96594A,
        "nether": 0x3A2026,
        "red_nether": 0x560F14,
        "polished_blackstone": 0x3A343C,
        "prismarine": 0x6AA79C,
        "end_stone": 0xDADDA8,
    }
    colour = colours.get(stone or "", STONES.get(stone or "", 0x85858A))
    if stone in (None, "nether", "red_nether"):
        shade = _courses(rng, 4, 8, -0.3)
        if kind != "chiseled_":
            out = _picture(colour, shade)
            if not stone:
                joint = shade <= -0.29
                out[joint, :3] = _rgb(0xA79B8E)
            if kind == "cracked_":
                _cracks(rng, out)
            return out
    if kind == "chiseled_":
        out = _edges(_picture(colour, 0.05 * _grain(rng)), 0.1, 0.2)
        ring = np.maximum(abs(_X - 7.5), abs(_Y - 7.5))
        out[(ring > 4) & (ring < 5.1), :3] *= 0.74
        out[(ring > 1.2) & (ring < 2.2), :3] *= 0.8
        return out
    if stone == "quartz":
        out = _picture(colour, _courses(rng, 8, 16, -0.12, 8))
    else:
        out = _picture(colour, 0.8 * _courses(rng, 8, 8 if stone == "prismarine" else 16, -0.3, 8) + 0.05 * _noise(rng, 16, 16))
    if kind == "mossy_":
        _moss(rng, out)
    if kind == "cracked_":
        _cracks(rng, out)
    return out


def _cracks(rng, out: np.ndarray) -> None:
    for _ in range(3):
        x, y = (int(v) for v in rng.integers(2, 13, 2))
        for _ in range(6):
            out[y % SIDE, x % SIDE, :3] *= 0.6
            x, y = x + int(rng.integers(-1, 2)), y + 1


@_paints("infested_(.*)")
def _infested(rng, name, kind):
    out = _paint(kind)
    for x, y in ((3, 4), (11, 6), (6, 12), (13, 13)):  # burrows, hard to see
        out[y, x, :3] *= 0.72
        out[y - 1, x, :3] *= 1.06
    return out


@_paints("(nether_gold|nether_quartz|gold|iron|coal|lapis|diamond|emerald|redstone)_ore(_lit)?")
def _ore(rng, name, kind, lit):
    out = _paint("netherrack" if kind.startswith("nether") else "stone")
    return _blobs(rng, out, _mix(METALS[kind], 0xFFFFFF, 0.12 if not lit else 0.35) if kind != "iron" else 0xD2A988, 7, 2)


@_paints("(gold|iron|diamond|emerald|lapis|redstone|coal|netherite)_block")
def _metal_block(rng, name, kind):
    sheen = 0.07 * _sin((_X + _Y) * np.pi / 16 + rng.random() * 6) + 0.03 * _grain(rng)
    out = _edges(_picture(METALS[kind], sheen if kind not in ("coal", "redstone", "lapis") else 0.16 * _grain(rng)), 0.16, 0.22)
    if kind in ("iron", "netherite"):
        out[4::4, 1:-1, :3] *= 0.93
    if kind in ("diamond", "emerald"):
        ring = np.maximum(abs(_X - 7.5), abs(_Y - 7.5))
        out[(ring > 4) & (ring < 5.1), :3] *= 1.1
    return out


@_paints(
    "(red_|)(sandstone|cut_sandstone|chiseled_sandstone)(_top|_bottom)?",
    "(cut|chiseled|smooth)_(red_sandstone|sandstone)(_top|_bottom)?",
)
def _sandstone(rng, name, one, two, part):
    colour = STONES["red_sandstone" if "red_" in name else "sandstone"]
    if part == "_top" or name.startswith("smooth"):
        return _edges(_picture(colour, 0.04 * _grain(rng)), 0.04, 0.05)
    if part == "_bottom":
        return _picture(colour, 0.08 * _grain(rng) - 0.03)
    out = _picture(colour, 0.035 * _noise(rng, 2, 16) + 0.03 * _noise(rng, 16, 16))
    out[:3, :, :3] *= 1.05
    out[3, :, :3] *= 0.85
    if "cut" in name:
        return _edges(out, 0.05, 0.2)
    if "chiseled" in name:
        _box(out, 4, 6, 11, 12, colour, -0.22)
        _box(out, 5, 7, 10, 11, colour, 0.04)
        _box(out, 7, 6, 8, 12, colour, -0.18)
        return out
    wave = (10 + np.round(1.2 * _sin(_X * np.pi / 4))).astype(int)
    out[wave == _Y, :3] *= 0.86
    return out


@_paints("(prismarine|dark_prismarine|sea_lantern|purpur_block|purpur_pillar|purpur_pillar_top)")
def _sea(rng, name, kind):
    if kind == "prismarine":
        out = _picture(STONES[kind], 0.7 * _stones(rng, 9))
        return out * np.where(_noise(rng, 3, 3) > 0.2, np.array([0.92, 1.02, 1.1, 1]).reshape(4, 1, 1), 1).transpose(1, 2, 0)
    if kind == "dark_prismarine":
        return _picture(STONES[kind], _courses(rng, 4, 4, -0.3, 0))
    if kind == "sea_lantern":
        ring = np.maximum(abs(_X - 7.5), abs(_Y - 7.5))
        return _edges(_picture(0xC9DDD4, 0.22 - ring * 0.045 + 0.06 * _noise(rng, 6, 6)))
    if kind == "purpur_pillar":
        return _picture(STONES["purpur"], 0.08 * _sin(_X * np.pi / 2) + 0.03 * _grain(rng))
    if kind == "purpur_pillar_top":
        return _rings(rng, STONES["purpur"], _mix(STONES["purpur"], 0, 0.25))
    return _picture(STONES["purpur"], _courses(rng, 8, 8, -0.14, 0))


@_paints("(quartz_block|chiseled_quartz_block|quartz_pillar|quartz_pillar_top|smooth_quartz)")
def _quartz(rng, name, kind):
    out = _edges(_picture(STONES["quartz"], 0.025 * _grain(rng)), 0.02, 0.08 if kind != "smooth_quartz" else 0.03)
    if kind == "quartz_pillar":
        out[:, 3::4, :3] *= 0.9
    if kind in ("quartz_pillar_top", "chiseled_quartz_block"):
        ring = np.maximum(abs(_X - 7.5), abs(_Y - 7.5))
        out[(ring > 3) & (ring < 4.1), :3] *= 0.88
        if kind == "chiseled_quartz_block":
            out[6:10, 6:10, :3] *= 0.9
    return out


def _rings(rng, wood: int | np.ndarray, bark: int | np.ndarray) -> np.ndarray:
    """The end of a log."""
    far = np.maximum(abs(_X - 7.5), abs(_Y - 7.5)) * 0.75 + hypot(_X - 7.5, _Y - 7.5) * 0.25 + 0.4 * _noise(rng, 4, 4)
    out = _picture(wood, 0.08 * _cos(far * np.pi * 0.95) + 0.03 * _noise(rng, 16, 16) - 0.02)
    rim = np.maximum(abs(_X - 7.5), abs(_Y - 7.5)) > 7
    out[rim] = _picture(bark, 0.12 * _noise(rng, 16, 16))[rim]
    return out


# Wood


@_paints(_any(WOODS) + "_planks")
def _planks(rng, name, wood):
    rng = np.random.default_rng(8 + len(wood) % 3)
    out = _picture(WOODS[wood][0], _boards(rng))
    if wood in ("crimson", "warped"):
        out[:, :, :3] *= 1 + 0.04 * _noise(rng, 2, 8)[..., None]
    return out


@_paints("(stripped_)?" + _any(WOODS) + "_(log|stem|wood|hyphae)(_top)?")
def _log(rng, name, stripped, wood, kind, top):
    planks, bark, _ = WOODS[wood]
    rng = np.random.default_rng(zlib.crc32(wood.encode()))
    if top:
        return _rings(rng, _mix(planks, 0xFFFFFF, 0.06), _mix(planks, bark, 0.5) if stripped else bark)
    if stripped:
        return _picture(_mix(planks, 0xFFFFFF, 0.05), 0.08 * _noise(rng, 12, 2) + 0.04 * _noise(rng, 16, 4))
    if wood == "birch":
        out = _picture(bark, 0.04 * _noise(rng, 4, 8) + 0.03 * _noise(rng, 16, 16))
        for y, x, wide in ((1, 2, 4), (4, 10, 3), (6, 0, 2), (8, 6, 5), (11, 12, 4), (13, 3, 3), (15, 8, 2)):
            for i in range(wide):
                _dot(out, (x + i) % 16, y, 0x3C3A36, 0.2 if i in (0, wide - 1) else 0.0)
        return out
    shade = 0.22 * _noise(rng, 8, 2) + 0.10 * _noise(rng, 16, 4)
    shade = np.where(_noise(rng, 8, 3) > 0.42, shade - 0.18, shade)
    out = _picture(bark, shade)
    if wood in ("crimson", "warped"):
        veins = abs(_noise(rng, 4, 3)) < 0.07
        out[veins, :3] = _rgb({"crimson": 0xB83A34, "warped": 0x2C9C92}[wood])
    return out


@_paints(_any(WOODS) + "_leaves", "(nether_wart_block|warped_wart_block)")
def _leaves(rng, name, wood):
    if wood.endswith("block"):
        return _picture(0x7A1416 if "nether" in wood else 0x177577, 0.5 * _stones(rng, 18) + 0.08 * _noise(rng, 16, 16))
    lump, twig = _noise(rng, 5, 5), _noise(rng, 16, 16)
    if wood == "spruce":
        lump = _noise(rng, 8, 5)
    shade = 0.30 * lump + 0.17 * twig
    lit = np.roll(lump, 1, 0) + np.roll(lump, 1, 1) < 2 * lump - 0.15  # what faces the light above
    out = _picture(WOODS[wood][2], shade + np.where(lit, 0.12, -0.05))
    hole = lump + 0.8 * twig
    return _cut(out, hole > np.quantile(hole, 0.17))


@_paints(_any([*WOODS, "iron"]) + "_door_(top|bottom)")
def _door(rng, name, wood, half):
    rng = np.random.default_rng(3)
    iron = wood == "iron"
    colour = _rgb(0xCACAC8) if iron else _rgb(WOODS[wood][0])
    out = _picture(colour, 0.03 * _grain(rng) if iron else 0.7 * _boards(rng).T * 0.6)
    out[:, [0, 15], :3] *= 0.78
    out[0 if half == "top" else 15, :, :3] *= 0.8
    for y0 in (2, 9):
        for x0 in (2, 9):
            if (
                half == "top"
                and (y0 == 2 or wood in ("birch", "jungle", "acacia"))
                and wood not in ("spruce", "dark_oak", "crimson")
            ):
                _box(out, x0, y0, x0 + 4, y0 + 4, colour, -0.3)
                out[y0 + 1 : y0 + 4, x0 + 1 : x0 + 4, 3] = 0
            else:
                _box(out, x0, y0, x0 + 4, y0 + 4, colour, -0.22)
                _box(out, x0 + 1, y0 + 1, x0 + 4, y0 + 4, colour, 0.06)
    if half == "bottom":
        _box(out, 13, 0, 14, 1, 0x4A4A4A if not iron else 0x6E6E6E)
    return out


@_paints(_any([*WOODS, "iron"]) + "_trapdoor")
def _trapdoor(rng, name, wood):
    out = _edges(
        _picture(0xCACAC8 if wood == "iron" else WOODS[wood][0], _boards(np.random.default_rng(4)) if wood != "iron" else 0.0),
        0.1,
        0.25,
    )
    out[2:14, 7:9, :3] *= 0.85
    if wood in ("oak", "iron", "acacia", "warped", "jungle"):
        for y0 in (3, 9):
            for x0 in (3, 9):
                out[y0 : y0 + 4, x0 : x0 + 4, 3] = 0
    else:
        for y0 in (2, 9):
            _box(out, 2, y0, 13, y0 + 4, WOODS[wood][0], -0.1)
            out[y0, 2:14, :3] *= 0.75
    return out


# Cloth, clay, glass, in sixteen colours


@_paints(_any(DYES) + "_(wool|carpet|bed|banner|wall_banner)")
def _wool(rng, name, dye, kind):
    rng = np.random.default_rng(21)
    return _picture(DYES[dye], 0.045 * np.where((_X + _Y) % 2, 1, -1) + 0.07 * _noise(rng, 4, 4) + 0.05 * _noise(rng, 16, 16))


@_paints(_any(DYES) + "_concrete(_powder)?")
def _concrete(rng, name, dye, powder):
    rng = np.random.default_rng(22)
    if powder:
        return _picture(_mix(DYES[dye], 0xFFFFFF, 0.1), 0.12 * _noise(rng, 16, 16) + 0.05 * _noise(rng, 6, 6))
    return _picture(_mix(DYES[dye], 0, 0.08), 0.02 * _grain(rng))


@_paints(_any(DYES) + "_terracotta", "(terracotta)")
def _terracotta(rng, name, dye):
    colour = STONES["terracotta"] if dye == "terracotta" else _mix(DYES[dye], STONES["terracotta"], 0.48) * 0.92
    return _picture(colour, 0.05 * _noise(np.random.default_rng(23), 3, 6) + 0.03 * _noise(np.random.default_rng(24), 16, 16))


@_paints(_any(DYES) + "_glazed_terracotta")
def _glazed(rng, name, dye):
    colours = [
        _rgb(DYES[dye]),
        _mix(DYES[dye], 0xFFFFFF, 0.55),
        _mix(DYES[dye], 0x101830, 0.5),
        _mix(list(DYES.values())[(list(DYES).index(dye) + 5) % 16], 0xFFFFFF, 0.2),
    ]
    wave = rng.random(6)
    field = (
        _sin((_X + _Y) * (0.3 + 0.3 * wave[0]))
        + _sin(hypot(_X - 15.5, _Y - 15.5) * (0.55 + 0.4 * wave[1]))
        + wave[2] * _cos((_X - _Y) * 0.8)
    )
    index = np.digitize(field, [-0.9, 0.1, 1.1])
    out = _picture(0, 0)
    out[..., :3] = np.array(colours)[index]
    return _edges(out, 0.06, 0.1)


@_paints("(?:" + _any(DYES) + "_stained_)?glass(_pane_top)?")
def _glass(rng, name, dye, top):
    if top:
        return _picture(_mix(DYES[dye], 0xFFFFFF, 0.25) if dye else 0xC8DEE2, 0.04 * _grain(rng))
    out = _clear()
    if dye:
        out = _picture(DYES[dye], 0.0, 120)
    rim = (_X == 0) | (_Y == 0) | (_X == 15) | (_Y == 15)
    out[rim] = [*(_mix(DYES[dye], 0xFFFFFF, 0.2) if dye else _rgb(0xD8ECEF)), 215 if dye else 255]
    for x, y, number in ((3, 5, 3), (4, 6, 2), (10, 13, 3)):
        for i in range(number):
            out[y - i, x + i] = [*(_mix(DYES[dye], 0xFFFFFF, 0.45) if dye else _rgb(0xF2FAFB)), 190 if dye else 255]
    return out


@_paints("(?:" + _any(DYES) + "_)?shulker_box(_side)?")
def _shulker(rng, name, dye, side):
    out = _edges(_picture(DYES[dye] if dye else 0x966A96, 0.04 * _grain(rng)), 0.14, 0.2)
    if side:
        out[9, :, :3] *= 0.62
        out[10, :, :3] *= 1.08
    else:
        ring = np.maximum(abs(_X - 7.5), abs(_Y - 7.5))
        out[(ring > 4) & (ring < 5.1), :3] *= 0.82
    return out


@_paints(_any(DYES) + "_bed_(head|foot|side)")
def _bed(rng, name, dye, part):
    out = _paint(f"{dye}_wool")
    if part == "head":  # north is the pillow
        out[:, [0, 15], :3] *= 0.8
        out[0, :, :3] *= 0.85
        _box(out, 2, 1, 13, 6, 0xEDEBE4)
        out[6, 2:14, :3] *= 0.85
        out[8, :, :3] = _mix(DYES[dye], 0xFFFFFF, 0.5)
    elif part == "foot":
        out[:, [0, 15], :3] *= 0.8
        out[15, :, :3] *= 0.8
    else:
        out[11:, :, :3] = _picture(WOODS["oak"][0], _boards(np.random.default_rng(3)))[11:, :, :3]
        out[10, :, :3] *= 0.85
    return out


# Plants


def _blades(
    rng, colour: int | np.ndarray, number: int, low: int, high: int, lean: float = 0.25, tip: int | None = None
) -> np.ndarray:
    """Blades of grass from the ground up, darker at the foot."""
    out = _clear()
    for i in range(number):
        x = (i + 0.5) * SIDE / number + rng.random() * 2 - 1
        height, bend = int(rng.integers(low, high + 1)), (rng.random() - 0.5) * 2 * lean
        tone = rng.random() * 0.16 - 0.08
        for h in range(height):
            part = h / max(1, high)
            at = int(np.clip(x + bend * h * part * 2, 0, 15))
            _dot(out, at, 15 - h, tip if tip is not None and h >= height - 2 else colour, -0.16 + 0.26 * part + tone)
    return out


@_paints(
    "(grass|tall_grass_bottom|tall_grass_top|seagrass|tall_seagrass_bottom|tall_seagrass_top|"
    "nether_sprouts|crimson_roots|warped_roots)"
)
def _grass(rng, name, kind):
    colour = {"s": 0x3F8050, "n": 0x1FA08C, "c": 0xA83036, "w": 0x1C948C}.get(
        kind[0] if not kind.startswith("tall_sea") else "s", 0x7DA058
    )
    if kind.endswith("_bottom"):
        return _blades(rng, colour, 12, 14, 16, 0.12)
    return _blades(rng, colour, 13 if kind != "nether_sprouts" else 6, 5, {"grass": 12, "nether_sprouts": 5}.get(kind, 14), 0.3)


@_paints("(fern|large_fern_top|large_fern_bottom)")
def _fern(rng, name, kind):
    out = _clear()
    for stem, bend in ((8, -0.5), (8, 0.5), (7, 0.05), (8, -0.95), (8, 0.95)):
        high = 16 if kind == "large_fern_bottom" else 13
        for h in range(high):
            x = int(stem + bend * h * h / 22)
            _dot(out, x, 15 - h, 0x5C8440, -0.2 + 0.03 * h)
            if h % 2 and h > 2:
                for i in range(1, max(2, 4 - h // 4)):
                    _dot(out, x - i, 15 - h + i // 2, 0x6B9548, -0.1 + 0.02 * h)
                    _dot(out, x + i, 15 - h + i // 2, 0x6B9548, -0.04 + 0.02 * h)
    return out


_STEM, _LEAF = 0x55803A, 0x64924A


@_paints(_any(sorted(SMALL_FLOWERS)))
def _flower(rng, name, kind):
    petal, heart = FLOWERS[kind]
    out = _clear()
    top = {"dandelion": 9, "azure_bluet": 8, "allium": 4, "blue_orchid": 6, "lily_of_the_valley": 4}.get(kind, 6)
    for y in range(top, 16):
        _dot(out, 8, y, _STEM, -0.15 if y > 12 else 0.05)
    for x, y in ((7, 13), (6, 12), (9, 14), (10, 13), (10, 12)):
        _dot(out, x, y, _LEAF, 0.05 if y < 13 else -0.1)
    if "tulip" in kind:
        _box(out, 6, top - 3, 9, top, petal)
        _box(out, 6, top - 4, 6, top - 4, petal, 0.08)
        _box(out, 9, top - 4, 9, top - 4, petal, -0.08)
        _box(out, 8, top - 4, 8, top - 3, petal, 0.1)
        _box(out, 6, top, 9, top, heart)
    elif kind == "lily_of_the_valley":
        for y in range(2, 11):
            _dot(out, 8 + (1 if y < 5 else 0), y, _STEM)
        for x, y in ((10, 3), (7, 5), (10, 6), (7, 8), (10, 9)):
            _box(out, x, y, x, y + 1, petal)
            _dot(out, x, y + 1, heart, -0.08)
        for y in range(8, 15):
            _dot(out, 5 + (y > 11), y, _LEAF, -0.05)
            _dot(out, 12 - (y > 11), y, _LEAF, -0.12)
    elif kind == "allium":
        for x in range(5, 12):
            for y in range(1, 7):
                if hypot(x - 8, y - 3.5) < 3.2:
                    _dot(out, x, y, petal if (x + y) % 3 else heart, 0.08 - 0.04 * (y - 3))
    elif kind in ("azure_bluet", "blue_orchid"):
        for x, y in ((5, 8), (10, 7), (8, 5), (12, 10), (4, 11)) if kind == "azure_bluet" else ((8, 4), (6, 6), (10, 7)):
            for a, b in ((0, -1), (-1, 0), (1, 0), (0, 1)):
                _dot(out, x + a, y + b, petal, -0.06 * b)
            _dot(out, x, y, heart)
            for h in range(y + 2, 13):
                _dot(out, x + round((8 - x) * (h - y) / 8), h, _STEM, -0.05)
    else:
        wide = 2.6 if kind == "oxeye_daisy" else 2.3
        for x in range(4, 13):
            for y in range(top - 4, top + 2):
                far = hypot(x - 8, (y - top + 1.5) * 1.05)
                if far < wide + (0.6 if (x + y) % 2 else 0):
                    _dot(out, x, y, heart if far < 1.1 else petal, 0.10 - 0.05 * (y - top + 2) + 0.05 * ((x + y) % 2))
    return out


@_paints("(sunflower|lilac|rose_bush|peony)_(bottom|top)")
def _tall_flower(rng, name, kind, half):
    petal, heart = FLOWERS[kind]
    out = _clear()
    if kind == "sunflower":
        for y in range(0 if half == "bottom" else 6, 16):
            _box(out, 7, y, 8, y, _STEM, -0.1 if y % 3 else 0.05)
        if half == "bottom":
            for x, y in ((5, 4), (4, 3), (3, 3), (10, 7), (11, 6), (12, 6), (5, 10), (4, 9), (6, 11), (6, 5), (9, 8)):
                _box(out, x, y, x, y + 1, _LEAF)
        else:
            far = hypot(_X - 7.5, _Y - 6)
            for y, x in np.argwhere(far < 6):
                _dot(
                    out,
                    x,
                    y,
                    heart if far[y, x] < 2.8 else petal,
                    0.1 * rng.random() - 0.05 + (0.08 if (x + y) % 3 == 0 else 0),
                )
        return out
    bush = _noise(rng, 5, 5) + 0.5 * _noise(rng, 12, 12)
    shape = abs(_X - 7.5) < (6.8 if half == "bottom" else 6.4 - np.clip(4 - _Y, 0, 4))
    out = _picture(0x4F7A38, 0.28 * bush)
    _cut(out, shape & (bush > -0.45) & ((_Y < 15) if half == "top" else True))
    for _ in range(15 if half == "top" else 5):
        x, y = int(rng.integers(2, 13)), int(rng.integers(2, 13))
        _box(out, x, y, x + 1, y + 1, petal)
        _dot(out, x, y, heart, 0.05)
    return out


@_paints(
    _any(WOODS) + "_sapling",
    "(dead_bush|bamboo_sapling|sweet_berry_bush_[0-3]|crimson_fungus|warped_fungus|brown_mushroom|red_mushroom|cobweb)",
)
def _sprout(rng, name, kind):
    out = _clear()
    if kind == "dead_bush":
        for bend in (-1.0, -0.5, 0.1, 0.6, 1.1):
            for h in range(int(rng.integers(8, 14))):
                _dot(out, int(8 + bend * h * 0.6), 15 - h, 0x83653B, 0.15 * rng.random() - 0.1)
        return out
    if kind == "cobweb":
        far, angle = hypot(_X - 7.5, _Y - 7.5), _arctan2(_Y - 7.5, _X - 7.5)
        web = (abs(_sin(angle * 4)) < 0.16 + 0.5 / (far + 1)) | (abs((far + 0.6 * _cos(angle * 8)) % 3 - 1.5) < 0.35)
        return _cut(_picture(0xE6E8EA, 0.05 * _noise(rng, 8, 8)), web)
    if "fungus" in kind or "mushroom" in kind:
        cap = {"crimson_fungus": 0x9C2A2C, "warped_fungus": 0x1E8F88, "brown_mushroom": 0x95745A, "red_mushroom": 0xC0342E}[
            kind
        ]
        _box(out, 7, 9, 8, 15, 0xD9CDB8 if "mushroom" in kind else 0xB8644E, -0.04)
        top = 6 if "brown" in kind else 4
        for y in range(top, 10):
            half = (y - top + 2) if y < top + 3 else 5
            _box(out, max(3, 8 - half), y, min(12, 7 + half), y, cap, 0.1 - 0.05 * (y - top))
        for x, y in ((5, 8), (8, 6), (10, 8)) if kind != "brown_mushroom" else ():
            _dot(out, x, y, 0xF0E6DA if "red" in kind else 0xE8923C)
        return out
    if kind.startswith("sweet"):
        age = int(kind[-1])
        bush = _noise(rng, 5, 5) + 0.5 * _noise(rng, 12, 12)
        out = _cut(_picture(0x446A3A, 0.25 * bush), (hypot(_X - 7.5, (15 - _Y) * 0.9 - 3) < 4 + age * 1.6) & (bush > -0.4))
        for _ in range((0, 0, 4, 9)[age]):
            x, y = int(rng.integers(3, 12)), int(rng.integers(6, 13))
            _dot(out, x, y, 0xC5323A)
            _dot(out, x, y + 1, 0x8C1E2A)
        return out
    colour = 0x6C9A3A if kind == "bamboo_sapling" else WOODS[kind][2]
    trunk = 0x7C9C48 if kind == "bamboo_sapling" else _mix(WOODS[kind][1], WOODS[kind][0], 0.25)
    for y in range(8, 16):
        _dot(out, 7 + (y % 5 == 0), y, trunk)
        _dot(out, 8, y, trunk, -0.2)
    lump = _noise(rng, 6, 6)
    for y in range(1, 12):
        half = {"spruce": (y - 1) * 0.5 + 0.6, "acacia": 6.3 if 3 < y < 8 else 2.0 if y < 10 else 0}.get(
            kind, 5.4 - abs(y - 5.6) * 0.75
        )
        for x in range(16):
            if abs(x - 7.6) < half and lump[y, x] > -0.5:
                _dot(out, x, y, colour, 0.2 * lump[y, x] + 0.12 - 0.025 * y)
    return out


@_paints(
    "(wheat|carrots|potatoes|beetroots|nether_wart|pumpkin_stem|melon_stem|attached_pumpkin_stem|"
    "attached_melon_stem)(?:_(\\d))?"
)
def _crop(rng, name, kind, stage):
    """Crops: stage 0 to 7 (beetroots and nether wart 0 to 3)."""
    few = kind in ("beetroots", "nether_wart")
    share = (int(stage or 7) + 1) / (4 if few and stage else 8)
    rng = np.random.default_rng(zlib.crc32(kind.encode()))
    if kind == "wheat":
        colour = _mix(0x4F8A2E, 0xCDA748, max(0, share - 0.35) / 0.65)
        out = _blades(rng, colour, 8, max(2, int(12 * share)), max(2, int(15 * share)), 0.08)
        if share > 0.7:
            for x, y in ((1, 2), (4, 1), (7, 2), (9, 1), (12, 2), (14, 1)):
                _box(out, x, y, x + 1, y + 4, colour, 0.12)
                out[y + 1 : y + 5 : 2, x, :3] *= 0.82
        return out
    if kind == "nether_wart":
        out = _clear()
        for x in (2, 6, 10, 13):
            high = max(2, int(rng.integers(9, 12) * share))
            _box(out, x, 16 - high, x + 1, 15, 0x7E1A20)
            _box(out, max(0, x - 1), 16 - high, min(15, x + 2), 17 - high, 0xA12A2A)
        return out
    if "stem" in kind:
        out = _clear()
        colour = _mix(0x3E8A3C if "melon" in kind else 0x4F9A2E, 0xB59A3A, share)
        for h in range(max(2, int(13 * share))):
            _box(out, 7 + h % 3 // 2, 15 - h, 8, 15 - h, colour, 0.05 * (h % 3))
        if kind.startswith("attached"):
            _box(out, 8, 8, 15, 9, colour, 0.1 if "melon" in kind else -0.1)
        return out
    tops = {"carrots": 0x4F9638, "potatoes": 0x5E9440, "beetroots": 0x5A8C3C}[kind]
    out = _blades(rng, tops, 8 if kind != "potatoes" else 6, max(2, int(6 * share)), max(3, int(11 * share)), 0.7)
    if kind == "potatoes":
        out = np.maximum(out, np.roll(out, 1, 1) * 0.95)
    if share > 0.9:
        for x in (2, 7, 12):
            _box(out, x, 13, x + 1, 15, {"carrots": 0xE08A2E, "potatoes": 0xC9A35C, "beetroots": 0x9A2C3C}[kind])
    return out


@_paints("(dead_)?(tube|brain|bubble|fire|horn)_coral(_block|_fan|_wall_fan)?")
def _coral(rng, name, dead, kind, form):
    colour = _mix(CORALS[kind], 0x837A76, 0.93) * (0.95 + 0.05 * list(CORALS).index(kind)) if dead else _rgb(CORALS[kind])
    if form == "_block":
        return _picture(
            colour,
            0.7 * _stones(rng, 22) if kind in ("bubble", "fire") else 0.3 * _noise(rng, 6, 6) + 0.16 * _noise(rng, 16, 16),
        )
    out = _clear()
    fan = form is not None
    for bend in np.linspace(-1.2, 1.2, 7 if fan else 4) + rng.random() * 0.2:
        high = int(rng.integers(9, 15))
        for h in range(high):
            x = 8 + bend * h * (0.55 if fan else 0.4)
            _dot(out, int(x), 15 - h, colour, -0.15 + 0.025 * h)
            if kind != "tube" and h % 3 == 2:
                _dot(out, int(x + (1 if bend < 0 else -1)), 15 - h, colour, 0.08)
            if not fan:
                _dot(out, int(x) + 1, 15 - h, colour, -0.25 + 0.02 * h)
    return out


@_paints(
    "(vine|weeping_vines|weeping_vines_plant|twisting_vines|twisting_vines_plant|kelp|kelp_plant|"
    "sugar_cane|bamboo|bamboo_leaves|lily_pad)"
)
def _climber(rng, name, kind):
    out = _clear()
    if kind == "vine":
        lump = _noise(rng, 6, 5) + 0.5 * _noise(rng, 16, 16)
        return _cut(_picture(0x4E7B34, 0.26 * lump), (lump > -0.15) & (_noise(rng, 5, 2) > -0.45))
    if kind == "lily_pad":
        far, angle = hypot(_X - 7.5, _Y - 7.5), _arctan2(_Y - 7.5, _X - 7.5)
        return _cut(
            _picture(0x3E7D38, 0.08 * _cos(angle * 9) + 0.06 * _noise(rng, 6, 6)),
            (far < 7.4) & ~((abs(angle - 0.9) < 0.22) & (far > 1.5)),
        )
    if kind == "sugar_cane":
        for x in (2, 7, 12):
            for y in range(16):
                joint = (y + x) % 6 == 0
                _box(out, x, y, x + 1, y, 0x8DB562, -0.22 if joint else 0.04)
                out[y, x + 1, :3] *= 0.86
            _box(out, x + 2, 3 + x % 5, x + 2, 5 + x % 5, 0x7CA653)
        return out
    if kind == "bamboo":
        out = _picture(0x7C9F3E, 0.10 * _cos(_X * 1.3) + 0.04 * _noise(rng, 4, 8))
        out[4::8, :, :3] *= 0.72
        out[5::8, :, :3] *= 1.12
        return out
    if kind == "bamboo_leaves":
        return _blades(rng, 0x6B9B3C, 7, 6, 15, 0.9)
    colour = {"w": 0x94282A, "t": 0x149888, "k": 0x55803A}[kind[0]]
    tip = not kind.endswith("plant")
    for y in range(16):
        x = 7 + round(exact.sin(y * 0.8) * 1.2)
        at = 15 - y if kind[0] != "w" else y
        if tip and y > 12:
            continue
        _box(out, x, at, x + 1, at, colour, -0.1)
        if y % 3 == 1:
            for i in range(1, 5):
                _dot(out, x + 1 + i, at - i // 2, colour, 0.12)
                _dot(out, x - i, min(15, at + 1 - i // 2), colour, 0.02)
    if tip and kind[0] in "wt":
        _box(out, 6, 12 if kind[0] == "w" else 3, 9, 13 if kind[0] == "w" else 4, 0xE8A03C if kind[0] == "w" else 0x40C8A8)
    return out


@_paints(
    "(cactus_side|cactus_top|cactus|melon|melon_top|pumpkin|pumpkin_top|carved_pumpkin|jack_o_lantern|"
    "hay_block|hay_block_top|dried_kelp_block|sponge|wet_sponge|mushroom_stem|brown_mushroom_block|"
    "red_mushroom_block|mushroom_inside)"
)
def _fruit(rng, name, kind):
    if kind.startswith("cactus"):
        out = _picture(
            0x5C8A3E,
            (0.12 * _cos(_X * np.pi / 2) if kind != "cactus_top" else 0.06 * _cos(hypot(_X - 7.5, _Y - 7.5) * 1.4))
            + 0.03 * _grain(rng),
        )
        for x, y in ((3, 2), (11, 5), (7, 9), (3, 13), (14, 12), (12, 1)):
            _dot(out, x, y, 0xE4E2C4)
        return out
    if kind.startswith("melon"):
        return _picture(
            0x6E9A35,
            (0.22 * _sin(_X * np.pi / 2.0 + _noise(rng, 2, 4) * 1.4) if kind == "melon" else 0.16 * _noise(rng, 5, 5))
            + 0.05 * _noise(rng, 16, 16),
        )
    if kind in ("pumpkin", "pumpkin_top", "carved_pumpkin", "jack_o_lantern"):
        out = _picture(
            0xCE8128,
            (0.13 * _cos(_X * np.pi / 4 + 0.4) if kind != "pumpkin_top" else 0.1 * _cos(_arctan2(_Y - 7.5, _X - 7.5) * 8))
            + 0.04 * _noise(np.random.default_rng(3), 8, 8),
        )
        if kind == "pumpkin_top":
            _box(out, 7, 7, 8, 8, 0x7A7436)
        elif kind != "pumpkin":
            hole = 0x5A3410 if kind == "carved_pumpkin" else 0xFBE07A
            for x in (3, 10):
                _box(out, x, 5, x + 2, 6, hole)
                _dot(out, x + 1, 4, hole)
            _box(out, 3, 10, 12, 11, hole)
            for x in (4, 8, 11):
                _dot(out, x, 10, 0xB56E20)
            _box(out, 5, 12, 10, 12, hole)
        return out
    if kind.startswith("hay"):
        if kind.endswith("top"):
            return _picture(
                0xC0A030,
                0.3 * np.sign(_sin(np.maximum(abs(_X - 7.5), abs(_Y - 7.5)) * 2)) * 0.35 + 0.12 * _noise(rng, 16, 16),
            )
        out = _picture(0xC5A636, 0.12 * _noise(rng, 16, 5) + 0.06 * _noise(rng, 16, 16))
        _box(out, 0, 3, 15, 4, 0x9A4A2A)
        _box(out, 0, 11, 15, 12, 0x9A4A2A, -0.06)
        return out
    if kind == "dried_kelp_block":
        out = _picture(0x39402A, 0.2 * _noise(rng, 16, 4) + 0.1 * _noise(rng, 16, 16))
        out[[3, 12], :, :3] *= 1.5
        return out
    if "sponge" in kind:
        out = _picture(STONES["sponge"] if kind == "sponge" else 0x9FA046, 0.07 * _grain(rng))
        for _ in range(16):
            x, y = (int(v) for v in rng.integers(0, 16, 2))
            out[y, x, :3] *= 0.62
            out[y, (x + 1) % 16, :3] *= 0.8
        return out
    colour = {
        "mushroom_stem": 0xCFC9BA,
        "brown_mushroom_block": 0x957050,
        "red_mushroom_block": 0xC03430,
        "mushroom_inside": 0xD0AE80,
    }[kind]
    out = _picture(colour, (0.05 * _noise(rng, 12, 2) if kind == "mushroom_stem" else 0.05 * _grain(rng)))
    if kind == "red_mushroom_block":
        for x, y in ((2, 2), (10, 4), (5, 10), (13, 12)):
            _box(out, x, y, x + 1, y + 1, 0xEAD9CE)
    if kind == "mushroom_inside":
        out[::3, ::2, :3] *= 0.86
    return out


# Things made


@_paints(
    "(furnace|smoker|blast_furnace|dispenser|dropper|observer|piston|stonecutter|lodestone)_(front|"
    "front_lit|side|top|bottom|back|front_vertical|inner|head_sticky|head)"
)
def _machine(rng, name, kind, part):
    colour = {"smoker": 0x6E6456, "blast_furnace": 0x5E5F63, "lodestone": 0x8C8D90}.get(kind, 0x7C7C7E)
    shade = 0.10 * _noise(np.random.default_rng(2), 4, 8) + 0.06 * _noise(np.random.default_rng(4), 16, 16)
    if kind == "piston" and part.startswith("head"):
        out = _edges(_picture(WOODS["oak"][0], _boards(np.random.default_rng(1))), 0.1, 0.25)
        if part.endswith("sticky"):
            out[3:13, 3:13, :3] = out[3:13, 3:13, :3] * 0.4 + _rgb(0x78B058) * 0.6
        return out
    out = _edges(_picture(colour, shade), 0.14, 0.22)
    if part == "top" and kind in ("furnace", "smoker", "blast_furnace"):
        ring = np.maximum(abs(_X - 7.5), abs(_Y - 7.5))
        out[(ring > 5) & (ring < 6.1), :3] *= 0.8
    if kind == "piston" and part == "side":
        out[:4] = _picture(WOODS["oak"][0], _boards(np.random.default_rng(1)))[:4]
        out[4, :, :3] *= 0.6
    if kind == "observer":
        if part == "front":
            _box(out, 3, 4, 5, 7, 0x3A3A3C)
            _box(out, 10, 4, 12, 7, 0x3A3A3C)
            _box(out, 4, 11, 11, 12, 0x4A4A4C)
        elif part == "back":
            _box(out, 6, 6, 9, 9, 0x6A1A14)
        elif part == "top":
            for i in range(5):
                _box(out, 7 - i, 4 + i, 8 + i, 4 + i, 0x5A5A5C)
    if kind == "lodestone":
        _box(out, 5, 5, 10, 10, 0x5C5E62)
        _box(out, 6, 6, 9, 9, 0xA8AAAE)
    if part.startswith("front") and kind in ("furnace", "smoker", "blast_furnace"):
        lit = part == "front_lit"
        _box(out, 3, 2, 12, 4, colour, -0.3)
        _box(out, 3, 8, 12, 13, 0x201C1A)
        out[7, 3:13, :3] *= 0.75
        if kind == "blast_furnace":
            out[3, 3:13:2, :3] *= 0.6
            _box(out, 4, 9, 11, 12, 0x2A2624)
        if kind == "smoker":
            _box(out, 0, 5, 15, 6, WOODS["spruce"][1], 0.2)
        if lit:
            for x in range(4, 12):
                high = int(rng.integers(2, 5))
                for h in range(high):
                    _dot(out, x, 13 - h, (0xFFE38A, 0xF7A83A, 0xDE6A22, 0xB84418)[h])
    elif part.startswith("front") and kind in ("dispenser", "dropper"):
        far = hypot(_X - 7.5, _Y - 7.5)
        out[far < 4, :3] = _rgb(0x2A2828)
        out[(far >= 4) & (far < 5), :3] *= 0.7
        if kind == "dispenser":
            _box(out, 7, 5, 8, 10, 0x5E5A58)
        if part.endswith("vertical"):
            _box(out, 7, 7, 8, 8, 0x807C7A)
    return out


@_paints(
    "crafting_table_(top|side|front)",
    "cartography_table_(top|side)",
    "fletching_table_(top|side)",
    "smithing_table_(top|side)",
    "loom_(front|side|top)",
    "lectern_(top|side|front)",
    "barrel_(top|side|bottom|open)",
    "composter_(side|top|fill|ready)",
    "bookshelf()",
    "(?:note_block|jukebox)(_top)?",
)
def _workbench(rng, name, part):
    wood = {"c": "oak", "f": "birch", "s": "dark_oak", "l": "oak", "b": "spruce", "n": "dark_oak", "j": "jungle"}[name[0]]
    if name.startswith("cart"):
        wood = "dark_oak"
    colour = WOODS[wood][0]
    out = _edges(_picture(colour, _boards(np.random.default_rng(6)) * 0.8), 0.1, 0.25)
    if name == "bookshelf":
        out = _paint("oak_planks")
        for y0 in (1, 9):
            _box(out, 1, y0, 14, y0 + 5, 0x2E2114)
            x = 1
            while x < 14:
                wide = int(rng.integers(1, 3))
                tone = (0x8C3B32, 0x3F5E8C, 0x4E7A48, 0xA68A4C, 0x6A4A78, 0x9A6A3C)[rng.integers(6)]
                _box(out, x, y0 + int(rng.integers(0, 2)), min(14, x + wide - 1), y0 + 5, tone, 0.1 * rng.random())
                x += wide + (rng.random() < 0.2)
    elif name.startswith("crafting"):
        if part == "top":
            for i in (5, 10):
                out[2:14, i, :3] *= 0.62
                out[i, 2:14, :3] *= 0.62
            out[[0, 15], :, :3] *= 0.8
        elif part == "front":
            for h in range(7):
                _dot(out, 4 + h // 3, 4 + h, 0x6E6E72)
            _box(out, 3, 3, 6, 4, 0x9A9A9E)
            _box(out, 10, 4, 12, 11, 0x54402A)
        else:
            _box(out, 3, 4, 5, 11, 0x8C8C90)
            _box(out, 9, 4, 12, 6, 0x6A4A2A)
            _box(out, 10, 7, 11, 11, 0x8A6A40)
        out[0, :, :3] *= 0.8
    elif name.startswith("cart"):
        if part == "top":
            _box(out, 1, 1, 14, 14, 0xD8CBA0)
            out[_noise(rng, 4, 4) > 0.1, :3] *= 0.88
            _box(out, 10, 4, 11, 5, 0xA83A30)
        else:
            _box(out, 2, 2, 6, 5, 0xD8CBA0, -0.1)
    elif name.startswith("fletching"):
        if part == "top":
            for i in range(3, 13):
                _dot(out, i, 15 - i, 0x4A3A2A)
                _dot(out, i, i, 0x4A3A2A)
            _box(out, 2, 2, 4, 4, 0xECECE8)
        else:
            _box(out, 7, 3, 8, 12, 0x5A4630)
            _box(out, 6, 3, 9, 5, 0x8E8E92)
    elif name.startswith("smithing"):
        _box(out, 0, 0, 15, 4 if part != "top" else 15, 0x4A4C54)
        if part == "top":
            _edges(out, 0.2, 0.2)
            _box(out, 4, 6, 11, 9, 0x5E6068)
        else:
            _box(out, 5, 7, 10, 11, 0x3C3E44)
    elif name.startswith("loom"):
        if part == "front":
            _box(out, 3, 3, 12, 12, 0xD9D4C4)
            out[3:13, 3:13:2, :3] *= 0.9
            _box(out, 3, 9, 12, 10, 0xA84A3C)
        elif part == "top":
            out[2::4, 2:14, :3] *= 0.7
    elif name.startswith("lectern"):
        if part == "top":
            _box(out, 1, 2, 7, 12, 0xE4DCC4)
            _box(out, 8, 2, 14, 12, 0xEAE3CE)
            out[4:11:2, 2:14, :3] *= 0.85
        elif part == "front":
            _box(out, 5, 5, 10, 11, 0x54391E)
    elif name.startswith("barrel"):
        out = _picture(WOODS["spruce"][0], _boards(np.random.default_rng(5)).T)
        if part == "side":
            _box(out, 0, 2, 15, 3, 0x5A5148)
            _box(out, 0, 12, 15, 13, 0x5A5148)
        else:
            _edges(out, 0.0, 0.3)
            _box(out, 6, 7, 9, 8, 0x2C2018)
            if part == "open":
                _box(out, 3, 3, 12, 12, 0x241A10)
    elif name.startswith("composter"):
        if part == "fill":
            out = _picture(0x5E4424, 0.25 * _noise(rng, 16, 16))
        elif part == "ready":
            out = _picture(0x6A5230, 0.2 * _noise(rng, 16, 16))
            out[rng.random((16, 16)) < 0.2, :3] = _rgb(0xE8E6DA)
        elif part == "side":
            out[:, 3::4, :3] *= 0.72
    elif name.startswith("jukebox") and part:
        _box(out, 4, 7, 11, 8, 0x24180E)
    elif name.startswith("note"):
        _box(out, 7, 4, 8, 10, 0x2A1A10)
        _box(out, 5, 10, 7, 11, 0x2A1A10)
        _box(out, 8, 4, 10, 5, 0x2A1A10)
    return out


@_paints("(chest|trapped_chest|ender_chest)_(front|side|top)")
def _chest(rng, name, kind, part):
    colour = 0x29363A if kind == "ender_chest" else 0xA67A3C
    out = _picture(colour, (_boards(np.random.default_rng(9)) * 0.55) if kind != "ender_chest" else 0.18 * _noise(rng, 6, 6))
    dark = 0x151C20 if kind == "ender_chest" else 0x4C3318
    edge = (_X <= 1) | (_X >= 14) | (_Y >= 15) | ((_Y <= 2) if part != "top" else (_Y <= 1) | (_Y >= 14))
    out[edge, :3] = _rgb(dark) * 1.1
    if part != "top":
        out[6:8, 1:15, :3] = _rgb(dark)
    if part == "front":
        _box(out, 7, 5, 8, 9, {"chest": 0xD3D0C4, "trapped_chest": 0xC24A34, "ender_chest": 0x57C48E}[kind])
        out[9, 7:9, :3] *= 0.7
    return out


@_paints("(torch|soul_torch|redstone_torch|redstone_torch_off|wall_torch)")
def _torch(rng, name, kind):
    """Only columns 7 and 8 are seen; rows 6 and 7 are the flame."""
    out = _picture(0x7D6038, 0.1 * _noise(rng, 4, 8))
    out[:, 8, :3] *= 0.8
    head = {
        "torch": (0xFFF1B8, 0xFDBB48),
        "wall_torch": (0xFFF1B8, 0xFDBB48),
        "soul_torch": (0xD8FBF8, 0x4CC8D0),
        "redstone_torch": (0xFFA090, 0xE02A18),
        "redstone_torch_off": (0x5A1A14, 0x40100C),
    }[kind]
    _box(out, 0, 0, 15, 6, head[0])
    _box(out, 0, 7, 15, 8, head[1])
    return out


@_paints(
    "(ladder|rail|rail_corner|powered_rail|powered_rail_on|detector_rail|detector_rail_on|activator_rail|"
    "activator_rail_on|iron_bars|chain|scaffolding_top|scaffolding_side|spawner|tripwire|tripwire_hook|"
    "lever|cauldron|cauldron_top|hopper|anvil|anvil_top|chipped_anvil_top|damaged_anvil_top)"
)
def _ironwork(rng, name, kind):
    out = _clear()
    if kind == "ladder":
        for y in (2, 6, 10, 14):
            _box(out, 1, y, 14, y, 0x9C7B4A)
            _box(out, 1, y + 1, 14, y + 1, 0x6E5430)
        for x in (2, 12):
            _box(out, x, 0, x + 1, 15, 0xA98752)
            out[:, x + 1, :3] *= 0.78
    elif kind == "rail_corner":
        far = hypot(_X - 16, _Y - 16)
        ties = (np.round(_arctan2(16 - _Y, 16 - _X) * 6) % 2 == 0) & (far > 2) & (far < 15)
        out[ties] = [*_rgb(0x7C5D3A), 255]
        out[(abs(far - 4.5) < 0.9) | (abs(far - 12.5) < 0.9)] = [*_rgb(0x9A9A9E), 255]
    elif "rail" in kind:
        for y in range(1, 16, 4):
            _box(out, 1, y, 14, y + 1, 0x7C5D3A)
            out[y + 1, 1:15, :3] *= 0.8
        metal = 0xC9A43C if kind.startswith("powered") else 0x9A9A9E
        for x in (3, 12):
            _box(out, x, 0, x, 15, metal)
        if not kind.startswith("rail"):
            on = kind.endswith("on") and not kind.startswith("activator_rail_o_")
            middle = 0xE0402C if on and "_on" in kind else 0x6A1A14
            if kind.startswith("detector"):
                _box(out, 6, 6, 9, 9, middle)
                _box(out, 5, 5, 10, 5, 0x808084)
            else:
                _box(out, 7, 0, 8, 15, middle, -0.1 if kind.startswith("activator") else 0.1)
                if kind.startswith("activator"):
                    out[2::4, 7:9, :3] *= 0.5
    elif kind == "iron_bars":
        for x in (1, 5, 9, 13):
            _box(out, x, 0, x + 1, 15, 0x8C8F92)
            out[:, x + 1, :3] *= 0.78
        _box(out, 0, 7, 15, 7, 0x7A7D80)
    elif kind == "chain":
        for y in range(0, 16, 5):
            _box(out, 6, y, 9, min(15, y + 3), 0x474D58)
            out[y + 1 : y + 3, 7:9, 3] = 0
    elif kind.startswith("scaffolding"):
        for i in (0, 1, 14, 15):
            _box(out, i, 0, i, 15, 0xB39A54, 0.1 if i % 2 else -0.1)
            if kind.endswith("top"):
                _box(out, 0, i, 15, i, 0xB39A54, 0.1 if i % 2 else -0.1)
        if kind.endswith("top"):
            for i in range(2, 14):
                _dot(out, i, i, 0xC7B06A)
                _dot(out, i, 15 - i, 0xC7B06A)
        else:
            _box(out, 0, 0, 15, 1, 0xBDA45E)
    elif kind == "spawner":
        out = _edges(_picture(0x2C3B48, 0.1 * _noise(rng, 8, 8)))
        out[3:13, 3:13, 3] = np.where((_X[3:13, 3:13] % 4 == 0) | (_Y[3:13, 3:13] % 4 == 0), 255, 0)
    elif kind == "tripwire":
        _box(out, 0, 7, 15, 7, 0xB8B8B8)
    elif kind in ("tripwire_hook", "lever"):
        out = _picture(0x8A6A40 if kind == "lever" else 0x9A7B50, 0.15 * _noise(rng, 3, 8))
    else:
        tone = {"cauldron": 0x46464A, "cauldron_top": 0x4E4E52, "hopper": 0x4B4C50}.get(kind, 0x47474B)
        out = _edges(_picture(tone, 0.06 * _grain(rng)), 0.15, 0.2)
        if "anvil" in kind and kind != "anvil":
            for _ in range({"anvil_top": 0, "chipped_anvil_top": 6, "damaged_anvil_top": 16}[kind]):
                x, y = (int(v) for v in rng.integers(2, 14, 2))
                _box(out, x, y, x + 1, y, 0x2A2A2E)
    return out


@_paints(
    "(lantern|soul_lantern|campfire_log|campfire_ember|soul_campfire_ember|fire|soul_fire|lava|"
    "magma_block|glowstone|shroomlight|redstone_lamp|redstone_lamp_lit|beacon|end_rod|conduit|"
    "respawn_anchor_top|respawn_anchor_side|end_portal|end_gateway|nether_portal)"
)
def _glowing(rng, name, kind):
    soul = kind.startswith("soul")
    if "lantern" in kind:
        out = _picture(0x3C424C, 0.08 * _noise(rng, 6, 6))
        _box(out, 6, 9, 9, 13, 0xB8F2EE if soul else 0xFFE2A0)
        _box(out, 6, 12, 9, 13, 0x58C8CC if soul else 0xF2A948)
        _box(out, 5, 9, 5, 15, 0x4A515C)
        return out
    if kind == "campfire_log":
        return _paint("oak_log")
    if "ember" in kind:
        out = _picture(0x4A3A2C, 0.2 * _noise(rng, 8, 8))
        out[_noise(rng, 8, 8) > 0.25, :3] = _rgb(0x4CC8D0 if soul else 0xE8802C)
        return out
    if kind in ("fire", "soul_fire"):
        out = _clear()
        colours = (0xE6FFFF, 0x8CE8EC, 0x3CB4C4, 0x2A8CA4) if soul else (0xFFF4B0, 0xFFCB4E, 0xF28A26, 0xCF4E1A)
        for x in range(16):
            high = int(6 + 7 * abs(exact.sin(x * 0.9 + 0.6)) + rng.integers(-1, 3))
            for h in range(high):
                _dot(out, x, 15 - h, colours[min(3, int(h / high * 3.2 + rng.random() * 0.8))])
        return out
    if kind == "lava":
        flow = 0.8 * _noise(rng, 4, 4) + 0.45 * _noise(rng, 8, 8)
        out = _picture(0xD9641C, 0.22 * flow)
        out[flow > 0.35, :3] = _rgb(0xF4A83A)
        out[flow > 0.6, :3] = _rgb(0xFBD068)
        return out
    if kind == "magma_block":
        shade = _stones(rng, 10)
        out = _picture(0x5A2A1C, shade)
        out[shade <= -0.29, :3] = _rgb(0xE0762A)
        return out
    if kind in ("glowstone", "shroomlight"):
        return _picture(STONES["glowstone"] if kind == "glowstone" else 0xEE9A50, 0.8 * _stones(rng, 14) + 0.08)
    if kind.startswith("redstone_lamp"):
        return _edges(_picture(0xE0A860 if kind.endswith("lit") else 0x6E4628, 0.8 * _stones(rng, 9)), -0.2, 0.3)
    if kind == "beacon":
        out = _picture(0x9DDCDA, 0.2 - 0.05 * np.maximum(abs(_X - 7.5), abs(_Y - 7.5)))
        return _edges(out, 0.1, 0.1)
    if kind == "end_rod":
        return _picture(0xF0E9DE, 0.04 * _grain(rng))
    if kind == "conduit":
        return _edges(_picture(0x9C8A6E, 0.2 * _noise(rng, 5, 5)))
    if kind.startswith("respawn"):
        out = _picture(0x2A1440, 0.35 * _noise(rng, 5, 5))
        if kind.endswith("side"):
            _box(out, 4, 6, 11, 9, 0xD8A038)
        return _edges(out, 0.2, 0.2)
    if kind == "nether_portal":
        return _picture(0x7A32C8, 0.4 * _noise(rng, 4, 4) + 0.15 * _noise(rng, 12, 12), 190)
    out = _picture(0x0B1420, 0)
    for _ in range(22):
        x, y = (int(v) for v in rng.integers(0, 16, 2))
        _dot(
            out,
            x,
            y,
            (0x2E7C80, 0x58A0A0, 0x3A4C88, 0x86C8B8)[rng.integers(4)]
            if kind == "end_portal"
            else (0x8860B0, 0x58A0A0, 0xC8B0E0)[rng.integers(3)],
        )
    return out


@_paints("farmland(_wet)?")
def _farmland(rng, name, wet):
    furrow = np.where(_Y % 4 == 3, -0.22, np.where(_Y % 4 == 1, 0.07, 0.0))
    return _picture(0x553A22 if wet else 0x7F5A39, furrow + 0.09 * _noise(rng, 8, 16))


@_paints("bubbles")
def _bubbles(rng, name):
    out = _clear()
    for _ in range(12):
        x, y = (int(v) for v in rng.integers(1, 15, 2))
        _dot(out, x, y, 0xD8EEF6)
    return out


@_paints("water")
def _water(rng, name):
    return _picture(0x3A6EA5, 0.1 * _noise(rng, 4, 4), 150)


@_paints("crack_([0-9])")
def _crack(rng, name, stage):
    """Cracks of a block being broken: alpha is how dark."""
    rng = np.random.default_rng(77)
    out = _clear()
    for path in range(3 + int(stage)):
        x, y = 7.5 + rng.normal() * 0.8, 7.5 + rng.normal() * 0.8
        angle = path * 2.4 + rng.random()
        for step in range(2 + int(stage)):
            angle += rng.normal() * 0.45
            x, y = x + exact.cos(angle), y + exact.sin(angle)
            if 0 <= x < 16 and 0 <= y < 16:
                out[int(y), int(x), 3] = 150 if step else 120
    return out


@_paints("redstone_dust_(\\d+)")
def _dust(rng, name, power):
    return _picture(_mix(0x4A0A06, 0xF0301C, int(power) / 15), 0.12 * _noise(rng, 16, 16))


@_paints("(repeater|comparator)(_on)?")
def _circuit(rng, name, kind, on):
    out = _edges(_paint("smooth_stone"), 0.05, 0.1)
    wire = 0xE0402C if on else 0x6A1A14
    _box(out, 7, 2, 8, 13, wire)
    if kind == "comparator":
        _box(out, 3, 11, 12, 12, wire)
    return out


@_paints("(skeleton|wither_skeleton|zombie|player|creeper|dragon)_head_(front|side|top)")
def _head(rng, name, kind, part):
    colour = {
        "skeleton": 0xC6C6C2,
        "wither_skeleton": 0x343434,
        "zombie": 0x5C8050,
        "player": 0xC09078,
        "creeper": 0x6CA45C,
        "dragon": 0x1E1A22,
    }[kind]
    out = _picture(colour, 0.08 * _noise(rng, 8, 8))
    if kind == "player" and part != "front":
        out = _picture(0x4A3424, 0.08 * _noise(rng, 8, 8))
    if part == "front":  # the face fills rows 8 to 15, columns 4 to 11
        eye = {"dragon": 0xC860D8, "player": 0x4A5AA0}.get(kind, 0x181818)
        _box(out, 5, 11, 6, 11, eye)
        _box(out, 9, 11, 10, 11, eye)
        _box(out, 6, 14, 9, 14, colour, -0.4)
        if kind == "creeper":
            _box(out, 7, 12, 8, 14, 0x181818)
            _box(out, 5, 11, 6, 12, 0x181818)
            _box(out, 9, 11, 10, 12, 0x181818)
        if kind == "player":
            _box(out, 4, 8, 11, 9, 0x4A3424)
    return out


_PLAIN = {
    "smooth_red_sandstone": 0xB7642C,
    "tnt_side": 0xB83A2C,
    "tnt_top": 0xA8584A,
    "slime_block": 0x74B868,
    "honey_block": 0xE0992E,
    "honeycomb_block": 0xDE9426,
    "barrier": 0xB02020,
    "basalt_side": 0x4E4E54,
    "basalt_top": 0x5A5A60,
    "polished_basalt_side": 0x5E5E63,
    "polished_basalt_top": 0x66666B,
    "bone_block": 0xDDD8C2,
    "bone_block_top": 0xCFC8AC,
    "ancient_debris_top": 0x5C453E,
    "soul_sand": 0x54402F,
    "blue_ice": 0x74A6F2,
    "frosted_ice": 0xA4C8F6,
    "obsidian": 0x1B1428,
    "crying_obsidian": 0x2A1050,
    "snow_block": 0xF1F7F9,
    "bell": 0xDDB23C,
    "brewing_stand": 0x8C7A5A,
    "flower_pot": 0x8C5240,
    "turtle_egg": 0xDCD9B8,
    "sea_pickle": 0x77803A,
    "cocoa_0": 0x8C9A40,
    "cocoa_1": 0xA8803A,
    "cocoa_2": 0x9A5A2A,
    "cake_top": 0xF0ECE4,
    "cake_side": 0xD8A468,
    "cake_inner": 0xB87A4A,
    "dragon_egg": 0x14101A,
    "enchanting_table_side": 0x241C34,
    "enchanting_table_top": 0x8C2A30,
    "end_portal_frame_side": 0xA8B88C,
    "end_portal_frame_top": 0x4C7A68,
    "end_portal_frame_eye": 0x2C8A6A,
    "daylight_detector_top": 0xB8A888,
    "daylight_detector_inverted_top": 0x6A7488,
    "bee_nest_front": 0xC89440,
    "bee_nest_side": 0xC49A4C,
    "bee_nest_honey": 0xE0A030,
    "bee_nest_top": 0xB8904A,
    "beehive_front": 0xB09468,
    "beehive_side": 0xB89C70,
    "beehive_honey": 0xD8A030,
    "beehive_top": 0xB49A68,
    "chorus_plant": 0x5E3A5E,
    "chorus_flower": 0x9A7A9A,
    "chorus_flower_dead": 0x6A5068,
    "grindstone_wheel": 0x8E8E90,
    "saw": 0xB8B8BA,
    "command_block": 0xB08668,
    "repeating_command_block": 0x7468A8,
    "chain_command_block": 0x84A896,
    "structure_block": 0x5E4A62,
    "jigsaw": 0x50405A,
    "structure_void": 0x4A6AA8,
    "target_side": 0xE0D8C4,
    "target_top": 0xE0C8BC,
}


@_paints(_any(_PLAIN))
def _plain(rng, name, kind):
    """What has a colour and one mark of its own."""
    soft = 0.04 if kind.startswith(("snow", "bell", "honey", "slime", "cake", "target")) else 0.10
    out = _picture(
        _PLAIN[kind], soft * _grain(rng), {"slime_block": 170, "honey_block": 190, "frosted_ice": 190}.get(kind, 255)
    )
    ring, far = np.maximum(abs(_X - 7.5), abs(_Y - 7.5)), hypot(_X - 7.5, _Y - 7.5)
    if kind == "tnt_side":
        _box(out, 0, 5, 15, 10, 0xE6E0D6)
        for x in (2, 7, 12):
            _box(out, x, 6, x + 1, 9, 0x2A2422)
        out[:, 3::4, :3] *= 0.9
    elif kind == "tnt_top":
        out[(_X % 4 == 0) | (_Y % 4 == 0), :3] *= 0.8
        _box(out, 7, 7, 8, 8, 0x3A3430)
    elif kind in ("slime_block", "honey_block"):
        out[(ring > 4) & (ring < 5), :3] *= 0.85
        out[ring > 7, 3] = 230
    elif kind == "honeycomb_block":
        out[(_Y % 5 == 0) | ((_X + (_Y // 5) * 3) % 6 == 0), :3] *= 0.8
    elif kind in ("basalt_side", "polished_basalt_side"):
        out = _picture(_PLAIN[kind], 0.16 * _noise(rng, 12, 2) + (0.06 if kind[0] == "p" else 0.1) * _noise(rng, 16, 5))
    elif kind in ("basalt_top", "polished_basalt_top", "bone_block_top", "ancient_debris_top"):
        out = _rings(rng, _PLAIN[kind], _mix(_PLAIN[kind], 0, 0.15))
    elif kind == "bone_block":
        out = _picture(_PLAIN[kind], 0.06 * _noise(rng, 12, 2))
        out[[0, 15], :, :3] *= 0.88
    elif kind == "soul_sand":
        out = _picture(_PLAIN[kind], 0.2 * _noise(rng, 8, 8))
        for x, y in ((4, 5), (11, 9)):
            _box(out, x - 1, y, x - 1, y + 1, 0x30241A)
            _box(out, x + 1, y, x + 1, y + 1, 0x30241A)
            _box(out, x - 1, y + 3, x + 1, y + 3, 0x30241A)
    elif kind in ("obsidian", "crying_obsidian", "dragon_egg"):
        out = _picture(_PLAIN[kind], 0.5 * _noise(rng, 5, 5) + 0.3 * _noise(rng, 16, 16))
        if kind == "crying_obsidian":
            out[_noise(rng, 4, 6) > 0.5, :3] = _rgb(0x8A30E8)
        if kind == "dragon_egg":
            _blobs(rng, out, 0x4A2A5E, 5, 1)
    elif kind == "blue_ice":
        out[abs(_noise(rng, 4, 4)) < 0.06, :3] *= 1.12
    elif kind == "snow_block":
        _edges(out, 0.02, 0.03)
    elif kind in ("cake_top", "cake_side"):
        for x, y in ((3, 3), (10, 4), (5, 10), (12, 12)) if kind == "cake_top" else ():
            _box(out, x, y, x + 1, y + 1, 0xC8343A)
        if kind == "cake_side":
            _box(out, 0, 8, 15, 10, 0xF0ECE4)
            out[11, ::3, :3] = _rgb(0xF0ECE4)
    elif kind == "enchanting_table_side":
        _box(out, 0, 4, 15, 5, 0x8C2A30)
        _box(out, 6, 9, 9, 12, 0x58C8C0)
    elif kind == "enchanting_table_top":
        _box(out, 4, 4, 11, 11, 0xB8484A)
        out[(ring > 6), :3] = _rgb(0x241C34)
        _box(out, 1, 1, 2, 2, 0x58C8C0)
        _box(out, 13, 13, 14, 14, 0x58C8C0)
    elif kind.startswith("end_portal_frame"):
        _edges(out)
        if kind.endswith("top"):
            out[(ring > 2) & (ring < 4), :3] *= 0.7
        if kind.endswith("eye"):
            out[far < 3, :3] = _rgb(0x183A30)
    elif kind.startswith("daylight"):
        out[(_X % 5 == 0) | (_Y % 5 == 0), :3] *= 0.75
        _edges(out)
    elif kind.startswith("bee"):
        out[3::4, :, :3] *= 0.8
        if kind.endswith(("front", "honey")):
            _box(out, 5, 7, 10, 10, 0x3A2410)
            if kind.endswith("honey"):
                for x in (4, 7, 11):
                    _box(out, x, 10, x, 14, 0xF2B234)
    elif "command" in kind:
        _edges(out, 0.2, 0.25)
        out[(ring > 3) & (ring < 4), :3] *= 0.6
        _box(out, 6, 6, 9, 9, _mix(_PLAIN[kind], 0xFFFFFF, 0.5))
    elif kind in ("structure_block", "jigsaw", "structure_void"):
        _edges(out, 0.2, 0.25)
        for i in range(3, 13):
            _dot(out, i, i if kind == "jigsaw" else 3, 0xA890B0)
            _dot(out, 3, i, 0xA890B0)
    elif kind == "barrier":
        out[far > 6, 3] = 0
    elif kind.startswith("target"):
        for low, high in ((1.5, 3.2), (5, 6.6)):
            out[(far > low) & (far < high), :3] = _rgb(0xCE4A40)
        if kind.endswith("side"):
            out[14:, :, :3] = _rgb(0xC8A848)
    elif kind == "turtle_egg":
        _blobs(rng, out, 0xA8A478, 6, 1)
    elif kind in ("grindstone_wheel", "saw"):
        out = _edges(out, 0.1, 0.2)
    return out


@_paints("(.*)")
def _anything(rng, name, kind):
    """Speckles of a colour that comes from the name; also what other names stand for."""
    plain = re.sub(r"^(potted|wall)_", "", kind)
    for suffix, _part in (
        ("_stairs", ""),
        ("_slab", ""),
        ("_wall", ""),
        ("_fence_gate", ""),
        ("_fence", ""),
        ("_button", ""),
        ("_pressure_plate", ""),
        ("_wall_sign", ""),
        ("_sign", ""),
    ):
        if plain.endswith(suffix):
            return _paint(material(plain))
    for other in (f"{plain}_side", f"{plain}_front", f"{plain}_top", f"{plain}_0"):
        if any(pattern.fullmatch(other) for pattern, _ in _RULES[:-1]):
            return _paint(other)
    colour = np.array([rng.integers(70, 190) for _ in range(3)], float)
    return _picture(colour, 0.1 * _grain(rng))


_SHAPES = ("_stairs", "_slab", "_wall", "_fence_gate", "_fence", "_button", "_pressure_plate", "_wall_sign", "_sign")
_MATERIALS = {
    "stone_brick": "stone_bricks",
    "brick": "bricks",
    "prismarine_brick": "prismarine_bricks",
    "nether_brick": "nether_bricks",
    "quartz": "quartz_block",
    "purpur": "purpur_block",
    "mossy_stone_brick": "mossy_stone_bricks",
    "end_stone_brick": "end_stone_bricks",
    "red_nether_brick": "red_nether_bricks",
    "polished_blackstone_brick": "polished_blackstone_bricks",
    "smooth_quartz": "smooth_quartz",
    "light_weighted": "gold_block",
    "heavy_weighted": "iron_block",
}


def material(name: str) -> str:
    """The texture of what a block is cut from: `oak_stairs` from `oak_planks`, `brick_wall` from `bricks`.

    >>> material("spruce_fence_gate"), material("stone_brick_slab"), material("granite")
    ('spruce_planks', 'stone_bricks', 'granite')
    """
    for suffix in _SHAPES:
        if name.endswith(suffix):
            stem = name.removesuffix(suffix)
            return f"{stem}_planks" if stem in WOODS else _MATERIALS.get(stem, stem)
    return name


_INDEX: dict[str, int] = {}
_PICTURES: list[np.ndarray] = []
_ATLAS: list[np.ndarray] = []


def _paint(name: str) -> np.ndarray:
    """The picture of a name without turns, painted once; a copy, float64, shape (16, 16, 4)."""
    if name not in _INDEX:
        rng = np.random.default_rng(zlib.crc32(name.encode()))
        for pattern, painter in _RULES:
            match = pattern.fullmatch(name)
            if match:
                picture = np.clip(painter(rng, name, *match.groups()), 0, 255).astype(np.uint8)
                break
        else:
            raise AssertionError("the last rule matches every name")
        _INDEX.setdefault(name, len(_PICTURES))
        if _INDEX[name] == len(_PICTURES):
            _PICTURES.append(picture)
    return _PICTURES[_INDEX[name]].astype(float)


def texture(name: str) -> int:
    """Index of a texture in the atlas, painted at the first question; see the module for how names are made."""
    if name in _INDEX:
        return _INDEX[name]
    plain, turned, turn = name.partition("@")
    _paint(plain)
    if turned:
        picture = _PICTURES[_INDEX[plain]]
        picture = picture[:, ::-1] if turn == "flip" else np.rot90(picture, -int(turn) // 90)
        _INDEX[name] = len(_PICTURES)
        _PICTURES.append(np.ascontiguousarray(picture))
    return _INDEX[name]


def atlas() -> np.ndarray:
    """All textures painted so far: uint8, shape (N, 16, 16, 4), red, green, blue, alpha.

    Row 0 is the top. Indices never change.
    """
    if not _ATLAS or len(_ATLAS[0]) != len(_PICTURES):
        _ATLAS[:] = [np.array(_PICTURES, np.uint8).reshape(-1, SIDE, SIDE, 4)]
    return _ATLAS[0]
