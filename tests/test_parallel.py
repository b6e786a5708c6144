"""Pools of processes: Ctrl-C ends them, whatever they do."""

import time

import pytest

from interplay.parallel import Pool, process_pool


def interrupted(pool: Pool):
    """What a process was doing, and the process, as Ctrl-C came."""
    with pool:
        assert pool.submit(abs, -1).result() == 1
        yield next(iter(pool._processes.values())), pool.submit(time.sleep, 600)
        raise KeyboardInterrupt


def test_ctrl_c_ends_what_the_processes_do_without_a_word(capfd):
    run = interrupted(process_pool(1))
    process, working = next(run)
    with pytest.raises(KeyboardInterrupt):
        next(run)
    assert not process.is_alive()
    assert working.done()
    assert capfd.readouterr().err == ""
