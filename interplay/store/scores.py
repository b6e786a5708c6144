"""Scores that can be compared: of episodes that one person, or one agent, played alone and to the end."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, String, and_, cast, func, literal, or_, select
from sqlalchemy.orm import Session, aliased

from interplay.store.models import Ban, Enrolment, EpisodeRow, EpisodeSeat, Participant, PlaySession, SeatStatistic
from interplay.store.participants import PERSON
from interplay.store.study.classes import CHANNEL

COMPLETE = ("terminated", "time_limit")
"""Outcomes of an episode that was played to its end."""
SCORE = "score"
"""The sum of rewards; every episode has this statistic."""


class ScoredEpisode(NamedTuple):
    """One episode of a person and its score; `sha256` is the hash of the episode's file."""

    episode: str
    sha256: str
    participant_id: int
    at: datetime
    value: float


class AgentScore(NamedTuple):
    """Mean score of an agent over its own complete episodes."""

    agent: str
    mean: float
    episodes: int


def scores_of_people(
    session: Session,
    *,
    task: str,
    task_hash: str,
    statistic: str,
    channels: tuple[str, ...] = (),
    visit: tuple[str, str] | None = None,
    since: datetime | None = None,
) -> list[ScoredEpisode]:
    """Return complete episodes of one task version that one person played alone, from the first step to the last.

    Only games of this server count: the database must have the session in which this person got the seat, so an imported file
    cannot add a score. Pupils of classes and banned people are left out.

    Args:
        statistic: `score`, or a statistic of the task.
        channels: Games of a study's visits count if the visit came through one of these channels.
        visit: Study and variant; only games of their visits count, through any channel.
        since: Only episodes that began at this time or later count.
    """
    _, query = _values(select(EpisodeRow.id, EpisodeRow.sha256, EpisodeSeat.participant_id, EpisodeRow.created_at), statistic)
    given = (
        select(PlaySession.id)
        .join(Enrolment, Enrolment.id == PlaySession.enrolment_id, isouter=True)
        .where(
            PlaySession.episode_id == EpisodeRow.id,
            PlaySession.participant_id == EpisodeSeat.participant_id,
            PlaySession.actor_kind == "human",
            or_(PlaySession.enrolment_id.is_(None), Enrolment.channel.in_(channels))
            if visit is None
            else and_(Enrolment.study == visit[0], Enrolment.variant == visit[1]),
        )
        .exists()
    )
    judge = literal(PERSON) + cast(EpisodeSeat.participant_id, String)
    is_banned = select(Ban.id).where(Ban.judge == judge, Ban.lifted_at.is_(None)).exists()
    is_pupil = (
        select(Participant.id).where(Participant.id == EpisodeSeat.participant_id, Participant.channel == CHANNEL).exists()
    )
    query = query.where(*_complete(task, task_hash, "human"), given, ~is_banned, ~is_pupil)
    if since is not None:
        query = query.where(EpisodeRow.created_at >= since)
    rows: Any = session.execute(query.order_by(EpisodeRow.created_at, EpisodeRow.id))
    return [ScoredEpisode(episode, sha256, person, at, float(number)) for episode, sha256, person, at, number in rows]


def scores_of_agents(session: Session, *, task: str, task_hash: str, statistic: str, most: int) -> list[AgentScore]:
    """Return the `most` agents with the most complete episodes of a task version, and their mean scores, best first."""
    value, query = _values(select(EpisodeSeat.actor), statistic)
    query = query.with_only_columns(EpisodeSeat.actor, func.avg(value), func.count())
    query = query.where(*_complete(task, task_hash, "agent", "model")).group_by(EpisodeSeat.actor)
    rows: Any = session.execute(query.order_by(func.count().desc(), EpisodeSeat.actor).limit(most))
    found = [AgentScore(agent, float(mean), count) for agent, mean, count in rows]
    return sorted(found, key=lambda one: -one.mean)


def _values(columns: Any, statistic: str) -> tuple[Any, Any]:
    query: Any = columns.select_from(EpisodeRow).join(EpisodeSeat, EpisodeSeat.episode_id == EpisodeRow.id)
    if statistic == SCORE:
        value: Any = EpisodeSeat.total_reward
    else:
        value = SeatStatistic.number
        same = (SeatStatistic.seat == EpisodeSeat.seat) & (SeatStatistic.actor == EpisodeSeat.actor)
        query = query.join(SeatStatistic, (SeatStatistic.episode_id == EpisodeRow.id) & same)
        query = query.where(SeatStatistic.name == statistic, value.is_not(None))
    return value, query.add_columns(value)


def _complete(task: str, task_hash: str, *kinds: str) -> tuple[ColumnElement[bool], ...]:
    other = aliased(EpisodeSeat)
    others = (
        select(func.count()).where(other.episode_id == EpisodeRow.id).select_from(other).correlate(EpisodeRow).scalar_subquery()
    )
    return (
        EpisodeRow.task == task,
        EpisodeRow.task_hash == task_hash,
        EpisodeRow.outcome.in_(COMPLETE),
        EpisodeSeat.actor_kind.in_(kinds),
        EpisodeSeat.num_steps == EpisodeRow.num_steps,
        others == 1,
    )
