"""A world of eight steps in which the first action pays 1 and the others nothing, registered as `OnePays-v0`.

The first action is the start of its Discrete space.
"""

import gymnasium
import numpy as np

from interplay.agents.base import Decision


class OnePays(gymnasium.Env):
    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012

    def __init__(self, start=0, render_mode=None):
        self.action_space = gymnasium.spaces.Discrete(3, start=start)
        self.observation_space = gymnasium.spaces.MultiDiscrete([9, 2], start=[start, start])
        self.render_mode, self.steps = render_mode, 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return self._seen(), {}

    def step(self, action):
        assert self.action_space.contains(action), action
        self.steps += 1
        return self._seen(), float(action == self.action_space.start), self.steps == 8, False, {}

    def render(self):
        return np.full((32, 32, 3), self.steps * 20, np.uint8)

    def _seen(self):
        return np.array([self.steps, 1]) + self.observation_space.start


gymnasium.register("OnePays-v0", entry_point=OnePays)


class Mostly:
    """Takes the first action of the keys in seven of ten decisions."""

    name = "mostly"
    observation = "state"
    often = 0.7

    def begin(self, task, *, rng):
        self._actions, self._rng = list(task.keys.actions.values()), rng

    def decide(self, observations, states):
        return [Decision(self._actions[0 if self._rng.random() < self.often else self._rng.integers(3)]) for _ in observations]


class Always(Mostly):
    """Takes it in all of them."""

    name = "always"
    often = 2.0
