"""A small run in rounds; a process that is to be killed imports this and no more."""

from pathlib import Path

import numpy as np
import torch

import interplay.learn.plots
import interplay.record
from interplay.agents.base import Decision
from interplay.learn import DaggerConfig
from interplay.learn.dagger import dagger

LAKE = "gymnasium/frozen_lake"


class Careful:
    """An expert for the lake: to the right where the column is even, else down; it looks at the numbers of the world."""

    name = "careful"
    observation = "state"

    def begin(self, task, *, rng):
        """Nothing to remember."""

    def decide(self, observations, states):
        """2 is to the right, 1 down."""
        return [Decision(2 - int(np.argmax(seen["state"])) % 2) for seen in observations]


def config_of(**settings):
    tiny = {"observation": "state", "hidden": (8,), "batch_size": 8, "updates": 30, "threads": 1, "log_every": 10, "seed": 3}
    return DaggerConfig(**{"task": LAKE, "expert": "dagger_runs:Careful", "rounds": 2, "labels": 25, **tiny, **settings})


def again(root):
    """In a process that will be killed."""
    torch.set_num_threads(1)
    archive = interplay.record.open(Path(root))
    dagger(archive, config_of(checkpoint_every_s=0.0), "m")
    archive.close()
