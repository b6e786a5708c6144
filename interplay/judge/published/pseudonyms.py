"""Judges without names: the same judge gets the same pseudonym in every export of a data folder, and nobody can go back."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from pathlib import Path
from typing import Any

from interplay.errors import InterplayError

KEY_FILE = "pseudonyms.key"
_TELLING = ("assignment", "hitid", "hit_id", "submitto", "submit_to", "session", "cookie", "referer", "username", "user_id")
"""Parts of names of fields that lead back to a person, or to their work on a recruiting platform."""
_LONG_ENOUGH = 6
"""Ids shorter than this are replaced where they stand alone only: `7` stands in many texts."""


class Pseudonyms:
    """A keyed hash of judges' names.

    Args:
        key: Secret, kept in the data folder; without it nobody can try out names.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key

    def __call__(self, judge: str) -> str:
        """What to call a judge.

        >>> Pseudonyms(b"secret")("bedd/A1B2") == Pseudonyms(b"secret")("bedd/A1B2") != Pseudonyms(b"other")("bedd/A1B2")
        True
        """
        return f"judge-{hmac.new(self._key, judge.encode(), hashlib.sha256).hexdigest()[:16]}"


def open_pseudonyms(root: Path) -> Pseudonyms:
    """Those of a data folder; its key is made when missing.

    Raises:
        InterplayError: If the key cannot be read or made.
    """
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


def without_worker(item: Any, worker: str, pseudonym: str, name: str = "") -> Any:
    """A row with the pseudonym wherever the worker's id stands, and nothing that leads to their work on a platform."""
    if isinstance(item, dict):
        return {
            _without(key, worker, pseudonym): without_worker(value, worker, pseudonym, str(key).lower())
            for key, value in item.items()
        }
    if isinstance(item, list):
        return [without_worker(value, worker, pseudonym, name) for value in item]
    if any(part in name for part in _TELLING):
        return "N/A"
    if not isinstance(item, str | int) or isinstance(item, bool):
        return item
    if not isinstance(item, str):
        return pseudonym if str(item) == worker else item
    if item.startswith("{"):  # the published server kept a page's report as a text
        try:
            return json.dumps(without_worker(json.loads(item), worker, pseudonym), ensure_ascii=False)
        except ValueError:
            pass
    return _without(item, worker, pseudonym)


def _without(text: str, worker: str, pseudonym: str) -> str:
    """A text or a key with the pseudonym in the worker's place."""
    if text.strip() == worker:
        return pseudonym
    return text.replace(worker, pseudonym) if len(worker) >= _LONG_ENOUGH else text
