"""Ways for mobs: footing, straight lines and short ways round obstacles.

A *place* is a cell in which feet can be: the ground is its floor, or something low in it (a slab, a carpet). A breadth-first
search finds ways over places at most `REACH` blocks away, with steps of up to one block up and three down, as mobs can.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from blockworld.grid.light import OPAQUE
from blockworld.grid.physics import FLUID_KIND, WATER, box_entry, first_cell, is_free, next_cell
from blockworld.registry.blocks import BLOCKS, BOX_START, BOXES, NUM_BOXES, NUM_STATES, per_block, properties_of

REACH = 16
"""Largest distance of a place from the start of a way, in blocks along x or z."""
LEVELS = 5
"""Largest distance of a place above or below the start, in blocks."""
DROP = 3
"""Largest step down of a walking mob, in cells."""
MOST_PLACES = 500
"""Largest number of places in a search; a search that ends there takes the reached place nearest to the target."""

_SIDE = 2 * REACH + 1
_TALL = 2 * LEVELS + 1


def _tops() -> np.ndarray:
    tops = np.zeros(NUM_STATES)
    for block in BLOCKS:
        for state in range(block.first, block.first + block.num_states):
            boxes = BOXES[BOX_START[state] : BOX_START[state] + NUM_BOXES[state]]
            # Nobody stands on a door, nor on what hangs open: one walks past the panel, if there is room.
            upright = block.name.endswith("_door") or (
                block.name.endswith("_trapdoor") and properties_of(state)["open"] == "true"
            )
            tops[state] = boxes[:, 4].max() if len(boxes) and not upright else 0.0
    return tops


TOPS: np.ndarray = _tops()
"""float64, shape (NUM_STATES,): height within the cell at which a body stands on this state; 0 for nothing, 1.5 for a fence."""
_DANGEROUS = (
    "lava",
    "fire",
    "soul_fire",
    "cactus",
    "sweet_berry_bush",
    "campfire",
    "soul_campfire",
    "magma_block",
    "wither_rose",
)
DANGER: np.ndarray = per_block(dict.fromkeys(_DANGEROUS, 1), 0, np.bool_)
"""bool, shape (NUM_STATES,): whether this state is dangerous, so that mobs do not walk into it."""


def _doors() -> np.ndarray:
    marks = np.zeros(NUM_STATES, np.bool_)
    for block in BLOCKS:
        if block.name.endswith("_door") and block.name != "iron_door":
            for state in range(block.first, block.first + block.num_states):
                marks[state] = properties_of(state)["open"] == "false"
    return marks


DOORS: np.ndarray = _doors()
"""bool, shape (NUM_STATES,): whether this state is a shut wooden door."""


@njit(cache=True)
def feet(blocks, cx, cy, cz):  # type: ignore[no-untyped-def]
    """Height at which a body stands in a cell; -1.0 if there is no footing. Water counts as ground."""
    sx, sz, sy = blocks.shape
    if cx < 0 or cz < 0 or cx >= sx or cz >= sz or cy < 1 or cy >= sy:
        return -1.0
    state = blocks[cx, cz, cy]
    if DANGER[state]:
        return -1.0
    top = TOPS[state]
    if top > 0.5625:
        return -1.0
    if top > 0.0:
        return cy + top
    below = blocks[cx, cz, cy - 1]
    if FLUID_KIND[state] == WATER:
        return cy + 0.0
    if DANGER[below]:
        return -1.0
    top = TOPS[below]
    if top > 0.5625 and top <= 1.0:
        return cy - 1 + top
    return -1.0


@njit(cache=True)
def footing(blocks, cx, cy, cz, up, down):  # type: ignore[no-untyped-def]
    """Height of the highest cell of a column with footing, from `cy + up` down to `cy - down`; -1 if no cell has footing."""
    for y in range(cy + up, cy - down - 1, -1):
        if feet(blocks, cx, y, cz) >= 0.0:
            return y
        # Nothing reaches a place under a floor
        inside = 0 <= cx < blocks.shape[0] and 0 <= cz < blocks.shape[1] and 0 <= y < blocks.shape[2]
        if y < cy and inside and TOPS[blocks[cx, cz, y]] > 0.0:
            return -1
    return -1


@njit(cache=True)
def has_room(blocks, x, y, z, half, height, opens):  # type: ignore[no-untyped-def]
    """Whether a body fits with its feet at (x, y, z); `opens` says whether it can pass shut doors."""
    if is_free(blocks, x, y, z, half, height):
        return True
    if not opens:
        return False
    cx, cz, cy = math.floor(x), math.floor(z), math.floor(y + 0.01)
    sx, sz, sy = blocks.shape
    if cx < 0 or cz < 0 or cy < 0 or cx >= sx or cz >= sz or cy + 1 >= sy:
        return False
    return DOORS[blocks[cx, cz, cy]] and DOORS[blocks[cx, cz, cy + 1]]


@njit(cache=True)
def walkable(blocks, x, y, z, tx, tz, half, height, swims):  # type: ignore[no-untyped-def]
    """Distance in blocks that a body can walk straight from (x, y, z) towards (tx, tz): all of it if nothing is in the way.

    Obstacles are walls, drops of more than `DROP` blocks, danger, and water for a body that does not swim.
    """
    dx, dz = tx - x, tz - z
    distance = math.sqrt(dx * dx + dz * dz)
    if distance < 1e-6:
        return 0.0
    steps = math.ceil(distance / 0.5)
    dx, dz = dx / steps, dz / steps
    cy = math.floor(y + 0.51)
    for k in range(1, steps + 1):
        px, pz = x + dx * k, z + dz * k
        cx, cz = math.floor(px), math.floor(pz)
        at = footing(blocks, cx, cy, cz, 1, DROP)
        if at < 0 or (not swims and FLUID_KIND[blocks[cx, cz, at]] == WATER):
            return distance * (k - 1) / steps
        # At an edge the body still hangs over the higher side.
        top = max(feet(blocks, cx, at, cz), cy + 0.0 if at < cy else 0.0)
        if not is_free(blocks, px, top + 0.001, pz, half, height - 0.01):
            # The neighbours of a cell may be lower slabs or higher ground that the body's rim touches: one step up is fine.
            if not is_free(blocks, px, top + 1.001, pz, half, height - 0.01) or (half > 0.5 and at > cy):
                return distance * (k - 1) / steps
            if not is_free(blocks, px, top + 0.001, pz, 0.05, height - 0.01) or _fence_near(blocks, px, at, pz, half):
                return distance * (k - 1) / steps
        cy = at
    return distance


@njit(cache=True)
def _fence_near(blocks, x, cy, z, half):  # type: ignore[no-untyped-def]
    """Whether the rim of a body touches something that is too high to jump over."""
    sx, sz, sy = blocks.shape
    for cx in range(math.floor(x - half), math.floor(x + half) + 1):
        for cz in range(math.floor(z - half), math.floor(z + half) + 1):
            if cx < 0 or cz < 0 or cx >= sx or cz >= sz or cy < 0 or cy >= sy or TOPS[blocks[cx, cz, cy]] > 1.0:
                return True
    return False


@njit(cache=True)
def way(blocks, x, y, z, tx, ty, tz, half, height, opens):  # type: ignore[no-untyped-def]
    """Find the next spot on a short way to (tx, ty, tz) around obstacles.

    Returns:
        (x, y, z, steps): a spot to which the line is free, on the way to the reachable place nearest to the target;
        `steps` is the number of places on that way, 0 if the nearest place is the start.
    """
    ox, oy, oz = math.floor(x), math.floor(y + 0.51), math.floor(z)
    if feet(blocks, ox, oy, oz) < 0.0:
        at = footing(blocks, ox, oy, oz, 0, DROP)
        oy = at if at >= 0 else oy
    gx, gy, gz = math.floor(tx), math.floor(ty + 0.01), math.floor(tz)
    # 0 unknown, -1 no place, else 1 + the place it was reached from
    seen = np.zeros((_SIDE, _SIDE, _TALL), np.int32)
    queue = np.empty(MOST_PLACES + 8, np.int32)
    start = (REACH * _SIDE + REACH) * _TALL + LEVELS
    queue[0] = start
    seen[REACH, REACH, LEVELS] = start + 1
    head, tail = 0, 1
    best = start
    best_far = (ox - gx) ** 2 + (oz - gz) ** 2 + 2 * (oy - gy) ** 2
    while head < tail and tail < MOST_PLACES and best_far > 0:
        here = queue[head]
        head += 1
        hy = here % _TALL
        hz = here // _TALL % _SIDE
        hx = here // (_TALL * _SIDE)
        cx, cy, cz = ox + hx - REACH, oy + hy - LEVELS, oz + hz - REACH
        stand = feet(blocks, cx, cy, cz)
        for side in range(4):
            nx = hx + (1 if side == 0 else (-1 if side == 1 else 0))
            nz = hz + (1 if side == 2 else (-1 if side == 3 else 0))
            if nx < 0 or nz < 0 or nx >= _SIDE or nz >= _SIDE:
                continue
            px, pz = ox + nx - REACH, oz + nz - REACH
            at = footing(blocks, px, cy, pz, 1, DROP)
            ny = at - oy + LEVELS
            if at < 0 or ny < 0 or ny >= _TALL or seen[nx, nz, ny] != 0:
                continue
            top = feet(blocks, px, at, pz)
            fits = top - stand <= 1.1 and has_room(blocks, px + 0.5, top + 0.001, pz + 0.5, half, height - 0.01, opens)
            if fits and at > cy:
                fits = is_free(blocks, cx + 0.5, top + 0.001, cz + 0.5, min(half, 0.49), height - 0.01)
            elif fits and at < cy:
                fits = is_free(blocks, px + 0.5, stand + 0.001, pz + 0.5, min(half, 0.49), height - 0.01)
            if not fits:
                # Known from this height only: it may be reached from another.
                continue
            seen[nx, nz, ny] = here + 1
            there = (nx * _SIDE + nz) * _TALL + ny
            far = (px - gx) ** 2 + (pz - gz) ** 2 + 2 * (at - gy) ** 2
            if far < best_far:
                best_far, best = far, there
            queue[tail] = there
            tail += 1
    steps = 0
    at = best
    while at != start:
        queue[steps] = at
        at = seen[at // (_TALL * _SIDE), at // _TALL % _SIDE, at % _TALL] - 1
        steps += 1
        if steps >= MOST_PLACES:
            break
    if steps == 0:
        return x, y, z, 0
    # The farthest of the next places that a straight walk reaches. (`far >= 0.0` is True, but no literal, for which Numba would
    # compile `walkable` once more.)
    chosen = steps - 1
    for ahead in range(min(steps, 6) - 1, 0, -1):
        place = queue[steps - 1 - ahead]
        px, pz = ox + place // (_TALL * _SIDE) - REACH + 0.5, oz + place // _TALL % _SIDE - REACH + 0.5
        far = math.sqrt((px - x) ** 2 + (pz - z) ** 2)
        if walkable(blocks, x, y, z, px, pz, half, height, far >= 0.0) >= far - 1e-6:
            chosen = steps - 1 - ahead
            break
    place = queue[chosen]
    return (
        ox + place // (_TALL * _SIDE) - REACH + 0.5,
        oy + place % _TALL - LEVELS + 0.0,
        oz + place // _TALL % _SIDE - REACH + 0.5,
        steps,
    )


@njit(cache=True)
def first_block(blocks, x, y, z, dx, dy, dz):  # type: ignore[no-untyped-def]
    """Find where a thing that flies by (dx, dy, dz) first hits a block's collision shape.

    Returns:
        (share, face, cx, cy, cz): share of the way before the hit, 0 to 1, above 1 without a hit; the hit face and cell.
    """
    sx, sz, sy = blocks.shape
    inf = 1e300
    cx, cy, cz, next_x, next_y, next_z = first_cell(x, y, z, dx, dy, dz)
    while True:
        if cx < 0 or cz < 0 or cx >= sx or cz >= sz or cy < 0:
            at, side = box_entry(x, y, z, dx, dy, dz, cx + 0.0, cy + 0.0, cz + 0.0, cx + 1.0, cy + 1.0, cz + 1.0)
            return max(at, 0.0), side, cx, cy, cz
        best, face, below = inf, 0, 0
        for low in range(2):
            if cy - low < 0 or cy - low >= sy:
                continue
            state = blocks[cx, cz, cy - low]
            if low == 1 and TOPS[state] <= 1.0:
                continue
            for box in range(BOX_START[state], BOX_START[state] + NUM_BOXES[state]):
                at, side = box_entry(
                    x,
                    y,
                    z,
                    dx,
                    dy,
                    dz,
                    cx + BOXES[box, 0],
                    cy - low + BOXES[box, 1],
                    cz + BOXES[box, 2],
                    cx + BOXES[box, 3],
                    cy - low + BOXES[box, 4],
                    cz + BOXES[box, 5],
                )
                if 0.0 <= at < best:
                    best, face, below = at, side, low
        if best <= 1.0:
            return best, face, cx, cy - below, cz
        if min(next_x, next_y, next_z) > 1.0:
            return 2.0, 0, 0, 0, 0
        cx, cy, cz, next_x, next_y, next_z = next_cell(cx, cy, cz, next_x, next_y, next_z, dx, dy, dz)


@njit(cache=True)
def sees(blocks, x, y, z, tx, ty, tz):  # type: ignore[no-untyped-def]
    """Whether no opaque block and no shut door is between two points; the line is tested every half block."""
    sx, sz, sy = blocks.shape
    dx, dy, dz = tx - x, ty - y, tz - z
    steps = int(math.sqrt(dx * dx + dy * dy + dz * dz) * 2) + 1
    for k in range(1, steps):
        cx, cy, cz = math.floor(x + dx * k / steps), math.floor(y + dy * k / steps), math.floor(z + dz * k / steps)
        if cx < 0 or cz < 0 or cy < 0 or cx >= sx or cz >= sz or cy >= sy:
            continue
        state = blocks[cx, cz, cy]
        if OPAQUE[state] or DOORS[state]:
            return False
    return True
