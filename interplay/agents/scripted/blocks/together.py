"""Partners in the block world: they do their share of a task for two, and the whole task if the other player does nothing.

A partner who takes over in the middle of a game continues from the present state of the work.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from blockworld import Player, Position, World, is_replaceable
from interplay.agents.scripted.blocks.build_village_house import (
    LADDER,
    WALL_HEIGHT,
    Lot,
    Stuff,
    centre,
    climb,
    course,
    descend,
    num_missing,
    put_all,
    weed,
)
from interplay.agents.scripted.blocks.create_village_animal_pen import Site, animals, bring, num_inside, swing
from interplay.agents.scripted.blocks.sites import free_ground, level_rectangles, near_boxes
from interplay.agents.skills.body import Acts, Body
from interplay.envs.voxel.checks.create_village_animal_pen import pens

PLANKS = Stuff("", "oak_planks", "oak_planks", "oak_planks", "", "oak_planks")
FLOOR = (-2, 9, 2, 13)
"""Stone floor of `build_house`: x0, z0, x1, z1, in blocks relative to the place where the first player starts."""
SHELTER = (5, 4)
"""Width and depth of the shelter; the planks of one player are enough for it."""
FIELD = 40
"""Paths, such as those to sheep, are searched within this many blocks of the player."""
RESTS = 200
"""Ticks to wait after an attempt that brought no sheep into the pen: perhaps the sheep cannot be reached."""
WAITS = 60
"""Ticks after which a player who has nothing to do looks again for something to do."""
LED_BLOCKS = 7.0
"""Distance in blocks: nearer animals follow a partner who holds food, if they are nearer to the partner than to the player."""
IDLE = 400
"""Ticks: if the others place no block for this long, the player also builds the others' side."""
LATEST = 5200
"""After this tick of the 6,000 of `keep_pen`, no more sheep are fetched, because open gates could spoil the result."""
PATIENCE = 400
"""Ticks for which the player watches the finished work before saying that it is done."""


def build_house(world: World, seat: int, rng: np.random.Generator) -> Acts:
    """Build the house of `blocks-two/build_house`, look at it from outside, and say that the task is done."""
    x, y, z = (math.floor(value) for value in world.spawn)
    x0, z0, x1, z1 = (place + moved for place, moved in zip((x, z, x, z), FLOOR, strict=True))
    return (yield from _house(Body(world, rng), lot_of(x0, z0, x1, z1, y, seat), inside=False))


def build_shelter(world: World, seat: int, rng: np.random.Generator) -> Acts:
    """Build the shelter of `together/build_shelter`, stay inside, and say that the task is done."""
    x, _, z = (math.floor(value) for value in world.spawn)
    good = free_ground(world, blocks=world.land.blocks)  # where it was free at first: who comes later finds the same place
    near = near_boxes(good.shape, [(x, z, x, z)], 20)
    width, depth = SHELTER
    sites = list(level_rectangles(world, good, near, width + 2, depth + 2))
    body = Body(world, rng)
    if not sites:
        return (yield from body.end())
    x0, z0, level = min(sites, key=lambda site: (math.dist((site[0] + 3.5, site[1]), (x, z)), site))
    lot = lot_of(x0 + 1, z0 + 1, x0 + width, z0 + depth, level + 1, seat)
    return (yield from _house(body, lot, inside=True))


def _house(body: Body, lot: Lot, *, inside: bool) -> Acts:
    body.kept = {"oak_planks", "glass_pane", LADDER}
    body.field = FIELD
    x, z = lot.base
    yield from body.walk([(x, lot.y + up, z) for up in range(3)])
    yield from weed(body, lot)
    yield from _raise(body, lot, whole=False)
    yield from _leave_to_the_others(body, lot)
    before = math.inf
    while 0 < num_missing(body, lot) < before:  # what nobody can see from inside stays open
        before = num_missing(body, lot)
        yield from _raise(body, _under_the_sky(body, lot), whole=True)
        yield from body.wait(20)
    if not inside:
        yield from body.walk((lot.door[0] + 3 * lot.out[0], lot.y, lot.door[1] + 3 * lot.out[1]))
        yield from body.look_at((lot.x0 + lot.x1 + 1) / 2, lot.y + 1.5, (lot.z0 + lot.z1 + 1) / 2)
    else:
        yield from body.walk((x, lot.y, z))
    yield from body.wait(PATIENCE)
    return (yield from body.end())


def lot_of(x0: int, z0: int, x1: int, z1: int, y: int, seat: int) -> Lot:
    """The lot of a house, with the column from which this seat builds; each seat has its own column."""
    middle = (x0 + x1) // 2, (z0 + z1) // 2
    lot = Lot(x0, z0, x1, z1, y, (middle[0], z0), (0, -1))
    return replace(lot, stand=(middle[0] + (1 if seat % 2 else -1), middle[1]))


def _under_the_sky(body: Body, lot: Lot) -> Lot:
    """Return the house with the other column to build from, if this column is already under the roof and the other is not."""
    (x, z), roof = lot.base, lot.y + WALL_HEIGHT
    other = 2 * lot.middle[0] - x, z
    closed = [not is_replaceable(body.state(a, roof, b)) for a, b in ((x, z), other)]
    return replace(lot, stand=other) if closed == [True, False] else lot


def _leave_to_the_others(body: Body, lot: Lot) -> Acts:
    placed, idle = -1, 0
    while num_missing(body, lot) and idle < IDLE and _others(body.world):
        now = sum(sum(one.counts.get("used", {}).values()) for one in _others(body.world))
        idle = 0 if now > placed else idle + WAITS
        placed = now
        yield from body.wait(WAITS)
    return True


def _raise(body: Body, lot: Lot, *, whole: bool) -> Acts:
    """Build walls and a flat roof from a growing heap of earth: the player's own side, or the whole house."""
    x, z = lot.base

    def mine(cells: dict[Position, str]) -> dict[Position, str]:
        is_east = x > lot.middle[0]
        return {cell: item for cell, item in cells.items() if whole or (cell[0] > lot.middle[0]) == is_east}

    top = lot.y + WALL_HEIGHT
    if not (yield from body.walk([(x, lot.y + up, z) for up in range(4)])):
        return False
    yield from _clear(body, lot)
    yield from centre(body, lot)
    yield from _put(body, lot, mine(course(lot, PLANKS, 0) | course(lot, PLANKS, 1)))
    for height, cells in (
        (1, mine(course(lot, PLANKS, 2))),
        (2, mine({(a, top, b): "oak_planks" for a, b in (*lot.ring, *lot.inner)})),
    ):
        if any(is_replaceable(body.state(*cell)) for cell in cells):
            if not (yield from climb(body, lot, height)):
                break
            yield from _put(body, lot, cells)
    yield from descend(body, lot, 1)
    yield from _put(body, lot, {(x, top, z): "oak_planks"})
    yield from descend(body, lot, 0)
    return True


def _put(body: Body, lot: Lot, cells: dict[Position, str]) -> Acts:
    """Place blocks, corners first, because the walls beside a corner would hide it.

    The seats begin at opposite ends. Otherwise both could place the same block at the same time, and one would miss.
    """
    order = list(cells.items())[:: 1 if body.world.seat % 2 == 0 else -1]
    order.sort(key=lambda one: not lot.is_corner(one[0][0], one[0][2]))
    return (yield from put_all(body, dict(order), ("oak_planks", "dirt")))


def _clear(body: Body, lot: Lot) -> Acts:
    for column, rows in [*(((x, z), WALL_HEIGHT) for x, z in (lot.base, *lot.inner)), (lot.door, 2)]:
        for row in reversed(range(rows)):
            cell = column[0], lot.y + row, column[1]
            if body.name(*cell) == "oak_planks":
                yield from body.mine(cell)
    return True


def keep_pen(world: World, seat: int, rng: np.random.Generator) -> Acts:
    """Lead sheep into the pen of `blocks-two/keep_pen`, the player's own share first, until no sheep is outside."""
    body = Body(world, rng)
    body.field = FIELD
    patience = PATIENCE // WAITS
    site: Site | None = None
    while patience:
        if site is None or not _stands(body, site):  # to look for one takes a tenth of a second
            site = pen_of(world)
        is_late = world.ticks > LATEST
        outside = (
            [] if site is None or is_late else [one for _, one, x, _, z in animals(world, "sheep") if not site.holds(x, z)]
        )
        free = [one for one in outside if math.isfinite(_preference(world, seat, one))]
        if site is None or not free:
            patience -= not outside and not is_late
            if site is not None and not outside:
                yield from _mind(body, site)
            yield from body.wait(WAITS)
            continue
        inside = num_inside(world, site, "sheep")
        yield from bring(
            body, site, "sheep", "wheat", wanted=min(2, len(free)), preference=lambda one: _preference(world, seat, one)
        )
        failed = num_inside(world, site, "sheep") <= inside
        yield from body.wait(RESTS if failed else 5)
    return (yield from body.end())


def _mind(body: Body, site: Site) -> Acts:
    """Stand before the gates, without food for sheep in the hand, and shut the gates."""
    me = body.world.player
    yield from body.hold("oak_fence")
    if site.holds(me.x, me.z) or math.hypot(me.x - site.gate[0], me.z - site.gate[2]) > 3:
        yield from body.walk(site.outside(2))
    return (yield from swing(body, site))


def _stands(body: Body, site: Site) -> bool:
    return all(body.name(*cell).endswith(("_fence", "_fence_gate")) for cell in (*site.ring, *site.gates))


def pen_of(world: World) -> Site | None:
    """The largest pen with two gates side by side; None while its fence is broken."""
    for pen in pens(world):
        if len(pen.gates) < 2:
            continue
        xs, zs = [x for x, _, _ in pen.cells], [z for _, _, z in pen.cells]
        gate = min(pen.gates)
        x0, z0, x1, z1 = min(xs) - 1, min(zs) - 1, max(xs) + 1, max(zs) + 1
        out = (0, -1) if gate[2] == z0 else (0, 1) if gate[2] == z1 else (-1, 0) if gate[0] == x0 else (1, 0)
        return Site(x0, z0, x1, z1, gate[1], gate, out)
    return None


def _preference(world: World, seat: int, one: int) -> float:
    """Additional cost of a sheep: infinite if the partner leads it, higher if its id is in the partner's share of the sheep."""
    row = world.row_of(one)
    if row is None:
        return math.inf
    x, z = float(world.entities[row]["x"]), float(world.entities[row]["z"])
    mine = math.hypot(world.players[seat].x - x, world.players[seat].z - z)
    for other in _others(world):
        holds = other.in_hand is not None and other.in_hand.item == "wheat"
        if holds and math.hypot(other.x - x, other.z - z) < min(mine, LED_BLOCKS):
            return math.inf
    return 0.0 if one % len(world.players) == seat else 60.0


def _others(world: World) -> list[Player]:
    return [one for number, one in enumerate(world.players) if number != world.seat and not one.dead]
