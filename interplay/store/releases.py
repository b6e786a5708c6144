"""Whether people's games may be released in data sets: what the operator wrote down, and how it stands.

The rule itself is the view `withheld_seats`, which queries of episodes use (`EpisodeQuery.released`). For every seat that a
person held, the first of these that says something counts: what the operator wrote down for this person; if a study gave the
seat, what they agreed to there; if it began while they were in a study in which they did not agree, no; otherwise what the
operator wrote down for open play. Where nothing is said the game stays.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import case, func, select
from sqlalchemy.orm import Session

from interplay.store.episodes import UPLOADED, WITHHELD
from interplay.store.models import EpisodeRow, EpisodeSeat, Participant, ReleaseChoice
from interplay.store.uploads import IDS_AT_ONCE


class ReleaseCounts(NamedTuple):
    """Recorded episodes by whether they may be released.

    Attributes:
        without_people: Nobody's consent is needed.
        agreed: Every person in them agreed.
        withheld: Somebody in them did not.
    """

    without_people: int
    agreed: int
    withheld: int


def add_choice(session: Session, *, participant_id: int | None, may_release: bool, note: str, now: datetime) -> bool:
    """Write down a choice: of a participant, or (None) of everybody's open play. False if there is no such participant."""
    if participant_id is not None and session.get(Participant, participant_id) is None:
        return False
    session.add(ReleaseChoice(participant_id=participant_id, may_release=may_release, note=note, created_at=now))
    session.flush()
    return True


def choices(session: Session) -> list[ReleaseChoice]:
    """Everything that was written down, in order."""
    return list(session.scalars(select(ReleaseChoice).order_by(ReleaseChoice.id)))


def withheld_of(session: Session, ids: Sequence[str], *, own: Collection[int] = ()) -> set[str]:
    """Those of these episodes that may not be released and that none of the participants `own` played."""
    found: set[str] = set()
    for start in range(0, len(ids), IDS_AT_ONCE):
        some = list(ids[start : start + IDS_AT_ONCE])
        found.update(session.scalars(select(WITHHELD.c.episode_id).where(WITHHELD.c.episode_id.in_(some))))
    if found and own:
        played = select(EpisodeSeat.episode_id).where(EpisodeSeat.participant_id.in_(list(own)))
        found -= set(session.scalars(played))
    return found


def counts(session: Session) -> ReleaseCounts:
    """How recorded episodes stand."""
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
