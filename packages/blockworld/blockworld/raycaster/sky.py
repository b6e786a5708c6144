"""Colours of the sky, and the haze in front of distant blocks."""

from __future__ import annotations

from blockworld.raycaster.records import CLOUD_HEIGHT, f32, inner, int32, uint32


@inner
def haze(view, dx, dy, dz):
    """Colour of the sky in a direction, without sun, moon, stars and clouds; fog and mirror images in water have it too."""
    high = max(dy, f32(0))
    part = f32(1) - (f32(1) - min(high, f32(1)))
    part = part * (f32(2.4) - part * f32(1.4))
    part = min(part, f32(1))
    red = view.horizon_r + (view.zenith_r - view.horizon_r) * part
    green = view.horizon_g + (view.zenith_g - view.horizon_g) * part
    blue = view.horizon_b + (view.zenith_b - view.horizon_b) * part
    toward = dx * view.sun_x + dy * view.sun_y + dz * view.sun_z
    glow = max(toward, f32(0))
    wide = glow * glow
    wide = wide * wide * max(f32(0), f32(1) - high * f32(1.3))
    narrow = wide * wide
    narrow = narrow * narrow * narrow
    strength = f32(0.45) * wide + f32(0.4) * narrow
    red += view.glow_r * strength
    green += view.glow_g * strength
    blue += view.glow_b * strength
    return red, green, blue


@inner
def _star(view, dx, dy, dz):
    """Brightness of the star in a direction; 0 if there is no star."""
    star = f32(0)
    if view.stars > f32(0) and dy > f32(0.03):
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
            star *= view.stars * (f32(80) + f32((mixed >> uint32(24)) & uint32(127))) * min(f32(1), dy * f32(4))
    return star


@inner
def _sun_and_moon(view, toward, red, green, blue):
    """Add the sun and the moon to the colour of the sky; `toward` is the cosine of the angle between the ray and the sun."""
    disc = (toward - f32(0.9984)) * f32(2200)
    if disc > f32(0):
        disc = min(disc, f32(1)) * view.disc
        red += (f32(255) - red) * disc
        green += (f32(246) - green) * disc
        blue += (f32(214) - blue) * disc
    halo = max(f32(0), toward - f32(0.94)) * f32(16)
    halo = halo * halo * f32(70) * view.disc
    red += halo
    green += halo * f32(0.9)
    blue += halo * f32(0.6)
    disc = (-toward - f32(0.9990)) * f32(3000)
    if disc > f32(0):
        disc = min(disc, f32(1)) * min(f32(1), view.stars + f32(0.25))
        red += (f32(226) - red) * disc
        green += (f32(230) - green) * disc
        blue += (f32(240) - blue) * disc
    return red, green, blue


@inner
def sky(view, ray, clouds):
    """Colour of the sky in the direction of a ray, with sun, moon, stars and clouds."""
    dx, dy, dz = ray.dx, ray.dy, ray.dz
    red, green, blue = haze(view, dx, dy, dz)
    toward = dx * view.sun_x + dy * view.sun_y + dz * view.sun_z
    star = _star(view, dx, dy, dz)
    red, green, blue = _sun_and_moon(view, toward, red + star, green + star, blue + star * f32(1.05))
    if dy > f32(0.02):
        far = (f32(CLOUD_HEIGHT) - ray.eye_y) / dy
        if far > f32(0):
            cx = (ray.eye_x + dx * far) * f32(0.22) + view.drift + f32(40960)
            cz = (ray.eye_z + dz * far) * f32(0.22) + f32(40960)
            ix, iz = int32(cx), int32(cz)
            ax, az = cx - f32(ix), cz - f32(iz)
            x0, x1, z0, z1 = ix & 255, (ix + 1) & 255, iz & 255, (iz + 1) & 255
            a = clouds[x0, z0] + (clouds[x1, z0] - clouds[x0, z0]) * ax
            b = clouds[x0, z1] + (clouds[x1, z1] - clouds[x0, z1]) * ax
            thick = (a + (b - a) * az + view.cover) * f32(2.6)
            if thick > f32(0):
                thick = min(thick, f32(1))
                seen = thick * thick * (f32(3) - f32(2) * thick) * min(f32(1), (dy - f32(0.02)) * f32(5)) * f32(0.88)
                light = f32(1.04) - f32(0.14) * thick
                red += (view.cloud_r * light - red) * seen
                green += (view.cloud_g * light - green) * seen
                blue += (view.cloud_b * light - blue) * seen
    return red, green, blue


@inner
def fog(part):
    """Share of haze in the colour of a block, 0 to 1; `part` is the block's distance divided by the viewing distance."""
    part *= part
    return part * (f32(0.12) + f32(0.88) * part * part)


@inner
def mix(a, b, part):
    return a[0] + (b[0] - a[0]) * part, a[1] + (b[1] - a[1]) * part, a[2] + (b[2] - a[2]) * part
