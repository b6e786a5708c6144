"""Find ways in the block world: on foot, swimming, through doors, and by digging through rock.

Dijkstra's algorithm searches the cells with room to stand in; costs are in ticks. A step goes to one of eight neighbours, at
most 1 up (a jump) and 3 down (without harm), or up and down a ladder. An obstacle costs the ticks needed to clear it.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection, Iterable

import numpy as np
from numba import njit

from blockworld import Position, compiling
from blockworld.grid import Grid
from blockworld.registry import NUM_BOXES, NUM_STATES, block_of, name_of, per_block, state_of
from blockworld.terrain import caves

compiling.register(__file__)

NEVER = -1.0
CLIMBED: np.ndarray = per_block({"ladder": True}, False, np.bool_)
"""Whether players can climb in a block: bool for each block state."""
PASSABLE: np.ndarray = caves.PASSABLE | CLIMBED
STANDABLE: np.ndarray = caves.STANDABLE & ~CLIMBED
_SHUT = state_of("fire")
_LIQUID: np.ndarray = per_block({"water": 1, "lava": 2}, 0, np.uint8)
_BAD: np.ndarray = per_block(
    dict.fromkeys(("lava", "cactus", "fire", "magma_block", "sweet_berry_bush", "campfire", "cobweb"), True), False, np.bool_
)
_LOOSE: np.ndarray = per_block(dict.fromkeys(("sand", "gravel", "red_sand"), True), False, np.bool_)


_IS_DOOR = np.array([name_of(state).endswith(("_door", "_fence_gate")) for state in range(NUM_STATES)])
_WALKING: np.ndarray = np.where(PASSABLE, np.where(_IS_DOOR, 8.0, 0.0), NEVER).astype(np.float32)
"""Cost of walking through a block, float32 for each state: 0 if passable, 8 for doors and gates, `NEVER` for obstacles."""


def digging_costs(speeds: dict[str, float]) -> np.ndarray:
    """Costs of walking, where the blocks of `speeds` (block -> ticks to mine it) may also be dug: float32 for each state."""
    costs = _WALKING.copy()
    for state in range(NUM_STATES):
        if costs[state] == NEVER and name_of(state) in speeds and block_of(state).hardness is not None:
            costs[state] = speeds[name_of(state)]
    return costs


@njit(cache=True)
def _clear(blocks, costs, x, y, z):  # type: ignore[no-untyped-def]
    """Ticks to clear a cell so that the body fits; -1 if this is impossible. Cells beside a liquid are never dug."""
    sx, sz, sy = blocks.shape
    if x < 1 or z < 1 or x >= sx - 1 or z >= sz - 1 or y < 1 or y >= sy - 1:
        return -1.0
    state = blocks[x, z, y]
    if _LIQUID[state] == 1:
        return 4.0
    cost = costs[state]
    if cost > 0.0 and NUM_BOXES[state] > 0 and not PASSABLE[state]:
        wet = _LIQUID[blocks[x + 1, z, y]] + _LIQUID[blocks[x - 1, z, y]] + _LIQUID[blocks[x, z + 1, y]]
        wet += _LIQUID[blocks[x, z - 1, y]] + _LIQUID[blocks[x, z, y + 1]] + _LIQUID[blocks[x, z, y - 1]]
        if wet > 0:
            return -1.0
        if _LOOSE[blocks[x, z, y + 1]]:
            return cost + 30.0
    return cost


@njit(cache=True)
def _is_nearer(far, start, there, cost):  # type: ignore[no-untyped-def]
    """Whether a cell is reached for the first time, or at a lower cost than before."""
    return np.float32(cost) < far[there] or (far[there] == 0.0 and there != start)


@njit(cache=True)
def _search(blocks, costs, start, goals, most, around, light, dark, far, parent):  # type: ignore[no-untyped-def]
    """Search from a start until a goal is reached; return this goal, or -1. Fill `far` (ticks) and `parent` (flat cell + 1) of
    each reached cell; both stay 0 elsewhere."""
    sx, sz, sy = blocks.shape
    queue = [(np.float32(0.0), np.int64(start))]
    mid_x, mid_z = start // (sz * sy), start // sy % sz
    while len(queue):
        cost, here = heapq.heappop(queue)
        if cost > far[here]:
            continue
        if goals[here]:
            return here
        if cost > most:
            break
        x, z, y = here // (sz * sy), here // sy % sz, here % sy
        swims = _LIQUID[blocks[x, z, y]] == 1
        for way in range(9):
            dx = 0 if way == 8 else (way % 3 - 1 if way < 3 else (-1 if way == 3 else (1 if way == 4 else way - 6)))
            dz = 0 if way == 8 else (-1 if way < 3 else (0 if way < 5 else 1))
            a, b = x + dx, z + dz
            slanted = dx != 0 and dz != 0
            if a < 1 or b < 1 or a >= sx - 1 or b >= sz - 1 or abs(a - mid_x) > around or abs(b - mid_z) > around:
                continue
            step = 6.5 if slanted else 4.6
            column = (a * sz + b) * sy
            if slanted and not _is_nearer(far, start, column + y, cost + step):
                continue
            if slanted and (
                _clear(blocks, costs, a, y, z) != 0.0
                or _clear(blocks, costs, a, y + 1, z) != 0.0
                or _clear(blocks, costs, x, y, b) != 0.0
                or _clear(blocks, costs, x, y + 1, b) != 0.0
            ):
                continue
            for up in range(1, -4, -1):
                h = y + up
                climbs = way == 8 and up == 1 and CLIMBED[blocks[x, z, y]]
                if h < 2 or h >= sy - 3 or (slanted and up != 0) or (way == 8 and up != -1 and not climbs):
                    continue
                there = column + h
                if not _is_nearer(far, start, there, cost + step):
                    continue  # whatever else it costs
                total = 0.0
                wet = _LIQUID[blocks[a, b, h]] == 1
                if not wet and not STANDABLE[blocks[a, b, h - 1]] and not CLIMBED[blocks[a, b, h]]:
                    continue
                blocked = False
                for k in range(min(h, y), max(h, y) + 2):
                    # the cells one passes: those of the new column from the lower feet to the higher head
                    if way == 8 and k >= y:
                        continue
                    if k < h:
                        continue
                    part = _clear(blocks, costs, a, k, b)
                    if part < 0.0:
                        blocked = True
                        break
                    total += part
                if blocked:
                    continue
                if up == 1:
                    part = _clear(blocks, costs, x, y + 2, z)
                    if part < 0.0:
                        continue
                    total += part + 3.0
                    if swims and _LIQUID[blocks[x, z, y + 1]] == 1:
                        continue
                if wet and _LIQUID[blocks[a, b, h + 1]] == 1 and not swims:
                    continue
                total += step
                if up < 0:
                    total += 1.5 * -up
                if way == 8:
                    total += 12.0
                if wet:
                    total += 6.0
                if light[a, b, h] < 80 and PASSABLE[blocks[a, b, h]]:  # sky light below 5: an open cave
                    total += dark
                if not _is_nearer(far, start, there, cost + total):
                    continue
                for k in range(h - 1, h + 2):
                    if (
                        _BAD[blocks[a + 1, b, k]]
                        or _BAD[blocks[a - 1, b, k]]
                        or _BAD[blocks[a, b + 1, k]]
                        or _BAD[blocks[a, b - 1, k]]
                    ):
                        total += 25.0
                if _is_nearer(far, start, there, cost + total):
                    new = np.float32(cost + total)
                    far[there] = new
                    parent[there] = here + 1
                    heapq.heappush(queue, (new, np.int64(there)))
    return -1


class Routes:
    """Ways from one cell through the present blocks.

    Args:
        start: Cell of the feet.
        goals: The search stops at the nearest goal (`goal`; None if unreachable). Without goals: all cells within `most`.
        costs: float32 for each state, from `digging_costs`; None to walk only.
        most: Maximum cost of a way in ticks.
        around: Maximum distance of a way from the start, in blocks along each axis.
        dark: Additional ticks for each cell of a dark cave, where monsters are.
        shut: Cells that no way may cross.
    """

    def __init__(
        self,
        grid: Grid,
        start: Position,
        goals: Iterable[Position] | None,
        *,
        costs: np.ndarray | None = None,
        most: float = 4000.0,
        around: int = 256,
        dark: float = 0.0,
        shut: Collection[Position] = (),
    ) -> None:
        blocks = grid.blocks.copy() if shut else grid.blocks
        for x, y, z in shut:
            blocks[x, z, y] = _SHUT
        self._shape = blocks.shape
        wanted = np.zeros(blocks.size, np.bool_)
        cells = np.array(list(goals or ()), np.int64).reshape(-1, 3)[:, [0, 2, 1]]
        inside = ((cells >= 0) & (cells < self._shape)).all(axis=1)
        wanted[np.ravel_multi_index(tuple(cells[inside].T), self._shape)] = True
        self.costs = _WALKING if costs is None else costs
        self._start = self._flat(start)
        # Zeros, not infinities: the system gives memory only for what is written, of a land of 8 million cells.
        self._far, self._parent = np.zeros(blocks.size, np.float32), np.zeros(blocks.size, np.int32)
        found = _search(blocks, self.costs, self._start, wanted, most, around, grid.light, dark, self._far, self._parent)
        self.goal: Position | None = None if found < 0 else self._cell(int(found))

    def _flat(self, cell: Position) -> int:
        x, y, z = cell
        return (x * self._shape[1] + z) * self._shape[2] + y

    def _cell(self, flat: int) -> Position:
        _, sz, sy = self._shape
        return flat // (sz * sy), flat % sy, flat // sy % sz

    def cost(self, cell: Position) -> float:
        """Cost of the way to a cell in ticks; infinite if the cell was not reached."""
        flat = self._flat(cell)
        return float(self._far[flat]) if self._far[flat] > 0 or flat == self._start else math.inf

    def reached(self) -> np.ndarray:
        """Return x, y, z of all reached cells, sorted by x, then z, then y: int64, shape (N, 3)."""
        _, sz, sy = self._shape
        flat = np.flatnonzero(self._far > 0)
        flat = np.insert(flat, np.searchsorted(flat, self._start), self._start)
        return np.stack([flat // (sz * sy), flat % sy, flat // sy % sz], axis=1)

    def way(self, cell: Position | None = None) -> list[Position]:
        """Cells of the way to a cell (by default the goal), without the start; empty if there is no way."""
        at = self.goal if cell is None else cell
        if at is None or math.isinf(self.cost(at)):
            return []
        found, flat = [], self._flat(at)
        while self._parent[flat] > 0:
            found.append(self._cell(int(flat)))
            flat = self._parent[flat] - 1
        return found[::-1]
