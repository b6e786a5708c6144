"""Save a report: `report.html`, `report.pdf`, `report.json`, and every table as CSV."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, FileSystemLoader

from interplay.report.pdf import pdf
from interplay.report.plots import svg
from interplay.report.table import Cell, Column, Figure, Measured, Report, Table, csv_of

_HERE = Path(__file__).parent


def html(report: Report) -> str:
    """The page. Text from answers is escaped; nothing in it is fetched from anywhere."""
    pages = Environment(
        loader=FileSystemLoader(_HERE), trim_blocks=True, keep_trailing_newline=True, autoescape=False
    )  # by `esc`
    pages.filters |= {"esc": escape, "breakable": _breakable, "number_class": _class, "cell": _cell, "picture": _picture}
    style = (_HERE / "report.css").read_text(encoding="utf-8")
    return pages.get_template("report.html.jinja").render(report=report, style=style)


def _picture(figure: Figure) -> str:
    return svg(figure).replace("<svg ", f'<svg role="img" aria-label="{escape(figure.alt)}" ', 1)


def _cell(column: Column, cell: Cell, is_first: bool, is_prose: bool) -> str:
    ours = column.write(cell.value if isinstance(cell, Measured) else cell)
    theirs = column.write_paper(cell)
    small = f"<small>{escape(theirs)}</small>" if theirs else ""
    tag = 'th scope="row"' if is_first and column.form == "text" else "td"
    kind = ' class="prose"' if is_prose else _class(column)
    return f"<{tag}{kind}>{_breakable(ours) if tag != 'td' else escape(ours)}{small}</{tag.split()[0]}>"


def _breakable(name: str) -> str:
    """Escaped, with a possible line break where a CamelCaseName has its next capital."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "<wbr>", escape(name))


def _class(column: Column) -> str:
    return "" if column.form == "text" else ' class="number"'


class WrittenReport(NamedTuple):
    """Where the parts of a report are."""

    html: Path
    pdf: Path
    json: Path
    tables: Path


def write_report(report: Report, folder: Path, *, on_part: Callable[[str], None] = lambda part: None) -> WrittenReport:
    """Write `report.html`, `report.pdf`, `report.json` and `tables/ID.csv` into a folder; earlier ones are replaced.

    The same report gives the same bytes. `on_part` is told the name of each part before it is made.

    Raises:
        InterplayError: If a package of the extra `report` is missing.
        OSError: If the folder cannot be written.
    """
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
