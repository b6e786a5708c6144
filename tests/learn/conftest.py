"""A small archive of scripted play, made once, copied for each test."""

import shutil

import numpy as np
import pytest
import warm_process

import interplay.parallel
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


@pytest.fixture(scope="module", autouse=True)
def warm_pools():
    """The processes of a pool are forks of one that has loaded what they need, not new interpreters."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interplay.parallel, "get_context", lambda method: warm_process.pools())
        yield


@pytest.fixture
def processes():
    """Where processes of the test's own come from."""
    return warm_process.pools()
