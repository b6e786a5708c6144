"""An agent of one's own: a class with a name, a view of the world, `reset` and `act`; checked, then recorded."""

import tempfile

import numpy as np

import interplay.record
from interplay.agents import check_agent, rollout
from interplay.tasks import find


class Marksman:
    """Space Invaders: shoots without pause and changes side every second."""

    name = "marksman"
    observation = "pixels"

    def reset(self, task, *, rng):
        self.keys, self.frame = task.keys, int(rng.integers(60))

    def act(self, observation):
        self.frame += 1
        side = "LEFT" if self.frame // 60 % 2 else "RIGHT"
        return self.keys.resolve(self.keys.mask({side, "FIRE"}))


task = find("atari/space_invaders")
check_agent(Marksman(), task)
archive = interplay.record.open(tempfile.mkdtemp())
episode = rollout(archive, task, Marksman(), seed=1, rng=np.random.default_rng(0), max_steps=1200)
print(f"{episode.actor} scored {episode.total_reward:g} in {episode.num_steps} steps ({episode.outcome})")
