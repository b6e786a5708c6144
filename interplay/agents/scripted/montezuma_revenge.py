"""Montezuma's Revenge: fetch the key of the first room, open its right door, then look around."""

from __future__ import annotations

from collections import deque

import numpy as np

from interplay.agents.scripted.screen import Box, find

SHIRT, HAT, SKULL, GOLD, STONE = 70, 250, 14, 252, 182
LADDER, ROPE, LEFT_LADDER, RIGHT_LADDER = 80, 111, 24, 135
LADDER_RAIL = (100, 73)
"""Row and column of a pixel that has the colour of stone in the first room only."""

STAGE, LEDGE, FLOOR = 92, 135, 178
"""Rows of the figure's feet: on the platform where the game starts, on the ledges below it, and at the bottom."""


class MontezumaRevenge:
    """The player of Montezuma's Revenge: a rule for each part of the first room leads to the key, then to the right door.

    The place of the figure, Panama Joe, decides the rule, so a missed key or a lost life only leads back to an earlier rule.
    Joe is found by the colours of his shirt and hat, the skull by its white.
    """

    jump_from = 94
    skull_reach = 15

    def reset(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._places: deque[Box | None] = deque(maxlen=5)
        self._skulls: deque[Box | None] = deque(maxlen=9)
        self._count = 0
        self._way = {"RIGHT"}

    def see(self, pixels: np.ndarray) -> None:
        shirt = find(pixels, SHIRT, top=24, bottom=181)
        hat = find(pixels, HAT, top=24, bottom=181)
        self._places.append(Box(shirt.left, shirt.top, shirt.right, hat.bottom) if shirt and hat else None)
        self._skulls.append(find(pixels, SKULL, top=160, bottom=180, left=8))

    def decide(self, pixels: np.ndarray) -> set[str]:
        self._count += 1
        joe = self._places[-1]
        if joe is None:
            return set()
        if pixels[LADDER_RAIL] != STONE:
            return self._wander()
        x, feet = joe.x, joe.bottom
        has_key = find(pixels, GOLD, top=98, bottom=116, left=10, right=24) is None
        if feet >= FLOOR - 22 and 32 < x < 126:
            return self._cross_floor(x, feet, "RIGHT" if has_key else "LEFT")
        if has_key and feet <= LEDGE + 2 and abs(x - LADDER) <= 30:
            return self._to_door(x, feet)
        if has_key and feet <= STAGE + 10 and x > ROPE:
            return {"RIGHT"}
        if x <= 45:
            return self._left_side(x, feet, has_key)
        if x >= 117:
            return self._right_side(x, feet, has_key)
        if abs(x - ROPE) <= 3 and feet < FLOOR - 22:
            return {"LEFT" if has_key else "RIGHT", "FIRE"} if self._still() else set()
        if abs(x - LADDER) <= 3 and feet < LEDGE - 1:
            return {"DOWN"}
        if feet <= STAGE + 2:
            return {"RIGHT" if x < LADDER else "LEFT"}
        if x >= self.jump_from:
            return {"RIGHT", "FIRE"}
        return {"RIGHT"}

    def _cross_floor(self, x: float, feet: int, way: str) -> set[str]:
        """Walk along the bottom; jump when the skull is ahead and near."""
        skull = self._skulls[-1]
        if skull is not None and feet >= FLOOR - 2:
            before = next((box for box in self._skulls if box is not None), skull)
            side = 1 if way == "RIGHT" else -1
            ahead, comes = side * (skull.x - x), side * (skull.x - before.x) < 0
            if 0 < ahead < self.skull_reach and comes:
                return {way, "FIRE"}
            if 0 < ahead < 2 * self.skull_reach and not comes:
                return set()
        return {way}

    def _to_door(self, x: float, feet: int) -> set[str]:
        """Go up the middle ladder and over the gap to the right door."""
        if feet > STAGE + 1:
            if abs(x - LADDER) <= 2 or feet < LEDGE - 1:
                return {"UP"} if abs(x - LADDER) <= 4 else {"LEFT"}
            return {"LEFT" if x > LADDER else "RIGHT"}
        return {"RIGHT", "FIRE"} if x >= 86 else {"RIGHT"}

    def _left_side(self, x: float, feet: int, has_key: bool) -> set[str]:
        if has_key:
            if (feet <= LEDGE + 2 and x < LEFT_LADDER - 2) or feet >= FLOOR - 4:
                return {"RIGHT"}
            return {"DOWN"}
        if feet > LEDGE + 1:
            if abs(x - LEFT_LADDER) <= 2 or feet < FLOOR - 4:
                return {"UP"}
            return {"LEFT" if x > LEFT_LADDER else "RIGHT"}
        if x > 19:
            return {"LEFT"}
        return {"FIRE"} if self._count % 2 else set()

    def _right_side(self, x: float, feet: int, has_key: bool) -> set[str]:
        """Go down the right ladder; with the key, go up again and back to the rope."""
        if has_key:
            if feet > LEDGE + 1:
                if abs(x - RIGHT_LADDER) <= 2 or feet < FLOOR - 4:
                    return {"UP"}
                return {"RIGHT" if x < RIGHT_LADDER else "LEFT"}
            return {"LEFT", "FIRE"} if x < 125 else {"LEFT"}
        if feet >= FLOOR - 2:
            return {"LEFT"}
        if feet <= LEDGE + 2 and abs(x - RIGHT_LADDER) > 2:
            return {"RIGHT" if x < RIGHT_LADDER else "LEFT"}
        return {"DOWN"}

    def _wander(self) -> set[str]:
        """Explore beyond the door without rules: hold a random direction for a while, and jump now and then."""
        if self._count % 8 == 0:
            self._way = {("RIGHT", "RIGHT", "LEFT", "UP", "DOWN")[int(self._rng.integers(5))]}
        return self._way | {"FIRE"} if self._rng.random() < 0.15 else self._way

    def _still(self) -> bool:
        return len(self._places) == 5 and self._places[0] is not None and self._places[0] == self._places[-1]
