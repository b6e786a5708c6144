"""`CarriedOn`: what follows from the log of answers, without reading it from the start each time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from sqlalchemy.orm import Session

from interplay.store import judging as store

Value = TypeVar("Value")


class CarriedOn(Generic[Value]):
    """A value made from the answers that count, carried on from the last one seen. Not safe to share between threads.

    The log alone is truth. Answers are only ever added and become visible in the order of their sequence numbers
    (`store.judging.lock`), so carrying on from the last number seen gives the same as starting anew. Where answers of before
    begin or cease to count, in this process or another, the log's revision changes and the value is made anew.

    Args:
        new: Makes the value of an empty log.
        add: Takes one more answer into account.
    """

    def __init__(self, new: Callable[[], Value], add: Callable[[Value, store.LoggedAnswer], None]) -> None:
        self._new, self._add = new, add
        self.forget()

    def forget(self, revision: store.LogRevision = (0, 0)) -> None:
        """Start anew."""
        self._value = self._new()
        self._state = store.LogState(0, revision)

    def current(self, session: Session) -> Value:
        """The value after the last answer `session` can see, or after later ones."""
        state = store.log_state(session)
        if state.revision < self._state.revision:  # an older look at the database; revisions only grow
            return self._value
        if state.revision > self._state.revision:
            self.forget(state.revision)
        if state.last_sequence > self._state.last_sequence:
            for answer in store.answers(session, after=self._state.last_sequence):
                self._add(self._value, answer)
                # Each statement of PostgreSQL sees what was added since the one before: count what was really read.
                self._state = store.LogState(answer.sequence, state.revision)
            self._state = store.LogState(max(state.last_sequence, self._state.last_sequence), state.revision)
        return self._value
