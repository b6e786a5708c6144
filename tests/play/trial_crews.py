"""A cheap world for several, registered as `crew-v0`: a row of lamps that never ends."""

from typing import ClassVar

import gymnasium
import numpy as np
import pettingzoo


class Crew(pettingzoo.ParallelEnv):
    """Each member turns lamps; a picture of 16 x 16 shows the step and what they have done.

    Args:
        num: How many members.
    """

    metadata: ClassVar = {"render_modes": ["rgb_array"], "name": "crew_v0"}

    def __init__(self, render_mode=None, num=2):
        self.render_mode = render_mode
        self.possible_agents = [f"m{number}" for number in range(num)]
        self.agents = []

    def observation_space(self, agent):
        return gymnasium.spaces.Box(0, 2**31, (2,), np.int64)

    def action_space(self, agent):
        return gymnasium.spaces.Discrete(3)

    def reset(self, seed=None, options=None):
        self.agents = list(self.possible_agents)
        self.num_steps, self.total = 0, 0
        return self._all(self._seen()), self._all({})

    def step(self, actions):
        self.num_steps += 1
        self.total += sum(actions.values())
        return self._all(self._seen()), self._all(1.0), self._all(False), self._all(False), self._all({})

    def render(self):
        picture = np.zeros((16, 16, 3), np.uint8)
        picture[self.num_steps % 16, self.total % 16] = 200
        return picture

    def _all(self, value):
        return dict.fromkeys(self.agents, value)

    def _seen(self):
        return np.array([self.num_steps, self.total])


pettingzoo.register("parallel", "crew-v0", Crew)

_KEYS = """
[task.keys]
buttons = ["UP", "DOWN"]
bindings = { KeyW = "UP", KeyS = "DOWN" }
actions = { "" = 0, "UP" = 1, "DOWN" = 2 }
"""


def crews_text() -> str:
    """A suite with games for two, with and without a partner, and for three."""
    tasks = [
        f'[[task]]\nname = "{name}"\nframe_rate_hz = 100\nseats = {seats}\nenv.id = "pettingzoo:trial_crews:crew-v0"\n'
        f"env.options = {{ kwargs = {{ num = {len(seats)} }} }}\n{_KEYS}"
        for name, seats in {"two": ["a", "b"], "pair": ["a", "b"], "three": ["a", "b", "c"]}.items()
    ]
    head = '[suite]\nid = "crew"\ntitle = "Crew"\n\n[defaults]\ntime_limit_s = 3000\nheld_out_seeds = [1]\ntitle = "A crew"\n'
    head += 'goal = "Try."\ninstructions = "Try it."\n'
    head += 'questions = [{ id = "better", factor = "overall", kind = "overall", text = "Which is better?" }]\n'
    return head + "\n".join(tasks)
