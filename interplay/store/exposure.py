"""People who were shown a task, or how others played it: a later game of theirs is not a first attempt."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Integer, cast, func, select
from sqlalchemy.orm import Session

from interplay.store.judging import lock
from interplay.store.models import Entrant, EpisodeRow, EpisodeSeat, JudgingAgreement, Match, ShownTask
from interplay.store.participants import judge_name, participant_number


class Exposure(NamedTuple):
    """The first time that somebody was shown a task."""

    participant_id: int
    task: str
    at: datetime


def add_exposures(session: Session, shown: Iterable[Exposure]) -> None:
    """Keep that people were shown tasks; the first time of each stays."""
    lock(session)  # or two pages of one person at once would both be entered
    for one in shown:
        if session.get(ShownTask, (one.participant_id, one.task)) is None:
            session.add(ShownTask(participant_id=one.participant_id, task=one.task, shown_at=one.at))
            session.flush()


def exposures(session: Session) -> list[Exposure]:
    """Everybody who was shown a task: on request, and as a judge, who watches others play."""
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
    """A value that changes when people's first attempts at tasks whose ids begin so may have changed, or programs' episodes."""
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
