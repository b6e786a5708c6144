"""`Classes`: the service of classes. It opens and closes them, lets pupils in, shows their games, and erases nicknames.

Each method is one transaction, or one read of the database. Nicknames are erased `keep_days` after a class has ended; after
that the database identifies pupils only by numbers.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import numpy as np
from sqlalchemy.orm import Session

from interplay.errors import NotFoundError
from interplay.store import ClassRow, Database, Participant
from interplay.store.locks import lock
from interplay.store.participants import add_participant
from interplay.store.releases import add_choice
from interplay.store.study import classes as store
from interplay.study.classes.codes import (
    ClassError,
    alike,
    is_offered,
    new_code,
    new_nickname,
    read_code,
    read_nickname,
    shown_code,
)
from interplay.study.classes.pupils import Pupil

MAX_PUPILS = 200
"""Largest number of pupils in one class; only a program would add more."""
MAX_HOURS = 24 * 14
MAX_KEEP_DAYS = 365


@dataclass(frozen=True)
class SchoolClass:
    """A class.

    Attributes:
        code: The code that pupils type.
        tasks: Task ids, in the order of the cards.
        ends_at: Time when the code stops working, unless the class is closed before.
        closed_at: Time when the teacher closed the class; None if it was not closed.
        keep_days: Number of days after the end until nicknames are erased.
        asks_release: Whether pupils are asked if their games may be released in data sets; if not, no game is released.
        shows_scores: Whether pupils see the best scores of the class.
    """

    code: str
    title: str
    tasks: tuple[str, ...]
    opened_at: datetime
    ends_at: datetime
    closed_at: datetime | None = None
    keep_days: int = 30
    asks_release: bool = False
    shows_scores: bool = True
    forgotten_at: datetime | None = None

    @property
    def shown_code(self) -> str:
        return shown_code(self.code)

    @property
    def ended_at(self) -> datetime:
        """Time when the class ended, or will end unless it is closed before."""
        return self.ends_at if self.closed_at is None else min(self.closed_at, self.ends_at)

    @property
    def forgets_at(self) -> datetime:
        return self.ended_at + timedelta(days=self.keep_days)

    def is_open(self, now: datetime) -> bool:
        return now < self.ended_at


@dataclass(frozen=True)
class Joined:
    """A pupil who has just joined; `key` goes only into the cookie of the pupil's browser."""

    pupil: Pupil
    key: str


class Classes:
    """The classes of one database; threads may share it. `rng` draws only nicknames, because codes must be secret."""

    def __init__(
        self, database: Database, clock: Callable[[], datetime] | None = None, rng: np.random.Generator | None = None
    ) -> None:
        self._database = database
        self._clock = clock or (lambda: datetime.now(UTC))
        self._rng = rng or np.random.default_rng()

    def now(self) -> datetime:
        return self._clock()

    # The teacher

    def open(
        self,
        title: str,
        tasks: Sequence[str],
        *,
        hours: float = 3,
        keep_days: int = 30,
        asks_release: bool = False,
        shows_scores: bool = True,
    ) -> SchoolClass:
        """Open a new class whose code works for `hours` (ClassError for an invalid setting).
        The caller must check that the tasks exist."""
        title = " ".join(title.split())
        if not 1 <= len(title) <= 80:
            raise ClassError(f"a class has a title of 1 to 80 characters; this one has {len(title)}")
        if not tasks or len(tasks) > 12:
            raise ClassError(f"a class has 1 to 12 tasks; got {len(tasks)}")
        if not 0.1 <= hours <= MAX_HOURS:
            raise ClassError(f"a code works for 0.1 to {MAX_HOURS} hours; got {hours:g}")
        if not 0 <= keep_days <= MAX_KEEP_DAYS:
            raise ClassError(f"nicknames are kept for 0 to {MAX_KEEP_DAYS} days; got {keep_days}")
        definition = {"tasks": list(dict.fromkeys(tasks)), "keep_days": keep_days}
        definition |= {"asks_release": asks_release, "shows_scores": shows_scores}
        codes = np.random.default_rng(secrets.randbits(128))
        with self._database.write() as session:
            now = self._clock()
            code = next(one for one in iter(lambda: new_code(codes), None) if store.class_row(session, one) is None)
            ends_at = now + timedelta(hours=hours)
            row = store.add_class(session, code=code, title=title, definition=definition, now=now, ends_at=ends_at)
            return _class(row)

    def close(self, code: str) -> SchoolClass:
        """Close a class: nobody can join or begin a game; running games are played to their end (NotFoundError as `get`)."""
        with self._database.write() as session:
            row = self._locked(session, code)  # nobody joins while it ends
            row.closed_at = row.closed_at or self._clock()
            return _class(row)

    def rename(self, code: str, participant: int) -> str | None:
        """Replace a pupil's nickname by a suggested one and return it (NotFoundError as `get`).
        Returns None if the class has no such pupil, or nicknames are erased."""
        with self._database.write() as session:
            row = self._locked(session, code)
            known = {one.id: one for one in store.pupils(session, row.code)}
            if participant not in known or row.forgotten_at is not None:
                return None
            nickname = new_nickname([_pupil(one).nickname for one in known.values()], self._rng)
            known[participant].worker = f"{row.code}/{nickname}"
            return nickname

    def approve(self, code: str, participants: Iterable[int]) -> None:
        """Approve the nicknames of these pupils, so that everybody in the room can read them (NotFoundError as `get`)."""
        with self._database.write() as session:
            row = self._locked(session, code)
            row.definition = row.definition | {"approved": sorted({*row.definition.get("approved", ()), *participants})}

    def take_out(self, code: str, participant: int) -> bool:
        """Remove a pupil from a class, which frees the place and the nickname (NotFoundError as `get`).
        Their games stay recorded, but are no longer shown with the class. Returns False if the class has no such pupil."""
        with self._database.write() as session:
            row = self._locked(session, code)
            pupil = next((one for one in store.pupils(session, row.code) if one.id == participant), None)
            if pupil is not None:
                store.take_out(session, pupil, row.code)
            return pupil is not None

    def forget(self, code: str) -> int:
        """Erase the nicknames of a class now and return their number (ClassError if it is open, NotFoundError as `get`)."""
        with self._database.write() as session:
            row, now = self._locked(session, code), self._clock()
            if _class(row).is_open(now):
                raise ClassError(
                    f"the class {shown_code(row.code)} is open\nClose it first:  interplay study class close {code}"
                )
            return 0 if row.forgotten_at is not None else store.forget(session, row, now)

    def forget_due(self) -> None:
        """Erase the nicknames of classes that ended more than `keep_days` ago; if there is no such class, write nothing."""
        with self._database.read() as session:
            due = [row.code for row in self._due(session)]
        if due:
            with self._database.write() as session:
                lock(session, "class", *due)
                for row in self._due(session):
                    if row.code in due:
                        store.forget(session, row, self._clock())

    def all(self) -> list[tuple[SchoolClass, int]]:
        with self._database.read() as session:
            return [(_class(row), len(store.pupils(session, row.code))) for row in store.class_rows(session)]

    def find(self, typed: str) -> SchoolClass | None:
        code = read_code(typed)
        if code is None:
            return None
        with self._database.look() as session:
            row = store.class_row(session, code)
            return None if row is None else _class(row)

    def get(self, typed: str) -> SchoolClass:
        """Return the class with this code, open or not (NotFoundError for an unknown code)."""
        with self._database.read() as session:
            return _class(self._row(session, typed))

    def pupils(self, school_class: SchoolClass) -> list[Pupil]:
        """Return all pupils in the order in which they joined, with their games."""
        with self._database.read() as session:
            games: dict[int, list[store.PlayedSeat]] = {}
            for one in store.played(session, school_class.code):
                games.setdefault(one.participant_id, []).append(one)
            approved = self._row(session, school_class.code).definition.get("approved", ())
            return [
                replace(pupil, is_approved=pupil.is_approved or pupil.participant in approved)
                for pupil in (_pupil(one, games.get(one.id, [])) for one in store.pupils(session, school_class.code))
            ]

    # Pupils

    def suggestion(self, school_class: SchoolClass) -> str:
        with self._database.read() as session:
            return new_nickname([_pupil(one).nickname for one in store.pupils(session, school_class.code)], self._rng)

    def join(self, typed: str, nickname: str, *, release_ticked: bool = False) -> Joined:
        """Let a pupil join under a nickname; store the pupil, and whether the pupil's games may be released.

        Args:
            nickname: The chosen nickname; if empty, the pupil gets a random one.
            release_ticked: Whether the pupil ticked the box about release, if the class has one.
        Raises:
            NotFoundError: As `get`.
            ClassError: If the class has ended or is full, or the nickname is invalid or taken.
        """
        with self._database.write() as session:
            # Of two who want one nickname at once, the second is told.
            row, now = self._locked(session, typed), self._clock()
            school_class = _class(row)
            if not school_class.is_open(now):
                raise ClassError("this class has ended; ask your teacher for a new code")
            taken = [_pupil(one).nickname for one in store.pupils(session, row.code)]
            if len(taken) >= MAX_PUPILS:
                raise ClassError(f"this class is full: {MAX_PUPILS} have joined; ask your teacher for a new code")
            name = read_nickname(nickname) if nickname.strip() else new_nickname(taken, self._rng)
            if alike(name) in {alike(one) for one in taken}:
                raise ClassError("somebody in this class has this nickname already; please choose another one")
            key = secrets.token_urlsafe(16)
            person = add_participant(session, key, now, channel=store.CHANNEL, worker=f"{row.code}/{name}")
            may_release = school_class.asks_release and release_ticked
            note = f"on joining the class {school_class.shown_code}"
            add_choice(session, participant_id=person.id, may_release=may_release, note=note, now=now)
            return Joined(_pupil(person), key)

    def of(self, participant_id: int | None) -> tuple[SchoolClass, Pupil] | None:
        """Return the class and the pupil of a participant, without games; None if the participant is not a pupil."""
        if participant_id is None:
            return None
        with self._database.look() as session:
            person = store.participant(session, participant_id)
            named = None if person is None else store.nickname_of(person)
            row = None if named is None else store.class_row(session, named[0])
            return None if row is None or person is None else (_class(row), _pupil(person))

    # Within a session

    def _row(self, session: Session, typed: str) -> ClassRow:
        code = read_code(typed)
        row = None if code is None else store.class_row(session, code)
        if row is None:
            raise NotFoundError("no class has this code; check the code letter by letter")
        return row

    def _locked(self, session: Session, typed: str) -> ClassRow:
        lock(session, "class", read_code(typed) or "")
        return self._row(session, typed)

    def _due(self, session: Session) -> list[ClassRow]:
        now = self._clock()
        return [row for row in store.class_rows(session) if row.forgotten_at is None and now >= _class(row).forgets_at]


def _class(row: ClassRow) -> SchoolClass:
    settings = row.definition
    return SchoolClass(
        row.code,
        row.title,
        tuple(settings["tasks"]),
        row.opened_at,
        row.ends_at,
        row.closed_at,
        settings["keep_days"],
        settings["asks_release"],
        settings["shows_scores"],
        row.forgotten_at,
    )


def _pupil(person: Participant, games: Sequence[store.PlayedSeat] = ()) -> Pupil:
    named = store.nickname_of(person)
    name = named[1] if named else ""
    return Pupil(person.id, name, person.created_at, tuple(games), name.startswith("#") or is_offered(name))
