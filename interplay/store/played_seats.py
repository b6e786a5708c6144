"""Play by owner: one row for each owner of each seat of each episode, with times and recruiting channels."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from interplay.store.episodes import UPLOADED, WITHHELD, measures_of
from interplay.store.models import Enrolment, EpisodeRow, EpisodeSeat, Participant, PlaySession


class PlayedSeat(NamedTuple):
    """Share of one owner in one seat of a recorded episode.

    Attributes:
        path: Its file relative to the data folder.
        kind: `human`, `agent` or `model`.
        num_steps, duration_s, total_reward: Of the steps in which they held it; the time is by the clock of the recording.
        channel: Through which a person came: that of the visit in a study, else the one they first came by; None of agents,
            and of people who opened the page by themselves.
        study, variant, visit: In a study of play, which one, what the visit played, and the visit's id.
        may_release: Whether everybody in the episode agreed that it may be released.
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
