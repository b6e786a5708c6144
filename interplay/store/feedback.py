"""What people wrote about pages and games."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from interplay.store.models import FeedbackRow


def add_feedback(session: Session, **columns: Any) -> FeedbackRow:
    """One more."""
    row = FeedbackRow(**columns)
    session.add(row)
    session.flush()
    return row


def feedback(session: Session, *, limit: int | None = None) -> list[FeedbackRow]:
    """Everything, the newest first."""
    return list(session.scalars(select(FeedbackRow).order_by(FeedbackRow.id.desc()).limit(limit)))


def count_since(session: Session, participant_id: int | None, since: datetime) -> int:
    """How many one participant has written since then; None counts everybody's."""
    query = select(func.count()).select_from(FeedbackRow).where(FeedbackRow.created_at >= since)
    if participant_id is not None:
        query = query.where(FeedbackRow.participant_id == participant_id)
    return session.scalar(query) or 0
