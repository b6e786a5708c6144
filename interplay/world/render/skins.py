"""What mobs are made of: boxes, and the pixels on their faces, all of it drawn here in code.

A body is a list of `Part`s, measured in pixels of a sixteenth of a block. In its own frame a mob looks along +z, its left is +x
and its feet stand at y = 0. A face has one texel per pixel. Rows of letters are pixel art: `.` leaves the coat as it is.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from interplay.world.registry.entity_types import PROFESSIONS
from interplay.world.render.exact import hypot

RIGHT, LEFT, BACK, FRONT, TOP, BOTTOM = range(6)
"""Faces of a part: -x, +x, -z, +z, +y, -y. Pictures of them are as seen by who stands before the face; the last row of the
top face, and the first one of the bottom face, touch the front."""
SIDES = (RIGHT, LEFT, BACK, FRONT)
ALL = (*SIDES, TOP, BOTTOM)

Colour = tuple[int, int, int]

WOOL: Mapping[str, Colour] = {
    "white": (236, 238, 238),
    "orange": (240, 122, 24),
    "magenta": (190, 70, 182),
    "light_blue": (64, 176, 220),
    "yellow": (248, 200, 48),
    "lime": (116, 188, 32),
    "pink": (238, 144, 174),
    "gray": (68, 74, 78),
    "light_gray": (148, 148, 140),
    "cyan": (24, 142, 150),
    "purple": (124, 48, 174),
    "blue": (56, 64, 160),
    "brown": (118, 76, 44),
    "green": (88, 114, 30),
    "red": (164, 42, 36),
    "black": (28, 28, 32),
}
"""The sixteen dyes in the game's order, as we mix them."""


@dataclass
class Part:
    """One box of a body.

    Attributes:
        pivot: The point it turns about.
        box: x0, y0, z0, x1, y1, z1, from the pivot.
        coat: Its colour before details are painted.
        turn: Degrees about x (positive tips the front down), y (positive turns to the right, as yaw), z.
        swing: How far walking swings it about x, and at which point of a step (0 to 1) it begins.
        lift: The same about z, for legs that stand out to the side.
        head: Turns with the head.
        glow: Shines in the dark.
        flutter: Degrees it beats about z when off the ground.
        grain: How much its texels differ in brightness.
    """

    pivot: tuple[float, float, float]
    box: tuple[float, float, float, float, float, float]
    coat: Colour
    turn: tuple[float, float, float] = (0.0, 0.0, 0.0)
    swing: tuple[float, float] = (0.0, 0.0)
    lift: tuple[float, float] = (0.0, 0.0)
    head: bool = False
    glow: bool = False
    flutter: float = 0.0
    grain: float = 7.0
    faces: list[np.ndarray] = field(default_factory=list)

    def size(self, face: int) -> tuple[int, int]:
        """Rows and columns of a face."""
        width, height, depth = (max(1, round(self.box[axis + 3] - self.box[axis])) for axis in range(3))
        return ((height, depth), (height, depth), (height, width), (height, width), (depth, width), (depth, width))[face]


@dataclass
class Body:
    """All parts of a mob.

    Attributes:
        scale: Of the whole.
    """

    parts: list[Part]
    scale: float = 1.0


def coated(parts: list[Part], name: str) -> list[Part]:
    """Give every face its coat: the colour with some grain, a little darker towards the ground."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    for part in parts:
        part.faces = []
        for face in ALL:
            rows, columns = part.size(face)
            shade = rng.normal(0, part.grain, (rows, columns, 1)) * 0.6
            patch = rng.normal(0, part.grain, ((rows + 1) // 2, (columns + 1) // 2, 1)) * 0.7
            shade = shade + np.repeat(np.repeat(patch, 2, 0), 2, 1)[:rows, :columns]
            if face in SIDES:
                shade = shade + np.linspace(3, -9, rows)[:, None, None]
            picture = np.full((rows, columns, 4), 255.0)
            picture[..., :3] = np.array(part.coat) + shade
            part.faces.append(np.clip(picture, 0, 255).astype(np.uint8))
    return parts


def paint(part: Part, face: int, rows: list[str], palette: Mapping[str, Colour], at: tuple[int, int] = (0, 0)) -> None:
    """Paint letters of a palette onto a face, from row and column `at` on; `.` leaves what is there, `_` cuts a hole."""
    picture = part.faces[face]
    for r, row in enumerate(rows, at[0]):
        for c, letter in enumerate(row, at[1]):
            if letter != "." and r < picture.shape[0] and c < picture.shape[1]:
                picture[r, c] = (0, 0, 0, 0) if letter == "_" else (*palette[letter], 255)


def patches(parts: list[Part], colour: Colour, share: float, name: str, grain: float = 5.0) -> None:
    """Spread large spots of a colour over some parts, about `share` of their texels."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    for part in parts:
        for face in ALL:
            picture = part.faces[face]
            rows, columns = picture.shape[:2]
            y, x = np.mgrid[0:rows, 0:columns]
            field_ = np.zeros((rows, columns))
            for _ in range(max(1, rows * columns // 30)):
                cy, cx, size = rng.uniform(0, rows), rng.uniform(0, columns), rng.uniform(1.2, 3.2)
                field_ = np.maximum(field_, size - hypot(y + 0.5 - cy, (x + 0.5 - cx) * 0.8))
            spots = field_ > np.quantile(field_, 1 - share)
            shade = rng.normal(0, grain, (rows, columns, 1))
            picture[spots, :3] = np.clip(np.array(colour) + shade, 0, 255).astype(np.uint8)[spots]


def band(part: Part, first: int, last: int, colour: Colour, faces: tuple[int, ...] = SIDES, grain: float = 5.0) -> None:
    """Colour rows `first` to `last` (not included) of some faces: socks, belts, hems."""
    for face in faces:
        picture = part.faces[face][first:last]
        wave = (
            ((np.arange(picture.shape[1])[None, :, None] * 7 + np.arange(picture.shape[0])[:, None, None] * 5) % 4 - 1.5)
            * grain
            / 2
        )
        picture[..., :3] = np.clip(np.array(colour) + wave, 0, 255).astype(np.uint8)


def _legs(width: int, height: int, x: float, front: float, back: float, coat: Colour, swing: float = 40) -> list[Part]:
    half = width / 2
    box = (-half, -height, -half, half, 0, half)
    return [
        Part((sx * x, height, z), box, coat, swing=(swing, phase))
        for sx, z, phase in ((1, front, 0.0), (-1, front, 0.5), (1, back, 0.5), (-1, back, 0.0))
    ]


def _dark(colour: Colour, by: float = 0.7) -> Colour:
    return tuple(min(255, int(c * by)) for c in colour)  # type: ignore[return-value]


BLACK, WHITE = (24, 22, 26), (244, 244, 240)


def cow() -> Body:
    """A cow."""
    coat, white = (82, 56, 40), (226, 220, 212)
    legs = _legs(4, 12, 4, 6, -7, coat)
    body = Part((0, 12, 0), (-6, 0, -9, 6, 10, 9), coat, grain=6)
    udder = Part((0, 12, -5), (-2, -1, -3, 2, 0, 3), (222, 160, 156))
    head = Part((0, 20, 9), (-4, -4, 0, 4, 4, 6), coat, head=True)
    snout = Part((0, 20, 9), (-3, -4, 6, 3, 0, 7), (206, 164, 150), head=True, grain=3)
    horns = [Part((0, 20, 9), (x, 2, 2, x + 1, 5, 3), (214, 206, 184), head=True, grain=3) for x in (-5, 4)]
    ears = [Part((0, 20, 9), (x, 0, 2, x + 2, 2, 3), _dark(coat), head=True, grain=3) for x in (-6, 4)]
    tail = Part((0, 21, -9), (-0.5, -9, -1, 0.5, 0, 0), _dark(coat), turn=(6, 0, 0), swing=(10, 0))
    parts = coated([body, head, *legs, udder, snout, *horns, *ears, tail], "cow")
    patches([body], white, 0.36, "cow spots")
    for leg in legs:
        band(leg, 8, 10, white)
        band(leg, 10, 12, (54, 46, 42))
    paint(head, FRONT, ["...ww...", "...ww...", "k..ww..k", "kw.ww.wk"], {"w": white, "k": BLACK})
    paint(head, TOP, ["........"] * 3 + ["...ww..."] * 3, {"w": white})
    paint(snout, FRONT, ["......", ".k..k.", "......", "..rr.."], {"k": (110, 74, 70), "r": (170, 118, 108)})
    return Body(parts)


def pig() -> Body:
    """A pig."""
    coat = (236, 158, 156)
    legs = _legs(4, 6, 3, 5, -7, coat)
    body = Part((0, 6, 0), (-5, 0, -8, 5, 8, 8), coat, grain=4)
    head = Part((0, 12, 7), (-4, -4, 0, 4, 4, 8), coat, head=True, grain=4)
    snout = Part((0, 12, 7), (-2, -3, 8, 2, 0, 9), (226, 132, 134), head=True, grain=3)
    ears = [Part((0, 12, 7), (x, 2, 3, x + 2, 5, 4), (220, 132, 132), head=True, grain=3) for x in (-5, 3)]
    tail = Part((0, 12, -8), (-1, -1, -2, 1, 1, 0), (222, 130, 132), turn=(0, 0, 30))
    parts = coated([body, head, *legs, snout, *ears, tail], "pig")
    for leg in legs:
        band(leg, 5, 6, (176, 104, 98))
    paint(head, FRONT, ["........"] * 3 + ["kw....wk", "........"], {"k": BLACK, "w": WHITE})
    paint(snout, FRONT, ["....", "k..k", "...."], {"k": (150, 66, 74)})
    patches([body], (226, 140, 140), 0.12, "pig spots", 3)
    return Body(parts)


def sheep(wool: Colour, sheared: bool = False) -> Body:
    """A sheep with its wool, or without."""
    skin, face = (214, 186, 164), (222, 196, 172)
    name = f"sheep {wool} {sheared}"
    legs = _legs(4, 12, 3, 5, -6, skin)
    head = Part((0, 18, 8), (-3, -3, 0, 3, 3, 7), face, head=True, grain=4)
    ears = [Part((0, 18, 8), (x, 0, 2, x + 2, 1, 4), (206, 170, 150), head=True, grain=3) for x in (-5, 3)]
    if sheared:
        body = Part((0, 12, 0), (-4, 0, -8, 4, 7, 8), tuple((3 * s + w) // 4 for s, w in zip(skin, wool, strict=True)), grain=5)  # type: ignore[arg-type]
        parts = coated([body, head, *legs, *ears], name)
    else:
        body = Part((0, 11, 0), (-6, 0, -9, 6, 11, 9), wool, grain=10)
        cap = Part((0, 18, 8), (-3.6, -1.5, -0.6, 3.6, 3.6, 4.6), wool, head=True, grain=9)
        socks = [Part(leg.pivot, (-2.5, -7, -2.5, 2.5, 0, 2.5), wool, swing=leg.swing, grain=9) for leg in legs]
        tail = Part((0, 18, -9), (-1.5, -3, -2, 1.5, 1, 0), wool, grain=8)
        parts = coated([body, head, *legs, *ears, cap, *socks, tail], name)
    for leg in legs:
        band(leg, 10, 12, (84, 68, 62))
    paint(
        head,
        FRONT,
        ["......", "......", "kw..wk", "......", "..pp..", "..nn.."],
        {"k": BLACK, "w": WHITE, "p": (218, 150, 146), "n": (176, 112, 108)},
    )
    return Body(parts)


def chicken() -> Body:
    """A chicken."""
    white, yellow = (240, 238, 232), (236, 178, 50)
    legs = [Part((x, 5, 0), (-0.5, -5, -0.5, 0.5, 0, 0.5), yellow, swing=(40, phase)) for x, phase in ((1.5, 0.0), (-1.5, 0.5))]
    feet = [
        Part((x, 5, 0), (-1.5, -5, -0.5, 1.5, -4, 2.5), yellow, swing=(40, phase)) for x, phase in ((1.5, 0.0), (-1.5, 0.5))
    ]
    body = Part((0, 5, 0), (-3, 0, -4, 3, 6, 4), white, grain=5)
    wings = [
        Part((3, 10, 0), (0, -4, -3, 1, 0, 3), (224, 222, 216), flutter=70),
        Part((-3, 10, 0), (-1, -4, -3, 0, 0, 3), (224, 222, 216), flutter=-70),
    ]
    head = Part((0, 9, 4), (-2, 0, -2, 2, 6, 1), white, head=True, grain=4)
    beak = Part((0, 9, 4), (-2, 2, 1, 2, 4, 3), yellow, head=True, grain=4)
    wattle = Part((0, 9, 4), (-1, 0, 1, 1, 2, 2), (204, 40, 38), head=True, grain=4)
    comb = Part((0, 9, 4), (-0.5, 6, -1.5, 0.5, 7, 0.5), (204, 40, 38), head=True, grain=4)
    tail = Part((0, 9, -4), (-1.5, 0, -1, 1.5, 3, 1), (226, 224, 218), turn=(-24, 0, 0))
    parts = coated([body, head, *legs, *feet, *wings, beak, wattle, comb, tail], "chicken")
    paint(head, RIGHT, ["...", ".k."], {"k": BLACK})
    paint(head, LEFT, ["...", ".k."], {"k": BLACK})
    paint(head, FRONT, ["....", "k..k"], {"k": BLACK})
    return Body(parts)


def rabbit(coat: Colour, name: str) -> Body:
    """A rabbit."""
    light = tuple(min(255, c + 40) for c in coat)
    body = Part((0, 2, -1), (-2.5, 0, -4, 2.5, 5, 3), coat, turn=(-12, 0, 0))
    tail = Part((0, 4, -5), (-1.5, -1, -2, 1.5, 2, 0), light)  # type: ignore[arg-type]
    head = Part((0, 6, 2), (-2.5, -1, -1, 2.5, 3, 4), coat, head=True)
    ears = [Part((0, 6, 2), (x, 3, -1, x + 2, 8, 0), coat, turn=(-8, 0, 0), head=True) for x in (-2.5, 0.5)]
    nose = Part((0, 6, 2), (-0.5, 0.5, 4, 0.5, 1.5, 4.5), (222, 130, 136), head=True, grain=2)
    hind = [Part((x, 3, -3), (-1, -3, -1, 1, 1, 4), coat, swing=(46, 0.0)) for x in (-2.5, 2.5)]
    front = [Part((x, 4, 2), (-1, -4, -1, 1, 0, 1), coat, swing=(46, 0.5)) for x in (-1.6, 1.6)]
    parts = coated([body, head, *ears, tail, nose, *hind, *front], f"rabbit {name}")
    paint(head, RIGHT, [".....", "...k.", "...w."], {"k": BLACK, "w": light})  # type: ignore[dict-item]
    paint(head, LEFT, [".....", ".k...", ".w..."], {"k": BLACK, "w": light})  # type: ignore[dict-item]
    paint(head, FRONT, [".....", "k...k", ".lll.", ".lll."], {"k": BLACK, "l": light})  # type: ignore[dict-item]
    for ear in ears:
        paint(ear, FRONT, ["..", "pp", "pp", "pp", "pp"], {"p": (226, 160, 158)})
    if name == "black_and_white":
        patches([body, head], WHITE, 0.4, "rabbit spots")
    return Body(parts)


ROBES: Mapping[str, tuple[Colour, Colour, str]] = {
    "none": ((128, 86, 62), (100, 64, 46), ""),
    "armorer": ((70, 66, 68), (42, 40, 44), "visor"),
    "butcher": ((226, 216, 206), (172, 52, 44), "band"),
    "cartographer": ((196, 178, 136), (72, 112, 150), "monocle"),
    "cleric": ((122, 60, 148), (214, 176, 70), ""),
    "farmer": ((150, 108, 62), (198, 164, 84), "straw"),
    "fisherman": ((88, 116, 130), (176, 160, 116), "brown hat"),
    "fletcher": ((104, 96, 60), (140, 72, 48), "green hat"),
    "leatherworker": ((112, 68, 44), (150, 98, 62), "apron"),
    "librarian": ((206, 200, 190), (150, 42, 40), "red hat"),
    "mason": ((78, 84, 88), (36, 36, 40), "dark hat"),
    "nitwit": ((76, 124, 62), (56, 92, 46), ""),
    "shepherd": ((200, 190, 172), (112, 150, 178), "white hat"),
    "toolsmith": ((96, 88, 82), (46, 44, 48), "apron"),
    "weaponsmith": ((86, 70, 66), (38, 36, 38), "patch"),
}
HATS: Mapping[str, Colour] = {
    "straw": (216, 186, 96),
    "brown hat": (120, 92, 58),
    "green hat": (74, 100, 50),
    "red hat": (158, 44, 42),
    "dark hat": (50, 50, 56),
    "white hat": (226, 222, 212),
}


def villager(profession: str, skin: Colour = (196, 142, 112), name: str = "villager", nose: Colour | None = None) -> Body:
    """A villager, dressed for its work."""
    robe, trim, wears = ROBES[profession]
    head = Part((0, 24, 0), (-4, 0, -4, 4, 10, 4), skin, head=True, grain=3)
    beak = Part((0, 24, 0), (-1, -1, 4, 1, 3, 6), nose or _dark(skin, 0.9), head=True, grain=3)
    body = Part((0, 6, 0), (-4, 0, -3, 4, 18, 3), robe, grain=5)
    coat = Part((0, 3, 0), (-4.4, 0, -3.4, 4.4, 20, 3.4), robe, grain=5)
    legs = [Part((x, 12, 0), (-2, -12, -2, 2, 0, 2), (74, 56, 48), swing=(34, phase)) for x, phase in ((2, 0.0), (-2, 0.5))]
    sleeves = [Part((x, 22, 1), (-2, -7, -2, 2, 0, 2), _dark(robe, 0.92), turn=(-42, 0, 0)) for x in (-6, 6)]
    hands = Part((0, 22, 1), (-4, -7, -2, 4, -3, 2), _dark(robe, 0.92), turn=(-42, 0, 0))
    parts = [body, coat, head, *legs, *sleeves, hands, beak]
    if wears in HATS:
        parts.append(Part((0, 24, 0), (-4.5, 7, -4.5, 4.5, 10.6, 4.5), HATS[wears], head=True, grain=5))
        if wears in ("straw", "brown hat", "white hat"):
            parts.append(Part((0, 24, 0), (-7, 7, -7, 7, 8, 7), HATS[wears], head=True, grain=6))
    if wears == "red hat":
        parts.append(Part((0, 24, 0), (-5, 10, -5, 5, 11, 5), (196, 168, 88), head=True))
    coated(parts, f"{name} {profession}")
    brow = _dark(skin, 0.36)
    paint(
        head,
        FRONT,
        ["........"] * 4 + [".bbbbbb.", "wg....gw", "........", "........", "..mmmm.."],
        {"b": brow, "w": WHITE, "g": (64, 128, 66), "m": _dark(skin, 0.72)},
    )
    paint(coat, FRONT, ["..tttt..", "...tt..."] + ["...tt..."] * 16, {"t": trim})
    band(coat, 18, 20, trim)
    for sleeve in (*sleeves, hands):
        band(sleeve, 5 if sleeve is not hands else 3, 7, skin if sleeve is hands else _dark(robe, 0.8))
    if wears == "apron":
        paint(coat, FRONT, ["........"] * 7 + [".aaaaaa."] * 11, {"a": trim})
    if wears == "visor":
        paint(
            head,
            FRONT,
            ["........"] * 3 + ["kkkkkkkk", "kkkkkkkk", "kggkkggk", "kkkkkkkk"],
            {"k": (44, 42, 48), "g": (150, 200, 210)},
        )
    if wears == "monocle":
        paint(head, FRONT, ["........"] * 4 + [".....yyy", ".....ygy", ".....yyy"], {"y": (224, 190, 80), "g": (190, 226, 230)})
    if wears == "patch":
        paint(head, FRONT, ["........"] * 3 + ["kk......", ".kkk....", "kkkk....", "kkk....."], {"k": BLACK})
    if wears == "band":
        paint(head, FRONT, ["rrrrrrrr", "rrrrrrrr"], {"r": trim})
        paint(coat, FRONT, ["........"] * 8 + ["..r..r..", "........", "...rr...", ".r......"], {"r": (180, 60, 50)})
    if profession == "cleric":
        paint(coat, FRONT, ["........"] * 3 + ["...tt...", "..tttt..", "...tt..."], {"t": trim})
    return Body(parts)


def witch() -> Body:
    """A witch: a villager gone wrong, with a hat."""
    body = villager("cleric", (170, 146, 122), "witch", (150, 124, 104))
    coat = body.parts[1]
    dark, sash = (58, 40, 74), (70, 108, 62)
    for part in (body.parts[0], coat, *body.parts[5:8]):
        for picture in part.faces:
            grain = picture[..., :3].astype(float).mean(-1, keepdims=True) / max(1.0, float(picture[..., :3].mean()))
            picture[..., :3] = np.clip(np.array(dark) * (0.35 + 0.65 * grain), 0, 255).astype(np.uint8)
    band(coat, 10, 12, sash)
    band(coat, 18, 20, (40, 28, 54))
    brim = Part((0, 24, 0), (-6, 9, -6, 6, 10, 6), (46, 38, 52), head=True)
    hat = Part((0, 24, 0), (-4, 10, -4, 4, 14, 4), (46, 38, 52), head=True)
    cone = Part((0, 24, 0), (-2, 14, -2.5, 2, 18, 1.5), (46, 38, 52), turn=(-6, 0, 4), head=True)
    tip = Part((0, 24, 0), (-1, 18, -3.5, 1, 20, -1.5), (46, 38, 52), turn=(-12, 0, 8), head=True)
    wart = Part((0, 24, 0), (0, 0.5, 5.6, 1, 1.5, 6.5), (96, 120, 70), head=True, grain=2)
    extra = coated([brim, hat, cone, tip, wart], "hat")
    band(hat, 3, 4, (76, 120, 60))
    paint(hat, FRONT, ["........"] * 2 + ["...yy...", "...yy..."], {"y": (214, 180, 70)})
    paint(
        body.parts[2], FRONT, ["........"] * 4 + [".bb..bb.", "wv....vw"], {"b": (60, 40, 60), "w": WHITE, "v": (140, 60, 150)}
    )
    return Body(body.parts + extra)


def wolf(collar: bool = False, angry: bool = False) -> Body:
    """A wolf; a tame one wears a collar."""
    coat, light, dark = (196, 190, 184), (226, 220, 212), (142, 134, 130)
    legs = _legs(2, 8, 1.6, 4, -6, coat, 50)
    body = Part((0, 8, -2), (-3, 0, -6, 3, 6, 4), coat)
    mane = Part((0, 7.5, 2), (-4, 0, -1, 4, 7.5, 5), _dark(coat, 0.93), grain=9)
    head = Part((0, 11, 7), (-3, -2.5, -1, 3, 3.5, 3), coat, head=True)
    snout = Part((0, 11, 7), (-1.5, -2.5, 3, 1.5, 0.5, 7), light, head=True, grain=4)
    ears = [Part((0, 11, 7), (x, 3, 0, x + 2, 5.5, 1), dark, head=True) for x in (-3, 1)]
    tail = Part((0, 13, -8), (-1, -8, -1, 1, 0, 1), coat, turn=(34, 0, 0) if not collar else (75, 0, 0), swing=(20, 0))
    parts = [body, mane, head, *legs, snout, *ears, tail]
    if collar:
        parts.append(Part((0, 11, 7), (-4.3, -3.8, -2.2, 4.3, 4.3, -0.8), (196, 44, 40), grain=3))
    coated(parts, f"wolf {collar}")
    eye = (206, 40, 36) if angry else BLACK
    paint(
        head, FRONT, ["..dd..", "......", "kw..wk", ".w..w.", "......", "llllll"], {"k": eye, "w": WHITE, "l": light, "d": dark}
    )
    paint(snout, FRONT, ["knn", "...", "..."], {"n": BLACK, "k": BLACK})
    paint(snout, TOP, ["...", "...", "...", ".k."], {"k": BLACK})
    paint(body, TOP, [".dddd."] * 10, {"d": dark})
    paint(mane, TOP, ["..dddd.."] * 6, {"d": _dark(dark, 0.95)})
    band(tail, 6, 8, dark)
    return Body(parts)


CATS: tuple[tuple[str, Colour, Colour, Colour], ...] = (
    ("tabby", (140, 112, 84), (96, 76, 58), (130, 170, 60)),
    ("black", (34, 32, 36), (28, 26, 30), (226, 200, 70)),
    ("red", (222, 140, 62), (184, 100, 38), (96, 160, 70)),
    ("siamese", (226, 214, 196), (98, 78, 68), (80, 150, 220)),
    ("british_shorthair", (150, 154, 160), (130, 134, 142), (230, 170, 60)),
    ("calico", (236, 228, 216), (210, 128, 56), (90, 150, 70)),
    ("persian", (232, 208, 164), (212, 182, 134), (90, 140, 210)),
    ("ragdoll", (238, 230, 220), (176, 150, 128), (90, 150, 220)),
    ("white", (240, 238, 234), (226, 222, 218), (100, 160, 220)),
    ("jellie", (200, 200, 198), (132, 132, 130), (120, 170, 90)),
    ("all_black", (24, 22, 26), (18, 18, 20), (236, 220, 80)),
)


def cat(kind: int, collar: bool = False) -> Body:
    """A cat."""
    name, coat, mark, eye = CATS[kind % len(CATS)]
    body = Part((0, 6, 0), (-2, 0, -8, 2, 5.5, 8), coat)
    head = Part((0, 11, 8), (-2.5, -2, -1, 2.5, 2, 4), coat, head=True)
    muzzle = Part((0, 11, 8), (-1.5, -2, 4, 1.5, 0, 5), tuple(min(255, c + 30) for c in coat), head=True, grain=3)  # type: ignore[arg-type]
    ears = [Part((0, 11, 8), (x, 2, 0.5, x + 1.2, 3.4, 2), mark, head=True) for x in (-2.4, 1.2)]
    legs = _legs(2, 6, 1.1, 6, -6, coat, 50)
    tail = Part((0, 11, -8), (-0.5, -7, -1, 0.5, 0, 0), mark, turn=(50, 0, 0), swing=(14, 0))
    tip = Part((0, 6.6, -13), (-0.5, -0.5, -7, 0.5, 0.5, 0), mark, turn=(30, 0, 0), swing=(14, 0.2))
    parts = [body, head, *legs, muzzle, *ears, tail, tip]
    if collar:
        parts.append(Part((0, 11, 8), (-2.4, -3, -2, 2.4, 0.9, -1), (196, 44, 40), grain=3))
    coated(parts, f"cat {name}")
    if name in ("tabby", "red", "british_shorthair", "jellie"):
        paint(body, TOP, ["....", "mmmm"] * 8, {"m": mark})
        for side in (LEFT, RIGHT):
            paint(body, side, [".m.m.m.m.m.m.m.m"] * 3, {"m": mark})
        paint(head, TOP, [".m.m."] * 5, {"m": mark})
    if name == "calico":
        patches([body, head], mark, 0.3, "calico")
        patches([body, head], (50, 42, 40), 0.15, "calico dark")
    if name in ("siamese", "ragdoll"):
        for leg in legs:
            band(leg, 4, 6, mark)
        paint(head, FRONT, ["mm.mm", "m...m"], {"m": mark})
    if name == "all_black" or name == "black":
        pass
    else:
        for leg in legs:
            band(leg, 5, 6, tuple(min(255, c + 30) for c in coat))  # type: ignore[arg-type]
    paint(head, FRONT, [".....", "ek.ke"], {"e": eye, "k": BLACK})
    paint(muzzle, FRONT, [".p.", "..."], {"p": (216, 128, 130)})
    return Body(parts, 0.85)


HORSES: tuple[Colour, ...] = (
    (226, 220, 212), (190, 156, 104), (142, 84, 44), (104, 66, 42), (44, 38, 38), (136, 134, 134), (70, 46, 34),
)  # fmt: skip


def horse(coat: Colour, *, long_ears: bool = False, name: str = "horse") -> Body:
    """A horse; with long ears a donkey."""
    mane = _dark(coat, 0.45) if not long_ears else (60, 50, 44)
    muzzle_coat = _dark(coat, 0.72) if not long_ears else (214, 204, 192)
    legs = _legs(4, 11, 3, 8, -9, coat, 36)
    body = Part((0, 11, 0), (-5, 0, -11, 5, 10, 11), coat, grain=5)
    neck = Part((0, 18, 8), (-2, -1, -3, 2, 12, 4), coat, turn=(30, 0, 0), grain=5)
    head = Part((0, 28, 13), (-3, -1, -5, 3, 4, 2), coat, turn=(30, 0, 0), head=True, grain=5)
    muzzle = Part((0, 28, 13), (-2, -1, 2, 2, 4, 7), muzzle_coat, turn=(30, 0, 0), head=True, grain=5)
    comb = Part((0, 18, 8), (-1, 0, -5, 1, 15, -3), mane, turn=(30, 0, 0), grain=9)
    height = 8 if long_ears else 3
    ears = [
        Part((0, 28, 13), (x, 4, -4, x + 2, 4 + height, -3), _dark(coat, 0.9), turn=(20, 0, z), head=True)
        for x, z in ((-3, 8), (1, -8))
    ]
    tail = Part((0, 20, -11), (-1.5, -13, -3, 1.5, 0, 0), mane, turn=(24, 0, 0), swing=(8, 0), grain=9)
    parts = coated([body, head, *legs, neck, muzzle, comb, *ears, tail], f"{name} {coat}")
    for leg in legs:
        band(leg, 9, 11, (52, 46, 44))
        if not long_ears:
            band(leg, 7, 9, tuple(min(255, c + 46) for c in coat))  # type: ignore[arg-type]
    for side, row in ((RIGHT, "...wk.."), (LEFT, "..kw...")):
        paint(head, side, [".......", row], {"k": BLACK, "w": WHITE})
    paint(head, FRONT, ["..ww..", "..ww.."], {"w": (236, 230, 224)})
    paint(head, TOP, ["......"] * 4 + ["..ww.."] * 3, {"w": (236, 230, 224)} if not long_ears else {"w": coat})
    paint(muzzle, FRONT, ["....", "....", "k..k"], {"k": _dark(muzzle_coat, 0.5)})
    return Body(parts, 0.92 if long_ears else 1.1)


def _person(name: str, skin: Colour, shirt: Colour, trousers: Colour, *, limb: float = 4, arms_out: bool = False) -> list[Part]:
    half = limb / 2
    reach = 4 + half
    head = Part((0, 24, 0), (-4, 0, -4, 4, 8, 4), skin, head=True, grain=5)
    body = Part((0, 12, 0), (-4, 0, -2, 4, 12, 2), shirt, grain=6)
    arms = [
        Part(
            (side * reach, 23, 0),
            (-half, -11, -half, half, 1, half),
            skin if limb < 4 else shirt,
            turn=(-86 if arms_out else 0, 0, 0),
            swing=(8 if arms_out else 40, phase),
        )
        for side, phase in ((1, 0.5), (-1, 0.0))
    ]
    legs = [
        Part((side * 2, 12, 0), (-half, -12, -half, half, 0, half), trousers, swing=(40, phase))
        for side, phase in ((1, 0.0), (-1, 0.5))
    ]
    return coated([head, body, *arms, *legs], name)


_SHIRTS: tuple[Colour, ...] = ((40, 140, 160), (190, 70, 60), (90, 150, 60), (210, 160, 60), (130, 80, 160), (220, 220, 214))
"""Of players, by seat."""


def player(seat: int) -> Body:
    """A person, told from others by the shirt."""
    skin = (206, 154, 120)
    parts = _person("player", skin, _SHIRTS[seat], (58, 62, 110))
    head, _, *limbs = parts
    paint(
        head,
        FRONT,
        ["hhhhhhhh", "hhhhhhhh", "h......h", "........", ".wk..kw.", "...nn...", "..mmmm..", "........"],
        {"h": (74, 48, 30), "w": (240, 240, 240), "k": (60, 70, 140), "n": _dark(skin, 0.82), "m": _dark(skin, 0.6)},
    )
    for face in (TOP, BACK):
        paint(head, face, ["hhhhhhhh"] * (8 if face == TOP else 6), {"h": (74, 48, 30)})
    for arm in limbs[:2]:
        band(arm, 0, 7, skin)
    for leg in limbs[2:]:
        band(leg, 0, 3, (70, 70, 74))
    return Body(parts)


def zombie() -> Body:
    """A zombie, arms out."""
    skin, shirt = (92, 134, 74), (38, 130, 138)
    parts = _person("zombie", skin, shirt, (64, 60, 132), arms_out=True)
    head, body, *limbs = parts
    paint(
        head,
        FRONT,
        ["........", ".d....d.", "........", ".dd..dd.", ".kk..kk.", "...dd...", "..d..d..", "..mmmm.."],
        {"k": (26, 30, 24), "d": _dark(skin, 0.78), "m": _dark(skin, 0.55)},
    )
    paint(head, TOP, ["dd..d...", "..dd..dd", "d....d.."], {"d": _dark(skin, 0.82)})
    for arm in limbs[:2]:
        band(arm, 5, 12, skin)
        band(arm, 0, 4, skin, (BOTTOM,))
        paint(arm, FRONT, ["....", "....", "....", "....", "s.s.", "...."], {"s": shirt})
    for leg in limbs[2:]:
        band(leg, 10, 12, (70, 70, 74))
    paint(body, FRONT, ["..gggg..", "...gg..."] + ["........"] * 8 + [".g...gg.", "gg.g.ggg"], {"g": _dark(skin, 0.9)})
    paint(body, BACK, ["........"] * 10 + ["g..gg.g.", "gg.ggggg"], {"g": _dark(skin, 0.9)})
    return Body(parts)


def skeleton() -> Body:
    """A skeleton with its bow."""
    bone = (206, 204, 196)
    parts = _person("skeleton", bone, bone, bone, limb=2)
    head, body, right, *_ = parts
    dark = _dark(bone, 0.36)
    paint(
        head,
        FRONT,
        ["........", "........", "........", ".kk..kk.", ".kk..kk.", "...nn...", "........", ".kmkmkm."],
        {"k": dark, "n": _dark(bone, 0.5), "m": _dark(bone, 0.8)},
    )
    rib = [
        "...ss...",
        "kkksskkk",
        "........",
        "kkksskkk",
        "........",
        "kkksskkk",
        ".......k",
        "kkksskkk",
        "___ss___",
        "___ss___",
        "..ssss..",
        "........",
    ]
    for face in (FRONT, BACK):
        paint(body, face, rib, {"k": dark, "s": _dark(bone, 0.92)})
    for side in (LEFT, RIGHT):
        paint(
            body,
            side,
            ["....", "kkkk", "....", "kkkk", "....", "kkkk", "....", "kkkk", "____", "____", "....", "...."],
            {"k": dark},
        )
    wood = (112, 78, 44)
    bow = []
    for y0, z0, y1, z1 in ((-16, 0, -15, 3), (-15, 3, -13, 4), (-13, 4, -9, 5), (-9, 3, -7, 4), (-7, 0, -6, 3)):
        bow.append(Part(right.pivot, (-0.5, y0 + 0.5, z0 - 1, 0.5, y1 + 0.5, z1 - 1), wood, swing=right.swing, grain=5))
    bow.append(Part(right.pivot, (-0.2, -14.5, -1, 0.2, -5.5, -0.6), (220, 220, 220), swing=right.swing, grain=2))
    return Body(parts + coated(bow, "bow"))


def spider() -> Body:
    """A spider with its eight legs and eyes."""
    coat = (58, 50, 48)
    head = Part((0, 9, 3), (-4, -4, 0, 4, 4, 8), coat, head=True)
    chest = Part((0, 9, 0), (-3, -3, -3, 3, 3, 3), _dark(coat, 0.85))
    back = Part((0, 9, -3), (-5, -4, -12, 5, 4, 0), coat, grain=9)
    legs = []
    for number, (z, yaw) in enumerate(((2.5, 40), (1, 14), (-1, -14), (-2.5, -40))):
        for side in (1, -1):
            box = (1, -1, -1, 17, 1, 1) if side > 0 else (-17, -1, -1, -1, 1, 1)
            legs.append(
                Part(
                    (side * 2, 10, z),
                    box,
                    _dark(coat, 0.8),
                    turn=(0, side * yaw, -side * 33),
                    lift=(side * 12, number * 0.25 + (0.5 if side > 0 else 0)),
                )
            )
    eyes = Part((0, 9, 3), (-3, -2, 8, 3, 3, 8.3), coat, head=True, glow=True)
    parts = coated([head, chest, back, *legs, eyes], "spider")
    red = {"r": (226, 34, 30), "d": (140, 20, 22)}
    for face in ALL:
        eyes.faces[face][...] = 0
    paint(eyes, FRONT, ["r....r", "..dd..", "rr..rr", "rr..rr", ".d..d."], red)
    patches([back], _dark(coat, 0.68), 0.3, "spider back")
    paint(back, TOP, ["...w..w...", "....ww....", "...w..w...", "....ww....", "....ww...."], {"w": _dark(coat, 1.5)}, (3, 0))
    for leg in legs:
        for face in (TOP, BOTTOM, FRONT, BACK):
            leg.faces[face][:, 5:7, :3] //= 2
            leg.faces[face][:, 11:12, :3] //= 2
    return Body(parts)


def creeper() -> Body:
    """A creeper."""
    coat = (98, 176, 84)
    head = Part((0, 18, 0), (-4, 0, -4, 4, 8, 4), coat, head=True, grain=14)
    body = Part((0, 6, 0), (-4, 0, -2, 4, 12, 2), coat, grain=14)
    legs = [
        Part((x, 6, z), (-2, -6, -2, 2, 0, 2), coat, swing=(40, phase), grain=14)
        for x, z, phase in ((2, 4, 0.0), (-2, 4, 0.5), (2, -4, 0.5), (-2, -4, 0.0))
    ]
    parts = coated([head, body, *legs], "creeper")
    patches([head, body, *legs], (150, 206, 138), 0.14, "creeper light")
    patches([head, body, *legs], (64, 132, 58), 0.16, "creeper dark")
    paint(
        head,
        FRONT,
        ["........", ".kk..kk.", ".kg..gk.", "........", "...gg...", "..kkkk..", ".kkggkk.", ".k....k."],
        {"k": (20, 26, 18), "g": (42, 60, 36)},
    )
    for leg in legs:
        band(leg, 5, 6, (44, 54, 42))
    return Body(parts)


def enderman() -> Body:
    """An enderman: long, dark, with shining eyes."""
    dark = (26, 24, 30)
    head = Part((0, 38, 0), (-4, 0, -4, 4, 8, 4), dark, head=True, grain=4)
    eyes = Part((0, 38, 0), (-4, 3, 4, 4, 5, 4.2), dark, head=True, glow=True)
    body = Part((0, 26, 0), (-4, 0, -2, 4, 12, 2), dark, grain=4)
    arms = [Part((x, 37, 0), (-1, -29, -1, 1, 1, 1), dark, swing=(26, phase), grain=4) for x, phase in ((5, 0.5), (-5, 0.0))]
    legs = [Part((x, 27, 0), (-1, -27, -1, 1, 0, 1), dark, swing=(30, phase), grain=4) for x, phase in ((2, 0.0), (-2, 0.5))]
    parts = coated([head, body, *arms, *legs, eyes], "enderman")
    for face in ALL:
        eyes.faces[face][...] = 0
    paint(eyes, FRONT, ["........", "vpp..ppv"], {"v": (238, 160, 250), "p": (204, 70, 236)})
    return Body(parts)


def slime() -> Body:
    """A slime; its outside lets light through."""
    coat = (104, 186, 88)
    core = Part((0, 1, 0), (-3, 0, -3, 3, 6, 3), _dark(coat, 0.75))
    eyes = [Part((0, 1, 0), (x, 3, 2.6, x + 2, 5, 3.4), (34, 48, 30)) for x in (-3, 1)]
    mouth = Part((0, 1, 0), (0, 1, 2.6, 1, 2, 3.4), (34, 48, 30))
    jelly = Part((0, 0, 0), (-4, 0, -4, 4, 8, 4), coat, grain=5)
    parts = coated([core, *eyes, mouth, jelly], "slime")
    for picture in jelly.faces:
        picture[..., 3] = 150
        picture[0, :, 3] = picture[-1, :, 3] = picture[:, 0, 3] = picture[:, -1, 3] = 190
    return Body(parts)


def iron_golem() -> Body:
    """An iron golem with vines on its shoulders."""
    iron = (206, 198, 188)
    head = Part((0, 33, 1), (-4, 0, -4, 4, 10, 4), iron, head=True)
    nose = Part((0, 33, 1), (-1, 1, 4, 1, 5, 6), (186, 150, 128), head=True)
    chest = Part((0, 21, 0), (-9, 0, -5, 9, 12, 6), iron, grain=8)
    waist = Part((0, 16, 0), (-4.5, 0, -3, 4.5, 5, 3), _dark(iron, 0.9))
    arms = [Part((x, 31, 0), (-2, -26, -3, 2, 2, 3), iron, swing=(22, phase), grain=8) for x, phase in ((11, 0.5), (-11, 0.0))]
    legs = [Part((x, 16, 0), (-3, -16, -3, 3, 0, 2), iron, swing=(24, phase), grain=8) for x, phase in ((4, 0.0), (-4, 0.5))]
    parts = coated([head, chest, waist, *arms, *legs, nose], "iron_golem")
    paint(
        head,
        FRONT,
        ["........"] * 3 + [".dddddd.", ".rk..kr.", "........", "........", "........", "..dddd.."],
        {"d": (138, 124, 114), "r": (172, 36, 32), "k": (66, 24, 22)},
    )
    green = {"g": (86, 124, 50), "y": (206, 176, 60)}
    paint(
        chest,
        FRONT,
        [
            "g..........gg.....",
            "gg...........g....",
            ".gg..........gy...",
            "..g..........g....",
            "..gg........gg....",
            "...g...........",
            "...y",
        ],
        green,
        (0, 1),
    )
    paint(
        chest,
        BACK,
        ["..g......g........", "..gg....gg........", "...g.....g........", "...gg.............", "....g............."],
        green,
    )
    paint(chest, TOP, ["..g...gg....", "..gg...g...."], green)
    for arm, where in zip(arms, (LEFT, RIGHT), strict=True):
        paint(arm, where, ["..g...", ".gg...", "..g...", "..gg..", "...g..", "..g..."], green)
        band(arm, 25, 28, _dark(iron, 0.84))
    return Body(parts)


def snow_golem() -> Body:
    """A snow golem with a pumpkin for a head."""
    snow, orange = (236, 242, 246), (222, 128, 34)
    base = Part((0, 0, 0), (-6, 0, -6, 6, 12, 6), snow, grain=4)
    chest = Part((0, 11, 0), (-5, 0, -5, 5, 10, 5), snow, grain=4)
    head = Part((0, 20, 0), (-4, 0, -4, 4, 8, 4), orange, head=True)
    stem = Part((0, 20, 0), (-1, 8, -1, 1, 9.4, 1), (96, 116, 42), head=True)
    arms = [
        Part(
            (side * 4, 19, 0),
            (0, -0.5, -0.5, 10, 0.5, 0.5) if side > 0 else (-10, -0.5, -0.5, 0, 0.5, 0.5),
            (110, 78, 48),
            turn=(0, 0, side * 20),
        )
        for side in (1, -1)
    ]
    parts = coated([base, chest, head, *arms, stem], "snow_golem")
    for face in SIDES:
        head.faces[face][:, 1::3, :3] = (head.faces[face][:, 1::3, :3] * 0.84).astype(np.uint8)
    paint(
        head,
        FRONT,
        ["........", ".kk..kk.", ".ky..yk.", "........", "........", "k.k..k.k", "kkykkykk", ".kkkkkk."],
        {"k": (78, 36, 14), "y": (250, 206, 80)},
    )
    paint(
        chest,
        FRONT,
        ["..........", "..........", "....kk....", "....kk....", "..........", "..........", "....kk....", "....kk...."],
        {"k": (52, 48, 50)},
    )
    return Body(parts)


def arrow() -> Body:
    """An arrow in flight, its head along +z."""
    shaft = Part((0, 0, 0), (-0.5, -0.5, -6, 0.5, 0.5, 5), (124, 92, 56))
    head = Part((0, 0, 0), (-1, -1, 5, 1, 1, 7), (150, 150, 156))
    feathers = [
        Part((0, 0, 0), (-2, -0.2, -8, 2, 0.2, -5), (232, 232, 228), turn=(0, 0, 45)),
        Part((0, 0, 0), (-2, -0.2, -8, 2, 0.2, -5), (232, 232, 228), turn=(0, 0, -45)),
    ]
    return Body(coated([shaft, head, *feathers], "arrow"), 0.8)


RABBITS: tuple[tuple[str, Colour], ...] = (
    ("brown", (134, 100, 72)), ("white", (236, 234, 230)), ("black", (44, 40, 42)), ("black_and_white", (48, 44, 46)),
    ("gold", (220, 178, 112)), ("salt", (160, 144, 126)),
)  # fmt: skip

PLAIN, MARKED, CROSS = range(3)
"""Marks: a sheep that is shorn, a wolf or cat that is tame; a wolf that is angry."""

Make = Callable[[int, int], Body]
"""Variant and mark to a body."""

BODIES: Mapping[str, tuple[int, Make]] = {
    "cow": (1, lambda v, m: cow()),
    "pig": (1, lambda v, m: pig()),
    "sheep": (16, lambda v, m: sheep(list(WOOL.values())[v], m == MARKED)),
    "chicken": (1, lambda v, m: chicken()),
    "rabbit": (len(RABBITS), lambda v, m: rabbit(RABBITS[v][1], RABBITS[v][0])),
    "villager": (len(PROFESSIONS), lambda v, m: villager(PROFESSIONS[v])),
    "witch": (1, lambda v, m: witch()),
    "wolf": (1, lambda v, m: wolf(m == MARKED, m == CROSS)),
    "cat": (len(CATS), lambda v, m: cat(v, m == MARKED)),
    "horse": (len(HORSES), lambda v, m: horse(HORSES[v])),
    "donkey": (1, lambda v, m: horse((124, 110, 98), long_ears=True, name="donkey")),
    "player": (len(_SHIRTS), lambda v, m: player(v)),
    "zombie": (1, lambda v, m: zombie()),
    "skeleton": (1, lambda v, m: skeleton()),
    "spider": (1, lambda v, m: spider()),
    "creeper": (1, lambda v, m: creeper()),
    "enderman": (1, lambda v, m: enderman()),
    "slime": (1, lambda v, m: slime()),
    "iron_golem": (1, lambda v, m: iron_golem()),
    "snow_golem": (1, lambda v, m: snow_golem()),
    "arrow": (1, lambda v, m: arrow()),
}
"""Name -> how many variants it has, and how one is made."""
