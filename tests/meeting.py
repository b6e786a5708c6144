"""Two servers on one PostgreSQL database that do something at the same moment."""

import threading
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

import sqlalchemy as sa

from interplay.store import Database

LONG = 30.0


def result_of(work: Callable[[], Any]) -> Any:
    """What `work` returns, or the error that it raises."""
    try:
        return work()
    except Exception as error:
        return error


def meet(
    database: Database, first: Callable[[], Any], second: Callable[[], Any], meanwhile: Callable[[], Any] = lambda: None
) -> tuple[Any, Any]:
    """Stop `first` before the first commit in `database`; run `second` until it ends or waits for a lock; then let both go on.

    Args:
        database: Where `first` works, and nobody else.
        meanwhile: Called while `first` is stopped, when `second` has ended or waits.
    Returns:
        The results or errors of both.
    """
    stopped, go_on, found = threading.Event(), threading.Event(), {}

    def stop(connection: sa.Connection) -> None:
        if not stopped.is_set() and connection.get_execution_options().get("isolation_level") != "AUTOCOMMIT":
            stopped.set()
            assert go_on.wait(LONG)

    sa.event.listen(database.engine, "commit", stop)
    threads = [threading.Thread(target=lambda: found.update(first=result_of(first)))]
    threads[0].start()
    try:
        assert stopped.wait(LONG), found
        threads.append(threading.Thread(target=lambda: found.update(second=result_of(second))))
        threads[1].start()
        with closing(Database.open(database.address)) as watching:
            deadline = time.monotonic() + LONG
            while "second" not in found and not is_waiting(watching):
                assert time.monotonic() < deadline
        meanwhile()
    finally:
        go_on.set()
        for thread in threads:
            thread.join(LONG)
        sa.event.remove(database.engine, "commit", stop)
    return found["first"], found["second"]


def is_waiting(database: Database) -> bool:
    """Whether somebody on this database waits for a lock."""
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    with database.look() as session:
        return session.scalar(sa.text(waiting)) > 0


def num_rows(archive, model, *where) -> int:
    with archive.database.read() as session:
        return session.scalar(sa.select(sa.func.count()).select_from(model).where(*where))
