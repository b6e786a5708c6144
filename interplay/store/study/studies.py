"""Studies, their versions and their participants: opening and closing, pauses, enrolments, quiz attempts, reviews."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import bindparam, exists, func, select
from sqlalchemy.orm import Session, aliased

from interplay.store.judging import STANDS, release_open_of
from interplay.store.locks import lock
from interplay.store.models import (
    Answer,
    Ban,
    Enrolment,
    Match,
    Pause,
    QuizAttempt,
    ReviewRow,
    StudyRow,
    StudyVersion,
)
from interplay.store.participants import judge_name
from interplay.store.study.visits import SEEN_WITHIN, last_game

_ENROLMENT = select(*Enrolment.__table__.columns).where(Enrolment.id == bindparam("enrolment_id"))
_VISIT = aliased(Enrolment)
_SAME_PERSON = (_VISIT.study == Enrolment.study, _VISIT.participant_id == Enrolment.participant_id)
_ATTEMPTS = select(QuizAttempt).join(_VISIT, QuizAttempt.enrolment_id == _VISIT.id).where(*_SAME_PERSON)
_OTHER_DONE = select(_VISIT.study_hash).where(*_SAME_PERSON, _VISIT.id != Enrolment.id, _VISIT.outcome == "done")
_OTHER_VERSIONS_DONE = select(Enrolment.study_hash).where(
    Enrolment.study == bindparam("study"),
    Enrolment.participant_id == bindparam("participant_id"),
    Enrolment.id != bindparam("enrolment_id"),
    Enrolment.outcome == "done",
)
# Asked at every request of somebody enrolled, so it is one statement, built once.
_STANDING = select(
    exists().where(StudyRow.id == Enrolment.study, StudyRow.closed_at.is_(None)),
    exists().where(Ban.judge == bindparam("judge"), Ban.lifted_at.is_(None)),
    _ATTEMPTS.with_only_columns(func.count()).correlate(Enrolment).scalar_subquery(),
    _ATTEMPTS.where(QuizAttempt.passed).with_only_columns(func.count()).correlate(Enrolment).scalar_subquery(),
    select(func.count())
    .select_from(Answer)
    # The study not compared as it is: SQLite would take the index on studies, and read everybody's answers.
    .where(Answer.judge == bindparam("judge"), Answer.study.op("||")("") == Enrolment.study, STANDS)
    .correlate(Enrolment)
    .scalar_subquery(),
    Enrolment.outcome,
    _OTHER_DONE.correlate(Enrolment).exists(),
).where(Enrolment.id == bindparam("enrolment_id"))


class Standing(NamedTuple):
    """State of a person's part in a study.

    Attributes:
        is_banned: Whether the person's answers do not count at present.
        num_attempts, num_passed: Number of attempts at the quiz, and of passed ones, in all visits of the person.
        num_answers: Number of answers in the study, in all visits of the person, checks included.
        outcome: How this visit ended; None while it lasts.
        has_done_before: Whether another visit of the person ended as `done`.
    """

    is_open: bool
    is_banned: bool
    num_attempts: int
    num_passed: int
    num_answers: int
    outcome: str | None
    has_done_before: bool


def open_study(session: Session, *, study: str, content_hash: str, definition: Mapping[str, Any], now: datetime) -> StudyRow:
    """Open a study, open it again, or give it a new version; versions that people consented to stay."""
    if session.get(StudyVersion, content_hash) is None:
        session.add(StudyVersion(content_hash=content_hash, study=study, definition=dict(definition), created_at=now))
        session.flush()
    row = session.get(StudyRow, study)
    if row is None:
        row = StudyRow(id=study, content_hash=content_hash, opened_at=now)
        session.add(row)
    row.content_hash, row.closed_at = content_hash, None
    session.flush()
    return row


def close_study(session: Session, study: str, now: datetime) -> StudyRow | None:
    row = session.get(StudyRow, study)
    if row is not None and row.closed_at is None:
        row.closed_at = now
        session.flush()
    return row


def study_row(session: Session, study: str) -> StudyRow | None:
    return session.get(StudyRow, study)


def study_rows(session: Session) -> list[StudyRow]:
    return list(session.scalars(select(StudyRow).order_by(StudyRow.opened_at, StudyRow.id)))


def study_version(session: Session, content_hash: str) -> StudyVersion | None:
    return session.get(StudyVersion, content_hash)


def study_versions(session: Session, study: str) -> list[StudyVersion]:
    query = select(StudyVersion).where(StudyVersion.study == study)
    return list(session.scalars(query.order_by(StudyVersion.created_at, StudyVersion.content_hash)))


def all_versions(session: Session) -> list[StudyVersion]:
    return list(session.scalars(select(StudyVersion).order_by(StudyVersion.created_at, StudyVersion.content_hash)))


def add_enrolment(
    session: Session,
    *,
    enrolment_id: str,
    arrival: Mapping[str, Any],
    now: datetime,
    consented: bool,
    may_release: bool = False,
    **columns: Any,
) -> Enrolment:
    times = {"arrived_at": now, "consented_at": now if consented else None}
    enrolment = Enrolment(id=enrolment_id, arrival=dict(arrival), may_release=may_release, **times, **columns)
    session.add(enrolment)
    session.flush()
    return enrolment


def enrolment_by_id(session: Session, enrolment_id: str) -> Enrolment | None:
    """Return one enrolment as it is stored now; changes to the returned object are not stored."""
    row = session.connection().execute(_ENROLMENT, {"enrolment_id": enrolment_id}).first()
    return None if row is None else Enrolment(**row._asdict())


def standing(session: Session, enrolment: Enrolment) -> Standing:
    values = {"enrolment_id": enrolment.id, "judge": judge_name(enrolment.participant_id)}
    return Standing(*session.connection().execute(_STANDING, values).one())


def versions_of_other_visits_done(session: Session, enrolment: Enrolment) -> list[str]:
    """Return the study version of each other visit of this person to the study that ended as `done`."""
    values = {"study": enrolment.study, "participant_id": enrolment.participant_id, "enrolment_id": enrolment.id}
    return list(session.connection().scalars(_OTHER_VERSIONS_DONE, values))


def enrolments_of_assignment(session: Session, study: str, channel: str, assignment: str) -> list[Enrolment]:
    """Return all enrolments with this assignment; in the channel `open`, where assignments have no name, all enrolments."""
    query = select(Enrolment).where(Enrolment.study == study, Enrolment.channel == channel, Enrolment.assignment == assignment)
    return list(session.scalars(query.order_by(Enrolment.arrived_at, Enrolment.id)))


def enrolments_of_participant(session: Session, study: str, participant_id: int) -> list[Enrolment]:
    query = select(Enrolment).where(Enrolment.study == study, Enrolment.participant_id == participant_id)
    return list(session.scalars(query.order_by(Enrolment.arrived_at, Enrolment.id)))


def enrolments_of_study(session: Session, study: str) -> list[Enrolment]:
    query = select(Enrolment).where(Enrolment.study == study)
    return list(session.scalars(query.order_by(Enrolment.arrived_at, Enrolment.id)))


def count_enrolments(session: Session) -> dict[str, dict[str, int]]:
    outcome = func.coalesce(Enrolment.outcome, "working")
    counts: dict[str, dict[str, int]] = {}
    for study, name, count in session.execute(
        select(Enrolment.study, outcome, func.count()).group_by(Enrolment.study, outcome).order_by(Enrolment.study, outcome)
    ):
        counts.setdefault(study, {})[name] = count
    return counts


def lock_judges(session: Session, enrolment_ids: Iterable[str]) -> None:
    """Let only this transaction change matches of the people in these enrolments."""
    people = session.scalars(select(Enrolment.participant_id).where(Enrolment.id.in_(list(enrolment_ids))))
    lock(session, "judge", *map(judge_name, people))


def end_enrolment(session: Session, enrolment_id: str, outcome: str, now: datetime) -> Enrolment:
    """End an enrolment; if it has ended already, the first outcome stays. The judge's open match is released."""
    lock(session, "study", session.get_one(Enrolment, enrolment_id).study)
    # Or two ends at once would both find none, and the last one would stay.
    enrolment = session.get_one(Enrolment, enrolment_id, populate_existing=True)
    if enrolment.outcome is None:
        enrolment.outcome, enrolment.ended_at = outcome, now
        session.flush()
        lock_judges(session, [enrolment_id])
        release_open_of(session, judge_name(enrolment.participant_id), now, study=enrolment.study)
    return enrolment


def last_seen(session: Session, enrolment: Enrolment) -> datetime:
    """Return the time of a person's last heartbeat in a study: on arrival, at the quiz, from a match's page, or from a game."""
    seen = select(func.max(Match.seen_at)).where(
        Match.judge == judge_name(enrolment.participant_id), Match.study == enrolment.study
    )
    tried = select(func.max(QuizAttempt.created_at)).where(QuizAttempt.enrolment_id == enrolment.id)
    times = [enrolment.arrived_at, session.scalar(seen), session.scalar(tried), last_game(session, enrolment.id)]
    return max(time for time in times if time is not None)


def answer_times_by_judge(session: Session, study: str) -> dict[str, list[datetime]]:
    answers: dict[str, list[datetime]] = {}
    query = select(Answer.judge, Answer.created_at).where(Answer.study == study, STANDS)
    for judge, created_at in session.execute(query.order_by(Answer.sequence)):
        answers.setdefault(judge, []).append(created_at)
    return answers


def add_quiz_attempt(session: Session, *, now: datetime, **columns: Any) -> QuizAttempt:
    attempt = QuizAttempt(**columns, created_at=now)
    session.add(attempt)
    session.flush()
    return attempt


def quiz_attempts(session: Session, study: str, participant_id: int) -> list[QuizAttempt]:
    """Return a participant's quiz attempts in a study in order, over all enrolments: a new enrolment gives no new attempts."""
    query = (
        select(QuizAttempt)
        .join(Enrolment, QuizAttempt.enrolment_id == Enrolment.id)
        .where(Enrolment.study == study, Enrolment.participant_id == participant_id)
    )
    return list(session.scalars(query.order_by(QuizAttempt.id)))


def quiz_attempts_of_study(session: Session, study: str) -> list[QuizAttempt]:
    query = select(QuizAttempt).join(Enrolment, QuizAttempt.enrolment_id == Enrolment.id).where(Enrolment.study == study)
    return list(session.scalars(query.order_by(QuizAttempt.id)))


def add_pause(session: Session, *, study: str | None, is_paused: bool, note: str, now: datetime) -> None:
    session.add(Pause(study=study, is_paused=is_paused, note=note, created_at=now))
    session.flush()


def current_pauses(session: Session) -> dict[str | None, Pause]:
    newest = select(func.max(Pause.id)).group_by(Pause.study)
    return {one.study: one for one in session.scalars(select(Pause).where(Pause.id.in_(newest))) if one.is_paused}


def reviews_of_visit(session: Session, enrolment_id: str) -> list[ReviewRow]:
    query = select(ReviewRow).where(ReviewRow.enrolment_id == enrolment_id)
    return list(session.scalars(query.order_by(ReviewRow.id)))


def reviews_of_study(session: Session, study: str) -> list[tuple[Enrolment, ReviewRow]]:
    query = select(Enrolment, ReviewRow).join(Enrolment, ReviewRow.enrolment_id == Enrolment.id)
    return [(one, row) for one, row in session.execute(query.where(Enrolment.study == study).order_by(ReviewRow.id))]


def count_reviewed(session: Session, enrolment_id: str) -> int:
    query = select(func.count(func.distinct(ReviewRow.instance)))
    return session.scalar(query.where(ReviewRow.enrolment_id == enrolment_id, ReviewRow.answered_at.is_not(None))) or 0


def is_held(row: ReviewRow, now: datetime) -> bool:
    """Return whether a person who got an instance may still answer about it."""
    return row.answered_at is None and now - row.served_at < SEEN_WITHIN
