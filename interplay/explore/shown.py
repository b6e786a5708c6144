"""Who was shown what a task of `explore` is made of before playing it: such a person is no first attempt any more."""

from __future__ import annotations

from datetime import datetime

from interplay.store import Database
from interplay.store.exposure import Exposure, add_exposures, exposures, tasks_known_to


class Shown:
    """Who was shown which task; safe to share between threads.

    Args:
        database: Where it is kept.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, participant: int, task: str, now: datetime) -> None:
        """Keep that a person was shown a task; the first time stays."""
        if task in self.known_to(participant):
            return
        with self._database.write() as session:
            add_exposures(session, [Exposure(participant, task, now)])

    def times(self) -> dict[tuple[int, str], datetime]:
        """Number of a participant and id of a task -> when they were first shown it, or a pair of it to judge."""
        first: dict[tuple[int, str], datetime] = {}
        with self._database.read() as session:
            for person, task, at in exposures(session):
                first[person, task] = min(at, first.get((person, task), at))
        return first

    def known_to(self, participant: int) -> set[str]:
        """Tasks that a person was shown, has judged or has played."""
        with self._database.read() as session:
            return tasks_known_to(session, participant)
