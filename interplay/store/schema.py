"""The tables of a new database, its views, and the triggers that keep what was said and paid as it was."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, text

from interplay.store.models import Base

_KEYS = {
    "answers": ["sequence = NEW.sequence", "match_id = NEW.match_id"],
    "retractions": ["sequence = NEW.sequence"],
    "pay_events": ["id = NEW.id"],
    "hit_events": ["id = NEW.id"],
    "problems": ["id = NEW.id"],
    "bans": ["id = NEW.id"],
    # The second: a judge has one open match, and REPLACE would remove the one that is there.
    "matches": [
        "id = NEW.id",
        "judge = NEW.judge AND coalesce(answered_at, released_at, NEW.answered_at, NEW.released_at) IS NULL",
    ],
}
"""Table -> how a row that INSERT OR REPLACE would remove is found. SQLite fires no DELETE trigger for it by default."""
_MAY_CHANGE = {"bans": {"lifted_at"}, "matches": {"answered_at", "seen_at", "released_at", "draft"}}
"""Table -> columns that may change; nothing of the other tables does."""
_ONCE = {"bans": "lifted_at", "matches": "answered_at"}
"""Table -> the time that is filled in once and then stays."""


def create(connection: Connection) -> None:
    Base.metadata.create_all(connection, checkfirst=False)
    is_sqlite = connection.dialect.name == "sqlite"
    for table in _KEYS:
        for statement in (_sqlite if is_sqlite else _postgresql)(table):
            connection.execute(text(statement))
    for statement in Path(__file__).with_name("views.sql").read_text("utf-8").split(";\n"):
        if statement.strip():
            connection.execute(text(statement))


def _why(table: str) -> str:
    return f"{table} are kept as they were made" if table in _MAY_CHANGE else f"{table} are only ever added"


def _is_forbidden(table: str, differs: str) -> str:
    if table not in _MAY_CHANGE:
        return ""
    frozen = [column.name for column in Base.metadata.tables[table].columns if column.name not in _MAY_CHANGE[table]]
    changed = [f"OLD.{name} {differs} NEW.{name}" for name in frozen]
    once = _ONCE[table]
    return f" WHEN ({' OR '.join(changed)} OR (OLD.{once} IS NOT NULL AND OLD.{once} {differs} NEW.{once}))"


def _sqlite(table: str) -> list[str]:
    there = " OR ".join(f"EXISTS (SELECT 1 FROM {table} WHERE {key})" for key in _KEYS[table])
    when = {"insert": f" WHEN {there}", "delete": "", "update": _is_forbidden(table, "IS NOT")}
    return [
        f"CREATE TRIGGER {table}_are_kept_{change} BEFORE {change} ON {table}{condition} "
        f"BEGIN SELECT RAISE(ABORT, '{_why(table)}'); END"
        for change, condition in when.items()
    ]


def _postgresql(table: str) -> list[str]:
    each = {"update": f"ROW{_is_forbidden(table, 'IS DISTINCT FROM')}", "delete": "ROW", "truncate": "STATEMENT"}
    return [
        f"CREATE FUNCTION {table}_are_kept() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{_why(table)}'; END $$",
        *(
            f"CREATE TRIGGER {table}_are_kept_{change} BEFORE {change} ON {table} FOR EACH {of} "
            f"EXECUTE FUNCTION {table}_are_kept()"
            for change, of in each.items()
        ),
    ]
