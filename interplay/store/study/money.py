"""Money of studies: the append-only ledgers of pay and of HITs, and the addresses in raffles."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from interplay.store.models import Enrolment, HitEvent, PayEvent, RaffleEntry


def add_pay_event(session: Session, *, now: datetime, **columns: Any) -> PayEvent:
    event = PayEvent(**columns, created_at=now)
    session.add(event)
    session.flush()
    return event


def pay_events(session: Session, study: str) -> list[PayEvent]:
    query = select(PayEvent).join(Enrolment, PayEvent.enrolment_id == Enrolment.id).where(Enrolment.study == study)
    return list(session.scalars(query.order_by(PayEvent.id)))


def pay_events_of(session: Session, enrolment_ids: Iterable[str]) -> list[PayEvent]:
    query = select(PayEvent).where(PayEvent.enrolment_id.in_(list(enrolment_ids)))
    return list(session.scalars(query.order_by(PayEvent.id)))


def add_entry(session: Session, id: str, study: str, address: str, enrolment_id: str) -> bool:
    """Enter an address into a raffle, unless it is there already; store that the visit has entered, but not with which address.
    Return False, and change nothing, if the visit has entered before."""
    enrolment = session.get_one(Enrolment, enrolment_id, populate_existing=True)
    if enrolment.has_entered_raffle:
        return False
    enrolment.has_entered_raffle = True
    known = session.scalar(select(RaffleEntry).where(RaffleEntry.study == study, RaffleEntry.address == address))
    if known is None:
        session.add(RaffleEntry(id=id, study=study, address=address))
    session.flush()
    return True


def entries(session: Session, study: str) -> list[RaffleEntry]:
    """Return all entries of a raffle in the order of their random ids, which does not show who came first."""
    return list(session.scalars(select(RaffleEntry).where(RaffleEntry.study == study).order_by(RaffleEntry.id)))


def is_drawn(session: Session, study: str) -> bool:
    drawn = select(RaffleEntry.id).where(RaffleEntry.study == study, RaffleEntry.seed.is_not(None))
    return session.scalar(select(drawn.exists())) or False


def note_draw(session: Session, known: Collection[RaffleEntry], winners: Collection[str], seed: int) -> None:
    for entry in known:
        entry.seed, entry.has_won = seed, entry.id in winners
    session.flush()


def erase_addresses(session: Session, study: str) -> int:
    known = [entry for entry in entries(session, study) if entry.address is not None]
    for entry in known:
        entry.address = None
    session.flush()
    return len(known)


def add_hit_event(session: Session, *, made: Mapping[str, str], now: datetime, **columns: Any) -> None:
    session.add(HitEvent(made=dict(made), **columns, created_at=now))
    session.flush()


def hit_events(session: Session, study: str) -> list[HitEvent]:
    return list(session.scalars(select(HitEvent).where(HitEvent.study == study).order_by(HitEvent.id)))
