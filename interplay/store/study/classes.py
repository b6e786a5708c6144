"""Classes: their codes, their pupils, and the pupils' games."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session, aliased

from interplay.store.models import ClassRow, EpisodeRow, EpisodeSeat, Participant

CHANNEL = "class"
"""Value of `Participant.channel` for pupils."""
FORGOTTEN = "#"
"""Prefix of the text that replaces an erased nickname."""
TAKEN_OUT = "not in"
"""Text before a class code for a pupil who was taken out of the class."""


class PlayedSeat(NamedTuple):
    """A pupil's seat in a game that is in the catalogue.

    Attributes:
        duration_s: Duration of the whole game in seconds.
        score: Sum of this pupil's rewards.
    """

    participant_id: int
    episode: str
    task: str
    seat: str
    at: datetime
    duration_s: float
    score: float
    outcome: str
    seats: int


def add_class(
    session: Session, *, code: str, title: str, definition: Mapping[str, Any], now: datetime, ends_at: datetime
) -> ClassRow:
    row = ClassRow(code=code, title=title, definition=dict(definition), opened_at=now, ends_at=ends_at)
    session.add(row)
    session.flush()
    return row


def class_row(session: Session, code: str) -> ClassRow | None:
    return session.get(ClassRow, code)


def class_rows(session: Session) -> list[ClassRow]:
    return list(session.scalars(select(ClassRow).order_by(ClassRow.opened_at.desc(), ClassRow.code)))


def pupils(session: Session, code: str) -> list[Participant]:
    begins = Participant.worker.startswith(f"{code}/", autoescape=True)
    query = select(Participant).where(Participant.channel == CHANNEL, begins)
    return list(session.scalars(query.order_by(Participant.id)))


def nickname_of(pupil: Participant) -> tuple[str, str] | None:
    if pupil.channel != CHANNEL or pupil.worker is None:
        return None
    code, _, nickname = pupil.worker.partition("/")
    return code, nickname


def take_out(session: Session, pupil: Participant, code: str) -> None:
    """Take a pupil out of a class; the pupil's number and recorded games stay."""
    pupil.worker = f"{TAKEN_OUT} {code}/{FORGOTTEN}{pupil.id}"
    session.flush()


def participant(session: Session, participant_id: int) -> Participant | None:
    return session.get(Participant, participant_id)


def forget(session: Session, row: ClassRow, now: datetime) -> int:
    """Erase the nicknames of a class and return the number of pupils; each pupil gets a number in place of the nickname."""
    known = pupils(session, row.code)
    for place, pupil in enumerate(known):
        pupil.worker = f"{row.code}/{FORGOTTEN}{place + 1}"
    row.forgotten_at = now
    session.flush()
    return len(known)


def played(session: Session, code: str) -> list[PlayedSeat]:
    ids = select(Participant.id).where(
        Participant.channel == CHANNEL, Participant.worker.startswith(f"{code}/", autoescape=True)
    )
    other = aliased(EpisodeSeat)
    num_seats = select(func.count(other.seat.distinct())).where(other.episode_id == EpisodeRow.id).scalar_subquery()
    query = (
        select(
            EpisodeSeat.participant_id, EpisodeRow.id, EpisodeRow.task, EpisodeSeat.seat, EpisodeRow.created_at,
            EpisodeRow.duration_s, EpisodeSeat.total_reward, EpisodeRow.outcome, num_seats,
        )
        .join(EpisodeSeat, EpisodeSeat.episode_id == EpisodeRow.id)
        .where(EpisodeSeat.participant_id.in_(ids))
        .order_by(EpisodeRow.created_at, EpisodeRow.id)
    )  # fmt: skip
    rows: Any = session.execute(query)
    return [PlayedSeat(*row) for row in rows]
