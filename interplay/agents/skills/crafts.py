"""Craft and move items in the game's screens, by clicks that move stacks from slot to slot."""

from __future__ import annotations

from blockworld import Action, Position
from blockworld.registry import crafting
from interplay.agents.skills.body import Acts, Body
from interplay.agents.skills.cursor import click, close, open_inventory

FURNACE_INPUT, FURNACE_FUEL, FURNACE_OUTPUT = 0, 1, 2
CHEST_SLOTS = 27
"""Number of slots of one half of a chest; in a large chest, the slots of the other half follow."""


def craft(body: Body, item: str, times: int = 1, *, table: Position | None = None) -> Acts:
    """Craft an item `times` times, at a crafting table or in the inventory's own grid."""
    width = 3 if table is not None else 2
    recipe = crafting.can_make(item, body.world.player.slots, width)
    if recipe is None:
        return False
    before = body.count(item)
    if table is not None:
        if not (yield from body.use_on(table)):
            return False
    elif not (yield from open_inventory(body.world)):
        return False
    chosen = crafting.plan(recipe, body.world.player.slots, width) or []
    for name in dict.fromkeys(name for name in chosen if name is not None):
        places = [index for index, other in enumerate(chosen) if other == name]
        yield from _lay(body, name, places, times)
    yield from click(body.world, "result", quick=True)
    yield from close(body.world)
    return body.count(item) > before


def _lay(body: Body, name: str, places: list[int], times: int) -> Acts:
    """Lay `times` pieces of an item into each of these places of the crafting grid."""
    slots = body.world.player.slots
    for _ in range(4):
        source = body.slot(name)
        screen = body.world.screen
        if source is None or screen is None:
            return False
        stack = slots[source]
        assert stack is not None
        lacking = {index: times - (0 if (there := screen.craft[index]) is None else there.count) for index in places}
        lacking = {index: number for index, number in lacking.items() if number > 0}
        if not lacking:
            return True
        yield from click(body.world, "player", source)
        for index, number in lacking.items():
            held = body.world.player.held
            if held is None:
                break
            if number >= held.count and index == max(lacking):
                yield from click(body.world, "craft", index)
            else:
                yield from click(body.world, "craft", index, right=True, times=min(number, held.count))
        if body.world.player.held is not None:
            yield from click(body.world, "player", source)
    return True


def smelt(body: Body, furnace: Position, item: str, count: int, fuel: str, num_fuel: int) -> Acts:
    if not (yield from body.use_on(furnace)):
        return False
    for name, index, number in ((item, FURNACE_INPUT, count), (fuel, FURNACE_FUEL, num_fuel)):
        source = body.slot(name)
        if source is None:
            continue
        stack = body.world.player.slots[source]
        assert stack is not None
        carried = stack.count  # of the stack, which the click changes
        yield from click(body.world, "player", source)
        if carried <= number:
            yield from click(body.world, "container", index)
        else:
            yield from click(body.world, "container", index, right=True, times=number)
            yield from click(body.world, "player", source)
    for _ in range(210 * count):
        made = body.world.containers[furnace].slots[FURNACE_OUTPUT] if furnace in body.world.containers else None
        if made is not None and made.count >= count:
            break
        yield Action()
    yield from click(body.world, "container", FURNACE_OUTPUT, quick=True)
    yield from close(body.world)
    return True


def take(body: Body, container: Position, item: str, count: int) -> Acts:
    """Take stacks of an item out of a chest, barrel or furnace in reach until the player carries `count`."""
    if not (yield from body.use_on(container)):
        return False
    screen = body.world.screen
    for half, block in enumerate([] if screen is None else screen.blocks):
        for slot, stack in enumerate(body.world.containers[block].slots):
            if stack is not None and stack.item == item and body.count(item) < count:
                yield from click(body.world, "container", CHEST_SLOTS * half + slot, quick=True)
    yield from close(body.world)
    return body.count(item) >= count


def put(body: Body, container: Position, item: str, count: int) -> Acts:
    """Put up to `count` of an item into a chest or barrel in reach; fewer where there is no room for all."""
    if not (yield from body.use_on(container)):
        return False
    screen, slots, left = body.world.screen, body.world.player.slots, count
    blocks = [] if screen is None else screen.blocks
    for slot in range(36):
        stack = slots[slot]
        if stack is None or stack.item != item or left <= 0:
            continue
        carried = stack.count  # of the stack, which the click changes
        if carried <= left:
            yield from click(body.world, "player", slot, quick=True)
        else:
            free = [
                CHEST_SLOTS * half + index
                for half, block in enumerate(blocks)
                for index, there in enumerate(body.world.containers[block].slots)
                if there is None
            ]
            if free:
                yield from click(body.world, "player", slot)
                yield from click(body.world, "container", free[0], right=True, times=left)
                yield from click(body.world, "player", slot)
        left -= carried - (0 if (rest := slots[slot]) is None else rest.count)
    yield from close(body.world)
    return left <= 0
