"""Parts of a report: tables whose cells may hold a published number too, figures, sections. Nothing here knows HTML or PDF."""

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
    """A number of ours, and the published one where there is one."""

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
    """A column: its heading with the unit, and how its numbers are written.

    Attributes:
        form: `text`; `count`, whole with thousands separated; `number` with `digits` decimals; `mixed`, the
            same with integers whole; `p`, a probability.
    """

    name: str
    form: Form = "text"
    digits: int = 2

    def write(self, value: Any) -> str:
        """A value of this column (of a `Measured` ours) as people read it; an en dash for nothing."""
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
        """The paper's number and ours minus it: `132.21 (±0.00)`; empty where the paper has none."""
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
    """A table; `caption` says how its numbers were made.

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
            raise ValueError(f"table {self.id} has {len(self.columns)} columns, but a row of {len(ragged[0])}: {ragged[0]!r}")

    @property
    def prose(self) -> set[int]:
        """Places of the columns with a cell that long that they must not be squeezed."""
        cells = ((place, cell) for row in self.rows for place, cell in enumerate(row))
        return {place for place, cell in cells if isinstance(cell, str) and len(cell) > _PROSE_LENGTH}

    def records(self) -> list[dict[str, Any]]:
        """Rows as JSON values; a column with published numbers has two more, `(paper)` and `(difference)`."""
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

    def csv(self) -> str:
        return csv_of(self.records(), [column.name for column in self.columns])

    def to_json(self) -> dict[str, Any]:
        return {"id": self.id, "title": self.title, "caption": self.caption, "rows": self.records()}


@dataclass(frozen=True)
class Figure:
    """A picture: `plot(table, ax)` drawn from tidy records.

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
    """A whole report; `facts` are short pairs for its head."""

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
    """Records as CSV with a header (`names` without records), lines ended by a line feed. A text that a spreadsheet would take
    for a formula begins with an apostrophe: names of agents come from anywhere."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(dict.fromkeys(key for one in records for key in one)) or names, lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _no_formula(value) for key, value in one.items()} for one in records)
    return out.getvalue()


def _no_formula(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value


def _plain(value: Any) -> Any:
    """A JSON value; None for NaN and infinities."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value
