"""The surface that a ray meets in a cell: a cube, a plant's crossed pictures, or boxes."""

from __future__ import annotations

import math

from blockworld.raycaster.records import (
    CROSS,
    CULLED,
    CUTOUT,
    FLAGS_SHIFT,
    KIND_BITS,
    LAVA,
    NATURAL,
    NO_SIDE,
    PLANE,
    Touch,
    f32,
    inner,
    int32,
    uint32,
)
from blockworld.raycaster.walk import index


@inner
def on_face(face, hx, hy, hz):
    """Point of a face's picture for a point in the cell: (across, down), 0 to 1 from the upper left."""
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


@inner
def sample(looks, picture, level, u, v):
    side = int32(16) >> level
    a = min(max(int32(u * f32(side)), int32(0)), side - int32(1))
    c = min(max(int32(v * f32(side)), int32(0)), side - int32(1))
    return looks.pages[uint32(looks.page_starts[level] + (picture * side + c) * side + a)]


@inner
def _level(spread):
    """Mip level for a texture of which `spread` pixels side by side fall into one pixel of the picture."""
    if spread < f32(1.5):
        return int32(0)
    if spread < f32(3):
        return int32(1)
    if spread < f32(6):
        return int32(2)
    return int32(3) if spread < f32(12) else int32(4)


@inner
def _cube_side(cells, looks, ray, spot, what, state, before, tx, tz):
    """Where a ray meets a cube or lava: distance, face (`NO_SIDE` if it misses), and height of the lava (1 for a cube)."""
    high = f32(1)
    if what & KIND_BITS == LAVA and looks.height[state] < f32(1):
        above = index(cells, spot.x, spot.y, spot.z) + uint32(1)
        if not (spot.y + 1 < cells.sy and looks.info[cells.blocks[above]] & KIND_BITS == LAVA):
            high = looks.height[state]
    best, side = f32(-1), NO_SIDE
    if high < f32(1):
        cut = (f32(spot.y) + high - ray.eye_y) * ray.iy
        if ray.eye_y + ray.dy * spot.t - f32(spot.y) <= high:
            best, side = spot.t, spot.face
        elif not ray.py and cut < min(tx, tz):
            best, side = cut, 4
    elif not ((what >> FLAGS_SHIFT) & CULLED and before == state):
        best, side = spot.t, spot.face
    return best, side, high


@inner
def _mirrored(x, y, z, side, u, v):
    """Mirror a point of a face's picture in some of the cells, so that equal blocks show no regular pattern."""
    mixed = uint32(x) * uint32(73856093) ^ uint32(z) * uint32(19349663) ^ uint32(y) * uint32(83492791)
    mixed ^= mixed >> uint32(13)
    if mixed & uint32(1):
        u = f32(1) - u
    if mixed & uint32(2) and side >= 4:
        v = f32(1) - v
    return u, v


@inner
def _meet_cube(cells, looks, ray, spot, what, state, before, tx, tz):
    """The surface (`Touch`) where a ray meets a cube, opaque or with holes, or lava."""
    best, side, high = _cube_side(cells, looks, ray, spot, what, state, before, tx, tz)
    texel, hx, hy, hz = uint32(0), f32(0), f32(0), f32(0)
    if side >= 0:
        hx = ray.eye_x + ray.dx * best - f32(spot.x)
        hy = ray.eye_y + ray.dy * best - f32(spot.y)
        hz = ray.eye_z + ray.dz * best - f32(spot.z)
        u, v = on_face(side, hx, hy, hz)
        if (what >> FLAGS_SHIFT) & NATURAL:
            u, v = _mirrored(spot.x, spot.y, spot.z, side, u, v)
        cos = abs(ray.dx) if side < 2 else abs(ray.dz) if side < 4 else abs(ray.dy)
        level = int32(0)  # as nearer ones are: the root below is at least 0.245
        if best * ray.texel > f32(0.36):
            level = _level(best * ray.texel / math.sqrt(max(cos, f32(0.06))))
        texel = sample(looks, looks.faces[state, side], level, u, v)
    return Touch(texel, best, side, hx, hy, hz, f32(0), f32(0), f32(0), f32(1), high, f32(1))


@inner
def _meet_cross(looks, ray, spot, state):
    """The surface (`Touch`) where a ray meets a plant's crossed pictures, which stand a little off the middle of the cell."""
    mixed = uint32(spot.x) * uint32(73856093) ^ uint32(spot.z) * uint32(19349663)
    mixed ^= mixed >> uint32(11)
    shift_x = f32(0.5) + (f32(mixed & uint32(15)) - f32(7.5)) * f32(0.016)
    shift_z = f32(0.5) + (f32((mixed >> uint32(4)) & uint32(15)) - f32(7.5)) * f32(0.016)
    lx, lz = (ray.eye_x - f32(spot.x) - shift_x) * f32(1.2), (ray.eye_z - f32(spot.z) - shift_z) * f32(1.2)
    ux, uz = ray.dx * f32(1.2), ray.dz * f32(1.2)
    level = min(_level(spot.t * ray.texel), int32(2))
    least, texel, best, side, hy = f32(1e9), uint32(0), f32(-1), NO_SIDE, f32(0)
    for which in range(2):
        den = ux - uz if which == 0 else ux + uz
        if abs(den) > f32(1e-6):
            q = (lz - lx) / den if which == 0 else -(lx + lz) / den
            if q > f32(0.02) and q < least:
                ax, ay = lx + ux * q + f32(0.5), ray.eye_y - f32(spot.y) + ray.dy * q
                if f32(0) <= ax < f32(1) and f32(0) <= ay < f32(1):
                    some = sample(looks, looks.faces[state, 0], level, ax, f32(1) - ay)
                    if some >> uint32(24):
                        least, texel, best, side, hy = q, some, q, PLANE, ay
    return Touch(texel, best, side, f32(0), hy, f32(0), f32(0), f32(0), f32(0), f32(1), f32(1), f32(1))


@inner
def _between(a, b, near, far, enter, first, leave, last):
    """Cut a ray's part from `enter` to `leave` to the part between two opposite faces, which the ray meets at `a` and `b`."""
    if a > b:
        a, b, near, far = b, a, far, near
    if a > enter:
        enter, first = a, near
    if b < leave:
        leave, last = b, far
    return enter, first, leave, last


@inner
def _box_hit(ox, oy, oz, ix, iy, iz, box):
    """Where a ray enters and leaves a box: (distance, face) twice. The first face is -1 if it misses or starts inside."""
    enter, leave, first, last = f32(0), f32(1e9), -1, 0
    enter, first, leave, last = _between((box.x0 - ox) * ix, (box.x1 - ox) * ix, 0, 1, enter, first, leave, last)
    enter, first, leave, last = _between((box.y0 - oy) * iy, (box.y1 - oy) * iy, 5, 4, enter, first, leave, last)
    enter, first, leave, last = _between((box.z0 - oz) * iz, (box.z1 - oz) * iz, 2, 3, enter, first, leave, last)
    if enter > leave:
        first = -1
    return enter, first, leave, last


@inner
def _meet_boxes(looks, ray, spot, state):
    """The nearest surface (`Touch`) of a state's boxes; behind a box's transparent front, the inside of its back counts."""
    lx, ly, lz = ray.eye_x - f32(spot.x), ray.eye_y - f32(spot.y), ray.eye_z - f32(spot.z)
    level = _level(spot.t * ray.texel)
    least, texel, side, nearest = f32(1e9), uint32(0), NO_SIDE, 0
    hx = hy = hz = f32(0)
    rows = looks.box_range[state]
    for b in range(rows.start, rows.start + rows.number):
        q, face, q_behind, behind = _box_hit(lx, ly, lz, ray.ix, ray.iy, ray.iz, looks.boxes[b])
        if face >= 0 and q < least:
            for turn in range(2):
                if turn == 1:
                    if q_behind - q < f32(1e-4) or q_behind >= least:
                        break
                    q, face = q_behind, behind
                picture = looks.box_faces[b, face]
                if picture >= 0:
                    ax, ay, az = lx + ray.dx * q, ly + ray.dy * q, lz + ray.dz * q
                    u, v = on_face(face, ax, ay, az)
                    some = sample(looks, picture, level, u, v)
                    if some >> uint32(24):
                        least, texel, side, nearest = q, some, face, b
                        hx, hy, hz = ax, ay, az
                        break
    box = looks.boxes[nearest]
    return Touch(texel, least, side, hx, hy, hz, box.x0, box.y0, box.z0, box.x1, box.y1, box.z1)


@inner
def meet(cells, looks, ray, spot, what, state, before, tx, tz):
    """The surface (`Touch`) where a ray meets the block of this state in its cell."""
    kind = what & KIND_BITS
    if kind <= CUTOUT or kind == LAVA:
        return _meet_cube(cells, looks, ray, spot, what, state, before, tx, tz)
    if kind == CROSS:
        return _meet_cross(looks, ray, spot, state)
    return _meet_boxes(looks, ray, spot, state)
