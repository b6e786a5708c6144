"""Start processes quickly: fork them from a process that has already loaded their libraries and does nothing else.

Imports take a second of CPU time. A fork takes milliseconds and shares the memory. The process that forks runs nothing else, so
that it holds nothing that does not survive a fork (an emulator, a set of threads).

    python -m interplay.forking FD LOADS ...         (started by `Forker`, FD is its end of a socket pair)
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""Settings for one thread of arithmetic: processes that run side by side share the machine, and idle threads of
numerical libraries waste it."""
_MAX_BYTES = 1 << 20
_POLL_S = 0.02
_MOMENT_S = 1.0


class Forked:
    """A process that a `Forker` started, with the used methods of `subprocess.Popen`; `returncode` stays None while it runs."""

    def __init__(self) -> None:
        self.pid = 0
        self.returncode: int | None = None
        self._over = threading.Event()

    def poll(self) -> int | None:
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if not self._over.wait(timeout):
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0.0)
        assert self.returncode is not None
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def ended(self, status: int) -> None:
        self.returncode = status
        self._over.set()


class Forker:
    """A process with loaded libraries that forks others, and the thread that receives its reports.
    It ends when the calling process ends.

    Args:
        loads: Each is `module`, which is imported, or `module:function`, which is also called.
        of: The `Forker` that forks it. Default: the calling process if `from_here` is set and only its main thread runs,
            otherwise a new interpreter.
        from_here: Whether the calling process has not yet opened anything that a fork should not hold.

    Attributes:
        is_gone: Whether the forking process has ended or was killed; its forks continue.
    """

    def __init__(self, loads: Sequence[str], *, of: Forker | None = None, from_here: bool = False) -> None:
        self.is_gone = False
        self._lock = threading.Lock()
        self._answered = threading.Event()
        self._asked: Forked | None = None
        self._running: dict[int, Forked] = {}
        self._ours, theirs = socket.socketpair()
        with theirs:
            if of is not None:
                pid = of.start(f"{__name__}:fork_on_request", list(loads), descriptors=[theirs.fileno()]).pid
            elif from_here and not _threads():
                pid = os.fork()
                if pid == 0:
                    self._ours.close()
                    _end_with(lambda: fork_on_request(loads, theirs.detach()))
            else:
                pid = subprocess.Popen(
                    [sys.executable, "-m", __name__, str(theirs.fileno()), *loads],
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                    env=os.environ | ONE_THREAD | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                ).pid
        threading.Thread(target=self._hear, args=(pid,), name="forked processes", daemon=True).start()

    def start(
        self,
        function: str,
        *arguments: Any,
        load: str | None = None,
        descriptors: Sequence[int] = (),
        stdout: int = 1,
        stderr: int = 2,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> Forked:
        """Call a function in a new process, which finds modules where this one does.
        The first call waits until the libraries are loaded.

        Args:
            function: `module:name`.
            arguments: Arguments of the function; JSON values.
            load: Another entry like those of `loads`, loaded before this fork, and so for all later forks.
            descriptors: Open files that the new process inherits; their numbers there are the last arguments of the function.
            stdout, stderr: Descriptors for output and errors of the process.
            env, cwd: Environment and folder of the process; None: those of this process.

        Raises:
            OSError: If the process cannot be started.
        """
        request = {
            "function": function,
            "arguments": arguments,
            "load": load,
            "env": dict(os.environ if env is None else env),
            "cwd": str(Path.cwd() if cwd is None else cwd),
            "path": sys.path,
        }
        started = Forked()
        with self._lock:
            if self.is_gone:
                raise ConnectionError("the process that starts others is gone")
            self._answered.clear()
            self._asked = started
            socket.send_fds(self._ours, [json.dumps(request).encode() + b"\n"], [stdout, stderr, *descriptors])
            self._answered.wait()
            self._asked = None
        if not started.pid:
            raise ConnectionError("the process that starts others ended before it answered")
        return started

    def _hear(self, pid: int) -> None:
        with self._ours.makefile("rb") as answers, contextlib.suppress(ConnectionError):
            for line in answers:
                child, status = json.loads(line)
                if status is not None:
                    self._running.pop(child).ended(status)
                elif self._asked is not None:
                    self._asked.pid, self._running[child] = child, self._asked
                    self._answered.set()
        self.is_gone = True
        self._answered.set()
        self._ours.close()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)
        while self._running:  # nobody tells how these end
            for child, process in list(self._running.items()):
                if _is_gone(child):
                    del self._running[child]
                    process.ended(1)
            time.sleep(_POLL_S)


def _is_gone(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid  # the first process of a container becomes its parent
    except ChildProcessError:
        pass
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:  # its number is another's by now
        return True
    return False


def _threads() -> list[str]:
    """Return the names of the threads of this process that would be missing in a fork.
    These are all but the current thread and jemalloc's thread, which survives forks."""
    own = str(threading.get_native_id())
    try:
        found = [path.read_text().strip() for path in Path("/proc/self/task").glob("*/comm") if path.parent.name != own]
    except OSError:  # one has just ended
        return _threads()
    if not Path("/proc/self/task").exists():
        found = [one.name for one in threading.enumerate() if one is not threading.current_thread()]
    return [name for name in found if name != "jemalloc_bg_thd"]


# The process that has the libraries


def fork_on_request(loads: Sequence[str], descriptor: int) -> None:
    """Run the loop of a `Forker`: load the libraries, then fork on request until no requester is left.
    Returns in each fork too, when the fork is done."""
    with socket.socket(fileno=descriptor) as channel:
        work = _fork_on_request(channel, loads)
    work()


def _fork_on_request(channel: socket.socket, loads: Sequence[str]) -> Callable[[], Any]:
    """Read requests, fork, and report `[pid, null]` at the start and `[pid, status]` at the end of each fork.

    Returns the task of the fork in each fork. In the process itself, returns a function that does nothing once no requester is
    left.
    """
    for ours in (signal.SIGINT, signal.SIGTERM):  # who started this decides when it ends
        signal.signal(ours, signal.SIG_IGN)
    os.environ.update(ONE_THREAD)
    for name in loads:
        _load(name)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    try:
        while True:
            ready, _, _ = select.select([channel, woken], [], [])
            if woken in ready:
                os.read(woken, 4096)
                while (found := _reap()) is not None:
                    channel.sendall(json.dumps(found).encode() + b"\n")
            if channel not in ready:
                continue
            said, descriptors, _, _ = socket.recv_fds(channel, _MAX_BYTES, 16)
            while said and not said.endswith(b"\n"):
                said += channel.recv(_MAX_BYTES)
            if not said:
                return lambda: None
            request = json.loads(said)
            if (load := request.pop("load")) is not None:
                try:
                    _load(load)
                except Exception:  # the fork does without
                    traceback.print_exc()
            child = os.fork()
            if child == 0:
                signal.set_wakeup_fd(-1)
                for number in (woken, wake):
                    os.close(number)
                return lambda: _become(descriptors, **request)
            for number in descriptors:
                os.close(number)
            channel.sendall(json.dumps([child, None]).encode() + b"\n")
    except ConnectionError:  # who asked was killed, with an answer unread or not yet sent
        return lambda: None


def _become(
    descriptors: Sequence[int], function: str, arguments: list[Any], env: dict[str, str], cwd: str, path: list[str]
) -> None:
    for number in (signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    stdout, stderr, *others = descriptors
    for number, opened in ((0, os.open(os.devnull, os.O_RDONLY)), (1, stdout), (2, stderr)):
        os.dup2(opened, number)
        os.close(opened)
    os.environ.clear()
    os.environ.update(env)
    sys.path[:] = path
    os.chdir(cwd)
    with contextlib.suppress(OSError):  # what `top` shows, where there is such a file
        Path("/proc/self/comm").write_text(function.partition(":")[0].rpartition(".")[2], "utf-8")
    _named(function)(*arguments, *others)


def _load(name: str) -> None:
    if ":" in name:
        _named(name)()
    else:
        importlib.import_module(name)
    deadline = time.monotonic() + _MOMENT_S
    while (started := _threads()) and time.monotonic() < deadline:  # one that was joined is seen for a moment longer
        time.sleep(_POLL_S)
    if started:
        print(f"{name} has started threads, which forked processes lack: {', '.join(started)}", file=sys.stderr, flush=True)
    gc.freeze()  # what is loaded is neither searched for garbage nor copied for it in each fork


def _named(function: str) -> Callable[..., Any]:
    module, name = function.split(":")
    return getattr(importlib.import_module(module), name)


def _reap() -> tuple[int, int] | None:
    try:
        child, status = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return None
    return (child, os.waitstatus_to_exitcode(status)) if child else None


def _end_with(function: Callable[[], Any]) -> NoReturn:  # type: ignore[return]
    """Call a function and end this process; skip the cleanup of the callers, which belongs to the parent process."""
    status = 1
    try:
        function()
        status = 0
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        os._exit(status)


if __name__ == "__main__":
    fork_on_request(sys.argv[2:], int(sys.argv[1]))
