"""Processes that begin with their libraries loaded: forks of one that has loaded them, with what tests use of `Popen`.

A server's imports take two seconds of a core, the block world three, and the tests start a hundred servers.
`WarmProcess(["-m", "interplay.cli", ...])` is `python -m interplay.cli ...` in a process of its own: its environment, folder,
output, signals and exit status are its own. It waits for its threads and calls what was to be called at its end. The
interpreter takes no module apart after that, which costs more than most commands, unless asked for or unless it ends with an
error.
"""

import atexit
import importlib.metadata
import json
import multiprocessing
import os
import runpy
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import traceback
from contextlib import closing, suppress
from functools import cache
from multiprocessing import connection, forkserver
from multiprocessing.context import BaseContext
from pathlib import Path
from types import ModuleType
from typing import IO, Any

from execnet.gateway_base import ExecModel, Popen2IO
from execnet.gateway_io import Popen2IOMaster

from interplay.forking import Forked, Forker

SERVER = (
    "interplay.cli.serve",
    "interplay.play.server",
    "interplay.web.app",
    "interplay.judge",
    "uvloop",
    "alembic.command",
    "av",
    "cv2",
    "pandas",
    "ale_py",
    "gymnasium.envs",
    "interplay.explore.published:suite",
)
"""What `interplay serve` and its like load sooner or later."""
WITH_BLOCK_WORLD = (*SERVER, "interplay.envs.backends:load_compiled")
READY = (*WITH_BLOCK_WORLD, "warm_process:with_empty_tables", "warm_process:with_commands")
"""An empty SQLite database gets its tables as copies besides; `tests/store` does without. Commands are built."""
TO_LEARN = ("torch._dynamo", "safetensors.torch", "matplotlib.pyplot", "interplay.learn.train")
"""What learning loads besides, also PyTorch's compiler, although nothing is compiled. It makes the end of every process long:
so it is loaded only where something learns."""
TO_TEST = (
    "warm_process:with_packages_known",
    "torch._dynamo",
    "interplay.learn.train",
    "inspect_ai.model",
    "interplay.explore.evaluation.inspect_task",
    "openai",
    "pandas",
    "scipy.optimize",
    "scipy.stats",
    "matplotlib.pyplot",
    "rich.console",
)
"""What processes that run tests load sooner or later."""
TO_EVALUATE = (
    "warm_process:with_packages_known",
    "interplay.cli.explore",
    "interplay.explore.evaluation.inspect_task",
    "openai",
    "acp.schema",
    "scipy.linalg.cython_blas",
    "alembic.command",
)
"""What `interplay explore run` and `interplay explore make` load."""


class WarmProcess:
    """A forked process.

    Args:
        arguments: What would stand after `python`: `-m MODULE ...`, `-c CODE` or `FILE ...`.
        stdout: A file that takes its output; without one it can be read from `stdout`.
        stderr: The same of errors, which otherwise go where the test's go.
        env: The whole environment; `PYTHONPATH` counts.
        cwd: Its folder.
        loaded: What is loaded before the fork, as a `Forker` has it.
        whole_end: It goes through the whole end of the interpreter.

    Attributes:
        pid, returncode, stdout, poll, wait, send_signal, terminate, kill: As `Popen` has them.
    """

    def __init__(
        self,
        arguments: list[str],
        *,
        stdout: Path | None = None,
        stderr: Path | None = None,
        env: dict[str, str] | None = None,
        cwd: Path | None = None,
        loaded: tuple[str, ...] = READY,
        whole_end: bool = False,
    ) -> None:
        said, takes = (None, stdout.open("a")) if stdout is not None else map(os.fdopen, os.pipe(), "rw")
        self.stdout: IO[str] | None = said
        with takes, open(2, "a", closefd=False) if stderr is None else stderr.open("a") as errors:
            self._forked = _forker(loaded).start(
                "warm_process:become" if whole_end else "warm_process:become_and_end",
                [str(word) for word in arguments],
                stdout=takes.fileno(),
                stderr=errors.fileno(),
                env=env,
                cwd=cwd,
            )

    def __getattr__(self, name: str) -> Any:
        return getattr(self._forked, name)


def run(
    arguments: list[str],
    *,
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
    loaded: tuple[str, ...] = READY,
    timeout: float = 180.0,
) -> subprocess.CompletedProcess[str]:
    """A forked process from its begin to its end, with what it said, as `subprocess.run` has it.

    Raises:
        TimeoutExpired: If it takes more seconds than `timeout`.
    """
    with tempfile.TemporaryDirectory() as folder:
        stdout, stderr = Path(folder) / "stdout", Path(folder) / "stderr"
        process = WarmProcess(arguments, stdout=stdout, stderr=stderr, env=env, cwd=cwd, loaded=loaded)
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


@cache
def _forker(loaded: tuple[str, ...]) -> Forker:
    address = os.environ.get(_SHARED_AT)
    return _loading(loaded) if address is None else Forker([], of=_Shared(address, loaded))  # type: ignore[arg-type]


@cache
def _loading(loaded: tuple[str, ...]) -> Forker:
    """A forker of this process."""
    for base in (READY, WITH_BLOCK_WORLD):
        if loaded[: len(base)] == base and loaded != base:
            return Forker(loaded[len(base) :], of=_loading(base))
    return Forker(loaded)


class Runner(Popen2IOMaster):
    """A process in which pytest-xdist runs tests, begun with what tests load, and what this process reads and writes of it."""

    def __init__(self, arguments: list[str], execmodel: ExecModel) -> None:
        (takes, says), (hears, told) = os.pipe(), os.pipe()
        self.popen = _loading((*WITH_BLOCK_WORLD, *TO_TEST)).start(
            "warm_process:run_tests", arguments, descriptors=[takes, told]
        )
        for number in (takes, told):
            os.close(number)
        Popen2IO.__init__(self, os.fdopen(says, "wb"), os.fdopen(hears, "rb"), execmodel)


def run_tests(arguments: list[str], stdin: int, stdout: int) -> None:
    """What such a process does: `python -c CODE`, with pipes to the one that asked for it."""
    for number, opened in ((0, stdin), (1, stdout)):
        os.dup2(opened, number)
        os.close(opened)
    *_, code = arguments
    sys.stdin, sys.argv = os.fdopen(0, closefd=False), ["-c"]
    sys.modules["__main__"] = main = ModuleType("__main__")  # what it starts with `spawn` does not import this one
    exec(code, vars(main))  # noqa: S102 (one line, xdist's own)


@cache
def pools() -> BaseContext:
    """Where processes of pools come from that are no new interpreters: each is a fork of one that has loaded what they need."""
    loaded = (*WITH_BLOCK_WORLD, *TO_TEST) if _SHARED_AT in os.environ else ("interplay.learn.train", "torch._dynamo")
    server, address = forkserver._forkserver, connection.arbitrary_address("AF_UNIX")
    ends, server._forkserver_alive_fd = os.pipe()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        _forker(loaded).start("warm_process:serve_pools", descriptors=[listening.fileno(), ends])
    os.close(ends)
    server._forkserver_address, server.ensure_running = address, lambda: None
    return multiprocessing.get_context("forkserver")


def serve_pools(listening: int, ends: int) -> None:
    """What makes their processes does."""
    forkserver.main(listening, ends, [])


_SHARED_AT = "INTERPLAY_TEST_FORKERS"


def share() -> None:
    """Let the processes that this one starts from now on have forks of its forkers: so each library is loaded once for all."""
    address = Path(tempfile.mkdtemp(prefix="interplay-forkers-")) / "socket"
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(address))
    listening.listen()

    def answer() -> None:
        while True:
            asking, _ = listening.accept()
            with asking:
                said, descriptors, _, _ = socket.recv_fds(asking, 1 << 16, 1)
                loaded, function, arguments = json.loads(said)
                try:
                    started = _loading(tuple(loaded)).start(function, *arguments, descriptors=descriptors)
                    asking.sendall(str(started.pid).encode())
                except Exception:  # who asked hears nothing, and fails
                    traceback.print_exc()
                for number in descriptors:
                    os.close(number)

    threading.Thread(target=answer, name="shared forkers", daemon=True).start()
    os.environ[_SHARED_AT] = str(address)
    atexit.register(lambda: (address.unlink(), address.parent.rmdir()))


class _Shared:
    """A `Forker` of the process that has called `share`, with what is called of one."""

    def __init__(self, address: str, loaded: tuple[str, ...]) -> None:
        self._address, self._loaded = address, loaded

    def start(self, function: str, *arguments: Any, descriptors: list[int]) -> Forked:
        started = Forked()
        with socket.socket(socket.AF_UNIX) as asking:
            asking.connect(self._address)
            socket.send_fds(asking, [json.dumps([self._loaded, function, arguments]).encode()], descriptors)
            started.pid = int(asking.recv(20))
        return started


def give_tables(engine: Any, migrated: sqlite3.Connection) -> None:
    """Copy the tables of a database that was migrated into one that is empty, if it is SQLite's."""
    if engine.dialect.name == "sqlite":
        with closing(engine.raw_connection()) as opened:
            if not opened.execute("SELECT 1 FROM sqlite_master").fetchall():
                migrated.backup(opened.driver_connection)


def with_empty_tables() -> None:
    """From now on an empty SQLite database is not migrated step by step here: it gets the tables of one that was."""
    from interplay.store import Database, database

    empty = sqlite3.connect(":memory:", check_same_thread=False)
    with tempfile.TemporaryDirectory() as folder:
        Database.open(f"sqlite:///{folder}/interplay.db").close()
        with closing(sqlite3.connect(f"{folder}/interplay.db")) as migrated:
            migrated.backup(empty)
    migrate = database._migrate

    def copy_and_migrate(engine: Any) -> None:
        give_tables(engine, empty)
        migrate(engine)

    database._migrate = copy_and_migrate


def with_commands() -> None:
    """All verbs can be run at once."""
    from interplay import cli

    for verb in cli._VERBS:
        cli.command_of(verb)


def with_packages_known() -> None:
    """Inspect looks through all packages for the one of a task where ours is installed from a checkout: a second of a core."""
    importlib.metadata.packages_distributions = cache(importlib.metadata.packages_distributions)
    importlib.metadata.packages_distributions()


def become_and_end(arguments: list[str]) -> None:
    """What a fork does, with a short end if it ends well or with a status."""
    status = 0
    try:
        become(arguments)
    except SystemExit as ended:
        if not isinstance(ended.code, int | None):
            raise
        status = ended.code or 0
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # nobody reads it, or the command closed it
            stream.flush()
    os._exit(status & 0xFF)


def become(arguments: list[str]) -> None:
    """What a fork does."""
    tests = Path(__file__).parent
    sys.path[:] = [
        *(path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path),
        *(path for path in sys.path if not Path(path).is_relative_to(tests)),
    ]
    what, *rest = arguments
    if what == "-m":
        sys.argv = rest
        sys.path.insert(0, os.getcwd())
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
