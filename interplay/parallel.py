"""Work in other processes: pools that end when the one that started them does, however it ends, and processes that give way."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import connection, get_context, parent_process
from pathlib import Path
from types import TracebackType
from typing import Any


def give_way(niceness: int) -> None:
    """Let this process run after others that want to at the same moment, but always a little: somebody waits for what it does.

    Args:
        niceness: How far behind, 1 to 19: with 5 it gets a quarter of a core where every core is busy, with 10 a tenth. One of
            `SCHED_IDLE` waits for seconds there.
    """
    os.nice(niceness)
    if hasattr(os, "SCHED_BATCH"):  # waking up, it takes no core from another
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def give_way_to_sessions(niceness: int) -> None:
    """Let this process run after those of other sessions too. It gets a session of its own, so no terminal ends it.

    Linux shares the cores out between sessions before it looks at niceness ("autogroup" in sched(7)): in the server's session
    this process would get as much as the browser of somebody who plays on the same machine.

    Args:
        niceness: As of `give_way`.
    """
    try:
        os.setsid()
    except PermissionError:  # it leads a group, and the change below would slow down all of that session
        return
    for _ in range(50):
        try:
            Path("/proc/self/autogroup").write_text(str(niceness), "utf-8")
            return
        except BlockingIOError:  # Linux takes one such change in a tenth of a second, of all processes
            time.sleep(0.1)
        except OSError:  # this system does not share them out so
            return


class Pool(ProcessPoolExecutor):
    """An executor whose processes stop, without a word, when the one that started them is stopped by Ctrl-C."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """As of any executor; Ctrl-C in a process ends it, and with it the pool."""
        # A process that is begun here keeps Ctrl-C waiting until `begin`: while it imports, it would answer with a traceback.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return super().submit(_do, fn, *args, **kwargs)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def stop(self) -> None:
        """End the processes; what they are doing is left where it is, as at Ctrl-C."""
        for process in list((self._processes or {}).values()):
            if process.is_alive() and process.pid is not None:
                os.kill(process.pid, signal.SIGINT)
        self.shutdown(cancel_futures=True)

    def __exit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        """Wait for what is being done, and begin nothing else where something failed; at Ctrl-C, stop at once.

        A generator that is closed waits too: a job that is begun is finished. Ctrl-C in a terminal reaches the processes as
        well, wherever it finds this one.
        """
        if exc_type is not None and issubclass(exc_type, KeyboardInterrupt):
            self.stop()
        else:
            self.shutdown(cancel_futures=exc_type is not None)


def process_pool(processes: int) -> Pool:
    """An executor of fresh processes with one thread of arithmetic each.

    Fresh, not forked: threads of an emulator, of Arrow and of torch do not survive a fork.
    """
    return Pool(processes, mp_context=get_context("spawn"), initializer=begin)


def begin() -> None:
    """In a new process: one thread of arithmetic, and the end when the parent is gone or at Ctrl-C."""
    os.environ["OMP_NUM_THREADS"] = "1"  # several processes share the cores: more threads only get in the way
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if signal.SIGINT in signal.sigpending():
        os._exit(130)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # which comes from the shell, as in the background
        signal.signal(signal.SIGINT, _stop)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _do(fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """A job; what ends it at Ctrl-C must end the process, or the executor keeps it as a result and begins the next job."""
    try:
        return fn(*args, **kwargs)
    except SystemExit:
        os._exit(130)


def _stop(number: int, frame: object) -> None:
    """End quietly: whoever started this process says what there is to say."""
    raise SystemExit(130)


def _end_with_parent() -> None:
    """Wait until the parent is gone; it cannot tell us any more when it was killed."""
    parent = parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    os._exit(1)
