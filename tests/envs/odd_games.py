"""Environments of others: an agent that joins late, one agent alone, twelve agents; pictures and rewards of many kinds."""

import gymnasium
import numpy as np
import pettingzoo
from gymnasium import spaces

ACTIONS = {
    "a": spaces.MultiDiscrete([3, 4]),
    "b": spaces.Discrete(4, start=1),
    "c": spaces.Dict({"m": spaces.Box(-1, 1, (2,))}),
}


class Odd(pettingzoo.ParallelEnv):
    """Three seats with actions of their own; the third joins at step 3. With `agents` so many that are alike instead."""

    metadata = {"render_modes": ["rgb_array"], "name": "odd_v0"}  # noqa: RUF012

    def __init__(self, render_mode=None, agents=None):
        self.render_mode, self.is_late = render_mode, agents is None
        self.possible_agents = list("abc") if agents is None else [f"agent_{number}" for number in range(agents)]
        self.agents = []

    def observation_space(self, agent):
        return spaces.Dict({"x": spaces.Box(-np.inf, np.inf, (2,), np.float64), "n": spaces.Discrete(5, start=-2)})

    def action_space(self, agent):
        return ACTIONS.get(agent, spaces.Discrete(2))

    def reset(self, seed=None, options=None):
        self.rng, self.step_number = np.random.default_rng(seed), 0
        self.agents = [agent for agent in self.possible_agents if not self.is_late or agent != "c"]
        return self._seen(), {agent: {} for agent in self.agents}

    def step(self, actions):
        assert set(actions) == set(self.agents)
        assert all(self.action_space(agent).contains(action) for agent, action in actions.items()), actions
        self.step_number += 1
        if self.is_late and self.step_number == 3:
            self.agents.append("c")
        agents, is_over = self.agents, self.step_number == 8
        self.agents = [] if is_over else list(agents)
        rewards = {agent: np.array([self.step_number + place / 4]) for place, agent in enumerate(agents)}
        nothing = dict.fromkeys(agents, False)
        return self._seen(agents), rewards, nothing, dict.fromkeys(agents, is_over), {agent: {} for agent in agents}

    def render(self):
        return np.full((16, 32, 3), 10 * self.step_number, np.uint8)

    def _seen(self, agents=None):
        return {agent: {"x": self.rng.normal(size=2), "n": -1} for agent in agents or self.agents}


pettingzoo.register("parallel", "odd_seats-v0", Odd)


class Drawn(gymnasium.Env):
    """Draws and pays what `picture` and `reward` say."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012
    action_space, observation_space = spaces.Discrete(2), spaces.Box(0, 3, (1,), np.float32)

    def __init__(self, render_mode=None, picture="float", reward="array"):
        self.render_mode, self.picture, self.reward, self.steps = render_mode, picture, reward, 0

    def reset(self, *, seed=None, options=None):
        self.steps = 0
        return np.zeros(1, np.float32), {}

    def step(self, action):
        self.steps += 1
        reward = {"array": np.array([0.5]), "none": None, "two": np.ones(2), "text": "much"}[self.reward]
        return np.full(1, self.steps, np.float32), reward, False, self.steps == 4, {}

    def render(self):
        half = np.full((16, 16, 3), 0.5)
        return {
            "float": half,
            "opaque": np.full((16, 16, 4), 255, np.uint8),
            "clear": np.full((16, 16, 4), 7, np.uint8),
            "huge": half * 900,
            "whole": np.full((16, 16, 3), 200.0),
            "growing": np.zeros((16 + self.steps, 16, 3), np.uint8),
        }[self.picture]


gymnasium.register("Drawn-v0", entry_point="odd_games:Drawn", disable_env_checker=True)
