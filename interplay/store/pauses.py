"""Pauses of studies, and of new games on the whole server: the newest word about each counts."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from interplay.store.models import Pause


def add_pause(session: Session, *, study: str | None, is_paused: bool, note: str, now: datetime) -> None:
    """Write down that a study (of None: the whole server) is paused, or goes on."""
    session.add(Pause(study=study, is_paused=is_paused, note=note, created_at=now))
    session.flush()


def current(session: Session) -> dict[str | None, Pause]:
    """What is paused now: id of a study, or None for the whole server."""
    newest = select(func.max(Pause.id)).group_by(Pause.study)
    return {one.study: one for one in session.scalars(select(Pause).where(Pause.id.in_(newest))) if one.is_paused}
