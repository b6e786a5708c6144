"""Play sessions: the seat that somebody was given, and what became of it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from interplay.store.models import PlaySession


def open_session(session: Session, *, now: datetime, **columns: Any) -> None:
    session.add(PlaySession(**columns, created_at=now))


def move_session(session: Session, id: str, *, seed: int, seat: str) -> None:
    row = session.get(PlaySession, id)
    if row is not None:
        row.seed, row.seat = seed, seat


def set_session_state(
    session: Session, id: str, state: str, *, episode_id: str | None = None, is_known: bool = False, now: datetime
) -> None:
    """Record that a session plays (`playing`) or is over (`ended`, `interrupted`). No `episode_id` leaves the earlier one,
    unless `is_known`: then there is no episode."""
    row = session.get(PlaySession, id)
    if row is None:
        return
    row.state = state
    if episode_id is not None or is_known:
        row.episode_id = episode_id
    if state in ("ended", "interrupted"):
        row.ended_at = now


WAITS_OF_DAYS = 7
MOST_WAITS = 200


def note_waited(session: Session, id: str, seconds: float, came: str) -> None:
    """Record how long somebody waited for other players, and who came: `person`, `agent` or `nobody`. The last call counts:
    after a long wait somebody may come, and leave before the game begins."""
    row = session.get(PlaySession, id)
    if row is not None:
        row.waited_s, row.came = seconds, came


def waits(session: Session, task: str, now: datetime) -> list[tuple[float, bool]]:
    """How long players of a task waited at this hour in the last days: seconds, and whether a person came; the newest first.
    An hour earlier or later counts as this hour."""
    found = session.execute(
        select(PlaySession.created_at, PlaySession.waited_s, PlaySession.came)
        .where(
            PlaySession.task == task,
            PlaySession.created_at >= now - timedelta(days=WAITS_OF_DAYS),
            PlaySession.came.is_not(None),
        )
        .order_by(PlaySession.created_at.desc())
    )
    near = ((seconds, came == "person") for at, seconds, came in found if _is_near(at, now) and seconds is not None)
    return [one for one, _ in zip(near, range(MOST_WAITS), strict=False)]


def _is_near(at: datetime, now: datetime) -> bool:
    apart = abs((at - now).total_seconds()) % 86400
    return min(apart, 86400 - apart) <= 3600


def open_sessions(session: Session) -> list[PlaySession]:
    """Sessions that are not over: of the server that runs, or left by one that was killed."""
    return session.query(PlaySession).filter(PlaySession.state.in_(("waiting", "playing"))).all()
