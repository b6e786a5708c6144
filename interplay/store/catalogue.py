"""Queries behind the library and the filters of the episode table: counts and names, nothing read from files."""

from __future__ import annotations

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from interplay.store.models import EpisodeRow


def count_by_task(session: Session) -> dict[str, int]:
    """Task id -> how many episodes can be seen: recorded, or uploaded as a video."""
    query = select(EpisodeRow.task, func.count()).where(EpisodeRow.path != "").group_by(EpisodeRow.task)
    return {task: count for task, count in session.execute(query)}


def agent_names(session: Session) -> list[str]:
    """Names of everyone but people who sat in a seat."""
    return list(
        session.scalars(select(EpisodeRow.actor).where(EpisodeRow.actor_kind != "human").distinct().order_by(EpisodeRow.actor))
    )
