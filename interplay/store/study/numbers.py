"""Numbers about studies: people, how many reach each stage, results of visits, and money. The database computes the sums."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, String, Subquery, case, cast, func, literal, select
from sqlalchemy.orm import Session, aliased

from interplay.store.judging import STANDS
from interplay.store.judging.bans import num_answers_of
from interplay.store.models import (
    Answer,
    Enrolment,
    EpisodeRow,
    EpisodeSeat,
    PayEvent,
    PlaySession,
    QuizAttempt,
    SeatStatistic,
    StudyVersion,
    TaskRow,
)
from interplay.store.study.studies import last_seen
from interplay.store.summary import Spread, spreads

WORKING = "working"
"""Outcome of a visit that has not ended."""


class PersonRow(NamedTuple):
    """One visit of one person.

    Attributes:
        games: Number of recorded games.
        play_s: Seconds of play in these games.
        quiz: Best share of correct boxes; None without an attempt.
        answers: Number of answers of this person in the study, in all visits.
        version: Hash of the study version that the person agreed to.
        due_cents: Cents earned or won, by the ledger.
        sent_cents: Cents sent for this visit.
        reward: State of the reward's payment, as in `PayEvent`; empty before it is sent.
        owed_cents: Cents still to be sent; set by `study.overview`.
    """

    enrolment: str
    participant: int
    channel: str
    arrived_at: datetime
    ended_at: datetime | None
    outcome: str
    variant: str | None
    accepted_s: float | None
    games: int
    play_s: float
    quiz: float | None
    attempts: int
    answers: int
    version: str
    due_cents: int
    sent_cents: int
    reward: str
    last_seen: datetime
    owed_cents: int = 0


class Funnel(NamedTuple):
    """Numbers of visits: all; those that passed the quiz (or had no quiz); those that played or judged; those that finished."""

    arrived: int
    passed: int
    began: int
    done: int


class MoneyRow(NamedTuple):
    """A sum over a part of the ledger; the newest state of each request counts. `kind` and `state` are those of `PayEvent`."""

    study: str
    channel: str
    currency: str
    kind: str
    state: str
    cents: int
    num: int


class UnpaidRewards(NamedTuple):
    """Finished visits of one version and variant whose reward has not been sent yet."""

    study: str
    channel: str
    version: str
    variant: str | None
    num: int


def count_people(session: Session, study: str, outcome: str | None = None) -> int:
    return session.scalar(select(func.count()).select_from(Enrolment).where(*_in(study, outcome))) or 0


def people(session: Session, study: str, *, outcome: str | None = None, limit: int, offset: int) -> list[PersonRow]:
    page = (
        select(Enrolment)
        .where(*_in(study, outcome))
        .order_by(Enrolment.arrived_at.desc(), Enrolment.id)
        .limit(limit)
        .offset(offset)
    )
    rows = list(session.scalars(page))
    ids = [row.id for row in rows]
    games = _games()
    played = {
        enrolment: (count, float(seconds or 0))
        for enrolment, count, seconds in session.execute(
            select(games.c.enrolment_id, func.count(EpisodeRow.id), func.sum(EpisodeRow.duration_s))
            .join(EpisodeRow, EpisodeRow.id == games.c.episode_id, isouter=True)
            .where(games.c.enrolment_id.in_(ids))
            .group_by(games.c.enrolment_id)
        )
    }
    quiz = {
        enrolment: (best, count)
        for enrolment, best, count in session.execute(
            select(QuizAttempt.enrolment_id, func.max(QuizAttempt.share), func.count())
            .where(QuizAttempt.enrolment_id.in_(ids))
            .group_by(QuizAttempt.enrolment_id)
        )
    }
    judges = {f"participant-{row.participant_id}" for row in rows}
    given = num_answers_of(session, judges, study)
    newest = _newest().where(PayEvent.enrolment_id.in_(ids)).subquery()
    rewards = {
        enrolment: state
        for enrolment, state in session.execute(select(newest.c.enrolment_id, newest.c.state).where(newest.c.kind == "reward"))
    }
    paid = {
        (enrolment, state): int(cents)
        for enrolment, state, cents in session.execute(
            select(newest.c.enrolment_id, newest.c.state, func.sum(newest.c.amount_cents)).group_by(
                newest.c.enrolment_id, newest.c.state
            )
        )
    }
    return [
        PersonRow(
            enrolment=row.id,
            participant=row.participant_id,
            channel=row.channel,
            arrived_at=row.arrived_at,
            ended_at=row.ended_at,
            outcome=row.outcome or WORKING,
            variant=row.variant,
            accepted_s=row.accepted_s,
            games=played.get(row.id, (0, 0.0))[0],
            play_s=played.get(row.id, (0, 0.0))[1],
            quiz=quiz.get(row.id, (None, 0))[0],
            attempts=quiz.get(row.id, (None, 0))[1],
            answers=given.get(f"participant-{row.participant_id}", 0),
            version=row.study_hash,
            due_cents=paid.get((row.id, "due"), 0),
            sent_cents=paid.get((row.id, "sent"), 0),
            reward=rewards.get(row.id, ""),
            last_seen=last_seen(session, row),
        )
        for row in rows
    ]


def funnel(session: Session, study: str) -> Funnel:
    played = (
        select(PlaySession.id).where(PlaySession.enrolment_id == Enrolment.id, PlaySession.episode_id.is_not(None)).exists()
    )
    judge = literal("participant-") + cast(Enrolment.participant_id, String)
    judged = select(Answer.sequence).where(Answer.study == Enrolment.study, Answer.judge == judge, STANDS).exists()
    version = aliased(StudyVersion)
    has_quiz = version.definition["quiz"].as_string().is_not(None)
    passed = select(QuizAttempt.id).where(QuizAttempt.enrolment_id == Enrolment.id, QuizAttempt.passed).exists()
    one = literal(1)
    query = (
        select(
            func.count(),
            func.sum(case((~has_quiz | passed | played | judged, one), else_=0)),
            func.sum(case((played | judged, one), else_=0)),
            func.sum(case((Enrolment.outcome == "done", one), else_=0)),
        )
        .join(version, version.content_hash == Enrolment.study_hash)
        .where(Enrolment.study == study)
    )
    return Funnel(*(int(count or 0) for count in session.execute(query).one()))


def arrivals(session: Session, study: str, since: datetime) -> dict[str, int]:
    outcome = func.coalesce(Enrolment.outcome, WORKING)
    query = select(outcome, func.count()).where(Enrolment.study == study, Enrolment.arrived_at >= since).group_by(outcome)
    return {name: count for name, count in session.execute(query)}


def money(session: Session, study: str | None = None) -> list[MoneyRow]:
    newest = _newest().subquery()
    parts = (Enrolment.study, Enrolment.channel, newest.c.currency, newest.c.kind, newest.c.state)
    query = select(*parts, func.sum(newest.c.amount_cents), func.count()).join(newest, newest.c.enrolment_id == Enrolment.id)
    if study is not None:
        query = query.where(Enrolment.study == study)
    query = query.group_by(*parts).order_by(*parts)
    return [MoneyRow._make((*row[:5], int(row[5]), row[6])) for row in session.execute(query)]


def unpaid_rewards(session: Session, study: str | None = None) -> list[UnpaidRewards]:
    is_unsent = _is_unsent(literal("reward:") + Enrolment.id)
    parts = (Enrolment.study, Enrolment.channel, Enrolment.study_hash, Enrolment.variant)
    query = select(*parts, func.count()).where(Enrolment.outcome == "done", is_unsent).group_by(*parts).order_by(*parts)
    return [UnpaidRewards(*row) for row in session.execute(query if study is None else query.where(Enrolment.study == study))]


def unpaid_dues(session: Session, outcomes: Collection[str], study: str | None = None) -> dict[tuple[str, str, str], int]:
    """Map (study, channel, currency) to the cents that visits with these outcomes have earned or won and not received yet."""
    due = aliased(PayEvent)
    parts = (Enrolment.study, Enrolment.channel, due.currency)
    query = select(*parts, func.sum(due.amount_cents)).join(due, due.enrolment_id == Enrolment.id)
    query = query.where(
        due.state == "due", Enrolment.outcome.in_(outcomes), _is_unsent(literal("pay:") + due.request)
    ).group_by(*parts)
    found = session.execute(query if study is None else query.where(Enrolment.study == study))
    return {(name, channel, currency): int(cents) for name, channel, currency, cents in found}


def raffle_lines(session: Session, study: str | None = None) -> list[tuple[str, int, str, str]]:
    query = select(Enrolment.study, Enrolment.participant_id, Enrolment.id, PayEvent.detail).join(
        PayEvent, PayEvent.enrolment_id == Enrolment.id
    )
    query = query.where(PayEvent.kind == "raffle", PayEvent.state == "due").order_by(PayEvent.id)
    found = session.execute(query if study is None else query.where(Enrolment.study == study))
    return [(name, participant, enrolment, detail) for name, participant, enrolment, detail in found]


def reached(session: Session, study: str, statistic: str) -> dict[str, Spread]:
    """Map each variant to the spread of a requirement's statistic over visits with games; the games of a visit are added up."""
    return spreads(session, _of_visits(study, statistic))


def num_met(session: Session, study: str, statistic: str, required: float) -> dict[str, tuple[int, int]]:
    values = _of_visits(study, statistic).subquery()
    met = func.sum(case((values.c.value >= required, 1), else_=0))
    query = select(values.c.part, met, func.count(values.c.value)).group_by(values.c.part)
    return {variant: (int(reach or 0), count) for variant, reach, count in session.execute(query)}


def _of_visits(study: str, statistic: str) -> Any:
    """Return a query for `part` (variant) and `value` (a statistic, added up over the games) of each visit.
    The statistic has its name from `study.playing.games.statistics_of`."""
    value: ColumnElement[Any]
    name, _, count = statistic.partition(".")
    games = _games()
    query = (
        select(Enrolment.variant.label("part"))
        .join(games, games.c.enrolment_id == Enrolment.id)
        .join(EpisodeRow, EpisodeRow.id == games.c.episode_id)
        .join(
            EpisodeSeat,
            (EpisodeSeat.episode_id == EpisodeRow.id)
            & (EpisodeSeat.seat == games.c.seat)
            & (EpisodeSeat.participant_id == Enrolment.participant_id),
        )
        .where(Enrolment.study == study, Enrolment.variant.is_not(None))
        .group_by(Enrolment.id, Enrolment.variant)
    )
    if statistic == "games":
        value = func.count(EpisodeRow.id.distinct())
    elif statistic == "score":
        value = func.sum(EpisodeSeat.total_reward)
    elif statistic == "time":
        query = query.join(TaskRow, TaskRow.content_hash == EpisodeRow.task_hash)
        value = func.sum(EpisodeSeat.num_steps / TaskRow.definition["frame_rate_hz"].as_float())
    else:
        query = query.join(
            SeatStatistic,
            (SeatStatistic.episode_id == EpisodeSeat.episode_id)
            & (SeatStatistic.seat == EpisodeSeat.seat)
            & (SeatStatistic.actor == EpisodeSeat.actor)
            & (SeatStatistic.name == name),
        )
        value = func.sum(SeatStatistic.counts[count].as_float() if count else SeatStatistic.number)
    return query.add_columns(value.label("value"))


def _games() -> Subquery:
    """Return the games of visits, one row for each seat: a player who left and came back has two sessions, but one game."""
    seat = func.coalesce(PlaySession.seat, "player")
    parts = (PlaySession.enrolment_id, PlaySession.episode_id, seat)
    query = select(*parts[:2], seat.label("seat"), func.max(PlaySession.created_at).label("began_at"))
    return query.where(PlaySession.enrolment_id.is_not(None)).group_by(*parts).subquery()


def _is_unsent(request: ColumnElement[str]) -> ColumnElement[bool]:
    """Return a condition: a payment was neither sent nor claimed, because it is new or the platform has refused it."""
    paid = aliased(PayEvent)
    state = select(paid.state).where(paid.request == request).order_by(paid.id.desc()).limit(1).scalar_subquery()
    return func.coalesce(state, "failed") == "failed"


def _newest() -> Any:
    later = aliased(PayEvent)
    newest = select(func.max(later.id)).where(later.request == PayEvent.request).scalar_subquery()
    return select(PayEvent).where(PayEvent.id == newest)


def _in(study: str, outcome: str | None) -> tuple[ColumnElement[bool], ...]:
    if outcome is None:
        return (Enrolment.study == study,)
    return (Enrolment.study == study, func.coalesce(Enrolment.outcome, WORKING) == outcome)
