"""Work in other processes: pools that end when the one that started them does, however it ends, and processes that give way."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import connection, get_context, parent_process


def give_way() -> None:
    """Let this process run after others that want to at the same moment, but always a little: somebody waits for what it does.

    On a machine whose every core is busy, one of `SCHED_IDLE` waits for seconds; this one gets a quarter of a core.
    """
    os.nice(5)
    if hasattr(os, "SCHED_BATCH"):  # waking up, it takes no core from another
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def process_pool(processes: int) -> ProcessPoolExecutor:
    """An executor of fresh processes with one thread of arithmetic each.

    Fresh, not forked: threads of an emulator, of Arrow and of torch do not survive a fork.
    """
    return ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=begin)


def begin() -> None:
    """In a new process: one thread of arithmetic, and the end when the parent is gone."""
    os.environ["OMP_NUM_THREADS"] = "1"  # several processes share the cores: more threads only get in the way
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Wait until the parent is gone; it cannot tell us any more when it was killed."""
    parent = parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    os._exit(1)
