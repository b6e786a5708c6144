"""Queries behind the library and the filters of the episode table: counts and names, nothing read from files.

Agents that wait for a moderator are left out unless they are asked for: their names are nobody's business yet.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import func, select, union
from sqlalchemy.orm import Session

from interplay.store.episodes import _waits
from interplay.store.judging import brought
from interplay.store.models import Entrant, EpisodeRow, EpisodeSeat


class Shown(NamedTuple):
    """An episode of an entrant: on which seed, and where its file is if there is one."""

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
    # Both, because published episodes have no rows of seats.
    first = select(EpisodeRow.actor).where(EpisodeRow.actor_kind != "human")
    in_seats = select(EpisodeSeat.actor).join(EpisodeRow, EpisodeRow.id == EpisodeSeat.episode_id)
    queries = (first, in_seats.where(EpisodeSeat.actor_kind != "human"))
    return sorted(session.scalars(union(*(query if with_waiting else query.where(~_waits()) for query in queries))))


def episodes_of_entrants(session: Session, names: Iterable[str]) -> dict[tuple[str, str], list[Shown]]:
    """Entrant and task -> what it brought, by seed; without what a fault cut short. One query, however many entrants."""
    columns = [EpisodeRow.seed, EpisodeRow.created_at, EpisodeRow.id, EpisodeRow.path, Entrant.name, Entrant.task]
    rows = session.execute(brought(columns, Entrant.name.in_(list(names)), EpisodeRow.outcome != "interrupted"))
    found: dict[tuple[str, str], list[Shown]] = {}
    for seed, _, episode, path, name, task in sorted(map(tuple, rows)):
        found.setdefault((name, task), []).append(Shown(seed, episode, path))
    return found
