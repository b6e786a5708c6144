"""Compute present and earlier ratings from the log of answers. The log is read once; later, only new answers are read."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, Literal, NamedTuple, TypeVar

import numpy as np
from sqlalchemy.orm import Session

from interplay.judge.pairing import Evidence
from interplay.rank import Comparison, TaskStandings
from interplay.rank.ranking import Ranking
from interplay.store import judging as store
from interplay.store.judging.verdicts import model_answers

Judges = Literal["people", "models"]
Value = TypeVar("Value")


@dataclass
class Track:
    """History of one agent's rating.

    Attributes:
        num_answers: Number of answers on the whole board after each answer about this agent.
        mu, sigma: The agent's TrueSkill rating after each answer about it.
    """

    num_answers: list[int] = field(default_factory=list)
    mu: list[float] = field(default_factory=list)
    sigma: list[float] = field(default_factory=list)

    def first(self, num_answers: int) -> Track:
        end = bisect_right(self.num_answers, num_answers)
        return Track(self.num_answers[:end], self.mu[:end], self.sigma[:end])


class History:
    """Answers in the order of the log, overall and by task, with the TrueSkill ratings after each, to show earlier boards.

    Attributes:
        answers: Task (None for all tasks) -> its answers.
        tracks: Task (None for all tasks) -> agent -> its track, in the order in which agents were first judged.
        sequences: Sequence number of each answer.
    """

    def __init__(self) -> None:
        self.standings = TaskStandings()
        self.answers: dict[str | None, list[Comparison]] = {}
        self.tracks: dict[str | None, dict[str, Track]] = {}
        self.sequences: list[int] = []
        self._numbers: dict[str, list[int]] = {}

    def add(self, answer: Comparison, sequence: int = 0) -> None:
        self.standings.add(answer)
        self.sequences.append(sequence)
        self._numbers.setdefault(answer.task, []).append(len(self.sequences))
        for board, standings in ((None, self.standings.overall), (answer.task, self.standings.task(answer.task))):
            self.answers.setdefault(board, []).append(answer)
            tracks = self.tracks.setdefault(board, defaultdict(Track))
            for agent in (answer.left, answer.right):
                rating, track = standings.rating(agent), tracks[agent]
                track.num_answers.append(standings.num_answers)
                track.mu.append(rating.mu)
                track.sigma.append(rating.sigma)

    def num_answers(self, task: str | None, num_overall: int) -> int:
        return num_overall if task is None else bisect_right(self._numbers.get(task, []), num_overall)

    def ranking(self, task: str | None, num_answers: int) -> Ranking:
        found = {name: track.first(num_answers) for name, track in self.tracks.get(task, {}).items()}
        names = tuple(sorted(name for name, track in found.items() if track.mu))
        mu, sigma = (np.array([getattr(found[name], what)[-1] for name in names]) for what in ("mu", "sigma"))
        return Ranking.of_skills(names, mu, sigma)


class News(NamedTuple):
    """Answers that an `Incremental` value does not include yet, and the state of the log when they were read."""

    state: store.LogState
    answers: tuple[store.LoggedAnswer, ...]


class Incremental(Generic[Value]):
    """A value computed from the answers that count, and updated by new answers. Only `news` may run in several threads at once.

    The log determines the value. Answers are only added, and become visible in the order of their sequence numbers
    (`store.judging.append_answer`); therefore an update from the last number gives the same value as a new start. If earlier
    answers begin or cease to count, in any process, the log's revision changes and the value is computed again.

    Args:
        new: Function that makes the value of an empty log.
        add: Function that adds one answer to the value.
    """

    def __init__(self, new: Callable[[], Value], add: Callable[[Value, store.LoggedAnswer], None]) -> None:
        self._new, self._add = new, add
        self.forget()

    def forget(self) -> None:
        self._value, self._state = self._new(), store.LogState(0, (0, 0, 0))

    def news(self, session: Session) -> News | None:
        """Return the new answers, for `take`; None if there are too many, or if the value must be computed again.
        If None, call `current` instead, in one thread at a time. `news` needs no lock, so no thread waits."""
        known = self._state
        if known.last_sequence == 0:
            return None
        news = News(*store.log_news(session, known.last_sequence))
        return news if news.state.revision == known.revision and len(news.answers) < store.MAX_NEWS else None

    def take(self, news: News) -> Value:
        if news.state.revision == self._state.revision:  # else it was computed again since they were read
            self._continue(news.answers, news.state)
        return self._value

    def current(self, session: Session) -> Value:
        """Return the value after the last answer that `session` can see, or after a later answer."""
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
        """Add the answers that the value lacks. `state` is the state of the log, which was read before the answers."""
        for answer in answers:
            if answer.sequence > self._state.last_sequence:
                self._add(self._value, answer)
                # Each statement of PostgreSQL sees what was added since the one before: count what was really read.
                self._state = self._state._replace(last_sequence=answer.sequence)
        self._state = self._state._replace(last_sequence=max(state.last_sequence, self._state.last_sequence))


class _EvidenceByTask(defaultdict[str, Evidence]):
    """The evidence of each task, which takes its ratings from the history's standings."""

    def __init__(self, standings: TaskStandings) -> None:
        super().__init__()
        self._standings = standings

    def __missing__(self, task: str) -> Evidence:
        self[task] = Evidence(standings=lambda: self._standings.task(task))
        return self[task]


@dataclass
class _Rated:
    """Values computed from people's answers: history, evidence by task (for matchmaking), and number of answers by study."""

    history: History = field(default_factory=History)
    evidence: defaultdict[str, Evidence] = field(init=False)
    num_in_study: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.evidence = _EvidenceByTask(self.history.standings)

    def add(self, answer: store.LoggedAnswer) -> None:
        compared = comparison(answer)
        self.history.add(compared, answer.sequence)
        self.evidence[answer.task].add(compared.left, compared.right, compared.outcome)
        if answer.study is not None:
            self.num_in_study[answer.study] += 1


class Ratings:
    """Caches the values that are computed from the answers that count. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock, self._models_lock = threading.Lock(), threading.Lock()
        self._rated = Incremental(_Rated, _Rated.add)
        self._models: tuple[store.LogState | None, History] = (None, History())

    @contextmanager
    def current(self, session: Session) -> Iterator[TaskStandings]:
        """Yield the standings after the last answer that `session` can see. No other thread changes them inside the block."""
        with self._now(session) as rated:
            yield rated.history.standings

    @contextmanager
    def evidence(self, session: Session) -> Iterator[defaultdict[str, Evidence]]:
        """Yield each task's evidence from the answers that `session` can see. No other thread changes it inside the block."""
        with self._now(session) as rated:
            yield rated.evidence

    @contextmanager
    def history(self, session: Session, judges: Judges = "people") -> Iterator[History]:
        """Yield the history of the answers of people or of model judges. No other thread changes it inside the block."""
        if judges == "people":
            with self._now(session) as rated:
                yield rated.history
            return
        state = store.log_state(session)
        with self._models_lock:
            known_state, history = self._models
            if state != known_state:  # computed again: there are few, and they are rarely added
                history = History()
                for answer in model_answers(session):
                    history.add(comparison(answer), answer.sequence)
                self._models = (state, history)
            yield history

    def num_in_study(self, session: Session, study: str) -> int:
        with self._now(session) as rated:
            return rated.num_in_study[study]

    @contextmanager
    def _now(self, session: Session) -> Iterator[_Rated]:
        news = self._rated.news(session)
        with self._lock:
            yield self._rated.current(session) if news is None else self._rated.take(news)


def comparison(answer: store.LoggedAnswer) -> Comparison:
    # The log holds checked outcomes only, see judge/form.py.
    return Comparison(answer.left, answer.right, answer.outcome, answer.task, answer.judge, answer.created_at)  # type: ignore[arg-type]
