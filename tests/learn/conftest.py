"""A small archive of scripted play, made once, copied for each test."""

import shutil

import numpy as np
import pytest

import interplay.record
from interplay.agents import find, rollout
from interplay.learn.transitions import EpisodeCounts, Owner, Transitions
from interplay.tasks import find as find_task

torch = pytest.importorskip("torch")

TASK = find_task("atari/space_invaders")


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def recorded(tmp_path_factory):
    """Three short scripted episodes and one on a held-out seed; lengths leave 0, 1 and 3 steps after the last full decision."""
    root = tmp_path_factory.mktemp("recorded")
    archive = interplay.record.open(root)
    for seed, num_steps in ((1, 200), (2, 121), (3, 183), (TASK.held_out_seeds[0], 80)):
        rollout(archive, TASK, find("scripted"), seed, rng=np.random.default_rng(seed), max_steps=num_steps)
    archive.close()
    return root


@pytest.fixture
def archive(recorded, tmp_path):
    shutil.copytree(recorded, tmp_path / "data")
    archive = interplay.record.open(tmp_path / "data")
    yield archive
    archive.close()


@pytest.fixture(scope="session")
def transitions():
    return make_transitions


def make_transitions(pictures, actions, num_episodes, *, stack=0, at=None, first=None, rewards=None, terminated=None):
    """Transitions made by hand: episodes of equal length, one picture a decision unless `at` says otherwise."""
    size = len(actions)
    return Transitions(
        pictures,
        stack,
        at=np.arange(size) if at is None else at,
        first=np.zeros(size, int) if first is None else first,
        actions=np.asarray(actions, np.int64),
        rewards=np.zeros(size) if rewards is None else rewards,
        terminated=np.zeros(size, bool) if terminated is None else terminated,
        truncated=np.zeros(size, bool),
        steps=np.arange(size),
        held=np.ones(size, int),
        offsets=np.zeros(size, int),
        episodes=np.arange(size) * num_episodes // size,
        owners=np.zeros(size, int),
        counts=tuple(EpisodeCounts(f"e{index}", index, 160, size // num_episodes) for index in range(num_episodes)),
        names=(Owner("ann", "human"),),
    )
