"""Records and tuples with named numbers, which the ray-caster's kernels pass to each other."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import njit

f32 = np.float32
int32: Any = numba.int32  # the stubs know no conversion of a truth value
int64: Any = numba.int64
uint32: Any = numba.uint32
TILE = 8
CLOUD_HEIGHT = 152.0
LEVELS = 5
"""Of the textures: 16, 8, 4, 2 and 1 pixels wide."""
AIR, CUBE, CUTOUT, WATER, CROSS, BOXES, LAVA = range(7)
"""Kinds: nothing to see; an opaque cube; a cube with holes or panes of colour; only water; two crossed pictures; boxes;
lava."""
TINTED, NATURAL, CULLED, PLANT, SMOOTH = 1, 2, 4, 8, 16
"""Flags: takes the colour of the land; its texture may be mirrored from cell to cell; no face against its like (glass);
stands in the grass; a box that fills its cell but for a little (a path), lit as a cube."""
NOT_KNOWN = 7
"""Kind of a state that stands for a cell of which nothing is known: a ray ends there, and the sky is seen. Browsers have such
cells."""
KIND_BITS, WET, STILL, FLAGS_SHIFT = 15, 16, 32, 8
"""Of `Looks.info`: a state's kind, whether it stands in water, whether it is full, still water, and where its flags begin."""
NO_SIDE, PLANE = -1, 6
"""Sides of a cell beside its six faces (`models`): none, and the crossed pictures of a plant."""
FULL_LIGHT = 240
"""A light value: all of the sky's light, and none of a block."""

FIELDS = {
    **{vector: "xyz" for vector in ("eye", "right", "up", "ahead", "sun")},
    **{colour: "rgb" for colour in ("horizon", "zenith", "glow", "cloud")},
    "tan": "xy",
    **{number: "" for number in ("far", "pixel", "drift", "stars", "cover", "ripple", "disc", "shade")},
    "eye_light": "rgb",
}
"""What differs from picture to picture, in its order in a `View`, and the parts that it has.

The eye's place in blocks and its three axes, the direction to the sun, colours of the sky (of 255); tangents of half the
fields of view, the distance one can see in blocks, a pixel's width at a distance of 1, how far clouds and ripples have moved,
how bright stars are, how much is clouded, how bright the sun's disc is, the light of each of the six faces, the light at the
eye.
"""
View = np.dtype(
    [
        (f"{name}_{part}" if parts else name, f32, 6 if name == "shade" else ())
        for name, parts in FIELDS.items()
        for part in parts or (None,)
    ],
    align=True,
)
"""`FIELDS` as one record: `eye_x`, `horizon_r`, `far`, `shade` (six values)."""
NUM_NUMBERS = View.itemsize // 4
Marks = np.dtype([(f"{what}_{axis}", np.int32) for what in ("outlined", "cracked") for axis in "xyz"] + [("crack", np.int32)])
"""Cells of the block to outline and of the one that breaks, and the crack's texture; -1 for none."""
Rays = np.dtype([(name, f32, TILE * TILE) for name in ("dx", "dy", "dz", "ix", "iy", "iz")], align=True)
"""Directions of a tile's pixels, row by row, and one divided by them."""
Box = np.dtype([(name, f32) for name in ("x0", "y0", "z0", "x1", "y1", "z1")], align=True)
"""Two corners in blocks, within the cell."""
Range = np.dtype([("start", np.int32), ("number", np.int32)], align=True)
"""Rows of `Looks.boxes` that make a state."""


class Cells(NamedTuple):
    """The land: arrays with an entry per cell, all y of a column side by side, then z, then x.

    Attributes:
        blocks: uint16: states.
        light: uint8: sky's light times 16, and the blocks' light.
        skip: uint8: 0 for a block; else the number of cells between the cell and the nearest block, and 1 more.
        sx, sy, sz: int32: number of cells.
        tops: int16, shape (sx / 8, sz / 8), workspace: the highest cell that is not free in each 8 x 8 columns; -1 where
            that is not known yet.
    """

    blocks: np.ndarray
    light: np.ndarray
    skip: np.ndarray
    sx: int
    sy: int
    sz: int
    tops: np.ndarray


class Looks(NamedTuple):
    """Looks of the N states (`models.Models`), and the textures.

    Attributes:
        info: uint32, shape (N,): kind and flags, see `WET`.
        faces: int32, shape (N, 6): textures.
        box_range: `Range`, shape (N,).
        boxes: `Box`, shape (M,).
        box_faces: int32, shape (M, 6): textures; -1 where a box has no face.
        height: float32, shape (N,): how high its water or lava stands with air above.
        glow: float32, shape (N,): brightness of its own, 0 to 1.
        pages: uint32: pixels of all textures, level by level (`renderer.pyramid`).
        page_starts: int32, shape (LEVELS,): where each level begins.
    """

    info: np.ndarray
    faces: np.ndarray
    box_range: np.ndarray
    boxes: np.ndarray
    box_faces: np.ndarray
    height: np.ndarray
    glow: np.ndarray
    pages: np.ndarray
    page_starts: np.ndarray


class Scenery(NamedTuple):
    """Pictures that tile: float32.

    Attributes:
        land: shape (256, 256, 3): the land's colour.
        clouds: shape (256, 256): how thick they are.
        ripples: shape (128, 128, 2): slopes of the water along x and z.
    """

    land: np.ndarray
    clouds: np.ndarray
    ripples: np.ndarray


class Canvas(NamedTuple):
    """Outputs of `paint`, and its workspace.

    Attributes:
        starts: float32, shape (rows of tiles, tiles in a row): how far rays may go at once (`first_steps`); only read.
        columns: float32, shape (2, 8 * tiles in a row), workspace: x and z of a pixel's direction, by its column.
        rays: `Rays`, shape (1,), workspace.
        out: uint8, shape (H, W, 3): the picture.
        depth: float32, shape (H, W): blocks to the picture's surfaces, `View.far` for the sky.
    """

    starts: np.ndarray
    columns: np.ndarray
    rays: np.ndarray
    out: np.ndarray
    depth: np.ndarray


# What is passed from kernel to kernel has these names for its numbers.
Ray = namedtuple(
    "Ray",
    "eye_x eye_y eye_z dx dy dz ix iy iz px py pz sx sy sz bx by bz move_x move_y move_z fx fy fz far texel",
)
"""The ray of a pixel: what stays as it is on its way.

It begins at the eye; d is its direction, of length 1, i is one divided by that. p: whether it goes up an axis; s: 1 if so, else
-1; b: 1 if so, else 0. move: how far the next cell along an axis lies in the arrays of `Cells`; f: the face through which the
ray enters that cell. far: how long the ray is; texel: width of a pixel at a distance of 1, in sixteenths of a block.
"""
Spot = namedtuple("Spot", "x y z t face")
"""Where a ray is: the cell, how far it is from the eye, and the face through which the ray came in (-1: it began here)."""
Seen = namedtuple("Seen", "red green blue pass_r pass_g pass_b")
"""Colour seen so far, of 255, and the share of light of each colour that still passes."""
Water = namedtuple("Water", "inside t far red green blue fog_t")
"""Whether a ray is in water, the distance at which it came in, that from which on nothing is seen any more, the light on the
water, and the distance of the first surface (-1 before that): what is behind has that surface's fog."""
Touch = namedtuple("Touch", "texel t side x y z x0 y0 z0 x1 y1 z1")
"""What a ray meets in a cell: its colour (uint32; nothing is met where the highest byte, the opacity, is 0), the distance, the
side (a face, `PLANE` or `NO_SIDE`), the place within the cell, and the box that it is part of."""
Marked = namedtuple("Marked", "outlined cracked crack")
"""`Marks` with the cells' places in the arrays; -1 outside."""

_Kernel = Callable[..., Any]
_same: Any = {"cache": True, "error_model": "numpy", "_nrt": False}  # they make no arrays, so that no references are counted
_built_in: Any = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # Numba's stubs do not list them
outer: Callable[[_Kernel], _Kernel] = njit(nogil=True, **_same)
"""For what Python calls."""
inner: Callable[[_Kernel], _Kernel] = njit(**_built_in, **_same)
"""For what becomes a part of the kernel that calls it."""
