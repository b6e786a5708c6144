"""Write the answers of a database to a file: in the published format, or as a table."""

from __future__ import annotations

from pathlib import Path

from interplay.files import write_json
from interplay.judge.published.exporting import Selection, export_answers, write_items
from interplay.judge.published.flat import flat_table, write_table
from interplay.judge.published.row import DatasetError
from interplay.judge.published.segments import export_segments
from interplay.store import Database

ENDINGS = (".json", ".parquet", ".csv")


def export_file(database: Database, selection: Selection, path: Path, *, segments: bool = False) -> int:
    """Write answers as they are at one moment; the ending of the file says the format, one of `ENDINGS`.

    Args:
        segments: Answers about segments, to a file of their own; a table holds both kinds.
    Returns:
        How many answers were written.
    Raises:
        DatasetError: If there is none, or the file cannot be written.
    """
    with database.read() as session:
        if segments:
            document = export_segments(session, selection)
            try:
                write_json(path, document)
            except OSError as error:
                raise DatasetError(f"cannot write {path}: {error.strerror or error}\nChoose another place.") from error
            return len(document["answers"])
        if path.suffix == ".json":
            items = export_answers(session, selection)
            write_items(items, path)
            return len(items)
        table = flat_table(session, selection)
        write_table(table, path)
        return table.num_rows
