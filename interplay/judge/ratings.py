"""Ratings as of now, computed from the log of answers and carried on from the last answer seen."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.orm import Session

from interplay.judge.policies import Evidence
from interplay.rank import Comparison, TaskStandings
from interplay.store import judging as store


class Ratings:
    """A cache of the standings after the log's last answer that counts.

    The log alone is truth. Answers are only ever added and become visible in the order of their sequence numbers
    (`store.judging.lock`), so carrying on from the last number seen gives the same as starting anew. Where answers of before
    begin or cease to count, in this process or another, the log's revision changes and everything is computed anew.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._forget(store.LogState(0, (0, 0)))

    def _forget(self, state: store.LogState) -> None:
        self._standings = TaskStandings()
        self._evidence: defaultdict[str, Evidence] = defaultdict(Evidence)
        self._num_in_study: Counter[str] = Counter()
        self._state = store.LogState(0, state.revision)

    @contextmanager
    def current(self, session: Session) -> Iterator[TaskStandings]:
        """The standings after the last answer `session` can see; no other thread changes them inside the block."""
        with self._lock:
            self._catch_up(session)
            yield self._standings

    def evidence(self, task: str) -> Evidence:
        """The same answers, of one task, as matchmaking needs them; only inside the block of `current`."""
        return self._evidence[task]

    def num_in_study(self, session: Session, study: str) -> int:
        """How many answers of a study count."""
        with self._lock:
            self._catch_up(session)
            return self._num_in_study[study]

    def _catch_up(self, session: Session) -> None:
        state = store.log_state(session)
        if state.revision != self._state.revision:
            self._forget(state)
        if state.last_sequence > self._state.last_sequence:
            for answer in store.answers(session, after=self._state.last_sequence):
                compared = comparison(answer)
                self._standings.add(compared)
                self._evidence[answer.task].add(compared.left, compared.right, compared.outcome)
                if answer.study is not None:
                    self._num_in_study[answer.study] += 1
                # Each statement of PostgreSQL sees what was added since the one before: count what was really read.
                self._state = store.LogState(answer.sequence, self._state.revision)
            self._state = store.LogState(max(state.last_sequence, self._state.last_sequence), self._state.revision)


def comparison(answer: store.LoggedAnswer) -> Comparison:
    """What an answer of the log tells the ratings."""
    # The log holds checked outcomes only, see judge/form.py.
    return Comparison(answer.left, answer.right, answer.outcome, answer.task, answer.judge, answer.created_at)  # type: ignore[arg-type]
