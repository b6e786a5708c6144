"""Pages of the catalogue: the episodes of a list, how many there are, and what it can be filtered by."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from interplay.store import Database, EpisodeRow, releases
from interplay.store.episodes import EpisodeQuery, agent_names, count_by_task, count_episodes, find_episodes


@dataclass(frozen=True)
class EpisodePage:
    """One page of a list of episodes.

    Attributes:
        total: Episodes on all pages.
        page, num_pages: Its number, from 1, and how many there are; at least one.
        actors: Names of everyone but people, to filter by.
        tasks: Ids of the tasks with episodes, to filter by.
    """

    rows: Sequence[EpisodeRow]
    total: int
    page: int
    num_pages: int
    actors: list[str]
    tasks: list[str]


def episodes_by_task(database: Database, wanted: EpisodeQuery) -> dict[str, int]:
    with database.read() as session:
        return count_by_task(session, wanted)


def listed(database: Database, wanted: EpisodeQuery) -> Sequence[EpisodeRow]:
    with database.read() as session:
        return find_episodes(session, wanted)


def withheld(database: Database, ids: Sequence[str], *, own: Collection[int] = ()) -> set[str]:
    """Those of these episodes that only their players and the operator may see: somebody in them has not agreed to a release,
    and none of the participants `own` played them."""
    with database.look() as session:
        return releases.withheld_of(session, ids, own=own)


def episode_page(database: Database, wanted: EpisodeQuery, page: int, rows_per_page: int) -> EpisodePage:
    with database.read() as session:
        total = count_episodes(session, wanted)
        num_pages = max(1, math.ceil(total / rows_per_page))
        page = min(page, num_pages)
        rows = find_episodes(session, replace(wanted, limit=rows_per_page, offset=(page - 1) * rows_per_page))
        actors = agent_names(session, with_waiting=wanted.with_waiting)
        tasks = sorted(count_by_task(session, replace(wanted, task=None, actor=None, kept_back=())))
    return EpisodePage(rows, total, page, num_pages, actors, tasks)


def is_there(database: Database, wanted: EpisodeQuery) -> bool:
    with database.read() as session:
        return count_episodes(session, wanted) > 0
