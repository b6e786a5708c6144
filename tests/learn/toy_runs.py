"""Runs on transitions made by hand, and of a small world; a process that is to be killed imports this and no more."""

from dataclasses import replace

import torch
from gymnasium.spaces import Discrete
from toy_transitions import corridor

from interplay.agents.first_person import CHOICES
from interplay.learn import CONFIGS, PPOConfig
from interplay.learn.algorithms import LEARNERS
from interplay.learn.harness.run import Watch, run
from interplay.learn.online import run as running
from interplay.tasks import EnvSpec, find

LAKE = find("gymnasium/frozen_lake")
TINY = {"observation": "state", "hidden": (8,), "batch_size": 8, "threads": 1, "log_every": 10, "seed": 3, "device": "cpu"}


def config_of(name, **settings):
    return CONFIGS[name](task=LAKE.id, **{**TINY, **settings})


def fit(data, config, folder, *, resume=False, **watch):
    space = Discrete(2)
    if config.is_composed:  # right is a step forward, left one back
        data, space = replace(data, actions=data.actions[:, None] * [288, 1, 0] + [144, 60, 0]), CHOICES
    return run(LEARNERS[config.algorithm], data, config, LAKE, space, folder, resume=resume, watch=Watch(**watch))


def train_again(name, folder):
    """In a process that will be killed."""
    torch.set_num_threads(1)
    fit(corridor(), config_of(name, updates=30, checkpoint_every_s=0.0), folder, resume=True)


PRACTICE = PPOConfig(
    task=LAKE.id, observation="state", steps=400, games=2, horizon=16, batch_size=8, hidden=(8,), threads=1, device="cpu"
)
"""Thirteen rounds."""


def practise_in(env_id, folder, *, resume=False, reward=None, seats=("player",), **settings):
    """Play a world with the settings above, or others, and learn from it."""
    task = replace(LAKE, env=EnvSpec(env_id), seats=seats, max_steps=40)
    watch = {name: settings.pop(name) for name in ("on_update", "on_metrics") if name in settings}
    return running.run(replace(PRACTICE, **settings), task, folder, reward, resume=resume, **watch)


def practise_again(folder):
    """In a process that will be killed."""
    torch.set_num_threads(1)
    practise_in("gym:CartPole-v1", folder, resume=True, checkpoint_every_s=0.0)
