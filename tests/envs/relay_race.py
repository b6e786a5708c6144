"""A parallel environment whose agents end at different steps and in different ways, registered as `relay_race-v0`."""

from typing import ClassVar

import gymnasium
import numpy as np
import pettingzoo


class RelayRace(pettingzoo.ParallelEnv):
    """The first of three runners falls at step 2 (terminated), the second stops at step 3 (truncated), the third at step 5.

    Args:
        last_one: How the third ends: `terminated` or `truncated`.
        keeps_all: Whether runners that are done stay in `agents`, against PettingZoo's interface.
    """

    metadata: ClassVar = {"render_modes": ["rgb_array"], "name": "relay_race_v0"}
    possible_agents: ClassVar = ["a", "b", "c"]

    def __init__(self, render_mode=None, last_one="truncated", keeps_all=False):
        self.render_mode = render_mode
        self.last_one, self.keeps_all = last_one, keeps_all
        self.agents = []

    def observation_space(self, agent):
        return gymnasium.spaces.Box(0, 100, (2,), np.int64)

    def action_space(self, agent):
        return gymnasium.spaces.Discrete(2)

    def reset(self, seed=None, options=None):
        self.agents = list(self.possible_agents)
        self.num_steps, self.total = 0, 0
        return {agent: self._seen() for agent in self.agents}, {agent: {} for agent in self.agents}

    def step(self, actions):
        assert set(actions) == set(self.agents)
        self.num_steps += 1
        self.total += sum(actions.values())
        agents, ends = self.agents, {2: "a", 3: "b", 5: "c"}
        over = ends.get(self.num_steps)
        is_terminated = over == "a" or (over == "c" and self.last_one == "terminated")
        self.agents = [agent for agent in agents if agent != over or self.keeps_all]
        return (
            {agent: self._seen() for agent in agents},
            {agent: float(self.num_steps) for agent in agents},
            {agent: agent == over and is_terminated for agent in agents},
            {agent: agent == over and not is_terminated for agent in agents},
            {agent: {"total": self.total} for agent in agents},
        )

    def render(self):
        return np.full((16, 32, 3), 10 * self.num_steps, np.uint8)

    def _seen(self):
        return np.array([self.num_steps, self.total])


pettingzoo.register("parallel", "relay_race-v0", RelayRace)
