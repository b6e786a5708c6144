"""The picture of the world: a ray-caster in Numba that looks straight into the grid's arrays.

Rays walk from cell to cell and jump through air by `grid.skip`; tiles of 8 x 8 pixels share a safe start, found by marching
a cone. Colours are sums from front to back, so that water and stained glass let through what is behind them. Floats are
single precision, and every machine gives the same bits: nothing is reordered or fused (no fastmath), and what the C library
rounds in its own way comes from `exact`.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from numba import njit

f32 = np.float32
int32: Any = numba.int32  # the stubs know no conversion of a truth value
uint32: Any = numba.uint32
TILE = 8
CLOUD_HEIGHT = 152.0
LEVELS = 5
"""Of the textures: 16, 8, 4, 2 and 1 pixels wide."""


# What a frame's kernel gets besides the world is one array of numbers; these are their places in it.
EYE, RIGHT, UPWARD, AHEAD, SUN = 0, 3, 6, 9, 12
HORIZON, ZENITH, GLOW, CLOUD = 15, 18, 21, 24
TAN_X, TAN_Y, FAR, PIXEL, DRIFT, STARS, COVER, RIPPLE, DISC, SHADE, EYE_LIGHT = 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 42
NUM_NUMBERS = 45
NOT_KNOWN = 7
"""Kind of a state that stands for a cell of which nothing is known: a ray ends there, and the sky is seen. Browsers have such
cells."""


@njit(cache=True, error_model="numpy", inline="always")
def _floor(value):
    whole = int32(value)
    return whole - int32(value < f32(whole))


@njit(cache=True, error_model="numpy", inline="always")
def _onward(cell, place, step):
    """The cell of a place, but never one before the cell the ray is in."""
    new = int32(place)
    return new if (new - cell) * step > 0 else cell


@njit(cache=True, error_model="numpy", inline="always")
def _haze(num, dx, dy, dz):
    """Colour of the sky in a direction without sun, moon, stars and clouds: what fog and water show."""
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
    return red, green, blue


@njit(cache=True, error_model="numpy", inline="always")
def _star(num, dx, dy, dz):
    """Brightness of the star in a direction, 0 where there is none."""
    star = f32(0)
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
            star = max(f32(1) - (fx * fx + fz * fz) * f32(90), f32(0))
            star *= num[STARS] * (f32(80) + f32((mixed >> uint32(24)) & uint32(127))) * min(f32(1), dy * f32(4))
    return star


@njit(cache=True, error_model="numpy", inline="always")
def _sun_and_moon(num, toward, red, green, blue):
    """The sky with them before it; `toward` is the cosine of the angle to the sun."""
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
    return red, green, blue


@njit(cache=True, error_model="numpy", inline="always")
def _sky(num, dx, dy, dz, clouds):
    """Colour of the sky in a direction."""
    red, green, blue = _haze(num, dx, dy, dz)
    toward = dx * num[SUN] + dy * num[SUN + 1] + dz * num[SUN + 2]
    star = _star(num, dx, dy, dz)
    red, green, blue = _sun_and_moon(num, toward, red + star, green + star, blue + star * f32(1.05))
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


@njit(cache=True, error_model="numpy", inline="always")
def _box_hit(ox, oy, oz, ix, iy, iz, box):
    """Where a ray enters and leaves a box: distances and faces; the first face is -1 if it misses or starts inside."""
    enter, leave, first, last = f32(0), f32(1e9), -1, 0
    enter, first, leave, last = _between((box[0] - ox) * ix, (box[3] - ox) * ix, 0, 1, enter, first, leave, last)
    enter, first, leave, last = _between((box[1] - oy) * iy, (box[4] - oy) * iy, 5, 4, enter, first, leave, last)
    enter, first, leave, last = _between((box[2] - oz) * iz, (box[5] - oz) * iz, 2, 3, enter, first, leave, last)
    if enter > leave:
        first = -1
    return enter, first, leave, last


@njit(cache=True, error_model="numpy", inline="always")
def _between(a, b, near, far, enter, first, leave, last):
    """What is left of a ray between two opposite faces of a box, which it meets at a and b."""
    if a > b:
        a, b, near, far = b, a, far, near
    if a > enter:
        enter, first = a, near
    if b < leave:
        leave, last = b, far
    return enter, first, leave, last


@njit(cache=True, error_model="numpy", inline="always")
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


@njit(cache=True, error_model="numpy", inline="always")
def _texel(pages, starts, picture, level, u, v):
    side = int32(16) >> level
    a = min(max(int32(u * f32(side)), int32(0)), side - int32(1))
    c = min(max(int32(v * f32(side)), int32(0)), side - int32(1))
    return pages[uint32(starts[level] + (picture * side + c) * side + a)]


@njit(cache=True, error_model="numpy", inline="always")
def _level(spread):
    if spread < f32(1.5):
        return int32(0)
    if spread < f32(3):
        return int32(1)
    if spread < f32(6):
        return int32(2)
    return int32(3) if spread < f32(12) else int32(4)


@njit(cache=True, error_model="numpy", inline="always")
def _fog(part):
    """How much of the haze is before something at a part of the distance one can see."""
    part *= part
    return part * (f32(0.12) + f32(0.88) * part * part)


@njit(cache=True, error_model="numpy", inline="always")
def _passes(length):
    """exp(-0.105 * length), the share of light that so many blocks of water let through: a series for each halving."""
    halvings = min(length, f32(150)) * f32(0.151482979)
    whole = int32(halvings)
    x = (f32(whole) - halvings) * f32(0.693147181)
    total = f32(1) + x * f32(1 / 7)
    total = f32(1) + x * total * f32(1 / 6)
    total = f32(1) + x * total * f32(1 / 5)
    total = f32(1) + x * total * f32(1 / 4)
    total = f32(1) + x * total * f32(1 / 3)
    total = f32(1) + x * total * f32(1 / 2)
    total = f32(1) + x * total
    return total / f32(int32(1) << whole)


@njit(cache=True, error_model="numpy", inline="always")
def _through_water(length, water_r, water_g, water_b, sum_r, sum_g, sum_b, pass_r, pass_g, pass_b):
    """What has been seen and what passes, with so many blocks of water added, and the light that falls on it."""
    e = _passes(length)
    e_g = e * math.sqrt(math.sqrt(e))
    e_r = e * e * e
    sum_r += pass_r * (f32(1) - e_r) * f32(24) * water_r
    sum_g += pass_g * (f32(1) - e_g) * f32(76) * water_g
    sum_b += pass_b * (f32(1) - e) * f32(112) * water_b
    return sum_r, sum_g, sum_b, pass_r * e_r, pass_g * e_g, pass_b * e


@njit(cache=True, error_model="numpy", nogil=True)
def first_steps(skip, SX, SY, SZ, num, width, height, first_row, every, starts):
    """How far each tile's rays may go before they can meet anything: a cone is marched through the skip distances.

    Each `every`-th row of `starts` (float32, shape (rows of tiles, tiles in a row)) from `first_row` on gets blocks.
    """
    for tj in range(first_row, starts.shape[0], every):
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


@njit(cache=True, error_model="numpy", nogil=True)
def _rays(num, columns, H, tj, ti, rays):
    """Directions of a tile's pixels, and one divided by them: float32, shape (6 * 64,). The last loop does several at once."""
    across, along = columns[0, ti * 8 : ti * 8 + 8], columns[1, ti * 8 : ti * 8 + 8]
    for row in range(8):
        v = (f32(1) - (f32(tj * 8 + row) + f32(0.5)) * f32(2) / f32(H)) * num[TAN_Y]
        row_x, row_y, row_z = v * num[UPWARD], num[AHEAD + 1] + v * num[UPWARD + 1], v * num[UPWARD + 2]
        for k in range(8):
            n = row * 8 + k
            rays[n], rays[64 + n], rays[128 + n] = across[k] + row_x, row_y, along[k] + row_z
    for n in range(64):
        dx, dy, dz = rays[n], rays[64 + n], rays[128 + n]
        norm = f32(1) / math.sqrt(dx * dx + dy * dy + dz * dz)
        dx, dy, dz = dx * norm, dy * norm, dz * norm
        dx = f32(1e-6) if abs(dx) < f32(1e-6) else dx
        dy = f32(1e-6) if abs(dy) < f32(1e-6) else dy
        dz = f32(1e-6) if abs(dz) < f32(1e-6) else dz
        rays[n], rays[64 + n], rays[128 + n] = dx, dy, dz
        rays[192 + n], rays[256 + n], rays[320 + n] = f32(1) / dx, f32(1) / dy, f32(1) / dz


@njit(cache=True, error_model="numpy", inline="always")
def _place(x, y, z, SX, SY, SZ):
    """Index of a cell in the grid's arrays, -1 outside."""
    inside = uint32(x) < uint32(SX) and uint32(y) < uint32(SY) and uint32(z) < uint32(SZ)
    return int32((x * SZ + z) * SY + y) if inside else int32(-1)


@njit(cache=True, error_model="numpy", nogil=True)
def paint(
    blocks, light, skip, SX, SY, SZ, info, faces, box_range, boxes, box_faces, height, glow,
    pages, page_starts, land, clouds, ripples, bright, num, marks, starts, tops, columns, rays, first_row, every, out, depth,
):  # fmt: skip
    """A picture, tile by tile: each `every`-th row of tiles from `first_row` on.

    See the module, and `renderer.Renderer` for the arrays; `columns` (float32, shape (2, 8 * tiles in a row)) and `rays`
    (float32, shape (384,)) are room to work in.
    """
    H, W = out.shape[0], out.shape[1]
    cx, cy, cz, far = num[EYE], num[EYE + 1], num[EYE + 2], num[FAR]
    pixel16 = num[PIXEL] * f32(16)
    top_light = int32(240)
    for i in range(columns.shape[1]):
        u = ((f32(i) + f32(0.5)) * f32(2) / f32(W) - f32(1)) * num[TAN_X]
        columns[0, i], columns[1, i] = num[AHEAD] + u * num[RIGHT], num[AHEAD + 2] + u * num[RIGHT + 2]
    outlined, cracked = _place(marks[0], marks[1], marks[2], SX, SY, SZ), _place(marks[3], marks[4], marks[5], SX, SY, SZ)
    for tj in range(first_row, starts.shape[0], every):
        for ti in range(starts.shape[1]):
            first_t = starts[tj, ti]
            _rays(num, columns, H, tj, ti, rays)
            for j in range(tj * 8, min(tj * 8 + 8, H)):
                for i in range(ti * 8, min(ti * 8 + 8, W)):
                    k = (j & 7) * 8 + (i & 7)
                    dx, dy, dz, ix, iy, iz = rays[k], rays[64 + k], rays[128 + k], rays[192 + k], rays[256 + k], rays[320 + k]
                    t = first_t
                    x, y, z = _floor(cx + dx * t), _floor(cy + dy * t), _floor(cz + dz * t)
                    px, py, pz = dx > 0, dy > 0, dz > 0
                    sx, sy, sz = int32(1) if px else int32(-1), int32(1) if py else int32(-1), int32(1) if pz else int32(-1)
                    move_x, move_y, move_z = uint32(sx * SZ * SY), uint32(sy), uint32(sz * SY)
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
                                    top = int32(tops[uint32(x) >> uint32(3), uint32(z) >> uint32(3)])
                                    if top < 0:
                                        top = _top(skip, SX, SY, SZ, x >> 3, z >> 3)
                                        tops[uint32(x) >> uint32(3), uint32(z) >> uint32(3)] = top
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
                                    at = uint32((x * SZ + z) * SY + y)
                                    tx, ty, tz = (f32(x + bx) - cx) * ix, (f32(y + by) - cy) * iy, (f32(z + bz) - cz) * iz
                                    # Cell by cell: only one of the three borders is another one after each step.
                                    while True:
                                        if tx < ty and tx < tz:
                                            t, face = tx, fx
                                            x += sx
                                            at += move_x
                                            if t >= far or uint32(x) >= uint32(SX):
                                                jump = int32(-1)
                                                break
                                            tx = (f32(x + bx) - cx) * ix
                                        elif ty < tz:
                                            t, face = ty, fy
                                            y += sy
                                            at += move_y
                                            if t >= far or uint32(y) >= uint32(SY):
                                                jump = int32(-1)
                                                break
                                            ty = (f32(y + by) - cy) * iy
                                        else:
                                            t, face = tz, fz
                                            z += sz
                                            at += move_z
                                            if t >= far or uint32(z) >= uint32(SZ):
                                                jump = int32(-1)
                                                break
                                            tz = (f32(z + bz) - cz) * iz
                                        jump = int32(skip[uint32(at)])
                                        if jump != 1:
                                            break
                                        top = int32(tops[uint32(x) >> uint32(3), uint32(z) >> uint32(3)])
                                        if top < 0 or y > top:
                                            break
                                    if jump < 0:
                                        break
                                    continue
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
                            if what == uint32(NOT_KNOWN):
                                break  # and the sky is seen, as if nothing stood there
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
                                sum_r, sum_g, sum_b, pass_r, pass_g, pass_b = _through_water(
                                    length, water_r, water_g, water_b, sum_r, sum_g, sum_b, pass_r, pass_g, pass_b
                                )
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
                                        s_r, s_g, s_b = _haze(num, mx, my, mz)
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
                                deep = uint32(at)
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
                                        deep += move_y
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
                                    level = int32(0)  # as nearer ones are: the root below is at least 0.245
                                    if best * pixel16 > f32(0.36):
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
                                        n0 = (ax * SZ + az) * SY + ay
                                        du, dv = (ux * SZ + uz) * SY + uy, (vx * SZ + vz) * SY + vy
                                        n1 = int32(light[uint32(n0 + du)])
                                        n2 = int32(light[uint32(n0 + dv)])
                                        n3 = int32(light[uint32(n0 + du + dv)])
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
                                if int32(at) == outlined:
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
                                if int32(at) == cracked:
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
                        part = _fog(t / far)
                        if fog_t >= f32(0):
                            part = f32(0)
                        if part > f32(0.004):
                            s_r, s_g, s_b = _haze(num, dx, dy, dz)
                            red, green, blue = (
                                red + (s_r - red) * part,
                                green + (s_g - green) * part,
                                blue + (s_b - blue) * part,
                            )
                    elif not in_water:
                        red, green, blue = _sky(num, dx, dy, dz, clouds)
                    if in_water:
                        length = max(f32(0), t - water_t) if hit else f32(60)
                        sum_r, sum_g, sum_b, pass_r, pass_g, pass_b = _through_water(
                            length, water_r, water_g, water_b, sum_r, sum_g, sum_b, pass_r, pass_g, pass_b
                        )
                    red, green, blue = sum_r + pass_r * red, sum_g + pass_g * green, sum_b + pass_b * blue
                    if fog_t >= f32(0):
                        part = _fog(min(f32(1), fog_t / far))
                        if part > f32(0.01):
                            s_r, s_g, s_b = _haze(num, dx, dy, dz)
                        else:
                            s_r, s_g, s_b, part = red, green, blue, f32(0)
                        red, green, blue = red + (s_r - red) * part, green + (s_g - green) * part, blue + (s_b - blue) * part
                    out[j, i, 0] = np.uint8(min(max(red, f32(0)), f32(255)))
                    out[j, i, 1] = np.uint8(min(max(green, f32(0)), f32(255)))
                    out[j, i, 2] = np.uint8(min(max(blue, f32(0)), f32(255)))
