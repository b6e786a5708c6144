"""Plays the block world in a browser by real keys and mouse movements, and knows from the journal what they did.

`Shadow` is a second world that makes the steps the running episode's journal holds, as soon as they are written there: so a
test knows where its player stands without asking the page or the server for what they tell no player. `Hands` presses keys and
moves the mouse in the page, and waits until the steps that took them have been recorded. Patience is counted in steps of the
world, and whoever thinks pauses the game: so a slow machine plays the same game, only later.
"""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from blockworld import Action, Position, World, screens
from interplay.agents.skills.body import Body
from interplay.agents.skills.navigation import Routes
from interplay.envs import make
from interplay.envs.voxel.checks.find_cave import inside_cave
from interplay.record import journal
from interplay.record.format import spaces
from interplay.tasks import Task
from interplay.tasks.task import EnvSpec

PATIENCE = 400
"""Steps of the world within which what keys and mouse do has come true."""
A_WHILE = 40
"""Steps after which a hand looks whether its movement of the mouse has come through, and moves on."""
STANDSTILL_S = 120.0
"""How long a game may stand still before the test gives up on it."""
LATENESS = 60, 25, 8
"""Steps by which a key may be let go too late without harm: as many as the way allows, for the page of a busy machine lags."""
SMALL = [16, 16]
"""Size of pictures that nobody looks at."""
_NO_WHIMS = np.random.default_rng(0)


def with_small_pictures(task: Task) -> Task:
    """The task, for a world that is played where nobody looks at its pictures."""
    return replace(task, env=EnvSpec(task.env.id, {**task.env.options, "size": SMALL}))


class Shadow:
    """The world of an episode that is being played, as far as its journal is written: up to 0.8 seconds behind.

    Args:
        root: The server's data folder.
        task: What is played.
        seed: Of the episode.

    Attributes:
        actions: What was played so far.
    """

    def __init__(self, root: Path, task: Task, seed: int) -> None:
        self._env = make(with_small_pictures(task))
        self._env.reset(seed=seed)
        self._root, self._session = root / "journal", ""
        self._paths: list[Path] = []
        self._size = 0
        self.actions: list[dict[str, Any]] = []

    def follow(self, session: str) -> None:
        """Say in which session of the server the episode is played."""
        self._session = session

    @property
    def world(self) -> World:
        """As it was at the last recorded step."""
        return self._env.world  # type: ignore[attr-defined]

    def catch_up(self) -> None:
        """Make the steps that were written since the last time."""
        if not self._paths:
            found = [path for path in self._root.glob("*.arrows") if journal.read_header(path).session_id == self._session]
            self._paths = sorted(found)
        size = sum(path.stat().st_size for path in self._paths)
        if size == self._size:
            return
        self._size = size
        rows = journal.Journal(self._paths).table(["action.player"]).column(0)
        done = 1 + len(self.actions)  # the first row is the world before any action
        if len(rows) <= done:
            return
        for action in spaces.from_arrow(self._env.action_space["player"], rows.combine_chunks().slice(done)):
            self._env.step({"player": action})
            self.actions.append(action)

    def close(self) -> None:
        """Let go of the world."""
        self._env.close()


class Hands:
    """Keyboard and mouse of a player whose pointer is locked to the picture.

    Args:
        page: A Playwright page on which the task is being played.
        at: Where the pointer is, CSS pixels of the page. While it is locked it may leave the window.
    """

    def __init__(self, page: Any, shadow: Shadow, task: Task, at: tuple[float, float]) -> None:
        self.page, self.shadow = page, shadow
        self._degrees = task.keys.pointer_degrees
        self._codes = {button: code for code, button in reversed(task.keys.bindings.items())}
        self._at = self._caught_at = at

    def catch_pointer(self) -> None:
        """Make sure that the pointer is locked. Where the world was slow to come the browser has refused: one more click."""
        locked = "document.pointerLockElement !== null"
        for _ in range(20):
            if self.page.evaluate(locked):
                return
            self.page.wait_for_timeout(50)
        box = self.page.locator("#player canvas").first.bounding_box()
        self._at = self._caught_at = round(box["x"] + box["width"] / 2), round(box["y"] + box["height"] / 2)
        self.page.mouse.click(*self._at)
        for _ in range(100):
            if self.page.evaluate(locked):
                return
            self.page.wait_for_timeout(50)
        raise AssertionError("this Chromium locks no pointer")

    def wait(self, condition: Callable[[], bool], what: str) -> None:
        """Wait until something is so in the shadow's world."""
        self.shadow.catch_up()
        since = played = len(self.shadow.actions)
        moved = time.monotonic()
        while not condition():
            assert played < since + PATIENCE, f"{what}: not so {played - since} steps later, at step {played}"
            assert time.monotonic() < moved + STANDSTILL_S, f"{what}: the game stands still at step {played}"
            self.page.wait_for_timeout(100)
            self.shadow.catch_up()
            if len(self.shadow.actions) > played:
                played, moved = len(self.shadow.actions), time.monotonic()

    @contextmanager
    def pausing(self) -> Iterator[None]:
        """The game rests meanwhile, and everything played before is in the shadow's world."""
        self.page.keyboard.press("KeyP")
        self.page.locator("#player[data-state=paused]").wait_for()
        self.wait(lambda: len(self.shadow.actions) >= self.painted(), "the steps before the pause are recorded")
        # Where the pause puts its cover over the page, Chromium measures the next movement from where it locked the pointer.
        self.page.mouse.move(*self._caught_at)
        self._at = self._caught_at
        yield
        self.page.keyboard.press("KeyP")
        self.page.locator("#player[data-state=playing]").wait_for()

    def turn(self, yaw: float, pitch: float = 0.0) -> None:
        """Move the mouse by whole pixels, in a few movements as a hand does; degrees, right and down positive."""
        x, y = self._at[0] + round(yaw / self._degrees), self._at[1] + round(pitch / self._degrees)
        if (x, y) != self._at:
            self.page.mouse.move(x, y, steps=4)
        self._at = x, y

    def look(self, yaw: float, pitch: float) -> None:
        """Look into a direction, and wait until it was played. A movement that got lost is made up for, as a hand does."""
        me, actions = self.shadow.world.player, self.shadow.actions
        corrected = -A_WHILE

        def there() -> bool:
            nonlocal corrected
            missing = _between(yaw, me.yaw), pitch - me.pitch
            if max(map(abs, missing)) < self._degrees:
                return True
            if len(actions) >= corrected + A_WHILE:
                corrected = len(actions)
                self.turn(*missing)
            return False

        self.wait(there, f"looking to {yaw:.1f}, {pitch:.1f}")

    def press(self, *buttons: str, steps: int = 0) -> None:
        """Hold buttons of the task for some steps, counted by what the page has painted, and wait until it was played."""
        since = len(self.shadow.actions)
        painted = self.painted()
        last = painted + steps
        for button in buttons:
            self._key(button, down=True)
        moved = time.monotonic()
        while (now := self.painted()) < last:
            if now > painted:
                painted, moved = now, time.monotonic()
            assert time.monotonic() < moved + STANDSTILL_S, f"the page paints nothing after step {painted}"
            self.page.wait_for_timeout(20)
        for button in reversed(buttons):
            self._key(button, down=False)

        def played() -> bool:
            actions = self.shadow.actions[since:]
            return all(
                not actions[-1][button] and any(action[button] for action in actions) if actions else False
                for button in buttons
            )

        self.wait(played, f"{' and '.join(buttons)} pressed and let go")

    def painted(self) -> int:
        """The step of the picture on the page."""
        return int(self.page.locator("#player").get_attribute("data-step") or 0)

    def tap(self, button: str) -> None:
        """Press a button of the task once, without waiting for what comes of it."""
        self._key(button, down=True)
        self._key(button, down=False)

    def _key(self, button: str, *, down: bool) -> None:
        code = self._codes[button]
        if code.startswith("Mouse"):
            name = code.removeprefix("Mouse").lower()
            (self.page.mouse.down if down else self.page.mouse.up)(button=name)
        else:
            (self.page.keyboard.down if down else self.page.keyboard.up)(code)

    # On a screen

    def click(self, owner: str, index: int = 0, *, right: bool = False, quick: bool = False) -> None:
        """Move the cursor to a place of the open screen and click there."""
        screen = self.shadow.world.screen
        assert screen is not None, "no screen is open"
        place = screens.find(screen, owner, index)
        turn = screens.path_to(screen, place)
        self.turn(turn.yaw, turn.pitch)
        if quick:
            self._key("sneak", down=True)
        self.press("use" if right else "attack")
        if quick:  # not sooner: let go in the step of the click, it would not count for that step
            self._key("sneak", down=False)
        assert screen.hovered == place, f"the cursor is at {screen.x}, {screen.y}, not on {owner} {index}"

    def take(self, item: str) -> None:
        """Take all of the first stack of an item onto the cursor."""
        me = self.shadow.world.player
        slot = next((number for number, stack in enumerate(me.slots) if stack is not None and stack.item == item), None)
        assert slot is not None, f"no {item} to take: {me.slots}"
        self.click("player", slot)
        assert me.held is not None, f"nothing came onto the cursor from slot {slot}"
        assert me.held.item == item

    def lay_down(self, item: str, count: int) -> None:
        """Put what is on the cursor, so many of an item, into the first free slot."""
        me = self.shadow.world.player
        assert me.held is not None, f"expected {count} {item} on the cursor, found nothing"
        assert (me.held.item, me.held.count) == (item, count)
        self.click("player", me.slots.index(None, 3))
        assert me.held is None


def _between(goal: float, now: float) -> float:
    """Degrees from one yaw to another, the short way."""
    return (goal - now + 180.0) % 360.0 - 180.0


# The way into a cave


class Leg(NamedTuple):
    """A straight part of a way: where to look, what to hold, and for how many steps."""

    yaw: float
    buttons: tuple[str, ...]
    steps: int


def deep_inside(world: World) -> bool:
    """Whether the player stands in a cave, away from the light of day."""
    return inside_cave(world) and _sky(world, Body(world, _NO_WHIMS).cell) < 5


def next_leg(world: World) -> Leg | None:
    """The longest straight walk on the way to the nearest dark cell of a cave, tried out in a copy of the world."""
    start = Body(world, _NO_WHIMS).footing
    reach = Routes(world.grid, start, None, most=400.0)
    cells = reach.reached()
    buried = cells[world.land.heights[cells[:, 0], cells[:, 2]] > cells[:, 1] + 3].tolist()
    dark = [(reach.cost((x, y, z)), (x, y, z)) for x, y, z in buried if _sky(world, (x, y, z)) < 4]
    if not dark:
        return None
    way = reach.way(min(dark)[1])
    snapshot = world.save()
    for late in LATENESS:
        for cell in [*way[:0:-2], *way[:1]]:
            for buttons in (("forward",), ("forward", "jump")):
                leg = _tried(World.restore(snapshot), cell, buttons, late)
                if leg is not None:
                    return leg
    return None


def _tried(world: World, cell: Position, buttons: tuple[str, ...], late: int) -> Leg | None:
    """A leg that leads to a cell without harm, if walking straight there does, also for so many steps more."""
    me = world.player
    x, y, z = cell[0] + 0.5, cell[1], cell[2] + 0.5
    yaw = math.degrees(math.atan2(-(x - me.x), z - me.z))
    world.step(Action(camera_yaw=_between(yaw, me.yaw)))
    health, best, since = me.health, math.inf, 0
    keys = dict.fromkeys(buttons, True)
    for steps in range(1, 200):
        world.step(Action(**keys))
        far = math.hypot(x - me.x, z - me.z)
        if me.health < health or me.in_water or since > 6:
            return None
        best, since = (far, 0) if far < best - 0.02 else (best, since + 1)
        if far < 0.4 and abs(me.y - y) < 1.3:
            for _ in range(late):
                world.step(Action(**keys))
                if me.health < health or me.in_water or me.y < y - 3:
                    return None
            return Leg(yaw, buttons, steps)
    return None


def _sky(world: World, cell: Position) -> int:
    x, y, z = cell
    return world.grid.lights(x, y + 1, z)[0]
