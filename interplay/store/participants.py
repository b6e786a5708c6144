"""Participants: people who played or judged, found by the random key in their cookie, or by what a platform calls them."""

from __future__ import annotations

import re
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from interplay.store.models import Participant

PERSON = "participant-"
"""How names of people begin, a number after it."""
GIVEN_NAME = f"1 to 100 letters, digits or . _ - @ : + and spaces, not beginning with a space, a dot or {PERSON!r}"


def is_given_name(name: str) -> bool:
    """Whether an agent, or a program that plays or judges, may be called so: `GIVEN_NAME`.

    >>> is_given_name("BC-Baseline"), is_given_name("participant-7"), is_given_name(" x"), is_given_name("..")
    (True, False, False, False)
    """
    return re.fullmatch(r"[\w@:+-][\w.@:+ -]{0,99}", name) is not None and not name.startswith(PERSON)


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
    return f"{PERSON}{participant_id}"
