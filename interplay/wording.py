"""Words for counts, and the number of visible characters of a text."""

from __future__ import annotations

import re
import unicodedata

# They show nothing, though Unicode files them under letters, signs and marks: fillers, joiners, variation selectors.
BLANK = re.compile(r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")


def amount(number: int, noun: str, plural: str | None = None) -> str:
    """Return a count with its noun; commas separate the thousands.

    >>> amount(1, "episode"), amount(1200, "episode"), amount(0, "address", "addresses")
    ('1 episode', '1,200 episodes', '0 addresses')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def num_visible_chars(text: str) -> int:
    """Count the visible characters of a text: a run of spaces counts as one, and so does a run of marks over a letter.

    >>> num_visible_chars("  a\\u200b b \\n\\n c "), num_visible_chars("e\\u0301\\u0301\\u0301")
    (5, 2)
    """
    seen = (char for char in BLANK.sub("", text) if unicodedata.category(char)[0] != "C" or char.isspace())
    num, was_mark = 0, False
    for char in " ".join("".join(seen).split()):
        is_mark = unicodedata.category(char) in ("Mn", "Me")
        num += not (is_mark and was_mark)
        was_mark = is_mark
    return num
