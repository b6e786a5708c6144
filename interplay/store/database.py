"""Open SQLite and PostgreSQL databases in the same way, migrate them, and begin transactions.
A new database gets its tables and views, and triggers that protect rows about answers and payments from changes."""

from __future__ import annotations

import logging
import os
import re
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.exc import ArgumentError, DatabaseError, SQLAlchemyError
from sqlalchemy.orm import Session

from interplay.errors import InterplayError, MisuseError, not_installed
from interplay.files import is_disk_full, keep_to_owner
from interplay.store.locks import key_of
from interplay.store.models import Base

log = logging.getLogger("interplay.store")

_CONNECTIONS_KEPT = 20
_MAX_CONNECTIONS = 50
"""Largest number of connections; a web server has fewer threads.
Connections above `_CONNECTIONS_KEPT` (SQLAlchemy's default is five) are opened for one use and closed again, which costs
PostgreSQL a process each time."""
_PREPARE = "prepare_threshold"
"""Option of psycopg: number of times that a statement runs before it is prepared in its connection; None: never."""
_WAIT_S = 30
"""Seconds that a process waits for another process that writes to the same SQLite file."""
_MIGRATION_KEY = 0x1A7E6B12
"""Key of PostgreSQL's advisory lock that lets only one process at a time migrate the schema."""
_MIGRATIONS = Path(__file__).parent / "migrations"


class StoreError(InterplayError):
    """A database cannot be opened or does not belong to Interplay."""


class AddressError(StoreError, MisuseError):
    """The address of a database is not valid."""


def check_place(place: str) -> None:
    """Refuse a path or an address with characters that databases and file formats cannot take.

    Raises:
        AddressError: If this locale cannot read some of its characters.
    """
    try:
        place.encode()
    except UnicodeEncodeError:
        raise AddressError(
            f"{place!a} has characters that this locale ({sys.getfilesystemencoding()}) cannot read\n"
            "Set PYTHONUTF8=1 in the environment, or choose a path of ASCII characters."
        ) from None


class Database:
    """Sessions over one database; safe to share between threads."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        # SQLite has one writer at a time. Threads wait here, which is fair and silent; other processes (the sealer, rollouts)
        # are waited for in the driver, which polls for up to `busy_timeout`.
        is_postgres = engine.dialect.name == "postgresql"
        self._at_once = engine.execution_options(isolation_level="AUTOCOMMIT") if is_postgres else engine
        self._write_lock = threading.Lock() if engine.dialect.name == "sqlite" else nullcontext()

    @property
    def address(self) -> str:
        """Address of the database, with its password, for processes that open it too."""
        return self.engine.url.render_as_string(hide_password=False)

    @property
    def is_shared(self) -> bool:
        """Whether servers on other machines can use the database too."""
        return self.engine.dialect.name == "postgresql"

    @classmethod
    def open(cls, url: str) -> Database:
        """Open a database, migrate it and return it.

        Args:
            url: SQLAlchemy address, `sqlite:///path/interplay.db` or `postgresql+psycopg://...`. An address of PgBouncer in
                transaction mode ends with `?prepare_threshold=none`.
        Raises:
            StoreError: If the database cannot be reached or does not belong to Interplay.
        """
        check_place(url)
        try:
            engine = create_engine(url, pool_size=_CONNECTIONS_KEPT, max_overflow=_MAX_CONNECTIONS - _CONNECTIONS_KEPT)
        except ArgumentError:
            hidden = re.sub(r"(//[^:/@]*:).*@", r"\1***@", url)  # as SQLAlchemy hides the password of a valid address
            raise AddressError(
                f"{hidden!r} is not a database address\nWrite sqlite:///path/interplay.db or postgresql+psycopg://user@host/name."
            ) from None
        except ModuleNotFoundError as error:
            raise StoreError(not_installed(f"the database {url.partition('://')[0]} needs", error.name, "postgres")) from None
        if (prepare := engine.url.query.get(_PREPARE)) is not None:
            if prepare != "none":
                raise AddressError(
                    f"{_PREPARE}={prepare} in the address of the database\nWrite {_PREPARE}=none, or leave it out."
                )
            event.listen(engine, "do_connect", _prepare_nothing)
        if engine.dialect.name == "sqlite":
            _keep_to_owner(engine.url.database)
            event.listen(engine, "connect", _sqlite_settings)
            event.listen(engine, "begin", _sqlite_begin)
        try:
            _migrate(engine)
        except DatabaseError as error:
            if "database is locked" in str(error.orig):
                raise StoreError(
                    f"the database at {engine.url!r} is busy: another command has held it for {_WAIT_S} seconds\n"
                    "Wait until that command has ended, and try again; nothing was changed."
                ) from error
            if is_disk_full(error):
                raise StoreError(
                    f"the disk is full: the database at {engine.url!r} cannot be opened ({error.orig})\n"
                    "Free some space, and try again; nothing was changed."
                ) from error
            raise StoreError(
                f"cannot open the database at {engine.url!r}: {error.orig}\n"
                "Check the address, or choose another folder with --data; nothing was changed.\n"
                "A damaged SQLite file can be moved away: `interplay episodes repair` then finds the episodes again, but not\n"
                "the answers, which are stored only in the database."
            ) from error
        return cls(engine)

    def answers(self) -> bool:
        """Whether the database answers a question now. It may take minutes to find out that it does not."""
        try:
            with self.look() as session:
                session.execute(text("SELECT 1"))
        except SQLAlchemyError:
            return False
        return True

    @contextmanager
    def read(self) -> Iterator[Session]:
        with Session(self.engine, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def look(self) -> Iterator[Session]:
        """Open a session for a few short statements that change nothing.
        On PostgreSQL, each statement sees what was committed before it, as in `read`. There is no transaction to begin and
        end, which would double the time of a single statement."""
        with Session(self._at_once, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def write(self, *, sync: bool = True, at_once: bool = False) -> Iterator[Session]:
        """Open a session that commits at the end of the block, or rolls back if it raises; SQLite has one writer at a time.

        Args:
            sync: Whether the commit must survive a power cut. If False, the commit survives a killed process at once, and a
                power cut only after the next commit with `sync`; other writers need not wait for the disk. On PostgreSQL, every
                commit survives both.
            at_once: Whether the block has a single statement, which PostgreSQL then commits by itself, in a third of the time.
                A later error then rolls nothing back, and `store.locks` have no effect.
        """
        engine = self._at_once if at_once else self.engine
        with self._write_lock, Session(engine, expire_on_commit=False) as session, session.begin():
            if self.engine.dialect.name == "sqlite":
                session.connection(execution_options={"interplay_write": True, "interplay_sync": sync})
            yield session

    @contextmanager
    def holding(self, name: str) -> Iterator[bool]:
        """Hold a name in a PostgreSQL database during the block; yield whether no other process held it. An SQLite file is
        always free: its servers are told apart by their data folders."""
        if self.engine.dialect.name != "postgresql":
            yield True
            return
        # The lock ends with this transaction, which is open all the time; so PgBouncer, too, leaves it its connection.
        with self.engine.connect() as connection:
            yield bool(connection.scalar(text("SELECT pg_try_advisory_xact_lock(:key)"), {"key": key_of("server", name)}))

    def close(self) -> None:
        self.engine.dispose()


def _prepare_nothing(_dialect, _record, _arguments, parameters) -> None:
    parameters[_PREPARE] = None


def _keep_to_owner(database: str | None) -> None:
    """Let only its owner read a database, because it names people. SQLite gives the same mode to the files beside it."""
    if not database or database == ":memory:" or database.startswith("file:"):
        return
    path = Path(database)
    with suppress(OSError):  # opening it says what is wrong
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    files = [path, *(path.with_name(path.name + ending) for ending in ("-wal", "-shm"))]
    if any([keep_to_owner(file) for file in files]):
        log.warning("%s could be read by other users of this machine; from now on only by its owner (mode 600)", path)


def _sqlite_settings(connection, _record) -> None:
    connection.isolation_level = None  # we say BEGIN ourselves, see _sqlite_begin
    cursor = connection.cursor()
    # With recursive triggers a row that REPLACE removes counts as deleted, which the triggers of what is kept refuse.
    for pragma in (f"busy_timeout={1000 * _WAIT_S}", "foreign_keys=ON", "recursive_triggers=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    deadline = time.monotonic() + _WAIT_S
    while True:
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
            break
        except sqlite3.OperationalError:  # a file that another process makes just now; for this the driver does not wait
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
    cursor.close()


def _sqlite_begin(connection) -> None:
    """Begin a transaction. Writers take the lock at once: a reader that begins to write can fail with 'database is locked'.

    With `synchronous=FULL`, each commit is written to disk, as in PostgreSQL. With NORMAL, it may be lost in a power cut.
    """
    options = connection.get_execution_options()
    if not options.get("interplay_write"):
        connection.exec_driver_sql("BEGIN")
        return
    connection.exec_driver_sql(f"PRAGMA synchronous={'FULL' if options.get('interplay_sync', True) else 'NORMAL'}")
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _migrate(engine: Engine) -> None:
    with engine.connect() as connection:
        if _revision(connection) == _revisions()[-1]:
            return
    from alembic import command  # a quarter of a second that nobody needs whose database is current
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    # One transaction, begun here: Alembic would commit after each revision on SQLite, and two processes that open a new file
    # would take turns between revisions, each with a plan of its own.
    with engine.connect().execution_options(interplay_write=True) as connection, connection.begin():
        if engine.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_KEY})
        # Processes that had to wait here find it done.
        config.attributes["connection"] = connection
        revision = _revision(connection)
        if revision is None:
            _create_tables(connection)
            command.stamp(config, "head")
        elif revision in _revisions():
            command.upgrade(config, "head")
        elif revision < _revisions()[0]:
            raise StoreError(
                f"the database at {engine.url!r} was made before Interplay 0.2.0; this version cannot read it\n"
                "Open it with the version that made it and export what you need, or choose another folder with --data; "
                "nothing was changed."
            )
        else:
            raise StoreError(
                f"the database at {engine.url!r} was made by a newer Interplay, or by another program (revision {revision}; "
                f"this version knows revisions up to {_revisions()[-1]})\n"
                "Upgrade Interplay, or choose another folder with --data; nothing was changed."
            )


def _revision(connection: Connection) -> str | None:
    noted = inspect(connection).has_table("alembic_version")
    return connection.scalar(text("SELECT version_num FROM alembic_version")) if noted else None


@cache
def _revisions() -> list[str]:
    """Return the numbers that the names of migrations begin with, from the first to the newest."""
    return sorted(path.name[:4] for path in (_MIGRATIONS / "versions").glob("[0-9]*.py"))


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
"""Table -> condition that finds a row that INSERT OR REPLACE would remove: SQLite fires no DELETE trigger for it by default."""
_MAY_CHANGE = {"bans": {"lifted_at"}, "matches": {"answered_at", "seen_at", "released_at", "draft"}}
"""Table -> columns that may change; in all other tables, no column may change."""
_ONCE = {"bans": "lifted_at", "matches": "answered_at"}
"""Table -> column with a time that is set once and then stays."""


def _create_tables(connection: Connection) -> None:
    Base.metadata.create_all(connection, checkfirst=False)
    is_sqlite = connection.dialect.name == "sqlite"
    for table in _KEYS:
        for statement in (_sqlite_triggers if is_sqlite else _postgresql_triggers)(table):
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


def _sqlite_triggers(table: str) -> list[str]:
    there = " OR ".join(f"EXISTS (SELECT 1 FROM {table} WHERE {key})" for key in _KEYS[table])
    when = {"insert": f" WHEN {there}", "delete": "", "update": _is_forbidden(table, "IS NOT")}
    return [
        f"CREATE TRIGGER {table}_are_kept_{change} BEFORE {change} ON {table}{condition} "
        f"BEGIN SELECT RAISE(ABORT, '{_why(table)}'); END"
        for change, condition in when.items()
    ]


def _postgresql_triggers(table: str) -> list[str]:
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
