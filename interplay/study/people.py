"""`People`: participants, who are identified by a random key in their cookie and are added when they first play or judge."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from interplay.store import Database
from interplay.store.locks import lock
from interplay.store.participants import add_participant, participant_by_key


class People:
    """The participants of one database."""

    def __init__(self, database: Database, clock: Callable[[], datetime] | None = None) -> None:
        self._database = database
        self._clock = clock or (lambda: datetime.now(UTC))

    def find(self, key: str) -> int | None:
        """Return the number of the participant with this key, or None. Writes nothing."""
        with self._database.look() as session:
            found = participant_by_key(session, key)
        return None if found is None else found.id

    def find_or_add(self, key: str) -> int:
        """Return the number of the participant with this key; add a participant for a new key.
        Two requests with the same key at the same time get the same number."""
        with self._database.write() as session:
            lock(session, "participant", key)
            return (participant_by_key(session, key) or add_participant(session, key, self._clock())).id
