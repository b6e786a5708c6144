"""Records and named tuples of numbers that the ray-caster's kernels pass to each other."""

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
"""Number of mip levels of each texture: they are 16, 8, 4, 2 and 1 pixels wide."""
AIR, CUBE, CUTOUT, WATER, CROSS, BOXES, LAVA = range(7)
"""Kinds of states: invisible; an opaque cube; a cube with holes or coloured glass; water alone; two crossed pictures; boxes;
lava."""
TINTED, NATURAL, CULLED, PLANT, SMOOTH = 1, 2, 4, 8, 16
"""Flags of states: its colour varies over the land; its texture is mirrored in some cells; faces between two equal states are
not drawn (glass); it is two crossed pictures; it is a box that nearly fills its cell (a path) and is lit as a cube."""
NOT_KNOWN = 7
"""Kind of the state of cells that a browser has not received yet: a ray ends in the first of these cells, and its pixel shows
the sky."""
KIND_BITS, WET, STILL, FLAGS_SHIFT = 15, 16, 32, 8
"""Parts of `Looks.info`: mask of the kind, bit for a block in water, bit for full still water, lowest bit of the flags."""
NO_SIDE, PLANE = -1, 6
"""Two more values of a side, beside the six faces (numbered as in `models`): no side; the crossed pictures of a plant."""
FULL_LIGHT = 240
"""Light value of a cell with full sky light and no block light."""

FIELDS = {
    **{vector: "xyz" for vector in ("eye", "right", "up", "ahead", "sun")},
    **{colour: "rgb" for colour in ("horizon", "zenith", "glow", "cloud")},
    "tan": "xy",
    **{number: "" for number in ("far", "pixel", "drift", "stars", "cover", "ripple", "disc", "shade")},
    "eye_light": "rgb",
}
"""Numbers of one picture: name of each number -> letters of its parts, in the order of `View`.

`eye`: position in blocks; `right`, `up`, `ahead`: axes of the camera; `sun`: direction to the sun; `horizon`, `zenith`, `glow`,
`cloud`: colours, 0 to 255; `tan`: tangents of half the angles of view; `far`: viewing distance in blocks; `pixel`: a pixel's
width at distance 1; `drift`, `ripple`: how far clouds and ripples have moved; `stars`, `disc`: brightness of the stars and of
the sun's disc; `cover`: amount of clouds; `shade`: brightness of each face; `eye_light`: light at the eye."""
View = np.dtype(
    [
        (f"{name}_{part}" if parts else name, f32, 6 if name == "shade" else ())
        for name, parts in FIELDS.items()
        for part in parts or (None,)
    ],
    align=True,
)
"""Record of the numbers of one picture (`FIELDS`), such as `eye_x`, `horizon_r`, `far` and `shade` (six values)."""
NUM_NUMBERS = View.itemsize // 4
Marks = np.dtype([(f"{what}_{axis}", np.int32) for what in ("outlined", "cracked") for axis in "xyz"] + [("crack", np.int32)])
"""The cell to outline; the cell whose block is being mined, and the texture of its cracks. -1 stands for no cell or texture."""
Rays = np.dtype([(name, f32, TILE * TILE) for name in ("dx", "dy", "dz", "ix", "iy", "iz")], align=True)
"""Directions of the rays of a tile's pixels, row by row, and the reciprocals of these directions."""
Box = np.dtype([(name, f32) for name in ("x0", "y0", "z0", "x1", "y1", "z1")], align=True)
"""The low and the high corner of a box within its cell, in blocks."""
Range = np.dtype([("start", np.int32), ("number", np.int32)], align=True)
"""The rows of `Looks.boxes` that form a state: the first row and the number of rows."""


class Cells(NamedTuple):
    """The land: flat arrays with an entry per cell. The index grows by 1 with y, by `sy` with z and by `sy * sz` with x.

    Attributes:
        blocks: uint16: states.
        light: uint8: sky light times 16, plus block light.
        skip: uint8: 0 for a block; in air the distance in cells to the nearest block, as in `Grid.skip`.
        sx, sy, sz: int32: number of cells.
        tops: int16, shape (sx / 8, sz / 8), workspace: height of the highest block in each tile of 8 x 8 columns; -1 until
            it is searched.
    """

    blocks: np.ndarray
    light: np.ndarray
    skip: np.ndarray
    sx: int
    sy: int
    sz: int
    tops: np.ndarray


class Looks(NamedTuple):
    """The look of each of the N states (from `models.Models`), and the textures.

    Attributes:
        info: uint32, shape (N,): kind and flags, see `KIND_BITS`.
        faces: int32, shape (N, 6): textures of the six faces.
        box_range: `Range`, shape (N,): the boxes of each state.
        boxes: `Box`, shape (M,): the boxes of all states.
        box_faces: int32, shape (M, 6): textures; -1 where a box has no face.
        height: float32, shape (N,): height of its water or lava under air.
        glow: float32, shape (N,): least brightness of the block, even in the dark, 0 to 1.
        pages: uint32: pixels of all textures, one mip level after the other (`renderer.pyramid`).
        page_starts: int32, shape (LEVELS,): index in `pages` at which each level begins.
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
    """Pictures that repeat over the whole world: float32.

    Attributes:
        land: shape (256, 256, 3): factors on red, green and blue for blocks whose colour varies over the land.
        clouds: shape (256, 256): thickness of the clouds.
        ripples: shape (128, 128, 2): slopes of the water's surface along x and z.
    """

    land: np.ndarray
    clouds: np.ndarray
    ripples: np.ndarray


class Canvas(NamedTuple):
    """The arrays into which `paint` writes, and the safe distances that it reads.

    Attributes:
        starts: float32, shape (rows of tiles, tiles in a row): safe first distance of the rays (`first_steps`).
        columns: float32, shape (2, 8 * tiles in a row), workspace: x and z of the directions of each column of pixels.
        rays: `Rays`, shape (1,), workspace.
        out: uint8, shape (H, W, 3): the picture.
        depth: float32, shape (H, W): distance in blocks to the surface in each pixel; `View.far` for the sky.
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
"""The ray of a pixel: numbers that do not change along the ray. Most names end with the axis x, y or z.

eye: where the ray begins; d: its direction, of length 1; i: the reciprocal of d. p: whether d is positive; s: the sign of d, 1
or -1; b: 1 if d is positive, else 0. move: what one step along the axis adds to the index in `Cells`; f: the face through which
the ray enters the next cell. far: the ray's length; texel: a pixel's width at distance 1, in sixteenths of a block.
"""
Spot = namedtuple("Spot", "x y z t face")
"""Position on a ray: the cell, the distance from the eye, and the face through which the ray entered (-1 if it began here)."""
Seen = namedtuple("Seen", "red green blue pass_r pass_g pass_b")
"""Colour added up along a ray so far, 0 to 255, and the share of red, green and blue light from behind that still passes."""
Water = namedtuple("Water", "inside t far red green blue fog_t")
"""A ray and the water: whether the ray is in water; where it entered; the distance beyond which water hides everything; the
light on the water; the distance of the first water surface (-1 before it), whose fog also covers everything behind it."""
Touch = namedtuple("Touch", "texel t side x y z x0 y0 z0 x1 y1 z1")
"""The surface that a ray meets in a cell: its colour (uint32; the highest byte is the opacity, 0 if the ray meets nothing), the
distance, the side (a face, `PLANE` or `NO_SIDE`), the point within the cell, and the box to which the surface belongs."""
Marked = namedtuple("Marked", "outlined cracked crack")
"""`Marks` with each cell as its index in the arrays of `Cells`; -1 for a cell outside the land."""

_Kernel = Callable[..., Any]
_same: Any = {"cache": True, "error_model": "numpy", "_nrt": False}  # they make no arrays, so that no references are counted
_built_in: Any = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # Numba's stubs do not list them
outer: Callable[[_Kernel], _Kernel] = njit(nogil=True, **_same)
"""Decorator of kernels that Python calls."""
inner: Callable[[_Kernel], _Kernel] = njit(**_built_in, **_same)
"""Decorator of kernels that are inlined into the kernel that calls them."""
