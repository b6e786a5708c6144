"""Codes of classes and nicknames of pupils: easy to type, and recognized in any case and spacing. Uses no database."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from functools import cache
from importlib import resources

import numpy as np

from interplay.study.errors import StudyError
from interplay.tables import parse_toml

LETTERS = "CDHJKMNPRTWXY34679"
"""Letters and digits of codes: no vowels, so that no code is a word, and no characters that look alike (0 O Q, 1 I L, 2 Z, 5 S,
8 B, F E, G, U V)."""
CODE_CHARS = 6
"""Length of a code. There are 18**6, or 34 million codes: with thirty open classes, one guess in a million is right."""
MAX_NICKNAME_CHARS = 20

_MARK = "\u0300"
_WORD = rf"(?:[^\W_]{_MARK}{{0,3}})+"
_NICKNAME = re.compile(rf"{_WORD}(?:[ '-]{_WORD})*")
"""Letters and digits, each with up to three combining marks: Hindi and Thai write vowels as marks, but many marks on one letter
would cover other text."""


class ClassError(StudyError):
    """A request to a class is invalid; the text is for pupils and teachers."""


def new_code(rng: np.random.Generator) -> str:
    """Return a new random code, without its dash.

    >>> new_code(np.random.default_rng(1))
    'RT39CH'
    """
    return "".join(LETTERS[place] for place in rng.integers(len(LETTERS), size=CODE_CHARS))


def shown_code(code: str) -> str:
    """Return a code with its dash.

    >>> shown_code("RT39CH")
    'RT3-9CH'
    """
    half = CODE_CHARS // 2
    return f"{code[:half]}-{code[half:]}"


def read_code(typed: str) -> str | None:
    """Read a typed code, in any case, with or without dashes and spaces; None if it cannot be a code.

    >>> read_code(" rt3 9ch"), read_code("RT3-9C"), read_code("RT3-9CO")
    ('RT39CH', None, None)
    """
    code = "".join(char for char in typed[:40].upper() if not char.isspace() and char not in "-–—._")
    return code if len(code) == CODE_CHARS and set(code) <= set(LETTERS) else None


def read_nickname(typed: str) -> str:
    """Read a typed nickname and return it in one spelling.

    Raises:
        ClassError: If it is empty or too long, or has characters other than letters, digits and spaces.

    >>> read_nickname("  amber   fox ")
    'amber fox'
    """
    nickname = " ".join(unicodedata.normalize("NFC", typed[:200]).split())
    if not nickname:
        raise ClassError("please choose a nickname")
    if len(nickname) > MAX_NICKNAME_CHARS:
        raise ClassError(f"a nickname has at most {MAX_NICKNAME_CHARS} characters; this one has {len(nickname)}")
    if not _NICKNAME.fullmatch("".join(_MARK if unicodedata.category(char)[0] == "M" else char for char in nickname)):
        raise ClassError("a nickname has letters and digits, with single spaces between them; please choose another one")
    return nickname


def alike(nickname: str) -> str:
    """Return a key that is equal for nicknames that people would confuse: in any case, with or without spaces."""
    return re.sub(r"[ '-]", "", unicodedata.normalize("NFKC", nickname).casefold())


def new_nickname(taken: Collection[str], rng: np.random.Generator) -> str:
    """Return a nickname that nobody in the class has: two words, and also a number if most pairs of words are taken.

    >>> new_nickname([], np.random.default_rng(3))
    'Silver Bee'
    """
    first, second = _words()
    have = {alike(one) for one in taken}
    for number in range(1, 10_000):
        name = f"{first[rng.integers(len(first))]} {second[rng.integers(len(second))]}"
        name += "" if number <= 20 else f" {number}"
        if alike(name) not in have:
            return name
    raise ClassError("no nickname is free in this class")


def is_offered(nickname: str) -> bool:
    """Return whether a nickname is one that `new_nickname` suggests, so that everybody may read it.

    >>> is_offered("Silver Bee"), is_offered("Silver Toad!")
    (True, False)
    """
    first, second = _words()
    parts = nickname.split(" ")
    return len(parts) in (2, 3) and parts[0] in first and parts[1] in second and all(part.isdigit() for part in parts[2:])


@cache
def _words() -> tuple[list[str], list[str]]:
    file = resources.files("interplay.study.classes") / "nicknames.toml"
    words = parse_toml(file.read_text(encoding="utf-8"), "nicknames.toml", StudyError)
    return words["first"], words["second"]
