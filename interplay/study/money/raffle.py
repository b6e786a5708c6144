"""`RaffleEntries`: the raffle of a study whose link is sent by e-mail.

Addresses are stored apart from all games: nothing links an address to a visit. The visit only notes that it has entered, so
that it enters once. After the draw a command erases the addresses; the ids of the entries stay, so that anybody can repeat the
draw.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from interplay.store import Database, Enrolment
from interplay.store.locks import lock
from interplay.store.study import money as store
from interplay.study.errors import StudyError
from interplay.study.studies import OpenedStudy, Studies

MAX_ADDRESS_CHARS = 254
_ADDRESS = re.compile(r"[^\s@<>\"(),:;\\\[\]]{1,64}@(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.)+[^\W\d_]{2,63}")


class AddressError(StudyError):
    """The text is not an e-mail address, or the visit has entered before."""


@dataclass(frozen=True)
class DrawnAddresses:
    """The result of a raffle among addresses; with the ids of all entries and the seed, anybody can repeat the draw.
    Winners are pairs (id, address), smallest number first; an erased address is replaced by None."""

    seed: int
    entries: tuple[str, ...]
    winners: tuple[tuple[str, str | None], ...]
    is_new: bool

    def to_json(self) -> dict[str, Any]:
        winners = [{"entry": entry, "address": address} for entry, address in self.winners]
        return {"seed": self.seed, "entries": list(self.entries), "winners": winners, "is_new": self.is_new}


class RaffleEntries:
    """The raffle addresses of one database."""

    def __init__(self, database: Database, studies: Studies) -> None:
        self._database = database
        self._studies = studies

    def may_enter(self, enrolment: Enrolment) -> bool:
        """Return whether a person may enter: came by e-mail, has finished, has not entered before, and nothing was drawn
        yet."""
        with self._database.look() as session:
            return (
                _has_finished(enrolment) and not enrolment.has_entered_raffle and not store.is_drawn(session, enrolment.study)
            )

    def enter(self, enrolment: Enrolment, typed: str) -> None:
        """Store an address and, separately, the note that this visit has entered (AddressError if it may not).
        An address that is already stored is not stored again, so that taking part twice does not increase the chance."""
        address = read_address(typed)
        with self._database.write() as session:
            lock(session, "study", enrolment.study)  # nobody enters while it is drawn
            may_enter = _has_finished(enrolment) and not store.is_drawn(session, enrolment.study)
            if not (may_enter and store.add_entry(session, secrets.token_hex(12), enrolment.study, address, enrolment.id)):
                raise AddressError("this visit has entered the raffle already, or the draw is over")

    def draw(self, study: str, *, seed: int | None = None) -> DrawnAddresses:
        """Draw the winners among the addresses of a study, once, and write seed and winners.

        Raises:
            NotFoundError: If no such study was opened here.
            StudyError: If it has no raffle or no entries, is open, or was drawn before with another seed.
        """
        opened = self._studies.get(study)
        raffle = None if opened.study.play is None else opened.study.play.raffle
        if raffle is None:
            raise StudyError(f"{study} has no raffle\nRemedy: add [raffle] with winners and prize; open it again.")
        if opened.is_open:
            raise StudyError(f"{study} is open, and people may still enter\nClose it first:  interplay study close {study}")
        with self._database.write() as session:
            lock(session, "study", study)
            known = store.entries(session, study)
            before = next((one.seed for one in known if one.seed is not None), None)
            if before is not None and seed not in (None, before):
                raise StudyError(f"the raffle of {study} was drawn before, with the seed {before}")
            if not known:
                raise StudyError(f"nobody has left an address in {study}, so nobody can win")
            chosen = before if before is not None else secrets.randbelow(2**31) if seed is None else seed
            # As many as were drawn before, whatever the study's file says by now.
            number = raffle.winners if before is None else sum(one.has_won for one in known)
            tickets = draw([one.id for one in known], number, chosen)[0]
            if before is None:
                store.note_draw(session, known, {one.entry for one in tickets}, chosen)
            addresses = {one.id: one.address for one in known}
            winners = tuple((one.entry, addresses[one.entry]) for one in tickets)
            return DrawnAddresses(chosen, tuple(addresses), winners, before is None)

    def forget(self, study: str) -> int:
        """Erase the addresses of a study after its draw and return their number.
        Raises NotFoundError if no such study was opened here, and StudyError before the draw."""
        self._studies.get(study)
        with self._database.write() as session:
            lock(session, "study", study)
            if store.entries(session, study) and not store.is_drawn(session, study):
                raise StudyError(
                    f"{study} was not drawn yet; without the addresses nobody could be told\n"
                    f"Draw first:  interplay study raffle {study}"
                )
            return store.erase_addresses(session, study)


def _has_finished(enrolment: Enrolment) -> bool:
    return enrolment.channel == "email" and enrolment.outcome == "done"


def has_addresses(opened: OpenedStudy) -> bool:
    return "email" in opened.study.channels


def read_address(typed: str) -> str:
    """Read an e-mail address and return it in one spelling (AddressError if it cannot be one).

    >>> read_address("  Ada@Lab.Example ")
    'ada@lab.example'
    """
    address = typed.strip()
    if len(address) > MAX_ADDRESS_CHARS or not address.isprintable() or not _ADDRESS.fullmatch(address):
        raise AddressError("this is not an e-mail address; an address looks like ada@lab.example")
    return address.lower()  # not casefold, which makes another address of one with an ß


class Ticket(NamedTuple):
    """One entry with its number: 64 hex digits, the SHA-256 of the text `seed:entry`. The smallest numbers win."""

    number: str
    entry: str


def draw(entries: Iterable[str], winners: int, seed: int) -> tuple[list[Ticket], list[Ticket]]:
    """Draw winners; if there are fewer entries, all win. Return the winners and the other entries, smallest numbers first.

    To repeat a draw by hand, run `printf 'SEED:ENTRY' | sha256sum` for each entry and sort. An entry that is added or removed
    does not change the numbers of other entries, so that a draw can be explained entry by entry.

    Raises:
        ValueError: If an entry occurs twice, or `winners` is below 1.

    >>> [ticket.entry for ticket in draw(["ada", "bo", "cy"], 1, 7)[0]]
    ['cy']
    """
    names = list(entries)
    if len(set(names)) != len(names):
        raise ValueError("an entry occurs twice; it can have only one ticket")
    if winners < 1:
        raise ValueError(f"the number of winners must be at least 1, got {winners}")
    tickets = sorted(Ticket(hashlib.sha256(f"{seed}:{name}".encode()).hexdigest(), name) for name in names)
    return tickets[:winners], tickets[winners:]
