"""Space Invaders: stand under the nearest column, shoot, step out of the way of bombs."""

from __future__ import annotations

from collections import deque

import numpy as np

from interplay.agents.scripted.screen import Box, find, find_all

SHOT, INVADER, CANNON = 6, 20, 196
GROUND = 195


class SpaceInvaders:
    """A simple function of the last few pictures, so that a network can learn it from them.

    Bombs and the cannon's own shot have one colour and are drawn on alternate frames; what moves down is a bomb.
    """

    danger_top = 130
    reach = 7
    aim = 2

    def reset(self, rng: np.random.Generator) -> None:
        """Forget the last episode."""
        self._rng = rng
        self._shots: deque[list[Box]] = deque(maxlen=4)

    def see(self, pixels: np.ndarray) -> None:
        """Remember this frame's shots: one picture alone does not tell bombs from the cannon's shot."""
        self._shots.append(find_all(pixels, SHOT, top=100, bottom=GROUND, gap=0))

    def decide(self, pixels: np.ndarray) -> set[str]:
        """The buttons for the next four frames."""
        cannon = find(pixels, CANNON, top=185, bottom=GROUND)
        if cannon is None:
            return {"FIRE"}
        danger = [bomb for bomb in self._bombs() if bomb.bottom >= self.danger_top and abs(bomb.x - cannon.x) <= self.reach]
        if danger:
            bomb = max(danger, key=lambda box: box.bottom)
            side = "RIGHT" if bomb.x <= cannon.x else "LEFT"
            if cannon.left <= 38:
                side = "RIGHT"
            elif cannon.right >= 120:
                side = "LEFT"
            return {side, "FIRE"}
        columns = self._columns(pixels)
        if not columns:
            return {"FIRE"}
        target = min(columns, key=lambda x: abs(x - cannon.x))
        if abs(target - cannon.x) <= self.aim:
            return {"FIRE"}
        return {"RIGHT" if target > cannon.x else "LEFT", "FIRE"}

    def _columns(self, pixels: np.ndarray) -> list[float]:
        return [
            (box.left + box.right) / 2
            for box in find_all((pixels[25:185] == INVADER).any(axis=0)[None].astype(np.uint8), 1, bottom=1)
        ]

    def _bombs(self) -> list[Box]:
        """Shots that moved down since a frame before."""
        bombs = []
        for age, shots in enumerate(reversed(self._shots)):
            if age > 1:
                break
            older = list(self._shots)[-1 - age - 2] if len(self._shots) > age + 2 else []
            for shot in shots:
                for before in older:
                    if abs(before.left - shot.left) <= 1 and 0 < shot.bottom - before.bottom <= 8:
                        bombs.append(shot)
        return bombs
