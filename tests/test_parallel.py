"""Pools of processes: Ctrl-C ends them, whatever they do and whatever waits."""

import os
import signal
import time
from concurrent.futures import wait
from pathlib import Path

import pytest

from interplay.parallel import Pool, process_pool

_NUM_JOBS = 3


@pytest.fixture(autouse=True)
def heard():
    """Ctrl-C is heard, also where the tests run in the background of a shell: processes begun there would ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def nap(folder: Path, number: int, duration_s: float):
    """Say in a file that this job began, sleep, and say that it came to its end or was left."""
    try:
        (folder / f"{number}.began").touch()
        time.sleep(duration_s)
        (folder / f"{number}.ended").touch()
    finally:
        (folder / f"{number}.left").touch()


def napping(pool: Pool, folder: Path, duration_s: float):
    """Each of some jobs as it ends; first, when one has begun, the process that does it and all jobs."""
    with pool:
        jobs = [pool.submit(nap, folder, number, duration_s) for number in range(_NUM_JOBS)]
        for _ in range(3000):
            if (folder / "0.began").exists():
                break
            time.sleep(0.01)
        yield next(iter(pool._processes.values())), jobs
        wait(jobs)


def files_of(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_ctrl_c_leaves_the_job_that_is_done_and_begins_none_that_waits(tmp_path, capfd):
    run = napping(process_pool(1, {}), tmp_path, 30)
    process, jobs = next(run)
    with pytest.raises(KeyboardInterrupt):
        run.throw(KeyboardInterrupt)
    assert files_of(tmp_path) == ["0.began", "0.left"]
    assert not process.is_alive()
    assert all(job.done() for job in jobs)
    assert capfd.readouterr().err == ""


def test_a_process_that_hears_ctrl_c_by_itself_begins_no_job_either(tmp_path):
    """As in a terminal, wherever Ctrl-C finds the one that started it."""
    run = napping(process_pool(1, {}), tmp_path, 30)
    process, jobs = next(run)
    os.kill(process.pid, signal.SIGINT)
    run.close()
    assert files_of(tmp_path) == ["0.began", "0.left"]
    assert all(job.done() for job in jobs)


def test_a_generator_that_is_closed_finishes_the_jobs_that_are_begun(tmp_path):
    """As where writing one of their results fails: trainings beside it are not killed in the middle."""
    run = napping(process_pool(1, {}), tmp_path, 0.1)
    next(run)
    run.close()
    assert {"0.began", "0.ended"} <= {*files_of(tmp_path)}
