"""`Incremental`: a value made from the log of answers, without reading the log from its start each time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, NamedTuple, TypeVar

from sqlalchemy.orm import Session

from interplay.store import judging as store

Value = TypeVar("Value")


class News(NamedTuple):
    """Answers after the last one a value was made from, and the state of the log they were read at."""

    state: store.LogState
    answers: tuple[store.LoggedAnswer, ...]


class Incremental(Generic[Value]):
    """A value made from the answers that count. Only `news` may be called by several threads at once.

    The log alone is truth. Answers are only ever added and become visible in the order of their sequence numbers
    (`store.judging.lock`), so continuing after the last number seen gives the same as a new start. Where earlier answers start
    or stop counting, in this process or another, the log's revision changes and the value is computed again.

    Args:
        new: Makes the value of an empty log.
        add: Takes one more answer into account.
    """

    def __init__(self, new: Callable[[], Value], add: Callable[[Value, store.LoggedAnswer], None]) -> None:
        self._new, self._add = new, add
        self.forget()

    def forget(self) -> None:
        self._value, self._state = self._new(), store.LogState(0, (0, 0, 0))

    def news(self, session: Session) -> News | None:
        """Answers to continue with, for `take`. Another thread may change the value meanwhile, so that nobody waits for the
        database. None if there is much to read, or the value must be computed again: `current` does that, for one thread at a
        time."""
        known = self._state
        if known.last_sequence == 0:
            return None
        news = News(*store.log_news(session, known.last_sequence))
        return news if news.state.revision == known.revision and len(news.answers) < store.MAX_NEWS else None

    def take(self, news: News) -> Value:
        if news.state.revision == self._state.revision:  # or it was made anew since they were read
            self._continue(news.answers, news.state)
        return self._value

    def current(self, session: Session) -> Value:
        """The value after the last answer `session` can see, or after later ones."""
        known, state = self._state, store.log_state(session)
        if state.revision < known.revision:  # an older look at the database; revisions only grow
            return self._value
        if state.revision > known.revision or known.last_sequence == 0:
            value, last_sequence = self._new(), 0
            for answer in store.answers(session):
                self._add(value, answer)
                last_sequence = answer.sequence
            # At the end: an error leaves the old value, and nobody continues from half of the new one.
            self._value, self._state = value, state._replace(last_sequence=max(last_sequence, state.last_sequence))
        elif state.last_sequence > known.last_sequence:
            self._continue(store.answers(session, after=known.last_sequence), state)
        return self._value

    def _continue(self, answers: Iterable[store.LoggedAnswer], state: store.LogState) -> None:
        """Add answers that were not added before; `state` is the log's, read before them."""
        for answer in answers:
            if answer.sequence > self._state.last_sequence:
                self._add(self._value, answer)
                # Each statement of PostgreSQL sees what was added since the one before: count what was really read.
                self._state = self._state._replace(last_sequence=answer.sequence)
        self._state = self._state._replace(last_sequence=max(state.last_sequence, self._state.last_sequence))
