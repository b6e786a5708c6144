"""A small archive of scripted play, made once, copied for each test."""

import multiprocessing
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

import interplay.record
from interplay.agents import find, rollout
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
def processes():
    """Processes that begin with PyTorch loaded."""
    before = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), before])
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["toy_runs", "dagger_runs", "torch._dynamo"])
    yield context
    os.environ["PYTHONPATH"] = before
