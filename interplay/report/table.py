"""Parts of a report: tables (cells may also have a published number), figures and sections, independent of HTML and PDF."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Measured(NamedTuple):
    """Our number, and the published number if the paper has one."""

    value: float | None
    paper: float | None = None

    @property
    def difference(self) -> float | None:
        return None if self.value is None or self.paper is None else self.value - self.paper


_PROSE_LENGTH = 60
Cell = str | int | float | bool | None | Measured
Form = Literal["text", "count", "number", "mixed", "p"]


@dataclass(frozen=True)
class Column:
    """A column: its heading with the unit, and the form of its values.

    Attributes:
        form: `text`; `count`, a whole number with thousands separators; `number`, with `digits` decimals; `mixed`, as
            `number`, but integers have no decimals; `p`, a probability.
    """

    name: str
    form: Form = "text"
    digits: int = 2

    def write(self, value: Any) -> str:
        """Write a value of this column for people (of a `Measured`, our number); an en dash if there is no value."""
        if isinstance(value, Measured):
            value = value.value
        if value is None or (isinstance(value, float) and not isfinite(value)):
            return "–"
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, str):
            return value
        if self.form == "p":
            text = f"{value:.3f}" if value >= 0.001 else "0" if value == 0 else f"{value:.2e}"
        else:
            is_count = self.form == "count" or (self.form == "mixed" and isinstance(value, int))
            text = f"{value:,.{0 if is_count else self.digits}f}"
        return "−" + text[1:] if text.startswith("-") else text  # a minus sign, as wide as a plus

    def write_paper(self, cell: Cell) -> str:
        """Write the paper's number, and our number minus the paper's: `132.21 (±0.00)`; empty if the paper has no number."""
        if not isinstance(cell, Measured) or cell.paper is None:
            return ""
        if cell.difference is None or self.form == "p":  # probabilities over twenty orders have no useful difference
            return self.write(cell.paper)
        difference = self.write(abs(cell.difference))
        sign = "±" if not any(char in "123456789" for char in difference) else "+" if cell.difference > 0 else "−"
        return f"{self.write(cell.paper)} ({sign}{difference})"


def text_columns(*names: str) -> tuple[Column, ...]:
    return tuple(map(Column, names))


def count_columns(*names: str) -> tuple[Column, ...]:
    return tuple(Column(name, "count") for name in names)


def number_columns(*names: str, digits: int = 2) -> tuple[Column, ...]:
    return tuple(Column(name, "number", digits) for name in names)


@dataclass(frozen=True)
class Table:
    """A table; `caption` tells how its numbers were made.

    >>> table = Table("t", "Wins", (Column("agent"), Column("won", "count")), (("ada", Measured(3, 2)),))
    >>> table.records()
    [{'agent': 'ada', 'won': 3, 'won (paper)': 2, 'won (difference)': 1}]
    """

    id: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""

    def __post_init__(self) -> None:
        ragged = [row for row in self.rows if len(row) != len(self.columns)]
        if ragged:
            raise ValueError(f"table {self.id} has {len(self.columns)} columns, but a row has {len(ragged[0])}: {ragged[0]!r}")

    @property
    def prose(self) -> set[int]:
        """Indices of the columns with a long text in a cell; these columns must not become narrow."""
        cells = ((place, cell) for row in self.rows for place, cell in enumerate(row))
        return {place for place, cell in cells if isinstance(cell, str) and len(cell) > _PROSE_LENGTH}

    def records(self) -> list[dict[str, Any]]:
        """Return the rows as JSON values; a column with published numbers adds two columns, `(paper)` and `(difference)`."""
        compared = {
            place
            for row in self.rows
            for place, cell in enumerate(row)
            if isinstance(cell, Measured) and cell.paper is not None
        }
        records = []
        for row in self.rows:
            record: dict[str, Any] = {}
            for place, (column, cell) in enumerate(zip(self.columns, row, strict=True)):
                record[column.name] = _plain(cell.value if isinstance(cell, Measured) else cell)
                if place in compared:
                    measured = cell if isinstance(cell, Measured) else Measured(None)
                    record[f"{column.name} (paper)"] = _plain(measured.paper)
                    record[f"{column.name} (difference)"] = _plain(measured.difference)
            records.append(record)
        return records

    def to_json(self) -> dict[str, Any]:
        return {"id": self.id, "title": self.title, "caption": self.caption, "rows": self.records()}


@dataclass(frozen=True)
class Figure:
    """A picture, drawn by `plot(table, ax)` from tidy records.

    Attributes:
        alt: Description of the picture for somebody who cannot see it.
        height_in: Inches, at a width of 5.
    """

    id: str
    title: str
    caption: str
    table: list[dict[str, Any]]
    plot: Callable[[list[dict[str, Any]], Axes], Axes]
    alt: str
    height_in: float = 3.2

    def to_json(self) -> dict[str, Any]:
        return {"id": self.id, "title": self.title, "caption": self.caption, "rows": self.table}


@dataclass(frozen=True)
class Section:
    """A chapter: paragraphs, then tables and figures in order."""

    id: str
    title: str
    paragraphs: Sequence[str] = ()
    blocks: Sequence[Table | Figure] = ()


@dataclass(frozen=True)
class Report:
    """A whole report; `facts` are pairs (name, value) for its head."""

    id: str
    title: str
    lead: str
    sections: Sequence[Section]
    facts: Sequence[tuple[str, str]] = field(default=())

    @property
    def blocks(self) -> list[Table | Figure]:
        return [block for section in self.sections for block in section.blocks]

    def to_json(self) -> dict[str, Any]:
        tables = [block.to_json() for block in self.blocks if isinstance(block, Table)]
        figures = [block.to_json() for block in self.blocks if isinstance(block, Figure)]
        return {"report": self.id, "title": self.title, "facts": dict(self.facts), "tables": tables, "figures": figures}


def csv_of(records: Sequence[Mapping[str, Any]], names: Sequence[str] = ()) -> str:
    """Write records as CSV with a header (`names` if there are no records); a line feed ends each line.
    An apostrophe is put before texts that a spreadsheet would take for formulas, because anybody may name an agent."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(dict.fromkeys(key for one in records for key in one)) or names, lineterminator="\n")
    writer.writeheader()
    for one in records:
        is_formula = {key for key, value in one.items() if isinstance(value, str) and value.startswith(tuple("=+-@\t\r"))}
        writer.writerow({key: f"'{value}" if key in is_formula else value for key, value in one.items()})
    return out.getvalue()


def _plain(value: Any) -> Any:
    """Return a JSON value; None for NaN and infinities."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value
