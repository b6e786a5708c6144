"""Copy all rows of one database to another, and prove that they are equal."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Table, func, insert, select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from interplay.store.database import StoreError
from interplay.store.models import Base, Place

_AT_ONCE = 1000
"""Rows that are inserted together."""

TABLES = [table for table in Base.metadata.sorted_tables if table is not Place.__table__]
"""All tables whose rows are data, in an order in which rows come after the rows that they refer to."""


class Contents(NamedTuple):
    """The contents of a table: the number of its rows, and the sum of their SHA-256, which does not depend on their order."""

    num_rows: int
    digest: int


def contents_of(session: Session, report: Callable[[int], None] = lambda num_rows: None) -> dict[str, Contents]:
    """Return the contents of each table, equal for equal rows in all databases. `report` is called with numbers of rows."""
    found = {}
    for table in TABLES:
        num_rows, digest = 0, 0
        for row in _rows(session.connection(), table):
            num_rows, digest = num_rows + 1, (digest + _digest(row)) % 2**256
            report(1)
        found[table.name] = Contents(num_rows, digest)
    return found


def num_rows(session: Session) -> int:
    return sum(session.scalar(select(func.count()).select_from(table)) or 0 for table in TABLES)


def copy_rows(source: Session, target: Session, report: Callable[[int], None] = lambda num_rows: None) -> None:
    """Copy the rows of all tables into empty tables, in the caller's transactions. `report` is called with numbers of rows.

    Raises:
        StoreError: If a row is refused, or the copies are not equal to the rows.
    """
    for table in TABLES:
        batch: list[dict[str, Any]] = []
        try:
            for row in _rows(source.connection(), table):
                batch.append(row)
                if len(batch) == _AT_ONCE:
                    _insert(target.connection(), table, batch)
                    report(len(batch))
                    batch = []
            if batch:
                _insert(target.connection(), table, batch)
                report(len(batch))
            _count_on(target.connection(), table)
        except (DBAPIError, ValueError) as error:
            reason = str(getattr(error, "orig", error)).strip().partition("\n")[0]
            raise StoreError(
                f"the other database refuses a row of the table {table.name}: {reason}\n"
                "Nothing was stored there. Please report this with the table's name."
            ) from error
    before, after = contents_of(source), contents_of(target)
    if unequal := [name for name in before if before[name] != after[name]]:
        raise StoreError(
            f"the copies of these tables are not equal: {', '.join(unequal)}\n"
            "Nothing was stored in the other database. Is another program writing to one of the two?"
        )


def _rows(connection: Connection, table: Table) -> Iterator[dict[str, Any]]:
    query = select(table).order_by(*table.primary_key.columns)
    for row in connection.execute(query, execution_options={"yield_per": _AT_ONCE}).mappings():
        yield dict(row)


def _insert(connection: Connection, table: Table, rows: list[dict[str, Any]]) -> None:
    connection.execute(insert(table), rows)


def _count_on(connection: Connection, table: Table) -> None:
    """Let PostgreSQL give new rows numbers after those of the copies; SQLite does so by itself."""
    column = table.autoincrement_column
    if connection.dialect.name != "postgresql" or column is None:
        return
    newest = connection.scalar(select(func.max(column)))
    if newest is not None:
        sequence = "pg_get_serial_sequence(:table, :column)"
        values = {"table": table.name, "column": column.name, "newest": newest}
        connection.execute(text(f"SELECT setval({sequence}, :newest) WHERE {sequence} IS NOT NULL"), values)


def _digest(row: dict[str, Any]) -> int:
    plain = json.dumps({name: _plain(value) for name, value in row.items()}, sort_keys=True)
    return int.from_bytes(hashlib.sha256(plain.encode()).digest(), "big")


def _plain(value: Any) -> Any:
    """Return a value in the one form that both databases give back: PostgreSQL's JSON makes 2.0 of 2e0."""
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, bytes):
        return value.hex()
    return value.isoformat() if isinstance(value, datetime) else value
