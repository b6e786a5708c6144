"""Record a scripted player, clone it, and let the clone play: the loop of learning in a page."""

import tempfile

import numpy as np

import interplay.record
from interplay.agents import find, rollout
from interplay.learn import BCConfig, train
from interplay.tasks import find as find_task

task = find_task("atari/space_invaders")
archive = interplay.record.open(tempfile.mkdtemp())

for seed in (1, 2, 3):
    demonstration = rollout(archive, task, find("scripted"), seed, rng=np.random.default_rng(seed), max_steps=900)
    print(f"seed {seed}: the scripted player scored {demonstration.total_reward:g} in {demonstration.duration_s:.0f} s")

# 60 updates show the way; BCConfig.fast(task.id) trains for 45 s, and wants a quarter of an hour of play.
result = train(archive, BCConfig(task.id, actor="scripted", updates=60), "clone")
print(f"{result.num_decisions} decisions learned from in {result.seconds:.1f} s, see {result.folder / 'curves.svg'}")

episode = rollout(archive, task, find("clone", archive), seed=9001, rng=np.random.default_rng(0), max_steps=900)
print(f"the clone scored {episode.total_reward:g}: {episode.id}")
