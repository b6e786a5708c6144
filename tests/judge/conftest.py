"""A data folder with agents to judge, on a real database."""

import numpy as np
import pytest
from judging_world import AT_ONCE, Clock, fill

from interplay.cli import main
from interplay.judge import Judging


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def judging(archive, clock):
    """The judging room over one task with three agents on three seeds."""
    return Judging(fill(archive), rng=np.random.default_rng(0), clock=clock, release_after_s=600, rules=AT_ONCE)


@pytest.fixture
def judge(archive, capsys):
    """Runs one command over the data folder; gives its status, and what it printed."""

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            main(["judge", *arguments, "--data", str(archive.root)])
        return int(stop.value.code or 0), *capsys.readouterr()

    return run
