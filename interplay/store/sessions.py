"""Play sessions: the seat that a player got, and how the session ended.
Also play by owner: one row for each owner of each seat of each episode, with times and recruiting channels."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session

from interplay.store.episodes import UPLOADED, WITHHELD, measures_of
from interplay.store.models import Enrolment, EpisodeRow, EpisodeSeat, Participant, PlaySession


def open_session(session: Session, *, now: datetime, **columns: Any) -> None:
    session.add(PlaySession(**columns, created_at=now))


def move_session(session: Session, id: str, *, game: str, seed: int, seat: str) -> None:
    row = session.get(PlaySession, id)
    if row is not None:
        row.game, row.seed, row.seat = game, seed, seat


def set_session_state(
    session: Session,
    id: str,
    state: str,
    *,
    node: str | None = None,
    episode_id: str | None = None,
    is_known: bool = False,
    now: datetime,
) -> None:
    """Store that a session plays (`playing`) or is over (`ended`, `interrupted`); with `node`, only if this server holds it.
    Without `episode_id` the earlier id stays, unless `is_known` is set: then there is no episode."""
    row = session.get(PlaySession, id)
    if row is None or node not in (None, row.node):
        return
    row.state = state
    if episode_id is not None or is_known:
        row.episode_id = episode_id
    if state in ("ended", "interrupted"):
        row.ended_at = now


OPEN = ("waiting", "playing")
"""States of a session that is not over."""
WAITS_OF_DAYS = 7
MOST_WAITS = 200


def note_waited(session: Session, id: str, seconds: float, came: str) -> None:
    """Store how long a player waited for others, and who came: `person`, `agent` or `nobody`.
    The last call counts, because a partner may come after a long wait and leave before the game begins."""
    row = session.get(PlaySession, id)
    if row is not None:
        row.waited_s, row.came = seconds, came


def waits(session: Session, task: str, now: datetime) -> list[tuple[float, bool]]:
    """Return how many seconds a task's players waited in the last days, and whether a person came; newest first.
    Only waits near this time of day are used: up to one hour earlier or later."""
    found = session.execute(
        select(PlaySession.created_at, PlaySession.waited_s, PlaySession.came)
        .where(
            PlaySession.task == task,
            PlaySession.created_at >= now - timedelta(days=WAITS_OF_DAYS),
            PlaySession.came.is_not(None),
        )
        .order_by(PlaySession.created_at.desc())
    )
    near = ((seconds, came == "person") for at, seconds, came in found if _is_near(at, now) and seconds is not None)
    return [one for one, _ in zip(near, range(MOST_WAITS), strict=False)]


def _is_near(at: datetime, now: datetime) -> bool:
    apart = abs((at - now).total_seconds()) % 86400
    return min(apart, 86400 - apart) <= 3600


LONGEST_GAME = timedelta(days=1)
"""Older sessions of another server can be closed: their seat tokens have expired long ago."""


def claim_sessions(session: Session, node: str, episodes: Collection[str], now: datetime) -> None:
    """Name this server in open sessions that no running server holds: those of earlier versions, which name none; those of
    `episodes`, whose journals it has; and those of a server that did not start again for a day."""
    nobodys = or_(PlaySession.node.is_(None), PlaySession.episode_id.in_(episodes), PlaySession.created_at < now - LONGEST_GAME)
    session.execute(update(PlaySession).where(PlaySession.state.in_(OPEN), nobodys).values(node=node))


def open_sessions(session: Session, node: str) -> list[PlaySession]:
    """Return the sessions of one server that are not over; at its start these are from its earlier run."""
    return session.query(PlaySession).filter(PlaySession.state.in_(OPEN), PlaySession.node == node).all()


class PlayedSeat(NamedTuple):
    """One owner's part in one seat of a recorded episode.

    Attributes:
        path: File of the episode, relative to the data folder.
        kind: `human`, `agent` or `model`.
        num_steps, duration_s, total_reward: Sums over the steps of this owner; the time is by the recording clock.
        channel: Recruiting channel of a person: that of the study's visit, else the first one; None for agents and for
            people who opened the page without a channel.
        study, variant, visit: In a study of play: the study, the variant that the visit played, and the visit's id.
        may_release: Whether all people in the episode agreed to its release.
        statistics: Name -> number, of this owner in this seat.
    """

    episode: str
    path: str
    task: str
    task_hash: str
    env: str
    seed: int
    created_at: datetime
    outcome: str
    seat: str
    actor: str
    kind: str
    participant_id: int | None
    num_steps: int
    duration_s: float
    total_reward: float
    channel: str | None
    study: str | None
    variant: str | None
    visit: str | None
    may_release: bool
    statistics: dict[str, float]


def played_seats(session: Session) -> list[PlayedSeat]:
    visits: dict[tuple[str | None, int | None], Enrolment] = {}
    given = select(PlaySession.episode_id, PlaySession.participant_id, Enrolment).join(
        Enrolment, Enrolment.id == PlaySession.enrolment_id
    )
    for episode, participant, enrolment in session.execute(given.where(PlaySession.episode_id.is_not(None))):
        visits[episode, participant] = enrolment
    query = (
        select(EpisodeSeat, EpisodeRow, Participant.channel)
        .join(EpisodeRow, EpisodeRow.id == EpisodeSeat.episode_id)
        .join(Participant, Participant.id == EpisodeSeat.participant_id, isouter=True)
        .where(EpisodeRow.frames != UPLOADED, EpisodeSeat.num_steps > 0)
        .order_by(EpisodeRow.created_at, EpisodeRow.id, EpisodeSeat.position)
    )
    rows = session.execute(query).all()
    withheld = set(session.scalars(select(WITHHELD.c.episode_id)))
    measures = measures_of(session, list(dict.fromkeys(episode.id for _, episode, _ in rows)))
    found = []
    for held, episode, channel in rows:
        visit = visits.get((episode.id, held.participant_id))
        numbers = {
            one.name: one.number
            for one in measures.get(episode.id, ())
            if (one.seat, one.actor) == (held.seat, held.actor) and one.number is not None
        }
        found.append(
            PlayedSeat(
                episode=episode.id,
                path=episode.path,
                task=episode.task,
                task_hash=episode.task_hash,
                env=episode.env,
                seed=episode.seed,
                created_at=episode.created_at,
                outcome=episode.outcome,
                seat=held.seat,
                actor=held.actor,
                kind=held.actor_kind,
                participant_id=held.participant_id,
                num_steps=held.num_steps,
                duration_s=episode.duration_s * held.num_steps / max(1, episode.num_steps),
                total_reward=held.total_reward,
                channel=channel if visit is None else visit.channel,
                study=None if visit is None else visit.study,
                variant=None if visit is None else visit.variant,
                visit=None if visit is None else visit.id,
                may_release=episode.id not in withheld,
                statistics=numbers,
            )
        )
    return found
