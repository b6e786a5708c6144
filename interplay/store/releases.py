"""Saved queries (named lists of episodes, with versions that never change) and people's choices about the release of games."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import case, func, insert, select
from sqlalchemy.orm import Session

from interplay.store.episodes import UPLOADED, WITHHELD
from interplay.store.models import EpisodeRow, EpisodeSeat, Participant, ReleaseChoice, SavedQuery, SavedQueryEpisode
from interplay.store.uploads import IDS_AT_ONCE


def content_hash(episodes: Iterable[tuple[str, str]]) -> str:
    """Return the SHA-256 over pairs of episode id and file hash, one pair per line, sorted: their order has no effect.

    >>> content_hash([("b", "22"), ("a", "11")]) == content_hash([("a", "11"), ("b", "22")])
    True
    """
    lines = sorted(f"{name} {sha256}\n" for name, sha256 in episodes)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def save_query(
    session: Session, *, name: str, task: str | None, conditions: Sequence[str], rows: Sequence[EpisodeRow], now: datetime
) -> tuple[SavedQuery, bool]:
    """Save the result of a query as the next version of a name, unless it equals the newest version.

    Returns:
        The version, and whether it is new.
    """
    episodes = [(row.id, row.sha256) for row in rows]
    sha256, asked = content_hash(episodes), json.dumps(list(conditions))
    newest = find_query(session, name)
    if newest is not None and (newest.sha256, newest.conditions, newest.task) == (sha256, asked, task):
        return newest, False
    query = SavedQuery(
        name=name,
        version=1 if newest is None else newest.version + 1,
        task=task,
        conditions=asked,
        sha256=sha256,
        num_episodes=len(episodes),
        created_at=now,
    )
    session.add(query)
    session.flush()
    if episodes:
        columns = [
            {"name": name, "version": query.version, "episode_id": episode, "sha256": digest} for episode, digest in episodes
        ]
        session.execute(insert(SavedQueryEpisode), columns)
    return query, True


def find_query(session: Session, name: str, version: int | None = None) -> SavedQuery | None:
    if version is None:
        version = session.scalar(select(func.max(SavedQuery.version)).where(SavedQuery.name == name))
    return None if version is None else session.get(SavedQuery, (name, version))


def all_queries(session: Session) -> list[SavedQuery]:
    return list(session.scalars(select(SavedQuery).order_by(SavedQuery.name, SavedQuery.version)))


def episodes_of_query(session: Session, query: SavedQuery) -> dict[str, str]:
    asked = select(SavedQueryEpisode.episode_id, SavedQueryEpisode.sha256)
    asked = asked.where(SavedQueryEpisode.name == query.name, SavedQueryEpisode.version == query.version)
    return {name: sha256 for name, sha256 in session.execute(asked.order_by(SavedQueryEpisode.episode_id))}


class ReleaseCounts(NamedTuple):
    """Numbers of recorded episodes: those that need no consent, that have everybody's consent, and that lack a consent."""

    without_people: int
    agreed: int
    withheld: int


def add_choice(session: Session, *, participant_id: int | None, may_release: bool, note: str, now: datetime) -> bool:
    """Store a release choice of a participant or (None) of all open play. Return False if there is no such participant."""
    if participant_id is not None and session.get(Participant, participant_id) is None:
        return False
    session.add(ReleaseChoice(participant_id=participant_id, may_release=may_release, note=note, created_at=now))
    session.flush()
    return True


def choices(session: Session) -> list[ReleaseChoice]:
    return list(session.scalars(select(ReleaseChoice).order_by(ReleaseChoice.id)))


def withheld_of(session: Session, ids: Sequence[str], *, own: Collection[int] = ()) -> set[str]:
    found: set[str] = set()
    for start in range(0, len(ids), IDS_AT_ONCE):
        some = list(ids[start : start + IDS_AT_ONCE])
        found.update(session.scalars(select(WITHHELD.c.episode_id).where(WITHHELD.c.episode_id.in_(some))))
    if found and own:
        played = select(EpisodeSeat.episode_id).where(EpisodeSeat.participant_id.in_(list(own)))
        found -= set(session.scalars(played))
    return found


def counts(session: Session) -> ReleaseCounts:
    withheld = EpisodeRow.id.in_(select(WITHHELD.c.episode_id))
    with_people = (
        select(EpisodeSeat.episode_id)
        .where(EpisodeSeat.episode_id == EpisodeRow.id, EpisodeSeat.actor_kind == "human")
        .exists()
    )
    state = case((withheld, "withheld"), (with_people, "agreed"), else_="without_people")
    query = select(state, func.count()).where(EpisodeRow.frames != UPLOADED).group_by(state)
    found = {name: count for name, count in session.execute(query)}
    return ReleaseCounts(**{name: found.get(name, 0) for name in ReleaseCounts._fields})
