"""The look of each of the 17,112 states, from `data/models.json`: a kind, textures, and boxes for states that are no cubes.

Boxes are first made facing north, in sixteenths of a block, and then turned. Faces of a box, and of a cube, are in the order
west (-x), east (+x), north (-z), south (+z), top (+y), bottom (-y). A texture covers the whole side of the cell; the face of a
smaller box shows the part of the texture at its place.

>>> from blockworld.registry.blocks import parse
>>> look = models()
>>> int(look.kind[parse("oak_planks")]) == CUBE, int(look.num_boxes[parse("oak_slab")])
(True, 1)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from blockworld.errors import WorldError
from blockworld.grid import light
from blockworld.raycaster.records import (
    BOXES,
    CROSS,
    CUBE,
    CULLED,
    CUTOUT,
    LAVA,
    NATURAL,
    PLANT,
    SMOOTH,
    TINTED,
    WATER,
)
from blockworld.registry import blocks
from blockworld.registry.facts import table
from blockworld.render.textures import material, texture

WEST, EAST, NORTH, SOUTH, UP, DOWN = range(6)
FACES = {"west": WEST, "east": EAST, "north": NORTH, "south": SOUTH, "up": UP, "down": DOWN}

Faces = tuple[str | None, str | None, str | None, str | None, str | None, str | None]
Box = tuple[float, float, float, float, float, float, Faces]
Properties = Mapping[str, str]


@dataclass(frozen=True)
class Models:
    """Arrays with an entry per state.

    Attributes:
        kind: uint8, shape (N,): one of the ray-caster's kinds, `AIR` to `LAVA`.
        faces: int32, shape (N, 6): textures of a cube's faces; for a cross or boxes, six times a texture that shows.
        box_start, num_boxes: int32, shape (N,): the rows of `boxes` that form the state.
        boxes: float32, shape (M, 6): x0, y0, z0, x1, y1, z1 in blocks, within the cell.
        box_faces: int32, shape (M, 6): textures; -1 where there is no face.
        height: float32, shape (N,): height of its water or lava under air; 0 without liquid.
        wet: uint8, shape (N,): 1 if it stands in water.
        flags: uint8, shape (N,): the ray-caster's flags, `TINTED` to `SMOOTH`.
        glow: float32, shape (N,): least brightness of the block, even in the dark, 0 to 1.
    """

    kind: np.ndarray
    faces: np.ndarray
    box_start: np.ndarray
    num_boxes: np.ndarray
    boxes: np.ndarray
    box_faces: np.ndarray
    height: np.ndarray
    wet: np.ndarray
    flags: np.ndarray
    glow: np.ndarray


def _same(name: str) -> Faces:
    return (name, name, name, name, name, name)


def _box(faces: str | Faces) -> Box:
    return (0, 0, 0, 16, 16, 16, _same(faces) if isinstance(faces, str) else faces)


def _turned(name: str | None, quarters: int) -> str | None:
    if name is None or quarters % 4 == 0:
        return name
    plain, _, turn = name.partition("@")
    angle = (int(turn or 0) + 90 * quarters) % 360 if turn != "flip" else 0
    return f"{plain}@{angle}" if angle else plain


_QUARTERS = {"north": 0, "east": 1, "south": 2, "west": 3}


def _spin_faces(faces: Faces, quarters: int, tops: bool) -> Faces:
    """Turn faces clockwise about the vertical axis by quarter turns; with `tops` turn the pictures on top and bottom too."""
    w, e, n, s, u, d = faces
    for _ in range(quarters):
        w, n, e, s = s, w, n, e
    return (w, e, n, s, _turned(u, quarters), _turned(d, -quarters)) if tops else (w, e, n, s, u, d)


def _spin(boxes: Iterable[Box], facing: str, tops: bool = False) -> list[Box]:
    """Turn boxes that were made facing north to another direction."""
    quarters = _QUARTERS[facing]
    turned = []
    for x0, y0, z0, x1, y1, z1, faces in boxes:
        for _ in range(quarters):
            x0, z0, x1, z1 = 16 - z1, x0, 16 - z0, x1
        turned.append((x0, y0, z0, x1, y1, z1, _spin_faces(faces, quarters, tops)))
    return turned


def _tilt(boxes: Iterable[Box], facing: str) -> list[Box]:
    """Turn boxes that were made facing up to any of the six directions."""
    boxes = list(boxes)
    if facing == "up":
        return boxes
    if facing == "down":
        return [(x0, 16 - y1, z0, x1, 16 - y0, z1, (w, e, n, s, d, u)) for x0, y0, z0, x1, y1, z1, (w, e, n, s, u, d) in boxes]
    north = [
        (x0, z0, 16 - y1, x1, z1, 16 - y0, (_turned(w, -1), _turned(e, 1), u, d, s, n))
        for x0, y0, z0, x1, y1, z1, (w, e, n, s, u, d) in boxes
    ]
    return _spin(north, facing)


def _collision(state: int, faces: Faces) -> list[Box]:
    start, number = blocks.BOX_START[state], blocks.NUM_BOXES[state]
    return [(*(16 * row).clip(0, 16).tolist(), faces) for row in blocks.BOXES[start : start + number]]


_INVISIBLE = {"air", "cave_air", "void_air", "barrier", "structure_void", "moving_piston"}
_WET = {"water", "bubble_column", "seagrass", "tall_seagrass", "kelp", "kelp_plant"}
_TINTED = {
    "grass_block",
    "grass",
    "tall_grass",
    "fern",
    "large_fern",
    "vine",
    "sugar_cane",
    "oak_leaves",
    "jungle_leaves",
    "acacia_leaves",
    "dark_oak_leaves",
    "birch_leaves",
    "spruce_leaves",
    "lily_pad",
}
_NATURAL = {
    "grass_block",
    "dirt",
    "coarse_dirt",
    "sand",
    "red_sand",
    "gravel",
    "stone",
    "snow_block",
    "snow",
    "podzol",
    "mycelium",
    "netherrack",
    "clay",
    "end_stone",
    "soul_soil",
    "bedrock",
    "granite",
    "diorite",
    "andesite",
    "blackstone",
    "grass_path",
    "obsidian",
}
_CUTOUTS = {"glass", "spawner", "ice", "frosted_ice", "slime_block"}


@cache
def _rows() -> tuple[dict[str, dict[str, Any]], list[tuple[str, str, dict[str, Any]]]]:
    """Return the rows of `data/models.json` (see its README) by name; and (start, end, row) for each name with a star."""
    alone, families = {}, []
    for row in table("models"):
        for name in [row["name"]] if isinstance(row["name"], str) else row["name"]:
            start, star, end = name.partition("*")
            if star:
                families.append((start, end, row))
            else:
                alone[name] = row
    return alone, families


@cache
def _row(name: str) -> tuple[dict[str, Any] | None, str]:
    """Return the row of a block, and the text for which the star in the row's name stands."""
    alone, families = _rows()
    if name in alone:
        return alone[name], ""
    for start, end, row in families:
        if name.startswith(start) and name.endswith(end):
            return row, name[len(start) : len(name) - len(end)]
    return None, ""


def _surface(name: str) -> Faces:
    row, _ = _row(name)
    return tuple(row["boxes"][""]["cube"]) if row and not row.get("by", True) else _same(name)  # type: ignore[return-value]


def _look(name: str, p: Properties, state: int) -> tuple[str, list[Box]]:
    """Return the kind of a state (`cube`, `cross` or `boxes`) and its boxes; for cubes and crosses only the faces matter."""
    row, stem = _row(name)
    if row is None:
        return "cube", [_box(name)]
    words = {"name": name, "stem": stem, "material": material(name), **p}

    def shown(faces: str | list[str | None]) -> Faces:
        if faces == "#material":
            return _surface(words["material"])
        if isinstance(faces, str):
            return _same(faces.format_map(words))
        return tuple(face and face.format_map(words) for face in faces)  # type: ignore[return-value]

    if "by" in row:
        values = ",".join(p[prop] for prop in row["by"])
        if values not in row["boxes"]:
            raise WorldError(f"models.json has no boxes of {name} for {values!r}; give all values of {', '.join(row['by'])}")
        listed = row["boxes"][values]
    else:
        listed = [box for when, some in row["parts"] if all(p[prop] in values for prop, values in when.items()) for box in some]
    kind, boxes = "boxes", list[Box]()
    if isinstance(listed, dict):
        ((kind, faces),) = listed.items()
        boxes = [_box(shown(faces))]
    else:
        for *corners, faces in listed:
            boxes += [(*corners, shown(faces))] if corners else _collision(state, shown(faces))  # type: ignore[list-item]
    if row["turned"] == "tilt":
        boxes = _tilt(boxes, p["facing"])
    elif row["turned"]:
        boxes = _spin(boxes, p["facing"], row["turned"] == "spin tops")
    return kind, boxes


_IGNORED = {"distance", "persistent", "note", "instrument", "conditional", "triggered", "enabled", "occupied", "stage"}
"""Properties that do not change the look of a block: states that differ only in these properties share a model."""


@cache
def models() -> Models:
    """Return the look of every state; the first call makes it in about half a second."""
    number = blocks.NUM_STATES
    kind = np.zeros(number, np.uint8)
    faces = np.zeros((number, 6), np.int32)
    box_start, num_boxes = np.zeros(number, np.int32), np.zeros(number, np.int32)
    height, wet, flags = np.zeros(number, np.float32), np.zeros(number, np.uint8), np.zeros(number, np.uint8)
    glow = np.zeros(number, np.float32)
    rows: list[tuple[float, ...]] = []
    row_faces: list[list[int]] = []
    index: dict[str, int] = {}

    def of(name: str | None) -> int:
        if name is None:
            return -1
        if name not in index:
            index[name] = texture(name)
        return index[name]

    for block in blocks.BLOCKS:
        name = block.name
        seen: dict[tuple[str, ...], int] = {}
        for state in range(block.first, block.first + block.num_states):
            p = _values(block, state)
            key = tuple(
                value
                for prop, value in p.items()
                if prop not in _IGNORED
                and prop != "waterlogged"
                and not (prop == "age" and name in ("kelp", "sugar_cane", "cactus", "fire", "weeping_vines", "twisting_vines"))
            )
            wet[state] = name in _WET or p.get("waterlogged") == "true"
            height[state] = _height(p) if name in ("water", "lava") else 14 / 16 if wet[state] else 0
            if name == "bubble_column":
                height[state] = 1
            if key in seen and not (name == "sea_pickle" and wet[state]):
                first = seen[key]
                for array in (kind, faces, box_start, num_boxes, flags, glow):
                    array[state] = array[first]
                continue
            seen[key] = state
            glow[state] = 0.0 if p.get("lit") == "false" else light.GIVES[state] / 15
            flags[state] = (TINTED if name in _TINTED else 0) | (NATURAL if name in _NATURAL or name.endswith("leaves") else 0)
            if name in _INVISIBLE:
                continue
            if name == "water":
                kind[state], faces[state] = WATER, of("water")
            elif name == "lava":
                kind[state], faces[state], glow[state] = LAVA, of("lava"), 1.0
            else:
                way, boxes = _look(name, p, state)
                if way == "boxes":
                    kind[state], box_start[state], num_boxes[state] = BOXES, len(rows), len(boxes)
                    flags[state] |= SMOOTH if name in ("farmland", "grass_path", "snow") else 0
                    for box in boxes:
                        rows.append(tuple(value / 16 for value in box[:6]))
                        row_faces.append([of(face) for face in box[6]])
                    faces[state] = next(face for face in row_faces[box_start[state]] if face >= 0)
                else:
                    kind[state], faces[state] = _cube_kind(name), [of(face) for face in boxes[0][6]]
                    if way == "cross":
                        kind[state] = CROSS
                        flags[state] |= PLANT
            if kind[state] == CUTOUT and not name.endswith("leaves"):
                flags[state] |= CULLED
    flat = np.clip(np.array(rows, np.float32), 0, 1)
    return Models(kind, faces, box_start, num_boxes, flat, np.array(row_faces, np.int32), height, wet, flags, glow)


def _values(block: blocks.Block, state: int) -> dict[str, str]:
    rest, found = state - block.first, []
    for name, values in reversed(list(block.properties.items())):
        rest, at = divmod(rest, len(values))
        found.append((name, values[at]))
    return dict(reversed(found))


def _height(p: Properties) -> float:
    """Height of a liquid in its cell: 14/16 for a source, one eighth of this less for each level, 1 for a falling liquid."""
    level = int(p["level"])
    return 1.0 if level >= 8 else (14 - 1.75 * level) / 16


def _cube_kind(name: str) -> int:
    holes = name.endswith(("leaves", "stained_glass")) or name in _CUTOUTS
    return CUTOUT if holes else CUBE
