"""The small pictures of which the display is made, by key: panels, hearts, the cursor, items and lines of text.

| key | is |
| --- | --- |
| `icon:NAME` | an item |
| `text:RRGGBB:WORDS` | a line of text with a shadow |
| `mark:NAME` | `heart`, `half heart`, `no heart`, the same of `food` and `armour`, `bubble` or `pop` |
| `panel:KIND` | an empty screen |
| `hotbar`, `chosen` | the bar of nine slots, the frame of one |
| `flame:ROWS`, `arrow:COLUMNS` | how far a furnace is |
| `offer`, `no offer` | the arrow between what a villager wants and gives |
| `pointer` | the cursor |
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import numpy as np

from interplay.world.errors import WorldError
from interplay.world.player import panels
from interplay.world.render import font, icons
from interplay.world.render.skins import Colour

DETAIL = 4
"""Pixels per GUI pixel of a finely drawn item, if not told otherwise."""
PANEL: Colour = (197, 190, 181)
SLOT: Colour = (142, 134, 126)
INK: Colour = (66, 60, 56)
TITLES = {"inventory": "Crafting", "crafting_table": "Crafting", "villager": "Trades", "large_chest": "Large Chest"}

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


def _mark(name: str) -> np.ndarray:
    """One of the small pictures of the bars."""
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
        return _drawn(rows, main)
    if name.startswith(("no ", "half ")):
        empty = _drawn(rows, (58, 50, 50), w=(58, 50, 50), s=(58, 50, 50))
        if name.startswith("half "):
            # Hearts and shirts fill from the left, food from the right
            left = name != "half food"
            full = _drawn(rows, main)
            part = np.s_[:, :5] if left else np.s_[:, 4:]
            empty[part] = full[part]
        return empty
    shade = {"food": {"w": (214, 150, 88)}}.get(name, {})
    return _drawn(rows, main, **shade)


def _bar() -> np.ndarray:
    """The hotbar, 182 x 22."""
    bar = np.zeros((22, 182, 4), np.uint8)
    bar[...] = (58, 52, 50, 150)
    bar[[0, -1]] = bar[:, [0, -1]] = (26, 22, 22, 235)
    bar[1, 1:-1] = bar[1:-1, 1] = (126, 118, 110, 220)
    bar[-2, 1:-1] = bar[1:-1, -2] = (92, 86, 80, 220)
    for slot in range(1, 9):
        bar[1:-1, slot * 20 + 1] = (126, 118, 110, 200)
        bar[1:-1, slot * 20] = (82, 76, 72, 200)
    return bar


def _chosen() -> np.ndarray:
    """The frame of the selected slot, 24 x 24."""
    frame = np.zeros((24, 24, 4), np.uint8)
    frame[:, :] = (40, 34, 32, 255)
    frame[1:-1, 1:-1] = (246, 240, 226, 255)
    frame[2:-1, 2:-1] = (198, 188, 170, 255)
    frame[3:-3, 3:-3] = 0
    return frame


def _pressed(picture: np.ndarray, x: int, y: int, width: int, height: int, colour: Colour = SLOT) -> None:
    """A rectangle pressed into a panel, with a border of one pixel."""
    picture[y : y + height, x : x + width] = colour
    picture[y, x : x + width] = picture[y : y + height, x] = (92, 84, 78)
    picture[y + height - 1, x : x + width] = picture[y : y + height, x + width - 1] = (238, 232, 222)
    picture[y, x + width - 1] = picture[y + height - 1, x] = colour


def _panel(kind: str) -> np.ndarray:
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
    _stamp(colour, _text(title, INK, shadow=False), x, 5)
    if kind != "inventory":
        first = next(place for place in layout.places if place.owner == "player" and place.index == 9)
        _stamp(colour, _text("Inventory", INK, shadow=False), first.x, first.y - 11)
    picture = np.full((height, width, 4), 255, np.uint8)
    picture[..., :3] = colour
    for y, x in ((0, 0), (0, width - 1), (height - 1, 0), (height - 1, width - 1)):
        picture[y, x] = 0
    return picture


def _stamp(colour: np.ndarray, picture: np.ndarray, x: int, y: int) -> None:
    height, width = picture.shape[:2]
    solid = picture[..., 3:] > 0
    np.copyto(colour[y : y + height, x : x + width], picture[..., :3], where=solid)


def _shadow(colour: np.ndarray, name: str, x: int, y: int) -> None:
    """The outline of what belongs into a slot."""
    there = icons.icon(name)[..., 3] > 0
    part = colour[y : y + 16, x : x + 16]
    part[there] = (part[there] * 0.86).astype(np.uint8)


def _text(text: str, colour: Colour, *, shadow: bool = True) -> np.ndarray:
    letters = font.written(text)
    picture = np.zeros((letters.shape[0] + 1, letters.shape[1] + 1, 4), np.uint8)
    if shadow:
        picture[1:, 1:][letters] = (*(c // 4 for c in colour), 255)
    picture[:-1, :-1][letters] = (*colour, 255)
    return picture


def _offered(still: bool) -> np.ndarray:
    """The arrow of an offer; crossed out in red when it is used up."""
    rows = [".....m....", ".....mmm..", "mmmmmmmmm.", "mmmmmmmmmm", "mmmmmmmmm.", ".....mmm..", ".....m...."]
    picture = _drawn(rows, INK if still else (150, 142, 134))
    if not still:
        for step in range(7):
            picture[step, 1 + step] = picture[6 - step, 1 + step] = (196, 40, 36, 255)
    return picture


@cache
def sprite(key: str, detail: int = DETAIL) -> tuple[np.ndarray, int]:
    """One of the small pictures; do not change it.

    Args:
        key: See above.
        detail: Pixels per GUI pixel of items that are drawn finer than the GUI: blocks.
    Returns:
        uint8, shape (H, W, 4), and its pixels per GUI pixel: `detail` or 1.
    Raises:
        NotFoundError: If it is of an item or screen that does not exist.

    >>> sprite("icon:stone")[0].shape, sprite("mark:heart")[0].shape
    ((64, 64, 4), (9, 9, 4))
    """
    kind, _, name = key.partition(":")
    match kind:
        case "icon":
            fine = detail if icons.is_cube(name) or icons.is_boxes(name) else 1
            return icons.icon(name, fine), fine
        case "text":
            colour, _, words = name.partition(":")
            red, green, blue = bytes.fromhex(colour)
            picture = _text(words, (red, green, blue))
        case "mark":
            picture = _mark(name)
        case "panel":
            picture = _panel(name)
        case "hotbar":
            picture = _bar()
        case "chosen":
            picture = _chosen()
        case "flame":
            picture = _drawn(_FLAME, (0, 0, 0), w=(255, 246, 190))[-int(name) :]
        case "arrow":
            picture = np.ascontiguousarray(_drawn(_ARROW, (250, 244, 232))[:, : int(name)])
        case "offer" | "no offer":
            picture = _offered(kind == "offer")
        case "pointer":
            picture = _drawn(_POINTER, (255, 255, 255), w=(252, 252, 252), k=(8, 8, 8))
        case _:
            raise WorldError(f"there is no sprite {key!r:.60}; the kinds are in the docstring of render.pieces")
    picture.flags.writeable = False
    return picture, 1


def sheet(keys: Iterable[str]) -> tuple[list[tuple[str, int, int, int]], np.ndarray]:
    """Sprites as a browser takes them.

    Returns:
        Of each key, width, height and pixels per GUI pixel; and uint8, one after another, of all their RGBA.
    """
    named = [(key, *sprite(key)) for key in keys]
    rows = [(key, picture.shape[1], picture.shape[0], pixels) for key, picture, pixels in named]
    return rows, np.concatenate([np.zeros(0, np.uint8), *(picture.reshape(-1) for _, picture, _ in named)])
