"""From a task to a ranking in one screen: two agents play Breakout, every episode is proved exact, answers become ratings.

Run it:  python examples/quickstart.py
"""

import tempfile

import numpy as np

import interplay.record
from interplay import agents, rank, tasks

task = tasks.find("atari/breakout")
seeds = task.held_out_seeds[:2]

with tempfile.TemporaryDirectory() as folder:
    archive = interplay.record.open(folder)

    # Let two agents play the same held-out seeds; every step is recorded.
    for name in ("random", "scripted"):
        for seed in seeds:
            agent = agents.find(name)
            agents.rollout(archive, task, agent, seed, rng=np.random.default_rng(seed), max_steps=1200)

    # Find episodes by what happened in them, and prove that playing them again gives the same frames.
    for episode in archive.episodes(task=task.id, where=["num_steps > 100"]):
        proof = interplay.record.verify(episode)
        print(f"{episode.actor:9} seed {episode.seed}: return {episode.total_reward:3.0f}, exact: {proof.equal}")
        observations = [stack for _, stack in episode.observations("dqn")]
        assert observations[0].shape == (4, 84, 84)

    # Compare each pair by return, as a judge would by eye, and rate the agents with doubt.
    answers = []
    for seed in seeds:
        one, other = (archive.episodes(task=task.id, actor=name, seeds=[seed])[0] for name in ("random", "scripted"))
        better = one.total_reward - other.total_reward
        outcome: rank.Outcome = "draw" if better == 0 else "left" if better > 0 else "right"
        answers.append(rank.Comparison("random", "scripted", outcome))
    for row in rank.leaderboard(answers):
        print(f"{row.agent:9} mu {row.mu:5.2f}  sigma {row.sigma:4.2f}  mu - 3 sigma {row.score:5.2f}")
