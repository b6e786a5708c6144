"""A player of `bench/cartpole.toml` that could do better, to learn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from interplay.agents.base import Decision
from interplay.tasks import Task


class LeanAgent:
    """Pushes the cart to the side to which the pole leans, whichever way it is moving: the pole swings ever further."""

    name = "lean"
    observation = "state"

    def begin(self, task: Task, *, rng: np.random.Generator) -> None:
        """Nothing to remember."""

    def decide(self, observations: Sequence[Mapping[str, Any]], states: Sequence[Any]) -> list[Decision]:
        """1 pushes to the right; the third number is the angle of the pole, positive to the right."""
        return [Decision(int(seen["state"][2] > 0)) for seen in observations]


class BalanceAgent:
    """Keeps the pole upright in the middle of the track: a linear controller, which never comes near to falling."""

    name = "balance"
    observation = "state"

    def begin(self, task: Task, *, rng: np.random.Generator) -> None:
        """Nothing to remember."""

    def decide(self, observations: Sequence[Mapping[str, Any]], states: Sequence[Any]) -> list[Decision]:
        """1 pushes to the right; the state is the cart's place and speed, the pole's angle and speed."""
        return [Decision(int(seen["state"] @ (0.1, 0.3, 1.0, 0.5) > 0)) for seen in observations]
