"""`interplay data move`: bring a data folder to another database and to a store of files."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from typing import Annotated

import typer

from interplay.cli.options import (
    BLOBS_VARIABLE,
    DEFAULT_DATA,
    SERVER_FILE,
    DatabaseOption,
    DataOption,
    is_data_folder,
)
from interplay.cli.output import JsonOption, emit, stage_bars
from interplay.errors import InterplayError
from interplay.wording import amount

app = typer.Typer(no_args_is_help=True)


@app.callback()
def data_as_a_whole() -> None:
    """Move everything to another database and a store of files.  Try:  interplay data move --help"""


@app.command()
def move(
    to: Annotated[
        str | None,
        typer.Option(
            "--to", envvar="INTERPLAY_MOVE_TO", metavar="DATABASE", help="Empty database for the rows. Default: they stay."
        ),
    ] = None,
    blobs: Annotated[
        str | None,
        typer.Option(
            "--blobs",
            envvar=BLOBS_VARIABLE,
            metavar="URL",
            help="Empty store for episodes, films and models, s3://BUCKET/PREFIX. Default: they stay.",
        ),
    ] = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Copy the rows of a data folder to another database, its episodes, films and models to a store, or both.

    All copies are compared with the source, which stays as it is. If the command is stopped, run it again: it continues. No
    server may run meanwhile, neither here nor on the targets.

    Try:  interplay data move --to postgresql+psycopg://interplay@db.lab.example/interplay --blobs s3://lab/interplay
    """
    import interplay.record
    from interplay.files import alone
    from interplay.record.moving import move as bring
    from interplay.store import Database
    from interplay.store.places.blobs import check_blobs_address

    if to is None and blobs is None:
        raise typer.BadParameter("name where to: --to DATABASE for the rows, --blobs URL for the files, or both")
    if not is_data_folder(data):
        raise InterplayError(f"{data} is not a data folder\nCheck --data: this command brings a data folder to another place.")
    served = InterplayError(
        f"a server runs on {data}; nothing was changed\nStop it first: rows and files that it writes meanwhile would be lost."
    )
    with (
        alone(data / SERVER_FILE, otherwise=served),
        closing(interplay.record.open(data, database=database)) as source,
        stage_bars() as report,
    ):
        stay = blobs is not None and check_blobs_address(blobs) == source.blobs.address
        target = None if to is None else Database.open(to)
        try:
            moved = bring(source, target, blobs, report)
        finally:
            if target is not None:
                target.close()
    lines = []
    if to is not None:
        lines.append(f"{amount(moved.num_rows, 'row')} in the other database are equal to those here.")
    if stay:
        lines.append(f"The files stay in {blobs}.")
    elif blobs is not None:
        lines.append(
            f"{amount(moved.num_files, 'file')} ({moved.size_bytes / 1e6:,.1f} MB) in {blobs} are equal to those here; "
            f"{moved.num_put:,} of them were put now."
        )
    if moved.missing:
        lines.append(
            f"{amount(len(moved.missing), 'file is', 'files are')} missing here, so there too: {', '.join(moved.missing[:5])}"
        )
    place = "" if data == DEFAULT_DATA else f" --data {data}"
    lines.append(f"Serve it from there:  interplay serve{place}{'' if to is None else ' --database ADDRESS'}")
    emit(asdict(moved), as_json=as_json, text="\n".join(lines))
