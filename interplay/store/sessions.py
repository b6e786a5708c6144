"""Play sessions: who was given which seat, and what became of it."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Session

from interplay.store.models import PlaySession


def open_session(
    session: Session,
    *,
    id: str,
    task: str,
    task_hash: str,
    seed: int,
    actor: str,
    actor_kind: str,
    participant_id: int | None,
    seat: str | None = None,
    now: datetime,
) -> None:
    """Enter a new session."""
    session.add(
        PlaySession(
            id=id,
            task=task,
            task_hash=task_hash,
            seed=seed,
            created_at=now,
            actor=actor,
            actor_kind=actor_kind,
            participant_id=participant_id,
            seat=seat,
        )
    )


def set_session_state(session: Session, id: str, state: str, *, episode_id: str | None = None, now: datetime) -> None:
    """Record that a session plays (`playing`) or is over (`ended`, `interrupted`)."""
    row = session.get(PlaySession, id)
    if row is None:
        return
    row.state = state
    if episode_id is not None:
        row.episode_id = episode_id
    if state in ("ended", "interrupted"):
        row.ended_at = now


def open_sessions(session: Session) -> list[PlaySession]:
    """Those that are not over: of the server that runs, or left by one that was killed."""
    return session.query(PlaySession).filter(PlaySession.state.in_(("waiting", "playing"))).all()
