"""E-mail addresses that take part in a study's raffle: apart from everything that was played."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import select
from sqlalchemy.orm import Session

from interplay.store.models import Enrolment, RaffleEntry


def add_entry(session: Session, id: str, study: str, address: str, enrolment_id: str) -> bool:
    """Enter an address, once; and note that this visit has entered, not with which address.

    Returns:
        False if the visit has entered before; then nothing is written.
    """
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
    """Everybody who takes part, in the order of their random ids, which is nobody's order of coming."""
    return list(session.scalars(select(RaffleEntry).where(RaffleEntry.study == study).order_by(RaffleEntry.id)))


def is_drawn(session: Session, study: str) -> bool:
    """Whether the winners of a study were drawn."""
    drawn = select(RaffleEntry.id).where(RaffleEntry.study == study, RaffleEntry.seed.is_not(None))
    return session.scalar(select(drawn.exists())) or False


def note_draw(session: Session, known: Collection[RaffleEntry], winners: Collection[str], seed: int) -> None:
    """Write down a draw."""
    for entry in known:
        entry.seed, entry.has_won = seed, entry.id in winners
    session.flush()


def erase_addresses(session: Session, study: str) -> int:
    """Erase the addresses of a study; ids and the draw stay. Returns how many there were."""
    known = [entry for entry in entries(session, study) if entry.address is not None]
    for entry in known:
        entry.address = None
    session.flush()
    return len(known)
