"""Published rows without what leads back to the person who answered."""

from __future__ import annotations

import json
from typing import Any

_TELLING = ("assignment", "hitid", "hit_id", "submitto", "submit_to", "session", "cookie", "referer", "username", "user_id")
"""Parts of names of fields that lead back to a person, or to their work on a recruiting platform."""
_LONG_ENOUGH = 6
"""Ids shorter than this are replaced where they stand alone only: `7` stands in many texts."""


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
