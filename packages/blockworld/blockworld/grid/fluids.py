"""Flowing water and lava: one call moves the fluids of all cells whose turn it is.

A fluid's state has a level: 0 is a source, 1 (thick) to 7 (thin) is flowing, 8 is falling. A cell's turn comes 5 ticks (water)
or 30 (lava) after a change near it. First its neighbours decide its new level: a source if two sources of water are beside it
and firm ground or a source below; falling under the same fluid; else one level thinner than the thickest fluid beside it (lava
two); empty if none is left. Then it flows down if it can, else to the sides: towards drops within 5 cells (lava 3) if any.

Differences from the game: lava thickens without a random delay, and flowing water does not waterlog blocks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from blockworld.grid.light import COVERED
from blockworld.registry.blocks import BLOCKS, NUM_BOXES, NUM_STATES, SMALL_FLOWERS, TALL_FLOWERS, properties_of, state_of

WATER, LAVA = 1, 2
DELAYS = {WATER: 5, LAVA: 30}
"""Ticks until a cell's turn, by fluid."""
WATER_SOURCE, LAVA_SOURCE = state_of("water"), state_of("lava")
_FALLING = 8

_WET = {"kelp", "kelp_plant", "seagrass", "tall_seagrass", "bubble_column"}
_WASHED_AWAY = {
    *("air", "cave_air", "void_air", "fire", "soul_fire", "snow", "cobweb", "lever", "tripwire", "tripwire_hook", "vine"),
    *(
        "redstone_wire",
        "repeater",
        "comparator",
        "flower_pot",
        "end_rod",
        "cocoa",
        "dead_bush",
        "nether_wart",
        "wheat",
        "carrots",
    ),
    *("potatoes", "beetroots", "bamboo_sapling", "sweet_berry_bush", "grass", "fern", "lily_pad", "torch", "wall_torch"),
    *("soul_torch", "soul_wall_torch", "redstone_torch", "redstone_wall_torch", "rail"),
}
_WASHED_ENDS = (
    "_button",
    "_carpet",
    "_sapling",
    "_rail",
    "_stem",
    "_tulip",
    "_skull",
    "_head",
    "_roots",
    "_fungus",
    "_sprouts",
)
_PLANTS = SMALL_FLOWERS | TALL_FLOWERS | {"tall_grass", "large_fern", "brown_mushroom", "red_mushroom"}
_KIND, _AMOUNT, _SOURCE, _HOLDS, _FIRM, _COVERS = 0, 2, 6, 7, 8, 9
"""Lowest bit of each field in an entry of `FLUID`; compiled code uses the same numbers as literals."""


def _table() -> np.ndarray:
    flags = np.zeros(NUM_STATES, np.int32)
    for block in BLOCKS:
        name = block.name
        holds = name in _WASHED_AWAY or name in _PLANTS or name.endswith(_WASHED_ENDS) or name.startswith("potted_")
        holds = (holds or name in ("water", "lava")) and name not in ("mushroom_stem", "crimson_stem", "warped_stem")
        holds = holds and "piston" not in name and not name.startswith("stripped_")
        for state in range(block.first, block.first + block.num_states):
            kind = amount = source = 0
            if name in ("water", "lava"):
                kind = WATER if name == "water" else LAVA
                level = state - block.first
                source = level == 0
                amount = 8 if level >= _FALLING else 8 - level
            elif name in _WET or (block.num_states > 1 and properties_of(state).get("waterlogged") == "true"):
                kind, amount, source = WATER, 8, 1
            firm = bool(NUM_BOXES[state]) and not holds
            flags[state] = (
                (kind << _KIND)
                | (amount << _AMOUNT)
                | (source << _SOURCE)
                | ((1 if holds else 0) << _HOLDS)
                | ((1 if firm else 0) << _FIRM)
                | (0 if holds else int(COVERED[state]) << _COVERS)
            )
    return flags


FLUID = _table()
"""int32, shape (NUM_STATES,): all facts about a state that flowing needs. From the lowest bit: kind of fluid (2 bits), amount
of fluid, 0 to 8 (4 bits), is a source (1), a flow may replace the block (1), is firm ground (1), covered sides (6)."""


class Flow(NamedTuple):
    """Result of one call of `flow`; cells are int32, x << 20 | z << 10 | y.

    Attributes:
        changed: Cells whose state has changed.
        water, lava: Cells whose fluid now needs a turn; a cell may appear more than once.
        washed: Cells of blocks that the flow washes away: the caller must break them, then fill them.
        fillings: int32: the new states of `washed`.
        minding: Cells next to changed cells whose blocks must react to the change.
    """

    changed: np.ndarray
    water: np.ndarray
    lava: np.ndarray
    washed: np.ndarray
    fillings: np.ndarray
    minding: np.ndarray


@njit(cache=True)
def _look(blocks, table, x, y, z):
    """The entry of `table` for a cell. Cells beside and below the world count as rock, cells above it as air."""
    sx, sz, sy = blocks.shape
    if x < 0 or x >= sx or z < 0 or z >= sz or y < 0:
        return 63 << 9 | 1 << 8
    if y >= sy:
        return 1 << 7
    return table[blocks[x, z, y]]


@njit(cache=True)
def _passes(here, there, side):
    return not (here >> 9 + side & 1 or there >> 9 + (side ^ 1) & 1)


@njit(cache=True)
def _made(blocks, table, x, y, z, kind):
    """Level of the fluid that flows into a cell from its neighbours: -1 for no fluid, 0 a source, 8 falling."""
    own = _look(blocks, table, x, y, z)
    most = sources = 0
    for side in range(2, 6):
        dx = -1 if side == 4 else 1 if side == 5 else 0
        dz = -1 if side == 2 else 1 if side == 3 else 0
        near = _look(blocks, table, x + dx, y, z + dz)
        if near & 3 == kind and _passes(own, near, side):
            sources += near >> 6 & 1
            most = max(most, near >> 2 & 15)
    if kind == 1 and sources >= 2:
        below = _look(blocks, table, x, y - 1, z)
        if below >> 8 & 1 or (below & 3 == kind and below >> 6 & 1):
            return 0
    above = _look(blocks, table, x, y + 1, z)
    if above & 3 == kind and _passes(own, above, 1):
        return 8
    left = most - kind  # water thins by one, lava by two
    return 8 - left if left > 0 else -1


@njit(cache=True)
def _is_drop(blocks, table, x, y, z, kind):
    below = _look(blocks, table, x, y - 1, z)
    return _passes(_look(blocks, table, x, y, z), below, 0) and (below & 3 == kind or (below >> 7 & 1) == 1)


@njit(cache=True)
def _ways(blocks, table, x, y, z, kind):
    """Bits of the sides to which a fluid flows: those on a shortest way to a drop, or all open sides if no drop is near."""
    own = _look(blocks, table, x, y, z)
    reach = 4 if kind == 1 else 2
    seen = np.zeros((11, 11), np.uint8)  # sides that a cell was reached from, by the first step; the middle is (x, z)
    seen[5, 5] = 255
    cells = np.empty(128, np.int32)
    num = 0
    is_open = 0
    for side in range(2, 6):
        dx = -1 if side == 4 else 1 if side == 5 else 0
        dz = -1 if side == 2 else 1 if side == 3 else 0
        near = _look(blocks, table, x + dx, y, z + dz)
        if near >> 7 & 1 and not (near & 3 == kind and near >> 6 & 1) and _passes(own, near, side):
            is_open |= 1 << side
            seen[5 + dx, 5 + dz] = 1 << side
            cells[num] = (5 + dx) << 4 | (5 + dz)
            num += 1
    start = 0
    for depth in range(reach + 1):
        end = num
        found = 0
        for i in range(start, end):
            u, w = cells[i] >> 4, cells[i] & 15
            if _is_drop(blocks, table, x + u - 5, y, z + w - 5, kind):
                found |= seen[u, w]
        if found:
            return found
        if depth == reach:
            break
        for i in range(start, end):
            u, w = cells[i] >> 4, cells[i] & 15
            here = _look(blocks, table, x + u - 5, y, z + w - 5)
            for side in range(2, 6):
                nu = u + (-1 if side == 4 else 1 if side == 5 else 0)
                nw = w + (-1 if side == 2 else 1 if side == 3 else 0)
                if seen[nu, nw]:
                    # Reached at this depth by two first steps: both lead there.
                    for k in range(end, num):
                        if cells[k] == nu << 4 | nw:
                            seen[nu, nw] |= seen[u, w]
                    continue
                near = _look(blocks, table, x + nu - 5, y, z + nw - 5)
                if near >> 7 & 1 and not (near & 3 == kind and near >> 6 & 1) and _passes(here, near, side):
                    seen[nu, nw] = seen[u, w]
                    cells[num] = nu << 4 | nw
                    num += 1
        start = end
    return is_open


@njit(cache=True)
def _note(blocks, table, minds, changed, due, num_due, minding, num_minding):
    """List the fluids in and around changed cells that need a turn, and the blocks that react; return the number of blocks."""
    sx, sz, sy = blocks.shape
    for cell in changed:
        x, z, y = cell >> 20, cell >> 10 & 1023, cell & 1023
        for side in range(7):
            nx = x + (-1 if side == 4 else 1 if side == 5 else 0)
            nz = z + (-1 if side == 2 else 1 if side == 3 else 0)
            ny = y + (-1 if side == 0 else 1 if side == 1 else 0)
            if nx < 0 or nx >= sx or nz < 0 or nz >= sz or ny < 0 or ny >= sy:
                continue
            state = blocks[nx, nz, ny]
            fluid = table[state] & 3
            if fluid:
                due[fluid, num_due[fluid]] = nx << 20 | nz << 10 | ny
                num_due[fluid] += 1
            if fluid == 2 or minds[state]:
                minding[num_minding] = nx << 20 | nz << 10 | ny
                num_minding += 1
    return num_minding


@njit(cache=True)
def _flow(blocks, table, minds, cells, firsts, stone):
    most = cells.size * 6 + 6
    changed = np.empty(most, np.int32)
    due = np.empty((3, most * 7), np.int32)
    washed = np.empty(most, np.int32)
    fillings = np.empty(most, np.int32)
    minding = np.empty(most * 6, np.int32)
    num_changed = num_washed = num_minding = 0
    num_due = np.zeros(3, np.int64)
    for i in range(cells.size):
        x, z, y = cells[i] >> 20, cells[i] >> 10 & 1023, cells[i] & 1023
        own = table[blocks[x, z, y]]
        kind = own & 3
        if kind == 0:
            continue
        first = firsts[kind]
        first_changed = num_changed
        if not own >> 6 & 1:
            level = _made(blocks, table, x, y, z, kind)
            state = 0 if level < 0 else first + level
            if state != blocks[x, z, y]:
                blocks[x, z, y] = state
                changed[num_changed] = cells[i]
                num_changed += 1
            own = table[state]
        if own & 3:
            # Down first; to the sides if that is barred, or from among three sources.
            down = _look(blocks, table, x, y - 1, z)
            free = down >> 7 & 1 and y > 0 and _passes(own, down, 0)
            sideways = False
            if free and (down & 3 == 0 or (kind == 2 and down & 3 == 1)):
                if down & 3:
                    blocks[x, z, y - 1] = stone  # lava falls into water
                    changed[num_changed] = x << 20 | z << 10 | y - 1
                    num_changed += 1
                elif blocks[x, z, y - 1] == 0:
                    level = _made(blocks, table, x, y - 1, z, kind)
                    blocks[x, z, y - 1] = first + max(0, level)
                    changed[num_changed] = x << 20 | z << 10 | y - 1
                    num_changed += 1
                else:
                    washed[num_washed] = x << 20 | z << 10 | y - 1
                    fillings[num_washed] = first + 8
                    num_washed += 1
                sources = 0
                for side in range(2, 6):
                    dx = -1 if side == 4 else 1 if side == 5 else 0
                    dz = -1 if side == 2 else 1 if side == 3 else 0
                    near = _look(blocks, table, x + dx, y, z + dz)
                    sources += near & 3 == kind and near >> 6 & 1
                sideways = sources >= 3
            else:
                sideways = own >> 6 & 1 or not _is_drop(blocks, table, x, y, z, kind)
            falling = blocks[x, z, y] - first == 8 and not own >> 6 & 1
            if sideways and (falling or (own >> 2 & 15) > kind):
                wanted = 0
                for side in range(2, 6):
                    dx = -1 if side == 4 else 1 if side == 5 else 0
                    dz = -1 if side == 2 else 1 if side == 3 else 0
                    near = _look(blocks, table, x + dx, y, z + dz)
                    if near >> 7 & 1 and near & 3 == 0 and _passes(own, near, side):
                        wanted |= 1 << side
                if wanted:
                    wanted &= _ways(blocks, table, x, y, z, kind)
                for side in range(2, 6):
                    if not wanted >> side & 1:
                        continue
                    nx = x + (-1 if side == 4 else 1 if side == 5 else 0)
                    nz = z + (-1 if side == 2 else 1 if side == 3 else 0)
                    level = _made(blocks, table, nx, y, nz, kind)
                    if level < 0:
                        continue
                    if blocks[nx, nz, y] == 0:
                        blocks[nx, nz, y] = first + level
                        changed[num_changed] = nx << 20 | nz << 10 | y
                        num_changed += 1
                    else:
                        washed[num_washed] = nx << 20 | nz << 10 | y
                        fillings[num_washed] = first + level
                        num_washed += 1
        num_minding = _note(blocks, table, minds, changed[first_changed:num_changed], due, num_due, minding, num_minding)
    return (
        changed[:num_changed],
        due[1, : num_due[1]],
        due[2, : num_due[2]],
        washed[:num_washed],
        fillings[:num_washed],
        minding[:num_minding],
    )


_FIRSTS = np.array([0, WATER_SOURCE, LAVA_SOURCE], np.int32)
_STONE = state_of("stone")


def flow(blocks: np.ndarray, cells: np.ndarray, minds: np.ndarray) -> Flow:
    """Move the fluids of some cells, one after the other, in place; the caller must update light and distances.

    Args:
        blocks: uint16, shape (SX, SZ, SY).
        cells: int32, shape (N,), x << 20 | z << 10 | y: the cells whose turn it is; cells without fluid are skipped.
        minds: bool, shape (NUM_STATES,): states of blocks that react when a neighbour changes.
    """
    return Flow(*_flow(blocks, FLUID, minds, cells, _FIRSTS, _STONE))


def hardened(blocks: np.ndarray, x: int, y: int, z: int) -> int | None:
    """State that lava in a cell becomes if water is beside or above it: obsidian or cobblestone; None without water."""
    sx, sz, sy = blocks.shape
    for nx, ny, nz in ((x, y + 1, z), (x, y, z - 1), (x, y, z + 1), (x - 1, y, z), (x + 1, y, z)):
        if 0 <= nx < sx and 0 <= nz < sz and ny < sy and FLUID[blocks[nx, nz, ny]] & 3 == WATER:
            return _OBSIDIAN if blocks[x, z, y] == LAVA_SOURCE else _COBBLESTONE
    return None


_OBSIDIAN, _COBBLESTONE = state_of("obsidian"), state_of("cobblestone")
