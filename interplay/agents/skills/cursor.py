"""Use screens as a player does: move the cursor by the camera, and click on places."""

from __future__ import annotations

from collections.abc import Generator

from blockworld import Action, World, screens

Acts = Generator[Action, None, bool]
"""Generator of one action for each tick; it returns whether the actions succeeded."""

MOST_TURN = 15.0
"""Largest turn in one step, in degrees, so that it looks like the movement of a hand."""


def open_inventory(world: World) -> Acts:
    if world.screen is None:
        yield Action(inventory=True)
        yield Action()
    return world.screen is not None


def close(world: World) -> Acts:
    for _ in range(3):
        if world.screen is None:
            break
        yield Action(inventory=True)
        yield Action()
    return world.screen is None


def point(world: World, owner: str, index: int = 0) -> Acts:
    screen = world.screen
    for _ in range(40):
        if screen is None or world.screen is not screen:
            return False
        place = screens.find(screen, owner, index)
        if screen.hovered == place:
            return True
        turn = screens.path_to(screen, place)
        yield Action(
            camera_yaw=min(MOST_TURN, max(-MOST_TURN, turn.yaw)), camera_pitch=min(MOST_TURN, max(-MOST_TURN, turn.pitch))
        )
    return False


def click(world: World, owner: str, index: int = 0, *, right: bool = False, quick: bool = False, times: int = 1) -> Acts:
    """Click on a place of a screen, left or `right`. With `quick`, sneak is held, so that the whole stack changes sides."""
    if not (yield from point(world, owner, index)):
        return False
    for _ in range(times):
        yield Action(attack=not right, use=right, sneak=quick)
        yield Action()
    return True


def fetch(world: World, slot: int, hotbar: int) -> Acts:
    """Exchange a slot of the inventory with a slot of the hotbar, and take the hotbar's slot into the hand."""
    if not (yield from open_inventory(world)):
        return False
    yield from point(world, "player", slot)
    yield Action(hotbar=hotbar + 1)
    yield Action()
    yield from close(world)
    yield Action(hotbar=hotbar + 1)
    return True
