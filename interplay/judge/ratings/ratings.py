"""Ratings as of now and as they were, from one reading of the log of answers that continues after the last answer seen."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from sqlalchemy.orm import Session

from interplay.judge.pairing import Evidence
from interplay.judge.ratings.incremental import Incremental
from interplay.rank import Comparison, TaskStandings
from interplay.rank.ranking import Ranking
from interplay.store import judging as store
from interplay.store.judging.verdicts import model_answers

Judges = Literal["people", "models"]


@dataclass
class Track:
    """History of one agent's rating.

    Attributes:
        num_answers: The board's answers so far, after each answer about this agent.
        mu, sigma: TrueSkill after it.
    """

    num_answers: list[int] = field(default_factory=list)
    mu: list[float] = field(default_factory=list)
    sigma: list[float] = field(default_factory=list)

    def first(self, num_answers: int) -> Track:
        end = bisect_right(self.num_answers, num_answers)
        return Track(self.num_answers[:end], self.mu[:end], self.sigma[:end])


class History:
    """Answers in the order of the log, overall and by task, and TrueSkill after each, so that boards can be shown as they were.

    Attributes:
        standings: After all answers.
        answers: Task, or None for all -> its answers.
        tracks: Task, or None for all -> agent -> its track, in the order in which agents were first judged.
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


class _EvidenceByTask(defaultdict[str, Evidence]):
    """Evidence of each task, with ratings from the history's standings."""

    def __init__(self, standings: TaskStandings) -> None:
        super().__init__()
        self._standings = standings

    def __missing__(self, task: str) -> Evidence:
        self[task] = Evidence(standings=lambda: self._standings.task(task))
        return self[task]


@dataclass
class _Rated:
    """Values computed from people's answers: `evidence` by task for matchmaking, `num_in_study` by study."""

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
    """A cache of values that follow from the counting answers of the log; safe to share between threads."""

    def __init__(self) -> None:
        self._lock, self._models_lock = threading.Lock(), threading.Lock()
        self._rated = Incremental(_Rated, _Rated.add)
        self._models: tuple[store.LogState | None, History] = (None, History())

    @contextmanager
    def current(self, session: Session) -> Iterator[TaskStandings]:
        """The standings after the last answer `session` can see; no other thread changes them inside the block."""
        with self._now(session) as rated:
            yield rated.history.standings

    @contextmanager
    def evidence(self, session: Session) -> Iterator[defaultdict[str, Evidence]]:
        """The same answers by task, for matchmaking; no other thread changes them inside the block."""
        with self._now(session) as rated:
            yield rated.evidence

    @contextmanager
    def history(self, session: Session, judges: Judges = "people") -> Iterator[History]:
        """The answers of people, or of model judges; no other thread changes them inside the block."""
        if judges == "people":
            with self._now(session) as rated:
                yield rated.history
            return
        state = store.log_state(session)
        with self._models_lock:
            known_state, history = self._models
            if state != known_state:  # made anew: there are few, and they are rarely added
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
