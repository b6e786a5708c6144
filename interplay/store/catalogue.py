"""Queries behind the library and the episode table: counts and pages of rows, nothing read from files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from interplay.store.episodes import ACTOR_KINDS
from interplay.store.models import EpisodeRow

_Query = TypeVar("_Query", bound=Select)


@dataclass(frozen=True)
class EpisodeFilter:
    """Which rows to show; empty texts mean all. `actor` is a kind (`human`, `agent`, `model`) or a name."""

    task: str = ""
    actor: str = ""


def count_by_task(session: Session) -> dict[str, int]:
    """Task id -> how many episodes were recorded."""
    return {task: count for task, count in session.execute(select(EpisodeRow.task, func.count()).group_by(EpisodeRow.task))}


def count_episodes(session: Session, wanted: EpisodeFilter) -> int:
    """How many rows match."""
    return session.scalar(_matching(select(func.count()).select_from(EpisodeRow), wanted)) or 0


def newest_episodes(session: Session, wanted: EpisodeFilter, *, limit: int, offset: int = 0) -> list[EpisodeRow]:
    """Rows that match, newest first."""
    query = _matching(select(EpisodeRow), wanted).order_by(EpisodeRow.created_at.desc(), EpisodeRow.id.desc())
    return list(session.scalars(query.limit(limit).offset(offset)))


def agent_names(session: Session) -> list[str]:
    """Names of everyone but people who sat in a seat."""
    return list(
        session.scalars(select(EpisodeRow.actor).where(EpisodeRow.actor_kind != "human").distinct().order_by(EpisodeRow.actor))
    )


def _matching(query: _Query, wanted: EpisodeFilter) -> _Query:
    if wanted.task:
        query = query.where(EpisodeRow.task == wanted.task)
    if wanted.actor:
        query = query.where((EpisodeRow.actor_kind if wanted.actor in ACTOR_KINDS else EpisodeRow.actor) == wanted.actor)
    return query
