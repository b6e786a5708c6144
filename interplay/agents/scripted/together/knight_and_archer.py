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
"""Pixels at which the knight swings."""


def hunt(env: ParallelGame, seat: str, rng: np.random.Generator) -> Iterator[set[str]]:
    """From what its agent observes: places relative to it, as parts of the screen, and where it looks, a unit vector."""
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
    """Walk towards the lowest zombie, and swing when it is near."""
    if not len(zombies):
        return set()
    x, y = zombies[zombies[:, 1].argmax()]
    if np.hypot(x, y) < REACH:
        return {"FIRE"}
    return _turn(float(np.degrees(np.arctan2(y, x))), looks) or {"UP"}


def _turn(wanted: float, looks: float) -> set[str]:
    """The button that turns from where one looks to an angle, degrees clockwise from the right; none where it is near."""
    left = (wanted - looks + 180) % 360 - 180
    return set() if abs(left) <= AIM_DEGREES else {"RIGHT"} if left > 0 else {"LEFT"}
