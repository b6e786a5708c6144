"""The picture of the world: a ray-caster in Numba that looks straight into the grid's arrays.

Rays walk from cell to cell and jump through air by `grid.skip`; tiles of 8 x 8 pixels share a safe start, found by marching
a cone. Colours are sums from front to back, so that water and stained glass let through what is behind them. Floats are
single precision with fastmath, here and nowhere else: one machine always gives the same picture of the same world, two
machines may differ by 1 in a pixel.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import numba
import numpy as np
from numba import njit

from interplay.world.errors import WorldError
from interplay.world.models import WATER, models
from interplay.world.textures import atlas, texture

if TYPE_CHECKING:
    from interplay.world.grid import Grid
    from interplay.world.world import World

f32 = np.float32
int32: Any = numba.int32  # the stubs know no conversion of a truth value
uint32: Any = numba.uint32
TILE = 8
CLOUD_HEIGHT = 152.0
LEVELS = 5
"""Of the textures: 16, 8, 4, 2 and 1 pixels wide."""


@dataclass(frozen=True)
class Camera:
    """Where a picture is taken from; the renderer and who draws over its pictures share this.

    Attributes:
        x, y, z: Of the eye.
        yaw, pitch: Degrees, as in `state`: yaw 0 looks south, 90 west; pitch is positive looking down.
        fov: Degrees from the lowest to the highest pixel.
        size: (width, height) in pixels.
    """

    x: float
    y: float
    z: float
    yaw: float = 0.0
    pitch: float = 0.0
    fov: float = 70.0
    size: tuple[int, int] = (640, 360)

    @property
    def axes(self) -> np.ndarray:
        """float64, shape (3, 3): unit vectors to the right, up and forward, in world coordinates."""
        yaw, pitch = math.radians(self.yaw), math.radians(self.pitch)
        cy, sy, cp, sp = math.cos(yaw), math.sin(yaw), math.cos(pitch), math.sin(pitch)
        return np.array([[-cy, 0.0, -sy], [-sy * sp, cp, cy * sp], [-sy * cp, -sp, cy * cp]])


@cache
def _pyramid(number: int) -> tuple[np.ndarray, np.ndarray]:
    """The first textures of the atlas at all levels: uint32 pixels one after another, and int32 where each level begins.

    In what has holes, each level keeps the share of pixels that are seen; leaves close from the third level on.
    """
    now = atlas()[:number].astype(np.float64)
    binary = cast(np.ndarray, ~((now[..., 3] > 0) & (now[..., 3] < 255)).any((1, 2)))
    share = (now[..., 3] > 0).mean((1, 2))
    pages, starts = [], [0]
    for level in range(LEVELS):
        if level:
            weight = np.maximum(now[..., 3:], 1e-3)
            four = (now[..., :3] * weight).reshape(number, now.shape[1] // 2, 2, -1, 2, 3).sum((2, 4))
            total = weight.reshape(number, now.shape[1] // 2, 2, -1, 2, 1).sum((2, 4))
            alpha = now[..., 3].reshape(number, now.shape[1] // 2, 2, -1, 2).mean((2, 4))
            now = np.concatenate([four / total, alpha[..., None]], -1)
        shown = now.copy()
        if level:
            flat = np.sort(now[..., 3].reshape(number, -1), 1)
            place = np.clip(((1 - share * 1.08) * flat.shape[1]).astype(int), 0, flat.shape[1] - 1)
            bound = np.maximum(flat[np.arange(number), place], 1)[:, None, None]
            seen = now[..., 3] >= bound
            if level >= 2:
                seen |= (share > 0.7)[:, None, None]
            shown[..., 3] = np.where(binary[:, None, None], seen * 255, now[..., 3])
        bytes_ = np.clip(np.round(shown), 0, 255).astype(np.uint8)
        pages.append(np.ascontiguousarray(bytes_).view(np.uint32).reshape(-1))
        starts.append(starts[-1] + pages[-1].size)
    return np.concatenate(pages), np.array(starts[:-1], np.int32)


def _tiling(rng: np.random.Generator, side: int, cells: int) -> np.ndarray:
    """Smooth noise from -1 to 1 that tiles: float64, shape (side, side)."""
    at = np.arange(side) * cells / side
    low = at.astype(int)
    part = at - low
    part = part * part * (3 - 2 * part)
    grid = rng.random((cells, cells)) * 2 - 1
    rows = grid[low] * (1 - part)[:, None] + grid[(low + 1) % cells] * part[:, None]
    return rows[:, low] * (1 - part) + rows[:, (low + 1) % cells] * part


@cache
def _scenery() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pictures that tile: the land's colour (256, 256, 3), clouds (256, 256), and slopes of ripples (128, 128, 2)."""
    rng = np.random.default_rng(1216)
    wide, near, fine = _tiling(rng, 256, 5), _tiling(rng, 256, 22), _tiling(rng, 256, 128)
    dry = 0.6 * wide + 0.4 * near
    land = np.stack([1 + 0.12 * dry + 0.03 * fine, 1 + 0.04 * dry + 0.035 * fine, 1 - 0.04 * dry + 0.03 * fine], -1)
    clouds = (
        0.55 * _tiling(rng, 256, 8) + 0.3 * _tiling(rng, 256, 20) + 0.16 * _tiling(rng, 256, 48) + 0.08 * _tiling(rng, 256, 100)
    )
    waves = _tiling(rng, 128, 12) + 0.6 * _tiling(rng, 128, 27) + 0.35 * _tiling(rng, 128, 60)
    slopes = np.stack([np.roll(waves, -1, 0) - waves, np.roll(waves, -1, 1) - waves], -1)
    return land.astype(f32), clouds.astype(f32), slopes.astype(f32)


# What a frame's kernel gets besides the world is one array of numbers; these are their places in it.
EYE, RIGHT, UPWARD, AHEAD, SUN = 0, 3, 6, 9, 12
HORIZON, ZENITH, GLOW, CLOUD = 15, 18, 21, 24
TAN_X, TAN_Y, FAR, PIXEL, DRIFT, STARS, COVER, RIPPLE, DISC, SHADE, EYE_LIGHT = 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 42
NUM_NUMBERS = 45


@njit(cache=True, fastmath=True, inline="always")
def _floor(value):
    whole = int32(value)
    return whole - int32(value < whole)


@njit(cache=True, fastmath=True, inline="always")
def _onward(cell, place, step):
    """The cell of a place, but never one before the cell the ray is in."""
    new = int32(place)
    return new if (new - cell) * step > 0 else cell


@njit(cache=True, fastmath=True, nogil=True)
def _sky(num, dx, dy, dz, clouds, full):
    """Colour of the sky in a direction; `full` adds sun, moon, stars and clouds, which fog and water do without."""
    high = max(dy, f32(0))
    part = f32(1) - (f32(1) - min(high, f32(1)))
    part = part * (f32(2.4) - part * f32(1.4))
    part = min(part, f32(1))
    red = num[HORIZON] + (num[ZENITH] - num[HORIZON]) * part
    green = num[HORIZON + 1] + (num[ZENITH + 1] - num[HORIZON + 1]) * part
    blue = num[HORIZON + 2] + (num[ZENITH + 2] - num[HORIZON + 2]) * part
    toward = dx * num[SUN] + dy * num[SUN + 1] + dz * num[SUN + 2]
    glow = max(toward, f32(0))
    wide = glow * glow
    wide = wide * wide * max(f32(0), f32(1) - high * f32(1.3))
    narrow = wide * wide
    narrow = narrow * narrow * narrow
    strength = f32(0.45) * wide + f32(0.4) * narrow
    red += num[GLOW] * strength
    green += num[GLOW + 1] * strength
    blue += num[GLOW + 2] * strength
    if not full:
        return red, green, blue
    if num[STARS] > f32(0) and dy > f32(0.03):
        scale = f32(46) / (f32(0.35) + dy)
        sx, sz = dx * scale + f32(200), dz * scale + f32(200)
        ix, iz = int32(sx), int32(sz)
        mixed = uint32(ix) * uint32(73856093) ^ uint32(iz) * uint32(19349663)
        mixed = (mixed ^ (mixed >> uint32(13))) * uint32(1274126177)
        mixed ^= mixed >> uint32(16)
        if mixed & uint32(31) == uint32(0):
            fx = sx - f32(ix) - f32(0.25) - f32(0.5) * f32((mixed >> uint32(8)) & uint32(255)) / f32(255)
            fz = sz - f32(iz) - f32(0.25) - f32(0.5) * f32((mixed >> uint32(16)) & uint32(255)) / f32(255)
            star = f32(1) - (fx * fx + fz * fz) * f32(90)
            if star > f32(0):
                star *= num[STARS] * (f32(80) + f32((mixed >> uint32(24)) & uint32(127))) * min(f32(1), dy * f32(4))
                red += star
                green += star
                blue += star * f32(1.05)
    disc = (toward - f32(0.9984)) * f32(2200)
    if disc > f32(0):
        disc = min(disc, f32(1)) * num[DISC]
        red += (f32(255) - red) * disc
        green += (f32(246) - green) * disc
        blue += (f32(214) - blue) * disc
    halo = max(f32(0), toward - f32(0.94)) * f32(16)
    halo = halo * halo * f32(70) * num[DISC]
    red += halo
    green += halo * f32(0.9)
    blue += halo * f32(0.6)
    disc = (-toward - f32(0.9990)) * f32(3000)
    if disc > f32(0):
        disc = min(disc, f32(1)) * min(f32(1), num[STARS] + f32(0.25))
        red += (f32(226) - red) * disc
        green += (f32(230) - green) * disc
        blue += (f32(240) - blue) * disc
    if dy > f32(0.02):
        far = (f32(CLOUD_HEIGHT) - num[EYE + 1]) / dy
        if far > f32(0):
            cx = (num[EYE] + dx * far) * f32(0.22) + num[DRIFT] + f32(40960)
            cz = (num[EYE + 2] + dz * far) * f32(0.22) + f32(40960)
            ix, iz = int32(cx), int32(cz)
            ax, az = cx - f32(ix), cz - f32(iz)
            x0, x1, z0, z1 = ix & 255, (ix + 1) & 255, iz & 255, (iz + 1) & 255
            a = clouds[x0, z0] + (clouds[x1, z0] - clouds[x0, z0]) * ax
            b = clouds[x0, z1] + (clouds[x1, z1] - clouds[x0, z1]) * ax
            thick = (a + (b - a) * az + num[COVER]) * f32(2.6)
            if thick > f32(0):
                thick = min(thick, f32(1))
                seen = thick * thick * (f32(3) - f32(2) * thick) * min(f32(1), (dy - f32(0.02)) * f32(5)) * f32(0.88)
                light = f32(1.04) - f32(0.14) * thick
                red += (num[CLOUD] * light - red) * seen
                green += (num[CLOUD + 1] * light - green) * seen
                blue += (num[CLOUD + 2] * light - blue) * seen
    return red, green, blue


@njit(cache=True, fastmath=True, inline="always")
def _box_hit(ox, oy, oz, ix, iy, iz, box):
    """Where a ray enters and leaves a box: distances and faces; the first face is -1 if it misses or starts inside."""
    enter, leave, first, last = f32(0), f32(1e9), -1, 0
    a, b = (box[0] - ox) * ix, (box[3] - ox) * ix
    near, far = 0, 1
    if a > b:
        a, b, near, far = b, a, 1, 0
    if a > enter:
        enter, first = a, near
    if b < leave:
        leave, last = b, far
    a, b = (box[1] - oy) * iy, (box[4] - oy) * iy
    near, far = 5, 4
    if a > b:
        a, b, near, far = b, a, 4, 5
    if a > enter:
        enter, first = a, near
    if b < leave:
        leave, last = b, far
    a, b = (box[2] - oz) * iz, (box[5] - oz) * iz
    near, far = 2, 3
    if a > b:
        a, b, near, far = b, a, 3, 2
    if a > enter:
        enter, first = a, near
    if b < leave:
        leave, last = b, far
    if enter > leave:
        first = -1
    return enter, first, leave, last


@njit(cache=True, fastmath=True, inline="always")
def _on_face(face, hx, hy, hz):
    """Place in a face's picture: across and down, 0 to 1."""
    if face == 0:
        return hz, f32(1) - hy
    if face == 1:
        return f32(1) - hz, f32(1) - hy
    if face == 2:
        return f32(1) - hx, f32(1) - hy
    if face == 3:
        return hx, f32(1) - hy
    if face == 4:
        return hx, hz
    return hx, f32(1) - hz


@njit(cache=True, fastmath=True, inline="always")
def _texel(pages, starts, picture, level, u, v):
    side = int32(16) >> level
    a = min(max(int32(u * f32(side)), int32(0)), side - int32(1))
    c = min(max(int32(v * f32(side)), int32(0)), side - int32(1))
    return pages[uint32(starts[level] + (picture * side + c) * side + a)]


@njit(cache=True, fastmath=True, inline="always")
def _level(spread):
    if spread < f32(1.5):
        return int32(0)
    if spread < f32(3):
        return int32(1)
    if spread < f32(6):
        return int32(2)
    return int32(3) if spread < f32(12) else int32(4)


@njit(cache=True, fastmath=True, nogil=True)
def _starts(skip, SX, SY, SZ, num, width, height, starts):
    """How far each tile's rays may go before they can meet anything: a cone is marched through the skip distances."""
    for tj in range(starts.shape[0]):
        for ti in range(starts.shape[1]):
            u = (f32(2) * f32(ti * 8 + 4) / f32(width) - f32(1)) * num[TAN_X]
            v = (f32(1) - f32(2) * f32(tj * 8 + 4) / f32(height)) * num[TAN_Y]
            dx = num[AHEAD] + u * num[RIGHT] + v * num[UPWARD]
            dy = num[AHEAD + 1] + v * num[UPWARD + 1]
            dz = num[AHEAD + 2] + u * num[RIGHT + 2] + v * num[UPWARD + 2]
            norm = f32(1) / math.sqrt(dx * dx + dy * dy + dz * dz)
            dx, dy, dz = dx * norm, dy * norm, dz * norm
            spread = f32(5.7 * 1.05) * num[PIXEL] * norm
            t = f32(0)
            while t < num[FAR]:
                x, y, z = _floor(num[EYE] + dx * t), _floor(num[EYE + 1] + dy * t), _floor(num[EYE + 2] + dz * t)
                if x < 0 or z < 0 or y < 0 or x >= SX or z >= SZ or y >= SY:
                    break
                free = f32(skip[uint32((x * SZ + z) * SY + y)]) - f32(1)
                step = (free - spread * t) / (f32(1) + spread)
                if step < f32(0.4):
                    break
                t += step
            starts[tj, ti] = t - f32(0.01) if t > f32(0.5) else f32(0)


@njit(cache=True, nogil=True)
def _top(skip, SX, SY, SZ, tile_x, tile_z):
    """Height of the highest cell that is not free in a tile of 8 x 8 columns."""
    best = int32(0)
    for x in range(tile_x * 8, min(tile_x * 8 + 8, SX)):
        for z in range(tile_z * 8, min(tile_z * 8 + 8, SZ)):
            column = (x * SZ + z) * SY
            y = SY - int32(1)
            while y > best:
                free = int32(skip[uint32(column + y)])
                if free == 0:
                    best = y
                y -= free
    return best


@njit(cache=True, fastmath=True, nogil=True)
def _tiles(
    blocks, light, skip, SX, SY, SZ, info, faces, box_range, boxes, box_faces, height, glow,
    pages, page_starts, land, clouds, ripples, bright, num, marks, starts, tops, out, depth,
):  # fmt: skip
    """A picture, tile by tile; see the module, and `Renderer` for the arrays."""
    H, W = out.shape[0], out.shape[1]
    cx, cy, cz, far = num[EYE], num[EYE + 1], num[EYE + 2], num[FAR]
    pixel16 = num[PIXEL] * f32(16)
    top_light = int32(240)
    for tj in range(starts.shape[0]):
        for ti in range(starts.shape[1]):
            first_t = starts[tj, ti]
            for j in range(tj * 8, min(tj * 8 + 8, H)):
                v = (f32(1) - (f32(j) + f32(0.5)) * f32(2) / f32(H)) * num[TAN_Y]
                for i in range(ti * 8, min(ti * 8 + 8, W)):
                    u = ((f32(i) + f32(0.5)) * f32(2) / f32(W) - f32(1)) * num[TAN_X]
                    dx = num[AHEAD] + u * num[RIGHT] + v * num[UPWARD]
                    dy = num[AHEAD + 1] + v * num[UPWARD + 1]
                    dz = num[AHEAD + 2] + u * num[RIGHT + 2] + v * num[UPWARD + 2]
                    norm = f32(1) / math.sqrt(dx * dx + dy * dy + dz * dz)
                    dx, dy, dz = dx * norm, dy * norm, dz * norm
                    if abs(dx) < f32(1e-6):
                        dx = f32(1e-6)
                    if abs(dy) < f32(1e-6):
                        dy = f32(1e-6)
                    if abs(dz) < f32(1e-6):
                        dz = f32(1e-6)
                    ix, iy, iz = f32(1) / dx, f32(1) / dy, f32(1) / dz
                    t = first_t
                    x, y, z = _floor(cx + dx * t), _floor(cy + dy * t), _floor(cz + dz * t)
                    px, py, pz = dx > 0, dy > 0, dz > 0
                    sx, sy, sz = int32(1) if px else int32(-1), int32(1) if py else int32(-1), int32(1) if pz else int32(-1)
                    bx, by, bz = int32(px), int32(py), int32(pz)
                    fx, fy, fz = 0 if px else 1, 5 if py else 4, 2 if pz else 3
                    face = -1 if t == f32(0) else fy
                    before = int32(-1)
                    pass_r, pass_g, pass_b = f32(1), f32(1), f32(1)
                    sum_r, sum_g, sum_b = f32(0), f32(0), f32(0)
                    in_water, water_t, water_far = False, f32(0), f32(30)
                    water_r, water_g, water_b = num[EYE_LIGHT], num[EYE_LIGHT + 1], num[EYE_LIGHT + 2]
                    fog_t = f32(-1)
                    hit = False
                    red, green, blue = f32(0), f32(0), f32(0)
                    while t < far:
                        if uint32(x) >= uint32(SX) or uint32(z) >= uint32(SZ) or y < 0:
                            break
                        if y >= SY:
                            if py:
                                break
                            t = (f32(SY) - f32(1e-3) - cy) * iy
                            x, z, y, face = _floor(cx + dx * t), _floor(cz + dz * t), SY - int32(1), 4
                            continue
                        at = uint32((x * SZ + z) * SY + y)
                        jump = int32(skip[at])
                        if jump > 0 and not in_water:
                            # Through air, in a loop of its own that the compiler keeps in registers. Inside, coordinates
                            # are not negative, so that cutting is rounding down; cells never go back, so that it ends.
                            while jump > 0:
                                if jump < 6:
                                    top = int32(tops[x >> 3, z >> 3])
                                    if top < 0:
                                        top = _top(skip, SX, SY, SZ, x >> 3, z >> 3)
                                        tops[x >> 3, z >> 3] = top
                                    if y > top:  # nothing but air up here: across eight columns at once
                                        qx, qz = ((x >> 3) + bx) << 3, ((z >> 3) + bz) << 3
                                        tx, tz = (f32(qx) - cx) * ix, (f32(qz) - cz) * iz
                                        ty = (f32(SY if py else top + int32(1)) - cy) * iy
                                        if ty < tx and ty < tz:
                                            t, face = ty, fy
                                            y = SY if py else top
                                            x, z = _onward(x, cx + dx * t, sx), _onward(z, cz + dz * t, sz)
                                        elif tx < tz:
                                            t, face = tx, fx
                                            x = qx + bx - int32(1)
                                            y, z = _onward(y, cy + dy * t, sy), _onward(z, cz + dz * t, sz)
                                        else:
                                            t, face = tz, fz
                                            z = qz + bz - int32(1)
                                            x, y = _onward(x, cx + dx * t, sx), _onward(y, cy + dy * t, sy)
                                        if (
                                            t >= far
                                            or uint32(x) >= uint32(SX)
                                            or uint32(z) >= uint32(SZ)
                                            or uint32(y) >= uint32(SY)
                                        ):
                                            break
                                        jump = int32(skip[uint32((x * SZ + z) * SY + y)])
                                        continue
                                if jump == 1:
                                    tx, ty, tz = (f32(x + bx) - cx) * ix, (f32(y + by) - cy) * iy, (f32(z + bz) - cz) * iz
                                    if tx < ty and tx < tz:
                                        t, face = tx, fx
                                        x += sx
                                    elif ty < tz:
                                        t, face = ty, fy
                                        y += sy
                                    else:
                                        t, face = tz, fz
                                        z += sz
                                else:
                                    jump -= int32(1)
                                    qx, qy, qz = jump if px else -jump, jump if py else -jump, jump if pz else -jump
                                    tx, ty, tz = (
                                        (f32(x + bx + qx) - cx) * ix,
                                        (f32(y + by + qy) - cy) * iy,
                                        (f32(z + bz + qz) - cz) * iz,
                                    )
                                    if tx < ty and tx < tz:
                                        t, face = tx, fx
                                        x += qx + sx
                                        y, z = _onward(y, cy + dy * t, sy), _onward(z, cz + dz * t, sz)
                                    elif ty < tz:
                                        t, face = ty, fy
                                        y += qy + sy
                                        x, z = _onward(x, cx + dx * t, sx), _onward(z, cz + dz * t, sz)
                                    else:
                                        t, face = tz, fz
                                        z += qz + sz
                                        x, y = _onward(x, cx + dx * t, sx), _onward(y, cy + dy * t, sy)
                                if t >= far or uint32(x) >= uint32(SX) or uint32(z) >= uint32(SZ) or uint32(y) >= uint32(SY):
                                    break
                                jump = int32(skip[uint32((x * SZ + z) * SY + y)])
                            before = int32(0)
                            continue
                        state, what = int32(0), uint32(0)
                        if jump == 0:
                            state = int32(blocks[at])
                            what = info[state]
                        tx, ty, tz = (f32(x + bx) - cx) * ix, (f32(y + by) - cy) * iy, (f32(z + bz) - cz) * iz
                        # Water: the part of the way through this cell that is under its surface.
                        if what & uint32(16) or in_water:
                            leave = min(tx, min(ty, tz))
                            w0, w1 = leave, t
                            if what & uint32(16):
                                w0, w1 = t, leave
                                high = height[state]
                                if y + 1 < SY and high < f32(1) and info[blocks[at + uint32(1)]] & uint32(16):
                                    high = f32(1)
                                if high < f32(1):
                                    cut = (f32(y) + high - cy) * iy
                                    if py:
                                        w1 = min(w1, cut)
                                    else:
                                        w0 = max(w0, cut)
                            if in_water and (w0 > t + f32(1e-4) or w1 <= w0 or w1 < leave - f32(1e-4)):
                                end = t if (w0 > t + f32(1e-4) or w1 <= w0) else w1
                                in_water = False
                                length = max(f32(0), end - water_t)
                                e = math.exp(f32(-0.105) * length)
                                e_g = e * math.sqrt(math.sqrt(e))
                                e_r = e * e * e
                                sum_r += pass_r * (f32(1) - e_r) * f32(24) * water_r
                                sum_g += pass_g * (f32(1) - e_g) * f32(76) * water_g
                                sum_b += pass_b * (f32(1) - e) * f32(112) * water_b
                                pass_r, pass_g, pass_b = pass_r * e_r, pass_g * e_g, pass_b * e
                            elif not in_water and w1 > w0 + f32(1e-4):
                                in_water, water_t = True, w0
                                if w0 > f32(1e-3) and face >= 0:
                                    above = at
                                    on_top = w0 > t + f32(1e-5) or face == 4
                                    if on_top:
                                        if y + 1 < SY:
                                            above = at + uint32(1)
                                        if skip[above] == 0 and not (w0 > t + f32(1e-5)):
                                            above = at
                                    lit = int32(light[above])
                                    if light[at] > lit:
                                        lit = int32(light[at])
                                    water_r, water_g, water_b = bright[lit, 0], bright[lit, 1], bright[lit, 2]
                                    if fog_t < f32(0):
                                        fog_t = w0
                                    if on_top:
                                        wx, wz = cx + dx * w0, cz + dz * w0
                                        rx = int32((wx + num[RIPPLE]) * f32(8)) & 127
                                        rz = int32((wz + num[RIPPLE] * f32(0.6)) * f32(8)) & 127
                                        calm = f32(0.34) / (f32(1) + w0 * f32(0.035))
                                        nx, nz = ripples[rx, rz, 0] * calm, ripples[rx, rz, 1] * calm
                                        cos = min(f32(1), max(f32(0.02), -dy - nx * dx - nz * dz))
                                        rest = f32(1) - cos
                                        fresnel = rest * rest
                                        fresnel = f32(0.035) + f32(0.75) * fresnel * fresnel * rest
                                        mx, my, mz = dx + f32(2) * cos * nx, dy + f32(2) * cos, dz + f32(2) * cos * nz
                                        s_r, s_g, s_b = _sky(num, mx, my, mz, clouds, False)
                                        flash = max(f32(0), mx * num[SUN] + my * num[SUN + 1] + mz * num[SUN + 2])
                                        flash *= flash
                                        flash *= flash
                                        flash *= flash
                                        flash *= flash
                                        flash *= flash
                                        flash = flash * flash * f32(150) * num[DISC]
                                        open_sky = f32(lit >> 4) / f32(15)
                                        fresnel *= f32(0.15) + f32(0.85) * open_sky
                                        sum_r += pass_r * fresnel * (s_r + flash)
                                        sum_g += pass_g * fresnel * (s_g + flash)
                                        sum_b += pass_b * fresnel * (s_b + flash)
                                        pass_r *= f32(1) - fresnel
                                        pass_g *= f32(1) - fresnel
                                        pass_b *= f32(1) - fresnel
                                    else:  # the side of a fall: paler, in streaks
                                        along = (cx + dx * w0 + cz + dz * w0) * f32(8)
                                        down = (cy + dy * w0) * f32(2) + num[RIPPLE] * f32(3)
                                        streak = ripples[int32(along) & 127, int32(down + f32(1000)) & 127, 0]
                                        veil = f32(0.34) + streak * f32(0.5)
                                        veil = min(max(veil, f32(0.15)), f32(0.7))
                                        sum_r += pass_r * veil * f32(92) * water_r
                                        sum_g += pass_g * veil * f32(146) * water_g
                                        sum_b += pass_b * veil * f32(186) * water_b
                                        pass_r *= f32(1) - veil
                                        pass_g *= f32(1) - veil
                                        pass_b *= f32(1) - veil
                                part = min(f32(1), w0 / far)
                                part = max(f32(0.08), (f32(1) - part * part * part) * pass_b)
                                water_far = w0 + f32(3) + f32(19) * part
                                if w1 < leave - f32(1e-4) and py:
                                    in_water = False
                            elif in_water and t > water_far:
                                break
                            if in_water and what & uint32(32) and not py:
                                # Down through still water nothing changes from cell to cell.
                                step_x, step_y, step_z = abs(ix), abs(iy), abs(iz)
                                move_x, move_z = sx * SZ * SY, sz * SY
                                deep = int32(at)
                                while True:
                                    if tx < ty and tx < tz:
                                        t, face = tx, fx
                                        tx += step_x
                                        x += sx
                                        deep += move_x
                                        if uint32(x) >= uint32(SX):
                                            break
                                    elif ty < tz:
                                        t, face = ty, fy
                                        ty += step_y
                                        y += sy
                                        deep += sy
                                        if y < 0:
                                            break
                                    else:
                                        t, face = tz, fz
                                        tz += step_z
                                        z += sz
                                        deep += move_z
                                        if uint32(z) >= uint32(SZ):
                                            break
                                    if t > water_far or not info[blocks[uint32(deep)]] & uint32(32):
                                        break
                                before = state
                                if t > water_far:
                                    break
                                continue
                        kind = what & uint32(15)
                        if kind != uint32(0) and kind != uint32(3):
                            picture, best, side = int32(-1), f32(-1), -1
                            flags = (what >> uint32(8)) & uint32(255)
                            hx = hy = hz = tu = tv = f32(0)
                            e0 = e1 = e2 = f32(0)
                            e3 = e4 = e5 = f32(1)
                            texel = uint32(0)
                            if kind <= uint32(2) or kind == uint32(6):
                                if (
                                    kind == uint32(6)
                                    and height[state] < f32(1)
                                    and not (y + 1 < SY and info[blocks[at + uint32(1)]] & uint32(15) == uint32(6))
                                ):
                                    e4 = height[state]
                                    cut = (f32(y) + e4 - cy) * iy
                                    if cy + dy * t - f32(y) <= e4:
                                        best, side = t, face
                                    elif not py and cut < min(tx, tz):
                                        best, side = cut, 4
                                elif not (flags & uint32(4) and before == state):
                                    best, side = t, face
                                if side >= 0:
                                    hx, hy, hz = cx + dx * best - f32(x), cy + dy * best - f32(y), cz + dz * best - f32(z)
                                    picture = faces[state, side]
                                    tu, tv = _on_face(side, hx, hy, hz)
                                    if flags & uint32(2):
                                        mixed = (
                                            uint32(x) * uint32(73856093)
                                            ^ uint32(z) * uint32(19349663)
                                            ^ uint32(y) * uint32(83492791)
                                        )
                                        mixed ^= mixed >> uint32(13)
                                        if mixed & uint32(1):
                                            tu = f32(1) - tu
                                        if mixed & uint32(2) and side >= 4:
                                            tv = f32(1) - tv
                                    cos = abs(dx) if side < 2 else abs(dz) if side < 4 else abs(dy)
                                    level = _level(best * pixel16 / math.sqrt(max(cos, f32(0.06))))
                                    texel = _texel(pages, page_starts, picture, level, tu, tv)
                            elif kind == uint32(4):
                                mixed = uint32(x) * uint32(73856093) ^ uint32(z) * uint32(19349663)
                                mixed ^= mixed >> uint32(11)
                                shift_x = f32(0.5) + (f32(mixed & uint32(15)) - f32(7.5)) * f32(0.016)
                                shift_z = f32(0.5) + (f32((mixed >> uint32(4)) & uint32(15)) - f32(7.5)) * f32(0.016)
                                lx, lz = (cx - f32(x) - shift_x) * f32(1.2), (cz - f32(z) - shift_z) * f32(1.2)
                                ux, uz = dx * f32(1.2), dz * f32(1.2)
                                level = min(_level(t * pixel16), int32(2))
                                least = f32(1e9)
                                for which in range(2):
                                    den = ux - uz if which == 0 else ux + uz
                                    if abs(den) > f32(1e-6):
                                        q = (lz - lx) / den if which == 0 else -(lx + lz) / den
                                        if q > f32(0.02) and q < least:
                                            ax, ay = lx + ux * q + f32(0.5), cy - f32(y) + dy * q
                                            if f32(0) <= ax < f32(1) and f32(0) <= ay < f32(1):
                                                some = _texel(pages, page_starts, faces[state, 0], level, ax, f32(1) - ay)
                                                if some >> uint32(24):
                                                    least, texel = q, some
                                                    best, side, picture, hy = q, 6, faces[state, 0], ay
                            else:
                                lx, ly, lz = cx - f32(x), cy - f32(y), cz - f32(z)
                                least = f32(1e9)
                                level = _level(t * pixel16)
                                for b in range(box_range[state, 0], box_range[state, 0] + box_range[state, 1]):
                                    q, f0, q1, f1 = _box_hit(lx, ly, lz, ix, iy, iz, boxes[b])
                                    if f0 >= 0 and q < least:
                                        for turn in range(2):
                                            if turn == 1:
                                                if q1 - q < f32(1e-4) or q1 >= least:
                                                    break
                                                q, f0 = q1, f1
                                            some_picture = box_faces[b, f0]
                                            if some_picture >= 0:
                                                ax, ay, az = lx + dx * q, ly + dy * q, lz + dz * q
                                                a, c = _on_face(f0, ax, ay, az)
                                                some = _texel(pages, page_starts, some_picture, level, a, c)
                                                if some >> uint32(24):
                                                    least, texel, best, side, picture = q, some, q, f0, some_picture
                                                    hx, hy, hz = ax, ay, az
                                                    e0, e1, e2 = boxes[b, 0], boxes[b, 1], boxes[b, 2]
                                                    e3, e4, e5 = boxes[b, 3], boxes[b, 4], boxes[b, 5]
                                                    break
                            alpha = texel >> uint32(24)
                            if alpha:
                                r, g, b_ = (
                                    f32(texel & uint32(255)),
                                    f32((texel >> uint32(8)) & uint32(255)),
                                    f32((texel >> uint32(16)) & uint32(255)),
                                )
                                # The cell before the face, whose light falls on it.
                                ax, ay, az = x, y, z
                                if side == 0:
                                    ax = x - int32(1)
                                elif side == 1:
                                    ax = x + int32(1)
                                elif side == 2:
                                    az = z - int32(1)
                                elif side == 3:
                                    az = z + int32(1)
                                elif side == 4:
                                    ay = y + int32(1)
                                elif side == 5:
                                    ay = y - int32(1)
                                lit = top_light
                                inside = uint32(ax) < uint32(SX) and uint32(az) < uint32(SZ) and uint32(ay) < uint32(SY)
                                if inside:
                                    lit = int32(light[uint32((ax * SZ + az) * SY + ay)])
                                if kind >= uint32(4) and kind != uint32(6):
                                    own = int32(light[at])
                                    lit = max(lit & 240, own & 240) | max(lit & 15, own & 15)
                                l_r, l_g, l_b = bright[lit, 0], bright[lit, 1], bright[lit, 2]
                                if side < 6 and inside and (kind != uint32(5) or flags & uint32(16)) and best < f32(44):
                                    # Light of the four nearest cells before the face; solid ones count as shade.
                                    ux = uy = uz = vx = vy = vz = int32(0)
                                    if side < 2:
                                        a, c = hz, hy
                                        uz, vy = int32(1), int32(1)
                                    elif side < 4:
                                        a, c = hx, hy
                                        ux, vy = int32(1), int32(1)
                                    else:
                                        a, c = hx, hz
                                        ux, vz = int32(1), int32(1)
                                    if a < f32(0.5):
                                        ux, uy, uz, a = -ux, -uy, -uz, f32(0.5) - a
                                    else:
                                        a -= f32(0.5)
                                    if c < f32(0.5):
                                        vx, vy, vz, c = -vx, -vy, -vz, f32(0.5) - c
                                    else:
                                        c -= f32(0.5)
                                    if (
                                        uint32(ax + ux + vx) < uint32(SX)
                                        and uint32(az + uz + vz) < uint32(SZ)
                                        and uint32(ay + uy + vy) < uint32(SY)
                                    ):
                                        fade = min(f32(1), (f32(44) - best) * f32(0.08))
                                        a, c = a * fade, c * fade
                                        n1 = int32(light[uint32(((ax + ux) * SZ + az + uz) * SY + ay + uy)])
                                        n2 = int32(light[uint32(((ax + vx) * SZ + az + vz) * SY + ay + vy)])
                                        n3 = int32(light[uint32(((ax + ux + vx) * SZ + az + uz + vz) * SY + ay + uy + vy)])
                                        if n1 == 0 and n2 == 0:
                                            n3 = int32(0)
                                        if not (n1 == lit and n2 == lit and n3 == lit):
                                            w1, w2, w3 = a * (f32(1) - c), (f32(1) - a) * c, a * c
                                            w0 = (f32(1) - a) * (f32(1) - c)
                                            dark = f32(0.30)
                                            o_r, o_g, o_b = l_r * dark, l_g * dark, l_b * dark
                                            l_r = (
                                                w0 * l_r
                                                + w1 * max(bright[n1, 0], o_r)
                                                + w2 * max(bright[n2, 0], o_r)
                                                + w3 * max(bright[n3, 0], o_r)
                                            )
                                            l_g = (
                                                w0 * l_g
                                                + w1 * max(bright[n1, 1], o_g)
                                                + w2 * max(bright[n2, 1], o_g)
                                                + w3 * max(bright[n3, 1], o_g)
                                            )
                                            l_b = (
                                                w0 * l_b
                                                + w1 * max(bright[n1, 2], o_b)
                                                + w2 * max(bright[n2, 2], o_b)
                                                + w3 * max(bright[n3, 2], o_b)
                                            )
                                if side < 6:
                                    s = num[SHADE + side]
                                else:
                                    s = f32(0.72) + f32(0.26) * hy
                                l_r, l_g, l_b = l_r * s, l_g * s, l_b * s
                                if flags & uint32(3):
                                    gx, gz = x & 255, z & 255
                                    if flags & uint32(1):
                                        l_r, l_g, l_b = l_r * land[gx, gz, 0], l_g * land[gx, gz, 1], l_b * land[gx, gz, 2]
                                    else:
                                        s = land[(gx * 2 + y * 5) & 255, (gz * 2 + y * 3) & 255, 1]
                                        l_r, l_g, l_b = l_r * s, l_g * s, l_b * s
                                own_glow = glow[state] * f32(0.95)
                                l_r, l_g, l_b = max(l_r, own_glow), max(l_g, own_glow), max(l_b, own_glow)
                                if x == marks[0] and y == marks[1] and z == marks[2]:
                                    if side < 6:
                                        width = max(f32(0.011), best * num[PIXEL] * f32(0.9))
                                        near = (
                                            int32(hx - e0 < width or e3 - hx < width)
                                            + int32(hy - e1 < width or e4 - hy < width)
                                            + int32(hz - e2 < width or e5 - hz < width)
                                        )
                                        if near >= 2:
                                            l_r, l_g, l_b = l_r * f32(0.3), l_g * f32(0.3), l_b * f32(0.3)
                                    else:
                                        l_r, l_g, l_b = l_r * f32(1.18), l_g * f32(1.18), l_b * f32(1.18)
                                if marks[6] >= 0 and x == marks[3] and y == marks[4] and z == marks[5]:
                                    if side < 6:
                                        tu, tv = _on_face(side, hx, hy, hz)
                                    s = f32(1) - f32(
                                        _texel(pages, page_starts, marks[6], int32(0), tu, tv) >> uint32(24)
                                    ) / f32(255)
                                    l_r, l_g, l_b = l_r * s, l_g * s, l_b * s
                                r, g, b_ = r * l_r, g * l_g, b_ * l_b
                                if alpha > uint32(250) or (kind != uint32(2) and kind != uint32(5)):
                                    red, green, blue, hit, t = r, g, b_, True, best
                                    break
                                share = f32(alpha) / f32(255)
                                sum_r, sum_g, sum_b = (
                                    sum_r + pass_r * share * r,
                                    sum_g + pass_g * share * g,
                                    sum_b + pass_b * share * b_,
                                )
                                # What passes takes the colour of the pane.
                                peak = f32(0.75) + f32(0.25) * (f32(1) - share)
                                pass_r *= (f32(1) - share) * (peak + (f32(1) - peak) * f32(texel & uint32(255)) / f32(255))
                                pass_g *= (f32(1) - share) * (
                                    peak + (f32(1) - peak) * f32((texel >> uint32(8)) & uint32(255)) / f32(255)
                                )
                                pass_b *= (f32(1) - share) * (
                                    peak + (f32(1) - peak) * f32((texel >> uint32(16)) & uint32(255)) / f32(255)
                                )
                        before = state
                        if tx < ty and tx < tz:
                            t, face = tx, fx
                            x += sx
                        elif ty < tz:
                            t, face = ty, fy
                            y += sy
                        else:
                            t, face = tz, fz
                            z += sz
                    depth[j, i] = t if hit else far
                    if hit:
                        part = t / far
                        part *= part
                        part = part * (f32(0.12) + f32(0.88) * part * part)
                        if fog_t >= f32(0):
                            part = f32(0)
                        if part > f32(0.004):
                            s_r, s_g, s_b = _sky(num, dx, dy, dz, clouds, False)
                            red, green, blue = (
                                red + (s_r - red) * part,
                                green + (s_g - green) * part,
                                blue + (s_b - blue) * part,
                            )
                    elif not in_water:
                        red, green, blue = _sky(num, dx, dy, dz, clouds, True)
                    if in_water:
                        length = max(f32(0), t - water_t) if hit else f32(60)
                        e = math.exp(f32(-0.105) * length)
                        e_g = e * math.sqrt(math.sqrt(e))
                        e_r = e * e * e
                        sum_r += pass_r * (f32(1) - e_r) * f32(24) * water_r
                        sum_g += pass_g * (f32(1) - e_g) * f32(76) * water_g
                        sum_b += pass_b * (f32(1) - e) * f32(112) * water_b
                        pass_r, pass_g, pass_b = pass_r * e_r, pass_g * e_g, pass_b * e
                    red, green, blue = sum_r + pass_r * red, sum_g + pass_g * green, sum_b + pass_b * blue
                    if fog_t >= f32(0):
                        part = min(f32(1), fog_t / far)
                        part *= part
                        part = part * (f32(0.12) + f32(0.88) * part * part)
                        if part > f32(0.01):
                            s_r, s_g, s_b = _sky(num, dx, dy, dz, clouds, False)
                        else:
                            s_r, s_g, s_b, part = red, green, blue, f32(0)
                        red, green, blue = red + (s_r - red) * part, green + (s_g - green) * part, blue + (s_b - blue) * part
                    out[j, i, 0] = np.uint8(min(max(red, f32(0)), f32(255)))
                    out[j, i, 1] = np.uint8(min(max(green, f32(0)), f32(255)))
                    out[j, i, 2] = np.uint8(min(max(blue, f32(0)), f32(255)))


@cache
def _tables() -> tuple[
    np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray
]:
    """What the kernel needs to know of the states, and the textures."""
    look = models()
    still = ((look.kind == WATER) & (look.height > 0.87)).astype(np.uint32) << 5
    info = look.kind.astype(np.uint32) | (look.wet.astype(np.uint32) << 4) | still | (look.flags.astype(np.uint32) << 8)
    for stage in range(10):
        texture(f"crack_{stage}")
    pages, page_starts = _pyramid(len(atlas()))
    ranges = np.stack([look.box_start, look.num_boxes], -1).astype(np.int32)
    return info, look.faces, ranges, look.boxes, look.box_faces, look.height, look.glow, pages, page_starts


def _smooth(value: float, low: float, high: float) -> float:
    part = min(1.0, max(0.0, (value - low) / (high - low)))
    return part * part * (3 - 2 * part)


def daylight(time: int, weather: str = "clear") -> float:
    """How bright the open sky is, 0 at night to 1 by day; time 0 is 6:00 and 6000 noon.

    >>> daylight(6000), daylight(18000)
    (1.0, 0.0)
    """
    day = _smooth(math.sin(time / 24000 * 2 * math.pi), -0.22, 0.22)
    return day * {"rain": 0.78, "thunder": 0.55}.get(weather, 1.0)


def brightness(day: float) -> np.ndarray:
    """Colour that a light value (sky times 16, plus block) gives to white: float32, shape (256, 3)."""
    level = np.arange(16) / 15
    curve = 0.04 + 0.96 * level**1.7
    sun = np.array([0.19, 0.22, 0.34]) * (1 - day) + np.array([1.03, 1.0, 0.95]) * day
    # In the shade light comes from the sky, which is bluer.
    sky = curve[:, None] * (sun * level[:, None] ** 0.5 + sun * np.array([0.86, 0.95, 1.1]) * (1 - level[:, None] ** 0.5))
    torch = curve[:, None] * np.array([1.04, 0.88, 0.64])
    torch[0] = 0
    both = np.sqrt(sky[:, None] ** 2 + torch[None] ** 2)
    return np.minimum(np.maximum(both, [0.07, 0.07, 0.078]), 1.05).reshape(256, 3).astype(f32)


class Renderer:
    """Takes pictures of a world.

    Args:
        size: (width, height) in pixels, of the picture.
        fov: Degrees from the lowest to the highest pixel.
        distance: Blocks one can see; fog hides what is beyond.

    Attributes:
        depth: float32, shape (H, W): blocks from the eye to what each pixel of the last picture shows;
            `distance` where that is sky.

    Raises:
        WorldError: If a number is out of its range.
    """

    def __init__(self, size: tuple[int, int] = (640, 360), fov: float = 70.0, distance: float = 96.0) -> None:
        if len(size) != 2 or not all(1 <= side <= 4096 for side in size):
            raise WorldError(f"size is (width, height), each from 1 to 4096 pixels, got {size}")
        if not 10 <= fov <= 150:
            raise WorldError(f"fov is 10 to 150 degrees from bottom to top, got {fov}")
        if not 8 <= distance <= 512:
            raise WorldError(f"distance is 8 to 512 blocks, got {distance}")
        self.size, self.fov, self.distance = size, fov, distance
        width, height = size
        self.depth = np.zeros((height, width), f32)
        self._starts = np.zeros((-(-height // TILE), -(-width // TILE)), f32)

    def camera(self, world: World) -> Camera:
        """The eyes of the world's player."""
        player = world.player
        return Camera(player.x, player.eye_y, player.z, player.yaw, player.pitch, self.fov, self.size)

    def frame(self, world: World) -> np.ndarray:
        """What the player sees, with mobs, hand and screens: uint8, shape (H, W, 3)."""
        from interplay.world import figures, hud, mining  # these ask this module for brightness and the like

        camera = self.camera(world)
        looked_at = mining.target(world)
        mining = world.player.mining
        crack = None if mining is None else (*mining[:3], min(9, int(mining[3] * 10)))
        picture = self.view(
            world.grid,
            camera,
            time=world.time,
            ticks=world.ticks,
            weather=world.weather,
            selected=None if looked_at is None else looked_at[:3],
            crack=crack,
        )
        figures.draw(world, camera, picture, self.depth)
        hud.draw(world, picture)
        return picture

    def view(
        self,
        grid: Grid,
        camera: Camera,
        *,
        time: int = 6000,
        ticks: int = 0,
        weather: str = "clear",
        selected: tuple[int, int, int] | None = None,
        crack: tuple[int, int, int, int] | None = None,
    ) -> np.ndarray:
        """The blocks alone, from anywhere.

        Args:
            grid: The world's `Grid`.
            camera: Of this renderer's size.
            time: Of day, 0 to 23999.
            ticks: Of the world: they move clouds and ripples.
            weather: `clear`, `rain` or `thunder`.
            selected: A block to outline.
            crack: A block being broken, and the stage, 0 to 9.
        Returns:
            uint8, shape (H, W, 3); `depth` has the distances.
        """
        width, height = self.size
        out = np.empty((height, width, 3), np.uint8)
        sx, sy, sz = grid.size
        size = int32(sx), int32(sy), int32(sz)
        flat = grid.blocks.reshape(-1), grid.light.reshape(-1), grid.skip.reshape(-1)
        bright = brightness(daylight(time, weather))
        numbers = self._numbers(grid, camera, time, ticks, weather, bright)
        marks = np.full(7, -1, np.int32)
        if selected is not None:
            marks[:3] = selected
        if crack is not None:
            marks[3:6], marks[6] = crack[:3], texture(f"crack_{crack[3]}")
        tops = np.full((-(-sx // 8), -(-sz // 8)), -1, np.int16)
        _starts(flat[2], *size, numbers, width, height, self._starts)
        _tiles(
            *flat,
            *size,
            *_tables(),
            *_scenery(),
            bright,
            numbers,
            marks,
            self._starts,
            tops,
            out,
            self.depth,
        )
        return out

    def _numbers(self, grid: Grid, camera: Camera, time: int, ticks: int, weather: str, bright: np.ndarray) -> np.ndarray:
        """The kernel's numbers for one picture: float32, shape (NUM_NUMBERS,)."""
        numbers = np.zeros(NUM_NUMBERS, np.float64)
        right, up, ahead = camera.axes
        numbers[EYE : EYE + 3] = camera.x, camera.y, camera.z
        numbers[RIGHT : RIGHT + 3], numbers[UPWARD : UPWARD + 3], numbers[AHEAD : AHEAD + 3] = right, up, ahead
        tan = math.tan(math.radians(camera.fov) / 2)
        numbers[TAN_X], numbers[TAN_Y] = tan * camera.size[0] / camera.size[1], tan
        numbers[FAR], numbers[PIXEL] = self.distance, 2 * tan / camera.size[1]
        angle = time / 24000 * 2 * math.pi
        sun = np.array([math.cos(angle), math.sin(angle) * 0.94, -math.sin(angle) * 0.34])
        numbers[SUN : SUN + 3] = sun
        day, clear = daylight(time, weather), {"rain": 0.25, "thunder": 0.1}.get(weather, 1.0)
        low = math.exp(-((math.sin(angle) / 0.2) ** 2))  # around sunrise and sunset
        grey = np.array([150.0, 158.0, 166.0]) * max(day, 0.08)
        horizon = np.array([192.0, 214.0, 234.0]) * day + np.array([14.0, 18.0, 34.0]) * (1 - day)
        horizon += low * clear * np.array([26.0, -6.0, -30.0])
        zenith = np.array([88.0, 142.0, 214.0]) * day + np.array([3.0, 5.0, 15.0]) * (1 - day)
        numbers[HORIZON : HORIZON + 3] = horizon * clear + grey * (1 - clear)
        numbers[ZENITH : ZENITH + 3] = zenith * clear + grey * 0.85 * (1 - clear)
        numbers[GLOW : GLOW + 3] = (np.array([230.0, 96.0, 6.0]) * low + np.array([22.0, 20.0, 12.0]) * day) * clear
        numbers[CLOUD : CLOUD + 3] = (np.array([250.0, 251.0, 253.0]) * day + np.array([20.0, 22.0, 34.0]) * (1 - day)) * (
            0.7 + 0.3 * clear
        )
        numbers[CLOUD : CLOUD + 3] += low * clear * np.array([20.0, -14.0, -30.0])
        numbers[DRIFT], numbers[RIPPLE] = ticks * 0.0025 % 256, ticks * 0.02 % 16 + 4096
        numbers[STARS] = (1 - daylight(time)) ** 2 * clear
        numbers[COVER] = 0.02 if weather == "clear" else 0.5
        numbers[DISC] = clear * _smooth(sun[1], -0.12, 0.05)
        slant = 0.10 * sun[0] * max(0.0, day - 0.2)
        numbers[SHADE : SHADE + 6] = 0.66 - slant, 0.66 + slant, 0.84, 0.76, 1.0, 0.52
        eye = math.floor(camera.x), math.floor(camera.y), math.floor(camera.z)
        sky, block = grid.lights(*eye)
        numbers[EYE_LIGHT : EYE_LIGHT + 3] = bright[sky * 16 + block]
        return numbers.astype(f32)
