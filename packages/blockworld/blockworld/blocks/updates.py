"""What happens by itself in the blocks after one of them changed, and as time goes by.

Whoever changes a block tells `Updates.changed`, which looks at the cell and its six neighbours: what lost its support breaks,
fences and stairs join, sand and fluids get a turn some ticks later. `Updates.tick` gives those turns and the random ones. Order
is always that in which things came about, so that the same world goes the same way again.

Redstone is not simulated: levers, buttons and plates change their own state only.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

from blockworld.blocks import falling, fire, growth, supports
from blockworld.blocks.breaking import break_block
from blockworld.blocks.falling import TICKS_PER_CELL
from blockworld.errors import WorldError
from blockworld.grid import connections, fluids
from blockworld.grid.connections import SIDE_OF, SIDES
from blockworld.grid.fluids import DELAYS, FLUID, LAVA, WATER
from blockworld.grid.grid import Grid
from blockworld.registry.blocks import AIR, BLOCK_OF, BLOCKS, NUM_BOXES, block_of, change, name_of, properties_of, state_of
from blockworld.state import Stack

if TYPE_CHECKING:
    from blockworld.world import World

_NOTHING, _FALLS, _POWDER, _TRODDEN, _FIRE, _BUTTON, _STEM, _VINE = range(8)
_BUTTON_TICKS = {"stone_button": 20, "polished_blackstone_button": 20}
_WOODEN_BUTTON_TICKS = 30
_DIRT = state_of("dirt")


def _reaction(name: str, falls: bool) -> int:
    if name.endswith("_concrete_powder"):
        return _POWDER
    if falls:
        return _FALLS
    if name in ("farmland", "grass_path"):
        return _TRODDEN
    if name == "fire":
        return _FIRE
    if name.endswith("_button"):
        return _BUTTON
    if name in ("attached_pumpkin_stem", "attached_melon_stem"):
        return _STEM
    return _VINE if name == "vine" else _NOTHING


_REACTIONS = tuple(_reaction(block.name, falls) for block, falls in zip(BLOCKS, falling.FALLS, strict=True))

MINDS: np.ndarray = np.array(
    [
        support is not None or join is not None or reaction != _NOTHING
        for support, join, reaction in zip(supports.RULES, connections.RULES, _REACTIONS, strict=True)
    ]
)[BLOCK_OF]
"""bool, shape (NUM_STATES,): whether a state wants to know when a neighbour changes; fluids aside."""
_MINDS_OR_FLOWS_TABLE = MINDS | (FLUID & 3 != 0)
_MINDS_OR_FLOWS = _MINDS_OR_FLOWS_TABLE.tobytes()


class _Turns:
    """Cells whose turn is to come, in order; a cell that waits already keeps its turn."""

    def __init__(self) -> None:
        self.due: dict[int, list[int]] = {}
        self.waiting: set[int] = set()

    def add(self, tick: int, cell: int) -> None:
        if cell not in self.waiting:
            self.waiting.add(cell)
            self.due.setdefault(tick, []).append(cell)

    def take(self, tick: int) -> list[int]:
        cells = self.due.pop(tick, None)
        if cells is None:
            return []
        self.waiting.difference_update(cells)
        return cells

    def state(self) -> list[list[Any]]:
        return [[tick, cells[:]] for tick, cells in sorted(self.due.items())]

    def load(self, state: list[list[Any]]) -> None:
        self.due = {int(tick): [int(cell) for cell in cells] for tick, cells in state}
        self.waiting = {cell for cells in self.due.values() for cell in cells}


def _pack(x: int, y: int, z: int) -> int:
    return x << 20 | z << 10 | y


def _unpack(cell: int) -> tuple[int, int, int]:
    return cell >> 20, cell & 1023, cell >> 10 & 1023


class Updates:
    """What is still to happen in the blocks of one world.

    Attributes:
        ticks: Ticks so far.
    """

    def __init__(self) -> None:
        self.ticks = 0
        self._blocks = _Turns()
        self._fluids = {WATER: _Turns(), LAVA: _Turns()}
        self._moving: set[int] = set()
        self._waiting: deque[tuple[int, int, int, bool, int | None]] = deque()
        self._busy = False

    def changed(self, world: World, x: int, y: int, z: int, before: int, after: int) -> None:
        """Let a cell and its neighbours react to a change that has just been made.

        The cell itself joins, falls or flows, but is not asked for support: it may be placed before what holds it.
        """
        if before == after:
            return
        self._waiting.append((x, y, z, True, before))
        self._settle(world)

    def changed_box(self, world: World, x0: int, y0: int, z0: int, before: np.ndarray) -> None:
        """The same after many cells of a box were changed at once, low corner first.

        Args:
            x0, y0, z0: The low corner.
            before: uint16, (x, z, y): the states that the cells of the box had.
        """
        blocks = world.grid.blocks
        width, depth, height = before.shape
        now = blocks[x0 : x0 + width, z0 : z0 + depth, y0 : y0 + height]
        low = max(0, x0 - 1), max(0, z0 - 1), max(0, y0 - 1)
        around = _MINDS_OR_FLOWS_TABLE[blocks[low[0] : x0 + width + 1, low[1] : z0 + depth + 1, low[2] : y0 + height + 1]]
        wide = np.zeros((width + 2, depth + 2, height + 2), np.bool_)  # the same with a border where the world ends
        offset = low[0] - x0 + 1, low[1] - z0 + 1, low[2] - y0 + 1
        wide[tuple(slice(start, start + size) for start, size in zip(offset, around.shape, strict=True))] = around
        asked = wide[1:-1, 1:-1, 1:-1].copy()
        for axis in range(3):
            for side in (slice(None, -2), slice(2, None)):
                asked |= wide[tuple(side if one == axis else slice(1, -1) for one in range(3))]
        for dx, dz, dy in np.argwhere(asked & (now != before)).tolist():
            self._waiting.append((x0 + dx, y0 + dy, z0 + dz, True, int(before[dx, dz, dy])))
        self._settle(world)

    def schedule(self, x: int, y: int, z: int, ticks: int) -> None:
        """Give the block of a cell a turn in some ticks, at least 1."""
        self._blocks.add(self.ticks + max(1, ticks), _pack(x, y, z))

    def tick(self, world: World) -> None:
        """One tick: the turns that are due, of blocks, water and lava; then random ones."""
        self.ticks += 1
        for cell in self._blocks.take(self.ticks):
            self._turn(world, cell)
        for kind in (WATER, LAVA):
            cells = self._fluids[kind].take(self.ticks)
            if cells:
                self._flow(world, cells)
        growth.random_ticks(world)

    def state(self) -> dict[str, Any]:
        """All there is to remember, as JSON values."""
        return {
            "ticks": self.ticks,
            "blocks": self._blocks.state(),
            "water": self._fluids[WATER].state(),
            "lava": self._fluids[LAVA].state(),
            "moving": sorted(self._moving),
        }

    def load(self, state: dict[str, Any]) -> None:
        """Go on from what `state` gave.

        Raises:
            WorldError: If it is nothing that `state` gives.
        """
        other = Updates()
        try:
            other.ticks = int(state["ticks"])
            other._blocks.load(state["blocks"])
            other._fluids[WATER].load(state["water"])
            other._fluids[LAVA].load(state["lava"])
            other._moving = {int(cell) for cell in state["moving"]}
        except (KeyError, TypeError, ValueError) as error:
            raise WorldError(f"these are not updates of a world ({error!r}); give what Updates.state() returned") from error
        self.__dict__.update(other.__dict__)

    def _settle(self, world: World) -> None:
        """Work off the changes: those made on the way wait in line, so that nothing nests deeper and deeper."""
        if self._busy:
            return
        self._busy = True
        waiting, blocks = self._waiting, world.grid.blocks
        sx, sz, sy = blocks.shape
        try:
            while waiting:
                x, y, z, itself, before = waiting.popleft()
                if _MINDS_OR_FLOWS[blocks[x, z, y]]:
                    self._react(world, x, y, z, itself)
                if not itself:
                    continue
                for dx, dy, dz in SIDES:
                    nx, ny, nz = x + dx, y + dy, z + dz
                    inside = 0 <= nx < sx and 0 <= nz < sz and 0 <= ny < sy
                    if inside and _MINDS_OR_FLOWS[blocks[nx, nz, ny]]:
                        self._react(world, nx, ny, nz, False, (x, y, z, before) if before is not None else None)
        finally:
            waiting.clear()
            self._busy = False

    def _react(
        self, world: World, x: int, y: int, z: int, itself: bool, cause: tuple[int, int, int, int] | None = None
    ) -> None:
        """Let the block of a cell react to a change of its own (`itself`) or of a neighbour.

        Args:
            cause: Cell of the neighbour and what was there, where known.
        """
        grid = world.grid
        state = int(grid.blocks[x, z, y])
        block = BLOCK_OF[state]
        fluid = int(FLUID[state]) & 3
        if fluid:
            if fluid == LAVA and (hard := fluids.hardened(grid.blocks, x, y, z)) is not None:
                world.set_block(x, y, z, hard)
                return
            self._fluids[fluid].add(self.ticks + DELAYS[fluid], _pack(x, y, z))
        support = supports.RULES[block]
        if support is not None and not itself and not support(grid, x, y, z, state):
            # What hung in the air before, put there by a command, stays: only what held it can make it fall. Sugar cane also
            # depends on water that is not beside it.
            if cause is None or name_of(state) == "sugar_cane" or _held_before(grid, x, y, z, state, support, cause):
                _break(world, x, y, z)
            return
        join = connections.RULES[block]
        if join is not None:
            new = join(grid, x, y, z, state)
            if new != state:
                world.set_block(x, y, z, new)
            return
        reaction = _REACTIONS[block]
        if reaction != _NOTHING:
            self._special(world, x, y, z, state, reaction)

    def _special(self, world: World, x: int, y: int, z: int, state: int, reaction: int) -> None:
        """What only few blocks do when something near them changes."""
        grid = world.grid
        if reaction == _POWDER and _touches_water(grid, x, y, z):
            world.set_block(x, y, z, state_of(name_of(state).removesuffix("_powder")))
        elif reaction in (_FALLS, _POWDER):
            if falling.can_fall(world, x, y, z) or _pack(x, y, z) in self._moving:
                self.schedule(x, y, z, TICKS_PER_CELL)
        elif reaction == _TRODDEN:
            above = grid.get(x, y + 1, z)
            if NUM_BOXES[above] and not name_of(above).endswith("_fence_gate"):
                world.set_block(x, y, z, _DIRT)
        elif reaction == _FIRE:
            if _pack(x, y, z) not in self._blocks.waiting:
                self.schedule(x, y, z, fire.delay(world))
        elif reaction == _BUTTON:
            if properties_of(state)["powered"] == "true":
                self.schedule(x, y, z, _BUTTON_TICKS.get(name_of(state), _WOODEN_BUTTON_TICKS))
        elif reaction == _STEM:
            dx, _, dz = SIDES[SIDE_OF[properties_of(state)["facing"]]]
            stem = name_of(state).removeprefix("attached_")
            if name_of(grid.get(x + dx, y, z + dz)) != stem.removesuffix("_stem"):
                world.set_block(x, y, z, state_of(stem, age="7"))
        elif reaction == _VINE:
            new = change(state, **supports.vine_faces(grid, x, y, z, state))
            if new != state and "true" in properties_of(new).values():
                world.set_block(x, y, z, new)

    def _turn(self, world: World, cell: int) -> None:
        """A turn that a block asked for."""
        x, y, z = _unpack(cell)
        state = int(world.grid.blocks[x, z, y])
        reaction = _REACTIONS[BLOCK_OF[state]]
        moving = cell in self._moving
        self._moving.discard(cell)
        if reaction in (_FALLS, _POWDER):
            self._moving.add(_pack(x, y - 1, z))
            if not falling.fall(world, x, y, z, moving):
                self._moving.discard(_pack(x, y - 1, z))
        elif reaction == _FIRE:
            if fire.burn(world, x, y, z) and name_of(world.grid.get(x, y, z)) == "fire":
                self.schedule(x, y, z, fire.delay(world))
        elif reaction == _BUTTON and properties_of(state)["powered"] == "true":
            world.set_block(x, y, z, change(state, powered="false"))

    def _flow(self, world: World, cells: list[int]) -> None:
        """A turn of the fluids of some cells."""
        grid = world.grid
        done = fluids.flow(grid.blocks, np.array(cells, np.int32), MINDS)
        if done.changed.size:
            grid.changed_cells(done.changed)
        for kind, due in ((WATER, done.water), (LAVA, done.lava)):
            turns, tick = self._fluids[kind], self.ticks + DELAYS[kind]
            for cell in dict.fromkeys(due.tolist()):
                turns.add(tick, cell)
        for cell, filling in zip(done.washed.tolist(), done.fillings.tolist(), strict=True):
            x, y, z = _unpack(cell)
            if FLUID[grid.get(x, y, z)] >> 7 & 1 and grid.get(x, y, z) != AIR:
                _break(world, x, y, z, drop=int(FLUID[filling]) & 3 == WATER)
            if grid.get(x, y, z) == AIR:
                world.set_block(x, y, z, filling)
        self._waiting.extend((*_unpack(cell), False, None) for cell in dict.fromkeys(done.minding.tolist()))
        self._settle(world)


def _break(world: World, x: int, y: int, z: int, drop: bool = True) -> None:
    """Break what has lost its support: no hand did it, so that it drops even what a bare hand would not get."""
    fits = sorted(name for name in block_of(world.grid.get(x, y, z)).tools if name.endswith(("_pickaxe", "_sword")))
    break_block(world, x, y, z, Stack(fits[0]) if fits else None, drop)


def _held_before(grid: Grid, x: int, y: int, z: int, state: int, support: Any, cause: tuple[int, int, int, int]) -> bool:
    """Whether a block had its support before a neighbour changed."""
    nx, ny, nz, before = cause
    now = grid.blocks[nx, nz, ny]
    grid.blocks[nx, nz, ny] = before
    held = bool(support(grid, x, y, z, state))
    grid.blocks[nx, nz, ny] = now
    return held


def _touches_water(grid: Grid, x: int, y: int, z: int) -> bool:
    return any(int(FLUID[grid.get(x + dx, y + dy, z + dz)]) & 3 == WATER for dx, dy, dz in SIDES[1:])
