"""Helpers of the study commands: find a study in a data folder, and the server that runs there."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from interplay.cli.options import SERVER_FILE, open_archive, place_options
from interplay.record.journal import is_live

if TYPE_CHECKING:
    from interplay.record import Archive

NO_SERVER = "https://YOUR-SERVER"
"""Placeholder in links if no address was given and no server runs."""


def _web_address(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise typer.BadParameter(f"it takes https://host or http://host, got {value!r}")
    return value


AddressOption = Annotated[
    str | None,
    typer.Option(
        "--address",
        parser=_web_address,
        metavar="URL",
        help="Address at which people reach the server; default: the server that runs here.",
    ),
]


def local_address(root: Path) -> str | None:
    """Return the local address of the data folder's server; None if no server runs.

    `interplay serve` keeps a file with its port locked. The file of a server that was killed is not locked.
    """
    file = root / SERVER_FILE
    port = re.search(r"on port (\d+)", file.read_text()) if file.exists() and is_live(file) else None
    return None if port is None else f"http://127.0.0.1:{port[1]}"


def opened_place(data: Path, database: str | None) -> tuple[Archive, str]:
    """Return the archive of an existing data folder, and the hint for the error about an unknown study."""
    hint = f"Only studies opened in this data folder count:  interplay study list{place_options(data, database)}"
    return open_archive(data, database, must_exist=True), hint


def print_csv(names: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    print(text.getvalue(), end="")
