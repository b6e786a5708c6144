"""Calibration of a model judge: figures computed from its predictions (see `cross_validation.py`) and people's answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from interplay.model_judges.outcomes import Texts, brier_scores, chance_right, columns, log_loss
from interplay.model_judges.saving import SavingPoint
from interplay.rank.normal import Z95

Array = NDArray[np.float64]

NUM_BINS = 10


@dataclass(frozen=True)
class Bin:
    """Predictions between two probabilities: their mean, and the share that was right; both are 0 without answers."""

    low: float
    high: float
    predicted: float
    observed: float
    num_answers: int


@dataclass(frozen=True)
class FactorAgreement:
    """How often the model's answer to a question equals people's answers.

    Attributes:
        num_answers: Number of people's answers to the question, without `na`; a direct question has two, one for each side.
        agreement: Share of these answers that the judge gives, too.
        people_agree: Share of pairs of people who gave the same answer about the same videos; `None` without such a pair.
    """

    question: str
    factor: str
    num_answers: int
    agreement: float
    commonest: float
    """Share of people's most frequent answer; a judge that always gives this answer would reach this share."""
    people_agree: float | None
    num_people_pairs: int


@dataclass(frozen=True)
class Split:
    """Quality of the predictions made in one way; fields as in `Calibration`, for the answers that were predicted."""

    num_answers: int
    accuracy: float
    decided_accuracy: float
    brier: float
    brier_reference: float
    brier_gain_low: float

    @property
    def is_better_than_shares(self) -> bool:
        return self.brier_gain_low > 0


@dataclass(frozen=True)
class Calibration:
    """Results of the cross-validation.

    Attributes:
        num_answers, num_groups: Number of people's answers that the model learnt from, and number of their seeds.
        accuracy: Share of answers whose outcome had the largest probability; if left and right share the largest, each counts
            half. `decided_accuracy` is the same for answers that name a side; 0.5 is chance.
        brier, brier_reference: Mean sum of squared errors of the three probabilities (Brier 1950); the reference always
            predicts each outcome's share of the answers.
        brier_gain_low: Lower end of the 95 % interval of `brier_reference - brier`, as if answers were independent.
        log_loss, log_loss_reference: Mean negative log probability, of the model and of the same reference.
        calibration_error: Mean distance of predicted and observed in the bins, weighted by answers (ECE).
        people_agree: Share of pairs of people who gave the same outcome about a pair of episodes; `None` without such a pair.
        saving: The curve of answers saved; empty if agents or answers are too few to order agents.
        answers_saved: Number of people's answers that the model saves until the rank correlation is `TARGET_CORRELATION`;
            negative if people then need more answers, `None` if the curve does not reach this correlation.
        left_out: Quality of a model that saw no answer about either agent; `None` if agents or answers are too few.
        names_only: Quality of a model that knows only the agents' names, split by seed; `None` in older files.
        gain_over_names_low: As `brier_gain_low`, with `names_only` as the reference.
        num_left_out: Number of answers not used, because this data folder has no features of their episodes.
    """

    num_answers: int
    num_groups: int
    accuracy: float
    commonest: float
    decided_accuracy: float
    brier: float
    brier_reference: float
    brier_gain_low: float
    log_loss: float
    log_loss_reference: float
    calibration_error: float
    bins: tuple[Bin, ...]
    people_agree: float | None
    num_people_pairs: int
    factors: tuple[FactorAgreement, ...] = ()
    saving: tuple[SavingPoint, ...] = ()
    answers_saved: int | None = None
    num_left_out: int = 0
    left_out: Split | None = None
    names_only: Split | None = None
    gain_over_names_low: float = 0.0

    @property
    def is_better_than_shares(self) -> bool:
        """Whether the model predicts preferences on unseen seeds of known agents measurably better than the outcomes' shares.

        A model can achieve this by recognising agents; `judges_new_agents` tells whether the model may be used.
        """
        return self.brier_gain_low > 0

    @property
    def judges_new_agents(self) -> bool:
        """Whether the model predicts preferences about agents it has never seen measurably better than the outcomes' shares."""
        return self.left_out is not None and self.left_out.is_better_than_shares

    @property
    def verdict(self) -> str:
        """One or two sentences about the model's quality, from the results for left-out agents and for agents' names only."""
        if self.left_out is None:
            return (
                "It is not known whether it sees how well an agent plays or only which agent it is: there are too few "
                "agents, or too few answers, to leave some out. Do not use it yet."
            )
        count = f"{self.left_out.num_answers:,}"
        if self.judges_new_agents:
            names = (
                "and for agents it knows, it predicts more than their names do."
                if self.gain_over_names_low > 0
                else "but for agents it knows, their names alone predict as much."
            )
            return f"It predicts which of two agents people prefer even if it has seen neither before, {names}"
        first = (
            f"For agents it has not seen before, it is no better than the outcomes' shares, as far as {count} answers can show."
        )
        if self.is_better_than_shares:
            return f"{first} On agents it knows, it recognises them; it does not judge their play."
        return first

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Calibration:
        return msgspec.convert(document, cls)


def measure(probabilities: Array, outcomes: Texts, groups: Sequence[Any] | NDArray[Any], pairs: Sequence[Any]) -> Calibration:
    """Compute all figures that need only predictions, shape (n, 3), and answers; `pairs` is the input of `people_agreement`."""
    column = columns(outcomes)
    shares = np.bincount(column, minlength=3) / len(column)
    right_share = chance_right(probabilities, column)
    bins = _bins(probabilities.max(axis=1), right_share)
    reference = np.tile(shares, (len(column), 1))
    decided = column != 1
    lean = probabilities[:, 0] - probabilities[:, 2]
    side_share = np.where(np.abs(lean) < 1e-6, 0.5, (lean > 0) == (column == 0))  # an even guess is right half the time
    agree, num_pairs = people_agreement(pairs)
    return Calibration(
        num_answers=len(column),
        num_groups=len({str(group) for group in groups}),
        accuracy=float(right_share.mean()),
        commonest=float(shares.max()),
        decided_accuracy=float(side_share[decided].mean()) if decided.any() else 0.5,
        brier=float(brier_scores(probabilities, column).mean()),
        brier_reference=float(brier_scores(reference, column).mean()),
        brier_gain_low=gain_low(probabilities, reference, outcomes),
        log_loss=float(log_loss(probabilities, column).mean()),
        log_loss_reference=float(-(shares * np.log(np.maximum(shares, 1e-300))).sum()),
        calibration_error=sum(one.num_answers * abs(one.predicted - one.observed) for one in bins) / len(column),
        bins=bins,
        people_agree=agree,
        num_people_pairs=num_pairs,
    )


def split(probabilities: Array, outcomes: Texts) -> Split | None:
    if not len(outcomes):
        return None
    found = measure(probabilities, outcomes, [0] * len(outcomes), [])
    return Split(*(getattr(found, one.name) for one in fields(Split)))


def gain_low(probabilities: Array, reference: Array, outcomes: Texts) -> float:
    """Return the lower end of the gain over the predictions `reference`, computed as `Calibration.brier_gain_low`."""
    column = columns(outcomes)
    gain = brier_scores(reference, column) - brier_scores(probabilities, column)
    return float(gain.mean() - Z95 * gain.std() / np.sqrt(len(gain)))


def people_agreement(pairs: Sequence[tuple[Any, str]]) -> tuple[float | None, int]:
    """Compare every two answers about the same pair of episodes; return the share of equal ones, and the number compared.

    Args:
        pairs: For each answer, the pair of episodes without order, and the answer with the sides always in the same order.

    >>> people_agreement([("ab", "left"), ("ab", "left"), ("ab", "draw"), ("cd", "left")])
    (0.3333333333333333, 3)
    """
    said: dict[Any, list[str]] = {}
    for pair, outcome in pairs:
        said.setdefault(pair, []).append(outcome)
    same = total = 0
    for answers in said.values():
        for place, one in enumerate(answers):
            total += len(answers) - place - 1
            same += sum(one == other for other in answers[place + 1 :])
    return (same / total if total else None), total


def _bins(confidence: Array, right_share: Array) -> tuple[Bin, ...]:
    """Make bins of equal width from 1/3, the least value that the largest of three probabilities can have, to 1."""
    edges = np.linspace(1 / 3, 1, NUM_BINS + 1)
    place = np.clip(np.searchsorted(edges, confidence, side="right") - 1, 0, NUM_BINS - 1)
    found = []
    for number in range(NUM_BINS):
        inside = place == number
        count = int(inside.sum())
        predicted, observed = (float(confidence[inside].mean()), float(right_share[inside].mean())) if count else (0.0, 0.0)
        found.append(Bin(float(edges[number]), float(edges[number + 1]), predicted, observed, count))
    return tuple(found)
