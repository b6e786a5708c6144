"""Brightness of the land, which depends on the time of day, the weather and the light of a cell."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np

from blockworld.render import exact

_STEEP = np.array([float((Decimal(level) / 15) ** Decimal("1.7")) for level in range(16)])
"""(level / 15) to the power 1.7 for each light level, computed by `Decimal` because math libraries round powers differently."""


def smooth(value: float, low: float, high: float) -> float:
    """Return 0 below `low`, 1 above `high`, and a smooth rise between (smoothstep)."""
    part = min(1.0, max(0.0, (value - low) / (high - low)))
    return part * part * (3 - 2 * part)


def of_sky(time: int, weather: str = "clear") -> float:
    """Return the brightness of the open sky, 0 at night to 1 by day; time 0 is 6:00, 6000 is noon.

    >>> of_sky(6000), of_sky(18000)
    (1.0, 0.0)
    """
    day = smooth(exact.sin(time / 24000 * 2 * math.pi), -0.22, 0.22)
    return day * {"rain": 0.78, "thunder": 0.55}.get(weather, 1.0)


def brightness(day: float, gamma: float = 0.0) -> np.ndarray:
    """Return the colour of a white surface for each light value (sky times 16, plus block): float32, shape (256, 3).

    Args:
        day: Brightness of the sky, from `of_sky`.
        gamma: How much dark colours are raised towards 1 - (1 - colour)^4, as by the brightness setting of Minecraft 1.16:
            0 not at all, 1 completely (the game's largest value); MineRL uses 2.
    """
    level = np.arange(16) / 15
    curve, root = 0.04 + 0.96 * _STEEP, np.sqrt(level)
    sun = np.array([0.19, 0.22, 0.34]) * (1 - day) + np.array([1.03, 1.0, 0.95]) * day
    # In the shade light comes from the sky, which is bluer.
    sky = curve[:, None] * (sun * root[:, None] + sun * np.array([0.86, 0.95, 1.1]) * (1 - root[:, None]))
    torch = curve[:, None] * np.array([1.04, 0.88, 0.64])
    torch[0] = 0
    both = np.sqrt(sky[:, None] ** 2 + torch[None] ** 2)
    colour = np.minimum(np.maximum(both, [0.07, 0.07, 0.078]), 1.05).reshape(256, 3)
    dark = 1 - np.minimum(colour, 1.0)
    raised = colour + gamma * (dark - dark * dark * dark * dark)
    return np.maximum(np.minimum(raised, 1.0), colour).astype(np.float32)
