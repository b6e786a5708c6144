"""An expert beside a learner: it says what it would do at each step, and sometimes acts for the learner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from interplay.agents.base import Agent, SeatedAgent, SimpleAgent
from interplay.envs import PlayableEnv
from interplay.tasks import Task


class Asked(NamedTuple):
    """A learner in a seat, and an expert that is asked what it would do there.

    Attributes:
        learner: Its name is the seat's holder in recordings.
        expert: Sees what the learner does, through a pipeline of its own.
        share: Share of the learner's decisions in which the expert acts itself, drawn for each decision: the mixture beta *
            expert + (1 - beta) * learner of Ross, Gordon & Bagnell 2011, section 3.
    """

    learner: Agent | SimpleAgent
    expert: Agent | SimpleAgent
    share: float = 0.0

    @property
    def name(self) -> str:
        return self.learner.name


class AskedSeat:
    """`Asked` in one seat of one game; a rollout treats it as a `SeatedAgent`.

    After `act`, `owner` names the agent that acts in the step, and `label` is the expert's action for it.
    """

    def __init__(self, asked: Asked, task: Task, *, rng: np.random.Generator) -> None:
        own, self._coin = rng.spawn(2)
        self._share = asked.share
        self._learner = SeatedAgent(asked.learner, task, rng=rng)
        self._expert = SeatedAgent(asked.expert, task, rng=own)
        self.owner = asked.learner.name
        self.label: Any = None

    def sit(self, world: PlayableEnv, seat: str, info: Mapping[str, Any]) -> None:
        self._learner.sit(world, seat, info)
        self._expert.sit(world, seat, info)

    def act(self) -> Any:
        """Return the action for the next step. The acting agent changes only where the learner decides."""
        if self._learner.observation is not None:
            leads = self._expert if self._coin.random() < self._share else self._learner
            self.owner = leads.agent.name
        action, self.label = self._learner.act(), self._expert.act()
        return self.label if self.owner == self._expert.agent.name else action

    def see(self, info: Mapping[str, Any]) -> None:
        self._learner.see(info)
        self._expert.see(info)
