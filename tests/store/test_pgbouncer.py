"""PgBouncer in transaction mode between the program and PostgreSQL: each transaction may get another connection."""

import os
import shutil
import socket
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import make_url

from interplay.store import Answer, Database
from interplay.store.database import AddressError
from interplay.store.judging.model_judges import ModelAnswer, add_model_answers
from interplay.store.locks import lock
from interplay.tasks import find
from interplay.testing import START, add_episode

TASK = find("atari/breakout")


@pytest.fixture
def pooled_url(postgres_url, tmp_path):
    """The address of a PgBouncer with three connections to an empty database."""
    program = shutil.which("pgbouncer")
    if program is None:
        pytest.skip("no PgBouncer: install it (apt-get install pgbouncer)")
    direct = make_url(postgres_url)
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    settings = tmp_path / "pgbouncer.ini"
    settings.write_text(
        f"[databases]\n* = host={direct.query['host']} user={direct.username}\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n"
        "pool_mode = transaction\ndefault_pool_size = 3\nmax_client_conn = 100\nclient_login_timeout = 5\n"
    )
    for path in (settings, *settings.parents[:3]):
        path.chmod(path.stat().st_mode | 0o555)
    user = [] if os.geteuid() else ["-u", Path(direct.query["host"]).owner()]  # it does not run as root
    log = tmp_path / "pgbouncer.log"
    with log.open("w") as lines:
        pooler = subprocess.Popen([program, *user, settings], stderr=lines)
    deadline = time.monotonic() + 30
    while socket.socket().connect_ex(("127.0.0.1", port)):
        assert pooler.poll() is None, log.read_text()
        assert time.monotonic() < deadline
    yield f"postgresql+psycopg://{direct.username}@127.0.0.1:{port}/{direct.database}?prepare_threshold=none"
    pooler.terminate()
    pooler.wait()


def test_no_other_value_of_the_option_is_taken():
    with pytest.raises(AddressError, match="prepare_threshold=5 in the address of the database\nWrite prepare_threshold=none"):
        Database.open("postgresql+psycopg://u@localhost/x?prepare_threshold=5")


def test_the_name_of_a_server_is_held_through_a_pooler(pooled_url):
    with closing(Database.open(pooled_url)) as one, closing(Database.open(pooled_url)) as other:
        with one.holding("a") as is_free:
            assert is_free
            for _ in range(20):
                with other.look() as session:
                    session.execute(sa.text("SELECT 1"))
            with other.holding("a") as is_free_too, other.holding("b") as is_other_free:
                assert (is_free_too, is_other_free) == (False, True)
        with other.holding("a") as is_free:
            assert is_free


def test_many_who_answer_through_a_pooler_are_logged_in_order(pooled_url):
    """More statements than psycopg would run without preparing them, on fewer connections than there are threads."""
    with closing(Database.open(pooled_url)) as database:
        assert database.address == pooled_url
        with database.write() as session:
            left, right = (add_episode(session, TASK, name, 1) for name in ("left", "right"))

        def answer(number: int) -> None:
            names = (left["id"], right["id"], "left", "right", "left", {}, "", {})
            for turn in range(8):
                one = ModelAnswer(f"{number}-{turn}", TASK.content_hash, 1, "", *names)
                with database.write() as session:
                    assert add_model_answers(session, judge=f"model:{number}", task=TASK.id, answers=[one], now=START) == 1

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(answer, range(8)))
        with database.read() as session:
            assert session.scalar(sa.select(sa.func.count()).select_from(Answer)) == 64


def test_locks_hold_through_a_pooler(pooled_url):
    with closing(Database.open(pooled_url)) as one, closing(Database.open(pooled_url)) as other:
        with one.write() as session:
            lock(session, "judge", "ada")
            with other.write() as second:
                second.execute(sa.text("SET LOCAL lock_timeout = '100ms'"))
                with pytest.raises(sa.exc.OperationalError, match="lock timeout"):
                    lock(second, "judge", "ada")
                second.rollback()
        with other.write() as second:
            lock(second, "judge", "ada")
