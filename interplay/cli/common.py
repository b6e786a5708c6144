"""What every verb shares: the common options, one way to print results, and errors without tracebacks."""

from __future__ import annotations

import dataclasses
import datetime
import os
import secrets
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
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

if TYPE_CHECKING:
    from interplay.record import Archive
    from interplay.tasks import Suite

DataOption = Annotated[Path, typer.Option("--data", help="Folder with the database, episodes, videos and models.")]
DatabaseOption = Annotated[str | None, typer.Option("--database", help="Database address; default: SQLite inside --data.")]
SeedOption = Annotated[
    int | None, typer.Option("--seed", min=0, help="Seed of every random draw; drawn and printed if not given.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output.")]

DEFAULT_DATA = Path("interplay-data")
_PIPE_WIDTH = 1000

progress_console = Console(stderr=True)


def open_archive(data: Path, database: str | None = None, *, must_exist: bool = False) -> Archive:
    """The archive of `--data` and `--database`.

    Args:
        must_exist: For verbs that only read: a mistyped folder is an error, not an empty archive.
    Raises:
        InterplayError: If the folder must exist and does not, or cannot be used.
    """
    import interplay.record

    if must_exist and not data.is_dir():
        raise InterplayError(
            f"there is no folder {data}\nCheck --data: `interplay serve`, `play` and `demo` make data folders, this reads one."
        )
    return interplay.record.open(data, database=database)


def place_options(data: Path, database: str | None) -> str:
    """What a hint at another command adds so that it looks in the same place; an address may hold a password."""
    options = "" if data == DEFAULT_DATA else f" --data {shlex.quote(str(data))}"
    return options if database is None else f"{options} --database ADDRESS"


def suite_options(files: Iterable[Path] | None) -> str:
    """What a hint at another command adds so that it knows the same task files."""
    return "".join(f" --suite {shlex.quote(str(path))}" for path in files or ())


def suites_with(files: Iterable[Path] | None) -> list[Suite]:
    """The built-in suites and those of some files.

    Raises:
        TaskError: If a file cannot be used, or holds the id of a task that is there already.
    """
    from interplay.tasks import builtin_suites, index, load_suite

    suites = [*builtin_suites(), *(load_suite(path) for path in files or ())]
    index(suites)
    return suites


def choose_seed(seed: int | None) -> int:
    """The given seed, or a fresh one."""
    return secrets.randbelow(2**31) if seed is None else seed


def emit(document: Any, *, as_json: bool, text: Any = None) -> None:
    """Print a result: the document as JSON, or `text` (a string or anything rich can draw) for people."""
    if as_json:
        import json

        sys.stdout.write(json.dumps(document, default=_plain, indent=2) + "\n")
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
    return "".join(
        char if char in "\n\t" or ord(char) >= 160 or 32 <= ord(char) < 127 else f"\\x{ord(char):02x}" for char in text
    )


def _plain(value: Any) -> Any:
    """JSON for the few types results hold beyond JSON's own."""
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


def table(headers: Sequence[str], rows: Iterable[Sequence[Any]], *, title: str | None = None) -> Table:
    """A plain table; columns whose name starts with '#' are right-aligned numbers."""
    result = Table(title=title, title_justify="left", box=None, header_style="bold", pad_edge=False)
    for index, header in enumerate(headers):
        result.add_column(header.lstrip("#"), justify="right" if header.startswith("#") else "left", no_wrap=index == 0)
    for row in rows:
        result.add_row(*(Text(printable(str(cell))) for cell in row))
    return result


@contextmanager
def progress(*, counts: bool = True) -> Iterator[Progress]:
    """A progress bar on standard error, with counts or with a percentage; silent when that is no terminal."""
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn() if counts else TaskProgressColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=progress_console,
        disable=not progress_console.is_terminal,
    ) as bar:
        yield bar


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
