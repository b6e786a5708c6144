"""Ratings as of now, computed from the log of answers and carried on from the last answer seen."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from sqlalchemy.orm import Session

from interplay.judge.pairing import Evidence
from interplay.judge.ratings.carried import CarriedOn
from interplay.rank import Comparison, TaskStandings
from interplay.store import judging as store


class _EvidenceByTask(defaultdict[str, Evidence]):
    """Evidence of each task, which takes its ratings from the one folding of the log."""

    def __init__(self, standings: TaskStandings) -> None:
        super().__init__()
        self._standings = standings

    def __missing__(self, task: str) -> Evidence:
        self[task] = Evidence(standings=lambda: self._standings.task(task))
        return self[task]


@dataclass
class _Rated:
    """What is made of the answers.

    Attributes:
        standings: TrueSkill of every task and of all together.
        evidence: Task -> the same answers as matchmaking needs them.
        num_in_study: Study -> how many of them.
    """

    standings: TaskStandings = field(default_factory=TaskStandings)
    evidence: defaultdict[str, Evidence] = field(init=False)
    num_in_study: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.evidence = _EvidenceByTask(self.standings)

    def add(self, answer: store.LoggedAnswer) -> None:
        """Take one more answer into account."""
        compared = comparison(answer)
        self.standings.add(compared)
        self.evidence[answer.task].add(compared.left, compared.right, compared.outcome)
        if answer.study is not None:
            self.num_in_study[answer.study] += 1


class Ratings:
    """A cache of the standings after the log's last answer that counts; safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rated = CarriedOn(_Rated, _Rated.add)

    @contextmanager
    def current(self, session: Session) -> Iterator[TaskStandings]:
        """The standings after the last answer `session` can see; no other thread changes them inside the block."""
        with self._now(session) as rated:
            yield rated.standings

    @contextmanager
    def evidence(self, session: Session) -> Iterator[defaultdict[str, Evidence]]:
        """The same answers by task, as matchmaking needs them; no other thread changes them inside the block."""
        with self._now(session) as rated:
            yield rated.evidence

    def num_in_study(self, session: Session, study: str) -> int:
        """How many answers of a study count."""
        with self._now(session) as rated:
            return rated.num_in_study[study]

    @contextmanager
    def _now(self, session: Session) -> Iterator[_Rated]:
        news = self._rated.news(session)
        with self._lock:
            yield self._rated.current(session) if news is None else self._rated.take(news)


def comparison(answer: store.LoggedAnswer) -> Comparison:
    """What an answer of the log tells the ratings."""
    # The log holds checked outcomes only, see judge/form.py.
    return Comparison(answer.left, answer.right, answer.outcome, answer.task, answer.judge, answer.created_at)  # type: ignore[arg-type]
