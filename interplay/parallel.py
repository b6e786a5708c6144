"""Run work in other processes: executors that end whenever their parent ends, and processes that give way to others."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import connection, get_context, parent_process
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any


def give_way(niceness: int) -> None:
    """Give this process a lower priority, but never so low that it stops: somebody waits for its work.

    Args:
        niceness: 1 to 19. Where every core is busy, 5 gives a quarter of a core and 10 a tenth. A process of `SCHED_IDLE` would
            wait for seconds there.
    """
    os.nice(niceness)
    if hasattr(os, "SCHED_BATCH"):  # waking up, it takes no core from another
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def give_way_to_sessions(niceness: int) -> None:
    """Let this process give way to processes of other sessions too.
    It gets its own session, so that no terminal ends it.

    Linux shares the cores between sessions before it looks at niceness ("autogroup" in sched(7)). In the server's session this
    process would get as much as the browser of somebody who plays on the same machine.
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
    """An executor whose processes stop silently when their parent is stopped by Ctrl-C."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        # A process that is begun here keeps Ctrl-C waiting until `begin`: while it imports, it would answer with a traceback.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return super().submit(_do, fn, *args, **kwargs)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def stop(self) -> None:
        """End the processes at once, as Ctrl-C does; unfinished work is lost."""
        for process in list((self._processes or {}).values()):
            if process.is_alive() and process.pid is not None:
                os.kill(process.pid, signal.SIGINT)
        self.shutdown(cancel_futures=True)

    def __exit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        """Wait for running jobs, and after an error start no other.
        At Ctrl-C, which the processes receive too, stop at once."""
        if exc_type is not None and issubclass(exc_type, KeyboardInterrupt):
            self.stop()
        else:
            self.shutdown(cancel_futures=exc_type is not None)


def process_pool(processes: int, environment: Mapping[str, str]) -> Pool:
    """Return an executor of fresh processes with one arithmetic thread each, and these variables in their environment.
    Processes are not forked, since threads of Arrow and torch do not survive a fork."""
    return Pool(processes, mp_context=get_context("spawn"), initializer=begin, initargs=(dict(environment),))


def begin(environment: Mapping[str, str] = MappingProxyType({})) -> None:
    """Prepare a new process: one arithmetic thread; it ends when its parent is gone or at Ctrl-C."""
    os.environ.update(environment)
    os.environ["OMP_NUM_THREADS"] = "1"  # several processes share the cores: more threads only get in the way
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if signal.SIGINT in signal.sigpending():
        os._exit(130)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # which comes from the shell, as in the background
        signal.signal(signal.SIGINT, _stop)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _do(fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Run a job and let a SystemExit at Ctrl-C end the process.
    Otherwise the executor would keep it as a result and begin the next job."""
    try:
        return fn(*args, **kwargs)
    except SystemExit:
        os._exit(130)


def _stop(number: int, frame: object) -> None:
    raise SystemExit(130)


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    os._exit(1)
