"""The way of a ray: from cell to cell, and in jumps through air."""

from __future__ import annotations

from blockworld.raycaster.records import Spot, f32, inner, int32, int64, outer, uint32


@inner
def floor(value):
    whole = int32(value)
    return whole - int32(value < f32(whole))


@inner
def _onward(cell, place, step):
    """The cell of a coordinate along one axis; never a cell behind `cell`, in which the ray already is."""
    new = int32(place)
    return new if (new - cell) * step > 0 else cell


@inner
def index(cells, x, y, z):
    return uint32((x * cells.sz + z) * cells.sy + y)


@inner
def is_inside(cells, x, y, z):
    return uint32(x) < uint32(cells.sx) and uint32(z) < uint32(cells.sz) and uint32(y) < uint32(cells.sy)


@inner
def borders(ray, x, y, z):
    """Distances at which a ray leaves a cell along each axis."""
    return (
        (f32(x + ray.bx) - ray.eye_x) * ray.ix,
        (f32(y + ray.by) - ray.eye_y) * ray.iy,
        (f32(z + ray.bz) - ray.eye_z) * ray.iz,
    )


@inner
def first_spot(ray, t):
    """The `Spot` at which a ray's walk begins, `t` blocks from the eye."""
    x, y, z = floor(ray.eye_x + ray.dx * t), floor(ray.eye_y + ray.dy * t), floor(ray.eye_z + ray.dz * t)
    return Spot(x, y, z, t, -1 if t == f32(0) else ray.fy)


@inner
def down_to_land(cells, ray):
    """The `Spot` at which a ray that comes from above the land enters the top layer of cells."""
    t = (f32(cells.sy) - f32(1e-3) - ray.eye_y) * ray.iy
    return Spot(floor(ray.eye_x + ray.dx * t), cells.sy - int32(1), floor(ray.eye_z + ray.dz * t), t, 4)


@inner
def next_cell(ray, spot, tx, ty, tz):
    """The `Spot` in the next cell of a ray; tx, ty, tz are the `borders` of its present cell."""
    if tx < ty and tx < tz:
        return Spot(spot.x + ray.sx, spot.y, spot.z, tx, ray.fx)
    if ty < tz:
        return Spot(spot.x, spot.y + ray.sy, spot.z, ty, ray.fy)
    return Spot(spot.x, spot.y, spot.z + ray.sz, tz, ray.fz)


@outer
def _search_top(skip, SX, SY, SZ, tile_x, tile_z):
    """Height of the highest block in a tile of 8 x 8 columns, at least 0."""
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


@inner
def _top(cells, x, z):
    """Height of the highest block in the tile of a column; it is searched at the first call and stored in `Cells.tops`."""
    top = int32(cells.tops[uint32(x) >> uint32(3), uint32(z) >> uint32(3)])
    if top < 0:
        top = _search_top(cells.skip, cells.sx, cells.sy, cells.sz, x >> 3, z >> 3)
        cells.tops[uint32(x) >> uint32(3), uint32(z) >> uint32(3)] = top
    return top


@inner
def _free(cells, ray, spot):
    """Value of `skip` in the cell of a ray; -1 if the ray has ended or has left the land."""
    if spot.t >= ray.far or not is_inside(cells, spot.x, spot.y, spot.z):
        return int32(-1)
    return int32(cells.skip[index(cells, spot.x, spot.y, spot.z)])


@inner
def _over_columns(cells, ray, spot, top):
    """Move a ray out of a tile of columns, or down to its highest block, in one jump: all cells above `top` are air."""
    qx, qz = ((spot.x >> 3) + ray.bx) << 3, ((spot.z >> 3) + ray.bz) << 3
    tx, tz = (f32(qx) - ray.eye_x) * ray.ix, (f32(qz) - ray.eye_z) * ray.iz
    ty = (f32(cells.sy if ray.py else top + int32(1)) - ray.eye_y) * ray.iy
    if ty < tx and ty < tz:
        x, z = _onward(spot.x, ray.eye_x + ray.dx * ty, ray.sx), _onward(spot.z, ray.eye_z + ray.dz * ty, ray.sz)
        return Spot(x, int64(cells.sy if ray.py else top), z, ty, ray.fy)
    if tx < tz:
        y, z = _onward(spot.y, ray.eye_y + ray.dy * tx, ray.sy), _onward(spot.z, ray.eye_z + ray.dz * tx, ray.sz)
        return Spot(qx + ray.bx - int32(1), y, z, tx, ray.fx)
    x, y = _onward(spot.x, ray.eye_x + ray.dx * tz, ray.sx), _onward(spot.y, ray.eye_y + ray.dy * tz, ray.sy)
    return Spot(x, y, qz + ray.bz - int32(1), tz, ray.fz)


@inner
def _leap(ray, spot, free):
    """Move a ray by one jump through air: all cells less than `free` cells away are air."""
    far = free - int32(1)
    qx, qy, qz = far if ray.px else -far, far if ray.py else -far, far if ray.pz else -far
    tx, ty, tz = borders(ray, spot.x + qx, spot.y + qy, spot.z + qz)
    if tx < ty and tx < tz:
        y, z = _onward(spot.y, ray.eye_y + ray.dy * tx, ray.sy), _onward(spot.z, ray.eye_z + ray.dz * tx, ray.sz)
        return Spot(spot.x + qx + ray.sx, y, z, tx, ray.fx)
    if ty < tz:
        x, z = _onward(spot.x, ray.eye_x + ray.dx * ty, ray.sx), _onward(spot.z, ray.eye_z + ray.dz * ty, ray.sz)
        return Spot(x, spot.y + qy + ray.sy, z, ty, ray.fy)
    x, y = _onward(spot.x, ray.eye_x + ray.dx * tz, ray.sx), _onward(spot.y, ray.eye_y + ray.dy * tz, ray.sy)
    return Spot(x, y, spot.z + qz + ray.sz, tz, ray.fz)


@inner
def _cell_by_cell(cells, ray, spot):
    """Move a ray through cells that have a block next to them; return its new `Spot` and the value of `_free` there.

    Each step changes only one of the three borders.
    """
    x, y, z, t, face = spot.x, spot.y, spot.z, spot.t, spot.face
    at = index(cells, x, y, z)
    tx, ty, tz = borders(ray, x, y, z)
    while True:
        if tx < ty and tx < tz:
            t, face = tx, ray.fx
            x += ray.sx
            at += ray.move_x
            if t >= ray.far or uint32(x) >= uint32(cells.sx):
                free = int32(-1)
                break
            tx = (f32(x + ray.bx) - ray.eye_x) * ray.ix
        elif ty < tz:
            t, face = ty, ray.fy
            y += ray.sy
            at += ray.move_y
            if t >= ray.far or uint32(y) >= uint32(cells.sy):
                free = int32(-1)
                break
            ty = (f32(y + ray.by) - ray.eye_y) * ray.iy
        else:
            t, face = tz, ray.fz
            z += ray.sz
            at += ray.move_z
            if t >= ray.far or uint32(z) >= uint32(cells.sz):
                free = int32(-1)
                break
            tz = (f32(z + ray.bz) - ray.eye_z) * ray.iz
        free = int32(cells.skip[uint32(at)])
        if free != 1:
            break
        top = int32(cells.tops[uint32(x) >> uint32(3), uint32(z) >> uint32(3)])
        if top < 0 or y > top:
            break
    return Spot(x, y, z, t, face), free


@inner
def march_air(cells, ray, spot, free):
    """Move a ray through air to the next block, or out of the land; `free` is the value of `skip` at the start.

    In the land coordinates are never negative, so `int32` rounds them down. The ray never goes back, so the loop ends.
    """
    while free > 0:
        if free < 6:
            top = _top(cells, spot.x, spot.z)
            if spot.y > top:
                spot = _over_columns(cells, ray, spot, top)
                free = _free(cells, ray, spot)
                continue
        if free == 1:
            spot, free = _cell_by_cell(cells, ray, spot)
        else:
            spot = _leap(ray, spot, free)
            free = _free(cells, ray, spot)
    return spot
