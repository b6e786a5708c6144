"""Save a report: `report.html`, `report.pdf`, `report.json`, and every table as CSV."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from interplay.report.table import Report, Table, csv_of


class WrittenReport(NamedTuple):
    """Where the parts of a report are."""

    html: Path
    pdf: Path
    json: Path
    tables: Path


def write_report(report: Report, folder: Path, *, on_part: Callable[[str], None] = lambda part: None) -> WrittenReport:
    """Write all parts into a folder, made if need be; files of an earlier report there are replaced.

    The same report gives the same bytes.

    Args:
        folder: Gets `report.html`, `report.pdf`, `report.json` and `tables/ID.csv`.
        on_part: Told the name of each part before it is made.
    Raises:
        InterplayError: If a package of the extra `report` is missing.
        OSError: If the folder cannot be written.
    """
    from interplay.report.html import html
    from interplay.report.pdf import pdf

    parts: dict[str, Callable[[], bytes]] = {
        "report.json": lambda: (json.dumps(report.to_json(), indent=1, ensure_ascii=False) + "\n").encode(),
        "report.html": lambda: html(report).encode(),
        "report.pdf": lambda: pdf(report),
    }
    tables = folder / "tables"
    tables.mkdir(parents=True, exist_ok=True)
    for block in report.blocks:
        text = block.csv() if isinstance(block, Table) else csv_of(block.table)
        (tables / f"{block.id}.csv").write_text(text, encoding="utf-8", newline="")
    for name, make in parts.items():
        on_part(name)
        (folder / name).write_bytes(make())
    return WrittenReport(folder / "report.html", folder / "report.pdf", folder / "report.json", tables)
