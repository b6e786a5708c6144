"""River Raid: fly where the river is open furthest ahead, shoot enemies, and take fuel when the gauge is low."""

from __future__ import annotations

import numpy as np

from interplay.agents.scripted.screen import find

JET, WATER, NEEDLE = 28, 132, 30
FUEL = (72, 12)
BANK, WOOD, TRUNK = 214, 218, 16
AHEAD, JET_TOP, JET_BOTTOM = 50, 143, 160
HALF_WIDTH = 6

_WALL = np.zeros(256, bool)
_WALL[[BANK, WOOD, TRUNK]] = True
_THING = np.ones(256, bool)
_THING[[BANK, WOOD, TRUNK, WATER, JET, *FUEL]] = False


class RiverRaid:
    """The player of River Raid. The river is blue, banks are green, fuel is red and white; all else is an enemy."""

    enemy_top = 95
    full = 88

    def reset(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._count = 0

    def see(self, pixels: np.ndarray) -> None:
        """Do nothing: this player needs only the present frame."""

    def decide(self, pixels: np.ndarray) -> set[str]:
        self._count += 1
        jet = find(pixels, JET, top=146, bottom=161)
        if jet is None or jet.right - jet.left > 12:
            return {"FIRE"} if self._count % 2 else set()
        x = round(jet.x)
        view = pixels[AHEAD:JET_BOTTOM]
        solid = _WALL[view]
        enemies = _THING[view]
        solid[self.enemy_top - AHEAD :] |= enemies[self.enemy_top - AHEAD :]
        blocked = _widen(solid, HALF_WIDTH)
        clear = _rows_ahead(blocked[: JET_TOP - AHEAD])
        beside = np.asarray(blocked[JET_TOP - 12 - AHEAD :].any(axis=0))
        fuel = view[: JET_TOP - AHEAD] == FUEL[0]
        needle = find(pixels, NEEDLE, top=178, bottom=190)
        hungry = needle is None or needle.x < self.full
        columns = np.arange(160)
        worth = np.minimum(clear, 80).astype(float) - 0.3 * abs(columns - x) - 0.05 * abs(columns - 79)
        if hungry:
            worth += 30.0 * _widen(fuel.any(axis=0)[None], 3)[0] * (clear > 30)
        worth += 8.0 * (enemies[: self.enemy_top - AHEAD].any(axis=0)) * (clear > 40)
        if not beside[x]:
            left = max(np.flatnonzero(beside[:x]), default=-1)
            right = x + 1 + min(np.flatnonzero(beside[x + 1 :]), default=160)
            worth[: left + 1] = -999
            worth[right:] = -999
        target = int(worth.argmax())
        buttons = set()
        if abs(target - x) > 2:
            buttons.add("RIGHT" if target > x else "LEFT")
        if clear[x] < 35:
            buttons.add("DOWN")
        over_fuel = fuel[:, max(0, x - 5) : x + 6].any()
        if not (over_fuel and hungry):
            buttons.add("FIRE")
        return buttons


def _widen(mask: np.ndarray, by: int) -> np.ndarray:
    """Mark all columns within `by` of a True column, in each row."""
    wide, reach = mask.copy(), 0
    while reach < by:
        step = min(reach + 1, by - reach)
        before = wide.copy()
        wide[:, step:] |= before[:, :-step]
        wide[:, :-step] |= before[:, step:]
        reach += step
    return wide


def _rows_ahead(blocked: np.ndarray) -> np.ndarray:
    """Number of open rows above the last row, for each column."""
    upwards = blocked[::-1]
    return np.where(upwards.any(axis=0), upwards.argmax(axis=0), len(blocked))
