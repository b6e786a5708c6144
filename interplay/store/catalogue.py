"""Queries behind the library and the filters of the episode table: counts and names, nothing read from files.

Agents that wait for a moderator are left out unless they are asked for: their names are nobody's business yet.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from interplay.store.episodes import EpisodeQuery, _matching, _waits
from interplay.store.judging import brought
from interplay.store.models import Entrant, EpisodeRow, EpisodeSeat


class Shown(NamedTuple):
    """An episode of an entrant: on which seed, where its file is if there is one, and the seats that the entrant held."""

    seed: int
    episode: str
    path: str
    seats: tuple[str, ...]


def count_by_task(session: Session, query: EpisodeQuery) -> dict[str, int]:
    """Task id -> how many episodes that a query asks for can be seen: recorded, or uploaded as a video."""
    found = _matching(select(EpisodeRow.task, func.count()).where(EpisodeRow.path != ""), query)
    return {task: count for task, count in session.execute(found.group_by(EpisodeRow.task))}


def agent_names(session: Session, *, with_waiting: bool = False) -> list[str]:
    """Names of everyone but people who sat in a seat.

    Args:
        with_waiting: Also of agents whose every episode waits for a moderator.
    """
    query = select(EpisodeSeat.actor).distinct().join(EpisodeRow, EpisodeRow.id == EpisodeSeat.episode_id)
    query = query.where(EpisodeSeat.actor_kind != "human")
    return sorted(session.scalars(query if with_waiting else query.where(~_waits())))


def episodes_of_entrants(session: Session, names: Iterable[str]) -> dict[tuple[str, str], list[Shown]]:
    """Entrant and task -> what it brought, by seed; without what a fault cut short. One query, however many entrants."""
    columns = [EpisodeRow.seed, EpisodeRow.created_at, EpisodeRow.id, EpisodeRow.path, Entrant.name, Entrant.task]
    query = brought(columns, Entrant.name.in_(list(names)), EpisodeRow.outcome != "interrupted", with_seat=True)
    seats: dict[tuple[Any, ...], list[str]] = {}
    for *episode, seat in sorted(map(tuple, session.execute(query))):
        seats.setdefault(tuple(episode), []).append(seat)
    found: dict[tuple[str, str], list[Shown]] = {}
    for (seed, _, episode, path, name, task), held in seats.items():
        found.setdefault((name, task), []).append(Shown(seed, episode, path, tuple(held)))
    return found
