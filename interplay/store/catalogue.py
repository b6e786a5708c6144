"""Queries behind the library and the filters of the episode table: counts and names, nothing read from files.

Agents that wait for a moderator are left out unless they are asked for: their names are nobody's business yet.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from interplay.store.episodes import _waits
from interplay.store.models import EpisodeRow


class Shown(NamedTuple):
    """An episode of an agent: on which seed, and where its file is if there is one."""

    seed: int
    episode: str
    path: str


def count_by_task(session: Session, *, with_waiting: bool = False) -> dict[str, int]:
    """Task id -> how many episodes can be seen: recorded, or uploaded as a video.

    Args:
        with_waiting: Also those of agents that a moderator has not let in.
    """
    query = select(EpisodeRow.task, func.count()).where(EpisodeRow.path != "").group_by(EpisodeRow.task)
    if not with_waiting:
        query = query.where(~_waits())
    return {task: count for task, count in session.execute(query)}


def agent_names(session: Session, *, with_waiting: bool = False) -> list[str]:
    """Names of everyone but people who sat in a seat.

    Args:
        with_waiting: Also of agents whose every episode waits for a moderator.
    """
    query = select(EpisodeRow.actor).where(EpisodeRow.actor_kind != "human")
    if not with_waiting:
        query = query.where(~_waits())
    return list(session.scalars(query.distinct().order_by(EpisodeRow.actor)))


def episodes_of_agents(session: Session, names: Iterable[str]) -> dict[tuple[str, str], list[Shown]]:
    """Agent and task -> what it brought, by seed; without what a fault cut short. One query, however many agents."""
    columns = (EpisodeRow.actor, EpisodeRow.task, EpisodeRow.seed, EpisodeRow.id, EpisodeRow.path)
    query = select(*columns).where(EpisodeRow.actor.in_(list(names)), EpisodeRow.outcome != "interrupted")
    found: dict[tuple[str, str], list[Shown]] = {}
    query = query.order_by(EpisodeRow.seed, EpisodeRow.created_at, EpisodeRow.id)
    for actor, task, seed, episode, path in session.execute(query):
        found.setdefault((actor, task), []).append(Shown(seed, episode, path))
    return found
