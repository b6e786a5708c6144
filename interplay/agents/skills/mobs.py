"""Go to mobs, hit them, trade with them, and pick up items that lie on the ground."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection

import numpy as np

from blockworld import ATTACK_REACH, NUM_OFFERS_SHOWN, Action, mob_in_front
from blockworld import body as size_of
from blockworld.registry import ITEM, ITEMS, item_named, trades
from interplay.agents.skills.body import Acts, Body
from interplay.agents.skills.cursor import click, close
from interplay.agents.skills.reaching import Eye, spots

_HIT_FROM = ATTACK_REACH - 0.3


def _middle(body: Body, row: int) -> tuple[float, float, float]:
    one = body.world.entities[row]
    return float(one["x"]), float(one["y"]) + size_of(one)[1] * 0.6, float(one["z"])


def _within(body: Body, entity: int, far: float) -> bool:
    row, me = body.world.row_of(entity), body.world.player
    if row is None:
        return True
    point = _middle(body, row)
    return math.dist((me.x, me.eye_y, me.z), point) <= far and body.sees(*point)


def meet(body: Body, entity: int, *, far: float = _HIT_FROM, costs: np.ndarray | None = None) -> Acts:
    """Go to a mob until it is within `far` blocks of the eyes and in sight; also succeeds if the mob is gone."""
    for _ in range(6):
        row = body.world.row_of(entity)
        if row is None or _within(body, entity, far):
            return True
        x, y, z = point = _middle(body, row)
        cell = (math.floor(x), math.floor(y), math.floor(z))
        for slack in (0.4, 0.0, -1.0):  # the mob may move, and an edge may have to do

            def fits(eye: Eye, point: Eye = point, slack: float = slack) -> bool:
                return math.dist(eye, point) <= far - slack and body.sees(*point, eye=eye)

            goals = spots(body, cell, fits, costs=costs)
            if goals:
                break
        yield from body.walk(goals, costs=costs, tries=1, until=lambda: _within(body, entity, far))
    return _within(body, entity, far)


def fight(body: Body, entity: int, *, costs: np.ndarray | None = None) -> Acts:
    """Hit a mob with the best carried weapon, each blow at full strength, until the mob is dead."""
    world, me = body.world, body.world.player
    carried = [stack.item for stack in me.slots[:36] if stack is not None]
    weapon = max(carried, key=lambda item: item_named(item).attack_damage, default=None)
    if weapon is not None and item_named(weapon).attack_damage > 1:
        yield from body.hold(weapon)
    held = me.in_hand
    pause = 20 / (4.0 if held is None else item_named(held.item).attack_speed)
    for _ in range(600):
        row = world.row_of(entity)
        if row is None or world.entities["health"][row] <= 0:
            return True
        if me.dead:
            return False
        if not _within(body, entity, _HIT_FROM + 0.2):
            if not (yield from meet(body, entity, costs=costs)):
                return False
            continue
        yield body.turn(*body.angles(*_middle(body, row)), attack=me.since_swing >= pause and mob_in_front(world) == row)
    return False


def pick_up(
    body: Body, reach: float, *, item: str | None = None, among: Collection[int] | None = None, costs: np.ndarray | None = None
) -> Acts:
    """Walk over the items that lie within `reach` blocks, optionally only one kind or some ids; dig where `costs` allow it."""
    entities = body.world.entities
    for _ in range(4):
        me = body.world.player
        rows = entities[entities["kind"] == ITEM]
        if item is not None:
            rows = [row for row in rows if ITEMS[row["item"]].name == item]
        if among is not None:
            rows = [row for row in rows if int(row["id"]) in among]
        near = [row for row in rows if math.dist((row["x"], row["y"], row["z"]), (me.x, me.y, me.z)) < reach]
        if not near:
            return True
        row = min(near, key=lambda row: math.dist((row["x"], row["y"], row["z"]), (me.x, me.y, me.z)))
        x, y, z = math.floor(row["x"]), math.floor(row["y"] + 0.1), math.floor(row["z"])
        if not (yield from body.walk([(x, y + dy, z) for dy in (0, 1, -1)], costs=costs, tries=1, most=200.0)):
            return False
        yield from body.wait(4)
    return True


def use_on(body: Body, entity: int, item: str | None = None) -> Acts:
    """Go to a mob and use an item or the hand on it; return whether the key was pressed in front of the mob."""
    for _ in range(4):
        if body.world.screen is not None or not (yield from meet(body, entity)):
            return False
        row = body.world.row_of(entity)
        if row is None or (item is not None and not (yield from body.hold(item))):
            return False
        yield from body.look_at(*_middle(body, row))
        if mob_in_front(body.world) == row:
            yield Action(use=True)
            yield Action()
            return True
    return False


def trade(body: Body, villager: int, wanted: Callable[[trades.Offer], bool], times: int = 1) -> Acts:
    """Go to a villager and take an offer `times` times; the player must carry the price."""
    world = body.world
    yield from use_on(body, villager)
    if world.screen is None or world.screen.kind != "villager":
        return False
    offers = world.extras[villager]["offers"]
    index = next((number for number, one in enumerate(offers) if wanted(one) and trades.is_open(one)), None)
    taken = 0
    if index is not None:
        below = max(0, index - NUM_OFFERS_SHOWN + 1)
        if below:
            yield from click(body.world, "scroll", 1, times=below)
        for _ in range(times):
            uses = offers[index]["uses"]
            yield from click(body.world, "option", index - below)
            yield from click(body.world, "result")
            taken += offers[index]["uses"] > uses
    yield from close(body.world)
    return taken == times
