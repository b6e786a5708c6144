"""Processes that begin with their libraries loaded: forks of one that has loaded them, with what tests use of `Popen`.

A server's imports take two seconds of a core, and the tests start a hundred. `WarmProcess(["-m", "interplay.cli", ...])`
is `python -m interplay.cli ...` in a process of its own: its environment, folder, output, signals and exit status are its
own, and it goes through the whole end of the interpreter.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import runpy
import select
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import IO, Any

SERVER = (
    "interplay.cli.serve",
    "interplay.play.server",
    "interplay.web.app",
    "interplay.judge",
    "uvloop",
    "alembic.command",
    "av",
)
"""What `interplay serve` and its like load sooner or later."""
LIBRARIES = (
    "numpy",
    "pandas",
    "pyarrow.parquet",
    "sqlalchemy.orm",
    "alembic.command",
    "typer",
    "pydantic",
    "gymnasium",
    "av",
    "numba",
    "inspect_ai",
)
"""What most examples want, and nothing of Interplay itself: so a block that lacks an import of ours, or modules of ours that
cannot be imported in its order, fail here as they fail elsewhere. Torch makes the end of every process long."""


class WarmProcess:
    """A forked process.

    Args:
        arguments: What would stand after `python`: `-m MODULE ...`, `-c CODE` or `FILE ...`.
        stdout: A file that takes its output; without one it can be read from `stdout`.
        stderr: The same of errors, which otherwise go where the test's go.
        env: The whole environment; `PYTHONPATH` counts.
        cwd: Its folder.
        loaded: Modules that are loaded before the fork.

    Attributes:
        pid, returncode, stdout: As `Popen` has them.
    """

    def __init__(
        self,
        arguments: list[str],
        *,
        stdout: Path | None = None,
        stderr: Path | None = None,
        env: dict[str, str] | None = None,
        cwd: Path | None = None,
        loaded: tuple[str, ...] = SERVER,
    ) -> None:
        self.returncode: int | None = None
        self.stdout: IO[str] | None = None
        self.over = threading.Event()
        with tempfile.TemporaryDirectory() as folder:
            pipe = Path(folder) / "stdout"
            if stdout is None:
                os.mkfifo(pipe)
            self.pid = _forker(loaded).start(
                self,
                {
                    "arguments": [str(word) for word in arguments],
                    "stdout": str(stdout or pipe),
                    "stderr": stderr and str(stderr),
                    "env": dict(os.environ) if env is None else env,
                    "cwd": str(cwd or Path.cwd()),
                },
            )
            if stdout is None:
                self.stdout = pipe.open()  # until the process has opened its end

    def poll(self) -> int | None:
        """Its exit status if it has ended; minus the signal that killed it."""
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Its exit status, once it has ended.

        Raises:
            TimeoutExpired: If it takes longer.
        """
        if not self.over.wait(timeout):
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0.0)
        assert self.returncode is not None
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.returncode is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)


def run(
    arguments: list[str], *, env: dict[str, str] | None = None, cwd: Path | None = None, timeout: float = 180.0
) -> subprocess.CompletedProcess[str]:
    """A forked process from its begin to its end, with what it said, as `subprocess.run` has it.

    Raises:
        TimeoutExpired: If it takes more seconds than `timeout`.
    """
    with tempfile.TemporaryDirectory() as folder:
        stdout, stderr = Path(folder) / "stdout", Path(folder) / "stderr"
        process = WarmProcess(arguments, stdout=stdout, stderr=stderr, env=env, cwd=cwd)
        try:
            status = process.wait(timeout)
        finally:
            process.kill()
        return subprocess.CompletedProcess(arguments, status, stdout.read_text(), stderr.read_text())


def output_of(arguments: list[str], **options: Any) -> str:
    """What such a process says until it ends; the options are those of `WarmProcess`.

    Raises:
        CalledProcessError: If it fails.
    """
    process = WarmProcess(arguments, **options)
    assert process.stdout is not None
    with process.stdout:
        said = process.stdout.read()
    if process.wait():
        raise subprocess.CalledProcessError(process.wait(), arguments, said)
    return said


class _Forker:
    """The process that has the libraries, and the thread that hears from it."""

    def __init__(self, loaded: tuple[str, ...]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, *loaded],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            # One thread: a fork has no other.
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )
        self._lock = threading.Lock()
        self._started: dict[int, WarmProcess] = {}
        self._heard = threading.Event()
        self._pid = 0
        threading.Thread(target=self._hear, name="warm processes", daemon=True).start()
        atexit.register(self._end)

    def start(self, process: WarmProcess, request: dict[str, Any]) -> int:
        """Fork; returns the new process's id."""
        with self._lock:
            self._heard.clear()
            self._waiting = process
            assert self._process.stdin is not None
            print(json.dumps(request), file=self._process.stdin, flush=True)
            assert self._heard.wait(120), "the process with the libraries does not answer"
            return self._pid

    def _hear(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            pid, status = json.loads(line)
            if status is None:
                self._pid, self._started[pid] = pid, self._waiting
                self._heard.set()
            else:
                ended = self._started.pop(pid)
                ended.returncode = status
                ended.over.set()

    def _end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


_forker = cache(_Forker)


# The process that has the libraries


def _become(own_path: list[str], arguments: list[str], stdout: str, stderr: str | None, env: dict[str, str], cwd: str) -> None:
    """What a fork does."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    append = os.O_WRONLY | os.O_APPEND
    for number, path, flags in ((0, os.devnull, os.O_RDONLY), (1, stdout, append), (2, stderr, append)):
        if path is not None:
            opened = os.open(path, flags | (os.O_CREAT if number and not Path(path).is_fifo() else 0), 0o644)
            os.dup2(opened, number)
            os.close(opened)
    sys.path[:] = [*_python_path(env), *own_path]
    what, *rest = arguments
    if what == "-m":
        sys.argv = rest
        sys.path.insert(0, cwd)
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif what == "-c":
        sys.argv = ["-c", *rest[1:]]
        sys.path.insert(0, "")
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:  # for the lines of a traceback
            file.write(rest[0])
            file.flush()
            runpy.run_path(file.name, run_name="__main__")
    else:
        sys.argv = arguments
        sys.path.insert(0, str(Path(what).parent))
        runpy.run_path(what, run_name="__main__")


def _python_path(env: Mapping[str, str]) -> list[str]:
    return [path for path in env.get("PYTHONPATH", "").split(os.pathsep) if path]


def _fork_on_request(names: list[str]) -> None:
    """Read one request a line, fork, and say which process began, `[pid, null]`, and how each ended, `[pid, status]`."""
    own_path = [path for path in sys.path[1:] if path not in _python_path(os.environ)]
    for name in names:
        importlib.import_module(name)
    assert threading.active_count() == 1, "a fork has no other thread"
    gc.freeze()  # what is loaded is neither searched for garbage nor copied for it in each fork
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is for the tests, which then end us
    signal.signal(signal.SIGCHLD, lambda *_: None)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    unread = b""
    while True:
        ready, _, _ = select.select([0, woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
            while (found := _reap()) is not None:
                print(json.dumps(found), flush=True)
        if 0 not in ready:
            continue
        said = os.read(0, 1 << 20)
        if not said:
            return
        *lines, unread = (unread + said).split(b"\n")
        for line in lines:
            child = os.fork()
            if child == 0:
                signal.set_wakeup_fd(-1)
                os.close(woken)
                os.close(wake)
                _become(own_path, **json.loads(line))
                return  # through the whole end of the interpreter
            print(json.dumps([child, None]), flush=True)


def _reap() -> tuple[int, int] | None:
    try:
        child, status = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return None
    return (child, os.waitstatus_to_exitcode(status)) if child else None


if __name__ == "__main__":
    _fork_on_request(sys.argv[1:])
