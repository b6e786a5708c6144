"""`Bans`: the service that bans judges. No answer of a banned judge counts, not even an earlier one; no answer is deleted."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from sqlalchemy.orm import Session

from interplay.errors import unknown_name
from interplay.judge.errors import JudgingError
from interplay.store import Ban, Database
from interplay.store.judging import bans as store
from interplay.store.locks import lock

_KEY = "workerId"
_MAX_CHARS = 200
_REMEDY = f'Expected a list of objects with that key:  [{{"{_KEY}": "A1B2C3"}}]'


class BanFileError(JudgingError):
    """The file cannot be read, or is not a list of banned workers."""

    code = "ban_file"


def read_banned(path: Path) -> list[str]:
    """Return the ids of the workers that a file bans, in the file's order, without repeats (BanFileError if it is invalid)."""
    try:
        entries = json.loads(path.read_bytes())
    except OSError as error:
        raise BanFileError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise BanFileError(f"{path}: is not JSON in UTF-8\n{_REMEDY}") from None
    if not isinstance(entries, list):
        raise BanFileError(f"{path}: is not a list\n{_REMEDY}")
    workers: dict[str, None] = {}
    for number, entry in enumerate(entries, 1):
        worker = entry.get(_KEY, entry.get("worker_id")) if isinstance(entry, dict) else None
        if not isinstance(worker, str) or not worker.strip() or len(worker) > _MAX_CHARS or not worker.strip().isprintable():
            raise BanFileError(f"{path}: entry {number} has no text under {_KEY!r}; got {json.dumps(entry)[:80]}\n{_REMEDY}")
        workers[worker.strip()] = None
    return list(workers)


def banned_document(workers: Iterable[str]) -> str:
    return json.dumps([{_KEY: worker} for worker in workers], indent=2) + "\n"


def worker_of(judge: str, workers: dict[str, str]) -> str:
    """Return the name that ban files use for a judge: the worker id if it is known, else the judge's name on this server.

    The worker id comes from a channel (`workers`: judge -> worker id), or from a data set (`NAME/worker`).

    >>> worker_of("bedd/A1B2", {}), worker_of("participant-3", {"participant-3": "A9"}), worker_of("robot", {})
    ('A1B2', 'A9', 'robot')
    """
    if judge in workers:
        return workers[judge]
    return judge.partition("/")[2] or judge


Change = Callable[[Session, str], bool]


class BannedJudge(NamedTuple):
    """A ban, with the name that ban files use for the judge, and the number of the judge's answers."""

    ban: Ban
    worker: str
    num_answers: int


@dataclass(frozen=True)
class BanChange:
    """Result of a request to ban judges or to lift their bans.

    Attributes:
        changed: Judge -> number of the judge's answers, for each judge whose state changed.
        unchanged: Judges who were in the requested state before.
        unseen: Workers in the list who have given no answers on this server.
    """

    changed: dict[str, int]
    unchanged: tuple[str, ...]
    unseen: tuple[str, ...]


class Bans:
    """The bans of one database."""

    def __init__(self, database: Database, clock: Callable[[], datetime] | None = None) -> None:
        self._database = database
        self._clock = clock or (lambda: datetime.now(UTC))

    def ban(self, judges: Iterable[str], reason: str, *, listed: Iterable[str] = (), dataset: str | None = None) -> BanChange:
        """Ban all named judges, or nobody if one of `judges` is unknown.

        Write one ban for each judge, and release the judge's open matches.

        Args:
            judges: Names as in the log, or worker ids.
            listed: Workers in a published list; workers who have never judged on this server are left out.
            dataset: Imported data set to which all these workers belong.
        Raises:
            NotFoundError: If nobody with a name in `judges` has judged on this server; the text offers the nearest name.
        """
        now = self._clock()
        ban = lambda session, judge: store.ban(session, judge=judge, reason=reason, now=now)  # noqa: E731
        return self._change(judges, listed, dataset, ban)

    def unban(self, judges: Iterable[str], *, listed: Iterable[str] = (), dataset: str | None = None) -> BanChange:
        """Lift the bans of all named judges, so that their answers count again. Arguments and errors as in `ban`."""
        now = self._clock()
        unban = lambda session, judge: store.unban(session, judge=judge, now=now)  # noqa: E731
        return self._change(judges, listed, dataset, unban)

    def all(self, *, lifted: bool = False) -> list[BannedJudge]:
        """Return the bans in force, oldest first; with `lifted`, include bans that were lifted."""
        with self._database.read() as session:
            rows = store.bans(session, lifted=lifted)
            workers = store.workers(session)
            counts = store.num_answers_of(session, [row.judge for row in rows])
        return [BannedJudge(row, worker_of(row.judge, workers), counts.get(row.judge, 0)) for row in rows]

    def workers(self) -> dict[str, str]:
        with self._database.read() as session:
            return store.workers(session)

    def _change(self, judges: Iterable[str], listed: Iterable[str], dataset: str | None, change: Change) -> BanChange:
        with self._database.write() as session:
            names = [name for judge in judges for name in _names(session, judge, dataset, must_be=True)]
            unseen = []
            for worker in listed:
                found = _names(session, worker, dataset)
                names += found
                unseen += [] if found else [worker]
            names = list(dict.fromkeys(names))
            lock(session, "judge", *names)
            changed = [name for name in names if change(session, name)]
            counts = store.num_answers_of(session, changed)
        unchanged = tuple(name for name in names if name not in changed)
        return BanChange({name: counts.get(name, 0) for name in changed}, unchanged, tuple(unseen))


def _names(session: Session, name: str, dataset: str | None, *, must_be: bool = False) -> list[str]:
    if dataset is not None:
        return [f"{dataset}/{name.removeprefix(f'{dataset}/')}"]
    known = store.known_judges(session)
    banned = store.banned(session)
    if name in known or name in banned:
        return [name]
    found = store.judges_of_worker(session, name)
    if not found and must_be:
        raise unknown_name("judge", name, {*known, *banned}, hint="All judges:  interplay judge judges")
    return found
