"""Hand-written partners for the games of several seats. They use only visible facts, and act by keys.

`Partner` plays one seat together with any other players. Overcooked is in `cooks`; the other games are here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.agents.base import AgentError
from interplay.agents.scripted.space_invaders import SpaceInvaders
from interplay.agents.scripted.together.cooks import cook
from interplay.envs import PlayableEnv
from interplay.tasks import Task

if TYPE_CHECKING:
    from interplay.envs.parallel import ParallelGame

CANNONS = (196, 246)
"""Palette index of each seat's cannon."""
DECISION_FRAMES = 4


def shoot(env: PlayableEnv, seat: str, rng: np.random.Generator) -> Iterator[set[str]]:
    """Play Space Invaders for two like the player of the game for one, with the cannon of this seat."""
    brain = SpaceInvaders(CANNONS[env.task.seats.index(seat)])
    brain.reset(rng)
    while True:
        brain.see(env.view().pixels)
        buttons = brain.decide(env.view().pixels)
        for frame in range(DECISION_FRAMES):
            if frame:
                brain.see(env.view().pixels)
            yield buttons


LEFT, RIGHT = slice(0, 10), slice(420, 480)
"""Columns of the two paddles; the right paddle has the shape of a cake with tiers."""
BETWEEN = slice(LEFT.stop, RIGHT.start)
NEAR = 8
"""The paddle stays if its middle is within this many rows of the ball; a step moves the paddle by 12 rows."""


def follow(env: PlayableEnv, seat: str, rng: np.random.Generator) -> Iterator[set[str]]:
    """Play Cooperative Pong: keep the paddle level with the ball. Both are white; the paddles are at the sides."""
    side = (LEFT, RIGHT)[env.task.seats.index(seat)]
    while True:
        white = env.view().pixels[:, :, 0] > 0
        paddle = _middle(white[:, side])
        ball = _middle(white[:, BETWEEN])
        if paddle is None or ball is None or abs(ball - paddle) <= NEAR:
            yield set()
        else:
            yield {"UP"} if ball < paddle else {"DOWN"}


def _middle(white: np.ndarray) -> float | None:
    """The middle row of the white pixels; None if there are no white pixels."""
    rows = np.flatnonzero(white.any(axis=1))
    return None if not rows.size else (rows[0] + rows[-1]) / 2


WIDTH, HEIGHT = 1280, 720
MAX_ZOMBIES = 10
"""Number of rows for zombies at the end of an observation; unused rows are zero."""
ZOMBIE_SPEED, ARROW_SPEED = 5.0, 45.0
"""Pixels per step."""
AIM_DEGREES = 6.0
"""Largest difference, in degrees, from the wanted direction that needs no turn; one turn is 10 degrees."""
REACH = 75.0
"""Distance, in pixels, below which the knight swings: a zombie comes 30 pixels nearer while the mace moves."""
ARC_DEGREES = 50.0
"""Largest angle, in degrees, between the knight's direction and a zombie that a swing reaches."""
TOO_NEAR = 48.0
"""Distance, in pixels, below which a swing comes too late."""
BELOW = 30.0
"""The knight walks to a place this many pixels below a zombie."""


def hunt(env: ParallelGame, seat: str, rng: np.random.Generator) -> Iterator[set[str]]:
    """Play Knights Archers Zombies from the seat's observation: zombies' places relative to the agent, and its direction."""
    while True:
        seen = env.observation_of(seat)
        looks = np.degrees(np.arctan2(seen[0, 4], seen[0, 3]))
        zombies = seen[-MAX_ZOMBIES:]
        zombies = zombies[zombies[:, 0] > 0][:, 1:3] * (WIDTH, HEIGHT)
        yield _archer(zombies, looks) if seat == env.task.seats[0] else _knight(zombies, looks)


def _archer(zombies: np.ndarray, looks: float) -> set[str]:
    """Aim at the place to which the lowest zombie above the archer will have moved, and shoot."""
    above = zombies[zombies[:, 1] < -30]
    if not len(above):
        return _turn(-90.0, looks)
    x, y = above[above[:, 1].argmax()]
    y += ZOMBIE_SPEED * np.hypot(x, y) / ARROW_SPEED
    return _turn(float(np.degrees(np.arctan2(y, x))), looks) or {"FIRE"}


def _knight(zombies: np.ndarray, looks: float) -> set[str]:
    """Step back from a zombie that is too near, swing at a zombie in reach, else walk below the lowest zombie."""
    if not len(zombies):
        return _turn(-90.0, looks)
    away = np.hypot(*zombies.T)
    x, y = zombies[away.argmin()]
    off = abs(_difference(float(np.degrees(np.arctan2(y, x))), looks))
    if away.min() < TOO_NEAR:
        return {"DOWN"} if off < 90 else {"UP"}
    if away.min() < REACH and off <= ARC_DEGREES:
        return {"FIRE"}
    x, y = zombies[zombies[:, 1].argmax()]
    return _turn(float(np.degrees(np.arctan2(y + BELOW, x))), looks) or {"UP"}


def _turn(wanted: float, looks: float) -> set[str]:
    """The button that turns from `looks` to `wanted` (degrees clockwise from the right); empty if the two are close."""
    left = _difference(wanted, looks)
    return set() if abs(left) <= AIM_DEGREES else {"RIGHT"} if left > 0 else {"LEFT"}


def _difference(wanted: float, looks: float) -> float:
    """Angle by which to turn from the direction `looks` to the direction `wanted`: -180 to 180 degrees."""
    return (wanted - looks + 180) % 360 - 180


_SLIP = 0.02
"""Probability, in each step, that the hand does nothing."""

Play = Callable[[Any, str, np.random.Generator], Iterator[set[str]]]
"""Function of the world, the seat and the episode's generator; it yields the buttons of each step."""

PARTNERS: dict[str, Play] = {
    "ale2p:space_invaders": shoot,
    "pettingzoo:butterfly/cooperative_pong-v6": follow,
    "pettingzoo:butterfly/knights_archers_zombies-v11": hunt,
    **dict.fromkeys(
        (
            f"cogrid:Overcooked-{kitchen}-V0"
            for kitchen in ("CrampedRoom", "AsymmetricAdvantages", "CoordinationRing", "ForcedCoordination", "CounterCircuit")
        ),
        cook,
    ),
}
"""Environment id -> function that plays a seat."""


class Partner:
    """A player of one seat in a built-in game of several seats; call `attach` with the environment before it acts.

    Its hand slips as a person's does: now and then it does nothing for a step, so that all episodes differ.
    """

    name = "scripted"
    observation = "pixels"

    def __init__(self) -> None:
        self._play: Iterator[set[str]] | None = None

    def reset(self, task: Task, *, rng: np.random.Generator) -> None:
        """Begin an episode; `AgentError` if there is no player for this environment."""
        if task.env.id not in PARTNERS:
            raise AgentError(
                f"there is no scripted player for {task.env.id} (task {task.id}); with several seats, there is one only for "
                f"{', '.join(sorted(PARTNERS))}\n"
                "Write your own agent and name it module:factory; docs/agents.md has one to copy."
            )
        self._task, self._rng, self._play = task, rng, None

    def attach(self, env: PlayableEnv, seat: str) -> None:
        self._play = PARTNERS[self._task.env.id](env, seat, self._rng)

    def act(self, observation: np.ndarray) -> Any:
        if self._play is None:
            raise AgentError("a scripted partner reads the state of its game: call attach(env, seat) before act()")
        buttons = next(self._play)
        keys = self._task.keys
        return keys.noop if self._rng.random() < _SLIP else keys.resolve(keys.mask(buttons))
