"""Display over the picture of the world, as a list of operations: bars, colours over the view, screens with slots, the cursor.

The list has plain values that can become JSON. `hud.paint` draws it on pictures, `web/display.js` on a canvas in the browser.
Numbers are GUI pixels as in the game (a hotbar has 182 x 22, a panel 176 x 166), x to the right and y down from an origin that
an earlier operation has set. Sprites are the keys of `pieces`.

| operation | does |
| --- | --- |
| `veil, red, green, blue, share` | mixes a colour into the whole picture: `share` of 256 |
| `flames, ticks` | draws fire that rises from the lower edge |
| `title, sprite` | draws a line of text, twice as large, at a third of the height |
| `crosshair` | draws a cross in the middle with inverted colours |
| `bars` | sets the origin to the middle of the lower edge |
| `panel, sprite` | draws a panel in the middle, at a scale that fits; its upper left becomes the origin, its scale the scale |
| `cursor, x, y` | sets the origin to this point of the panel; only operations at the cursor follow |
| `sprite, sprite, x, y` | draws a sprite |
| `fill, x, y, width, height, red, green, blue` | draws a rectangle |
| `lighten, x, y, width, height` | makes a rectangle lighter, by a third of the way to white |
| `portrait, x, y, pose` | draws the player (`pose`) as seen from `PORTRAIT_EYE`, in a window of size `PORTRAIT` |
| `tooltip, sprite, x, y` | draws a line of text in a dark frame, kept within the picture |
| `pointer` | draws the cursor's arrow |
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from blockworld.player import clicks, screens
from blockworld.registry import trades
from blockworld.registry.blocks import name_of
from blockworld.registry.items import BY_NAME
from blockworld.render import exact, figures, font
from blockworld.render.sheets import Colour
from blockworld.slots import inventory
from blockworld.slots.screen import Screen
from blockworld.state import OFFHAND, Player, Stack
from blockworld.world_state import WorldState

Operation = tuple[Any, ...]
_WITH_SPRITES = ("sprite", "panel", "title", "tooltip", "pointer")
SWING_TICKS = 6
HAND_FOV = 70.0
PORTRAIT = (49, 70)
"""Width and height of the player's portrait, in GUI pixels."""
PORTRAIT_EYE, PORTRAIT_FOV = (0.0, 1.0, 0.0), 17.0
"""Point from which the portrait is seen, looking along +z, and its vertical angle of view in degrees."""
CHOSEN: Colour = (250, 240, 214)


# ---------------------------------------------------------------- models
def hand(world: WorldState, gamma: float = 0.0) -> np.ndarray | None:
    """Return the pose of the held item, or of the bare arm, which is drawn over the world and under the display.

    Args:
        gamma: Gamma of the light on it, as in `daylight.brightness`.
    Returns:
        A pose, float64, shape (figures.POSE,), for an eye at the origin that looks along +z with a vertical angle of view of
        `HAND_FOV` degrees; None if no hand is visible.
    """
    player = world.player
    if player.game_mode == "spectator" or player.sleeping or player.dead:
        return None
    swing = min(1.0, player.swing / SWING_TICKS)
    reach, dip = exact.sin(swing * math.pi), exact.sin(math.sqrt(swing) * math.pi)
    row = np.zeros(figures.POSE)
    row[figures.SCALE] = 1.0
    cell = tuple(math.floor(value) for value in (player.x, player.eye_y, player.z))
    sky, block = world.grid.lights(*cell)
    row[figures.RED : figures.BLUE + 1] = figures.brightness(sky * 16 + block, world.time, world.weather, gamma)
    stack = player.in_hand
    if player.eating:
        x, y = 0.16, -0.36 + 0.03 * exact.sin(player.eating * 1.6)
    else:
        x, y = 0.64 - 0.32 * reach, -0.52 + 0.12 * dip - 0.06 * reach
    z = 0.90 + 0.10 * reach
    row[figures.X], row[figures.Y], row[figures.Z] = -x, y, z
    if stack is None or stack.item not in BY_NAME:
        row[figures.MODEL] = figures.WARDROBE.mob("arm")
        row[figures.X : figures.Z + 1] = -0.86 + 0.24 * reach, -0.74 + 0.14 * dip, 0.80 + 0.1 * reach
        row[figures.PITCH], row[figures.YAW] = math.radians(-122 + 14 * reach), math.radians(-30 - 14 * reach)
        row[figures.ROLL] = math.radians(-14)
    elif not figures.WARDROBE.is_flat(stack.item):
        row[figures.MODEL] = figures.WARDROBE.item(stack.item, 5.0)
        row[figures.Y] -= 0.06
        row[figures.YAW] = math.radians(45 - 30 * reach)
        row[figures.PITCH] = math.radians(24 * reach)
    else:
        tool = BY_NAME[stack.item].kind in ("sword", "shovel", "pickaxe", "axe", "hoe") or stack.item in (
            "stick",
            "bone",
            "fishing_rod",
            "trident",
        )
        row[figures.MODEL] = figures.WARDROBE.item(stack.item, 8.5 if tool else 6.0)
        row[figures.Y] -= 0.05 if tool else 0.0
        row[figures.YAW] = math.radians((58 if tool else 28) - 26 * reach)
        row[figures.PITCH] = math.radians((16 if tool else 0) + 52 * dip)
        row[figures.ROLL] = math.radians(-14 if tool else 0)
        if player.drawing:
            pulled = min(1.0, player.drawing / 20)
            row[figures.X], row[figures.Y], row[figures.Z] = -0.34, -0.44, 0.80 - 0.08 * pulled
            row[figures.YAW], row[figures.ROLL] = math.radians(70), math.radians(-8 * pulled)
    return row


def _portrait(screen: Screen) -> list[float]:
    row = np.zeros(figures.POSE)
    row[figures.MODEL], row[figures.SCALE], row[figures.Z] = figures.WARDROBE.mob("portrait"), 1.0, 7.4
    yaw, pitch = -exact.atan2(float(screen.x - 50), 40.0), exact.atan2(float(screen.y - 24), 40.0)
    row[figures.YAW], row[figures.HEAD_YAW], row[figures.HEAD_PITCH] = math.pi + 0.5 * yaw, 0.5 * yaw, 0.6 * pitch
    row[figures.RED : figures.BLUE + 1] = 1.0
    return row.tolist()


# ---------------------------------------------------------------- pieces
def text(words: str, colour: Colour = (255, 255, 255)) -> str:
    return f"text:{bytes(colour).hex()}:{words}"


def label(stack: Stack) -> str:
    """Return the name of a stack as it is shown to people.

    >>> label(Stack("oak_planks", 3))
    'Oak Planks'
    """
    name = (stack.tag or {}).get("name")
    return name if isinstance(name, str) else stack.item.replace("_", " ").title()


def _veil(colour: Colour, share: float) -> Operation:
    return ("veil", *colour, round(256 * min(1.0, max(0.0, share))))


def _edge(x: int, y: int, width: int, height: int, colour: Colour) -> Iterator[Operation]:
    yield "fill", x, y, width, 1, *colour
    yield "fill", x, y + height - 1, width, 1, *colour
    yield "fill", x, y, 1, height, *colour
    yield "fill", x + width - 1, y, 1, height, *colour


def _stack(stack: Stack | None, x: int, y: int) -> Iterator[Operation]:
    """Yield operations for an item with its count and wear; the upper left of its 16 x 16 pixels is at x, y."""
    if stack is None or stack.count <= 0 or stack.item not in BY_NAME:
        return
    yield "sprite", f"icon:{stack.item}", x, y
    durability = BY_NAME[stack.item].durability
    if durability and stack.damage > 0:
        left = max(0.0, 1 - stack.damage / durability)
        yield "fill", x + 2, y + 13, 13, 2, 12, 10, 10
        red, green = round(255 * min(1, 2 - 2 * left)), round(255 * min(1, 2 * left))
        yield "fill", x + 2, y + 13, max(1, round(13 * left)), 1, red, green, 30
    if stack.count > 1:
        count = str(stack.count)
        yield "sprite", text(count), x + 17 - font.written(count).shape[1], y + 9


# ---------------------------------------------------------------- the parts of the display
def _moods(world: WorldState) -> Iterator[Operation]:
    """Yield operations that show water over the eyes, a blow, fire, sleep and death: mostly colours over the whole picture."""
    player = world.player
    x, z = math.floor(player.x), math.floor(player.z)
    y = math.floor(player.eye_y)
    inside = name_of(world.grid.get(x, y, z)) if world.grid.inside(x, y, z) else "air"
    if inside in ("water", "seagrass", "tall_seagrass", "kelp", "kelp_plant", "bubble_column"):
        yield _veil((18, 52, 128), 0.14)  # the renderer has clouded the distance already
    elif inside == "lava":
        yield _veil((226, 84, 10), 0.72)
    if player.burning > 0 and inside != "lava":
        yield "flames", world.ticks
    if player.dead:
        yield _veil((140, 8, 8), 0.5)
        yield "title", text("You died!")
        return
    if player.invulnerable > 0:
        yield _veil((200, 16, 12), 0.03 * min(10, player.invulnerable))
    if player.sleeping:
        yield _veil((6, 8, 22), min(0.92, 0.3 + player.sleeping / 120))


def _bars(player: Player) -> Iterator[Operation]:
    """Yield operations for the hotbar, and above it hearts, food, armour, air and experience."""
    yield ("bars",)
    yield "sprite", "hotbar", -91, -22
    yield "sprite", "chosen", player.hotbar * 20 - 92, -23
    for slot in range(9):
        yield from _stack(player.slots[slot], slot * 20 - 88, -19)
    if player.slots[OFFHAND] is not None:
        yield "fill", -120, -22, 22, 22, 46, 42, 40
        yield "fill", -119, -21, 20, 20, 104, 98, 92
        yield from _stack(player.slots[OFFHAND], -117, -19)
    if player.game_mode == "creative":
        return
    yield "fill", -91, -29, 182, 5, 24, 20, 20
    yield "fill", -90, -28, 180, 3, 62, 66, 50
    if player.level > 0:
        level = str(player.level)
        yield "sprite", text(level, (150, 240, 70)), -font.written(level).shape[1] / 2, -35
    yield from _row("heart", math.ceil(player.health), -91, -39, 8)
    yield from _row("food", player.food, 82, -39, -8)
    armour = inventory.armour_points(player.slots)[0]
    if armour:
        yield from _row("armour", armour, -91, -49, 8)
    if player.air < 300:
        whole = max(0, math.ceil((player.air - 2) * 10 / 300))
        popping = max(0, math.ceil(player.air * 10 / 300)) - whole
        for index in range(whole + popping):
            yield "sprite", "mark:bubble" if index < whole else "mark:pop", 82 - 8 * index, -49


@lru_cache(256)
def _row(name: str, halves: int, x: int, y: int, step: int) -> tuple[Operation, ...]:
    """Return operations for ten marks, such as hearts, of which `halves` halves are full; a negative `step` fills leftwards."""
    marks: list[Operation] = []
    for index in range(10):
        filled = halves - 2 * index
        kind = name if filled >= 2 else f"half {name}" if filled == 1 else f"no {name}"
        marks.append(("sprite", f"mark:{kind}", x + step * index, y))
    return tuple(marks)


# ---------------------------------------------------------------- screens
def _cooking(world: WorldState, screen: Screen) -> Iterator[Operation]:
    container = world.containers.get(screen.position) if screen.position else None
    if container is None:
        return
    if container.burn > 0 and container.burn_total > 0:
        rows = max(1, math.ceil(14 * container.burn / container.burn_total))
        yield "sprite", f"flame:{rows}", 57, 37 + 14 - rows
    total = 200 if container.kind == "furnace" else 100
    columns = min(23, 23 * container.cook // total)
    if columns > 0:
        yield "sprite", f"arrow:{columns}", 79, 35


def _offers(world: WorldState, screen: Screen) -> Iterator[Operation]:
    """Yield operations for a villager's list of offers; each shows price, arrow and goods."""
    shown = clicks.offers(world, screen)[screen.scroll :]
    for place in screen.panel.places:
        if place.owner != "option" or place.index >= len(shown):
            continue
        offer = shown[place.index]
        y = place.y + 2
        if place.index + screen.scroll == screen.choice:
            yield from _edge(place.x, place.y, place.width, place.height, CHOSEN)
        for wanted, dx in ((offer["buy"], 4), (offer.get("buy2"), 26)):
            if wanted:
                yield from _stack(Stack(wanted[0], wanted[1]), place.x + dx, y)
        yield "sprite", "offer" if trades.is_open(offer) else "no offer", place.x + 48, y + 4
        yield from _stack(trades.sold(offer), place.x + 66, y)


def _screen(world: WorldState, screen: Screen) -> Iterator[Operation]:
    yield _veil((20, 16, 18), 0.58)
    yield "panel", f"panel:{screen.kind}"
    if screen.kind == "inventory":
        yield "portrait", 26, 8, _portrait(screen)
    elif screen.kind in ("furnace", "blast_furnace", "smoker"):
        yield from _cooking(world, screen)
    elif screen.kind == "villager":
        yield from _offers(world, screen)
    hovered, pointed = screen.hovered, None
    for number, place in enumerate(screen.panel.places):
        stack = screens.stack_in(world, screen, number)
        if number == hovered:
            pointed = stack
            yield "lighten", place.x, place.y, place.width, place.height
        if place.owner != "option":
            yield from _stack(stack, place.x, place.y)
        elif screen.kind == "stonecutter" and stack is not None:
            if place.index == screen.choice:
                yield from _edge(place.x, place.y, place.width, place.height, CHOSEN)
            yield from _stack(stack, place.x, place.y + 1)
    yield "cursor", screen.x, screen.y
    if world.player.held is not None:
        yield from _stack(world.player.held, -8, -8)
    elif pointed is not None:
        yield "tooltip", text(label(pointed), (255, 250, 240)), 12, -14
    yield ("pointer",)


# ---------------------------------------------------------------- all of it
def operations(world: WorldState) -> list[Operation]:
    """Return all operations to be drawn over the world and the hand, in order, for the world's `player`.

    >>> from blockworld import World
    >>> operations(World(1, "flat", inhabited=False))[:3]
    [('crosshair',), ('bars',), ('sprite', 'hotbar', -91, -22)]
    """
    return [*_all(world)]


def _all(world: WorldState) -> Iterator[Operation]:
    player: Player = world.player
    if player.game_mode == "spectator":  # nobody is there
        return
    yield from _moods(world)
    if player.dead:
        return
    if world.screen is None:
        yield ("crosshair",)
    yield from _bars(player)
    if world.screen is not None:
        yield from _screen(world, world.screen)


def sprites(shown: Iterable[Operation]) -> set[str]:
    """Return the keys of all sprites that these operations draw.

    >>> sorted(sprites([("bars",), ("sprite", "hotbar", -91, -22), ("pointer",)]))
    ['hotbar', 'pointer']
    """
    return {"pointer" if name == "pointer" else values[0] for name, *values in shown if name in _WITH_SPRITES}
