"""Agents with one awkward property each, for a live game to meet; in games of the trial suite's `pong`."""

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from interplay.agents import Decision
from interplay.tasks import Task


class Good:
    """Full form: holds UP for four steps, then DOWN for four; counts its calls in its state."""

    name = "good"
    observation = "pixels"

    def begin(self, task: Task, *, rng: np.random.Generator) -> dict[str, int]:
        return {"num": 0}

    def decide(self, observations: Sequence[Mapping[str, Any]], states: Sequence[dict[str, int]]) -> list[Decision]:
        for observation, state in zip(observations, states, strict=True):
            assert observation["picture"].dtype == np.uint8
            state["num"] += 1
        return [Decision(np.int64(1 + state["num"] % 2), 4) for state in states]


class Seeing(Good):
    """Sees four frames in one, and decides on every fourth."""

    name = "seeing"
    observation = "dqn"

    def decide(self, observations: Sequence[Mapping[str, Any]], states: Sequence[dict[str, int]]) -> list[Decision]:
        assert all(observation["picture"].shape == (4, 84, 84) for observation in observations)
        return [Decision(1 + int(observation["picture"].max() > 300)) for observation in observations]


class Simple:
    """Short form: one object a game."""

    name = "simple"
    observation = "pixels"

    def reset(self, task: Task, *, rng: np.random.Generator) -> None:
        self.num = 0

    def act(self, observation: np.ndarray) -> int:
        self.num += 1
        return 1


class Refuses(Good):
    """Cannot play this task."""

    name = "refuses"

    def begin(self, task: Task, *, rng: np.random.Generator) -> dict[str, int]:
        raise ValueError("I only play chess")


class Later(Good):
    """Well until its fifth decision."""

    def decide(self, observations: Sequence[Mapping[str, Any]], states: Sequence[dict[str, int]]) -> list[Decision]:
        decisions = super().decide(observations, states)
        return [
            self.fifth() if state["num"] >= 5 else one._replace(hold_steps=1)
            for one, state in zip(decisions, states, strict=True)
        ]

    def fifth(self) -> Any:
        raise NotImplementedError


class Raises(Later):
    name = "raises"

    def fifth(self) -> Any:
        raise ValueError("the volcano erupted")


class Nonsense(Later):
    name = "nonsense"

    def fifth(self) -> Any:
        return Decision(99)


class Chats(Later):
    name = "chats"

    def fifth(self) -> Any:
        return "UP, please"


class Hangs(Later):
    name = "hangs"

    def fifth(self) -> Any:
        time.sleep(3600)


class Dies(Later):
    name = "dies"

    def fifth(self) -> Any:
        os.kill(os.getpid(), 9)


class Slow(Good):
    """Takes a third of a second: five frames of this game."""

    name = "slow"

    def decide(self, observations: Sequence[Mapping[str, Any]], states: Sequence[dict[str, int]]) -> list[Decision]:
        time.sleep(0.33)
        return [one._replace(hold_steps=1) for one in super().decide(observations, states)]
