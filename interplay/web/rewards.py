"""Learned rewards beside a replay: each as a line over the steps of the game."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from interplay.learn.reward.curves import Along
from interplay.wording import amount

WIDTH, HEIGHT = 1000, 120
_WHOSE = {"people": "people", "models": "model judges", "all": "people and model judges"}


@dataclass(frozen=True)
class RewardPlot:
    """A reward along a game, in a box of `WIDTH` x `HEIGHT` units that is stretched to the page's width.

    Attributes:
        name: Of the reward.
        words: What it was learned from, and what it is worth.
        line: The reward.
        band: One standard deviation of its networks around it.
        zero_y: Where 0 lies; None where it is outside.
        low, high: The ends of the box.
        num_steps: Steps from its left to its right.
    """

    name: str
    words: str
    line: str
    band: str
    zero_y: float | None
    low: float
    high: float
    num_steps: int


def reward_plot(along: Along, num_steps: int) -> RewardPlot:
    """The plot of a reward along a game of so many steps."""
    rewards, spread = np.array(along.rewards), np.array(along.spread)
    low, high = float((rewards - spread).min()), float((rewards + spread).max())
    if high - low < 1e-6:
        low, high = low - 1, high + 1
    x = [round(WIDTH * step / max(num_steps, 1), 1) for step in along.steps]

    def y(value: float) -> float:
        return round(HEIGHT * (high - value) / (high - low), 1)

    upper = [f"{left} {y(value)}" for left, value in zip(x, rewards + spread, strict=True)]
    lower = [f"{left} {y(value)}" for left, value in zip(x, rewards - spread, strict=True)]
    words = f"From {amount(along.answers, 'answer')} of {_WHOSE[along.judges]}."
    if along.correlation is not None:
        words += f" Its rank correlation with the score of other games is {along.correlation:.2f}."
    return RewardPlot(
        along.name,
        words,
        "M" + "L".join(f"{left} {y(value)}" for left, value in zip(x, rewards, strict=True)),
        "M" + "L".join([*upper, *reversed(lower)]) + "Z",
        y(0.0) if low < 0 < high else None,
        low,
        high,
        num_steps,
    )
