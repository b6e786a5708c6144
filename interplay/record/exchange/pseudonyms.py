"""Pseudonyms: a person has the same pseudonym in every export of a data folder, and nobody can find the name from it."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from pathlib import Path

from interplay.errors import InterplayError
from interplay.store.participants import participant_number

KEY_FILE = "pseudonyms.key"


class Pseudonyms:
    """Hashes people's names with a secret key of the data folder; without the key nobody can try which name fits."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def __call__(self, judge: str) -> str:
        """Return the pseudonym of a judge.

        >>> Pseudonyms(b"secret")("bedd/A1B2") == Pseudonyms(b"secret")("bedd/A1B2") != Pseudonyms(b"other")("bedd/A1B2")
        True
        """
        return f"judge-{self._digest(judge)}"

    def player(self, name: str, kind: str = "human") -> str:
        """Return the pseudonym of a participant who played; names of other players stay as they are.

        The pseudonyms of a person as player and as judge have the same digits.

        >>> Pseudonyms(b"secret").player("random", "agent"), Pseudonyms(b"secret").player("participant-7")[:7]
        ('random', 'person-')
        """
        if kind != "human" or participant_number(name.removeprefix("imported/")) is None:
            return name
        return f"person-{self._digest(name)}"

    def _digest(self, name: str) -> str:
        return hmac.new(self._key, name.encode(), hashlib.sha256).hexdigest()[:16]


def open_pseudonyms(root: Path) -> Pseudonyms:
    """Return the pseudonyms of a data folder; a missing key is made."""
    path = root / "imports" / KEY_FILE
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            pass
        else:
            with os.fdopen(descriptor, "w") as file:
                file.write(secrets.token_hex(32))
        key = path.read_text().strip()
    except OSError as error:
        raise InterplayError(f"cannot use {path}: {error.strerror or error}\nIt holds the key of the pseudonyms.") from error
    if len(key) < 32:
        raise InterplayError(
            f"{path} holds no key\nRemove it to have a new one made; pseudonyms then differ from earlier exports."
        )
    return Pseudonyms(key.encode())
