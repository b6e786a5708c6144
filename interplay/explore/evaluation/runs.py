"""A run on disk: one file of JSON lines. A killed run continues from its file, so that no answer is paid for twice.

The first line is the header: instance, settings, model, epoch. Then come `begin` (an attempt, with its episode), `call` (an
answered call; very long answers are cut), and at last `end` or `failed`. The file has no frames: the episode has every tick.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from interplay.errors import InterplayError
from interplay.explore.evaluation.settings import Settings
from interplay.explore.instance import Instance, parse


class LinesError(InterplayError):
    """Raised when a file of lines cannot be written, or another process is writing it."""


class LineFile:
    """A locked file of JSON lines; call `close` at the end. `whole` is its content at opening, without an unfinished last line.

    Raises:
        LinesError: If another process has the file open for writing.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._file)
            raise LinesError(f"another process writes {path}\nWait until it is done, or stop it.") from None
        whole = path.read_bytes()
        self.whole = whole[: whole.rfind(b"\n") + 1]
        os.ftruncate(self._file, len(self.whole))

    def append(self, line: Mapping[str, Any]) -> None:
        """Write one more line; it stays if this process is killed. If the disk is full, no part of the line is written."""
        data = json.dumps(line).encode() + b"\n"
        size = os.fstat(self._file).st_size
        try:
            if os.write(self._file, data) < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            os.ftruncate(self._file, size)
            raise LinesError(f"{error.strerror}\n{self.path}: free disk space, and run the same command again.") from None

    def close(self) -> None:
        os.close(self._file)


SCHEMA = 1
FOLDER = Path("explore") / "runs"


class RunError(InterplayError):
    """Raised when a run cannot be read or continued; the text says what to do."""


@dataclass(frozen=True)
class Run:
    """Content of a run's file.

    Attributes:
        begin: The last attempt: `episode`, and `at_start`, the ids of milestones reached before the first action.
        end: End of the run: `outcome`, `said_done`, `num_steps`, `reached` (id -> tick), `replies` (kind -> number), `path` and
            `seen` as `Game` has them, and `asked` and `whys` as `playing.Notes` has them.
        failed: Failure of the last attempt: `error`, with all fields of `end` that are known. `again` is the number of its last
            calls that will be made again.
        lost: Calls of failed attempts that are made again.
    """

    header: Mapping[str, Any]
    calls: tuple[Mapping[str, Any], ...] = ()
    begin: Mapping[str, Any] | None = None
    end: Mapping[str, Any] | None = None
    failed: Mapping[str, Any] | None = None
    num_failed: int = 0
    lost: tuple[Mapping[str, Any], ...] = ()

    @property
    def instance(self) -> Instance | None:
        """Instance that was played; `None` for runs of early releases, whose files do not contain it."""
        document = self.header.get("instance")
        return None if document is None else parse(document, source=f"run {self.header['run']}")


def header(instance: Instance, settings: Settings, model: str, epoch: int, server: str = "") -> dict[str, Any]:
    """Make a run's header: what identifies the run, its id `run`, facts about the instance for tables, the model's server."""
    which = {
        "schema": SCHEMA,
        "task": instance.task().id,
        "task_hash": hashlib.sha256(json.dumps(instance.to_json(), sort_keys=True).encode()).hexdigest()[:16],
        "settings": settings.to_json(),
        "model": model,
        "seed": instance.seed,
        "epoch": epoch,
    }
    needs = {one.task: one.id for one in instance.milestones}
    milestones = [
        {
            "id": one.id,
            "verb": one.task.replace("_", " ").split(" ")[0].lower(),
            "needs": [needs[edge.first] for edge in instance.edges if edge.then == one.task and edge.first in needs],
        }
        for one in instance.milestones
        if one.rules
    ]
    about = {"hops": instance.num_hops, "capabilities": list(instance.capabilities), "milestones": milestones}
    about |= {"instance": instance.to_json(), "task_version": instance.task().content_hash}
    return {"run": id_of(which)} | which | about | ({"server": server} if server else {})


def id_of(header: Mapping[str, Any]) -> str:
    which = {name: header[name] for name in ("schema", "task", "task_hash", "settings", "model", "seed", "epoch")}
    return hashlib.sha256(json.dumps(which, sort_keys=True).encode()).hexdigest()[:16]


@dataclass
class RunFile:
    """The locked file of a run that is being played; call `close` at the end.

    Raises:
        RunError: If another process plays the run, or the file belongs to another run.
    """

    path: Path
    header: Mapping[str, Any]
    created_at: datetime
    run: Run = field(init=False)

    def __post_init__(self) -> None:
        try:
            self._file = LineFile(self.path)
        except LinesError:
            raise RunError(f"another process plays this run\n{self.path}: wait until it is done, or stop it.") from None
        if not self._file.whole:
            self.append({"header": {**self.header, "created_at": self.created_at.isoformat()}})
        self.run = read(self.path)
        self.header = self.run.header

    @property
    def episode(self) -> str:
        """Id of this attempt's episode; a killed attempt keeps its id when it is played again."""
        begun = datetime.fromisoformat(self.header["created_at"])
        own = hashlib.sha256(f"{self.header['run']} {self.run.num_failed}".encode()).hexdigest()[:8]
        return f"{begun:%Y%m%dT%H%M%S}-{own}"

    def append(self, line: Mapping[str, Any]) -> None:
        try:
            self._file.append(line)
        except LinesError as error:
            raise RunError(f"the run cannot be written: {error}") from None

    def close(self) -> None:
        self._file.close()


def read(path: Path) -> Run:
    """Read a run, without an unfinished last line; raise a `RunError` if the file is not a run."""
    run: Run | None = None
    calls: list[Mapping[str, Any]] = []
    lost: list[Mapping[str, Any]] = []
    facts: dict[str, Any] = {}
    num_failed = 0
    try:
        for number, line in enumerate(path.read_bytes().split(b"\n")[:-1], 1):
            entry = json.loads(line)
            if not isinstance(entry, dict) or len(entry) != 1:
                raise ValueError(f"line {number} is {line[:40]!r}, expected an object with one key")
            ((kind, value),) = entry.items()
            if kind == "header":
                run = Run(value)
            elif kind == "call":
                calls.append(value)
            elif kind == "begin":
                facts = {"begin": value}
            elif kind in ("end", "failed"):
                facts[kind] = value
                if kind == "failed":
                    num_failed += 1
                    kept = len(calls) - value.get("again", 0)
                    calls, lost = calls[:kept], lost + calls[kept:]
    except (ValueError, RecursionError, AttributeError, OSError) as error:
        raise RunError(f"{path} cannot be read as a run: {error}\nMove it away; the run is then played again.") from None
    if run is None or not isinstance(run.header, dict) or run.header.get("schema") != SCHEMA:
        raise RunError(f"{path} is not a run of schema {SCHEMA}\nMove it away, or read it with the version that wrote it.")
    return Run(run.header, tuple(calls), num_failed=num_failed, lost=tuple(lost), **facts)


def check_server(data: Path, model: str, server: str) -> None:
    """Raise a `RunError` if earlier runs under this model name used another server, where it may be another model."""
    for path in (data / FOLDER).glob("*.jsonl"):
        with path.open("rb") as file, suppress(ValueError, RecursionError, KeyError, TypeError):
            head = json.loads(file.readline())["header"]
            if head["model"] == model and head.get("server", server) != server:
                raise RunError(
                    f"{model!r} was played at {head['server']}, but is now at {server or 'no address'}\n"
                    f"Give it another name with --name; if it is the same model, write --name {model!r}."
                )


def is_played(path: Path) -> bool:
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def files(data: Path) -> list[Path]:
    """Return the files of all runs in a data folder that have begun and that no process is playing now."""
    found = [path for path in sorted((data / FOLDER).glob("*.jsonl")) if path.is_file()]
    return [path for path in found if b"\n" in path.read_bytes() and not is_played(path)]


def read_all(data: Path) -> tuple[dict[Path, Run], dict[Path, str]]:
    """Read all `files` of runs; return file -> run, and file -> error for files that cannot be read."""
    found, unreadable = {}, {}
    for path in files(data):
        try:
            found[path] = read(path)
        except RunError as error:
            unreadable[path] = str(error)
    return found, unreadable
