"""Participants: people who played or judged, found by the random key in their cookie."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from interplay.store.models import Participant


def participant_by_key(session: Session, key: str) -> Participant | None:
    """The participant whose cookie holds this key."""
    return session.scalar(select(Participant).where(Participant.key == key))


def add_participant(session: Session, key: str, now: datetime) -> Participant:
    """A new participant; its id is set when this returns."""
    participant = Participant(key=key, created_at=now)
    session.add(participant)
    session.flush()
    return participant
