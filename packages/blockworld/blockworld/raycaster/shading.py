"""Colour of the surface that a ray meets: its texture, the light, the land's colours, the outline and the cracks."""

from __future__ import annotations

from blockworld.raycaster.records import (
    BOXES,
    CROSS,
    FLAGS_SHIFT,
    FULL_LIGHT,
    KIND_BITS,
    LAVA,
    NATURAL,
    PLANE,
    SMOOTH,
    TINTED,
    Seen,
    f32,
    inner,
    int32,
    uint32,
)
from blockworld.raycaster.surfaces import on_face, sample
from blockworld.raycaster.walk import index, is_inside


@inner
def _colour(texel):
    return (
        f32(texel & uint32(255)),
        f32((texel >> uint32(8)) & uint32(255)),
        f32((texel >> uint32(16)) & uint32(255)),
    )


@inner
def _cell_before(x, y, z, side):
    """The cell in front of a face; the light of this cell falls on the face."""
    if side == 0:
        return x - int32(1), y, z
    if side == 1:
        return x + int32(1), y, z
    if side == 2:
        return x, y, z - int32(1)
    if side == 3:
        return x, y, z + int32(1)
    if side == 4:
        return x, y + int32(1), z
    if side == 5:
        return x, y - int32(1), z
    return x, y, z


@inner
def _corner(touch):
    """Find the corner of a face that is nearest to a point: two steps of one cell from the middle towards the corner, and the
    distance of the point from the middle along each step, 0 to 0.5.
    """
    ux = uy = uz = vx = vy = vz = int32(0)
    if touch.side < 2:
        a, c = touch.z, touch.y
        uz, vy = int32(1), int32(1)
    elif touch.side < 4:
        a, c = touch.x, touch.y
        ux, vy = int32(1), int32(1)
    else:
        a, c = touch.x, touch.z
        ux, vz = int32(1), int32(1)
    if a < f32(0.5):
        ux, uy, uz, a = -ux, -uy, -uz, f32(0.5) - a
    else:
        a -= f32(0.5)
    if c < f32(0.5):
        vx, vy, vz, c = -vx, -vy, -vz, f32(0.5) - c
    else:
        c -= f32(0.5)
    return (ux, uy, uz), (vx, vy, vz), a, c


@inner
def _smooth_light(cells, bright, touch, x, y, z, lit):
    """Blend the light of the four nearest cells in front of a face; (x, y, z) is one of them. Solid cells count as shade."""
    red, green, blue = bright[lit, 0], bright[lit, 1], bright[lit, 2]
    u, v, a, c = _corner(touch)
    if not is_inside(cells, x + u[0] + v[0], y + u[1] + v[1], z + u[2] + v[2]):
        return red, green, blue
    fade = min(f32(1), (f32(44) - touch.t) * f32(0.08))
    a, c = a * fade, c * fade
    at = (x * cells.sz + z) * cells.sy + y
    du, dv = (u[0] * cells.sz + u[2]) * cells.sy + u[1], (v[0] * cells.sz + v[2]) * cells.sy + v[1]
    n1 = int32(cells.light[uint32(at + du)])
    n2 = int32(cells.light[uint32(at + dv)])
    n3 = int32(cells.light[uint32(at + du + dv)])
    if n1 == 0 and n2 == 0:
        n3 = int32(0)
    if n1 == lit and n2 == lit and n3 == lit:
        return red, green, blue
    w1, w2, w3 = a * (f32(1) - c), (f32(1) - a) * c, a * c
    w0 = (f32(1) - a) * (f32(1) - c)
    dark = f32(0.30)
    least = red * dark
    red = w0 * red + w1 * max(bright[n1, 0], least) + w2 * max(bright[n2, 0], least) + w3 * max(bright[n3, 0], least)
    least = green * dark
    green = w0 * green + w1 * max(bright[n1, 1], least) + w2 * max(bright[n2, 1], least) + w3 * max(bright[n3, 1], least)
    least = blue * dark
    blue = w0 * blue + w1 * max(bright[n1, 2], least) + w2 * max(bright[n2, 2], least) + w3 * max(bright[n3, 2], least)
    return red, green, blue


@inner
def _light_on(cells, bright, touch, x, y, z, what):
    """Red, green and blue light on the surface `touch` in the cell (x, y, z)."""
    kind, at = what & KIND_BITS, index(cells, x, y, z)
    ax, ay, az = _cell_before(x, y, z, touch.side)
    has_light = is_inside(cells, ax, ay, az)
    lit = int32(FULL_LIGHT)
    if has_light:
        lit = int32(cells.light[index(cells, ax, ay, az)])
    if kind >= CROSS and kind != LAVA:  # what does not fill its cell has that cell's light too
        own = int32(cells.light[at])
        lit = max(lit & 240, own & 240) | max(lit & 15, own & 15)
    is_flat = touch.side != PLANE and (kind != BOXES or (what >> FLAGS_SHIFT) & SMOOTH)
    if is_flat and has_light and touch.t < f32(44):
        return _smooth_light(cells, bright, touch, ax, ay, az, lit)
    return bright[lit, 0], bright[lit, 1], bright[lit, 2]


@inner
def _outline(touch, light, pixel):
    """Change the light to show an outline: darker at the edges of a block, brighter on a whole plant."""
    red, green, blue = light
    if touch.side != PLANE:
        width = max(f32(0.011), touch.t * pixel * f32(0.9))
        near = (
            int32(touch.x - touch.x0 < width or touch.x1 - touch.x < width)
            + int32(touch.y - touch.y0 < width or touch.y1 - touch.y < width)
            + int32(touch.z - touch.z0 < width or touch.z1 - touch.z < width)
        )
        if near >= 2:
            return red * f32(0.3), green * f32(0.3), blue * f32(0.3)
        return red, green, blue
    return red * f32(1.18), green * f32(1.18), blue * f32(1.18)


@inner
def _tint(land, what, x, y, z, light):
    """Multiply the light by the land's colour here, or by a brightness that varies from cell to cell, as the flags say."""
    red, green, blue = light
    gx, gz = x & 255, z & 255
    if (what >> FLAGS_SHIFT) & TINTED:
        return red * land[gx, gz, 0], green * land[gx, gz, 1], blue * land[gx, gz, 2]
    if (what >> FLAGS_SHIFT) & NATURAL:
        s = land[(gx * 2 + y * 5) & 255, (gz * 2 + y * 3) & 255, 1]
        return red * s, green * s, blue * s
    return red, green, blue


@inner
def shade(cells, looks, scenery, bright, view, marked, touch, spot, what, state):
    """Red, green and blue of the surface that a ray meets: its texture in the light that falls on it."""
    x, y, z = spot.x, spot.y, spot.z
    red, green, blue = _light_on(cells, bright, touch, x, y, z, what)
    if touch.side != PLANE:
        s = view.shade[touch.side]
    else:
        s = f32(0.72) + f32(0.26) * touch.y
    red, green, blue = _tint(scenery.land, what, x, y, z, (red * s, green * s, blue * s))
    own = looks.glow[state] * f32(0.95)
    red, green, blue = max(red, own), max(green, own), max(blue, own)
    at = int32(index(cells, x, y, z))
    if at == marked.outlined:
        red, green, blue = _outline(touch, (red, green, blue), view.pixel)
    if at == marked.cracked:
        u, v = f32(0), f32(0)
        if touch.side != PLANE:
            u, v = on_face(touch.side, touch.x, touch.y, touch.z)
        s = f32(1) - f32(sample(looks, marked.crack, int32(0), u, v) >> uint32(24)) / f32(255)
        red, green, blue = red * s, green * s, blue * s
    r, g, b = _colour(touch.texel)
    return r * red, g * green, b * blue


@inner
def through_pane(seen, texel, colour):
    """Add a pane of stained glass to the colour seen so far; the glass colours the light from behind."""
    share = f32(texel >> uint32(24)) / f32(255)
    peak = f32(0.75) + f32(0.25) * (f32(1) - share)
    r, g, b = _colour(texel)
    return Seen(
        seen.red + seen.pass_r * share * colour[0],
        seen.green + seen.pass_g * share * colour[1],
        seen.blue + seen.pass_b * share * colour[2],
        seen.pass_r * ((f32(1) - share) * (peak + (f32(1) - peak) * r / f32(255))),
        seen.pass_g * ((f32(1) - share) * (peak + (f32(1) - peak) * g / f32(255))),
        seen.pass_b * ((f32(1) - share) * (peak + (f32(1) - peak) * b / f32(255))),
    )
