"""Light of the cells, and the distance from each cell to the nearest block.

Two kinds of light, 0 to 15, share a byte. *Sky light* comes straight down at 15 through cells that take no light; *block
light* starts at a block's own brightness. Otherwise both lose at least one level per cell. `lit` computes the light of all
cells. `relight` and `relight_box` update it after a change: they remove all light that may have come through the changed
cells, then fill it again from around. The result is exactly that of `lit`.

The passage of light follows Minecraft 1.16: full opaque cubes take all light, leaves, ice and everything wet take one level,
glass and the rest nothing; slabs, stairs, snow, farmland and paths let none through a face that they cover.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from blockworld.registry.blocks import BLOCKS, BOX_START, BOXES, NUM_BOXES, NUM_STATES, properties_of

DOWN, UP, NORTH, SOUTH, WEST, EAST = range(6)
"""Sides of a cell, as numbered in `LIGHTING`; the opposite of `side` is `side ^ 1`."""

_FULL_CUBES_THAT_TAKE_NOTHING = {"glass", "barrier", "scaffolding"}
_FULL_CUBES_THAT_TAKE_ONE = {"ice", "frosted_ice", "slime_block", "spawner", "beacon", "cobweb", "chorus_flower"}
_SHAPES_COVER = {"farmland", "grass_path", "snow", "lectern", "stonecutter", "enchanting_table", "end_portal_frame"}
_ALWAYS_WET = {"kelp", "kelp_plant", "seagrass", "tall_seagrass", "bubble_column", "water", "lava"}

_GIVES = {
    **{"lava": 15, "fire": 15, "soul_fire": 10, "torch": 14, "wall_torch": 14, "soul_torch": 10, "soul_wall_torch": 10},
    **{"lantern": 15, "soul_lantern": 10, "glowstone": 15, "sea_lantern": 15, "shroomlight": 15, "jack_o_lantern": 15},
    **{"end_rod": 14, "beacon": 15, "conduit": 15, "crying_obsidian": 10, "ender_chest": 7, "magma_block": 3},
    **{"nether_portal": 11, "end_portal": 15, "end_gateway": 15, "end_portal_frame": 1, "dragon_egg": 1},
    **{"brewing_stand": 1, "brown_mushroom": 1},
}
_GIVES_WHEN_LIT = {
    **{"campfire": 15, "soul_campfire": 10, "redstone_lamp": 15, "redstone_ore": 9, "redstone_torch": 7},
    **{"redstone_wall_torch": 7, "furnace": 13, "smoker": 13, "blast_furnace": 13},
}
_RESPAWN_ANCHOR = {"0": 0, "1": 3, "2": 7, "3": 11, "4": 15}


def _covered_sides(state: int) -> int:
    """Bits of the sides that a state's collision boxes cover completely, tested in sixteenths of a block."""
    faces = np.zeros((6, 16, 16), np.bool_)
    for x0, y0, z0, x1, y1, z1 in BOXES[BOX_START[state] : BOX_START[state] + NUM_BOXES[state]] * 16:
        xs, ys, zs = (slice(max(0, round(low)), min(16, round(high))) for low, high in ((x0, x1), (y0, y1), (z0, z1)))
        for side, reached, face in (
            *((DOWN, y0 <= 0, (xs, zs)), (UP, y1 >= 16, (xs, zs))),
            *((NORTH, z0 <= 0, (xs, ys)), (SOUTH, z1 >= 16, (xs, ys))),
            *((WEST, x0 <= 0, (zs, ys)), (EAST, x1 >= 16, (zs, ys))),
        ):
            if reached:
                faces[side][face] = True
    return sum(1 << side for side in range(6) if faces[side].all())


def _tables() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    covered_by_shape: dict[tuple[int, int], int] = {}
    covered = np.zeros(NUM_STATES, np.uint8)
    takes, gives, hides = np.zeros(NUM_STATES, np.uint8), np.zeros(NUM_STATES, np.uint8), np.zeros(NUM_STATES, np.uint8)
    for block in BLOCKS:
        name = block.name
        for state in range(block.first, block.first + block.num_states):
            shape = int(BOX_START[state]), int(NUM_BOXES[state])
            if shape not in covered_by_shape:
                covered_by_shape[shape] = _covered_sides(state)
            covered[state] = covered_by_shape[shape]
            properties = properties_of(state) if block.num_states > 1 else {}
            wet = properties.get("waterlogged") == "true" or name in _ALWAYS_WET
            if name.endswith("_leaves") or name in _FULL_CUBES_THAT_TAKE_ONE or name.endswith("shulker_box"):
                takes[state] = 1
            elif name in _FULL_CUBES_THAT_TAKE_NOTHING or name.endswith("_stained_glass"):
                takes[state] = 0
            elif (
                (covered[state] == 63 and not name.endswith("_stairs"))
                or name == "soul_sand"
                or (name == "snow" and properties["layers"] == "8")
            ):
                takes[state] = 15
            else:
                takes[state] = 1 if wet else 0
                if name.endswith(("_slab", "_stairs")) or name in _SHAPES_COVER:
                    hides[state] = covered[state]
                if name == "snow":
                    hides[state] = 1 << DOWN
            if name in _GIVES:
                gives[state] = _GIVES[name]
            elif name in _GIVES_WHEN_LIT and properties["lit"] == "true":
                gives[state] = _GIVES_WHEN_LIT[name]
            elif name == "sea_pickle" and wet:
                gives[state] = 3 + 3 * int(properties["pickles"])
            elif name == "respawn_anchor":
                gives[state] = _RESPAWN_ANCHOR[properties["charges"]]
    return takes, gives, hides, covered


TAKES, GIVES, HIDES, COVERED = _tables()
"""Four arrays, uint8, shape (NUM_STATES,): levels by which a state reduces light that enters it; block light it gives; bits of
the sides that let no light through; bits of the sides that its collision boxes cover completely (for `fluids`, `updates`)."""
OPAQUE: np.ndarray = TAKES == 15
"""bool, shape (NUM_STATES,): whether a state is a full cube that blocks light and sight."""
LIGHTING: np.ndarray = TAKES | GIVES.astype(np.uint16) << 4 | HIDES.astype(np.uint16) << 8
"""uint16, shape (NUM_STATES,): all facts about a state that light needs: 4 bits taken, 4 bits given, 6 bits of hidden sides."""


@njit(cache=True)
def _grown(queue, head, num):
    """Make room at the end of a queue: move its unread part to the front; return (queue, number of unread entries)."""
    left = num - head
    bigger = queue if left * 2 < queue.size else np.empty(queue.size * 2, queue.dtype)
    for i in range(left):
        bigger[i] = queue[head + i]
    return bigger, left


@njit(cache=True)
def _spread(blocks, light, lighting, queue, num, shift):
    """Spread the light of the queued cells (x << 20 | z << 10 | y); `shift` is 4 for sky light, 0 for block light."""
    sx, sz, sy = blocks.shape
    keep = 0x0F if shift else 0xF0
    head = 0
    while head < num:
        if num + 6 > queue.size:
            queue, num = _grown(queue, head, num)
            head = 0
        cell = queue[head]
        head += 1
        x, z, y = cell >> 20, cell >> 10 & 1023, cell & 1023
        level = light[x, z, y] >> shift & 15
        if level <= 1:
            continue
        own = lighting[blocks[x, z, y]]
        for side in range(6):
            nx, nz, ny = x, z, y
            if side == 0:
                ny -= 1
                if ny < 0:
                    continue
            elif side == 1:
                ny += 1
                if ny >= sy:
                    continue
            elif side == 2:
                nz -= 1
                if nz < 0:
                    continue
            elif side == 3:
                nz += 1
                if nz >= sz:
                    continue
            elif side == 4:
                nx -= 1
                if nx < 0:
                    continue
            else:
                nx += 1
                if nx >= sx:
                    continue
            there = light[nx, nz, ny]
            if (there >> shift & 15) >= level:
                continue
            other = lighting[blocks[nx, nz, ny]]
            taken = other & 15
            if taken == 15 or own >> 8 + side & 1 or other >> 8 + (side ^ 1) & 1:
                continue
            if shift and side == 0 and level == 15 and taken == 0:
                new = 15
            else:
                new = level - max(1, taken)
            if new > (there >> shift & 15):
                light[nx, nz, ny] = there & keep | new << shift
                queue[num] = nx << 20 | nz << 10 | ny
                num += 1


@njit(cache=True)
def _from_above(lighting_of_state):
    """Sky light of a cell in the top layer, from its entry in `LIGHTING`."""
    if lighting_of_state >> 8 + 1 & 1:
        return 0
    taken = lighting_of_state & 15
    return 15 if taken == 0 else 15 - taken


@njit(cache=True, nogil=True)
def _lit(blocks, light, lighting):
    sx, sz, sy = blocks.shape
    lowest = np.empty((sx + 2, sz + 2), np.int32)  # lowest cell of a column that the sky lights straight; a rim of 0 around
    lowest[:] = 0
    queue = np.empty(1 << 16, np.int32)
    num = 0
    given = np.empty(1 << 10, np.int32)
    num_given = 0
    for x in range(sx):
        for z in range(sz):
            column, shone = blocks[x, z], light[x, z]  # indexed by all three each cell would take ten times as long
            y = sy - 1
            above = 0
            while y >= 0:
                own = lighting[column[y]]
                if own & 15 or own >> 8 + 1 & 1 or above >> 8 & 1:
                    break
                above = own
                y -= 1
            shone[y + 1 :] = 15 << 4
            lowest[x + 1, z + 1] = y + 1
            if y == sy - 1:
                shone[y] = _from_above(lighting[column[y]]) << 4
            some = 0
            for y in range(sy):
                some |= lighting[column[y]]
            if some >> 4 & 15 == 0:
                continue
            for y in range(sy):
                gives = lighting[column[y]] >> 4 & 15
                if gives:
                    shone[y] |= gives
                    if num_given == given.size:
                        given, num_given = _grown(given, 0, num_given)
                    given[num_given] = x << 20 | z << 10 | y
                    num_given += 1
    for x in range(sx):
        for z in range(sz):
            low = lowest[x + 1, z + 1]
            high = max(max(lowest[x, z + 1], lowest[x + 2, z + 1]), max(lowest[x + 1, z], lowest[x + 1, z + 2]))
            if low == sy:
                low -= 1
            for y in range(low, max(low + 1, min(high, sy))):
                if num == queue.size:
                    queue, num = _grown(queue, 0, num)
                queue[num] = x << 20 | z << 10 | y
                num += 1
    _spread(blocks, light, lighting, queue, num, 4)
    _spread(blocks, light, lighting, given, num_given, 0)


@njit(cache=True)
def _relight(blocks, light, lighting, cells):
    """Update light after the blocks of the given cells (x << 20 | z << 10 | y) have changed."""
    sx, sz, sy = blocks.shape
    gone = np.empty(max(256, 2 * cells.size), np.int32)
    levels = np.empty(gone.size, np.uint8)
    rim = np.empty(1024, np.int32)
    for shift in (0, 4):
        keep = 0x0F if shift else 0xF0
        num_gone, num_rim = cells.size, 0
        for i in range(cells.size):
            x, z, y = cells[i] >> 20, cells[i] >> 10 & 1023, cells[i] & 1023
            gone[i] = cells[i]
            levels[i] = light[x, z, y] >> shift & 15
            light[x, z, y] &= keep
        head = 0
        while head < num_gone:
            if num_gone + 6 > gone.size:
                gone, _ = _grown(gone, 0, num_gone)
                levels, _ = _grown(levels, 0, num_gone)
            if num_rim + 6 > rim.size:
                rim, _ = _grown(rim, 0, num_rim)
            cell, level = gone[head], levels[head]
            head += 1
            x, z, y = cell >> 20, cell >> 10 & 1023, cell & 1023
            for side in range(6):
                nx, nz, ny = x, z, y
                if side == 0:
                    ny -= 1
                elif side == 1:
                    ny += 1
                elif side == 2:
                    nz -= 1
                elif side == 3:
                    nz += 1
                elif side == 4:
                    nx -= 1
                else:
                    nx += 1
                if nx < 0 or nx >= sx or nz < 0 or nz >= sz or ny < 0 or ny >= sy:
                    continue
                there = light[nx, nz, ny]
                other = there >> shift & 15
                if other == 0:
                    continue
                # What this cell lit is darker than it was, but for sky light on its way down.
                if other < level or (shift and side == 0 and level == 15 and other == 15):
                    light[nx, nz, ny] = there & keep
                    gone[num_gone] = nx << 20 | nz << 10 | ny
                    levels[num_gone] = other
                    num_gone += 1
                elif other > 1:
                    rim[num_rim] = nx << 20 | nz << 10 | ny
                    num_rim += 1
        for i in range(num_gone):  # what shines by itself shines on
            x, z, y = gone[i] >> 20, gone[i] >> 10 & 1023, gone[i] & 1023
            own = lighting[blocks[x, z, y]]
            level = 0
            if shift == 0:
                level = own >> 4 & 15
            elif y == sy - 1:
                level = _from_above(own)
            if level:
                light[x, z, y] = light[x, z, y] & keep | level << shift
                if num_rim == rim.size:
                    rim, _ = _grown(rim, 0, num_rim)
                rim[num_rim] = gone[i]
                num_rim += 1
        _spread(blocks, light, lighting, rim, num_rim, shift)


@njit(cache=True)
def _cells_of(x0, y0, z0, x1, y1, z1):
    cells = np.empty((x1 - x0 + 1) * (y1 - y0 + 1) * (z1 - z0 + 1), np.int32)
    num = 0
    for x in range(x0, x1 + 1):
        for z in range(z0, z1 + 1):
            for y in range(y0, y1 + 1):
                cells[num] = x << 20 | z << 10 | y
                num += 1
    return cells


def lit(blocks: np.ndarray) -> np.ndarray:
    """Compute the light of every cell.

    Args:
        blocks: uint16, shape (SX, SZ, SY), C-contiguous, at most 1024 along each side.
    Returns:
        uint8, the same shape: sky light times 16, plus block light. Sky light enters from above, not from the sides.
    """
    light = np.zeros(blocks.shape, np.uint8)
    _lit(blocks, light, LIGHTING)
    return light


def relight(blocks: np.ndarray, light: np.ndarray, x: int, y: int, z: int, before: int, after: int) -> None:
    """Update `light`, in place, after one cell of `blocks` has changed from state `before` to `after`."""
    if LIGHTING[before] != LIGHTING[after]:
        _relight(blocks, light, LIGHTING, np.array([x << 20 | z << 10 | y], np.int32))


def relight_cells(blocks: np.ndarray, light: np.ndarray, cells: np.ndarray) -> None:
    """Update `light`, in place, after some `cells` have changed: int32, shape (N,), each x << 20 | z << 10 | y."""
    _relight(blocks, light, LIGHTING, cells)


def relight_box(blocks: np.ndarray, light: np.ndarray, x0: int, y0: int, z0: int, x1: int, y1: int, z1: int) -> None:
    """Update `light`, in place, after any cells of a box changed, both corners included."""
    if (x1 - x0 + 1) * (y1 - y0 + 1) * (z1 - z0 + 1) * 16 > blocks.size:
        light[:] = 0
        _lit(blocks, light, LIGHTING)
    else:
        _relight(blocks, light, LIGHTING, _cells_of(x0, y0, z0, x1, y1, z1))


@njit(cache=True)
def _nearer(skip, row, line, most):
    """Lower each distance `skip[y]` of a column to at most 1 + the least of `line[y - 1 : y + 2]`; `row` is workspace."""
    sy = row.size
    top = np.uint8(most - 1)
    one = np.uint8(1)
    row[0] = min(line[0], line[min(1, sy - 1)])
    for y in range(1, sy - 1):
        row[y] = min(min(line[y - 1], line[y]), line[y + 1])
    row[sy - 1] = min(line[max(0, sy - 2)], line[sy - 1])
    for y in range(sy):
        row[y] = min(row[y], top) + one
    for y in range(sy):
        skip[y] = min(skip[y], row[y])


@njit(cache=True, nogil=True)
def _sweep(skip, x0, z0, x1, z1, most):
    """Compute exact distances inside a box of columns in two sweeps, forward and back; other columns keep their distances."""
    sx, sz, sy = skip.shape
    row = np.empty(sy, np.uint8)
    line = np.empty(sy, np.uint8)
    for back in range(2):
        step = -1 if back else 1
        for i in range(x1 - x0 + 1):
            x = x1 - i if back else x0 + i
            for j in range(z1 - z0 + 1):
                z = z1 - j if back else z0 + j
                line[:] = 255
                for dx, dz in ((-1, -1), (-1, 0), (-1, 1), (0, -1)):
                    nx, nz = x + dx * step, z + dz * step
                    if 0 <= nx < sx and 0 <= nz < sz:
                        other = skip[nx, nz]
                        for y in range(sy):
                            line[y] = min(line[y], other[y])
                own = skip[x, z]
                _nearer(own, row, line, most)
                for y in range(1, sy):
                    if own[y - 1] + 1 < own[y]:
                        own[y] = own[y - 1] + 1
                for y in range(sy - 2, -1, -1):
                    if own[y + 1] + 1 < own[y]:
                        own[y] = own[y + 1] + 1


@njit(cache=True, nogil=True)
def _start(blocks, skip, x0, z0, x1, z1, most):
    for x in range(x0, x1 + 1):
        for z in range(z0, z1 + 1):
            for y in range(skip.shape[2]):
                skip[x, z, y] = 0 if blocks[x, z, y] else most


@njit(cache=True)
def _added(skip: np.ndarray, x: int, z: int, y: int) -> None:
    """Lower the distances around a new block, shell by shell.

    Distances of neighbours differ by at most 1, so each shell need only visit the neighbours of cells lowered in the last one.
    """
    sx, sz, sy = skip.shape
    skip[x, z, y] = 0
    x0, x1, z0, z1, y0, y1 = x, x, z, z, y, y
    for r in range(1, 255):
        x0, x1 = max(0, x0 - 1), min(sx - 1, x1 + 1)
        z0, z1 = max(0, z0 - 1), min(sz - 1, z1 + 1)
        y0, y1 = max(0, y0 - 1), min(sy - 1, y1 + 1)
        nx0, nx1, nz0, nz1, ny0, ny1 = sx, -1, sz, -1, sy, -1
        for nx in range(x0, x1 + 1):
            for nz in range(z0, z1 + 1):
                on_side = abs(nx - x) == r or abs(nz - z) == r
                ny = y0 if on_side or y0 == y - r else y1
                step = 1 if on_side else max(1, y1 - y0)
                while ny <= y1:
                    if skip[nx, nz, ny] > r and (on_side or abs(ny - y) == r):
                        skip[nx, nz, ny] = r
                        nx0, nx1 = min(nx0, nx), max(nx1, nx)
                        nz0, nz1 = min(nz0, nz), max(nz1, nz)
                        ny0, ny1 = min(ny0, ny), max(ny1, ny)
                    ny += step
        if nx1 < 0:
            return
        x0, x1, z0, z1, y0, y1 = nx0, nx1, nz0, nz1, ny0, ny1


@njit(cache=True)
def update_distances_of(blocks, skip, cells):
    """Update distances as `update_distances` does, for many cells: int32, shape (N,), each x << 20 | z << 10 | y."""
    for cell in cells:
        x, z, y = cell >> 20, cell >> 10 & 1023, cell & 1023
        if blocks[x, z, y]:
            if skip[x, z, y]:
                _added(skip, x, z, y)
        elif skip[x, z, y] == 0:
            skip[x, z, y] = 1


def distances(blocks: np.ndarray, most: int) -> np.ndarray:
    """Compute the distance from each cell to the nearest block.

    Args:
        blocks: uint16, shape (SX, SZ, SY).
        most: Upper limit of the distances, 1 to 254.
    Returns:
        uint8, the same shape: 0 in a block; in air the Chebyshev distance in cells to the nearest block of the grid.
    """
    skip = np.empty(blocks.shape, np.uint8)
    sx, sz, _ = blocks.shape
    _start(blocks, skip, 0, 0, sx - 1, sz - 1, most)
    _sweep(skip, 0, 0, sx - 1, sz - 1, most)
    return skip


def update_distances(skip: np.ndarray, x: int, y: int, z: int, before: int, after: int) -> None:
    """Update distances, in place, after one cell has changed from state `before` to `after`.

    The result is exact for a new block. For a removed block, the distance of its cell becomes 1 and the others stay: they may
    be too small but never too large. `distances_box` makes them exact again.
    """
    if before == 0:
        _added(skip, x, z, y)
    elif after == 0:
        skip[x, z, y] = 1


def distances_box(blocks: np.ndarray, skip: np.ndarray, x0: int, z0: int, x1: int, z1: int, most: int) -> None:
    """Make the distances exact again, in place, after any cells of the columns x0..x1, z0..z1 have changed.

    The distances in columns more than `most` away from these columns must be exact before.
    """
    sx, sz, _ = blocks.shape
    box = max(0, x0 - most), max(0, z0 - most), min(sx - 1, x1 + most), min(sz - 1, z1 + most)
    _start(blocks, skip, *box, most)
    _sweep(skip, *box, most)
