"""Clicks and keys on the slots of an open screen; `screens` decides which of these functions to call.

No function creates or loses items, except by crafting, stonecutting and trading.
"""

from __future__ import annotations

import math

from blockworld.registry import crafting, smelting, trades
from blockworld.registry.items import TAGS, item_named
from blockworld.slots import inventory
from blockworld.slots.inventory import Slots, copied
from blockworld.slots.panels import GRID_WIDTH, NUM_OFFERS_SHOWN, Place
from blockworld.slots.screen import Screen
from blockworld.state import ARMOUR, OFFHAND, Container, Stack
from blockworld.world_state import WorldState

# What there is.


def offers(world: WorldState, screen: Screen) -> list[trades.Offer]:
    """Trades that the screen's villager offers: `world.extras[id]["offers"]`."""
    return world.extras.get(screen.entity, {}).get("offers", [])


def result(world: WorldState, screen: Screen) -> Stack | None:
    """Current output of the grid, stonecutter or trade; None if there is no output."""
    if screen.kind in GRID_WIDTH:
        craft = crafting.match(screen.craft, GRID_WIDTH[screen.kind])
        return None if craft is None else craft.stack
    if screen.kind == "stonecutter":
        source, made = screen.craft[0], cuttings(screen)
        if source is None or source.item != screen.chosen_for or not 0 <= screen.choice < len(made):
            return None
        return copied(made[screen.choice], made[screen.choice].count)
    if screen.kind == "villager":
        offer = trades.met(offers(world, screen), screen.choice, screen.craft)
        return None if offer is None else trades.sold(offer)
    return None


def throw(world: WorldState, stack: Stack) -> None:
    """Throw a stack where the player looks, at 0.3 blocks per tick and a little upwards; no pick-up for 40 ticks."""
    player = world.player
    yaw, pitch = math.radians(player.yaw), math.radians(player.pitch)
    flat = math.cos(pitch) * 0.3
    vx, vy, vz = -math.sin(yaw) * flat, 0.1 - math.sin(pitch) * 0.3, math.cos(yaw) * flat
    world.spawn_item(player.x, player.eye_y - 0.3, player.z, stack, vx=vx, vy=vy, vz=vz, delay=40)


def give_back(world: WorldState, stack: Stack) -> None:
    """Put a stack into the player's slots, and throw the part that does not fit."""
    left = world.give(stack)
    if left is not None:
        throw(world, left)


# Clicks and keys.


def click(world: WorldState, screen: Screen, *, right: bool = False, quick: bool = False) -> None:
    """Click at the cursor with the left or right button; `quick` moves the whole stack to the other side of the screen."""
    player = world.player
    if screen.hovered is None:
        outside = not (0 <= screen.x < screen.panel.width and 0 <= screen.y < screen.panel.height)
        if outside and player.held is not None:
            thrown = copied(player.held, 1) if right else player.held
            player.held = _less(player.held, thrown.count)
            throw(world, thrown)
        return
    place = screen.panel.places[screen.hovered]
    if place.owner == "option":
        _choose(world, screen, place.index)
    elif place.owner == "scroll":
        most = max(0, len(offers(world, screen)) - NUM_OFFERS_SHOWN)
        screen.scroll = min(max(0, screen.scroll + (1 if place.index else -1)), most)
    elif quick:
        _quick_move(world, screen, place)
    elif place.owner == "result":
        _take_result(world, screen)
    else:
        _click_slot(world, screen, place, right=right)


# What lies where.


def store_of(world: WorldState, screen: Screen, place: Place) -> tuple[Slots, int]:
    """The list of slots to which a place belongs, and the place's index in it."""
    if place.owner == "player":
        return world.player.slots, place.index
    if place.owner == "craft":
        return screen.craft, place.index
    half, index = divmod(place.index, 27)
    return _container(world, screen, half).slots, index


def _container(world: WorldState, screen: Screen, half: int = 0) -> Container:
    return world.containers[screen.blocks[half]]


def _accepts(world: WorldState, screen: Screen, place: Place, stack: Stack) -> bool:
    if place.owner == "player":
        return inventory.accepts(world.player.slots, place.index, stack)
    if place.owner == "container":
        if screen.kind == "shulker_box":
            return stack.item not in TAGS["shulker_boxes"]
        if screen.kind in smelting.COOK_TICKS:
            if place.index == smelting.FUEL:
                return bool(item_named(stack.item).fuel) or stack.item == "bucket"
            return place.index == smelting.INPUT
    return place.owner != "result"


def _limit(place: Place, stack: Stack) -> int:
    return 1 if place.owner == "player" and ARMOUR <= place.index < OFFHAND else item_named(stack.item).stack


def _less(stack: Stack, number: int) -> Stack | None:
    return copied(stack, stack.count - number) if stack.count > number else None


def _click_slot(world: WorldState, screen: Screen, place: Place, *, right: bool) -> None:
    player = world.player
    store, index = store_of(world, screen, place)
    there, held = store[index], player.held
    if held is None:
        if there is not None:
            taken = (there.count + 1) // 2 if right else there.count
            player.held = inventory.take(store, index, taken)
            _count_taken(world, screen, place, player.held)
        return
    accepts, most = _accepts(world, screen, place, held), _limit(place, held)
    if there is None:
        if accepts:
            moved = min(1 if right else held.count, most)
            store[index], player.held = copied(held, moved), _less(held, moved)
    elif there.same_kind(held):
        if accepts:
            moved = max(0, min(1 if right else held.count, most - there.count))
            there.count += moved
            player.held = _less(held, moved)
        elif held.count + there.count <= most:  # a slot one may only take from adds to what is held
            held.count += there.count
            _count_taken(world, screen, place, there)
            store[index] = None
    elif accepts and held.count <= most:
        store[index], player.held = held, there


def _count_taken(world: WorldState, screen: Screen, place: Place, stack: Stack) -> None:
    if place.owner == "container" and screen.kind in smelting.COOK_TICKS and place.index == smelting.OUTPUT and stack.count:
        world.player.count("smelted", stack.item, stack.count)


# Results.


def _take_result(world: WorldState, screen: Screen) -> None:
    made, held = result(world, screen), world.player.held
    if made is None:
        return
    if held is not None and not (held.same_kind(made) and held.count + made.count <= item_named(made.item).stack):
        return
    _pay(world, screen)
    world.player.held = made if held is None else copied(held, held.count + made.count)


def _pay(world: WorldState, screen: Screen) -> None:
    """Remove the cost of one result, and count the result. Remainders (buckets) stay in their slot or go to the player."""
    made = result(world, screen)
    assert made is not None  # the callers asked before
    verb = "crafted"
    if screen.kind == "villager":
        verb = "traded"
        offer = trades.met(offers(world, screen), screen.choice, screen.craft)
        assert offer is not None
        for index, (_, number) in enumerate(trades.costs(offer, screen.craft)):
            if number:
                inventory.take(screen.craft, index, number)
        offer["uses"] = offer.get("uses", 0) + 1
    else:
        craft = crafting.match(screen.craft, GRID_WIDTH[screen.kind]) if screen.kind in GRID_WIDTH else None
        remainders = (None,) * len(screen.craft) if craft is None else craft.remainders
        for index, remainder in enumerate(remainders):
            if screen.craft[index] is None:
                continue
            inventory.take(screen.craft, index, 1)
            if remainder is not None:
                if screen.craft[index] is None:
                    screen.craft[index] = Stack(remainder)
                else:
                    give_back(world, Stack(remainder))
    world.player.count(verb, made.item, made.count)


def cuttings(screen: Screen) -> tuple[Stack, ...]:
    source = screen.craft[0]
    return () if source is None else crafting.STONECUTTING.get(source.item, ())


def _choose(world: WorldState, screen: Screen, option: int) -> None:
    """Choose an option of a stonecutter, or an offer of a villager; put the cost of the offer into the places of the trade."""
    if screen.kind == "stonecutter":
        source = screen.craft[0]
        if source is not None and option < len(cuttings(screen)):
            screen.choice, screen.chosen_for = option, source.item
        return
    option += screen.scroll
    offered = offers(world, screen)
    if option >= len(offered):
        return
    screen.choice = option
    for index in range(2):
        stack = screen.craft[index]
        if stack is not None:
            screen.craft[index] = inventory.add(world.player.slots, stack)
    for index, cost in enumerate((offered[option]["buy"], offered[option].get("buy2"))):
        if cost is not None and screen.craft[index] is None:
            _fetch(world, screen, index, cost[0])


def _fetch(world: WorldState, screen: Screen, target: int, item: str) -> None:
    """Move the items of one kind that the player carries, up to a full stack, into a place of the trade."""
    carried = world.player.slots
    for index in inventory.CARRIED:
        stack, there = carried[index], screen.craft[target]
        if stack is None or stack.item != item or (there is not None and not there.same_kind(stack)):
            continue
        room = item_named(item).stack - (0 if there is None else there.count)
        taken = inventory.take(carried, index, room) if room else None
        if taken is not None:
            screen.craft[target] = copied(taken, taken.count + (0 if there is None else there.count))


# Keys and quick-moves.

_MAIN, _HOTBAR = tuple(range(9, 36)), tuple(range(9))
_BACK = (*reversed(_HOTBAR), *reversed(_MAIN))
"""Order in which the player's slots receive results and contents of chests: the hotbar first, from its right end."""


def _quick_move(world: WorldState, screen: Screen, place: Place) -> None:
    if place.owner == "result":
        _take_all_results(world, screen)
        return
    store, index = store_of(world, screen, place)
    stack = store[index]
    if stack is None:
        return
    before = stack.count
    left: Stack | None = stack
    for slots_there, order in _ways(world, screen, place, stack):
        if left is not None:
            left = _merge(slots_there, left, order)
    moved = before - (0 if left is None else left.count)
    if moved:
        _count_taken(world, screen, place, copied(stack, moved))
    store[index] = left


def _merge(target: Slots, stack: Stack, order: tuple[int, ...]) -> Stack | None:
    """Add a stack as `inventory.add` does, but put only one item into an armour slot."""
    if len(target) == inventory.NUM_SLOTS and len(order) == 1 and ARMOUR <= order[0] < OFFHAND:
        if target[order[0]] is None:
            target[order[0]] = copied(stack, 1)
            return _less(stack, 1)
        return stack
    return inventory.add(target, stack, places=order)


def _ways(world: WorldState, screen: Screen, place: Place, stack: Stack) -> list[tuple[Slots, tuple[int, ...]]]:
    """Targets of a quick-move: lists of slots, each with the indices to try, in order."""
    carried = world.player.slots
    if place.owner == "container":
        put_in = screen.kind in smelting.COOK_TICKS and place.index != smelting.OUTPUT
        return [(carried, (*_MAIN, *_HOTBAR) if put_in else _BACK)]
    if place.owner == "craft" or place.index >= ARMOUR:
        return [(carried, (*_MAIN, *_HOTBAR))]
    across = _HOTBAR if place.index >= 9 else _MAIN
    if screen.kind == "inventory":
        worn = item_named(stack.item).armour_slot
        wear = OFFHAND if stack.item == "shield" else worn
        if wear is not None and carried[wear] is None:
            return [(carried, (wear,)), (carried, across)]
        return [(carried, across)]
    if screen.kind == "crafting_table":
        return [(screen.craft, tuple(range(9))), (carried, across)]
    if screen.kind == "stonecutter" and stack.item in crafting.STONECUTTING:
        return [(screen.craft, (0,)), (carried, across)]
    if screen.kind in smelting.COOK_TICKS:
        furnace = _container(world, screen).slots
        if smelting.smelted(screen.kind, stack.item) is not None:
            return [(furnace, (smelting.INPUT,))]
        if item_named(stack.item).fuel:
            return [(furnace, (smelting.FUEL,))]
        return [(carried, across)]
    if screen.blocks:
        if screen.kind == "shulker_box" and stack.item in TAGS["shulker_boxes"]:
            return []
        halves = [world.containers[half].slots for half in screen.blocks]
        return [(half, tuple(range(len(half)))) for half in halves]
    return [(carried, across)]


def _take_all_results(world: WorldState, screen: Screen) -> None:
    """Take the same result as often as possible, until the player's slots are full or the cost is used up."""
    first = made = result(world, screen)
    while made is not None and first is not None and made.same_kind(first):
        if inventory.room_for(world.player.slots, made) < made.count:
            return
        _pay(world, screen)
        left = inventory.add(world.player.slots, made, places=_BACK)
        if left is not None:  # a bottle that remained took the last place
            throw(world, left)
        made = result(world, screen)


def exchange(world: WorldState, screen: Screen, other: int) -> None:
    if screen.hovered is None:
        return
    place = screen.panel.places[screen.hovered]
    carried = world.player.slots
    mine = carried[other]
    if place.owner == "result":
        made = result(world, screen)
        if mine is None and made is not None:
            _pay(world, screen)
            if carried[other] is None:
                carried[other] = made
            else:  # a bottle that remained took the place
                give_back(world, made)
        return
    if place.owner not in ("player", "container", "craft"):
        return
    store, index = store_of(world, screen, place)
    there = store[index]
    if mine is None and there is not None:
        taken = carried[other] = inventory.take(store, index)
        _count_taken(world, screen, place, taken)
    elif mine is not None and _accepts(world, screen, place, mine):
        most = _limit(place, mine)
        if there is None and mine.count > most:
            store[index], carried[other] = copied(mine, most), _less(mine, most)
        elif mine.count <= most:
            store[index], carried[other] = mine, there


def throw_hovered(world: WorldState, screen: Screen, *, whole: bool) -> None:
    """Throw one item, or with `whole` all, of the slot under the cursor; from a result slot, the output of one crafting."""
    if screen.hovered is None:
        return
    place = screen.panel.places[screen.hovered]
    if place.owner == "result":
        made = result(world, screen)
        if made is not None:
            _pay(world, screen)
            throw(world, made)
    elif place.owner in ("player", "container", "craft"):
        store, index = store_of(world, screen, place)
        if store[index] is not None:
            thrown = inventory.take(store, index, None if whole else 1)
            _count_taken(world, screen, place, thrown)
            throw(world, thrown)
