"""Agents and episodes that may be judged, and in which studies."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import and_, bindparam, func, select
from sqlalchemy.orm import Session

from interplay.store.models import (
    Agent,
    EpisodeRow,
    StudyRow,
    StudyVersion,
    TaskRow,
)

# Statements of every serve and every answer are built once, here: building one takes longer than running it. They run on the
# session's connection, because rows as objects that are watched for changes cost three times as much as rows.

_IN_POOL = and_(Agent.approved_at.is_not(None), Agent.withdrawn_at.is_(None))
_JUDGED_TASKS = select(Agent.task).where(_IN_POOL).group_by(Agent.task).having(func.count() > 1).order_by(Agent.task)
_POOL_STATE = select(
    Agent.name,
    select(func.count()).select_from(EpisodeRow).where(EpisodeRow.task == bindparam("task")).scalar_subquery(),
    # Of all tasks: an index holds its answer, while that of one task would be looked for row by row at every serve.
    select(func.max(EpisodeRow.created_at)).scalar_subquery(),
).where(Agent.task == bindparam("task"), _IN_POOL)
_POOL_VERSIONS = (
    select(EpisodeRow.task_hash)
    .distinct()
    .join(Agent, and_(Agent.task == EpisodeRow.task, Agent.name == EpisodeRow.actor))
    .where(EpisodeRow.task == bindparam("task"), _IN_POOL)
    .order_by(EpisodeRow.task_hash)
)
_OF_AGENTS_IN_POOL = (
    select(
        Agent.name,
        EpisodeRow.task_hash,
        EpisodeRow.seed,
        EpisodeRow.id,
        EpisodeRow.num_steps,
        (EpisodeRow.outcome == "time_limit").label("was_cut"),
    )
    .join(EpisodeRow, and_(EpisodeRow.task == Agent.task, EpisodeRow.actor == Agent.name))
    .where(Agent.task == bindparam("task"), _IN_POOL)
)
_EPISODE = _OF_AGENTS_IN_POOL.where(EpisodeRow.id == bindparam("episode_id"))
_POOL = (
    _OF_AGENTS_IN_POOL.where(
        EpisodeRow.task_hash == bindparam("task_hash"), EpisodeRow.seed.in_(bindparam("seeds", expanding=True))
    )
    .where(EpisodeRow.outcome != "interrupted")  # something broke; it says nothing about the agent
    .order_by(EpisodeRow.id)
)
_STUDY = select(StudyRow.content_hash, StudyRow.closed_at).where(StudyRow.id == bindparam("study"))


class JudgedStudy(NamedTuple):
    """A study's version, and when it was closed."""

    content_hash: str
    closed_at: datetime | None


class PoolEpisode(NamedTuple):
    """An episode that may be shown to judges."""

    agent: str
    task_hash: str
    seed: int
    episode_id: str
    num_steps: int
    was_cut: bool


PoolState = frozenset[tuple[str, int, datetime | None]]
"""Agent, episodes of the task, newest episode."""


def study(session: Session, study_id: str) -> JudgedStudy | None:
    """What judging knows of a study; None if none of this id was opened here."""
    row = session.connection().execute(_STUDY, {"study": study_id}).first()
    return None if row is None else JudgedStudy(*row)


def study_definition(session: Session, content_hash: str) -> dict[str, Any]:
    """What one version of a study says; it may hold pictures, so ask once."""
    return session.get_one(StudyVersion, content_hash).definition


def studies(session: Session) -> list[str]:
    """Ids of all studies that were opened here."""
    return list(session.scalars(select(StudyRow.id).order_by(StudyRow.id)))


def judged_tasks(session: Session) -> list[str]:
    """Tasks with two or more agents to compare, by id."""
    return list(session.connection().scalars(_JUDGED_TASKS))


def task_definition(session: Session, task_hash: str) -> dict[str, Any] | None:
    """`Task.to_json()` of one version of a task."""
    return session.scalar(select(TaskRow.definition).where(TaskRow.content_hash == task_hash))


def pool_state(session: Session, task: str) -> PoolState:
    """What changes when the pool of a task does: the agents in it, how many episodes there are, and when the last one was
    entered, be it a new one or the video of one that had none."""
    return frozenset((row[0], row[1], row[2]) for row in session.connection().execute(_POOL_STATE, {"task": task}))


def pool_versions(session: Session, task: str) -> list[str]:
    """Content hashes under which agents of the pool were recorded in a task."""
    return list(session.scalars(_POOL_VERSIONS, {"task": task}))


def pool(session: Session, task: str, task_hash: str, seeds: Sequence[int]) -> list[PoolEpisode]:
    """Episodes of agents that may be judged, recorded under one version of a task on the given seeds and not interrupted."""
    rows = session.execute(_POOL, {"task": task, "task_hash": task_hash, "seeds": list(seeds)})
    return [PoolEpisode(*row) for row in rows]


def pool_episode(session: Session, task: str, episode_id: str) -> PoolEpisode | None:
    """One episode of a task by its id, on whichever seed; None if its agent was never let in, or is withdrawn."""
    row = session.connection().execute(_EPISODE, {"task": task, "episode_id": episode_id}).first()
    return None if row is None else PoolEpisode(*row)
