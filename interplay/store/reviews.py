"""Reviews of instances: which were shown to whom, and what people answered. An answer that was changed is one more row."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from interplay.store.models import Enrolment, ReviewRow

SEEN_WITHIN = timedelta(hours=1)
"""Who has not answered for so long no longer holds an instance."""


def reviews_of_visit(session: Session, enrolment_id: str) -> list[ReviewRow]:
    """All rows of a visit, the oldest first."""
    query = select(ReviewRow).where(ReviewRow.enrolment_id == enrolment_id)
    return list(session.scalars(query.order_by(ReviewRow.id)))


def reviews_of_study(session: Session, study: str) -> list[tuple[Enrolment, ReviewRow]]:
    """All rows of all versions of a study, the oldest first."""
    query = select(Enrolment, ReviewRow).join(Enrolment, ReviewRow.enrolment_id == Enrolment.id)
    return [(one, row) for one, row in session.execute(query.where(Enrolment.study == study).order_by(ReviewRow.id))]


def count_reviewed(session: Session, enrolment_id: str) -> int:
    """Instances that were reviewed in a visit."""
    query = select(func.count(func.distinct(ReviewRow.instance)))
    return session.scalar(query.where(ReviewRow.enrolment_id == enrolment_id, ReviewRow.answered_at.is_not(None))) or 0


def is_held(row: ReviewRow, now: datetime) -> bool:
    """Whether somebody has an instance before them now."""
    return row.answered_at is None and now - row.served_at < SEEN_WITHIN
