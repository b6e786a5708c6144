"""Learned rewards in a replay: each as a line over the steps of the game."""

from __future__ import annotations

from typing import Any

from interplay.learn.reward.curves import Along
from interplay.wording import amount

_WHOSE = {"people": "people", "models": "model judges", "all": "people and model judges"}


def reward_plot(along: Along, num_steps: int) -> dict[str, Any]:
    """The plot of a reward along a game of so many steps, as `web.plots` describes it.

    `name` is the reward's, `words` describe its training and its quality, `low` and `high` hold the reward and one standard
    deviation of its networks around it.
    """
    words = f"From {amount(along.answers, 'answer')} of {_WHOSE[along.judges]}."
    if along.correlation is not None:
        words += f" Its rank correlation with the score of other games is {along.correlation:.2f}."
    rows = [
        (step, round(value, 4), round(around, 4))
        for step, value, around in zip(along.steps, along.rewards, along.spread, strict=True)
    ]
    return {
        "kind": "reward",
        "columns": [("step", ""), ("reward", ""), ("one standard deviation", "")],
        "rows": rows,
        "end": max(num_steps, 1),
        "name": along.name,
        "words": words,
        "low": min(value - around for _, value, around in rows),
        "high": max(value + around for _, value, around in rows),
    }
