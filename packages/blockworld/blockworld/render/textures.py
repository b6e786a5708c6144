"""Textures of all blocks, 16 x 16 pixels each, from `data/textures.png`.

Most textures have the name of their block (`oak_planks`) or of a part of the block (`oak_log_top`, `oak_door_bottom`). The name
of a texture turned clockwise ends with the angle, `@90`, `@180` or `@270`; the name of a mirrored texture ends with `@flip`.

>>> index = texture("glass")
>>> atlas()[index].shape
(16, 16, 4)
"""

from __future__ import annotations

import threading

import numpy as np

from blockworld.errors import unknown_name
from blockworld.render import sheets

_WOODS = ("oak", "spruce", "birch", "jungle", "acacia", "dark_oak", "crimson", "warped", "petrified_oak")
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
    """Return the texture of a block's material: `oak_planks` for `oak_stairs`, `bricks` for `brick_wall`.

    >>> material("spruce_fence_gate"), material("stone_brick_slab"), material("granite")
    ('spruce_planks', 'stone_bricks', 'granite')
    """
    for suffix in _SHAPES:
        if name.endswith(suffix):
            stem = name.removesuffix(suffix)
            return f"{stem}_planks" if stem in _WOODS else _MATERIALS.get(stem, stem)
    return name


_INDEX: dict[str, int] = {}
_PICTURES: list[np.ndarray] = []
_ATLAS: list[np.ndarray] = []
_LOCK = threading.Lock()


def texture(name: str) -> int:
    """Return the index of a texture in the atlas; a texture gets its index at the first call for its name.

    Raises:
        UnknownNameError: If there is no such texture.
    """
    with _LOCK:
        if name not in _INDEX:
            plain, _, turn = name.partition("@")
            drawn = sheets.tiles("textures")
            if plain not in drawn:
                raise unknown_name("texture", plain, drawn)
            picture = drawn[plain]
            if turn:
                picture = picture[:, ::-1] if turn == "flip" else np.rot90(picture, -int(turn) // 90)
            _INDEX[name] = len(_PICTURES)
            _PICTURES.append(picture)
        return _INDEX[name]


def atlas() -> np.ndarray:
    """Return all textures used so far: uint8, shape (N, 16, 16, 4), RGBA; row 0 of each is the top. Indices never change."""
    if not _ATLAS or len(_ATLAS[0]) != len(_PICTURES):
        _ATLAS[:] = [np.array(_PICTURES, np.uint8).reshape(-1, sheets.SIDE, sheets.SIDE, 4)]
    return _ATLAS[0]
