"""A data folder with agents to judge, on a real database."""

import numpy as np
import pytest
from judging_world import AT_ONCE, Clock, fill

import interplay.record
from interplay.judge import Judging


@pytest.fixture
def archive(tmp_path):
    """An empty data folder."""
    archive = interplay.record.open(tmp_path / "data")
    yield archive
    archive.database.close()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def judging(archive, clock):
    """The judging room over one task with three agents on three seeds."""
    return Judging(fill(archive), rng=np.random.default_rng(0), clock=clock, release_after_s=600, rules=AT_ONCE)
