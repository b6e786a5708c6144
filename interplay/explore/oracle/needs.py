"""Prove that one task needs another: find all things that the world's rules let a player get without doing the other task.

Counts, distances, light, fuel and time are ignored, and rare or slow events count as certain. So the set of things is too
large rather than too small, and no player can get anything outside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from blockworld import Position, Stack, World
from blockworld.grid import NORMALS
from blockworld.registry import (
    BLOCKS,
    BOX_START,
    BOXES,
    COLOURS,
    ITEM,
    ITEMS_BY_NAME,
    KINDS,
    NUM_BOXES,
    NUM_THINGS,
    WOODS,
    Block,
    block_named,
    block_of,
    can_harvest,
    change,
    crafting,
    enchantment,
    items,
    name_of,
    smelting,
    speed_on,
    table,
)
from interplay.explore.instance import STEP_BUDGET, Milestone
from interplay.explore.oracle.sources import left_by_block
from interplay.explore.rules import Cell

_FIRM = 1200.0
"""Least blast resistance of blocks that only a tool removes, such as obsidian."""
_FIRE = frozenset({"#fire", "#soul_fire", "#lava", "lava_bucket", "flint_and_steel", "fire_charge"})
_ROOM = 4000
_STATES = ("age", "level", "layers", "pickles", "type")
"""Properties of blocks that change their drops."""
_MADE = ("crafted", "smelted", "traded", "picked_up")
_CHANGES = Path(__file__).with_name("changes.txt").read_text(encoding="utf-8")
"""Changes that the tables of the world lack, also rare ones; each is "needed things: things that come from them"."""


class Turn(NamedTuple):
    """A change that makes things (items, `#` blocks, `@` mobs) from others; it needs one thing from each set in `needs`."""

    needs: tuple[frozenset[str], ...]
    gives: tuple[str, ...]
    screen: str = ""


def turn(needs: Iterable[str], gives: Iterable[str], screen: str = "") -> Turn:
    return Turn(tuple(frozenset({one}) for one in needs), tuple(gives), screen)


@cache
def _turns() -> tuple[Turn, ...]:
    return tuple(_drawn())


def _drawn() -> Iterator[Turn]:
    for recipe in crafting.RECIPES:
        is_small = recipe.height <= 2 and recipe.width <= 2 and len(recipe.ingredients) <= 4
        yield Turn((*recipe.ingredients, *([] if is_small else [frozenset({"#crafting_table"})])), (recipe.item,), "grid")
    for kind, made in smelting.SMELTING.items():
        yield from (turn((f"#{kind}", source), (item,), kind) for source, item in made.items())
    for source, results in crafting.STONECUTTING.items():
        yield turn((source,), (one.item for one in results), "stonecutter")
    for line in _CHANGES.replace("\n", ";").split(";"):
        if line:
            needs, _, gives = line.partition(":")
            yield turn(needs.split(), gives.split())
    axes = frozenset(item.name for item in items.ITEMS if item.kind == "axe")
    for wood in WOODS:
        yield turn((f"#{wood}_sapling",), (f"#{wood}_log", f"#{wood}_leaves"))
        yield turn((f"#{wood}_leaves",), (f"{wood}_sapling", "stick", *(["apple"] * wood.endswith("oak"))))
    for colour in COLOURS:
        yield turn((f"#{colour}_concrete_powder", "#water"), (f"#{colour}_concrete",))
        yield turn(("@sheep", f"{colour}_dye"), (f"{colour}_wool",))
    for block in BLOCKS:
        if block.name.startswith("potted_"):
            yield turn(("#flower_pot", block.name.removeprefix("potted_")), (f"#{block.name}",))
        elif (item := items.item_of_block(block.name)) is not None:
            yield turn((item,), (f"#{block.name}",))
        if f"stripped_{block.name}" in ITEMS_BY_NAME:
            yield Turn((frozenset({f"#{block.name}"}), axes), (f"#stripped_{block.name}",))
    yield from (turn((item,), (f"#{block}",)) for item in items.BY_NAME if (block := items.block_of_item(item)) is not None)
    for row in table("entity_loot"):
        left = [drop["item"] for drop in row["drops"]]
        yield turn((f"@{row['entity']}",), left)
        cooked = tuple(f"cooked_{one}" for one in left if f"cooked_{one}" in items.BY_NAME)
        yield Turn((frozenset({f"@{row['entity']}"}), _FIRE), cooked)


def closure(start: Iterable[str], more: Iterable[Turn] = (), *, never: str = "", silk: bool = False) -> set[str]:
    """Return all things that a player can get from the things at the start.

    Args:
        start: Items, `#` blocks and `@` mobs.
        more: Additional turns, which only this scene has.
        never: A thing that the player never carries. The screen that makes it may still use it up, because an item on the
            cursor does not count as carried.
        silk: Whether the scene has a tool with silk touch.
    """
    had, held, size = set(start) - {never}, set[str](), -1
    every = (*_turns(), *more)
    while size < len(had) + len(held):
        size = len(had) + len(held)
        for needs, gives, screen in every:
            if all(not one.isdisjoint(had) or (never in one and screen in held) for one in needs):
                had.update(one for one in gives if one != never)
                if screen and never in gives:
                    held.add(screen)
        for tool in ("", *tools(had)):
            had.update(*(_left(one[1:], tool, silk) - {never} for one in had if one[0] == "#"))
    return had


def tools(had: Iterable[str]) -> list[str]:
    """Return the items that are tools: blocks mined with a tool may leave other things than with a bare hand."""
    return [name for name in had if name in items.BY_NAME and items.item_named(name).kind is not None]


@cache
def _left(name: str, tool: str, silk: bool) -> frozenset[str]:
    """Return all items that a block, in any of its states, leaves when it is mined with a tool."""
    block = block_named(name)
    states = {block.default, *(change(block.default, **{key: one}) for key in _STATES for one in block.properties.get(key, ()))}
    tags = [None, *([{"Enchantments": [{"id": "silk_touch", "lvl": 1}]}] * silk)]
    stacks = [Stack(tool, 1, 0, tag) for tag in tags] if tool else [None]
    return frozenset(item for state in states for stack in stacks for item in left_by_block(state, stack))


@cache
def breaks(name: str, tool: str) -> bool:
    """Whether a tool (or the bare hand, "") breaks a block within an episode, even if the block leaves nothing."""
    block, stack = block_named(name), Stack(tool) if tool else None
    slow = 30 if can_harvest(block, stack) else 100
    return block.hardness is not None and block.hardness * slow / speed_on(block, stack) < STEP_BUDGET


def proof(world: World, origin: Cell, first: Milestone, then: Milestone) -> str:
    """Say why `then` is never reached before `first`; the text is empty if the rules of the world do not prove it.

    Args:
        world: The world when the episode begins; it is only read.
        origin: Cell from which boxes of rules are counted.
        first: Must have a single rule: to carry one of an item, or to remove blocks of a kind from a box that holds exactly
            one more than the rule allows. Nothing is proved about other rules.
    """
    rule, item, locked, says = first.rules[0], "", set[Position](), ""
    if rule.type == "inventory_has" and rule.params["min_count"] == 1:
        item = rule.params["item"]
        says = f"{item} is never carried"
    elif rule.type == "count_in_box_at_most" and rule.params["kind"] == "block":
        locked = set(_inside(world, origin, rule.params))
        locked = locked if len(locked) == rule.params["max_count"] + 1 else set()
        says = f"{rule.params['object']} is not mined"
    if len(first.rules) > 1 or world.rules.get("doMobSpawning") != "false" or not (item or locked):
        return ""
    had = _had(world, item, locked)
    if any(one.endswith("_spawn_egg") for one in had) or (locked and f"#{rule.params['object']}" in had):
        return ""  # a block of that kind that is put into the box would count for the one that is mined
    for one in then.rules:
        name = one.params.get("object", one.params.get("item", ""))
        is_made = one.type == "inventory_has" or one.params.get("event") in _MADE
        is_placed = one.type == "count_in_box_at_least" and name in ITEMS_BY_NAME and one.params["kind"] == "block"
        if name == item:
            continue  # who reaches one reaches the other, perhaps at the same tick
        if (is_made and name in items.BY_NAME and name not in had) or (is_placed and f"#{name}" not in had):
            return f"nothing in the scene gives {name} while {says}"
        is_gone = one.type == "count_in_box_at_most" and name in ITEMS_BY_NAME and one.params["kind"] == "block"
        if is_gone and _stays(block_named(name), had) and len(_inside(world, origin, one.params)) > one.params["max_count"]:
            return f"nothing in the scene breaks {name} while {says}"
    return ""


def _stays(block: Block, had: set[str]) -> bool:
    firm = block.hardness is None or (block.resistance >= _FIRM and not block.name.endswith("anvil"))
    return firm and not any(breaks(block.name, tool) for tool in ("", *tools(had)))


def _inside(world: World, origin: Cell, params: Any) -> list[Position]:
    low, high = ([o + c for o, c in zip(origin, params[end], strict=True)] for end in ("min", "max"))
    cells = product(*(range(a, b + 1) for a, b in zip(low, high, strict=True)))
    return [(x, y, z) for x, y, z in cells if name_of(world.grid.get(x, y, z)) == params["object"]]


def _had(world: World, never: str, locked: set[Position]) -> set[str]:
    """Return all things that a player can get in a world; the content of containers that cannot be reached does not count."""
    states = np.bincount(world.grid.blocks.ravel())
    for cell in locked:
        states[world.grid.get(*cell)] -= 1
    rows = world.entities
    alive = rows[(rows["kind"] >= NUM_THINGS) & (rows["health"] > 0)]
    stacks = [*world.player.slots, *(stack for one in world.containers.values() for stack in one.slots)]
    silk = any(stack is not None and enchantment(stack, "silk_touch") for stack in stacks)
    start = {stack.item for stack in world.player.slots if stack is not None}
    start |= {f"#{name_of(state)}" for state in np.flatnonzero(states).tolist()} | {f"@{KINDS[one]}" for one in alive["kind"]}
    start |= {items.ITEMS[row["item"]].name for row in rows[rows["kind"] == ITEM]}
    start |= {f"{COLOURS[row['variant'] % 16]}_wool" for row in alive if KINDS[row["kind"]] == "sheep"}
    offers = []
    for entity in alive["id"].tolist():
        for offer in world.extras.get(entity, {}).get("offers", ()):
            prices = [price[0] for price in (offer["buy"], offer.get("buy2")) if price]
            offers.append(turn(prices, (offer["sell"][0],), f"offers of {entity}"))
    closed = dict(world.containers)
    while True:
        had = closure(start, offers, never=never, silk=silk)
        opened = [place for place in closed if _is_open(world, place, locked, had)]
        if not opened:
            return had
        start |= {stack.item for place in opened for stack in closed.pop(place).slots if stack is not None}


def _is_open(world: World, place: Position, locked: set[Position], had: set[str]) -> bool:
    """Whether there may be a way to a cell; there is no way if the cell lies in a small room of whole, unbreakable blocks."""
    seen, ahead = {place}, [place]
    me = world.player
    feet = (int(me.x // 1), int(me.y // 1), int(me.z // 1))
    while ahead:
        x, y, z = ahead.pop()
        if len(seen) > _ROOM or (x, y, z) == feet or "chorus_fruit" in had:
            return True
        for dx, dy, dz in NORMALS:
            beside = x + dx, y + dy, z + dz
            state = world.grid.get(*beside)
            is_whole = NUM_BOXES[state] == 1 and BOXES[BOX_START[state]].tolist() == [0, 0, 0, 1, 1, 1]
            if beside not in seen and not (is_whole and (beside in locked or _stays(block_of(state), had))):
                seen.add(beside)
                ahead.append(beside)
    return False
