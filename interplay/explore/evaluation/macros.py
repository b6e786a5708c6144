"""Macros of the protocol `assisted`: a model names a macro, and the macro presses keys and turns the camera as a player does.

A macro knows what the picture shows (`facts.in_sight`), the inventory and the open screen. Its target must be in sight or
carried: a macro never mines, opens or meets anything that the picture does not show. It goes only where a player can walk.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from blockworld import Action, Position, World, is_replaceable
from blockworld.grid import physics
from blockworld.registry import BLOCKS_BY_NAME as BLOCKS
from blockworld.registry import ITEMS_BY_NAME as ITEMS
from blockworld.registry import MOBS, crafting, item_named, smelting
from interplay.agents.skills import mobs
from interplay.agents.skills.body import Acts, Body
from interplay.agents.skills.crafts import craft, put, smelt, take
from interplay.agents.skills.cursor import close
from interplay.agents.skills.reaching import come_to, nearest, place_at
from interplay.errors import InterplayError, unknown_name
from interplay.explore import facts
from interplay.explore.evaluation.replies import clean
from interplay.explore.facts import Seen
from interplay.explore.rules import Point

Doing = Generator[Action, None, str]
"""A macro in progress: yields an action for each tick, and returns the reason of a failure, or ""."""
MOST_COUNT = 64
FARTHEST_PLACED = 16.0
_MOST_SMELTED = 4
"""Most items in one call of `smelt`, because each item takes 200 ticks."""
_CHESTS = ("chest", "trapped_chest", "barrel")
_FURNACES = tuple(smelting.SMELTING)
_TRIES = 4
_FELL = 4.0
"""Distance in blocks within which drops of a mined block are picked up."""


class Hands:
    """Carry out macros for a player; they only read `world`, and change it only by the player's actions."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.body = Body(world, np.random.default_rng(seed))
        self.body.haste = 0.9

    # What is in sight

    def _seen(
        self, fits: Callable[[Seen], bool], *, things: bool = False, around: tuple[Point, float] | None = None
    ) -> list[Seen]:
        return sorted(filter(fits, facts.in_sight(self.world, things=things, around=around)), key=lambda one: one.distance)

    def _aimed(self, target: str, at: tuple[float, float] | None) -> list[Seen]:
        if at is None:
            return self._seen(lambda one: one.name == target and one.kind != "item")
        one = facts.seen_at(self.world, at)
        return [] if one is None else [one]

    def _stations(self, *names: str) -> list[Position]:
        return [one.cell for one in self._seen(lambda one: one.kind == "block" and one.name in names)]

    # Looking and walking

    def look_at(self, target: str = "", at: tuple[float, float] | None = None) -> Doing:
        found = self._aimed(target, at)
        if not found:
            return _not_in_sight(target)
        return "" if (yield from self.body.look_at(*found[0].point)) else "the turn was not finished"

    def walk_to(self, target: str = "", at: tuple[float, float] | None = None) -> Doing:
        """Walk until the player stands beside the target, or on the ground that `at` points to."""
        found, body = self._aimed(target, at), self.body
        if not found:
            return _not_in_sight(target)
        if found[0].entity >= 0:
            done = yield from mobs.meet(body, found[0].entity)
            return "" if done else "no way there was found"
        x, y, z = found[0].cell
        if at is not None and body.stands(x, y + 1, z):
            return "" if (yield from body.walk((x, y + 1, z), tries=3)) else "no way there was found"
        beside = [spot for one in found[:8] for spot in _beside(one.cell) if body.stands(*spot)]
        if not (yield from body.walk(beside, tries=3)):
            return "no way there was found"
        x, y, z = min((one.cell for one in found[:8]), key=lambda cell: math.dist(cell, body.cell))
        yield from body.look_at(x + 0.5, y + 0.5, z + 0.5)
        return ""

    # Blocks

    def mine(self, target: str = "", at: tuple[float, float] | None = None, count: int = 1) -> Doing:
        """Mine `count` blocks of one kind with the best carried tool, and pick up their drops.

        Only blocks that are or were in sight are mined. With `at`, mine the block there first, then others of its kind.
        """
        seen = [one for one in self._aimed(target, at) if one.entity < 0]
        known: set[Position] = {one.cell for one in seen}
        target = seen[0].name if seen else target
        mined, tried = 0, set[Position]()
        while mined < count and len(tried) - mined < _TRIES:
            left = nearest(self.body, sorted(known - tried))
            if not left:
                break
            tried.add(left[0])
            if (yield from come_to(self.body, left[0], dig=False)) and (yield from self.body.mine(left[0])):
                mined += 1
                yield from self._gather(left[0])
            known |= {one.cell for one in self._aimed(target, None)}
        if mined == count:
            return ""
        why = "it could not be reached or broken" if len(tried) > mined else _not_in_sight(target)
        return f"{mined} of {count} were mined; {why}" if mined else why

    def _gather(self, cell: Position) -> Acts:
        yield from self.body.wait(10)
        x, y, z = cell[0] + 0.5, min(float(cell[1]), self.world.player.y), cell[2] + 0.5
        yield from self.body.look_at(x, y, z)
        fell = self._seen(lambda one: one.kind == "item", things=True, around=((x, y, z), _FELL))
        return (yield from mobs.pick_up(self.body, math.inf, among={one.entity for one in fell}))

    def pick_up(self, item: str) -> Doing:
        lie = {one.entity for one in self._seen(lambda one: one.kind == "item" and one.name == item, things=True)}
        if not lie:
            return _not_in_sight(item)
        done = yield from mobs.pick_up(self.body, math.inf, among=lie)
        return "" if done else "no way there was found"

    def place(self, item: str, at: tuple[float, float] = (0.5, 0.5)) -> Doing:
        """Place a carried block against the block face that the picture shows at `at`."""
        if not self.body.count(item):
            return "you carry none"
        seen, me = facts.seen_at(self.world, at), self.world.player
        if seen is None or seen.distance > FARTHEST_PLACED:
            return f"there is no block within {FARTHEST_PLACED:g} blocks"
        way = seen.point[0] - me.x, seen.point[1] - me.eye_y, seen.point[2] - me.z
        hit, x, y, z, face, *_ = physics.ray(
            self.world.grid.blocks, me.x, me.eye_y, me.z, *way, FARTHEST_PLACED + 1, sources=False
        )
        if not hit:
            return "there is no block"
        cell = (x, y, z)
        if not is_replaceable(self.body.state(*cell)):
            nx, ny, nz = physics.NORMALS[face]
            cell = (x + nx, y + ny, z + nz)
        return "" if (yield from place_at(self.body, cell, item)) else "it cannot be placed there"

    # Screens

    def craft(self, item: str, count: int = 1) -> Doing:
        """Craft `count` of an item from carried things; use a crafting table in sight if the recipe needs one."""
        slots, table = self.world.player.slots, None
        if crafting.can_make(item, slots, 2) is None:
            tables = self._stations("crafting_table")
            if not tables:
                return "it cannot be made of what you carry in your inventory, and no crafting_table is in sight"
            if crafting.can_make(item, slots, 3) is None:
                return "it cannot be made of what you carry"
            table = yield from self._come_to_one(tables)
            if table is None:
                return "no way to the crafting_table was found"
        recipe = crafting.can_make(item, slots, 2 if table is None else 3)
        before = self.body.count(item)
        times = 1 if recipe is None else math.ceil(count / recipe.count)
        yield from craft(self.body, item, times, table=table)
        return _counted(self.body.count(item) - before, count, "made")

    def smelt(self, item: str, fuel: str, count: int = 1) -> Doing:
        lacking = [name for name, number in ((item, count), (fuel, 1)) if self.body.count(name) < number]
        if lacking:
            return f"you carry too little {lacking[0]}"
        if not item_named(fuel).fuel:
            return f"{fuel} does not burn"
        furnaces = self._stations(*(kind for kind in smelting.SMELTING if item in smelting.SMELTING[kind]))
        if not furnaces:
            return "no furnace that takes it is in sight"
        furnace = yield from self._come_to_one(furnaces)
        if furnace is None:
            return "no way to the furnace was found"
        made = {table[item] for table in smelting.SMELTING.values() if item in table}
        before = sum(map(self.body.count, made))
        burnt = math.ceil(count * smelting.COOK_TICKS["furnace"] / item_named(fuel).fuel)
        yield from smelt(self.body, furnace, item, count, fuel, min(burnt, self.body.count(fuel)))
        return _counted(sum(map(self.body.count, made)) - before, count, "smelted")

    def take_from_chest(self, item: str, count: int = 1) -> Doing:
        before = self.body.count(item)
        for one in self._stations(*_CHESTS, *_FURNACES)[:_TRIES]:
            if (yield from come_to(self.body, one, dig=False)):
                yield from take(self.body, one, item, before + count)
            if self.body.count(item) >= before + count:
                break
        return _counted(self.body.count(item) - before, count, "taken")

    def put_into_chest(self, item: str, count: int = 1) -> Doing:
        before = self.body.count(item)
        if before < count:
            return f"you carry {before}"
        chest = yield from self._come_to_one(self._stations(*_CHESTS))
        if chest is None:
            return "no chest or barrel is in sight that can be reached"
        yield from put(self.body, chest, item, count)
        return _counted(before - self.body.count(item), count, "put there")

    def _come_to_one(self, stations: list[Position]) -> Generator[Action, None, Position | None]:
        for one in stations[:_TRIES]:
            if (yield from come_to(self.body, one, dig=False)):
                return one
        return None

    # Mobs

    def trade(self, item: str, give: str = "", count: int = 1) -> Doing:
        def wanted(offer: Mapping[str, Any]) -> bool:
            return offer["sell"][0] == item and give in ("", offer["buy"][0])

        villagers = self._seen(lambda one: one.kind == "mob" and one.name == "villager")
        for one in villagers[:_TRIES]:
            before = self.body.count(item)
            if (yield from mobs.trade(self.body, one.entity, wanted, count)):
                return ""
            if self.body.count(item) > before:
                return "the offer was taken fewer times than you said"
        return "nobody in sight sells it for what you carry" if villagers else _not_in_sight("villager")

    def attack(self, target: str = "", at: tuple[float, float] | None = None) -> Doing:
        found = [one for one in self._aimed(target, at) if one.entity >= 0]
        if not found:
            return _not_in_sight(target)
        return "" if (yield from mobs.fight(self.body, found[0].entity)) else "it could not be met"


def _beside(cell: Position) -> list[Position]:
    x, y, z = cell
    return [(x + dx, y + dy, z + dz) for dy in (0, -1, 1) for dx in (-1, 0, 1) for dz in (-1, 0, 1) if dx or dz or dy == 1]


def _not_in_sight(name: str) -> str:
    return f"no {name} is in sight" if name else "nothing of that sort is there"


def _counted(done: int, count: int, verb: str) -> str:
    return "" if done >= count else f"{done} of {count} were {verb}"


# What is called


@dataclass(frozen=True)
class Macro:
    """A macro as a model calls it. `needs` lists required arguments; of `target` and `at`, exactly one is required."""

    run: Callable[..., Doing]
    takes: tuple[str, ...]
    needs: tuple[str, ...] = ()
    most: int = MOST_COUNT


_AIM = ("target", "at")
MACROS = {
    "look_at": Macro(Hands.look_at, _AIM),
    "walk_to": Macro(Hands.walk_to, _AIM),
    "mine": Macro(Hands.mine, (*_AIM, "count")),
    "pick_up": Macro(Hands.pick_up, ("item",), ("item",)),
    "place": Macro(Hands.place, ("item", "at"), ("item",)),
    "craft": Macro(Hands.craft, ("item", "count"), ("item",)),
    "smelt": Macro(Hands.smelt, ("item", "fuel", "count"), ("item", "fuel"), most=_MOST_SMELTED),
    "take_from_chest": Macro(Hands.take_from_chest, ("item", "count"), ("item",)),
    "put_into_chest": Macro(Hands.put_into_chest, ("item", "count"), ("item",)),
    "trade": Macro(Hands.trade, ("item", "give", "count"), ("item",)),
    "attack": Macro(Hands.attack, _AIM),
}
ARGUMENTS = {"target": "string", "at": "array", "item": "string", "fuel": "string", "give": "string", "count": "integer"}


class BadValueError(InterplayError):
    """Raised when an argument of a macro is missing, unknown or invalid."""


def read(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    macro = MACROS[name]
    given = {key: value for key, value in arguments.items() if value is not None}
    for key in given:
        if key not in macro.takes:
            raise BadValueError(f"{name} takes {', '.join(macro.takes)}, and not {clean(key, 40)!r}")
    missing = [key for key in macro.needs if key not in given]
    if missing:
        raise BadValueError(f"{name} needs {missing[0]}")
    if macro.takes[:2] == _AIM and len(given.keys() & set(_AIM)) != 1:
        raise BadValueError(f"{name} needs either target or at")
    return {key: _value(key, value, macro.most) for key, value in given.items()}


def doing(world: World, name: str, arguments: Mapping[str, Any], *, seed: int) -> Doing:
    """Yield the actions of a macro, tick by tick; `arguments` come from `read`. Close an open screen first."""
    hands = Hands(world, seed)
    yield from close(hands.body.world)
    return (yield from MACROS[name].run(hands, **arguments))


def _value(key: str, value: Any, most: int) -> Any:
    if key == "at":
        fits = isinstance(value, list | tuple) and len(value) == 2
        if not fits or not all(type(part) in (int, float) and 0 <= part <= 1 for part in value):
            raise BadValueError("at is a place in the picture: two numbers from 0 to 1, [across, down]")
        return tuple(value)
    if key == "count":
        if type(value) not in (int, float) or value not in range(1, most + 1):
            raise BadValueError(f"count must be a whole number from 1 to {most}")
        return int(value)
    known = {**BLOCKS, **dict.fromkeys(MOBS)} if key == "target" else ITEMS
    if not isinstance(value, str):
        raise BadValueError(f"{key} must be a name")
    if value not in known:
        kind = "block or mob" if key == "target" else "item"
        raise BadValueError(str(unknown_name(kind, clean(value, 100), known)))
    return value
