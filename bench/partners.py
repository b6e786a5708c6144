"""The agent of `bench.play --seats 2`: a small convolutional policy with random weights, and what one call of it costs."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

import numpy as np
from gymnasium.spaces import Discrete

from interplay.agents.policy import load_policy, save_policy
from interplay.envs import make
from interplay.record.format.schema import seat_spaces
from interplay.tasks import Task

POLICY = "bench-partner"
NUM_CALLS = 240


def make_policy(folder: Path, task: Task) -> None:
    """A policy of the Nature network with random weights."""
    import torch

    from interplay.agents.networks import build

    torch.manual_seed(0)
    with closing(make(task)) as env:
        space = seat_spaces(env)[task.seats[1]]
    assert isinstance(space, Discrete)
    encoder = {"name": "conv", "shape": [4, 84, 84]}
    architecture = {"name": "feedforward", "encoder": encoder, "outputs": int(space.n)}
    details = {"architecture": architecture, "temperature": 1.0}
    save_policy(folder, build(architecture), task=task, algorithm="none", observation="dqn", space=space, details=details)


def single_call_us(folder: Path, task: Task) -> float:
    """Processor time of one call for one observation in one thread, as often as there are frames, microseconds."""
    import torch

    torch.set_num_threads(1)
    policy = load_policy(folder)
    state = policy.begin(task, rng=np.random.default_rng(0))
    observations = [{"picture": np.random.default_rng(0).integers(0, 256, (4, 84, 84), np.uint8)}]
    for _ in range(20):
        policy.decide(observations, [state])
    used_s = 0.0
    for _ in range(NUM_CALLS):
        before = time.thread_time()
        policy.decide(observations, [state])
        used_s += time.thread_time() - before
        time.sleep(1 / task.frame_rate_hz)
    return used_s / NUM_CALLS * 1e6
