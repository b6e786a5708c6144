"""Plan backwards from a rule of a milestone: find, walk, mine, craft, smelt, trade, fight, place."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Mapping
from typing import Any

import numpy as np

from blockworld import EYE_HEIGHT, Action, Position, Stack, World, is_replaceable
from blockworld.registry import MOBS, NUM_BOXES, block_of, blocks, crafting, items, smelting, speed_on
from interplay.agents.skills.body import Acts, Body
from interplay.agents.skills.crafts import craft, smelt, take
from interplay.agents.skills.cursor import close
from interplay.agents.skills.mobs import fight, pick_up, trade, use_on
from interplay.agents.skills.reaching import AROUND, Eye, boxed, come_to, digging, nearest, place_at, set_down, spots
from interplay.explore.oracle.sources import Sources
from interplay.explore.rules import Cell, Rule, cell

Doing = frozenset[str]
"""Items that the plan is already obtaining, so that no plan goes round in a circle."""

_MADE_TOOLS = ("wooden_pickaxe", "stone_pickaxe", "iron_pickaxe", "diamond_pickaxe", "shears")
_FUELS = ("coal", "charcoal", "oak_planks", "oak_log", "stick")
_SLACK, _PAST = 0.8, 4.0
"""Margins, in blocks and in degrees, by which the player avoids what would make the rule `avoid` hold."""
_USED_ON: dict[str, tuple[str, ...]] = {
    **{"sheared": ("shears",), "milked": ("bucket",), "dyed": tuple(f"{colour}_dye" for colour in items.COLOURS)},
    **dict.fromkeys(("fed", "bred", "tamed", "talked_to"), ()),
}
"""Event of the use key -> items that cause it; if empty, the mob's food."""
_TAMED_BY = {"wolf": ("bone",), "cat": ("cod", "salmon")}
_LIKELY = 0.3


class Planner:
    """Plan the actions that make rules hold in one world.

    Args:
        world: The world; it is read and never changed.
        origin: Cell from which the boxes and targets of rules are counted.
        avoid: A rule that, if possible, must not hold at any time of the plan.

    Attributes:
        lacks: Things that were needed and that this world does not have.
    """

    def __init__(self, world: World, origin: Cell, rng: np.random.Generator, avoid: Rule | None = None) -> None:
        self.world, self.origin, self._avoid = world, origin, avoid
        self.body = Body(world, rng)
        self.body.haste = 0.9
        self.sources = Sources(world)
        self.lacks: list[str] = []
        self._can: dict[str, bool] = {}
        self._most: dict[str, int] = {}
        if avoid is not None:
            self._keep_off(avoid.type, avoid.params)

    def _keep_off(self, kind: str, params: Mapping[str, Any]) -> None:
        if kind == "inventory_has":
            self._most[params["item"]] = params["min_count"] - 1
        elif kind == "position_inside_box":
            self.body.shut = self._cells(params)
        elif kind == "position_near_with_facing":
            target = self._at(params["target"])
            x, y, z = (at + 0.5 for at in target)
            far, half = params["max_distance"] + _SLACK, params["facing_tolerance"] / 2 + _PAST

            def shuns(eye: Eye) -> tuple[float, float] | None:
                near = math.dist((eye[0], eye[1] - EYE_HEIGHT, eye[2]), (x, y, z)) <= far
                return (math.degrees(math.atan2(eye[0] - x, z - eye[2])), half) if near else None

            if half < 180.0:
                self.body.shuns = shuns
            else:  # it holds whichever way one looks
                around = boxed(*(self._at([o + math.ceil(far) * way for o in params["target"]]) for way in (-1, 1)))
                self.body.shut = [one for one in around if math.dist((one[0] + 0.5, one[1], one[2] + 0.5), (x, y, z)) <= far]

    def reach(self, rules: tuple[Rule, ...]) -> Acts:
        """Yield actions that make all rules of a milestone hold; positions come last, because other rules move the player."""
        of_type = {
            "inventory_has": self._has,
            "count_in_box_at_least": self._at_least,
            "count_in_box_at_most": self._at_most,
            "x.event_at_least": self._event,
            "position_inside_box": self._inside,
            "position_near_with_facing": self._near,
            "x.visible": self._visible,
        }
        done = True
        for rule in sorted(rules, key=lambda rule: list(of_type).index(rule.type)):
            yield from close(self.body.world)
            done = (yield from of_type[rule.type](rule.params)) and done
        return done

    def _cells(self, params: Any) -> list[Position]:
        low, high = (self._at(params[key]) for key in ("min", "max"))
        return boxed(low, high)

    def _at(self, offset: Any) -> Position:
        x, y, z = (o + c for o, c in zip(self.origin, offset, strict=True))
        return x, y, z

    def _lack(self, what: str) -> bool:
        if what not in self.lacks:
            self.lacks.append(what)
        return False

    # Places

    def _near(self, params: Any) -> Acts:
        body, target = self.body, self._at(params["target"])
        middle = (target[0] + 0.5, target[1] + 0.5, target[2] + 0.5)
        feet = np.array(middle) - (0.5, 0.0, 0.5)

        def in_range(eye: Eye) -> bool:
            return math.dist((eye[0], eye[1] - EYE_HEIGHT, eye[2]), middle) <= params["max_distance"] - 0.5

        def in_sight(eye: Eye) -> bool:
            return in_range(eye) and self._seen(eye, target)

        reach = params["max_distance"] + EYE_HEIGHT + float(np.linalg.norm(feet - middle))
        turned = 0.45 * params.get("facing_tolerance", 0.0)

        def yaws(eye: Eye) -> list[float]:
            yaw = math.degrees(math.atan2(eye[0] - middle[0], middle[2] - eye[2]))
            return [one for one in (yaw, yaw + turned, yaw - turned) if body.may_look(one, eye)]

        def sees_past(eye: Eye) -> bool:
            return in_range(eye) and bool(yaws(eye))

        straight = in_sight if self._avoid is None else sees_past
        for fits, costs in ((straight, None), (sees_past, None), (sees_past, digging(body))):
            for spot in spots(body, target, fits, costs=costs, reach=reach, most=3):
                if (yield from body.walk(spot, costs=costs, tries=3)):
                    me = self.world.player
                    around = yaws((me.x, me.eye_y, me.z)) or [me.yaw]
                    return (yield from body.look(around[0], body.angles(*middle)[1]))
        return self._lack(f"a way to {params['target']}")

    def _seen(self, eye: Eye, target: Position) -> bool:
        """Whether nothing stands between an eye and the middle of a cell; the cell's own block does not count."""
        way = np.array(target) + 0.5 - eye
        far = float(np.linalg.norm(way))
        if far <= 0.8:
            return True
        x, y, z = np.array(eye) + way * (1 - 0.8 / far)
        return self.body.sees(float(x), float(y), float(z), eye=eye)

    def _inside(self, params: Any) -> Acts:
        body, cells = self.body, self._cells(params)
        for way in ("walk", "dive", "dig"):
            if way == "dive" and not (yield from self._open_water(cells)):
                continue
            costs = digging(body) if way == "dig" else None
            inside = cells if way == "dig" else [one for one in cells if body.stands(*one)]
            if (yield from body.walk(inside, costs=costs, around=AROUND)):
                return True
        return self._lack(f"a way into the box from {params['min']} to {params['max']}")

    def _open_water(self, cells: list[Position]) -> Acts:
        lids = []
        for x, y, z in cells:
            if self.body.name(x, y, z) == "water":
                while self.body.name(x, y, z) == "water":
                    y += 1
                lids.append((x, y, z))
        for lid in nearest(self.body, list(dict.fromkeys(lids)))[:3]:
            if (yield from come_to(self.body, lid)) and (yield from self.body.mine(lid)):
                return True
        return False

    def _visible(self, params: Any) -> Acts:
        name = params["object"]
        places = self.sources.blocks(name)[:8]
        if params["kind"] == "mob":
            rows = [self.world.row_of(one) for one in self.sources.mobs(name)]
            places = [cell([float(self.world.entities[row][axis]) for axis in "xyz"]) for row in rows if row is not None]
        for place in places:
            offset = [p - o for p, o in zip(place, self.origin, strict=True)]
            yield from self._near({"target": offset, "max_distance": params["max_distance"]})
            if params["kind"] == "block" and (yield from come_to(self.body, place)):  # it is not seen yet: dig to it
                yield from self.body.look_at(*(at + 0.5 for at in place))
        return bool(places) or self._lack(name)

    # Counts

    def _at_most(self, params: Any) -> Acts:
        body = self.body
        if params["kind"] == "mob":
            while inside := self._mobs_inside(params):
                if len(inside) <= params["max_count"]:
                    return True
                if not (yield from self._kill_one(inside)):
                    return False
            return True
        while True:
            there = [one for one in self._cells(params) if body.name(*one) == params["object"]]
            if len(there) <= params["max_count"]:
                return True
            if not (yield from self._mine_one(nearest(body, there))):
                return False

    def _mobs_inside(self, params: Any) -> list[int]:
        cells = set(self._cells(params))
        rows = [(one, self.world.row_of(one)) for one in self.sources.mobs(params["object"])]
        feet = [(one, tuple(float(self.world.entities[row][axis]) for axis in "xyz")) for one, row in rows if row is not None]
        return [one for one, point in feet if cell(point) in cells]

    def _at_least(self, params: Any) -> Acts:
        body, name = self.body, params["object"]
        if params["kind"] == "mob":
            return self._lack(f"a way to bring {name} into the box")
        cells = self._cells(params)
        number = params["min_count"] - sum(body.name(*one) == name for one in cells)
        if number <= 0:
            return True
        if name.startswith("potted_"):
            return (yield from self._pot(name.removeprefix("potted_"), cells))
        return (yield from self._place(name, cells, number))

    def _place(self, name: str, cells: list[Position], number: int) -> Acts:
        body = self.body
        item = next((one for one in (name, name.replace("wall_", "")) if one in items.BY_NAME), None)
        if item is None and name in blocks.BY_NAME:
            item = items.item_of_block(name)
        if item is None:
            return self._lack(name)
        if not (yield from self.obtain(item, number)):
            return False
        failed: set[Position] = set()
        while number > 0:
            free = [one for one in cells if one not in failed and is_replaceable(body.state(*one))]
            firm = [one for one in free if NUM_BOXES[body.state(one[0], one[1] - 1, one[2])]]
            left = nearest(body, firm) + nearest(body, [one for one in free if one not in set(firm)])
            if not left or len(failed) > 60:
                return False
            if (yield from place_at(body, left[0], item)) and body.name(*left[0]) == name:
                number -= 1
            else:
                failed.add(left[0])
            if not body.count(item) and number > 0 and not (yield from self.obtain(item, number)):
                return False
        return True

    def _event(self, params: Any) -> Acts:
        body, event, name = self.body, params["event"], params["object"]

        def lacking() -> int:
            return params["min_count"] - self.world.player.counts.get(event, {}).get(name, 0)

        for _ in range(lacking()):
            if event == "mined":
                done = yield from self._mine_one(self.sources.blocks(name))
            elif event == "killed":
                done = yield from self._kill_one(self.sources.mobs(name))
            elif event in ("crafted", "smelted", "traded", "picked_up") and name in items.BY_NAME:
                done = yield from self.obtain(name, body.count(name) + lacking())
            elif event == "placed" and name in items.BY_NAME:
                x, y, z = body.footing
                around = boxed((x - 3, y, z - 3), (x + 3, y + 1, z + 3))
                done = yield from self._place(name, around, 1)
            elif event in _USED_ON:
                done = yield from self._use_on_mob(event, name)
            else:
                return self._lack(f"a way to have {name} {event}")
            if lacking() <= 0:
                return True
            if not done:
                return False
        return lacking() <= 0

    def _use_on_mob(self, event: str, name: str) -> Acts:
        """Shear, milk, dye, feed, tame or breed a mob, or talk to it; return whether the world counted the event."""
        body, counts = self.body, self.world.player.counts
        before, number = counts.get(event, {}).get(name, 0), 2 if event == "bred" else 1
        able = _USED_ON[event] or MOBS[name].foods if event != "tamed" else _TAMED_BY.get(name, ())
        item = next((one for one in sorted(able) if self.can(one)), None)
        if event != "talked_to" and (item is None or not (yield from self.obtain(item, number))):
            return self._lack(item or next(iter(sorted(able)), f"a way to have {name} {event}"))
        for mob in self.sources.mobs(name)[: 6 * number]:
            yield from close(body.world)
            yield from use_on(body, mob, item)
            if counts.get(event, {}).get(name, 0) > before:
                return True
        yield from body.wait(120 * (event == "bred"))  # the pair takes its time
        return counts.get(event, {}).get(name, 0) > before

    def _mine_one(self, places: list[Position]) -> Acts:
        for place in places[:6]:
            if (yield from come_to(self.body, place)) and (yield from self.body.mine(place)):
                return True
        return False

    def _kill_one(self, mobs: list[int]) -> Acts:
        for mob in mobs[:4]:
            for costs in (None, digging(self.body)):
                if (yield from fight(self.body, mob, costs=costs)):
                    return True
        return False

    def _pot(self, flower: str, cells: list[Position]) -> Acts:
        body = self.body
        pots = [one for one in cells if body.name(*one) == "flower_pot"]
        if not pots or not (yield from self.obtain(flower, 1)):
            return False if pots else self._lack("a flower pot")
        for pot in nearest(body, pots):
            if (yield from come_to(body, pot)) and (yield from body.hold(flower)) and (yield from body.use_on(pot)):
                return True
        return False

    # Items

    def _has(self, params: Any) -> Acts:
        if params["item"] not in items.BY_NAME:
            return self._lack(params["item"])
        return (yield from self.obtain(params["item"], params["min_count"]))

    def obtain(self, item: str, count: int, doing: Doing = frozenset()) -> Acts:
        """Get items until the player carries `count`, in any way that this world allows; near or ready items come first."""
        if self.body.count(item) >= count:
            return True
        if item in doing or count > self._most.get(item, count):
            return False
        self._can.clear()
        if not self.can(item):
            return self._lack(self._missing(item, frozenset()))
        doing |= {item}
        for way in (self._lying, self._chests, self._mine, self._ready, self._hunt, self._buy, self._craft, self._smelt):
            yield from way(item, count, doing)
            if self.body.count(item) >= count:
                return True
        yield from self._mine_with_made_tool(item, count, doing)
        return self.body.count(item) >= count

    def can(self, item: str) -> bool:
        """Whether the player carries the item or can get it in this world; numbers are ignored."""
        if item not in self._can:
            self._can[item] = False  # while it is asked: a way round in a circle leads nowhere
            self._can[item] = self.body.count(item) > 0 or (self._most.get(item) != 0 and self._has_source(item))
        return self._can[item]

    def _has_source(self, item: str) -> bool:
        sources = self.sources
        if sources.lies(item) or sources.containers(item) or self._tool_for(item) or sources.hunted(item):
            return True
        if any(self.can(offer["buy"][0]) for _, offer in sources.sold(item)):
            return True
        if any(all(any(map(self.can, sorted(one))) for one in recipe.ingredients) for recipe in crafting.recipes_for(item)):
            return True
        if any(self.can(source) for _, source in _smelted_from(item)):
            return True
        return any(self.can(tool) for tool in _MADE_TOOLS if sources.mined(item, Stack(tool)))

    def _missing(self, item: str, asked: Doing) -> str:
        """Return a thing that is needed to make an item and that this world does not give."""
        for recipe in crafting.recipes_for(item):
            for choice in recipe.ingredients:
                if not any(map(self.can, sorted(choice))):
                    first = sorted(choice)[0]
                    back = any(item in other for made in crafting.recipes_for(first) for other in made.ingredients)
                    return item if back or first in asked else self._missing(first, asked | {item})
        return item

    def _lying(self, item: str, count: int, doing: Doing) -> Acts:
        if not self.sources.lies(item):
            return False
        return (yield from pick_up(self.body, AROUND, item=item))

    def _chests(self, item: str, count: int, doing: Doing) -> Acts:
        for place in self.sources.containers(item):
            if (yield from come_to(self.body, place)) and (yield from take(self.body, place, item, count)):
                return True
        return False

    def _tool_for(self, item: str) -> tuple[str, set[int]] | None:
        """Return the fastest carried tool ("" for the bare hand) and the block states that leave the item if mined with it."""
        carried = [stack for stack in self.world.player.slots[:36] if stack is not None and items.item_named(stack.item).kind]
        found = []
        for tool in (None, *carried):
            mined = self.sources.mined(item, tool)
            likely = {state for state, number in mined.items() if number >= _LIKELY}
            if likely:
                speed = max(speed_on(block_of(state), tool) for state in likely)
                found.append((speed, "" if tool is None else tool.item, likely))
        if not found:
            return None
        _, name, states = max(found, key=lambda one: (one[0], not one[1]))
        return name, states

    def _mine(self, item: str, count: int, doing: Doing) -> Acts:
        found = self._tool_for(item)
        if found is None:
            return False
        body, (tool, states) = self.body, found
        failed: set[Position] = set()
        for _ in range(3 * (count - body.count(item)) + 12):
            if body.count(item) >= count:
                return True
            left = [one for one in self.sources.cells_of(states) if one not in failed][:1]
            if not left:
                return False
            before = body.count(item)
            if (yield from come_to(body, left[0])) and (yield from body.mine(left[0], tool=tool)):
                for _ in range(12):
                    if body.count(item) == before:
                        yield Action()
                for costs in (None, digging(body)) if body.count(item) == before else ():
                    yield from pick_up(body, 8.0, item=item, costs=costs)
            else:
                failed.add(left[0])
        return body.count(item) >= count

    def _mine_with_made_tool(self, item: str, count: int, doing: Doing) -> Acts:
        for tool in _MADE_TOOLS:
            if self.sources.mined(item, Stack(tool)) and (yield from self.obtain(tool, 1, doing)):
                return (yield from self._mine(item, count, doing))
        return False

    def _hunt(self, item: str, count: int, doing: Doing) -> Acts:
        for mob in self.sources.hunted(item):
            if self.body.count(item) >= count:
                return True
            is_shorn = item.endswith("_wool") and self.body.count("shears")
            yield from use_on(self.body, mob, "shears") if is_shorn else fight(self.body, mob)
            yield from self.body.wait(12)
            yield from pick_up(self.body, 8.0, item=item)
        return self.body.count(item) >= count

    def _buy(self, item: str, count: int, doing: Doing) -> Acts:
        for villager, offer in list(self.sources.sold(item)):
            times = math.ceil((count - self.body.count(item)) / offer["sell"][1])
            prices = [price for price in (offer["buy"], offer.get("buy2")) if price]
            for name, number in prices:
                if not (yield from self.obtain(name, number * times, doing)):
                    break
            else:
                wanted = offer["sell"]
                if (yield from trade(self.body, villager, lambda one, sell=wanted: one["sell"] == sell, times)):
                    return True
        return False

    # Making

    def _ready(self, item: str, count: int, doing: Doing) -> Acts:
        if crafting.can_make(item, self.world.player.slots) is None:
            return False
        return (yield from self._craft(item, count, doing))

    def _craft(self, item: str, count: int, doing: Doing) -> Acts:
        body = self.body
        recipes = [  # not out of what is being obtained: ingots of nuggets of ingots
            recipe
            for recipe in crafting.recipes_for(item)
            if all(any(map(self.can, one - doing)) for one in recipe.ingredients)
        ]
        for recipe in sorted(recipes, key=lambda recipe: -sum(any(map(body.count, one)) for one in recipe.ingredients)):
            for _ in range(4):  # getting one thing, or the table, may use up another
                yield from self._ingredients(recipe, math.ceil((count - body.count(item)) / recipe.count), doing)
                table = None
                if crafting.plan(recipe, body.world.player.slots) is None:
                    continue
                if crafting.plan(recipe, body.world.player.slots, 2) is None:
                    table = yield from self._station("crafting_table", doing)
                    if table is None:
                        break
                times = math.ceil((count - body.count(item)) / recipe.count)
                yield from craft(body, item, times, table=table)
                if body.count(item) >= count:
                    return True
        return False

    def _ingredients(self, recipe: crafting.Recipe, times: int, doing: Doing) -> Acts:
        needed: dict[str, int] = {}
        for choice in recipe.ingredients:
            able = [one for one in sorted(choice) if self.can(one)] or sorted(choice)
            name = max(able, key=self.body.count)
            needed[name] = needed.get(name, 0) + times
        for name, number in needed.items():
            if not (yield from self.obtain(name, number, doing)):
                return False
        return True

    def _station(self, name: str, doing: Doing) -> Generator[Action, None, Position | None]:
        """Walk to an existing table or furnace, or place one; return its cell."""
        for place in self.sources.blocks(name)[:4]:
            if (yield from come_to(self.body, place)):
                return place
        if not (yield from self.obtain(name, 1, doing)):
            return None
        return (yield from set_down(self.body, name))

    def _smelt(self, item: str, count: int, doing: Doing) -> Acts:
        body = self.body
        for kind, source in _smelted_from(item):
            if not self.can(source) or not (self.sources.blocks(kind) or self.can(kind)):
                continue
            number = count - body.count(item)
            if not (yield from self.obtain(source, number, doing)):
                continue
            fuels = sorted(
                {stack.item for stack in body.world.player.slots if stack is not None and stack.item != source}
                - {"lava_bucket"},
                key=lambda one: (_FUELS.index(one) if one in _FUELS else 9, one),
            )
            fuel = next((one for one in fuels if items.item_named(one).fuel), None)
            for other in _FUELS if fuel is None else ():
                if self.can(other) and (yield from self.obtain(other, _fuel_for(number, other), doing)):
                    fuel = other
                    break
            if fuel is None:
                return self._lack("fuel")
            place = yield from self._station(kind, doing)
            if place is None:
                continue
            most = _fuel_for(number, fuel)
            yield from smelt(body, place, source, number, fuel, min(most, body.count(fuel)))
            if body.count(item) >= count:
                return True
        return False


def _fuel_for(number: int, fuel: str) -> int:
    return math.ceil(number * smelting.COOK_TICKS["furnace"] / items.item_named(fuel).fuel)


def _smelted_from(item: str) -> Iterator[tuple[str, str]]:
    """Yield each kind of furnace that makes an item, with the source that it smelts."""
    for kind, made in smelting.SMELTING.items():
        for source, result in made.items():
            if result == item:
                yield kind, source
