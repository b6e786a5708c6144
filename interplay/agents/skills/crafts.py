"""Screens by hand: the cursor is moved by the camera, stacks are clicked from slot to slot, and things are made of them."""

from __future__ import annotations

from blockworld import Action, Position, screens
from blockworld.registry import crafting
from interplay.agents.skills.body import MOST_TURN, Acts, Body

FURNACE_INPUT, FURNACE_FUEL, FURNACE_OUTPUT = 0, 1, 2
CHEST_SLOTS = 27
"""Of one half; the places of the other half of a large chest follow."""


def open_inventory(body: Body) -> Acts:
    """The player's own screen."""
    if body.world.screen is None:
        yield Action(inventory=True)
        yield Action()
    return body.world.screen is not None


def close(body: Body) -> Acts:
    """Whatever screen is open."""
    for _ in range(3):
        if body.world.screen is None:
            break
        yield Action(inventory=True)
        yield Action()
    return body.world.screen is None


def point(body: Body, owner: str, index: int = 0) -> Acts:
    screen = body.world.screen
    for _ in range(40):
        if screen is None or body.world.screen is not screen:
            return False
        place = screens.find(screen, owner, index)
        if screen.hovered == place:
            return True
        turn = screens.path_to(screen, place)
        yield Action(
            camera_yaw=min(MOST_TURN, max(-MOST_TURN, turn.yaw)), camera_pitch=min(MOST_TURN, max(-MOST_TURN, turn.pitch))
        )
    return False


def click(body: Body, owner: str, index: int = 0, *, right: bool = False, quick: bool = False, times: int = 1) -> Acts:
    if not (yield from point(body, owner, index)):
        return False
    for _ in range(times):
        yield Action(attack=not right, use=right, sneak=quick)
        yield Action()
    return True


def fetch(body: Body, slot: int, hotbar: int) -> Acts:
    """Exchange a slot of the inventory with one of the hotbar, and take that into the hand."""
    if not (yield from open_inventory(body)):
        return False
    yield from point(body, "player", slot)
    yield Action(hotbar=hotbar + 1)
    yield Action()
    yield from close(body)
    yield Action(hotbar=hotbar + 1)
    return True


def craft(body: Body, item: str, times: int = 1, *, table: Position | None = None) -> Acts:
    """Make an item some times over; at a crafting table if one is given, else in the inventory's own grid."""
    width = 3 if table is not None else 2
    recipe = crafting.can_make(item, body.world.player.slots, width)
    if recipe is None:
        return False
    before = body.count(item)
    if table is not None:
        if not (yield from body.use_on(table)):
            return False
    elif not (yield from open_inventory(body)):
        return False
    chosen = crafting.plan(recipe, body.world.player.slots, width) or []
    for name in dict.fromkeys(name for name in chosen if name is not None):
        places = [index for index, other in enumerate(chosen) if other == name]
        yield from _lay(body, name, places, times)
    yield from click(body, "result", quick=True)
    yield from close(body)
    return body.count(item) > before


def _lay(body: Body, name: str, places: list[int], times: int) -> Acts:
    """Lay an item into some places of the grid, `times` into each."""
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
        yield from click(body, "player", source)
        for index, number in lacking.items():
            held = body.world.player.held
            if held is None:
                break
            if number >= held.count and index == max(lacking):
                yield from click(body, "craft", index)
            else:
                yield from click(body, "craft", index, right=True, times=min(number, held.count))
        if body.world.player.held is not None:
            yield from click(body, "player", source)
    return True


def smelt(body: Body, furnace: Position, item: str, count: int, fuel: str, num_fuel: int) -> Acts:
    """Put things and fuel into a furnace, wait, and take out what comes."""
    if not (yield from body.use_on(furnace)):
        return False
    for name, index, number in ((item, FURNACE_INPUT, count), (fuel, FURNACE_FUEL, num_fuel)):
        source = body.slot(name)
        if source is None:
            continue
        stack = body.world.player.slots[source]
        assert stack is not None
        carried = stack.count  # of the stack, which the click changes
        yield from click(body, "player", source)
        if carried <= number:
            yield from click(body, "container", index)
        else:
            yield from click(body, "container", index, right=True, times=number)
            yield from click(body, "player", source)
    for _ in range(210 * count):
        made = body.world.containers[furnace].slots[FURNACE_OUTPUT] if furnace in body.world.containers else None
        if made is not None and made.count >= count:
            break
        yield Action()
    yield from click(body, "container", FURNACE_OUTPUT, quick=True)
    yield from close(body)
    return True


def take(body: Body, container: Position, item: str, count: int) -> Acts:
    """Take stacks of an item out of a chest, barrel or furnace in reach until so many are carried."""
    if not (yield from body.use_on(container)):
        return False
    screen = body.world.screen
    for half, block in enumerate([] if screen is None else screen.blocks):
        for slot, stack in enumerate(body.world.containers[block].slots):
            if stack is not None and stack.item == item and body.count(item) < count:
                yield from click(body, "container", CHEST_SLOTS * half + slot, quick=True)
    yield from close(body)
    return body.count(item) >= count


def put(body: Body, container: Position, item: str, count: int) -> Acts:
    """Put so many of an item into a chest or barrel in reach, as far as there is room."""
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
            yield from click(body, "player", slot, quick=True)
        else:
            free = [
                CHEST_SLOTS * half + index
                for half, block in enumerate(blocks)
                for index, there in enumerate(body.world.containers[block].slots)
                if there is None
            ]
            if free:
                yield from click(body, "player", slot)
                yield from click(body, "container", free[0], right=True, times=left)
                yield from click(body, "player", slot)
        left -= carried - (0 if (rest := slots[slot]) is None else rest.count)
    yield from close(body)
    return left <= 0
