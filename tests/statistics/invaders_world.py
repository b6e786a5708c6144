"""Real games of Space Invaders by scripts that shoot in a given order, and a referee who sees nothing but pictures."""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from interplay.agents.scripted.screen import Box, find, find_all
from interplay.envs import make
from interplay.statistics import Collection, defaults
from interplay.tasks import Task

INVADER = 20
CANNONS = (196, 246)
TOP, BOTTOM = 25, 185
WIDTH, HEIGHT = 16, 18
"""Of the places of invaders, pixels."""
LIVES, DESCENT = 73, 16
"""Bytes of the console's memory: lives left, and how far the invaders have come down."""
FEW = 3
LAST_SHOTS = 150
"""Steps without an action at the end: what is shot by then is seen to go."""
WATCHED_FRAMES = 3
"""The referee looks at every so many frames, which is enough: what was shot bursts for 27."""
GONE_LOOKS = 3
"""A place that is empty so often is: sprites flicker."""
SHOT_SPEED = 1.9
"""Pixels a frame."""


@dataclass
class Referee:
    """Watches which invaders are on the screen, by row (0 the lowest) and column (0 the leftmost of the wave).

    An invader that was shot bursts for half a second, and then its place is empty: that is what counts here.

    Attributes:
        cannons: Palette indices of the cannons in the game.
        alive: Place -> where it is, (x, y) in pixels.
        gone: Each that has gone, in order: wave, row, column.
        num_waves: Waves seen.
        origin: Left side of column 0 and top of row 0, pixels.
    """

    cannons: tuple[int, ...] = (CANNONS[0],)
    alive: dict[tuple[int, int], tuple[float, int]] = field(default_factory=dict)
    gone: list[tuple[int, int, int]] = field(default_factory=list)
    num_waves: int = 0
    origin: tuple[float, float] = (0, 0)
    _missing: dict[tuple[int, int], int] = field(default_factory=dict)
    _is_lost: bool = False

    def watch(self, pixels: np.ndarray) -> None:
        """Look at the next picture; while a cannon is away the screen may be dark."""
        if any(find(pixels, cannon, top=BOTTOM, bottom=195) is None for cannon in self.cannons):
            return
        boxes = find_all(pixels, INVADER, top=TOP, bottom=BOTTOM, gap=1)
        if not self.alive:
            if len(boxes) < 36:
                return
            self.origin = min(box.left for box in boxes), max(box.top for box in boxes)
            self.num_waves += 1
        if self._is_lost and len(boxes) >= len(self.alive) - 1:  # the invaders of before the screen was dark, elsewhere perhaps
            self.origin, self._is_lost = self._found_again(boxes), False
        left, low = self.origin
        seen: dict[tuple[int, int], tuple[float, int]] = {}
        for box in boxes:
            place = round((low - box.top) / HEIGHT), round((box.left - left) / WIDTH)
            seen.setdefault(place, (box.x, box.top))
        if not self.alive:
            self.alive = seen
            return
        if len(self.alive.keys() - seen.keys()) > 3:  # the screen is dark between two lives
            self._is_lost = True
            return
        here = [place for place in seen if place in self.alive]
        if here:
            lefts = [box.left - WIDTH * round((box.left - left) / WIDTH) for box in boxes]
            tops = [box.top + HEIGHT * round((low - box.top) / HEIGHT) for box in boxes]
            self.origin = float(np.median(lefts)), float(np.median(tops))
        for place in list(self.alive):
            if place in seen:
                self.alive[place] = seen[place]
                self._missing.pop(place, None)
                continue
            self._missing[place] = self._missing.get(place, 0) + 1
            if self._missing[place] == GONE_LOOKS:
                del self.alive[place], self._missing[place]
                self.gone.append((self.num_waves, *place))

    def _found_again(self, boxes: list[Box]) -> tuple[float, float]:
        """The origin at which most of those that were alive stand where something is; the nearest to the last one."""

        def score(origin: tuple[float, float]) -> tuple[int, float]:
            left, low = origin
            places = {(round((low - box.top) / HEIGHT), round((box.left - left) / WIDTH)) for box in boxes}
            way = abs(left - self.origin[0]) + abs(low - self.origin[1])
            return len(places & self.alive.keys()), -way

        first = boxes[0]
        return max(((first.left - WIDTH * column, first.top + HEIGHT * row) for row, column in self.alive), key=score)


Order = Callable[[Iterable[tuple[int, int]]], tuple[int, int]]
"""Of the places that are left, the one to shoot at."""


def from_the_left(places: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Column by column, each from below."""
    return min(places, key=lambda place: (place[1], place[0]))


def from_the_right(places: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """As `from_the_left`, from the other side."""
    return min(places, key=lambda place: (-place[1], place[0]))


def from_the_middle(places: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Column by column, the middle ones first."""
    return min(places, key=lambda place: (abs(place[1] - 2.4), place[0]))


def from_below(places: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Row by row."""
    return min(places)


class Gunner:
    """Brings a cannon under the invader that is next, and shoots where it will be.

    Args:
        cannon: Palette index of the cannon.
        order: Which one is next.
    """

    def __init__(self, cannon: int, order: Order) -> None:
        self._cannon = cannon
        self._order = order
        self._was: deque[float] = deque(maxlen=33)

    def act(self, referee: Referee, pixels: np.ndarray) -> int:
        """The action for the next frame."""
        self._was.append(referee.origin[0])
        me = find(pixels, self._cannon, top=BOTTOM, bottom=195)
        if me is None or not referee.alive:
            return 0
        x, y = referee.alive[self._order(referee.alive)]
        if len(referee.alive) <= FEW:  # they are too fast to aim at: wait for them
            return 1
        else:
            x += (self._was[-1] - self._was[0]) / len(self._was) * (BOTTOM - y) / SHOT_SPEED
        way = min(119.0, max(38.0, x)) - me.x
        if abs(way) <= 1.5:
            return 1
        if abs(way) <= 4:
            return 11 if way > 0 else 12
        return 3 if way > 0 else 4


@dataclass
class PlayedGame:
    """A game that a script played.

    Attributes:
        referee: What was seen on the screen.
        earned: Of each step, seat -> reward.
        boards: Of each step, the console's memory of the invaders.
        collection: The statistics, fed at every step.
    """

    referee: Referee
    earned: list[dict[str, float]]
    boards: list[bytes]
    collection: Collection

    @property
    def hits(self) -> list[tuple[str, int]]:
        """Seat and row of each scoring reward of 5 to 30 points, in order."""
        points = [(seat, reward) for rewards in self.earned for seat, reward in rewards.items()]
        return [(seat, int(reward) // 5 - 1) for seat, reward in points if 5 <= reward <= 30]

    def counts(self, name: str, seat: str = "player") -> dict[str, float]:
        """What a collector has counted in a seat."""
        (found,) = [one for one in self.collection.measures() if (one.seat, one.name) == (seat, name)]
        return dict(found.counts)


def play(task: Task, orders: dict[str, Order], *, num_steps: int, seed: int = 1) -> PlayedGame:
    """Play with one gunner a seat, who has lives and time without end; nothing else of the console's memory is touched."""
    env = make(task)
    try:
        _, info = env.reset(seed=seed)
        readings = env.readings()
        cannons = CANNONS[: len(task.seats)]
        game = PlayedGame(Referee(cannons), [], [], collect(task))
        game.collection.begin(info, readings)
        gunners = {seat: Gunner(cannon, orders[seat]) for seat, cannon in zip(task.seats, cannons, strict=True)}
        for step in range(num_steps + LAST_SHOTS):
            pixels = env.view().pixels
            if step % WATCHED_FRAMES == 0:
                game.referee.watch(pixels)
            actions = {seat: gunner.act(game.referee, pixels) for seat, gunner in gunners.items()}
            if step >= num_steps:
                actions = dict.fromkeys(actions, 0)
            env.ale.setRAM(LIVES, 3)
            env.ale.setRAM(DESCENT, 0)
            _, rewards, terminated, _, info = env.step(actions)
            assert not terminated, f"the game is over after {step} steps"
            game.earned.append(rewards)
            game.boards.append(readings["ram"]()[0x12:0x18])
            game.collection.see(actions, rewards, rewards, info)
        return game
    finally:
        env.close()


def collect(task: Task) -> Collection:
    """The statistics of a task by default."""
    return Collection(defaults(task.env.id), task.setting, dict.fromkeys(task.seats, "gunner"))
