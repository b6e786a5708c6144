"""Options that several commands share, and functions for the data folder, tasks and seeds that they name."""

from __future__ import annotations

import os
import secrets
import shlex
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from interplay.errors import InterplayError, unknown_name

if TYPE_CHECKING:
    from interplay.record import Archive
    from interplay.tasks import Suite, Task

DEFAULT_DATA = Path("interplay-data")
DATABASE_VARIABLE = "INTERPLAY_DATABASE"
"""Environment variable for the address of the database; other users of a machine can read the password in a command line."""
RAY_VARIABLE = "INTERPLAY_RAY"
BLOBS_VARIABLE = "INTERPLAY_BLOBS"
"""Environment variable for the address of the store of files; it has no credentials."""
MOST = 2**63 - 1
"""The largest whole number that a database can hold."""


def _data_folder(value: str | Path) -> Path:
    """Return the folder that `--data` names.
    An empty name, for example from a variable that is not set, is refused: it would mean the current folder."""
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
DatabaseOption = Annotated[
    str | None,
    typer.Option("--database", envvar=DATABASE_VARIABLE, help="Database address; default: SQLite inside --data."),
]
RayOption = Annotated[
    str | None,
    typer.Option(
        "--ray", envvar=RAY_VARIABLE, help="Address of a Ray cluster that does the work; default: processes of this machine."
    ),
]
BlobsOption = Annotated[
    str | None,
    typer.Option(
        "--blobs", envvar=BLOBS_VARIABLE, metavar="URL",
        help="Store of episodes, films, models: s3://BUCKET/PREFIX; the database notes it. Default: the noted one, or --data.",
    ),
]  # fmt: skip
SeedOption = Annotated[
    int | None, typer.Option("--seed", min=0, help="Seed of every random draw; drawn and printed if not given.")
]

SERVER_FILE = "serve.lock"
"""File of a data folder that its server keeps locked; it contains the process and port of the server."""


def open_archive(data: Path, database: str | None = None, *, blobs: str | None = None, must_exist: bool = False) -> Archive:
    """Open the archive of `--data`, `--database` and `--blobs` (InterplayError if it cannot be used).
    Verbs without `--blobs` use the variable too, so that a new database notes the same store whichever verb comes first.

    Verbs that only read pass `must_exist`, so that they never make a data folder, nor change a folder of another kind.
    """
    import interplay.record

    is_new = not is_data_folder(data)
    if must_exist and is_new:
        found = f"{data} is not a data folder" if data.is_dir() else f"there is no folder {data}"
        raise InterplayError(f"{found}\nCheck --data: `interplay serve`, `play` and `demo` make data folders; this reads one.")
    archive = interplay.record.open(data, database=database, blobs=blobs or os.environ.get(BLOBS_VARIABLE) or None)
    if is_new:  # perhaps a mistyped --data
        print(f"Made a new data folder: {data}", file=sys.stderr)
    return archive


def keep_lands(data: Path) -> None:
    """Store generated lands of block worlds in a data folder, unless this process's environment names another place.
    Child processes do the same. Only commands that make games may call this: a command that checks recordings must not trust
    the folder that it checks."""
    os.environ.setdefault("INTERPLAY_LANDS", str(data.resolve() / "lands"))


def is_data_folder(data: Path) -> bool:
    """Return whether a folder has our catalogue, or the parts of a data folder whose catalogue is lost or in another place."""
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
    """Turn an InterplayError about a command-line argument into a usage error (exit status 2)."""
    try:
        yield
    except InterplayError as error:
        raise typer.BadParameter(str(error)) from None


def known_task(archive: Archive, task: str | None) -> str | None:
    """Return the id that `--task` names, or None.
    Raises NotFoundError with the nearest id if neither the package nor the folder has the task."""
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
    """Return the options with which a suggested command uses the same place; a database is `ADDRESS`, to hide passwords."""
    options = "" if data == DEFAULT_DATA else f" --data {shlex.quote(str(data))}"
    return options if database in (None, os.environ.get(DATABASE_VARIABLE)) else f"{options} --database ADDRESS"


def suite_options(files: Iterable[Path] | None) -> str:
    """Return the options with which a suggested command knows the same task files."""
    return "".join(f" --suite {shlex.quote(str(path))}" for path in files or ())


def suites_with(files: Iterable[Path] | None) -> list[Suite]:
    """Return the built-in suites, the instances of `explore`, and the suites of some files (TaskError if invalid)."""
    from interplay.explore import published
    from interplay.tasks import builtin_suites, index, load_suite

    suites = [*builtin_suites(), published.suite(), *(load_suite(path) for path in files or ())]
    index(suites)
    return suites


def seeds_of(text: str, task: Task) -> list[int]:
    """Return the seeds that `--seeds` names: the held-out seeds of the task, or the given numbers."""
    if text == "heldout":
        return list(task.held_out_seeds)
    try:
        chosen = [int(part) for part in text.split(",")]
    except ValueError:
        raise typer.BadParameter(f"--seeds takes 'heldout' or a list of numbers such as 1,2,3; got {text!r}") from None
    if any(not 0 <= one < 2**31 for one in chosen):
        raise typer.BadParameter(f"seeds must lie between 0 and 2**31 - 1; got {text!r}")
    return list(dict.fromkeys(chosen))


def choose_seed(seed: int | None) -> int:
    return secrets.randbelow(2**31) if seed is None else seed
