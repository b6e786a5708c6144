"""Rays in water: entering it, the mirror image in its surface, and the light that it absorbs."""

from __future__ import annotations

import math

from blockworld.raycaster.records import STILL, WET, Seen, Spot, Water, f32, inner, int32, uint32
from blockworld.raycaster.sky import haze
from blockworld.raycaster.walk import index


@inner
def _passes(length):
    """Share of blue light that passes `length` blocks of water: exp(-0.105 * length), as powers of 1/2 and a Taylor series."""
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


@inner
def through_water(seen, water, length):
    """Add `length` blocks of water, in the light that falls on it, to the colour seen so far."""
    e = _passes(length)
    e_g = e * math.sqrt(math.sqrt(e))
    e_r = e * e * e
    return Seen(
        seen.red + seen.pass_r * (f32(1) - e_r) * f32(24) * water.red,
        seen.green + seen.pass_g * (f32(1) - e_g) * f32(76) * water.green,
        seen.blue + seen.pass_b * (f32(1) - e) * f32(112) * water.blue,
        seen.pass_r * e_r,
        seen.pass_g * e_g,
        seen.pass_b * e,
    )


@inner
def _under_surface(cells, looks, ray, spot, what, state, leave):
    """Distances between which a ray is in the water of its cell; `leave` is the distance at which it leaves the cell."""
    if not what & WET:
        return leave, spot.t
    begin, end = spot.t, leave
    high = looks.height[state]
    above = index(cells, spot.x, spot.y, spot.z) + uint32(1)
    if spot.y + 1 < cells.sy and high < f32(1) and looks.info[cells.blocks[above]] & WET:
        high = f32(1)
    if high < f32(1):
        cut = (f32(spot.y) + high - ray.eye_y) * ray.iy
        if ray.py:
            end = min(end, cut)
        else:
            begin = max(begin, cut)
    return begin, end


@inner
def _light_on_water(cells, spot, on_top, is_below):
    """Light value of a water surface. `on_top`: it is seen from above; `is_below`: it is lower than the cell's upper face."""
    at = above = index(cells, spot.x, spot.y, spot.z)
    if on_top:
        if spot.y + 1 < cells.sy:
            above = at + uint32(1)
        if cells.skip[above] == 0 and not is_below:
            above = at
    lit = int32(cells.light[above])
    if cells.light[at] > lit:
        lit = int32(cells.light[at])
    return lit


@inner
def _mirror(view, ripples, ray, seen, t, lit):
    """Add a water surface seen from above, with its mirror image of sky and sun, to the colour seen so far."""
    dx, dy, dz = ray.dx, ray.dy, ray.dz
    wx, wz = ray.eye_x + dx * t, ray.eye_z + dz * t
    rx = int32((wx + view.ripple) * f32(8)) & 127
    rz = int32((wz + view.ripple * f32(0.6)) * f32(8)) & 127
    calm = f32(0.34) / (f32(1) + t * f32(0.035))
    nx, nz = ripples[rx, rz, 0] * calm, ripples[rx, rz, 1] * calm
    cos = min(f32(1), max(f32(0.02), -dy - nx * dx - nz * dz))
    rest = f32(1) - cos
    fresnel = rest * rest
    fresnel = f32(0.035) + f32(0.75) * fresnel * fresnel * rest
    mx, my, mz = dx + f32(2) * cos * nx, dy + f32(2) * cos, dz + f32(2) * cos * nz
    s_r, s_g, s_b = haze(view, mx, my, mz)
    flash = max(f32(0), mx * view.sun_x + my * view.sun_y + mz * view.sun_z)
    flash *= flash
    flash *= flash
    flash *= flash
    flash *= flash
    flash *= flash
    flash = flash * flash * f32(150) * view.disc
    open_sky = f32(lit >> 4) / f32(15)
    fresnel *= f32(0.15) + f32(0.85) * open_sky
    return Seen(
        seen.red + seen.pass_r * fresnel * (s_r + flash),
        seen.green + seen.pass_g * fresnel * (s_g + flash),
        seen.blue + seen.pass_b * fresnel * (s_b + flash),
        seen.pass_r * (f32(1) - fresnel),
        seen.pass_g * (f32(1) - fresnel),
        seen.pass_b * (f32(1) - fresnel),
    )


@inner
def _fall(view, ripples, ray, seen, t, light):
    """Add the side of flowing water, which is paler and has streaks, to the colour seen so far."""
    along = (ray.eye_x + ray.dx * t + ray.eye_z + ray.dz * t) * f32(8)
    down = (ray.eye_y + ray.dy * t) * f32(2) + view.ripple * f32(3)
    streak = ripples[int32(along) & 127, int32(down + f32(1000)) & 127, 0]
    veil = f32(0.34) + streak * f32(0.5)
    veil = min(max(veil, f32(0.15)), f32(0.7))
    return Seen(
        seen.red + seen.pass_r * veil * f32(92) * light[0],
        seen.green + seen.pass_g * veil * f32(146) * light[1],
        seen.blue + seen.pass_b * veil * f32(186) * light[2],
        seen.pass_r * (f32(1) - veil),
        seen.pass_g * (f32(1) - veil),
        seen.pass_b * (f32(1) - veil),
    )


@inner
def _enter_water(cells, scenery, bright, view, ray, spot, seen, water, begin):
    """Let a ray enter water at the distance `begin`; return the new `Seen` and `Water`."""
    light, fog_t = (water.red, water.green, water.blue), water.fog_t
    if begin > f32(1e-3) and spot.face >= 0:
        is_below = begin > spot.t + f32(1e-5)
        on_top = is_below or spot.face == 4
        lit = _light_on_water(cells, spot, on_top, is_below)
        light = bright[lit, 0], bright[lit, 1], bright[lit, 2]
        if fog_t < f32(0):
            fog_t = begin
        if on_top:
            seen = _mirror(view, scenery.ripples, ray, seen, begin, lit)
        else:
            seen = _fall(view, scenery.ripples, ray, seen, begin, light)
    part = min(f32(1), begin / ray.far)
    part = max(f32(0.08), (f32(1) - part * part * part) * seen.pass_b)
    far = begin + f32(3) + f32(19) * part
    return seen, Water(True, begin, far, light[0], light[1], light[2], fog_t)


@inner
def _left(water):
    """The same `Water` after the ray has left the water."""
    return Water(False, water.t, water.far, water.red, water.green, water.blue, water.fog_t)


@inner
def cross_water(cells, looks, scenery, bright, view, ray, spot, seen, water, what, state, leave):
    """Let a ray pass the water of one cell; return the new `Seen` and `Water`, and whether the water hides the rest."""
    t = spot.t
    begin, end = _under_surface(cells, looks, ray, spot, what, state, leave)
    if water.inside:
        starts_late = begin > t + f32(1e-4) or end <= begin
        if starts_late or end < leave - f32(1e-4):
            length = max(f32(0), (t if starts_late else end) - water.t)
            return through_water(seen, water, length), _left(water), False
        return seen, water, t > water.far
    if end > begin + f32(1e-4):
        seen, water = _enter_water(cells, scenery, bright, view, ray, spot, seen, water, begin)
        if end < leave - f32(1e-4) and ray.py:
            water = _left(water)
    return seen, water, False


@inner
def sink(cells, looks, ray, spot, water_far, tx, ty, tz):
    """Move a ray down through full still water to the first other cell, or to where the water hides everything."""
    x, y, z, t, face = spot.x, spot.y, spot.z, spot.t, spot.face
    step_x, step_y, step_z = abs(ray.ix), abs(ray.iy), abs(ray.iz)
    at = index(cells, x, y, z)
    while True:
        if tx < ty and tx < tz:
            t, face = tx, ray.fx
            tx += step_x
            x += ray.sx
            at += ray.move_x
            if uint32(x) >= uint32(cells.sx):
                break
        elif ty < tz:
            t, face = ty, ray.fy
            ty += step_y
            y += ray.sy
            at += ray.move_y
            if y < 0:
                break
        else:
            t, face = tz, ray.fz
            tz += step_z
            z += ray.sz
            at += ray.move_z
            if uint32(z) >= uint32(cells.sz):
                break
        if t > water_far or not looks.info[cells.blocks[uint32(at)]] & STILL:
            break
    return Spot(x, y, z, t, face)
