"""The server that is measured: `interplay serve` whose open room asks nobody to watch first, and the baseline beside it.

    python -m bench.judging_server remembering --data FOLDER --port 8000

The baseline, `forgetful`, is the plainest design over the same tables: nothing is kept between requests, so every serve reads
all episodes of the task and all answers from the database, and rates the agents from the first answer on. Everything else
(locks, checks, pages, HTTP) is the same code. `timed` is `remembering` with its locks timed.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

REMEMBERING = ("-m", "bench.judging_server", "remembering")
FORGETFUL = ("-m", "bench.judging_server", "forgetful")
TIMED = ("-m", "bench.judging_server", "timed")
LOCKS = "locks.jsonl"
"""File in the data folder to which a `timed` server writes how long it waited for each lock and held it."""
_OPEN_ROOM = """
[judging]
min_viewing_s = 0
min_watched_share = 0
publish_every = 1
max_answers_per_day = 1_000_000
max_answers_per_address = 1_000_000
"""


class Server:
    """A server process of a data folder that can be killed and started again at the same port.

    Args:
        data: The folder.
        database: Its database; None for a file in the folder.
        program: What Python runs; it takes `--data`, `--database` and `--port` and prints its address once it answers.
        log: What it writes to stderr.
    """

    def __init__(self, data: Path, database: str | None, *, program: Sequence[str] = REMEMBERING, log: Path) -> None:
        self._program = [*program, "--data", str(data)]
        self._program += [] if database is None else ["--database", database]
        self._log = log
        self._port = 0
        self._past_cpu_s = 0.0
        self._process: subprocess.Popen[str] | None = None

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> float:
        """Start and wait until it answers; returns the seconds that took.

        Raises:
            SystemExit: If it does not start, with the end of what it wrote.
        """
        begin = time.monotonic()
        self._process = self.begin([*self._program, "--port", str(self._port)], self._log, Path(__file__).parent.parent)
        assert self._process.stdout is not None
        words = self._process.stdout.readline().split()
        found = [word for word in words if word.startswith("http")]
        if not found:
            self.stop()
            raise SystemExit(f"the server did not start:\n{self._log.read_text()[-2000:]}")
        self._port = int(found[0].rpartition(":")[2])
        return time.monotonic() - begin

    def begin(self, program: list[str], log: Path, cwd: Path) -> subprocess.Popen[str]:
        """Start the process: what Python runs, what takes its errors, and where it runs."""
        with log.open("a") as errors:
            return subprocess.Popen([sys.executable, *program], stdout=subprocess.PIPE, stderr=errors, text=True, cwd=cwd)

    def kill(self) -> None:
        """End it as a power cut would: nothing is told, nothing is written any more."""
        assert self._process is not None
        self._past_cpu_s += _cpu_s(self._process.pid)
        os.kill(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def cpu_s(self) -> float:
        """Processor seconds of the web process so far, over all its starts; not of the play workers beside it."""
        assert self._process is not None
        return self._past_cpu_s + _cpu_s(self._process.pid)

    def stop(self) -> None:
        """Ask it to stop, and wait."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            self._process.wait(60)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.stop()


def _cpu_s(pid: int) -> float:
    """User and system seconds of a process, from the kernel's table."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Serve until told to stop."""
    kind, *arguments = sys.argv[1:]
    from interplay.cli import main as interplay

    if kind == "forgetful":
        _forget_everything()
    if kind == "timed":
        _time_locks(Path(arguments[arguments.index("--data") + 1], LOCKS))
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as rules:
        rules.write(_OPEN_ROOM)
        rules.flush()
        interplay(["serve", "--empty", "--workers", "1", "--open-room", rules.name, *arguments])


def _time_locks(out: Path) -> None:
    """Write a line for each lock of PostgreSQL when the process ends: what it guards, and when it was asked for, got and ended
    (`time.monotonic`)."""
    from sqlalchemy import Engine, Pool, event

    from interplay.store import locks

    guarded: dict[int, tuple[str, str]] = {}
    rows: list[dict[str, Any]] = []
    key_of = locks.key_of

    def noted_key(kind: str, name: str) -> int:
        key = key_of(kind, name)
        guarded[key] = (kind, name)
        return key

    def ask(connection: Any, cursor: Any, statement: str, *more: Any) -> None:
        connection.info["asked_s"] = time.monotonic()

    def get(connection: Any, cursor: Any, statement: str, parameters: Any, *more: Any) -> None:
        if "advisory_xact_lock(%s)" in statement:
            kind, name = guarded[parameters[0]]
            row = {"kind": kind, "name": name, "asked_s": connection.info["asked_s"], "got_s": time.monotonic()}
            connection.info.setdefault("held", []).append(row)

    def end(dbapi_connection: Any, record: Any) -> None:
        now = time.monotonic()
        rows.extend(row | {"ended_s": now} for row in record.info.pop("held", ()))

    locks.key_of = noted_key
    event.listen(Engine, "before_cursor_execute", ask)
    event.listen(Engine, "after_cursor_execute", get)
    event.listen(Pool, "checkin", end)
    atexit.register(lambda: out.write_text("".join(json.dumps(row) + "\n" for row in rows)))


def _forget_everything() -> None:
    """Let each request compute what it needs from the database."""
    from interplay.judge.pairing.candidates import Candidates
    from interplay.judge.ratings.ratings import Incremental

    current, of_task = Incremental.current, Candidates.of_task

    def made_anew(self: Incremental[Any], session: Any) -> Any:
        self.forget()
        return current(self, session)

    def nothing_kept(self: Incremental[Any], session: Any) -> None:
        return None

    def read_anew(self: Candidates, session: Any, task: str) -> Any:
        self._candidates.clear()
        return of_task(self, session, task)

    Incremental.news = nothing_kept
    Incremental.current = made_anew
    Candidates.of_task = read_anew


if __name__ == "__main__":
    main()
