"""Ratings as of now, computed from the log of answers and carried on from the last answer seen."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.orm import Session

from interplay.rank import Comparison, TaskStandings
from interplay.store import judging as store


class Ratings:
    """A cache of the standings after the log's last answer.

    The log alone is truth. Answers are only ever added and become
    visible in the order of their sequence numbers (`store.judging.lock`), so carrying on from the last number seen gives
    the same as starting anew.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._standings = TaskStandings()
        self._last_sequence = 0

    @contextmanager
    def current(self, session: Session) -> Iterator[TaskStandings]:
        """The standings after the last answer `session` can see; no other thread changes them inside the block."""
        with self._lock:
            for answer in store.answers(session, after=self._last_sequence):
                self._standings.add(comparison(answer))
                self._last_sequence = answer.sequence
            yield self._standings


def comparison(answer: store.LoggedAnswer) -> Comparison:
    """What an answer of the log tells the ratings."""
    # The log holds checked outcomes only, see judge/form.py.
    return Comparison(answer.left, answer.right, answer.outcome, answer.task, answer.judge, answer.created_at)  # type: ignore[arg-type]
