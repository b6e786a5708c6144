"""Options that every verb shares, one way to print results, and progress."""

from __future__ import annotations

import dataclasses
import datetime
import os
import secrets
import shlex
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from interplay.errors import InterplayError, unknown_name
from interplay.files import json_text

if TYPE_CHECKING:
    from interplay.record import Archive
    from interplay.tasks import Suite, Task

DEFAULT_DATA = Path("interplay-data")
MOST = 2**63 - 1
"""The largest whole number that a database holds."""


def _data_folder(value: str | Path) -> Path:
    """The folder that `--data` names. An empty name, as of a variable that is not set, would mean the current folder."""
    folder = Path(value)
    if not str(value).strip():
        raise typer.BadParameter(f"it is empty; name a folder, such as {DEFAULT_DATA}")
    try:
        is_file = folder.exists() and not folder.is_dir()
    except OSError as error:
        raise typer.BadParameter(f"{error.strerror}; name another folder, such as {DEFAULT_DATA}") from None
    if is_file:
        raise typer.BadParameter(f"{folder} is a file; name a folder, such as {DEFAULT_DATA}")
    return folder


DataOption = Annotated[
    Path,
    typer.Option("--data", parser=_data_folder, metavar="DIR", help="Folder with the database, episodes, videos and models."),
]
DatabaseOption = Annotated[str | None, typer.Option("--database", help="Database address; default: SQLite inside --data.")]
SeedOption = Annotated[
    int | None, typer.Option("--seed", min=0, help="Seed of every random draw; drawn and printed if not given.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output.")]

T = TypeVar("T")

SERVER_FILE = "serve.lock"
"""File of a data folder that its server holds locked; it says the server's process and port."""
_PIPE_WIDTH = 1000

progress_console = Console(stderr=True)


def open_archive(data: Path, database: str | None = None, *, must_exist: bool = False) -> Archive:
    """The archive of `--data` and `--database`.

    Args:
        must_exist: For verbs that only read: they make no data folder, and change nothing in another folder.
    Raises:
        InterplayError: If it must be a data folder and is not, or cannot be used.
    """
    import interplay.record

    is_new = not is_data_folder(data)
    if must_exist and is_new:
        found = f"{data} is not a data folder" if data.is_dir() else f"there is no folder {data}"
        raise InterplayError(f"{found}\nCheck --data: `interplay serve`, `play` and `demo` make data folders, this reads one.")
    archive = interplay.record.open(data, database=database)
    if is_new:  # perhaps a mistyped --data
        print(f"Made a new data folder: {data}", file=sys.stderr)
    return archive


def keep_lands(data: Path) -> None:
    """Let this process and all that it starts keep the lands of block worlds in a data folder, unless the environment names
    another place. Only for commands that make games: one that checks recordings must not believe the folder that it checks."""
    os.environ.setdefault("INTERPLAY_LANDS", str(data.resolve() / "lands"))


def is_data_folder(data: Path) -> bool:
    """Whether a folder has a catalogue of ours, or the parts of a data folder whose catalogue is lost or elsewhere."""
    import sqlite3
    from contextlib import closing

    from interplay.record.archive import DATABASE

    if (data / "journal").is_dir() and (data / "episodes").is_dir():
        return True
    try:  # as it lies there: nothing is made beside another program's database
        address = f"{(data / DATABASE).absolute().as_uri()}?mode=ro&immutable=1"
        with closing(sqlite3.connect(address, uri=True)) as catalogue:
            return catalogue.execute("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").fetchone() is not None
    except sqlite3.Error:
        return False


@contextmanager
def misuse() -> Iterator[None]:
    """Turn an error of a room about what the command line gave into misuse, exit 2."""
    try:
        yield
    except InterplayError as error:
        raise typer.BadParameter(str(error)) from None


def known_task(archive: Archive, task: str | None) -> str | None:
    """The id that `--task` names, or None; NotFoundError with the nearest if neither the package nor the folder has it."""
    from interplay.tasks import builtin_suites, find, index

    if task is None:
        return None
    if ":" in task:
        return find(task).id
    known = {*index(builtin_suites()), *archive.tasks()}
    if task not in known:
        raise unknown_name("task", task[:100], known, hint="All tasks:  interplay tasks list")
    return task


def place_options(data: Path, database: str | None) -> str:
    """Options for a hint at another command, to look in the same place; an address may hold a password."""
    options = "" if data == DEFAULT_DATA else f" --data {shlex.quote(str(data))}"
    return options if database is None else f"{options} --database ADDRESS"


def suite_options(files: Iterable[Path] | None) -> str:
    """Options for a hint at another command, to know the same task files."""
    return "".join(f" --suite {shlex.quote(str(path))}" for path in files or ())


def suites_with(files: Iterable[Path] | None) -> list[Suite]:
    """The built-in suites, the instances of `explore`, and the suites of some files.

    Raises:
        TaskError: If a file cannot be used, or holds the id of a known task.
    """
    from interplay.explore import published
    from interplay.tasks import builtin_suites, index, load_suite

    suites = [*builtin_suites(), published.suite(), *(load_suite(path) for path in files or ())]
    index(suites)
    return suites


def seeds_of(text: str, task: Task) -> list[int]:
    """The seeds that `--seeds` names: those that a task holds out, or numbers."""
    if text == "heldout":
        return list(task.held_out_seeds)
    try:
        chosen = [int(part) for part in text.split(",")]
    except ValueError:
        raise typer.BadParameter(f"--seeds takes 'heldout' or numbers with commas such as 1,2,3; got {text!r}") from None
    if any(not 0 <= one < 2**31 for one in chosen):
        raise typer.BadParameter(f"a seed lies between 0 and 2**31 - 1; got {text!r}")
    return list(dict.fromkeys(chosen))


def choose_seed(seed: int | None) -> int:
    return secrets.randbelow(2**31) if seed is None else seed


def emit(document: Any, *, as_json: bool, text: Any = None) -> None:
    """Print a result: the document as JSON, or `text` (a string or anything rich can draw) for people."""
    if as_json:
        sys.stdout.write(json_text(document, default=_plain, indent=2) + "\n")
    elif text is not None:
        # Names and titles come from users: nothing in them is markup.
        # In a pipe nothing is cut to the width of a screen that is not there.
        width, height = (None, None) if sys.stdout.isatty() or "COLUMNS" in os.environ else (_PIPE_WIDTH, 25)
        plain = printable(text) if isinstance(text, str) else text
        Console(markup=False, highlight=False, emoji=False, width=width, height=height).print(
            plain, soft_wrap=isinstance(text, str)
        )


def printable(text: str) -> str:
    """Text without characters that command a terminal; lines stay.

    >>> printable("a\\x1b[31mb")
    'a\\\\x1b[31mb'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char if char in "\n\t" or ord(char) >= 160 or 32 <= ord(char) < 127 else f"\\x{ord(char):02x}" for char in text
    )


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    if isinstance(value, Path):
        return str(value)
    item = getattr(value, "item", None)  # NumPy's scalars
    if callable(item):
        return item()
    raise TypeError(f"cannot write {type(value).__name__} as JSON")


_LONG_TABLE = 200
"""Rows from which on a table is laid out here: rich takes five milliseconds a row."""


def table(headers: Sequence[str], rows: Iterable[Sequence[Any]], *, title: str | None = None) -> Table | str:
    """A plain table; columns whose name starts with '#' are right-aligned numbers. A long one is text, a line a row."""
    rows = list(rows)
    if len(rows) > _LONG_TABLE:
        return _long_table(headers, rows, title)
    result = Table(title=title, title_justify="left", box=None, header_style="bold", pad_edge=False)
    for index, header in enumerate(headers):
        result.add_column(header.lstrip("#"), justify="right" if header.startswith("#") else "left", no_wrap=index == 0)
    for row in rows:
        result.add_row(*(Text(printable(str(cell))) for cell in row))
    return result


def _long_table(headers: Sequence[str], rows: Sequence[Sequence[Any]], title: str | None) -> str:
    cells = [
        [name.lstrip("#") for name in headers],
        *([printable(str(cell)).replace("\n", " ") for cell in row] for row in rows),
    ]
    widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    is_number = [name.startswith("#") for name in headers]

    def line(row: list[str]) -> str:
        parts = []
        for cell, width, right in zip(row, widths, is_number, strict=True):
            room = " " * (width - cell_len(cell))
            parts.append(room + cell if right else cell + room)
        return "  ".join(parts).rstrip()

    return "\n".join(([title] if title else []) + [line(row) for row in cells])


_FIRST_LINE_S, _NEXT_LINE_S = 2.0, 5.0
"""Off a terminal: what takes less than the first says nothing; after that a line in so many seconds."""


@dataclasses.dataclass
class _Job:
    """One thing that is done, as `Lines` tells of it."""

    description: str
    total: float | None
    completed: float
    visible: bool
    begun_s: float
    is_told: bool = False
    """Whether its last line said that it is done."""


class Lines:
    """The part of rich's `Progress` that the commands use, as lines on a standard error that is not a terminal.

    A thread writes them, so that a step that takes long is not silent. With `counts` they say "12 of 340 (3 %)", else "3 %".
    """

    def __init__(self, *, counts: bool) -> None:
        self._counts = counts
        self._jobs: list[_Job] = []
        self._lock = threading.Lock()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Lines:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._end.set()
        self._thread.join()

    def add_task(
        self, description: str, *, total: float | None = 100.0, completed: float = 0.0, visible: bool = True
    ) -> TaskID:
        with self._lock:
            self._jobs.append(_Job(description, total, completed, visible, time.monotonic()))
            return TaskID(len(self._jobs) - 1)

    def update(self, task: TaskID, **changes: Any) -> None:
        """Change its `description`, `completed`, `total` or `visible`."""
        with self._lock:
            job = self._jobs[task]
            if changes.get("visible") and not job.visible:
                job.begun_s = time.monotonic()
            for name, value in changes.items():
                setattr(job, name, value)

    def advance(self, task: TaskID, advance: float = 1) -> None:
        with self._lock:
            self._jobs[task].completed += advance

    def track(self, sequence: Sequence[T], *, description: str) -> Iterator[T]:
        task = self.add_task(description, total=len(sequence))
        for item in sequence:
            yield item
            self.advance(task)

    def _run(self) -> None:
        if self._end.wait(_FIRST_LINE_S):
            return
        self._tell()
        while not self._end.wait(_NEXT_LINE_S):
            self._tell()
        self._tell()

    def _tell(self) -> None:
        with self._lock:
            jobs = [job for job in self._jobs if job.visible and not job.is_told]
            lines = [self._line(job) for job in jobs]
            for job in jobs:
                job.is_told = job.total is not None and job.completed >= job.total
        with suppress(OSError, ValueError):  # the reader has gone
            for line in lines:
                print(line, file=sys.stderr, flush=True)

    def _line(self, job: _Job) -> str:
        seconds = int(time.monotonic() - job.begun_s)
        clock = f"{seconds // 60}:{seconds % 60:02d}"
        text = printable(job.description)
        if not job.total:
            return f"{text}, {clock}"
        done = min(job.completed, job.total)
        share = f"{done / job.total:.0%}".replace("%", " %")
        return f"{text}: {done:,.0f} of {job.total:,.0f} ({share}), {clock}" if self._counts else f"{text}: {share}, {clock}"


@contextmanager
def progress(*, counts: bool = True) -> Iterator[Progress | Lines]:
    """A progress bar on standard error, with counts or with a percentage; a line every few seconds if it is no terminal."""
    if not progress_console.is_terminal:
        with Lines(counts=counts) as lines:
            yield lines
        return
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn() if counts else TaskProgressColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=progress_console,
    ) as bar:
        yield bar


@contextmanager
def working(what: str) -> Iterator[None]:
    """Say what is being done where its amount is unknown; gone from a terminal when it is done."""
    if progress_console.is_terminal:
        with progress_console.status(what):
            yield
        return
    with Lines(counts=False) as lines:
        lines.add_task(what, total=None)
        yield


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[float, float], None]]:
    """One bar; to be called with how much is done, and of how much."""
    with progress() as bar:
        line = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(line, completed=done, total=total)


@contextmanager
def stage_bars(*, counts: bool = True) -> Iterator[Callable[[str, float, float], None]]:
    """A bar for each thing that is done; to be called with what it is, how much is done, and of how much."""
    with progress(counts=counts) as bar:
        lines: dict[str, TaskID] = {}

        def report(what: str, done: float, total: float) -> None:
            if what not in lines:
                lines[what] = bar.add_task(what, total=total)
            bar.update(lines[what], completed=done, total=total)

        yield report
