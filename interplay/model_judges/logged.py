"""Judges that answer without having learnt from people, as the log knows them, measured against people's answers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from sqlalchemy.orm import Session

from interplay.model_judges.agreement_with_people import Agreement, agreement_with_people
from interplay.model_judges.episodes import Archive
from interplay.model_judges.task_judge import MODEL_PREFIX, has_learnt
from interplay.store.judging import LogState, log_state
from interplay.store.judging import model_judges as answers_store
from interplay.tasks import Question

SEED = 0
"""Of the draws behind the curve of answers saved: the same log gives the same figures on the page and in the terminal."""


class MeasuredJudge(NamedTuple):
    """A model judge of one task without a file of its own.

    Attributes:
        name, task: Its name, without `MODEL_PREFIX`, and the task.
        num_answers: That it gave.
        has_probabilities: Whether any of them says how likely it thinks each outcome.
        agreement: With people; None where people have answered about none of its pairs.
    """

    name: str
    task: str
    num_answers: int
    has_probabilities: bool
    agreement: Agreement | None


class LoggedJudges:
    """Model judges in the log that have not learnt from people's answers, each measured once until its task's log changes.

    Safe to share between threads.

    Args:
        questions: The form of a task.
    """

    def __init__(self, archive: Archive, questions: Callable[[str], Sequence[Question]]) -> None:
        self._archive, self._questions = archive, questions
        self._lock = threading.Lock()
        self._state: LogState | None = None
        self._judges: list[answers_store.LoggedJudge] = []
        self._measured: dict[tuple[str, str], tuple[LogState, MeasuredJudge]] = {}

    def measure(self, name: str | None = None) -> list[MeasuredJudge]:
        """All of them or those of one name, by name and task, against all of people's answers."""
        with self._archive.database.read() as session, self._lock:
            state = log_state(session)
            if state != self._state:
                self._state, self._judges = state, answers_store.logged_judges(session)
            found = []
            for judge in self._judges:
                short = judge.judge.removeprefix(MODEL_PREFIX)
                if name not in (None, short) or has_learnt(self._archive.root, short, judge.task):
                    continue
                key, state_of_task = (judge.judge, judge.task), LogState(judge.last_sequence, state.revision)
                if key not in self._measured or self._measured[key][0] != state_of_task:
                    self._measured[key] = state_of_task, self._measure(session, judge, short)
                found.append(self._measured[key][1])
            return found

    def _measure(self, session: Session, judge: answers_store.LoggedJudge, name: str) -> MeasuredJudge:
        opinions = answers_store.opinions(session, judge.judge, judge.task)
        people = answers_store.judged_pairs(session, judge.task)
        has_probabilities = any(one.probabilities is not None for one in opinions)
        rng = np.random.default_rng(SEED)
        agreement = agreement_with_people(opinions, people, self._questions(judge.task), rng)
        return MeasuredJudge(name, judge.task, judge.num_answers, has_probabilities, agreement)
