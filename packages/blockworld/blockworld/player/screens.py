"""Screens of the player, of blocks and of villagers. Camera actions move a cursor; attack and use click on slots.

Coordinates are GUI pixels from the upper left of the screen's panel, which lies in the middle of a frame of 640 x 360 GUI
pixels (`panels.FRAME`; frames of other sizes scale it). Panels and slots are as in the game: 176 x 166, a chest 176 x 168.

While a screen is open the camera moves the cursor: MineRL turns a camera action into `2400 / 360` mouse pixels per degree, so 1
degree is 6.67 GUI pixels here, yaw to the right and pitch down. A key acts in the tick in which it goes down, not while held:

* attack: left click: pick up, put down, swap or add; outside the panel it throws the held stack. With sneak: quick-move.
* use: right click: pick up the larger half, or put down one.
* hotbar 1 to 9, swap_hands: exchange the slot under the cursor with that slot. drop: throw one of its items; with sprint all.
* inventory or esc: close. Stacks in the grid or on the cursor go back to the player, or to the ground if there is no room.

`step` returns True if a screen took the action; then nothing else happens, and an esc that closes a screen ends no episode.

Differences from the game: there is no dragging over several slots and no collecting by a double click. Anvils, enchanting
tables, brewing stands and other blocks whose screens need more than slots have no screen: `open_block` returns False.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from blockworld.blocks.halves import chest_halves
from blockworld.errors import WorldError, unknown_name
from blockworld.player import clicks
from blockworld.registry import trades
from blockworld.registry.blocks import name_of
from blockworld.registry.containers import kind_of_block
from blockworld.slots.panels import FRAME, KINDS, Place, panel
from blockworld.slots.screen import Screen
from blockworld.state import OFFHAND, Action, Position, Stack
from blockworld.world_state import WorldState

PIXELS_PER_DEGREE = 2400 / 360
"""Mouse pixels per degree of a camera action, as in MineRL 1.0."""
REACH = 8.0
"""Distance in blocks between the player and the screen's block or villager at which the screen closes."""
_NUM_INPUTS = {"inventory": 4, "crafting_table": 9, "stonecutter": 1, "villager": 2}


class Turn(NamedTuple):
    """Degrees of yaw and pitch that an action needs to move the cursor."""

    yaw: float
    pitch: float


# What the renderer and scripted agents ask.


def slots(screen: Screen) -> tuple[Place, ...]:
    return screen.panel.places


def find(screen: Screen, owner: str, index: int = 0) -> int:
    """Return the number of a place; `find(screen, "player", 0)` is the first slot of the hotbar. WorldError if missing."""
    for number, place in enumerate(screen.panel.places):
        if (place.owner, place.index) == (owner, index):
            return number
    raise WorldError(f"the {screen.kind} screen has no place {index} of owner {owner!r}; see screens.slots(screen)")


def pointer(screen: Screen, x: float, y: float) -> None:
    """Put the cursor at a point in GUI pixels from the panel's upper left, kept within the frame."""
    if not (math.isfinite(x) and math.isfinite(y)):
        raise WorldError(f"the cursor cannot be at {x}, {y}; give finite GUI pixels")
    left, top = screen.corner
    screen.x = min(max(float(x), -left), FRAME[0] - 1 - left)
    screen.y = min(max(float(y), -top), FRAME[1] - 1 - top)


def turn_within(screen: Screen, turn: Turn, shown: tuple[float, float]) -> Turn:
    """Scale a turn for a magnified picture, so that the cursor moves the same share of the picture and stays inside.

    Args:
        turn: The turn as the mouse gives it.
        shown: (width, height) in GUI pixels of the part that the picture shows around the panel; see `hud.shown`.
    """
    share = shown[0] / FRAME[0]
    to = [0.0, 0.0]
    for axis, (at, degrees, panel_side) in enumerate(
        ((screen.x, turn.yaw, screen.panel.width), (screen.y, turn.pitch, screen.panel.height))
    ):
        low = (panel_side - shown[axis]) / 2
        to[axis] = min(max(at + degrees * share * PIXELS_PER_DEGREE, low), low + shown[axis] - 1) - at
    return Turn(to[0] / PIXELS_PER_DEGREE, to[1] / PIXELS_PER_DEGREE)


def path_to(screen: Screen, slot: int) -> Turn:
    """Return the turn that moves the cursor to the middle of a place; it may be split over several actions.

    Args:
        slot: Number of the place, as `find` returns it.

    Raises:
        WorldError: If there is no such place.
    """
    if not 0 <= slot < len(screen.panel.places):
        raise WorldError(f"the {screen.kind} screen has places 0 to {len(screen.panel.places) - 1}, got {slot}")
    place = screen.panel.places[slot]
    dx, dy = place.x + place.width / 2 - screen.x, place.y + place.height / 2 - screen.y
    return Turn(dx / PIXELS_PER_DEGREE, dy / PIXELS_PER_DEGREE)


def stack_in(world: WorldState, screen: Screen, slot: int) -> Stack | None:
    """The stack that a place shows: the slot's content, the output, or an option; None if it is empty."""
    place = screen.panel.places[slot]
    if place.owner == "result":
        return clicks.result(world, screen)
    if place.owner == "option":
        index = place.index
        if screen.kind == "stonecutter":
            made = clicks.cuttings(screen)
            return made[index] if index < len(made) else None
        offered = clicks.offers(world, screen)
        index += screen.scroll
        return trades.sold(offered[index]) if index < len(offered) else None
    if place.owner == "scroll":
        return None
    store, index = clicks.store_of(world, screen, place)
    return store[index]


# Opening and closing.


def screen_of_block(name: str) -> str | None:
    """The kind of screen that opens when a player uses a block; None if no screen opens."""
    return name if name in ("crafting_table", "stonecutter") else kind_of_block(name)


def open_block(world: WorldState, position: Position) -> bool:
    """Open the screen of the block at a position; if it has none, do nothing and return False."""
    kind = screen_of_block(name_of(world.grid.get(*position)))
    if kind is not None:
        open(world, kind, position)
    return kind is not None


def open(world: WorldState, kind: str, position: Position | None = None, *, entity: int = -1) -> Screen:
    """Open a screen; if another one is open, close that first.

    The keys of the action that opened the screen count as held, so that they do not also click.

    Args:
        kind: One of `KINDS`; for a large chest, `chest` becomes `large_chest`.
        position: Position of the screen's block.
        entity: Id of the screen's villager.

    Raises:
        UnknownNameError: If there is no such kind of screen.
        WorldError: If the block or villager is missing.
    """
    if kind not in KINDS:
        raise unknown_name("screen", kind[:100], KINDS)
    blocks: list[Position] = []
    if kind == "villager":
        if entity not in world.extras or "offers" not in world.extras[entity]:
            raise WorldError(f"entity {entity} has nothing to trade; give the id of a villager with offers")
    elif kind not in ("inventory", "crafting_table", "stonecutter"):
        wanted = "chest" if kind == "large_chest" else kind
        if position is None or screen_of_block(name_of(world.grid.get(*position))) != wanted:
            raise WorldError(f"there is no {kind} at {position} to open")
        blocks = list(chest_halves(world, position))
        for half in blocks:
            world.container_at(half)
        if kind in ("chest", "large_chest"):
            kind = "large_chest" if len(blocks) == 2 else "chest"
    if world.screen is not None:
        close(world)
    size = panel(kind)
    screen = Screen(kind, position, entity, blocks, size.width / 2, size.height / 2)
    screen.craft = [None] * _NUM_INPUTS.get(kind, 0)
    screen.before = [*Action._fields[:-2], *(f"hotbar.{number}" for number in range(1, 10))]
    world.screen = screen
    return screen


def close(world: WorldState) -> None:
    """Close the open screen, if there is one; loose stacks go to the player, or to the ground if there is no room."""
    screen = world.screen
    if screen is None:
        return
    for stack in (*screen.craft, world.player.held):
        if stack is not None:
            clicks.give_back(world, stack)
    world.player.held = None
    world.screen = None


# One tick.


def keys_down(action: Action) -> list[str]:
    down = [name for name in Action._fields[:-2] if name != "hotbar" and getattr(action, name)]
    return [*down, f"hotbar.{action.hotbar}"] if action.hotbar else down


def step(world: WorldState, action: Action) -> bool:
    """Apply an action to the open screen; return whether a screen was open.

    If a screen was open, the action has no other effect, also in the tick that closes the screen.
    """
    screen = world.screen
    if screen is None:
        return False
    if not _still_there(world, screen):
        close(world)
        return True
    pointer(screen, screen.x + action.camera_yaw * PIXELS_PER_DEGREE, screen.y + action.camera_pitch * PIXELS_PER_DEGREE)
    down = keys_down(action)
    pressed = [name for name in down if name not in screen.before]
    screen.before = down
    if "inventory" in pressed or "esc" in pressed:
        close(world)
        return True
    if "attack" in pressed:
        clicks.click(world, screen, quick=action.sneak)
    if "use" in pressed:
        clicks.click(world, screen, right=True, quick=action.sneak)
    if world.player.held is None:
        for name in pressed:
            if name.startswith("hotbar."):
                clicks.exchange(world, screen, int(name[7:]) - 1)
        if "swap_hands" in pressed:
            clicks.exchange(world, screen, OFFHAND)
        if "drop" in pressed:
            clicks.throw_hovered(world, screen, whole=action.sprint)
    if screen.kind == "stonecutter" and (screen.craft[0] is None or screen.craft[0].item != screen.chosen_for):
        screen.choice = -1
    return True


def _still_there(world: WorldState, screen: Screen) -> bool:
    """Whether the player is alive and the screen's block or villager still exists in reach."""
    player = world.player
    if player.dead:
        return False
    if screen.kind == "villager":
        rows = np.flatnonzero((world.entities["id"] == screen.entity) & (world.entities["kind"] >= 0))
        if not rows.size:
            return False
        one = world.entities[int(rows[0])]
        place = (float(one["x"]), float(one["y"]), float(one["z"]))
    elif screen.position is not None:
        if screen.blocks and any(half not in world.containers for half in screen.blocks):
            return False
        kind = screen_of_block(name_of(world.grid.get(*screen.position)))
        if kind != ("chest" if screen.kind == "large_chest" else screen.kind):
            return False
        x, y, z = screen.position
        place = (x + 0.5, y + 0.5, z + 0.5)
    else:
        return True
    return math.dist(place, (player.x, player.y, player.z)) <= REACH
