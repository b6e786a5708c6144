"""Cooperative Pong: keep the paddle where the ball is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from interplay.envs import PlayableEnv

LEFT, RIGHT = slice(0, 10), slice(420, 480)
"""Columns of the paddles; the right one is a cake of tiers."""
BETWEEN = slice(LEFT.stop, RIGHT.start)
NEAR = 8
"""How far, in rows, the ball may be from the middle of the paddle: one step of the paddle is 12."""


def follow(env: PlayableEnv, seat: str, rng: np.random.Generator) -> Iterator[set[str]]:
    """Everything white on black is a paddle at its side, or the ball between."""
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
    """The row in the middle of what is white; None where nothing is."""
    rows = np.flatnonzero(white.any(axis=1))
    return None if not rows.size else (rows[0] + rows[-1]) / 2
