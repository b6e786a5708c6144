"""Visits of studies of play: their variants and games, and the progress of each variant."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import String, cast, exists, func, literal, or_, select
from sqlalchemy.orm import Session

from interplay.store.episodes import measures_of
from interplay.store.models import Ban, Enrolment, EpisodeRow, PlaySession, SeatStatistic, TaskRow, VisitAnswer
from interplay.store.participants import PERSON

SEEN_WITHIN = timedelta(hours=1)
"""People whose last arrival, game or answer is older than this do not count as working, and their instance is free again."""


class PlayedSession(NamedTuple):
    """A seat that a player got in a visit.

    Attributes:
        session: The session of the seat; its `episode_id` is set from the first step on.
        episode: The episode; None before it is in the catalogue.
        frame_rate_hz: Frame rate of its task; None without an episode.
        measures: Statistics of the episode, for all seats and owners.
    """

    session: PlaySession
    episode: EpisodeRow | None
    frame_rate_hz: float | None
    measures: list[SeatStatistic]


class PartnersCompared(NamedTuple):
    """A person's answer that compares the two partners they have just played with.

    Attributes:
        first, second: Names of the partners in the recordings, in the order of the games.
        value: `first`, `same` or `second`.
        task: Task of the second game.
    """

    question: str
    first: str
    second: str
    value: str
    task: str
    participant_id: int
    answered_at: datetime


class VariantCount(NamedTuple):
    """Progress of a variant: seconds that count (of ended visits), number of ended visits, and number of people in it now."""

    accepted_s: float
    ended: int
    working: int


def give_variant(session: Session, enrolment_id: str, variant: str, reason: str) -> Enrolment:
    """Store the variant of a visit; if it has one already, that variant stays."""
    enrolment = session.get_one(Enrolment, enrolment_id, populate_existing=True)
    if enrolment.variant is None:
        enrolment.variant, enrolment.variant_reason = variant, reason
        session.flush()
    return enrolment


def accept(session: Session, enrolment_id: str, seconds: float) -> None:
    session.get_one(Enrolment, enrolment_id).accepted_s = seconds
    session.flush()


def bind(session: Session, session_id: str, enrolment_id: str) -> None:
    session.get_one(PlaySession, session_id).enrolment_id = enrolment_id
    session.flush()


def sessions_of(session: Session, enrolment_id: str) -> list[PlayedSession]:
    query = (
        select(PlaySession, EpisodeRow, TaskRow.definition)
        .join(EpisodeRow, EpisodeRow.id == PlaySession.episode_id, isouter=True)
        .join(TaskRow, TaskRow.content_hash == EpisodeRow.task_hash, isouter=True)
        .where(PlaySession.enrolment_id == enrolment_id)
        .order_by(PlaySession.created_at, PlaySession.id)
    )
    rows = session.execute(query).all()
    measures = measures_of(session, [episode.id for _, episode, _ in rows if episode is not None])
    return [
        PlayedSession(
            one,
            episode,
            None if task is None else task["frame_rate_hz"],
            [] if episode is None else measures.get(episode.id, []),
        )
        for one, episode, task in rows
    ]


def answered(session: Session, enrolment_id: str) -> set[str]:
    return set(session.scalars(select(VisitAnswer.form).where(VisitAnswer.enrolment_id == enrolment_id)))


def answers_of_study(session: Session, study: str) -> list[tuple[Enrolment, VisitAnswer]]:
    query = select(Enrolment, VisitAnswer).join(Enrolment, VisitAnswer.enrolment_id == Enrolment.id)
    return [(one, answer) for one, answer in session.execute(query.where(Enrolment.study == study).order_by(VisitAnswer.id))]


def partners_compared(session: Session) -> list[PartnersCompared]:
    """Return people's answers that compare the two partners they have just played with, from all studies, oldest first.
    Answers of banned people are left out."""
    judge = literal(PERSON) + cast(Enrolment.participant_id, String)
    is_banned = select(Ban.id).where(Ban.judge == judge, Ban.lifted_at.is_(None)).exists()
    query = (
        select(
            VisitAnswer.question, VisitAnswer.before_partner, VisitAnswer.partner, VisitAnswer.value, EpisodeRow.task,
            Enrolment.participant_id, VisitAnswer.created_at,
        )
        .join(Enrolment, VisitAnswer.enrolment_id == Enrolment.id)
        .join(EpisodeRow, VisitAnswer.episode_id == EpisodeRow.id)
        .where(VisitAnswer.before_partner.is_not(None), VisitAnswer.value.is_not(None), ~is_banned)
        .order_by(VisitAnswer.id)
    )  # fmt: skip
    rows: Any = session.execute(query)
    return [PartnersCompared(*row) for row in rows]


def last_game(session: Session, enrolment_id: str) -> datetime | None:
    times = select(func.max(PlaySession.created_at), func.max(PlaySession.ended_at))
    found = session.execute(times.where(PlaySession.enrolment_id == enrolment_id)).one()
    return max((time for time in found if time is not None), default=None)


def count_variants(session: Session, study: str, now: datetime) -> dict[str, VariantCount]:
    seen = now - SEEN_WITHIN
    plays = exists().where(
        PlaySession.enrolment_id == Enrolment.id, or_(PlaySession.created_at > seen, PlaySession.state == "playing")
    )
    is_working = Enrolment.outcome.is_(None) & (or_(Enrolment.arrived_at > seen, plays))
    query = (
        select(
            Enrolment.variant,
            func.coalesce(func.sum(Enrolment.accepted_s), 0.0),
            func.count().filter(Enrolment.outcome.is_not(None)),
            func.count().filter(is_working),
        )
        .where(Enrolment.study == study, Enrolment.variant.is_not(None))
        .group_by(Enrolment.variant)
    )
    return {
        variant: VariantCount(float(accepted_s or 0), ended, working)
        for variant, accepted_s, ended, working in session.execute(query)
        if variant is not None
    }


def variants_of(session: Session, study: str, participant_id: int, *, but: str) -> dict[str, int]:
    query = (
        select(Enrolment.variant, func.count())
        .where(
            Enrolment.study == study,
            Enrolment.participant_id == participant_id,
            Enrolment.variant.is_not(None),
            Enrolment.id != but,
        )
        .group_by(Enrolment.variant)
    )
    return {variant: count for variant, count in session.execute(query) if variant is not None}
