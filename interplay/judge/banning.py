"""`Bans`: the service of bans. A banned judge's answers do not count, from the first one on; nothing is deleted."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from sqlalchemy.orm import Session

from interplay.errors import unknown_name
from interplay.judge.bans import worker_of
from interplay.store import Ban, Database
from interplay.store.judging import bans as store

Change = Callable[[Session, str], bool]


class Banned(NamedTuple):
    """A ban, and whom it is about: what the recruiting channel or a data set calls them, and how many answers they gave."""

    ban: Ban
    worker: str
    num_answers: int


@dataclass(frozen=True)
class BanChange:
    """What became of a request to ban, or to lift bans.

    Attributes:
        changed: Judge -> how many answers of theirs stand.
        unchanged: Judges who were so already.
        unseen: Workers of a list who have given no answers here.
    """

    changed: dict[str, int]
    unchanged: tuple[str, ...]
    unseen: tuple[str, ...]


class Bans:
    """The bans of one database.

    Args:
        database: Where they are.
        clock: The time now, UTC; the machine's if not given.
    """

    def __init__(self, database: Database, clock: Callable[[], datetime] | None = None) -> None:
        self._database = database
        self._clock = clock or (lambda: datetime.now(UTC))

    def ban(self, judges: Iterable[str], reason: str, *, listed: Iterable[str] = (), dataset: str | None = None) -> BanChange:
        """Ban everyone named, or nobody if one of `judges` is unknown. Writes a ban each, and releases their open matches.

        Args:
            judges: Names as the log has them, or worker ids.
            reason: Kept with each ban.
            listed: Workers of a published list; those who never came are left out.
            dataset: The workers are those of this imported data set.
        Raises:
            NotFoundError: If nobody of a name in `judges` has judged here, with the nearest.
        """
        now = self._clock()
        ban = lambda session, judge: store.ban(session, judge=judge, reason=reason, now=now)  # noqa: E731
        return self._change(judges, listed, dataset, ban)

    def unban(self, judges: Iterable[str], *, listed: Iterable[str] = (), dataset: str | None = None) -> BanChange:
        """Let the answers of everyone named count again, all of them. Writes when; arguments and errors as `ban`."""
        now = self._clock()
        unban = lambda session, judge: store.unban(session, judge=judge, now=now)  # noqa: E731
        return self._change(judges, listed, dataset, unban)

    def all(self, *, lifted: bool = False) -> list[Banned]:
        """Every ban in force, in the order they were made; with `lifted` those that are over as well."""
        with self._database.read() as session:
            rows = store.bans(session, lifted=lifted)
            workers = store.workers(session)
            counts = store.num_answers_of(session, [row.judge for row in rows])
        return [Banned(row, worker_of(row.judge, workers), counts.get(row.judge, 0)) for row in rows]

    def workers(self) -> dict[str, str]:
        """Judge -> what the recruiting channel calls that person, of people who came through one."""
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
            changed = [name for name in names if change(session, name)]
            counts = store.num_answers_of(session, changed)
        unchanged = tuple(name for name in names if name not in changed)
        return BanChange({name: counts.get(name, 0) for name in changed}, unchanged, tuple(unseen))


def _names(session: Session, name: str, dataset: str | None, *, must_be: bool = False) -> list[str]:
    """The judges a name or worker id stands for."""
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
