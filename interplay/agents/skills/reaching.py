"""Reach a cell: go to a place from which the crosshair meets a block, clear the way to the block, and place blocks."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Generator, Sequence
from itertools import product

import numpy as np

from blockworld import EYE_HEIGHT, REACH, Action, Position, break_ticks, is_replaceable
from blockworld.grid import physics
from blockworld.registry import BLOCKS, NUM_BOXES, can_harvest, name_of, speed_on
from interplay.agents.skills.body import USED, Acts, Body
from interplay.agents.skills.navigation import NEVER, Routes, digging_costs

Eye = tuple[float, float, float]
MOST_DIG_TICKS = 160.0
"""Paths avoid blocks that take more ticks than this to dig."""
AROUND = 48
"""Paths are searched within this many blocks of the player."""
_TRIES = 4


def digging(body: Body) -> np.ndarray:
    """Ticks to clear a cell with the best carried tool, float32 for each state, for `Routes`; usable blocks are not mined."""
    tools = [None, *(stack for stack in body.world.player.slots if stack is not None)]
    speeds = {}
    for block in BLOCKS:
        if block.hardness is None or block.name.endswith(USED) or block.name in body.spared:
            continue
        ticks = min(block.hardness * (30 if can_harvest(block, tool) else 100) / speed_on(block, tool) for tool in tools)
        if ticks <= MOST_DIG_TICKS:
            speeds[block.name] = ticks + 8.0
    return digging_costs(speeds)


def spots(
    body: Body,
    near: Position,
    fits: Callable[[Eye], bool],
    *,
    costs: np.ndarray | None = None,
    avoid: Collection[Position] = (),
    reach: float = REACH + 1.0,
    most: int = 8,
) -> list[Position]:
    """Return cells to stand in for which `fits(eye)` is true; cells that are reached sooner come first.

    The cells are within `reach` of the middle of the cell `near`, and not in `avoid`. With `costs` from `digging`, the player
    may dig on the way; with None, only walk.
    """
    routes = Routes(body.world.grid, body.footing, None, costs=costs, most=2000.0, around=AROUND, shut=body.shut)
    cells = routes.reached()
    eyes = np.add(cells, (0.5, EYE_HEIGHT, 0.5))
    close = np.linalg.norm(eyes - (near[0] + 0.5, near[1] + 0.5, near[2] + 0.5), axis=1) <= reach
    found: list[Position] = [(x, y, z) for x, y, z in cells[close].tolist()]
    chosen: list[Position] = []
    for x, y, z in sorted(found, key=routes.cost):
        if (x, y, z) not in avoid and fits((x + 0.5, y + EYE_HEIGHT, z + 0.5)):
            chosen.append((x, y, z))
            if len(chosen) == most:
                break
    return chosen


def come_to(body: Body, cell: Position, *, dig: bool = True) -> Acts:
    """Go to a place from which the crosshair meets a block; if the block is hidden and `dig` is set, clear the view first."""
    for _ in range(2):
        if body.aim(cell) is not None:
            return True
        for spot in spots(body, cell, lambda eye: body.aim(cell, eye=eye) is not None)[:_TRIES]:
            yield from body.walk(spot, tries=2)
            if body.aim(cell) is not None:
                return True
    if not dig:
        return False
    for costs in (None, digging(body)):
        if (yield from _uncover(body, cell, costs)):
            return True
    return False


def _uncover(body: Body, cell: Position, costs: np.ndarray | None) -> Acts:
    """Go to the place from which a block is easiest to uncover, and clear the obstacles."""
    clearing = digging(body)
    close = spots(body, cell, lambda eye: _dist(eye, cell) <= REACH - 0.2, costs=costs, most=200)
    dear = {(x, y, z): _hidden(body, (x + 0.5, y + EYE_HEIGHT, z + 0.5), cell, clearing) for x, y, z in close}
    for spot in sorted((one for one in close if math.isfinite(dear[one])), key=dear.__getitem__)[:2]:
        yield from body.walk(spot, costs=costs, tries=3)
        if (yield from clear_to(body, cell)):
            return True
    return False


def _dist(eye: Eye, cell: Position) -> float:
    return math.dist(eye, (cell[0] + 0.5, cell[1] + 0.5, cell[2] + 0.5))


def _hidden(body: Body, eye: Eye, cell: Position, clearing: np.ndarray) -> float:
    """Ticks needed to clear the line between an eye and the middle of a cell."""
    middle = np.array(cell) + 0.5
    line = eye + np.linspace(0.0, 1.0, 40)[:, None] * (middle - eye)
    total = 0.0
    for x, y, z in dict.fromkeys(map(tuple, np.floor(line).astype(int).tolist())):
        state = body.state(x, y, z)
        if (x, y, z) == cell or not NUM_BOXES[state]:
            continue
        ticks = 10.0 if name_of(state).endswith(_OPENED) else float(clearing[state])
        total += math.inf if ticks == NEVER else ticks
    return total


_OPENED = ("_door", "_trapdoor", "_fence_gate")


def clear_to(body: Body, cell: Position) -> Acts:
    """Open or mine the blocks between the eyes and a block within reach."""
    me, opened = body.world.player, set()
    for _ in range(10):
        if body.aim(cell) is not None:
            return True
        way = cell[0] + 0.5 - me.x, cell[1] + 0.5 - me.eye_y, cell[2] + 0.5 - me.z
        hit, *found = physics.ray(body.world.grid.blocks, me.x, me.eye_y, me.z, *way, REACH - 0.05, sources=False)
        there = (int(found[0]), int(found[1]), int(found[2]))
        if not hit or there == cell:
            return False
        if body.name(*there).endswith(_OPENED) and there not in opened and not body.name(*there).startswith("iron_"):
            opened.add(there)
            done = yield from body.use_on(there)
        else:
            able = body.name(*there) not in body.spared and break_ticks(body.world, body.state(*there)) is not None
            done = able and (yield from body.mine(there))
        if not done:
            return False
    return False


def place_at(body: Body, cell: Position, item: str) -> Acts:
    """Go to a place from which an item's block can be placed into a cell, and place it, if necessary over an edge."""
    against = list(body.sides(cell))

    def fits(eye: Eye) -> bool:
        return any(body.aim(base, (face,), into=cell, eye=eye) is not None for base, face in against)

    own = {cell, (cell[0], cell[1] - 1, cell[2])}
    if not against or not is_replaceable(body.state(*cell)):
        return False
    if not own & {body.footing, body.cell} and (yield from body.place(cell, item)):
        return True
    for spot in spots(body, cell, fits, avoid=own)[:3]:
        yield from body.walk(spot, tries=2)
        if (yield from body.place(cell, item)):
            return True
    for base, face in against:
        if physics.NORMALS[face][1] == 0 and (yield from _lean(body, base, face, cell, item)):
            return True
    return False


def _lean(body: Body, base: Position, face: int, cell: Position, item: str) -> Acts:
    """Stand on a block, sneak out over its edge, look back at its side, and place the item against this side."""
    if not (yield from body.hold(item)) or not (yield from body.walk((base[0], base[1] + 1, base[2]), tries=2)):
        return False
    nx, _, nz = physics.NORMALS[face]
    out = math.degrees(math.atan2(-nx, nz))
    before = body.state(*cell)
    for _ in range(30):
        yield body.turn(out, 70.0, forward=abs(body.off(out)) < 5.0, sneak=True)
    for _ in range(60):
        aimed = body.aim(base, (face,), into=cell)
        if aimed is None:
            break
        close = abs(body.off(aimed[0])) < 0.05 and abs(aimed[1] - body.world.player.pitch) < 0.05
        yield body.turn(*aimed, sneak=True)
        if close:
            yield Action(use=True, sneak=True)
            yield Action(sneak=True)
            break
    yield Action()
    return body.state(*cell) != before


def set_down(body: Body, item: str, *, dug: Collection[str] = ()) -> Generator[Action, None, Position | None]:
    """Put a table or furnace beside the player; blocks of `dug` are mined to make room. Return its place, or None."""
    x, y, z = body.footing
    for cell in [(x + dx, y + dy, z + dz) for dy in (0, 1, -1) for dx in range(-3, 4) for dz in range(-3, 4)]:
        if body.name(*cell) == item and body.aim(cell) is not None:
            return cell
    if not body.count(item):
        return None
    ways = [(1, 0), (-1, 0), (0, 1), (0, -1)]
    body.rng.shuffle(ways)
    cells = [(x + far * dx, y + up, z + far * dz) for far in (1, 2) for up in (0, 1) for dx, dz in ways]
    for dig in (False, True):
        for cell in cells:
            filled = not is_replaceable(body.state(*cell))
            if filled and not (dig and body.name(*cell) in dug and (yield from body.mine(cell))):
                continue
            if (yield from body.place(cell, item)) and body.name(*cell) == item:
                return cell
    return None


def nearest(body: Body, cells: Sequence[Position]) -> list[Position]:
    me = body.world.player
    return sorted(cells, key=lambda cell: _dist((me.x, me.eye_y, me.z), cell))


def boxed(low: Position, high: Position) -> list[Position]:
    return list(product(*(range(a, b + 1) for a, b in zip(low, high, strict=True))))  # type: ignore[arg-type]
