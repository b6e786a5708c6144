"""A picture of every item: blocks as small cubes seen from above, all others as flat pictures from `data/icons.png`.

>>> icon("oak_planks").shape, icon("iron_pickaxe").dtype
((16, 16, 4), dtype('uint8'))
"""

from __future__ import annotations

from functools import cache

import numpy as np

from blockworld.errors import unknown_name
from blockworld.registry.blocks import BY_NAME, change, properties_of
from blockworld.registry.facts import table
from blockworld.render import models, sheets, textures
from blockworld.render.sheets import SIDE

ZOOM = 10.0
"""Pixels per block for a cube seen from its corner, which is then 14 pixels wide and 16 high."""
SHADES = (0.66, 0.66, 0.84, 0.84, 1.0, 0.5)
"""Brightness of the faces west, east, north, south, up, down."""

Boxes = tuple[tuple[np.ndarray, tuple[np.ndarray | None, ...]], ...]
NAMES: tuple[str, ...] = tuple(row["name"] for row in table("items"))
_KNOWN = frozenset(NAMES)
_SHOWN = {
    "stairs": {"facing": "south"},
    "fence": {"east": "true", "west": "true"},
    "wall": {"east": "low", "west": "low", "up": "true"},
    "button": {"face": "wall", "facing": "south"},
    "fence_gate": {"facing": "north"},
    "observer": {"facing": "north"},
    "piston": {"facing": "up"},
    "sticky_piston": {"facing": "up"},
    "barrel": {"facing": "up"},
    "shulker_box": {"facing": "up"},
    "sea_pickle": {"waterlogged": "false"},
    "turtle_egg": {"eggs": "3"},
}
"""End of a block's name -> properties of the state that is shown on the block's icon."""
_FLAT = frozenset(
    (
        "ladder",
        "vine",
        "lily_pad",
        "iron_bars",
        "tripwire_hook",
        "cobweb",
        "kelp",
        "rail",
        *(f"{kind}_rail" for kind in ("powered", "detector", "activator")),
    )
)
_TEXTURES = {
    "sunflower": "sunflower_top",
    "tall_grass": "tall_grass_top",
    "large_fern": "large_fern_top",
    "lilac": "lilac_top",
    "rose_bush": "rose_bush_top",
    "peony": "peony_top",
}


_MARKED: dict[str, tuple[int, int, int]] = {"large_fern": (120, 190, 80)} | {
    name: (150, 150, 160) for name in NAMES if name.startswith("infested_")
}


@cache
def _state(name: str) -> int:
    state = BY_NAME[name].default
    own = properties_of(state)
    shown: dict[str, str] = {}
    for end in sorted(_SHOWN, key=len):
        if name.endswith(end):
            shown = _SHOWN[end]
    fitting = {key: value for key, value in shown.items() if key in own and value in BY_NAME[name].properties[key]}
    return change(state, **fitting)


def _block(name: str) -> str | None:
    return name if name in BY_NAME and name in _KNOWN and name not in sheets.tiles("icons") else None


@cache
def is_cube(name: str) -> bool:
    return _block(name) is not None and int(models.models().kind[_state(name)]) in (models.CUBE, models.CUTOUT)


@cache
def is_boxes(name: str) -> bool:
    """Whether an item is drawn as a block made of boxes, such as stairs."""
    if _block(name) is None or int(models.models().kind[_state(name)]) != models.BOXES:
        return False
    return name not in _FLAT and name not in _TEXTURES and not name.endswith(("glass_pane", "_fan"))


@cache
def boxes(name: str) -> Boxes:
    """Return the boxes of an item that is drawn as a block: one for a cube, more for stairs.

    Returns:
        For each box x0, y0, z0, x1, y1, z1 in blocks, and pictures (16, 16, 4) of the cell's sides west, east, north, south,
        top and bottom; None for a side that does not show.
    """
    look, state = models.models(), _state(name)
    if is_cube(name):
        rows = [(np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0]), look.faces[state].tolist())]
    else:
        start, number = int(look.box_start[state]), int(look.num_boxes[state])
        rows = [(look.boxes[i].astype(float), look.box_faces[i].tolist()) for i in range(start, start + number)]
    pictures = textures.atlas()
    return tuple((box, tuple(None if face < 0 else pictures[face] for face in ids)) for box, ids in rows)


# ---------------------------------------------------------------- blocks from their corner
def _rays(samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the starts of a picture's rays, float64 (n, n, 3), and their direction (3,): south-east, 30 degrees down."""
    half = np.sqrt(0.5)
    right, up = np.array([-half, 0, half]), np.array([0.5 * half, np.sqrt(0.75), 0.5 * half])
    forward = np.array([np.sqrt(0.75) * half, -0.5, np.sqrt(0.75) * half])
    at = (np.arange(SIDE * samples) + 0.5) / samples - SIDE / 2
    return at[None, :, None] / ZOOM * right - at[:, None, None] / ZOOM * up - 4 * forward, forward


def _cast(seen_boxes: Boxes, samples: int, zoom: float, centre: np.ndarray) -> np.ndarray:
    """Draw textured boxes seen from a corner; each sample shows the nearest solid texel: float64, shape (n, n, 4)."""
    start, forward = _rays(samples)
    origin = centre + start / zoom
    out = np.zeros((*start.shape[:2], 4))
    depth = np.full(start.shape[:2], np.inf)
    for box, pictures in seen_boxes:
        low, high = box[:3], np.maximum(box[3:], box[:3] + 1e-4)
        t0, t1 = (low - origin) / forward, (high - origin) / forward
        t0, t1 = np.minimum(t0, t1), np.maximum(t0, t1)
        for near, first in ((t0.max(-1), True), (t1.min(-1), False)):
            # The far side shows through holes, and of planes
            axis = t0.argmax(-1) if first else t1.argmin(-1)
            hit = (t0.max(-1) < t1.min(-1)) & (near < depth - (1e-9 if first else -1e-9))
            point = np.clip(origin + near[..., None] * forward, 0, 1 - 1e-6)
            ahead = forward > 0
            for number in range(3):
                # Entering, a ray that goes up an axis meets the low side; leaving, the high one
                side = number * 2 + (0 if ahead[number] == first else 1)
                face = (models.WEST, models.EAST, models.DOWN, models.UP, models.NORTH, models.SOUTH)[side]
                picture = pictures[face]
                if picture is None:
                    continue
                here = hit & (axis == number)
                x, y, z = point[here].T
                u, v = ((z, 1 - y), (x, z), (1 - x, 1 - y))[number]
                if face in (models.EAST, models.SOUTH):
                    u = 1 - u
                texels = picture[np.minimum((v * 16).astype(int), 15), np.minimum((u * 16).astype(int), 15)].astype(float)
                texels[:, :3] *= SHADES[face] if first else SHADES[face] * 0.8
                solid = texels[:, 3] > 20
                rows, columns = np.nonzero(here)
                out[rows[solid], columns[solid]] = texels[solid]
                depth[rows[solid], columns[solid]] = near[rows[solid], columns[solid]]
    return out


def _isometric(name: str, scale: int) -> np.ndarray:
    seen_boxes = boxes(name)
    low = np.min([box[:3] for box, _ in seen_boxes], 0)
    high = np.max([box[3:] for box, _ in seen_boxes], 0)
    zoom = min(1.7, max(1.0, 0.85 / float((high - low).max())))
    centre = (low + high) / 2 if zoom > 1 else np.array([0.5, 0.5, 0.5])
    samples = 3 * scale
    return _settled(_cast(seen_boxes, samples, zoom, centre), 3)


def _settled(seen: np.ndarray, by: int) -> np.ndarray:
    """Average `by` x `by` samples into one pixel; the pixel is solid if at least half of its samples are solid."""
    side = seen.shape[0] // by
    samples = seen.reshape(side, by, side, by, 4).transpose(0, 2, 1, 3, 4).reshape(side, side, by * by, 4)
    there = samples[..., 3] > 0
    number = np.maximum(there.sum(-1), 1)[..., None]
    mean = (samples * there[..., None]).sum(2) / number
    mean[there.sum(-1) * 2 < by * by] = 0
    return np.clip(mean + 0.5, 0, 255).astype(np.uint8)


def _flat(name: str) -> np.ndarray:
    faces = models.models().faces[_state(name)]
    index = textures.texture(_TEXTURES[name]) if name in _TEXTURES else int(faces.max())
    return textures.atlas()[index]


@cache
def icon(name: str, scale: int = 1) -> np.ndarray:
    """Return the picture of an item, uint8, shape (16 * scale, 16 * scale, 4), alpha 0 where empty; do not change it.

    Args:
        scale: Pixels per texel; flat pictures are enlarged, blocks are drawn in more detail.
    Raises:
        UnknownNameError: If there is no such item.

    >>> icon("stone", 2).shape
    (32, 32, 4)
    """
    short = name.removeprefix("minecraft:")
    if short not in _KNOWN:
        raise unknown_name("item", short[:100], NAMES)
    picture = sheets.tiles("icons").get(short)
    if picture is None:
        picture = _isometric(short, scale) if is_cube(short) or is_boxes(short) else _flat(short)
    if picture.shape[0] != SIDE * scale:
        picture = np.repeat(np.repeat(picture, scale, 0), scale, 1)
    picture = picture.copy()
    if short in _MARKED:
        # What looks like something else in the world wears a mark in the slot
        colour = _MARKED[short]
        picture[-3 * scale :, : 3 * scale] = (*(c // 2 for c in colour), 255)
        picture[-3 * scale : -scale, scale : 3 * scale] = (*colour, 255)
    picture.flags.writeable = False
    return picture
