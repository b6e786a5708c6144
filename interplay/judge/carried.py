"""`CarriedOn`: what follows from the log of answers, without reading it from the start each time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from sqlalchemy.orm import Session

from interplay.store import judging as store

Value = TypeVar("Value")


class News(NamedTuple):
    """Answers behind the last one a value was made from, and the state of the log they were read at."""

    state: store.LogState
    answers: tuple[store.LoggedAnswer, ...]


class CarriedOn(Generic[Value]):
    """A value made from the answers that count, carried on from the last one seen. Not safe to share between threads, but for
    `news`.

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

    def news(self, session: Session) -> News | None:
        """What there is to carry on with, for `take`: another thread may change the value meanwhile, so that nobody waits for
        the database. None if the value has to be made anew, which is `current`'s.
        """
        known = self._state
        if known.last_sequence == 0:
            return None
        news = News(*store.log_news(session, known.last_sequence))
        return news if news.state.revision == known.revision else None

    @property
    def value(self) -> Value:
        """The value after the last answer that was taken into account."""
        return self._value

    def take(self, news: News) -> Value:
        """The value after these answers, or after later ones."""
        if news.state.revision == self._state.revision:  # or it was made anew since they were read
            for answer in news.answers:
                if answer.sequence > self._state.last_sequence:
                    self._add(self._value, answer)
                    self._state = self._state._replace(last_sequence=answer.sequence)
            self._state = self._state._replace(last_sequence=max(news.state.last_sequence, self._state.last_sequence))
        return self._value

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
