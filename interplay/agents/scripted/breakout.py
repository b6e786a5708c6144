"""Breakout: predict where the ball comes down and move there, a little off centre so that its angle changes."""

from __future__ import annotations

from collections import deque
from itertools import product

import numpy as np

from interplay.agents.scripted.screen import Box, find

RED = 70
LEFT_WALL, RIGHT_WALL = 8, 152
UNDER_BRICKS, PADDLE_TOP = 93, 189
PADDLE_WIDTH, BALL_WIDTH = 16, 2

PUSH = 5.75
"""Pixels by which a held key moves the paddle's target in a frame; in each frame the paddle goes half of the way to it."""

PLANS = tuple(product((0, -1, 1), repeat=3))


class Breakout:
    """The player of Breakout. Ball, paddle, top row of bricks and a wall's rim are all red, but in different screen rows."""

    def reset(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._balls: deque[Box | None] = deque(maxlen=6)
        self._paddles: deque[float] = deque([80.0], maxlen=2)
        self._offset = 0.0
        self._was_falling = False

    def see(self, pixels: np.ndarray) -> None:
        """Remember ball and paddle, because speeds are computed from several frames."""
        self._balls.append(find(pixels, RED, top=UNDER_BRICKS, bottom=PADDLE_TOP, left=LEFT_WALL, right=RIGHT_WALL))
        paddle = find(pixels, RED, top=PADDLE_TOP + 1, bottom=PADDLE_TOP + 3, left=LEFT_WALL, right=RIGHT_WALL)
        if paddle is not None and paddle.right - paddle.left < PADDLE_WIDTH:
            # A paddle half behind a wall is known by its inner end.
            left = paddle.right - PADDLE_WIDTH + 1 if paddle.left == LEFT_WALL else paddle.left
            self._paddles.append(left + PADDLE_WIDTH / 2)

    def decide(self, pixels: np.ndarray) -> set[str]:
        ball = self._balls[-1]
        if ball is None:
            return {"FIRE"}
        speed = self._speed()
        if speed is None or speed[1] <= 0:
            self._was_falling = False
            return self._go(ball.x, 12)
        if not self._was_falling:
            self._was_falling = True
            self._offset = float(self._rng.uniform(-5, 5))
        num_frames = (PADDLE_TOP - ball.bottom) / speed[1]
        return self._go(_bounce(ball.x + speed[0] * num_frames) + self._offset, max(1, round(num_frames)))

    def _go(self, x: float, num_frames: int) -> set[str]:
        """The buttons to press now so that the paddle stops as near to `x` as possible within `num_frames` frames."""
        now, before = self._paddles[-1], self._paddles[0]
        best, least = 0, float("inf")
        for plan in PLANS:
            place, goal, miss = now, 2 * now - before, 0.0
            for frame in range(12):
                goal += PUSH * plan[frame // 4]
                place += (goal - place) / 2
                if frame + 1 == num_frames:
                    miss = 4 * abs(place - x)
            miss += abs(place - x) + 0.1 * sum(map(abs, plan))
            if miss < least:
                best, least = plan[0], miss
        return {"RIGHT"} if best > 0 else {"LEFT"} if best < 0 else set()

    def _speed(self) -> tuple[float, float] | None:
        """Speed in pixels per frame, right and down, since the ball last turned; None if the ball was not seen before."""
        balls = [ball for ball in self._balls if ball is not None]
        if len(balls) < 2 or self._balls[-2] is None:
            return None
        newest = balls[-1]
        right, down = np.sign(newest.left - balls[-2].left), np.sign(newest.top - balls[-2].top)
        count = 1
        while count + 1 < len(balls):
            older, newer = balls[-2 - count], balls[-1 - count]
            if (newer.left - older.left) * right < 0 or (newer.top - older.top) * down <= 0:
                break
            count += 1
        oldest = balls[-1 - count]
        return (newest.left - oldest.left) / count, (newest.top - oldest.top) / count


def _bounce(x: float) -> float:
    """Fold `x` back at the side walls: the real position of a ball that would be at `x` without walls."""
    low, high = LEFT_WALL + BALL_WIDTH / 2, RIGHT_WALL - BALL_WIDTH / 2
    way = (x - low) % (2 * (high - low))
    return low + min(way, 2 * (high - low) - way)
