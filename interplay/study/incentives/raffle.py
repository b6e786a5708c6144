"""The raffle: winners that anybody can draw again from the seed, without trusting us or our random numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import NamedTuple


class Ticket(NamedTuple):
    """One entry with its number, 64 hex digits: SHA-256 of the text `seed:entry`. The smallest numbers win."""

    number: str
    entry: str


def draw(entries: Iterable[str], winners: int, seed: int) -> tuple[list[Ticket], list[Ticket]]:
    """Draw winners. To draw again by hand: `printf 'SEED:ENTRY' | sha256sum` for each entry, then sort.

    An entry that comes later or leaves changes nobody else's number, so that a draw can be explained entry by entry.

    Args:
        entries: Each once, in any order; of a study the ids of enrolments.
        winners: How many win; with fewer entries, all.
        seed: Made public with the result.
    Returns:
        The winners, best number first, and all the others likewise.
    Raises:
        ValueError: If an entry comes twice, or `winners` is less than 1.

    >>> [ticket.entry for ticket in draw(["ada", "bo", "cy"], 1, 7)[0]]
    ['cy']
    """
    names = list(entries)
    if len(set(names)) != len(names):
        raise ValueError("an entry comes twice; each has one ticket")
    if winners < 1:
        raise ValueError(f"at least one must win, got {winners}")
    tickets = sorted(Ticket(hashlib.sha256(f"{seed}:{name}".encode()).hexdigest(), name) for name in names)
    return tickets[:winners], tickets[winners:]
