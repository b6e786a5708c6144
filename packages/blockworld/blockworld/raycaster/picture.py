"""Draw the picture of the world: one ray for each pixel."""

from __future__ import annotations

import math

import numpy as np

from blockworld.raycaster.records import (
    AIR,
    BOXES,
    CUTOUT,
    KIND_BITS,
    NOT_KNOWN,
    STILL,
    TILE,
    WATER,
    WET,
    Marked,
    Ray,
    Seen,
    Water,
    f32,
    inner,
    int32,
    outer,
    uint32,
)
from blockworld.raycaster.shading import shade, through_pane
from blockworld.raycaster.sky import fog, haze, mix, sky
from blockworld.raycaster.surfaces import meet
from blockworld.raycaster.walk import borders, down_to_land, first_spot, floor, index, is_inside, march_air, next_cell
from blockworld.raycaster.water import cross_water, sink, through_water


@inner
def _behind(scenery, view, ray, seen, water, colour, t, is_hit):
    """Colour of a pixel whose ray ends at distance `t`: at a block of this `colour` if `is_hit`, else at the sky."""
    if is_hit:
        part = fog(t / ray.far)
        if water.fog_t >= f32(0):
            part = f32(0)
        if part > f32(0.004):
            colour = mix(colour, haze(view, ray.dx, ray.dy, ray.dz), part)
    elif not water.inside:
        colour = sky(view, ray, scenery.clouds)
    if water.inside:
        length = max(f32(0), t - water.t) if is_hit else f32(60)
        seen = through_water(seen, water, length)
    red, green, blue = colour
    red, green, blue = seen.red + seen.pass_r * red, seen.green + seen.pass_g * green, seen.blue + seen.pass_b * blue
    if water.fog_t >= f32(0):
        part = fog(min(f32(1), water.fog_t / ray.far))
        if part > f32(0.01):
            return mix((red, green, blue), haze(view, ray.dx, ray.dy, ray.dz), part)
    return red, green, blue


@inner
def trace(cells, looks, scenery, bright, view, marked, ray, start):
    """Colour of a pixel, 0 to 255, and the distance of the block that it shows; nothing is nearer than `start` on its ray."""
    spot, before = first_spot(ray, start), int32(-1)
    seen = Seen(f32(0), f32(0), f32(0), f32(1), f32(1), f32(1))
    water = Water(False, f32(0), f32(30), view.eye_light_r, view.eye_light_g, view.eye_light_b, f32(-1))
    is_hit, colour, t = False, (f32(0), f32(0), f32(0)), ray.far
    while spot.t < ray.far:
        if uint32(spot.x) >= uint32(cells.sx) or uint32(spot.z) >= uint32(cells.sz) or spot.y < 0:
            break
        if spot.y >= cells.sy:
            if ray.py:
                break
            spot = down_to_land(cells, ray)
            continue
        at = index(cells, spot.x, spot.y, spot.z)
        free = int32(cells.skip[at])
        if free > 0 and not water.inside:
            spot, before = march_air(cells, ray, spot, free), int32(0)
            continue
        state, what = int32(0), uint32(0)
        if free == 0:
            state = int32(cells.blocks[at])
            what = looks.info[state]
            if what == NOT_KNOWN:
                break  # and the sky is seen, as if nothing stood there
        tx, ty, tz = borders(ray, spot.x, spot.y, spot.z)
        if what & WET or water.inside:
            leave = min(tx, min(ty, tz))
            seen, water, is_dark = cross_water(cells, looks, scenery, bright, view, ray, spot, seen, water, what, state, leave)
            if is_dark:
                break
            if water.inside and what & STILL and not ray.py:
                spot, before = sink(cells, looks, ray, spot, water.far, tx, ty, tz), state
                if spot.t > water.far:
                    break
                continue
        kind = what & KIND_BITS
        if kind != AIR and kind != WATER:
            touch = meet(cells, looks, ray, spot, what, state, before, tx, tz)
            alpha = touch.texel >> uint32(24)
            if alpha:
                surface = shade(cells, looks, scenery, bright, view, marked, touch, spot, what, state)
                if alpha > uint32(250) or (kind != CUTOUT and kind != BOXES):
                    is_hit, colour, t = True, surface, touch.t
                    break
                seen = through_pane(seen, touch.texel, surface)
        spot, before = next_cell(ray, spot, tx, ty, tz), state
    return _behind(scenery, view, ray, seen, water, colour, t, is_hit), t


@inner
def _set_rays(view, columns, height, tj, ti, rays):
    """Compute the `Rays` of a tile. The compiler turns the last loop into SIMD code."""
    across, along = columns[0, ti * TILE : ti * TILE + TILE], columns[1, ti * TILE : ti * TILE + TILE]
    dxs, dys, dzs, ixs, iys, izs = rays.dx, rays.dy, rays.dz, rays.ix, rays.iy, rays.iz
    for row in range(TILE):
        v = (f32(1) - (f32(tj * TILE + row) + f32(0.5)) * f32(2) / f32(height)) * view.tan_y
        row_x, row_y, row_z = v * view.up_x, view.ahead_y + v * view.up_y, v * view.up_z
        for k in range(TILE):
            n = row * TILE + k
            dxs[n], dys[n], dzs[n] = across[k] + row_x, row_y, along[k] + row_z
    for n in range(TILE * TILE):
        dx, dy, dz = dxs[n], dys[n], dzs[n]
        norm = f32(1) / math.sqrt(dx * dx + dy * dy + dz * dz)
        dx, dy, dz = dx * norm, dy * norm, dz * norm
        dx = f32(1e-6) if abs(dx) < f32(1e-6) else dx
        dy = f32(1e-6) if abs(dy) < f32(1e-6) else dy
        dz = f32(1e-6) if abs(dz) < f32(1e-6) else dz
        dxs[n], dys[n], dzs[n] = dx, dy, dz
        ixs[n], iys[n], izs[n] = f32(1) / dx, f32(1) / dy, f32(1) / dz


@inner
def _ray(cells, view, rays, n):
    dx, dy, dz = rays.dx[n], rays.dy[n], rays.dz[n]
    px, py, pz = dx > 0, dy > 0, dz > 0
    sx, sy, sz = int32(1) if px else int32(-1), int32(1) if py else int32(-1), int32(1) if pz else int32(-1)
    return Ray(
        view.eye_x, view.eye_y, view.eye_z, dx, dy, dz, rays.ix[n], rays.iy[n], rays.iz[n],
        px, py, pz, sx, sy, sz, int32(px), int32(py), int32(pz),
        uint32(sx * cells.sz * cells.sy), uint32(sy), uint32(sz * cells.sy),
        0 if px else 1, 5 if py else 4, 2 if pz else 3, view.far, view.pixel * f32(16),
    )  # fmt: skip


@inner
def _place(cells, x, y, z):
    return int32(index(cells, x, y, z)) if is_inside(cells, x, y, z) else int32(-1)


@inner
def _byte(value):
    return np.uint8(min(max(value, f32(0)), f32(255)))


@outer
def first_steps(cells, view, width, height, first_row, every, starts):
    """Find the distance in blocks up to which the rays of each tile meet nothing; a cone around the rays advances by `skip`.

    The distances are written to every `every`-th row of `starts`, from `first_row` on: float32, shape (rows, tiles in a row).
    """
    for tj in range(first_row, starts.shape[0], every):
        for ti in range(starts.shape[1]):
            u = (f32(2) * f32(ti * TILE + 4) / f32(width) - f32(1)) * view.tan_x
            v = (f32(1) - f32(2) * f32(tj * TILE + 4) / f32(height)) * view.tan_y
            dx = view.ahead_x + u * view.right_x + v * view.up_x
            dy = view.ahead_y + v * view.up_y
            dz = view.ahead_z + u * view.right_z + v * view.up_z
            norm = f32(1) / math.sqrt(dx * dx + dy * dy + dz * dz)
            dx, dy, dz = dx * norm, dy * norm, dz * norm
            spread = f32(5.7 * 1.05) * view.pixel * norm
            t = f32(0)
            while t < view.far:
                x, y, z = floor(view.eye_x + dx * t), floor(view.eye_y + dy * t), floor(view.eye_z + dz * t)
                if x < 0 or z < 0 or y < 0 or x >= cells.sx or z >= cells.sz or y >= cells.sy:
                    break
                free = f32(cells.skip[index(cells, x, y, z)]) - f32(1)
                step = (free - spread * t) / (f32(1) + spread)
                if step < f32(0.4):
                    break
                t += step
            starts[tj, ti] = t - f32(0.01) if t > f32(0.5) else f32(0)


@outer
def paint(cells, looks, scenery, bright, view, marks, canvas, first_row, every):
    """Draw a picture tile by tile: every `every`-th row of tiles, from `first_row` on.

    Args:
        cells, looks, scenery, canvas: `Cells`, `Looks`, `Scenery` and `Canvas`.
        bright: float32, shape (256, 3): colour of a white surface for each light value.
        view, marks: One `View` and one `Marks`.
    """
    height, width = canvas.out.shape[0], canvas.out.shape[1]
    columns, rays = canvas.columns, canvas.rays[0]
    for i in range(columns.shape[1]):
        u = ((f32(i) + f32(0.5)) * f32(2) / f32(width) - f32(1)) * view.tan_x
        columns[0, i], columns[1, i] = view.ahead_x + u * view.right_x, view.ahead_z + u * view.right_z
    outlined = _place(cells, marks.outlined_x, marks.outlined_y, marks.outlined_z)
    cracked = _place(cells, marks.cracked_x, marks.cracked_y, marks.cracked_z)
    marked = Marked(outlined, cracked, marks.crack)
    for tj in range(first_row, canvas.starts.shape[0], every):
        for ti in range(canvas.starts.shape[1]):
            start = canvas.starts[tj, ti]
            _set_rays(view, columns, height, tj, ti, rays)
            for j in range(tj * TILE, min(tj * TILE + TILE, height)):
                for i in range(ti * TILE, min(ti * TILE + TILE, width)):
                    ray = _ray(cells, view, rays, j % TILE * TILE + i % TILE)
                    colour, t = trace(cells, looks, scenery, bright, view, marked, ray, start)
                    canvas.depth[j, i] = t
                    canvas.out[j, i, 0], canvas.out[j, i, 1], canvas.out[j, i, 2] = (
                        _byte(colour[0]),
                        _byte(colour[1]),
                        _byte(colour[2]),
                    )
