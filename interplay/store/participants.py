"""Participants: people who played or judged, found by the random key in their cookie, or by what a platform calls them."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from interplay.store.models import Participant


def participant_by_key(session: Session, key: str) -> Participant | None:
    """The participant whose cookie holds this key."""
    return session.scalar(select(Participant).where(Participant.key == key))


def participant_by_worker(session: Session, channel: str, worker: str) -> Participant | None:
    """The participant a channel calls so, whichever study or assignment they come with."""
    return session.scalar(select(Participant).where(Participant.channel == channel, Participant.worker == worker))


def add_participant(
    session: Session, key: str, now: datetime, *, channel: str | None = None, worker: str | None = None
) -> Participant:
    """A new participant; its id is set when this returns."""
    participant = Participant(key=key, created_at=now, channel=channel, worker=worker)
    session.add(participant)
    session.flush()
    return participant


def judge_name(participant_id: int) -> str:
    """What matches and answers call a participant.

    >>> judge_name(7)
    'participant-7'
    """
    return f"participant-{participant_id}"
