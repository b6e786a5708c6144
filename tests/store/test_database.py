"""One code path for SQLite and PostgreSQL: migrations equal the models, writers queue, times keep their zone."""

import sqlite3
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta, timezone

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from interplay.store import Answer, Base, Database, EpisodeRow, Match, Participant, StoreError
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


def test_opening_twice_changes_nothing(tmp_path):
    url = f"sqlite:///{tmp_path}/interplay.db"
    first = Database.open(url)
    with first.write() as session:
        session.add(participant("a"))
    second = Database.open(url)
    with second.read() as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(Participant)) == 1


OPEN = """
import sys
sys.stdin.read(1)
from interplay.store import Database
Database.open(sys.argv[1]).close()
"""


def open_at_once(url: str, num: int = 4) -> list[tuple[int, str]]:
    """Exit status and standard error of processes that open a database at the same moment."""
    command = [sys.executable, "-c", OPEN, url]
    started = [subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(num)]
    for one in started:
        one.stdin.write("x")
        one.stdin.flush()
    said = [one.communicate(timeout=120)[1] for one in started]
    return [(one.returncode, text) for one, text in zip(started, said, strict=True)]


def test_processes_that_open_a_new_file_at_once_wait_for_each_other(tmp_path):
    for turn in range(3):
        assert open_at_once(f"sqlite:///{tmp_path}/{turn}.db") == [(0, "")] * 4


def test_processes_that_open_a_new_postgresql_database_at_once_wait_for_each_other(new_postgres_url):
    assert open_at_once(new_postgres_url()) == [(0, "")] * 4


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


def test_a_database_nobody_serves_is_refused():
    with pytest.raises(StoreError, match="cannot open the database"):
        Database.open("postgresql+psycopg://nobody@127.0.0.1:1/none")


@pytest.mark.parametrize("statement", ["UPDATE answers SET outcome = 'left'", "DELETE FROM answers"])
def test_the_database_itself_refuses_to_change_the_log_of_answers(database, statement):
    with database.write() as session:
        _one_answer(session)
    with pytest.raises(sa.exc.DBAPIError, match="answers are only ever added"), database.write() as session:
        session.execute(sa.text(statement))
    with database.read() as session:
        assert session.scalar(sa.text("SELECT count(*) FROM answers WHERE outcome = 'draw'")) == 1
