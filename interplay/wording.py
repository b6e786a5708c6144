"""How numbers of things are said."""

from __future__ import annotations


def amount(number: int, noun: str, plural: str | None = None) -> str:
    """A number of things, thousands apart.

    >>> amount(1, "episode"), amount(1200, "episode"), amount(0, "address", "addresses")
    ('1 episode', '1,200 episodes', '0 addresses')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
