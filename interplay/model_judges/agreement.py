"""Agreement of a judge with people: how often a judge's logged answer equals people's answers about the same two videos.

This is for judges that were not fitted to people's answers, such as a vision model. No answers are held out: each answer by
people is compared with the judge's answer about the same pair of episodes, if there is one. A judge that has learnt from these
answers would look better here than it is.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from interplay.model_judges import outcomes
from interplay.model_judges.calibration import FactorAgreement, people_agreement
from interplay.model_judges.outcomes import OUTCOMES, brier_scores, columns
from interplay.model_judges.saving import Contest, SavingPoint, answers_saved, saving_curve, virtual_wins
from interplay.model_judges.task_judge import MODEL_PREFIX, has_learnt
from interplay.rank.bias import Share, share
from interplay.record import Archive
from interplay.store.judging import LogState, log_state
from interplay.store.judging import model_judges as answers_store
from interplay.store.judging.model_judges import JudgedPair, LoggedOpinion
from interplay.tasks import Question

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Agreement:
    """Result of the comparison; fields that `Calibration` also has mean the same.

    Attributes:
        num_pairs: Number of pairs of episodes that both the judge and people answered.
        accuracy: Share of people's answers that equal the judge's; its interval treats answers as independent.
        side_accuracy: The same, only where both people and the judge named a side; 0.5 is chance.
        num_certain: Number of people's answers compared with a judge's answer without probabilities, which counts as certain.
        saving: As in `Calibration`; the judge's expectation about two agents counts as `VIRTUAL_ANSWERS` answers.
    """

    num_pairs: int
    num_answers: int
    accuracy: Share
    commonest: float
    side_accuracy: Share
    brier: float
    brier_reference: float
    num_certain: int
    people_agree: float | None
    num_people_pairs: int
    factors: tuple[FactorAgreement, ...]
    saving: tuple[SavingPoint, ...]
    answers_saved: int | None

    @property
    def is_better_than_commonest(self) -> bool:
        return self.accuracy.low is not None and self.accuracy.low > self.commonest

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def agreement_with_people(
    opinions: Sequence[LoggedOpinion], people: Sequence[JudgedPair], questions: Sequence[Question], rng: np.random.Generator
) -> Agreement | None:
    """Compare a judge's answers about one task with people's; return `None` if no pair of episodes has answers of both.

    If there are several `opinions` about a pair of episodes, the last one counts.
    """
    overall = outcomes.overall(one.pair for one in opinions)
    judged = {said.about: (said.answer, one) for said, one in zip(overall, opinions, strict=True)}
    said = [one for one in outcomes.overall(people) if one.about in judged]
    if not said:
        return None
    answers, shown = columns([one.answer for one in said]), columns([one.shown for one in said])
    opinion = columns([judged[one.about][0] for one in said])
    is_same, is_named = answers == opinion, (answers != 1) & (opinion != 1)
    shares = np.bincount(shown, minlength=3) / len(said)
    people_agree, num_people_pairs = people_agreement([one[:2] for one in said])
    curve = _curve([one for _, one in judged.values()], people, rng)
    return Agreement(
        num_pairs=len({one.about for one in said}),
        num_answers=len(said),
        accuracy=share(int(is_same.sum()), len(said)),
        commonest=float(shares.max()),
        side_accuracy=share(int(is_same[is_named].sum()), int(is_named.sum())),
        brier=float(brier_scores(np.stack([_turned(judged[one.about][1]) for one in said]), answers).mean()),
        brier_reference=float(brier_scores(np.tile(shares, (len(said), 1)), shown).mean()),
        num_certain=sum(judged[one.about][1].probabilities is None for one in said),
        people_agree=people_agree,
        num_people_pairs=num_people_pairs,
        factors=_factors(opinions, people, questions),
        saving=curve,
        answers_saved=answers_saved(curve),
    )


def _probabilities(opinion: LoggedOpinion) -> Array:
    """Return probabilities of left, draw and right as shown, shape (3,); if the judge gave none, 1 for its outcome."""
    if opinion.probabilities is None:
        return np.eye(3)[OUTCOMES.index(opinion.pair.outcome)]
    return np.array([opinion.probabilities[outcome] for outcome in OUTCOMES])


def _turned(opinion: LoggedOpinion) -> Array:
    """Return the probabilities with the sides ordered so that the episode with the smaller id is on the left."""
    p = _probabilities(opinion)
    return p[::-1] if outcomes.is_turned(opinion.pair) else p


def _factors(
    opinions: Sequence[LoggedOpinion], people: Sequence[JudgedPair], questions: Sequence[Question]
) -> tuple[FactorAgreement, ...]:
    found = []
    for question in questions:
        judged = {one.about: one.answer for one in outcomes.to_question(question, [one.pair for one in opinions])}
        said = [one for one in outcomes.to_question(question, people) if one.about in judged]
        if said:
            same = sum(judged[one.about] == one.answer for one in said) / len(said)
            commonest = max(Counter(one.shown for one in said).values()) / len(said)
            agree = people_agreement([one[:2] for one in said])
            found.append(FactorAgreement(question.id, question.factor, len(said), same, commonest, *agree))
    return tuple(found)


def _curve(
    opinions: Sequence[LoggedOpinion], people: Sequence[JudgedPair], rng: np.random.Generator
) -> tuple[SavingPoint, ...]:
    contest = Contest.of(people)
    place = {agent: number for number, agent in enumerate(contest.agents)}
    about = [one for one in opinions if one.pair.left_agent in place and one.pair.right_agent in place]
    pair_agents = np.array([[place[one.pair.left_agent], place[one.pair.right_agent]] for one in about], np.int64)
    said = virtual_wins(len(place), pair_agents.reshape(-1, 2), np.stack([_probabilities(one) for one in about]))
    return saving_curve(contest, lambda drawn: said, rng)


SEED = 0
"""Seed for the curve of answers saved, so that the same log gives the same figures on the page and in the terminal."""


class MeasuredJudge(NamedTuple):
    """A model judge of one task that has no file of its own; `name` is without `MODEL_PREFIX`."""

    name: str
    task: str
    num_answers: int
    has_probabilities: bool
    agreement: Agreement | None


class LoggedJudges:
    """Model judges in the log that have not learnt from people's answers; a judge is measured again only after new answers.

    Safe to share between threads.
    """

    def __init__(self, archive: Archive, questions: Callable[[str], Sequence[Question]]) -> None:
        self._archive, self._questions = archive, questions
        self._lock = threading.Lock()
        self._state: LogState | None = None
        self._judges: list[answers_store.LoggedJudge] = []
        self._measured: dict[tuple[str, str], tuple[LogState, MeasuredJudge]] = {}

    def measure(self, name: str | None = None) -> list[MeasuredJudge]:
        """Compare all these judges, or the judges called `name`, with all answers of people; one result per name and task."""
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
