"""Participants: people who played or judged, found by the random key in their cookie or by their name on a platform. Also:
people who were shown a task or how others played it, so that their later games are not first attempts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Integer, cast, func, select
from sqlalchemy.orm import Session

from interplay.store.locks import lock
from interplay.store.models import (
    Entrant,
    EpisodeRow,
    EpisodeSeat,
    FeedbackRow,
    JudgingAgreement,
    Match,
    Participant,
    ShownTask,
)

PERSON = "participant-"
"""Prefix of people's names; a number follows."""
PEOPLE = "people"
"""Name on the leaderboard of all people's games together."""
GIVEN_NAME = (
    f"1 to 100 letters, digits or . _ - @ : + and spaces, not beginning with a space, a dot or {PERSON!r}, and not 'people'"
)


def is_given_name(name: str) -> bool:
    """Return whether `GIVEN_NAME` allows a name for an agent, or for a program that plays or judges.

    >>> is_given_name("BC-Baseline"), is_given_name("participant-7"), is_given_name(" x"), is_given_name("People")
    (True, False, False, False)
    """
    return (
        re.fullmatch(r"[\w@:+-][\w.@:+ -]{0,99}", name) is not None and not name.startswith(PERSON) and name.lower() != PEOPLE
    )


def one_spelling(name: str) -> str:
    """Return a name as it is stored: a letter with its accent is one character (NFC), even if a keyboard or a file has two.

    >>> one_spelling("Zoe\u0308") == "Zo\u00eb"
    True
    """
    return unicodedata.normalize("NFC", name)


def participant_by_key(session: Session, key: str) -> Participant | None:
    return session.scalar(select(Participant).where(Participant.key == key))


def participant_by_worker(session: Session, channel: str, worker: str) -> Participant | None:
    return session.scalar(select(Participant).where(Participant.channel == channel, Participant.worker == worker))


def add_participant(
    session: Session, key: str, now: datetime, *, channel: str | None = None, worker: str | None = None
) -> Participant:
    participant = Participant(key=key, created_at=now, channel=channel, worker=worker)
    session.add(participant)
    session.flush()
    return participant


def participant_number(name: str) -> int | None:
    """Return the id of the participant with this name in matches and answers; None for a program or a person of another server.

    >>> participant_number("participant-7"), participant_number("ada"), participant_number("set/participant-7")
    (7, None, None)
    """
    number = name.removeprefix(PERSON)
    return int(number) if number != name and number.isascii() and number.isdecimal() else None


def judge_name(participant_id: int) -> str:
    """Return the name of a participant in matches and answers.

    >>> judge_name(7)
    'participant-7'
    """
    return f"{PERSON}{participant_id}"


def add_feedback(session: Session, **columns: Any) -> FeedbackRow:
    row = FeedbackRow(**columns)
    session.add(row)
    session.flush()
    return row


def feedback(session: Session, *, limit: int | None = None) -> list[FeedbackRow]:
    return list(session.scalars(select(FeedbackRow).order_by(FeedbackRow.id.desc()).limit(limit)))


def count_since(session: Session, participant_id: int | None, since: datetime) -> int:
    """Return the number of feedback entries that one participant (None: everybody) has written since a time."""
    query = select(func.count()).select_from(FeedbackRow).where(FeedbackRow.created_at >= since)
    if participant_id is not None:
        query = query.where(FeedbackRow.participant_id == participant_id)
    return session.scalar(query) or 0


class Exposure(NamedTuple):
    """The first time that a person was shown a task."""

    participant_id: int
    task: str
    at: datetime


def add_exposures(session: Session, shown: Iterable[Exposure]) -> None:
    """Store that people were shown tasks; the first time for each person and task stays."""
    shown = list(shown)
    # Or two pages of one person at once would both be entered.
    lock(session, "participant", *(str(one.participant_id) for one in shown))
    for one in shown:
        if session.get(ShownTask, (one.participant_id, one.task)) is None:
            session.add(ShownTask(participant_id=one.participant_id, task=one.task, shown_at=one.at))
            session.flush()


def exposures(session: Session) -> list[Exposure]:
    """Return all people who were shown a task: on request, or as judges, who watch others play."""
    asked = session.execute(select(ShownTask.participant_id, ShownTask.task, ShownTask.shown_at))
    judged = session.execute(select(Match.judge, Match.task, func.min(Match.served_at)).group_by(Match.judge, Match.task))
    people = [(participant_number(judge), task, at) for judge, task, at in judged]
    return [Exposure(*row) for row in asked] + [Exposure(person, task, at) for person, task, at in people if person is not None]


def tasks_known_to(session: Session, participant_id: int) -> set[str]:
    queries = (
        select(ShownTask.task).where(ShownTask.participant_id == participant_id),
        select(Match.task).where(Match.judge == judge_name(participant_id)).distinct(),
        select(EpisodeRow.task)
        .join(EpisodeSeat, EpisodeSeat.episode_id == EpisodeRow.id)
        .where(EpisodeSeat.participant_id == participant_id)
        .distinct(),
    )
    return {task for query in queries for task in session.scalars(query)}


def attempts_state(session: Session, prefix: str) -> tuple[Any, ...]:
    """Return a value that changes when people's first attempts or programs' episodes may have changed.
    Only tasks whose ids begin with `prefix` are considered."""
    ours = EpisodeRow.task.startswith(prefix, autoescape=True)
    agreed = JudgingAgreement.created_at
    queries = (
        select(func.count(), func.max(EpisodeRow.created_at)).where(ours),
        select(func.count(), func.max(agreed), func.sum(cast(JudgingAgreement.agreed, Integer))),
        select(func.count(Entrant.id), func.count(Entrant.withdrawn_at), func.max(Entrant.withdrawn_at)),
        select(func.count()).select_from(ShownTask),
        select(func.count()).select_from(Match).where(Match.task.startswith(prefix, autoescape=True)),
    )
    return tuple(part for query in queries for part in session.execute(query).one())
