"""Write the answers of a database to a file: in the published format, or as a table."""

from __future__ import annotations

from pathlib import Path

from interplay.judge.published.exporting import Selection, export_answers, write_items
from interplay.judge.published.flat import flat_table, write_table
from interplay.store import Database

ENDINGS = (".json", ".parquet", ".csv")


def export_file(database: Database, selection: Selection, path: Path) -> int:
    """Write answers as they are at one moment; the ending of the file says the format, one of `ENDINGS`.

    Returns:
        How many answers were written.
    """
    with database.read() as session:
        if path.suffix == ".json":
            items = export_answers(session, selection)
            write_items(items, path)
            return len(items)
        table = flat_table(session, selection)
        write_table(table, path)
        return table.num_rows
