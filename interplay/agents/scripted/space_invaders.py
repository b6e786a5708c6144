"""Space Invaders: move left and right under the invaders, always shooting, and turn away from every bomb that comes near."""

from __future__ import annotations

from collections import deque

import numpy as np

from interplay.agents.scripted.screen import Box, find, find_all

SHOT, INVADER, CANNON = 6, 20, 196
"""Palette indices of shots, invaders and the cannon; bombs have the same colour as the cannon's own shots."""
SKY, CANNON_TOP, GROUND = 25, 185, 195
"""First row below the score, row of the cannon's top, and first row of the ground."""

LEFTMOST, RIGHTMOST = 38, 118
"""Columns between which the cannon can stand."""
MARGIN = 6
"""Pixels by which a sweep goes beyond the outermost invaders."""
ALARM_ROW = 130
"""A bomb below this row is worth dodging: it lands within a second, and the cannon moves 30 pixels in that time."""
REACH = 14
"""A bomb within this many columns of the cannon's middle is worth dodging; the cannon is 7 columns wide."""


class SpaceInvaders:
    """The player of Space Invaders: it always shoots, and turns only at a bomb or at the end of a sweep.

    So an action depends only on things that four pictures show clearly (direction of the cannon, bombs, invaders), and a
    network can learn it from a quarter of an hour of play. A player who stays under one column scores as many points, but must
    see finer details. `cannon` is the palette index of the player's cannon.
    """

    def __init__(self, cannon: int = CANNON) -> None:
        self._cannon = cannon

    def reset(self, rng: np.random.Generator) -> None:
        self._heading = "RIGHT" if rng.random() < 0.5 else "LEFT"
        self._shots: deque[list[Box]] = deque(maxlen=4)

    def see(self, pixels: np.ndarray) -> None:
        """Remember this frame's shots, because a single picture does not distinguish a bomb from the cannon's shot."""
        self._shots.append(find_all(pixels, SHOT, top=100, bottom=GROUND, gap=0))

    def decide(self, pixels: np.ndarray) -> set[str]:
        cannon = find(pixels, self._cannon, top=CANNON_TOP, bottom=GROUND)
        if cannon is None:  # between lives
            return {"FIRE"}
        near = [bomb for bomb in self._bombs() if bomb.bottom >= ALARM_ROW and abs(bomb.x - cannon.x) <= REACH]
        if near:
            nearest = max(near, key=lambda bomb: bomb.bottom)
            self._heading = "RIGHT" if nearest.x <= cannon.x else "LEFT"
        first, last = self._sweep(pixels)
        if cannon.x <= first:
            self._heading = "RIGHT"
        elif cannon.x >= last:
            self._heading = "LEFT"
        return {self._heading, "FIRE"}

    def _sweep(self, pixels: np.ndarray) -> tuple[int, int]:
        """The two columns at which a sweep turns: a little beyond the invaders, at least 20 apart."""
        invaders = find(pixels, INVADER, top=SKY, bottom=CANNON_TOP)
        if invaders is None:
            return LEFTMOST, RIGHTMOST
        first = max(LEFTMOST, min(invaders.left - MARGIN, RIGHTMOST - 20))
        return first, min(RIGHTMOST, max(invaders.right + MARGIN, LEFTMOST + 20))

    def _bombs(self) -> list[Box]:
        """Boxes of falling bombs. They are drawn in every second frame, so a frame is compared with the frame two before it."""
        bombs = []
        frames = list(self._shots)
        for now, before in ((-1, -3), (-2, -4)):
            if len(frames) >= -before:
                bombs += [
                    shot
                    for shot in frames[now]
                    if any(abs(old.left - shot.left) <= 1 and 0 < shot.bottom - old.bottom <= 8 for old in frames[before])
                ]
        return bombs
