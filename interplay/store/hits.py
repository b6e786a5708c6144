"""What studies have on Mechanical Turk: a ledger of HITs and qualification types, only ever added to."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from interplay.store.models import HitEvent


def add_hit_event(
    session: Session,
    *,
    study: str,
    study_hash: str,
    kind: str,
    state: str,
    is_sandbox: bool,
    endpoint: str,
    request: str,
    made: Mapping[str, str],
    detail: str,
    now: datetime,
) -> None:
    """One more line of the ledger."""
    event = HitEvent(
        study=study,
        study_hash=study_hash,
        kind=kind,
        state=state,
        is_sandbox=is_sandbox,
        endpoint=endpoint,
        request=request,
        made=dict(made),
        detail=detail,
        created_at=now,
    )
    session.add(event)
    session.flush()


def hit_events(session: Session, study: str) -> list[HitEvent]:
    """The ledger of a study, in order."""
    return list(session.scalars(select(HitEvent).where(HitEvent.study == study).order_by(HitEvent.id)))
