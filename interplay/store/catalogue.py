"""Queries behind the library and the filters of the episode table: counts and names, nothing read from files."""

from __future__ import annotations

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from interplay.store.models import EpisodeRow


def count_by_task(session: Session) -> dict[str, int]:
    """Task id -> how many episodes were recorded."""
    return {task: count for task, count in session.execute(select(EpisodeRow.task, func.count()).group_by(EpisodeRow.task))}


def agent_names(session: Session) -> list[str]:
    """Names of everyone but people who sat in a seat."""
    return list(
        session.scalars(select(EpisodeRow.actor).where(EpisodeRow.actor_kind != "human").distinct().order_by(EpisodeRow.actor))
    )
