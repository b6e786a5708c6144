"""Print results, for people or with `--json`, and show progress on standard error."""

from __future__ import annotations

import dataclasses
import datetime
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any, TypeVar

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

from interplay.errors import InterplayError
from interplay.files import json_text

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output.")]

T = TypeVar("T")

_PIPE_WIDTH = 1000

progress_console = Console(stderr=True)


def emit(document: Any, *, as_json: bool, text: Any = None) -> None:
    """Print a result: the document as JSON, or `text` for people: a string, anything that rich can draw, or a list of these."""
    if as_json:
        sys.stdout.write(json_text(document, default=_plain, indent=2) + "\n")
        return
    # Names and titles come from users: nothing in them is markup.
    # In a pipe nothing is cut to the width of a screen that is not there.
    width, height = (None, None) if sys.stdout.isatty() or "COLUMNS" in os.environ else (_PIPE_WIDTH, 25)
    console = Console(markup=False, highlight=False, emoji=False, width=width, height=height)
    for part in text if isinstance(text, list) else [text]:
        if part is not None:
            console.print(printable(part) if isinstance(part, str) else part, soft_wrap=isinstance(part, str))


@contextmanager
def writing(place: Path, remedy: str) -> Iterator[None]:
    """Raise an error that says what to do if the block cannot write a place."""
    try:
        yield
    except OSError as error:
        raise InterplayError(f"{place} cannot be written: {error.strerror}\nRemedy: {remedy}") from None


def printable(text: str) -> str:
    """Return text with the characters that control a terminal replaced by escapes; line ends stay.

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
"""Tables with more rows are laid out without rich, which takes five milliseconds for each row."""


def table(headers: Sequence[str], rows: Iterable[Sequence[Any]], *, title: str | None = None) -> Table | str:
    """Return a plain table; columns whose name starts with '#' are right-aligned numbers.
    A long table is returned as text, one line for each row."""
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
"""Without a terminal: seconds until the first line about a job, and between the lines after it."""


@dataclasses.dataclass
class _Job:
    """One job whose progress `Lines` prints."""

    description: str
    total: float | None
    completed: float
    visible: bool
    begun_s: float
    is_told: bool = False
    """Whether the last line about this job said that it is done."""


class Lines:
    """Replaces rich's `Progress` if standard error is not a terminal: prints lines, and has only the methods that are used.

    A thread prints the lines, so that a long step is not silent. With `counts` they say "12 of 340 (3 %)", otherwise "3 %".
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
        """Change the `description`, `completed`, `total` or `visible` of a job."""
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
    """Show a progress bar on standard error, with counts or a percentage.
    Without a terminal, print a line every few seconds."""
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
    """Show a line about work of unknown size while the block runs; on a terminal the line disappears at the end."""
    if progress_console.is_terminal:
        with progress_console.status(what):
            yield
        return
    with Lines(counts=False) as lines:
        lines.add_task(what, total=None)
        yield


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[float, float], None]]:
    """Show one progress bar and yield its function: call it with the amount done and the total amount."""
    with progress() as bar:
        line = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(line, completed=done, total=total)


@contextmanager
def stage_bars(*, counts: bool = True) -> Iterator[Callable[[str, float, float], None]]:
    """Show a bar for each job and yield one function for all: call it with the name, the amount done and the total amount."""
    with progress(counts=counts) as bar:
        lines: dict[str, TaskID] = {}

        def report(what: str, done: float, total: float) -> None:
            if what not in lines:
                lines[what] = bar.add_task(what, total=total)
            bar.update(lines[what], completed=done, total=total)

        yield report
