"""Knights, archers and zombies: turn to the zombie that is nearest to the lower edge, and hit it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from interplay.envs.parallel import ParallelGame

WIDTH, HEIGHT = 1280, 720
MAX_ZOMBIES = 10
"""Rows of zombies at the end of an observation; those of zombies that are not there are zero."""
ZOMBIE_SPEED, ARROW_SPEED = 5.0, 45.0
"""Pixels a step."""
AIM_DEGREES = 6.0
"""How exactly the archer aims; one turn is 10 degrees."""
REACH = 75.0
"""Pixels at which the knight swings: a zombie comes 30 pixels nearer while the mace goes round."""
ARC_DEGREES = 50.0
"""How far to the side a swing reaches."""
TOO_NEAR = 48.0
"""Pixels at which a swing comes too late."""
BELOW = 30.0
"""Pixels below a zombie that the knight walks to."""


def hunt(env: ParallelGame, seat: str, rng: np.random.Generator) -> Iterator[set[str]]:
    """From the agent's observation: places relative to it, as parts of the screen, and its direction, a unit vector."""
    while True:
        seen = env.observation_of(seat)
        looks = np.degrees(np.arctan2(seen[0, 4], seen[0, 3]))
        zombies = seen[-MAX_ZOMBIES:]
        zombies = zombies[zombies[:, 0] > 0][:, 1:3] * (WIDTH, HEIGHT)
        yield _archer(zombies, looks) if seat == env.task.seats[0] else _knight(zombies, looks)


def _archer(zombies: np.ndarray, looks: float) -> set[str]:
    """Shoot ahead of the lowest zombie that is above."""
    above = zombies[zombies[:, 1] < -30]
    if not len(above):
        return _turn(-90.0, looks)
    x, y = above[above[:, 1].argmax()]
    y += ZOMBIE_SPEED * np.hypot(x, y) / ARROW_SPEED
    return _turn(float(np.degrees(np.arctan2(y, x))), looks) or {"FIRE"}


def _knight(zombies: np.ndarray, looks: float) -> set[str]:
    """Step back from a zombie that is too near, swing at one in reach, else walk towards the lowest one, from below."""
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
    """The button that turns from a direction to an angle, degrees clockwise from the right; empty if it is near."""
    left = _difference(wanted, looks)
    return set() if abs(left) <= AIM_DEGREES else {"RIGHT"} if left > 0 else {"LEFT"}


def _difference(wanted: float, looks: float) -> float:
    """Degrees from a direction to an angle, -180 to 180."""
    return (wanted - looks + 180) % 360 - 180
