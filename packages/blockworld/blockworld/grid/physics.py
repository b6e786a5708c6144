"""How bodies, looks and liquids meet blocks: kernels for the player, mobs and things on the ground.

Rules of Minecraft 1.16: a body is an upright box. It moves along y first, then along the longer of x and z, then along the
other. It climbs edges at its feet of at most `step_height`. Cells outside the sides and below the world are solid.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from blockworld.grid.outlines import NUM_OUTLINES, OUTLINE_START, OUTLINES
from blockworld.registry.blocks import BLOCKS, BOX_START, BOXES, NUM_BOXES, NUM_STATES, block_named, properties_of

EPSILON = 1e-7
STEP_HEIGHT = 0.6
WATER, LAVA = 1, 2
DOWN, UP, NORTH, SOUTH, WEST, EAST = range(6)
"""Faces of a block, numbered as the game does."""
FACES = ("down", "up", "north", "south", "west", "east")
NORMALS = ((0, -1, 0), (0, 1, 0), (0, 0, -1), (0, 0, 1), (-1, 0, 0), (1, 0, 0))

_ALWAYS_WET = frozenset({"seagrass", "tall_seagrass", "kelp", "kelp_plant", "bubble_column"})


def _fluids() -> tuple[np.ndarray, np.ndarray]:
    kinds, amounts = np.zeros(NUM_STATES, np.uint8), np.zeros(NUM_STATES, np.uint8)
    for block in BLOCKS:
        for state in range(block.first, block.first + block.num_states):
            if block.name in ("water", "lava"):
                level = state - block.first
                kinds[state] = WATER if block.name == "water" else LAVA
                amounts[state] = 8 if level == 0 or level >= 8 else 8 - level
            elif block.name in _ALWAYS_WET or (
                "waterlogged" in block.properties and properties_of(state)["waterlogged"] == "true"
            ):
                kinds[state], amounts[state] = WATER, 8
    return kinds, amounts


FLUID_KIND, FLUID_AMOUNT = _fluids()
"""Two arrays, uint8, shape (NUM_STATES,): liquid in a state, also if waterlogged (0, `WATER`, `LAVA`); its height in ninths."""
_SCAFFOLDING = block_named("scaffolding").first
_SOURCE: np.ndarray = np.zeros(NUM_STATES, np.bool_)
_FALLING: np.ndarray = np.zeros(NUM_STATES, np.bool_)
for _block in BLOCKS:
    if _block.name in ("water", "lava"):
        _SOURCE[_block.first] = True
        _FALLING[_block.first + 8 : _block.first + 16] = True


@njit(cache=True)
def _slide(blocks, axis, x0, y0, z0, x1, y1, z1, d, sinks):  # type: ignore[no-untyped-def]
    """The part of `d` that a box can move along an axis (0 x, 1 y, 2 z); a box that `sinks` falls through scaffolding."""
    if d == 0.0:
        return 0.0
    sx, sz, sy = blocks.shape
    ax, ay, az, bx, by, bz = x0, y0, z0, x1, y1, z1
    if axis == 0:
        ax, bx = min(x0, x0 + d), max(x1, x1 + d)
    elif axis == 1:
        ay, by = min(y0, y0 + d), max(y1, y1 + d)
    else:
        az, bz = min(z0, z0 + d), max(z1, z1 + d)
    # One cell more below: a fence there reaches half a block up.
    for cx in range(math.floor(ax - EPSILON), math.floor(bx + EPSILON) + 1):
        for cz in range(math.floor(az - EPSILON), math.floor(bz + EPSILON) + 1):
            for cy in range(math.floor(ay - EPSILON) - 1, math.floor(by + EPSILON) + 1):
                wall = cx < 0 or cz < 0 or cx >= sx or cz >= sz or cy < 0
                if not wall and cy >= sy:
                    continue
                state = 0 if wall else int(blocks[cx, cz, cy])
                # Scaffolding carries who is above it and does not want down, and lets all others through.
                if _SCAFFOLDING <= state < _SCAFFOLDING + 32 and (sinks or y0 < cy + 1 - EPSILON):
                    continue
                for k in range(1 if wall else NUM_BOXES[state]):
                    if wall:
                        lx, ly, lz, hx, hy, hz = cx + 0.0, cy + 0.0, cz + 0.0, cx + 1.0, cy + 1.0, cz + 1.0
                    else:
                        box = BOX_START[state] + k
                        lx, ly, lz = cx + BOXES[box, 0], cy + BOXES[box, 1], cz + BOXES[box, 2]
                        hx, hy, hz = cx + BOXES[box, 3], cy + BOXES[box, 4], cz + BOXES[box, 5]
                    in_x = hx > x0 + EPSILON and lx < x1 - EPSILON
                    in_y = hy > y0 + EPSILON and ly < y1 - EPSILON
                    in_z = hz > z0 + EPSILON and lz < z1 - EPSILON
                    if axis == 0:
                        if not (in_y and in_z):
                            continue
                        ahead, behind = lx - x1, hx - x0
                    elif axis == 1:
                        if not (in_x and in_z):
                            continue
                        ahead, behind = ly - y1, hy - y0
                    else:
                        if not (in_x and in_y):
                            continue
                        ahead, behind = lz - z1, hz - z0
                    if d > 0 and ahead >= -EPSILON:
                        d = min(d, max(ahead, 0.0))
                    elif d < 0 and behind <= EPSILON:
                        d = max(d, min(behind, 0.0))
    return d


@njit(cache=True)
def _slide_all(blocks, x0, y0, z0, x1, y1, z1, dx, dy, dz, sinks):  # type: ignore[no-untyped-def]
    """The part of (dx, dy, dz) that a box can move: y first, then the longer of x and z."""
    # One place that calls: compiled code is four times smaller than with each axis spelled out.
    second = 2 if abs(dx) < abs(dz) else 0
    for turn in range(3):
        axis = 1 if turn == 0 else (second if turn == 1 else 2 - second)
        wanted = dx if axis == 0 else (dy if axis == 1 else dz)
        moved = _slide(blocks, axis, x0, y0, z0, x1, y1, z1, wanted, sinks)
        if axis == 0:
            dx, x0, x1 = moved, x0 + moved, x1 + moved
        elif axis == 1:
            dy, y0, y1 = moved, y0 + moved, y1 + moved
        else:
            dz, z0, z1 = moved, z0 + moved, z1 + moved
    return dx, dy, dz


@njit(cache=True)
def move_box(blocks, x, y, z, dx, dy, dz, half_width, height, step_height, on_ground=False):  # type: ignore[no-untyped-def]
    """Move a body as far as the blocks let it.

    Args:
        blocks: uint16, shape (SX, SZ, SY).
        x, y, z: Middle of the body's feet.
        dx, dy, dz: Wanted movement, in blocks.
        step_height: Highest edge that a standing body climbs; 0 for things, negative for bodies that sink through scaffolding.
        on_ground: Whether the body stood before; a body that lands in this move climbs too.
    Returns:
        (x, y, z, hit_x, hit_y, hit_z): the new position, and along which axes the body was stopped. It stands if
        `hit_y and dy < 0`.
    """
    sinks = step_height < 0
    x0, y0, z0 = x - half_width, y, z - half_width
    x1, y1, z1 = x + half_width, y + height, z + half_width
    rx, ry, rz = _slide_all(blocks, x0, y0, z0, x1, y1, z1, dx, dy, dz, sinks)
    hit_y = ry != dy
    if step_height > 0 and (on_ground or (hit_y and dy < 0)) and (rx != dx or rz != dz):
        ax, ay, az = _slide_all(blocks, x0, y0, z0, x1, y1, z1, dx, step_height, dz, False)
        # Lifted over the whole way first, as when an edge lies behind something low.
        ex0, ex1 = min(x0, x0 + dx), max(x1, x1 + dx)
        ez0, ez1 = min(z0, z0 + dz), max(z1, z1 + dz)
        up = _slide(blocks, 1, ex0, y0, ez0, ex1, y1, ez1, step_height, False)
        if up < step_height:
            bx, _, bz = _slide_all(blocks, x0, y0 + up, z0, x1, y1 + up, z1, dx, 0.0, dz, False)
            if bx * bx + bz * bz > ax * ax + az * az:
                ax, ay, az = bx, up, bz
        if ax * ax + az * az > rx * rx + rz * rz:
            down = _slide(blocks, 1, x0 + ax, y0 + ay, z0 + az, x1 + ax, y1 + ay, z1 + az, dy - ay, False)
            rx, ry, rz = ax, ay + down, az
            hit_y = hit_y or down != dy - ay
    return x + rx, y + ry, z + rz, rx != dx, hit_y, rz != dz


@njit(cache=True)
def is_free(blocks, x, y, z, half_width, height):  # type: ignore[no-untyped-def]
    """Whether a body with its feet at (x, y, z) would overlap no block."""
    sx, sz, sy = blocks.shape
    x0, x1 = x - half_width + EPSILON, x + half_width - EPSILON
    z0, z1 = z - half_width + EPSILON, z + half_width - EPSILON
    y0, y1 = y + EPSILON, y + height - EPSILON
    for cx in range(math.floor(x0), math.floor(x1) + 1):
        for cz in range(math.floor(z0), math.floor(z1) + 1):
            for cy in range(math.floor(y0) - 1, math.floor(y1) + 1):
                if cx < 0 or cz < 0 or cx >= sx or cz >= sz or cy < 0:
                    if cy >= math.floor(y0):
                        return False
                    continue
                if cy >= sy:
                    continue
                state = int(blocks[cx, cz, cy])
                if _SCAFFOLDING <= state < _SCAFFOLDING + 32 and y0 < cy + 1 - 2 * EPSILON:
                    continue
                for box in range(BOX_START[state], BOX_START[state] + NUM_BOXES[state]):
                    if (
                        cx + BOXES[box, 3] > x0
                        and cx + BOXES[box, 0] < x1
                        and cy + BOXES[box, 4] > y0
                        and cy + BOXES[box, 1] < y1
                        and cz + BOXES[box, 5] > z0
                        and cz + BOXES[box, 2] < z1
                    ):
                        return False
    return True


@njit(cache=True)
def box_entry(x, y, z, dx, dy, dz, x0, y0, z0, x1, y1, z1):  # type: ignore[no-untyped-def]
    """Where a ray enters a box: (distance in lengths of the direction, face), or (-1.0, 0) if it misses the box.

    If the ray starts inside, the distance is 0 and the face is the one behind the viewer.
    """
    near, far, axis = -1e300, 1e300, -1
    for i in range(3):
        o = x if i == 0 else (y if i == 1 else z)
        d = dx if i == 0 else (dy if i == 1 else dz)
        lo = x0 if i == 0 else (y0 if i == 1 else z0)
        hi = x1 if i == 0 else (y1 if i == 1 else z1)
        if d == 0.0:
            if o < lo or o > hi:
                return -1.0, 0
            continue
        a, b = (lo - o) / d, (hi - o) / d
        if a > b:
            a, b = b, a
        if a > near:
            near, axis = a, i
        far = min(far, b)
    if near > far or far < 0:
        return -1.0, 0
    if near < 0:
        near = 0.0
        axis = 0 if abs(dx) >= abs(dy) and abs(dx) >= abs(dz) else (1 if abs(dy) >= abs(dz) else 2)
    if axis == 0:
        return near, WEST if dx > 0 else EAST
    if axis == 1:
        return near, DOWN if dy > 0 else UP
    return near, NORTH if dz > 0 else SOUTH


@njit(cache=True)
def first_cell(x, y, z, dx, dy, dz):  # type: ignore[no-untyped-def]
    """Start a walk along a line from cell to cell (Amanatides & Woo 1987).

    Returns:
        (cx, cy, cz, next_x, next_y, next_z): the first cell, and the distances to its faces, in lengths of the direction.
    """
    cx, cy, cz = math.floor(x), math.floor(y), math.floor(z)
    next_x = (cx + (dx > 0) - x) / dx if dx != 0 else 1e300
    next_y = (cy + (dy > 0) - y) / dy if dy != 0 else 1e300
    next_z = (cz + (dz > 0) - z) / dz if dz != 0 else 1e300
    return cx, cy, cz, next_x, next_y, next_z


@njit(cache=True)
def next_cell(cx, cy, cz, next_x, next_y, next_z, dx, dy, dz):  # type: ignore[no-untyped-def]
    """Step to the cell behind the nearest face; return six numbers as `first_cell`. If equally near: x before y before z."""
    if next_x <= next_y and next_x <= next_z:
        step = 1 if dx > 0 else -1
        return cx + step, cy, cz, next_x + step / dx, next_y, next_z
    if next_y <= next_z:
        step = 1 if dy > 0 else -1
        return cx, cy + step, cz, next_x, next_y + step / dy, next_z
    step = 1 if dz > 0 else -1
    return cx, cy, cz + step, next_x, next_y, next_z + step / dz


@njit(cache=True)
def ray(blocks, x, y, z, dx, dy, dz, reach, sources=False):  # type: ignore[no-untyped-def]
    """Find the first block outline along a look.

    Args:
        blocks: uint16, shape (SX, SZ, SY).
        x, y, z: Position of the eye.
        dx, dy, dz: Direction, of any length but 0.
        reach: Largest distance, in blocks.
        sources: Whether sources of water and lava stop the look too, as for an empty bucket.
    Returns:
        (hit, bx, by, bz, face, hx, hy, hz): whether an outline was hit, its cell, the face (`DOWN` ... `EAST`) and the point.
    """
    sx, sz, sy = blocks.shape
    length = math.sqrt(dx * dx + dy * dy + dz * dz)
    dx, dy, dz = dx / length, dy / length, dz / length
    inf = 1e300
    cx, cy, cz, next_x, next_y, next_z = first_cell(x, y, z, dx, dy, dz)
    while True:
        if 0 <= cx < sx and 0 <= cz < sz and 0 <= cy < sy:
            state = int(blocks[cx, cz, cy])
            best, face = inf, 0
            for box in range(OUTLINE_START[state], OUTLINE_START[state] + NUM_OUTLINES[state]):
                at, side = box_entry(
                    x,
                    y,
                    z,
                    dx,
                    dy,
                    dz,
                    cx + OUTLINES[box, 0],
                    cy + OUTLINES[box, 1],
                    cz + OUTLINES[box, 2],
                    cx + OUTLINES[box, 3],
                    cy + OUTLINES[box, 4],
                    cz + OUTLINES[box, 5],
                )
                if 0.0 <= at < best:
                    best, face = at, side
            if sources and _SOURCE[state]:
                at, side = box_entry(x, y, z, dx, dy, dz, cx + 0.0, cy + 0.0, cz + 0.0, cx + 1.0, cy + 8 / 9, cz + 1.0)
                if 0.0 <= at < best:
                    best, face = at, side
            if best <= reach:
                return True, cx, cy, cz, face, x + dx * best, y + dy * best, z + dz * best
        if min(next_x, next_y, next_z) > reach:
            return False, 0, 0, 0, 0, 0.0, 0.0, 0.0
        cx, cy, cz, next_x, next_y, next_z = next_cell(cx, cy, cz, next_x, next_y, next_z, dx, dy, dz)


@njit(cache=True)
def fluid_at(blocks, cx, cy, cz):  # type: ignore[no-untyped-def]
    """Liquid in a cell: (0, `WATER` or `LAVA`; height in the cell, 0 to 1). The height is 1 if the same liquid is above."""
    sx, sz, sy = blocks.shape
    if cx < 0 or cz < 0 or cy < 0 or cx >= sx or cz >= sz or cy >= sy:
        return 0, 0.0
    state = blocks[cx, cz, cy]
    kind = int(FLUID_KIND[state])
    if kind == 0:
        return 0, 0.0
    if cy + 1 < sy and FLUID_KIND[blocks[cx, cz, cy + 1]] == kind:
        return kind, 1.0
    return kind, FLUID_AMOUNT[state] / 9.0


@njit(cache=True)
def _flow(blocks, cx, cy, cz, kind):  # type: ignore[no-untyped-def]
    """Direction in which a cell's liquid flows: a vector of length 1, or zeros."""
    sx, sz, _sy = blocks.shape
    state = blocks[cx, cz, cy]
    own = FLUID_AMOUNT[state] / 9.0
    fx, fy, fz = 0.0, 0.0, 0.0
    solid = False
    for side in range(4):
        ox = 1 if side == 0 else (-1 if side == 1 else 0)
        oz = 1 if side == 2 else (-1 if side == 3 else 0)
        nx, nz = cx + ox, cz + oz
        if nx < 0 or nz < 0 or nx >= sx or nz >= sz:
            solid = True
            continue
        other = blocks[nx, nz, cy]
        blocked = NUM_BOXES[other] > 0
        solid = solid or blocked
        other_kind = FLUID_KIND[other]
        drop = 0.0
        if other_kind == kind:
            drop = own - FLUID_AMOUNT[other] / 9.0
        elif other_kind == 0 and not blocked and cy > 0:
            below = blocks[nx, nz, cy - 1]
            if FLUID_KIND[below] == kind:
                drop = own - (FLUID_AMOUNT[below] / 9.0 - 8.0 / 9.0)
        fx += ox * drop
        fz += oz * drop
    length = math.sqrt(fx * fx + fz * fz)
    if length > 0:
        fx, fz = fx / length, fz / length
    if _FALLING[state] and solid:
        fy = -6.0
        length = math.sqrt(fx * fx + 36.0 + fz * fz)
        fx, fy, fz = fx / length, fy / length, fz / length
    return fx, fy, fz


@njit(cache=True)
def immersion(blocks, x, y, z, half_width, height, kind):  # type: ignore[no-untyped-def]
    """Depth of a body in water or lava (`kind`), and the flow of this liquid.

    Returns:
        (height of the liquid above the feet in blocks, sum of the flow of its cells along x, y and z, number of cells).
    """
    sx, sz, sy = blocks.shape
    depth, fx, fy, fz, cells = 0.0, 0.0, 0.0, 0.0, 0
    y0 = y + 0.001
    for cx in range(math.floor(x - half_width + 0.001), math.floor(x + half_width - 0.001) + 1):
        for cz in range(math.floor(z - half_width + 0.001), math.floor(z + half_width - 0.001) + 1):
            if cx < 0 or cz < 0 or cx >= sx or cz >= sz:
                continue
            for cy in range(max(0, math.floor(y0)), min(sy - 1, math.floor(y + height - 0.001)) + 1):
                found, level = fluid_at(blocks, cx, cy, cz)
                if found != kind or cy + level < y0:
                    continue
                depth = max(depth, cy + level - y0)
                ax, ay, az = _flow(blocks, cx, cy, cz, kind)
                weight = depth if depth < 0.4 else 1.0
                fx, fy, fz = fx + ax * weight, fy + ay * weight, fz + az * weight
                cells += 1
    return depth, fx, fy, fz, cells


@njit(cache=True)
def touched(blocks, x, y, z, half_width, height, marks):  # type: ignore[no-untyped-def]
    """Bits of `marks` (uint8, shape (NUM_STATES,)) that any cell touched by a body has."""
    sx, sz, sy = blocks.shape
    joined = 0
    for cx in range(max(0, math.floor(x - half_width + 0.001)), min(sx - 1, math.floor(x + half_width - 0.001)) + 1):
        for cz in range(max(0, math.floor(z - half_width + 0.001)), min(sz - 1, math.floor(z + half_width - 0.001)) + 1):
            for cy in range(max(0, math.floor(y + 0.001)), min(sy - 1, math.floor(y + height - 0.001)) + 1):
                joined |= int(marks[blocks[cx, cz, cy]])
    return joined
