"""One code path for SQLite and PostgreSQL: migrations equal the models, writers queue, times keep their zone."""

import fcntl
import resource
import sqlite3
import stat
import threading
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from unittest.mock import patch

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from warm_process import WITH_BLOCK_WORLD, WarmProcess

from interplay.store import (
    Answer,
    Ban,
    Base,
    Database,
    EpisodeRow,
    Match,
    Participant,
    Problem,
    Retraction,
    StoreError,
)
from interplay.store import database as database_module


@pytest.fixture(scope="module")
def postgres_url(new_postgres_url):
    """A PostgreSQL database that the tests of this module share."""
    return new_postgres_url()


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, tmp_path):
    """A migrated database of either kind."""
    url = f"sqlite:///{tmp_path}/interplay.db" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    database = Database.open(url)
    yield database
    with database.write() as session:
        session.execute(sa.delete(Participant))
    database.close()


def test_databases_of_these_tests_share_nothing_as_those_of_users_do_not(tmp_path):
    first, second = (Database.open(f"sqlite:///{tmp_path}/{name}.db") for name in ("first", "second"))
    assert first.engine.dialect is not second.engine.dialect
    assert first.engine._compiled_cache is not second.engine._compiled_cache
    for one in (first, second):
        one.close()


def _one_answer(session) -> None:
    """An answer and what it stands on, once in each database."""
    if session.get(Match, "m" * 24) is not None:
        return
    now = datetime.now(UTC)
    episode = {
        "task": "t/a",
        "task_hash": "h",
        "env": "none",
        "seed": 1,
        "actor_kind": "agent",
        "num_steps": 1,
        "duration_s": 1.0,
    }
    episode |= {"total_reward": 0.0, "terminated": True, "truncated": False, "outcome": "terminated", "frames": "uploaded"}
    episode |= {"created_at": now, "path": "", "size_bytes": 0, "sha256": ""}
    session.add_all(EpisodeRow(id=name, actor=name, **episode) for name in ("ada", "bob"))
    about = {"task": "t/a", "seed": 1, "left_agent": "ada", "right_agent": "bob", "judge": "eve"}
    sides = {"left_episode_id": "ada", "right_episode_id": "bob"}
    session.add(Match(id="m" * 24, task_hash="h", served_at=now, seen_at=now, answered_at=now, **sides, **about))
    session.flush()
    said = {"outcome": "draw", "responses": {}, "reason": "", "created_at": now, "duration_s": 1.0}
    session.add(Answer(match_id="m" * 24, **about, **said))


def participant(key: str) -> Participant:
    return Participant(key=key, created_at=datetime.now(UTC))


def test_migrations_lead_to_the_models(database):
    with database.engine.connect() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), Base.metadata)
    assert differences == []


def test_a_database_of_the_first_revision_is_led_to_the_models(database):
    with database.write() as session:
        for table in ("journal_parts", "games", "nodes", "media_files", "places"):
            session.execute(sa.text(f"DROP TABLE {table}"))
        session.execute(sa.text("DROP INDEX ix_play_sessions_game"))
        for column in ("node", "game"):
            session.execute(sa.text(f"ALTER TABLE play_sessions DROP COLUMN {column}"))
        session.execute(sa.text("UPDATE alembic_version SET version_num = '0022'"))
    upgraded = Database.open(database.address)
    with upgraded.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []
    upgraded.close()


def test_opening_twice_changes_nothing(tmp_path):
    url = f"sqlite:///{tmp_path}/interplay.db"
    first = Database.open(url)
    with first.write() as session:
        session.add(participant("a"))
    second = Database.open(url)
    with second.read() as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(Participant)) == 1


def test_a_current_database_opens_without_alembic(tmp_path):
    url = f"sqlite:///{tmp_path}/interplay.db"
    Database.open(url).close()
    with patch.dict("sys.modules", {"alembic": None}):
        Database.open(url).close()


def test_the_newest_revision_is_the_one_that_no_other_follows():
    assert ScriptDirectory(str(database_module._MIGRATIONS)).get_current_head() == database_module._revisions()[-1]


@pytest.mark.parametrize(("revision", "says"), [("0021", "before Interplay 0.2.0"), ("9999", "newer Interplay, .*9999")])
def test_a_database_of_another_version_is_refused_and_left_as_it_is(database, revision, says):
    note = sa.text("UPDATE alembic_version SET version_num = :revision")
    with database.write() as session:
        session.execute(note, {"revision": revision})
    with pytest.raises(StoreError, match=says) as raised:
        Database.open(database.address)
    assert "--data" in str(raised.value)
    with database.write() as session:
        assert session.scalar(sa.text("SELECT version_num FROM alembic_version")) == revision
        session.execute(note, {"revision": database_module._revisions()[-1]})


OPEN = """
import fcntl, sys
fcntl.flock(open(sys.argv[2]), fcntl.LOCK_SH)
from interplay.store import Database
Database.open(sys.argv[1]).close()
"""


def open_at_once(url: str, folder: Path) -> list[tuple[int, str]]:
    """Exit status and standard error of four processes that open a database at the same moment."""
    said = [folder / f"said-{number}" for number in range(4)]
    with (folder / "wait").open("w") as wait:
        fcntl.flock(wait, fcntl.LOCK_EX)
        command = ["-c", OPEN, url, wait.name]
        started = [WarmProcess(command, stdout=one, stderr=one, loaded=WITH_BLOCK_WORLD) for one in said]
    return [(process.wait(120), one.read_text()) for process, one in zip(started, said, strict=True)]


def test_processes_that_open_a_new_file_at_once_wait_for_each_other(tmp_path):
    for turn in range(3):
        assert open_at_once(f"sqlite:///{tmp_path}/{turn}.db", tmp_path) == [(0, "")] * 4


def test_processes_that_open_a_new_postgresql_database_at_once_wait_for_each_other(new_postgres_url, tmp_path):
    assert open_at_once(new_postgres_url(), tmp_path) == [(0, "")] * 4


def test_migrations_that_stop_half_way_change_nothing(tmp_path):
    """They are one transaction: no other process sees a part of them and plans the rest."""
    url = f"sqlite:///{tmp_path}/interplay.db"
    with patch("interplay.store.database._sqlite_triggers", side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
        Database.open(url)
    with sqlite3.connect(tmp_path / "interplay.db") as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == []
    connection.close()
    Database.open(url).close()


def test_a_database_that_stays_busy_is_not_called_damaged(tmp_path, monkeypatch):
    monkeypatch.setattr(database_module, "_WAIT_S", 0)
    with sqlite3.connect(tmp_path / "busy.db", isolation_level=None) as holder:
        holder.execute("PRAGMA journal_mode=WAL")
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(
            StoreError, match=r"is busy: another command has held it(.|\n)*try again; nothing was changed"
        ) as error:
            Database.open(f"sqlite:///{tmp_path}/busy.db")
        assert "damaged" not in str(error.value)
        holder.execute("ROLLBACK")
    holder.close()


def test_commits_of_a_file_wait_for_the_disk_unless_they_need_not(tmp_path):
    database = Database.open(f"sqlite:///{tmp_path}/interplay.db")
    seen = []
    for sync in (True, False, True):
        with database.write(sync=sync) as session:
            seen.append(session.execute(sa.text("PRAGMA synchronous")).scalar())
    with database.write() as session:
        seen.append(session.execute(sa.text("PRAGMA synchronous")).scalar())
    database.close()
    assert seen == [2, 1, 2, 2]  # FULL, NORMAL


def test_a_database_file_is_never_readable_by_others(tmp_path, caplog):
    """Also one of before; it is said once."""
    path = tmp_path / "interplay.db"
    Database.open(f"sqlite:///{path}").close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert caplog.messages == []
    path.chmod(0o644)
    for number in range(2):
        database = Database.open(f"sqlite:///{path}")
        with database.write() as session:
            session.add(participant(f"key-{number}"))
        files = [path, path.with_name("interplay.db-wal"), path.with_name("interplay.db-shm")]
        assert [stat.S_IMODE(file.stat().st_mode) for file in files] == [0o600] * 3
        database.close()
    assert len(caplog.messages) == 1
    assert "could be read by other users of this machine" in caplog.text


def test_a_write_that_fails_leaves_nothing(database):
    def fails():
        with database.write() as session:
            session.add(participant("gone"))
            session.flush()
            raise RuntimeError("power cut")

    with pytest.raises(RuntimeError, match="power cut"):
        fails()
    with database.read() as session:
        assert session.scalars(sa.select(Participant)).all() == []


def test_forty_writers_at_once_all_get_through(database):
    errors = []

    def write(number: int) -> None:
        try:
            for turn in range(5):
                with database.write() as session:
                    count = session.scalar(sa.select(sa.func.count()).select_from(Participant))
                    session.add(participant(f"{number}-{turn}-{count}"))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    with database.read() as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(Participant)) == 200


def test_times_keep_their_zone_and_naive_ones_are_refused(database):
    berlin = datetime(2026, 1, 2, 12, tzinfo=timezone(timedelta(hours=1)))
    with database.write() as session:
        session.add(Participant(key="zone", created_at=berlin))
    with database.read() as session:
        kept = session.scalars(sa.select(Participant)).one().created_at
    assert kept == berlin
    assert kept.utcoffset() is not None
    with pytest.raises(sa.exc.StatementError, match="naive datetime"), database.write() as session:
        session.add(Participant(key="naive", created_at=datetime(2026, 1, 2)))


def test_a_full_disk_is_not_called_a_damaged_database(tmp_path):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16_384, before[1]))  # a limit of a file is to SQLite a full disk
    try:
        with pytest.raises(StoreError, match=r"^the disk is full: .*\nFree some space, and try again"):
            Database.open(f"sqlite:///{tmp_path}/interplay.db")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    Database.open(f"sqlite:///{tmp_path}/interplay.db").close()


def test_a_file_that_is_no_database_is_refused(tmp_path):
    file = tmp_path / "interplay.db"
    file.write_text("not a database, " * 100)
    with pytest.raises(StoreError, match="cannot open the database") as caught:
        Database.open(f"sqlite:///{file}")
    assert "--data" in str(caught.value)
    assert file.read_text().startswith("not a database")


def test_a_folder_that_cannot_be_reached_is_refused(tmp_path):
    with pytest.raises(StoreError, match="cannot open the database"):
        Database.open(f"sqlite:///{tmp_path}/missing/interplay.db")


def test_an_address_that_is_none_is_refused_without_its_password():
    with pytest.raises(
        database_module.AddressError, match=r"'postgresql//ann:\*\*\*@host/interplay' is not a database address"
    ):
        Database.open("postgresql//ann:p@ss@host/interplay")


def test_a_database_nobody_serves_is_refused():
    with pytest.raises(StoreError, match="cannot open the database"):
        Database.open("postgresql+psycopg://nobody@127.0.0.1:1/none")


NOW = "2026-03-01 12:00:00"
_ANSWER = "sequence, match_id, task, seed, left_agent, right_agent, outcome, responses, reason, judge, created_at, duration_s"


@pytest.mark.parametrize("statement", ["UPDATE answers SET outcome = 'left'", "DELETE FROM answers"])
def test_the_database_itself_refuses_to_change_the_log_of_answers(database, statement):
    with database.write() as session:
        _one_answer(session)
    with pytest.raises(sa.exc.DBAPIError, match="answers are only ever added"), database.write() as session:
        session.execute(sa.text(statement))
    with database.read() as session:
        assert session.scalar(sa.text("SELECT count(*) FROM answers WHERE outcome = 'draw'")) == 1


@pytest.fixture
def kept(database):
    """A database with one row of everything that is kept."""
    with database.write() as session:
        _one_answer(session)
        session.flush()
        if not session.scalar(sa.select(sa.func.count()).select_from(Ban)):
            now = datetime.now(UTC)
            session.add(Ban(judge="eve", reason="once", created_at=now))
            session.add(Problem(match_id="m" * 24, judge="eve", kind="other", words="black", created_at=now))
            session.add(Retraction(sequence=1, created_at=now))
    return database


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("DELETE FROM bans", "bans are kept"),
        ("UPDATE bans SET judge = 'ada'", "bans are kept"),
        ("UPDATE bans SET reason = 'none'", "bans are kept"),
        ("DELETE FROM matches", "matches are kept"),
        ("UPDATE matches SET left_agent = 'bob', right_agent = 'ada'", "matches are kept"),
        ("UPDATE matches SET judge = 'ada'", "matches are kept"),
        ("UPDATE matches SET answered_at = NULL", "matches are kept"),
        ("UPDATE problems SET words = ''", "problems are only ever added"),
        ("DELETE FROM problems", "problems are only ever added"),
        ("DELETE FROM retractions", "retractions are only ever added"),
        ("UPDATE retractions SET sequence = 2", "retractions are only ever added"),
    ],
)
def test_no_ban_match_or_problem_is_rewritten_or_deleted(kept, statement, why):
    with pytest.raises(sa.exc.DBAPIError, match=why), kept.write() as session:
        session.execute(sa.text(statement))


def test_no_row_of_the_pay_ledger_is_rewritten_or_deleted(database):
    with database.engine.connect() as connection:
        for table in ("pay_events", "hit_events"):
            refused = set(_refused_changes(connection, table))
            assert refused >= {"update", "delete"}, (table, refused)


def _refused_changes(connection, table: str) -> list[str]:
    """Kinds of changes of a table that its triggers refuse, going by their names."""
    names = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    if connection.dialect.name == "postgresql":
        names = "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal"
    found = connection.execute(sa.text(names)).scalars()
    return [name.removeprefix(f"{table}_are_kept_") for name in found if name.startswith(f"{table}_are_kept_")]


def test_a_ban_is_lifted_once_and_stays_lifted(kept):
    with kept.write() as session:
        session.execute(sa.text("UPDATE bans SET lifted_at = :now WHERE lifted_at IS NULL"), {"now": NOW})
    with pytest.raises(sa.exc.DBAPIError, match="bans are kept"), kept.write() as session:
        session.execute(sa.text("UPDATE bans SET lifted_at = NULL"))


@pytest.mark.parametrize("recursive", ["OFF", "ON"])
@pytest.mark.parametrize("how", ["INSERT OR REPLACE INTO", "REPLACE INTO"])
def test_replacing_rewrites_no_answer_ban_or_match(tmp_path, how, recursive):
    """SQLite fires no DELETE trigger for REPLACE unless asked to, and other programs do not ask."""
    database = Database.open(f"sqlite:///{tmp_path}/interplay.db")
    with database.write() as session:
        _one_answer(session)
        session.add(Ban(judge="eve", reason="once", created_at=datetime.now(UTC)))
        session.flush()
        now = datetime.now(UTC)
        about = {"task": "t/a", "task_hash": "h", "seed": 1, "left_agent": "ada", "right_agent": "bob"}
        sides = {"left_episode_id": "ada", "right_episode_id": "bob"}
        session.add(Match(id="n" * 24, judge="fay", served_at=now, seen_at=now, **about, **sides))
    database.close()
    changed = {
        "answers": _ANSWER.replace("outcome", "'left'", 1),
        "bans": "id, 'nobody', reason, created_at, lifted_at",
    }
    with sqlite3.connect(tmp_path / "interplay.db", isolation_level=None) as connection:
        connection.execute(f"PRAGMA recursive_triggers={recursive}")
        columns = {"answers": _ANSWER, "bans": "id, judge, reason, created_at, lifted_at"}
        for table, values in changed.items():
            with pytest.raises(sqlite3.IntegrityError, match=f"{table} are"):
                connection.execute(f"{how} {table} ({columns[table]}) SELECT {values} FROM {table}")
        match = ", ".join(row[1] for row in connection.execute("PRAGMA table_info(matches)"))
        for values in (match.replace("left_agent", "'cyd'", 1), match.replace("id", f"'{'o' * 24}'", 1)):
            with pytest.raises(sqlite3.IntegrityError, match="matches are kept"):
                connection.execute(f"{how} matches ({match}) SELECT {values} FROM matches WHERE judge = 'fay'")
        assert connection.execute("SELECT outcome FROM answers").fetchall() == [("draw",)]
    connection.close()
