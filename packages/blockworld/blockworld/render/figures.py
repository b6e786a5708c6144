"""Drawing mobs, items on the ground and other entities into a picture of the blocks.

Every figure consists of a few boxes, each with its own position and rotation. To draw a box, a ray through each pixel of its
bounds on the screen is tested in the box's own coordinates (a slab test). The picture's depth decides what is in front.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numba import njit

from blockworld.registry.blocks import per_block
from blockworld.registry.entity_types import (
    ANGRY,
    ARROW,
    FUSE_TICKS,
    ITEM,
    KIND,
    KINDS,
    NUM_THINGS,
    SHEARED,
    SITTING,
    TAMED,
    XP_ORB,
)
from blockworld.registry.facts import table
from blockworld.render import bodies, daylight, exact, icons, sheets
from blockworld.render.bodies import Body, Part
from blockworld.render.camera import Camera
from blockworld.state import ENTITY, MAX_ENTITIES
from blockworld.world_state import WorldState

REACH = 64.0
"""Distance within which figures are drawn, in blocks."""
_WET = per_block({"water": True, "seagrass": True, "tall_seagrass": True, "kelp": True, "kelp_plant": True}, False, np.bool_)


# ---------------------------------------------------------------- the kernel
# Columns of an array of poses, one row per figure.
X, Y, Z, YAW, PITCH, ROLL, HEAD_YAW, HEAD_PITCH, WALKED, STRIDE, FLUTTER, SCALE, YOUNG, MODEL = range(14)
RED, GREEN, BLUE, ADD_RED, ADD_ALL = range(14, 19)
POSE = 19
# What `standing` gives besides. The colours of a row are factors on the light at LIGHT, a light value (sky times 16, plus
# block), or colours as they are where LIGHT is negative; LIT_RED is more red, times the light's; MANNER is one of those below;
# BORN the tick in which its age was 0.
LIGHT, LIT_RED, MANNER, BORN = range(19, 23)
ROW = 23
PLAIN, SPINS, FACES, PULSES = range(4)
"""How a figure moves by itself: not at all; it spins and bobs (items); it faces the camera (pictures), and pulsates (orbs)."""
FIRST_PLAYER = 1 << 31
"""Id that `standing` gives to the player in seat 0; the player in seat n has `FIRST_PLAYER + n`."""
# Columns of an array of parts.
PIVOT, BOX, TURN, SWING, LIFT, BEAT, HEAD, GLOW, SPRITE = 0, 3, 9, 12, 14, 16, 17, 18, 19
PART = 20
NEAR = 0.02


@njit(cache=True, error_model="numpy")
def _turned(ax, ay, az, out):
    """Write the matrix of a rotation about z, then x, then y into `out` (3, 3); signs are those of yaw and pitch."""
    cx, sx, cy, sy, cz, sz = exact.cos(ax), exact.sin(ax), exact.cos(ay), exact.sin(ay), exact.cos(az), exact.sin(az)
    m10, m11, m12 = cx * sz, cx * cz, -sx
    m20, m21, m22 = sx * sz, sx * cz, cx
    out[0, 0], out[0, 1], out[0, 2] = cy * cz - sy * m20, -cy * sz - sy * m21, -sy * m22
    out[1, 0], out[1, 1], out[1, 2] = m10, m11, m12
    out[2, 0], out[2, 1], out[2, 2] = sy * cz + cy * m20, -sy * sz + cy * m21, cy * m22


@njit(cache=True, error_model="numpy")
def _times(a, b, out):
    for i in range(3):
        for j in range(3):
            out[i, j] = a[i, 0] * b[0, j] + a[i, 1] * b[1, j] + a[i, 2] * b[2, j]


@njit(cache=True, error_model="numpy")
def _bounds(turn, at, box, view, corners):
    """Bounds of a box on the screen (left, right, top, bottom; the screen is -1 to 1), and the depth of its nearest corner.

    Edges are cut at the near plane. `corners`, (8, 3), is workspace.
    """
    tall, wide = view[12], view[13]
    left, right, top, bottom = 1e9, -1e9, 1e9, -1e9
    nearest = 1e9
    for corner in range(8):
        px = box[3] if corner & 1 else box[0]
        py = box[4] if corner & 2 else box[1]
        pz = box[5] if corner & 4 else box[2]
        wx = turn[0, 0] * px + turn[0, 1] * py + turn[0, 2] * pz + at[0] - view[0]
        wy = turn[1, 0] * px + turn[1, 1] * py + turn[1, 2] * pz + at[1] - view[1]
        wz = turn[2, 0] * px + turn[2, 1] * py + turn[2, 2] * pz + at[2] - view[2]
        away = wx * view[3] + wy * view[4] + wz * view[5]
        corners[corner, 0] = (wx * view[6] + wy * view[7] + wz * view[8]) / wide
        corners[corner, 1] = (wx * view[9] + wy * view[10] + wz * view[11]) / tall
        corners[corner, 2] = away
        nearest = min(nearest, away)
        if away >= NEAR:
            u, v = corners[corner, 0] / away, corners[corner, 1] / away
            left, right, bottom, top = min(left, u), max(right, u), max(bottom, -v), min(top, -v)
    if nearest < NEAR:
        for corner in range(8):
            for bit in (1, 2, 4):
                other = corner | bit
                if other != corner and (corners[corner, 2] >= NEAR) != (corners[other, 2] >= NEAR):
                    share = (NEAR - corners[corner, 2]) / (corners[other, 2] - corners[corner, 2])
                    u = (corners[corner, 0] + share * (corners[other, 0] - corners[corner, 0])) / NEAR
                    v = (corners[corner, 1] + share * (corners[other, 1] - corners[corner, 1])) / NEAR
                    left, right, bottom, top = min(left, u), max(right, u), max(bottom, -v), min(top, -v)
    return left, right, top, bottom, nearest


@njit(cache=True, error_model="numpy")
def _between(low, high, start, step):
    """Distances at which a ray enters and leaves the space between two planes, in lengths of the ray's direction."""
    t0, t1 = (low - start) * step, (high - start) * step
    return (t1, t0) if t0 > t1 else (t0, t1)


@njit(cache=True, error_model="numpy")
def _entered(box, ox, oy, oz, dx, dy, dz):
    """Distances at which a ray enters and leaves a box, and the entered face. On a miss the face is -1 or leave < enter."""
    ix, iy, iz = 1.0 / dx, 1.0 / dy, 1.0 / dz
    near, far, face = 0.0, 1e9, -1
    t0, t1 = _between(box[0], box[3], ox, ix)
    if t0 > near:
        near, face = t0, (0 if dx > 0 else 1)
    far = min(far, t1)
    t0, t1 = _between(box[1], box[4], oy, iy)
    if t0 > near:
        near, face = t0, (5 if dy > 0 else 4)
    far = min(far, t1)
    t0, t1 = _between(box[2], box[5], oz, iz)
    if t0 > near:
        near, face = t0, (2 if dz > 0 else 3)
    return near, min(far, t1), face


@njit(cache=True, error_model="numpy")
def _texel_inside(faces, skin, hx, hy, gx, gy):
    """First solid texel on a ray's way through a thick picture, and the number of steps to it; -1 if there is no such texel."""
    columns, rows, start = faces[3, 1], faces[3, 2], faces[3, 0]
    num = int(2.0 * max(abs(gx) * columns, abs(gy) * rows)) + 1
    for step in range(num + 1):
        part = step / num
        c, r = int((hx + gx * part) * columns), int((1.0 - hy - gy * part) * rows)
        c, r = min(columns - 1, max(0, c)), min(rows - 1, max(0, r))
        if skin[start + r * columns + c, 3] > 99:
            return start + r * columns + c, step
    return -1, 0


@njit(cache=True, error_model="numpy")
def _texel_on(faces, face, hx, hy, hz):
    """Texel of a face at the point (hx, hy, hz) of the box; the coordinates are 0 to 1 along its sides."""
    if face == 0:
        tu, tv = hz, 1.0 - hy
    elif face == 1:
        tu, tv = 1.0 - hz, 1.0 - hy
    elif face == 2:
        tu, tv = 1.0 - hx, 1.0 - hy
    elif face == 3:
        tu, tv = hx, 1.0 - hy
    elif face == 4:
        tu, tv = hx, hz
    else:
        tu, tv = hx, 1.0 - hz
    columns, rows = faces[face, 1], faces[face, 2]
    c, r = min(columns - 1, max(0, int(tu * columns))), min(rows - 1, max(0, int(tv * rows)))
    return faces[face, 0] + r * columns + c


@njit(cache=True, error_model="numpy")
def _box(turn, at, box, view, faces, sprite, shades, tint, skin, frame, depth, corners):
    """Draw one box. `box` has its corners in its own coordinates; `turn` (3, 3) and `at` (3,) map these to the world."""
    height, width = depth.shape
    tall, wide = view[12], view[13]
    left, right, top, bottom, nearest = _bounds(turn, at, box, view, corners)
    if left > right:
        return
    i0, i1 = (
        max(0, math.ceil((max(left, -1.1) + 1) * 0.5 * width - 0.5)),
        min(width, int((min(right, 1.1) + 1) * 0.5 * width + 0.5)),
    )
    j0, j1 = (
        max(0, math.ceil((max(top, -1.1) + 1) * 0.5 * height - 0.5)),
        min(height, int((min(bottom, 1.1) + 1) * 0.5 * height + 0.5)),
    )
    if i0 >= i1 or j0 >= j1:
        return
    # The camera in the box's frame
    cx, cy, cz = view[0] - at[0], view[1] - at[1], view[2] - at[2]
    ox = turn[0, 0] * cx + turn[1, 0] * cy + turn[2, 0] * cz
    oy = turn[0, 1] * cx + turn[1, 1] * cy + turn[2, 1] * cz
    oz = turn[0, 2] * cx + turn[1, 2] * cy + turn[2, 2] * cz
    fx = turn[0, 0] * view[3] + turn[1, 0] * view[4] + turn[2, 0] * view[5]
    fy = turn[0, 1] * view[3] + turn[1, 1] * view[4] + turn[2, 1] * view[5]
    fz = turn[0, 2] * view[3] + turn[1, 2] * view[4] + turn[2, 2] * view[5]
    rx = (turn[0, 0] * view[6] + turn[1, 0] * view[7] + turn[2, 0] * view[8]) * wide
    ry = (turn[0, 1] * view[6] + turn[1, 1] * view[7] + turn[2, 1] * view[8]) * wide
    rz = (turn[0, 2] * view[6] + turn[1, 2] * view[7] + turn[2, 2] * view[8]) * wide
    ux = (turn[0, 0] * view[9] + turn[1, 0] * view[10] + turn[2, 0] * view[11]) * tall
    uy = (turn[0, 1] * view[9] + turn[1, 1] * view[10] + turn[2, 1] * view[11]) * tall
    uz = (turn[0, 2] * view[9] + turn[1, 2] * view[10] + turn[2, 2] * view[11]) * tall
    wx, wy, wz = 1.0 / (box[3] - box[0]), 1.0 / (box[4] - box[1]), 1.0 / (box[5] - box[2])
    for j in range(j0, j1):
        v = 1.0 - 2.0 * (j + 0.5) / height
        ax, ay, az = fx + v * ux, fy + v * uy, fz + v * uz
        across = 1.0 + v * v * tall * tall
        for i in range(i0, i1):
            if depth[j, i] <= nearest:
                continue
            u = 2.0 * (i + 0.5) / width - 1.0
            dx, dy, dz = ax + u * rx, ay + u * ry, az + u * rz
            if abs(dx) < 1e-9:
                dx = 1e-9
            if abs(dy) < 1e-9:
                dy = 1e-9
            if abs(dz) < 1e-9:
                dz = 1e-9
            near, far, face = _entered(box, ox, oy, oz, dx, dy, dz)
            if face < 0 or near >= far:
                continue
            length = math.sqrt(across + u * u * wide * wide)
            distance = near * length
            if distance >= depth[j, i]:
                continue
            hx, hy, hz = (ox + dx * near - box[0]) * wx, (oy + dy * near - box[1]) * wy, (oz + dz * near - box[2]) * wz
            shade = shades[face]
            if sprite:
                texel, step = _texel_inside(faces, skin, hx, hy, (far - near) * dx * wx, (far - near) * dy * wy)
                if texel < 0:
                    continue
                if step:
                    shade = shade * 0.72
            else:
                texel = _texel_on(faces, face, hx, hy, hz)
            alpha = skin[texel, 3]
            if alpha < 8:
                continue
            red = min(255.0, skin[texel, 0] * shade * tint[0] + tint[3])
            green = min(255.0, skin[texel, 1] * shade * tint[1] + tint[4])
            blue = min(255.0, skin[texel, 2] * shade * tint[2] + tint[4])
            if alpha < 250 and not sprite:
                share = alpha / 255.0
                red = frame[j, i, 0] * (1 - share) + red * share
                green = frame[j, i, 1] * (1 - share) + green * share
                blue = frame[j, i, 2] * (1 - share) + blue * share
            frame[j, i, 0], frame[j, i, 1], frame[j, i, 2] = np.uint8(red), np.uint8(green), np.uint8(blue)
            depth[j, i] = distance


@njit(cache=True, error_model="numpy")
def _figures(poses, models, parts, faces, skin, view, frame, depth):
    """Draw figures in the order of `poses`, float64 (N, POSE), seen from a camera: `view` comes from `basis`."""
    whole, head, own, turn, both = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    at, box, shades, tint, corners = np.empty(3), np.empty(6), np.empty(6), np.empty(5), np.empty((8, 3))
    for n in range(poses.shape[0]):
        pose = poses[n]
        model = int(pose[MODEL])
        if model < 0:
            continue
        _turned(pose[PITCH], pose[YAW], pose[ROLL], whole)
        _turned(pose[HEAD_PITCH], pose[HEAD_YAW], 0.0, head)
        for p in range(models[model, 0], models[model, 0] + models[model, 1]):
            part = parts[p]
            stride = pose[STRIDE] * exact.sin(pose[WALKED] * 5.0 + part[SWING + 1] * 2 * math.pi)
            lift = pose[STRIDE] * exact.sin(pose[WALKED] * 5.0 + part[LIFT + 1] * 2 * math.pi) * part[LIFT]
            beat = part[BEAT] * pose[FLUTTER]
            _turned(part[TURN] + stride * part[SWING], part[TURN + 1], part[TURN + 2] + lift + beat, own)
            size = pose[SCALE]
            bulk = size
            if part[HEAD] > 0.5:
                _times(head, own, both)
                _times(whole, both, turn)
                if pose[YOUNG] > 0.5:
                    bulk = size * 1.5
            else:
                _times(whole, own, turn)
            for i in range(3):
                at[i] = pose[X + i] + size * (whole[i, 0] * part[0] + whole[i, 1] * part[1] + whole[i, 2] * part[2])
                box[i], box[i + 3] = part[BOX + i] * bulk, part[BOX + 3 + i] * bulk
            glow = part[GLOW] > 0.5
            for face in range(6):
                axis = face // 2 if face < 2 else (2 if face < 4 else 1)
                sign = 1.0 if face == 1 or face == 3 or face == 4 else -1.0
                nx, ny, nz = turn[0, axis] * sign, turn[1, axis] * sign, turn[2, axis] * sign
                shades[face] = 1.0 if glow else 0.66 * nx * nx + 0.82 * nz * nz + (1.0 if ny > 0 else 0.52) * ny * ny
            for i in range(3):
                tint[i] = 1.0 if glow else pose[RED + i]
            tint[3], tint[4] = pose[ADD_RED], pose[ADD_ALL]
            _box(turn, at, box, view, faces[p], part[SPRITE] > 0.5, shades, tint, skin, frame, depth, corners)


# ---------------------------------------------------------------- what there is to draw
class Wardrobe:
    """The models (bodies) of all figures drawn so far, in arrays for the kernel; a new model is added when first needed.

    Attributes:
        models: int32, shape (M, 2): first part of each model and number of its parts.
        parts: float64, shape (P, PART): the numbers of each part, in the columns `PIVOT` to `SPRITE`.
        faces: int32, shape (P, 6, 3): first texel, columns and rows of each face.
        skin: uint8, shape (T, 4): texels, RGBA.
    """

    def __init__(self) -> None:
        self.models = np.zeros((0, 2), np.int32)
        self.parts = np.zeros((0, PART))
        self.faces = np.zeros((0, 6, 3), np.int32)
        self.skin = np.zeros((0, 4), np.uint8)
        self._known: dict[Any, int] = {}
        self._lock = threading.RLock()

    def _model(self, key: Any, make: Callable[[], Body], *, sprite: bool = False) -> int:
        """Return the number of the model with this key; `make` makes its body if the key is new. Safe in any thread."""
        if key not in self._known:
            with self._lock:
                if key not in self._known:
                    self._known[key] = self.add(make(), sprite=sprite)
        return self._known[key]

    def add(self, body: Body, *, sprite: bool = False) -> int:
        parts, faces, pictures = np.zeros((len(body.parts), PART)), np.zeros((len(body.parts), 6, 3), np.int32), [self.skin]
        start = len(self.skin)
        for row, part in enumerate(body.parts):
            unit = body.scale / 16
            parts[row, PIVOT : PIVOT + 3] = np.array(part.pivot) * unit
            parts[row, BOX : BOX + 6] = np.array(part.box) * unit
            parts[row, TURN : TURN + 3] = np.radians(part.turn)
            parts[row, SWING : SWING + 2] = math.radians(part.swing[0]), part.swing[1]
            parts[row, LIFT : LIFT + 2] = math.radians(part.lift[0]), part.lift[1]
            parts[row, BEAT], parts[row, HEAD], parts[row, GLOW], parts[row, SPRITE] = (
                math.radians(part.flutter),
                part.head,
                part.glow,
                sprite,
            )
            for face, picture in enumerate(part.faces):
                faces[row, face] = start, picture.shape[1], picture.shape[0]
                pictures.append(picture.reshape(-1, 4))
                start += picture.shape[0] * picture.shape[1]
        self.models = np.concatenate([self.models, [[len(self.parts), len(parts)]]]).astype(np.int32)
        self.parts = np.concatenate([self.parts, parts])
        self.faces = np.concatenate([self.faces, faces])
        self.skin = np.concatenate(pictures)
        return len(self.models) - 1

    def mob(self, name: str, variant: int = 0, flags: int = 0) -> int:
        """Return the number of the model of a mob with these bits of `ENTITY.flags`."""
        variant %= bodies.num_variants(name)
        mark = bodies.MARKED if flags & (SHEARED | TAMED) else bodies.CROSS if flags & ANGRY else bodies.PLAIN
        return self._model((name, variant, mark), lambda: bodies.body(name, variant, mark))

    def definitions(self, models: Sequence[int]) -> tuple[list[dict[str, int]], dict[str, np.ndarray]]:
        """Return what a browser needs to draw some models; IndexError for an unknown number.

        Returns:
            For each model a dict: its number (`model`), number of `parts` and number of `texels`. And the arrays
            `model_parts`, float32, shape (P, PART), `model_faces`, int32, shape (P, 6, 3), whose first texels count from 0 in
            each model, and `model_skin`, uint8, shape (T, 4).
        """
        document, parts, faces, skins_ = (
            [],
            [np.zeros((0, PART))],
            [np.zeros((0, 6, 3), np.int32)],
            [np.zeros((0, 4), np.uint8)],
        )
        for model in models:
            if not 0 <= model < len(self.models):
                raise IndexError(
                    f"models are numbered 0 to {len(self.models) - 1}, got {model}; column MODEL of a pose has this number"
                )
            first, number = self.models[model].tolist()
            own = self.faces[first : first + number].copy()
            start, end = int(own[0, 0, 0]), int(own[-1, -1, 0] + own[-1, -1, 1] * own[-1, -1, 2])
            own[..., 0] -= start
            document.append({"model": int(model), "parts": number, "texels": end - start})
            parts.append(self.parts[first : first + number])
            faces.append(own)
            skins_.append(self.skin[start:end])
        return document, {
            "model_parts": np.concatenate(parts).astype(np.float32),
            "model_faces": np.concatenate(faces),
            "model_skin": np.concatenate(skins_),
        }

    def sprite(self, key: str, picture: np.ndarray, size: float) -> int:
        """Return the number of the model of a flat picture (16, 16, 4): `size` pixels high and wide, `size / 16` thick."""

        def make() -> Body:
            half = size / 2
            part = Part((-half, 0, -size / 32, half, size, size / 32))
            part.faces = [picture] * 6
            return Body([part])

        return self._model(("sprite", key, size), make, sprite=True)

    def block(self, name: str, size: float) -> int:
        """Return the number of the model of a block, made of the block's boxes, `size` pixels wide."""

        def make() -> Body:
            parts = []
            for box, pictures in icons.boxes(name):
                low, high = box[:3] * 16, np.maximum(box[3:], box[:3] + 0.001) * 16
                part = Part((low[0] - 8, low[1], low[2] - 8, high[0] - 8, high[1], high[2] - 8))
                part.faces = [_cut(picture, low, high, face) for face, picture in enumerate(pictures)]
                parts.append(part)
            return Body(parts, size / 16)

        return self._model(("block", name, size), make)

    def is_flat(self, name: str) -> bool:
        return not (icons.is_cube(name) or icons.is_boxes(name))

    def item(self, name: str, size: float) -> int:
        if not self.is_flat(name):
            return self.block(name, size)
        return self.sprite(name, icons.icon(name), size)


def _cut(picture: np.ndarray | None, low: np.ndarray, high: np.ndarray, face: int) -> np.ndarray:
    """Cut the picture of a cell's side to the part that a box from `low` to `high`, in sixteenths, shows."""
    if picture is None:
        return np.zeros((1, 1, 4), np.uint8)

    def span(axis: int, mirrored: bool) -> slice:
        first, last = (16 - high[axis], 16 - low[axis]) if mirrored else (low[axis], high[axis])
        start = min(15, max(0, round(first)))
        return slice(start, max(start + 1, min(16, round(last))))

    rows = span(2, False) if face in (bodies.TOP, bodies.BOTTOM) else span(1, True)
    across = 2 if face in (bodies.RIGHT, bodies.LEFT) else 0
    return np.ascontiguousarray(picture[rows, span(across, face in (bodies.LEFT, bodies.BACK))])


WARDROBE = Wardrobe()


def basis(view: Camera) -> np.ndarray:
    """Numbers of a camera for the kernel, float64 (14,): position, forward, right, up, half height and width at depth 1."""
    right, up, forward = view.axes
    tall = exact.tan(math.radians(view.fov) / 2)
    return np.array([view.x, view.y, view.z, *forward, *right, *up, tall, tall * view.size[0] / view.size[1]])


def brightness(light: np.ndarray | int, time: int, weather: str = "clear", gamma: float = 0.0) -> np.ndarray:
    """Colour of a white surface in cells with this light (sky times 16, plus block) at this time: float64, shape (..., 3)."""
    return _brightness(daylight.of_sky(time, weather), gamma)[np.asarray(light)]


@lru_cache(maxsize=4)
def _brightness(day: float, gamma: float) -> np.ndarray:
    light = daylight.brightness(day, gamma).astype(np.float64)
    light.setflags(write=False)
    return light


_PLAYER = len(KINDS)
"""Number that stands for players in place of an entity's kind."""
_CREEPER, _SLIME = KIND["creeper"], KIND["slime"]
_MARKS = SHEARED | TAMED | ANGRY
_F32_DEGREE = np.float32(np.pi) / np.float32(180)


@njit(cache=True, error_model="numpy")
def _stand(entities, x, y, z, reach, rows, ids, looks, found):
    """Write entities within reach of a point into `rows`, `ids` and `looks` from row `found` on; return the new number of rows.

    `_dress` adds models, light and the scales of items.
    """
    for i in range(entities.shape[0]):
        e = entities[i]
        kind = e.kind
        if kind < 0 or not (e.x - x) * (e.x - x) + (e.y - y) * (e.y - y) + (e.z - z) * (e.z - z) < reach * reach:
            continue
        row = rows[found]
        row[:] = 0.0
        ids[found] = np.uint32(e.id)
        looks[found, 0], looks[found, 1], looks[found, 2], looks[found, 3] = kind, e.variant, e.flags & _MARKS, e.item
        found += 1
        row[X], row[Y], row[Z] = e.x, e.y, e.z
        row[YAW] = e.yaw * _F32_DEGREE
        half = np.float32(180)
        turned = (e.head_yaw - e.yaw + half) % np.float32(360) - half
        row[HEAD_YAW] = min(np.float32(75), max(np.float32(-75), turned)) * _F32_DEGREE
        row[HEAD_PITCH] = min(np.float32(60), max(np.float32(-60), e.pitch)) * _F32_DEGREE
        row[WALKED] = e.walked
        row[STRIDE] = min(1.0, math.sqrt(e.vx * e.vx + e.vz * e.vz) * 12)
        row[FLUTTER] = 0.0 if e.on_ground else 0.6 + 0.4 * exact.sin(e.age * 1.7)
        row[SCALE] = 1.0
        row[RED] = row[GREEN] = row[BLUE] = 1.0
        row[BORN] = -e.age
        if e.hurt > 0:
            row[GREEN], row[BLUE], row[LIT_RED] = 0.5, 0.5, 70.0
        elif e.fire > 0:
            row[RED], row[GREEN], row[BLUE], row[LIGHT] = 1.2, 0.8, 0.5, -1.0
        if kind < NUM_THINGS:
            if kind == ITEM:
                row[MANNER] = SPINS
            elif kind == ARROW:
                row[PITCH] = math.radians(np.float64(e.pitch))
            else:
                row[MANNER] = FACES
                if kind == XP_ORB:
                    row[RED] = row[GREEN] = row[BLUE] = 1.0
                    row[LIGHT], row[MANNER] = -1.0, PULSES
            continue
        if e.age < 0:
            row[SCALE], row[YOUNG] = 0.5, 1.0
        if kind == _SLIME:
            row[SCALE] = max(1, e.variant)
        elif kind == _CREEPER and e.goal_ticks < 0:
            burnt = min(1.0, -e.goal_ticks / FUSE_TICKS)
            row[SCALE] *= 1 + 0.25 * (burnt * burnt)
            if e.goal_ticks // 4 % 2:
                row[ADD_RED] = row[ADD_ALL] = 90.0
                row[LIT_RED] = 0.0
        if e.flags & SITTING:
            row[PITCH], row[STRIDE] = math.radians(-24.0), 0.0
    return found


@njit(cache=True, error_model="numpy")
def _dress(rows, worn, blocks, light, wet):
    """Add models, light and the scales of items to rows that `_stand` has written."""
    sx, sz, sy = blocks.shape
    for i in range(rows.shape[0]):
        row = rows[i]
        row[MODEL] = worn[i, 0]
        row[SCALE] *= worn[i, 1]
        if row[LIGHT] < 0:
            continue
        x = min(max(math.floor(row[X]), 0), sx - 1)
        y = min(max(math.floor(row[Y] + 0.4), 0), sy - 1)
        z = min(max(math.floor(row[Z]), 0), sz - 1)
        row[LIGHT] = light[x, z, y]
        if wet[blocks[x, z, y]]:  # water takes the red out of what swims in it, as the renderer's does to what it covers
            row[RED] *= 0.5
            row[GREEN] *= 0.74
            row[BLUE] *= 0.92


def _standing(world: WorldState, eye: tuple[float, float, float] | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return ids and poses as `standing`, in float64 and with BORN relative to this tick; and the kinds, int32, shape (N,)."""
    point = (0.0, 0.0, 0.0, math.inf) if eye is None else (*eye, REACH)
    most = MAX_ENTITIES + len(world.players)
    rows, ids, looks = np.empty((most, ROW)), np.empty(most, np.uint32), np.empty((most, 4), np.int32)
    found = _stand(world.entities, *point, rows, ids, looks, 0)
    if eye is None or len(world.players) > 1:
        others = _players(world, but=None if eye is None else world.seat)
        found = _stand(others, *point, rows, ids, looks, found)
    rows, ids, looks = rows[:found], ids[:found], looks[:found]
    if found:
        worn = [_WORN.get(look) or _wear(look) for look in map(tuple, looks.tolist())]
        _dress(rows, np.array(worn), world.grid.blocks, world.grid.light, _WET)
    return ids, rows, looks[:, 0]


def standing(world: WorldState, eye: tuple[float, float, float] | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the ids and poses of all figures within `REACH` of a point, in any direction.

    Without a point, return every figure, also the player whose turn it is. A row changes only if the figure changes; the time
    of day and the age of an item on the ground do not change it.

    Returns:
        uint32, shape (N,): ids of entities, and `FIRST_PLAYER` plus the seat for players; and
        float32, shape (N, ROW): the columns of a pose, then `LIGHT`, `LIT_RED`, `MANNER` and `BORN`.
    """
    ids, rows, _ = _standing(world, eye)
    rows[:, BORN] += world.ticks
    return ids, rows.astype(np.float32)


def poses(world: WorldState, view: Camera, gamma: float = 0.0) -> np.ndarray:
    """Return the poses of all figures within reach, float64, shape (N, POSE): near figures first, see-through figures last."""
    ids, rows, kinds = _standing(world, (view.x, view.y, view.z))
    if not len(rows):
        return np.zeros((0, POSE))
    yaw, pitch = math.radians(view.yaw), math.radians(view.pitch)
    dx, dy, dz = rows[:, X] - view.x, rows[:, Y] - view.y, rows[:, Z] - view.z
    level = exact.cos(pitch)
    ahead = -dx * exact.sin(yaw) * level - (rows[:, Y] + 0.9 - view.y) * exact.sin(pitch) + dz * exact.cos(yaw) * level
    away = dx**2 + dy**2 + dz**2
    clear = (kinds == _SLIME) | (kinds == ITEM)
    order = np.lexsort((np.where(clear, -away, away), clear))
    order = order[ahead[order] > -3.0]
    rows = rows[order]
    light = _brightness(daylight.of_sky(world.time, world.weather), gamma)[rows[:, LIGHT].astype(int)]
    as_it_is = rows[:, LIGHT] < 0
    if as_it_is.any():
        light[as_it_is] = 1.0
    rows[:, RED : BLUE + 1] *= light
    rows[:, ADD_RED] += rows[:, LIT_RED] * light[:, 0]
    for row, number in zip(rows, ids[order].tolist(), strict=True) if rows[:, MANNER].any() else ():
        manner, age = row[MANNER], -float(row[BORN])
        if manner == SPINS:
            row[YAW] = age * 0.05 + number * 0.7
            row[Y] += 0.1 + 0.06 * exact.sin(age * 0.1 + number)
        elif manner != PLAIN:
            row[YAW], row[PITCH] = yaw + math.pi, -pitch
            if manner == PULSES:
                row[RED] = row[GREEN] = row[BLUE] = 0.75 + 0.25 * exact.sin(age * 0.3)
    return np.ascontiguousarray(rows[:, :POSE])


def _players(world: WorldState, but: int | None) -> np.ndarray:
    """Return the visible players, except the player in seat `but`, as rows of `ENTITY`; `variant` is the seat."""
    seen = [
        (seat, one) for seat, one in enumerate(world.players) if seat != but and not one.dead and one.game_mode != "spectator"
    ]
    rows = np.zeros(len(seen), ENTITY)
    for row, (seat, one) in zip(rows, seen, strict=True):
        row["kind"], row["variant"], row["id"] = _PLAYER, seat, seat - FIRST_PLAYER
        row["x"], row["y"], row["z"], row["vx"], row["vz"] = one.x, one.y, one.z, one.vx, one.vz
        row["yaw"] = row["head_yaw"] = one.yaw
        row["pitch"], row["walked"], row["on_ground"] = one.pitch, world.ticks * 0.2 % 1000, one.on_ground
        row["hurt"], row["fire"] = one.invulnerable, one.burning
    return rows


_WORN: dict[tuple[int, int, int, int], tuple[float, float]] = {}
"""(kind, variant, visible flags, item) of a figure -> (its model, factor on the scale of the model)."""


def _wear(look: tuple[int, int, int, int]) -> tuple[float, float]:
    """Choose a figure's model and store it in `_WORN` for the next figure with the same look."""
    kind, variant, flags, item = look
    name, scale = KINDS[kind] if kind < _PLAYER else "player", 1.0
    if kind >= NUM_THINGS or kind == ARROW:
        model = WARDROBE.mob(name, variant, flags) if kind >= NUM_THINGS else WARDROBE.mob(name)
    elif kind == ITEM:
        items = table("items")
        model = WARDROBE.item(items[item]["name"] if 0 <= item < len(items) else "stone", 8.0)
        scale = 1.0 if WARDROBE.parts[WARDROBE.models[model, 0], SPRITE] else 0.55
    elif kind == XP_ORB:
        model = WARDROBE.sprite("xp_orb", sheets.tiles("icons")["xp_orb"], 3.5)
    else:
        model = WARDROBE.sprite(name, icons.icon(name), 5.0)  # thrown things are items too
    _WORN[look] = float(model), scale
    return _WORN[look]


def draw(world: WorldState, camera: Camera, frame: np.ndarray, depth: np.ndarray, gamma: float = 0.0) -> None:
    """Draw every figure (mob, thing or other player) within `REACH` into a picture.

    Args:
        frame: uint8, shape (H, W, 3); changed in place.
        depth: float32, shape (H, W): blocks along the ray to the drawn surface; changed in place.
        gamma: As in `daylight.brightness`.
    """
    found = poses(world, camera, gamma)
    if len(found):
        paint(found, basis(camera), frame, depth)


def paint(found: np.ndarray, view: np.ndarray, frame: np.ndarray, depth: np.ndarray) -> None:
    """Draw the figures that `poses` has returned, seen from a camera: `view` comes from `basis`."""
    _figures(found, WARDROBE.models, WARDROBE.parts, WARDROBE.faces, WARDROBE.skin, view, frame, depth)


__all__ = ["REACH", "WARDROBE", "Wardrobe", "basis", "brightness", "draw", "paint", "poses", "standing"]
