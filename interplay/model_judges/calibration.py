"""Calibration of a model judge: figures from its predictions (see `cross_validation.py`) and people's answers."""

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
    """Predictions between two probabilities: mean of them, and share of such answers; 0 without answers."""

    low: float
    high: float
    predicted: float
    observed: float
    num_answers: int


@dataclass(frozen=True)
class FactorAgreement:
    """How often the model's answer to a question is people's.

    Attributes:
        num_answers: Answers to the question (a direct one has two, one a side); `na` is left out.
        agreement: Share of them the judge gives too.
        `commonest`: Share of people's most frequent answer, which a judge without eyes would reach.
        people_agree: Share of pairs of people who gave one answer about the same videos; `None` if no two were asked.
    """

    question: str
    factor: str
    num_answers: int
    agreement: float
    commonest: float
    people_agree: float | None
    num_people_pairs: int


@dataclass(frozen=True)
class Split:
    """How well predictions do that were made in one way; fields as in `Calibration`, of the answers they were made for."""

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
        num_answers, num_groups: People's answers about the task that were learnt from, and the seeds they are about.
        accuracy: Share of answers whose outcome was given the largest probability; half an answer where left and right
            shared it and one of them was said. `decided_accuracy` is of answers that name a side; 0.5 is chance.
        brier, brier_reference: Mean sum of squared errors of the three probabilities (Brier 1950); and that of always giving
            the outcomes' shares.
        brier_gain_low: Lower end of the 95 % interval of the second less the first, as if answers were independent.
        log_loss, log_loss_reference: Mean negative log probability; likewise.
        calibration_error: Mean distance of predicted and observed in the bins, weighted by answers (ECE).
        people_agree: Share of pairs of people who gave one outcome about one pair of episodes; `None` if no two did.
        saving: The curve of answers saved; empty where agents or answers are too few for an order.
        answers_saved: Answers of people fewer with the model than without, at a rank correlation of `TARGET_CORRELATION`;
            negative where the model does harm; `None` where the curve does not get there.
        left_out: Of a model that has seen no answer about either agent; `None` where agents or answers are too few to tell.
        names_only: Of a model that sees whose episode it is and nothing else, split by seed; `None` in older files.
        gain_over_names_low: As `brier_gain_low`, of its Brier score less the judge's.
        num_left_out: Other answers, about episodes of which nothing is known here.
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
        """Whether it tells preferences about unseen seeds of known agents measurably better than the outcomes' shares.

        Recognising agents is enough for that; `judges_new_agents` says what it may be used for.
        """
        return self.brier_gain_low > 0

    @property
    def judges_new_agents(self) -> bool:
        """Whether it tells preferences about agents it has never seen measurably better than the outcomes' shares."""
        return self.left_out is not None and self.left_out.is_better_than_shares

    @property
    def verdict(self) -> str:
        """One or two sentences about it; they rest on left-out agents, and on what names alone tell."""
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
    """Every figure that needs predictions, shape (n, 3), and answers only; `pairs` is the input of `people_agreement`."""
    column = columns(outcomes)
    shares = np.bincount(column, minlength=3) / len(column)
    right_share = chance_right(probabilities, column)
    bins = _bins(probabilities.max(axis=1), right_share)
    brier, reference = brier_scores(probabilities, column), brier_scores(np.tile(shares, (len(column), 1)), column)
    gain = reference - brier
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
        brier=float(brier.mean()),
        brier_reference=float(reference.mean()),
        brier_gain_low=float(gain.mean() - Z95 * gain.std() / np.sqrt(len(gain))),
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
    """As `Calibration.brier_gain_low`, against the predictions `reference`."""
    column = columns(outcomes)
    gain = brier_scores(reference, column) - brier_scores(probabilities, column)
    return float(gain.mean() - Z95 * gain.std() / np.sqrt(len(gain)))


def people_agreement(pairs: Sequence[tuple[Any, str]]) -> tuple[float | None, int]:
    """Share of pairs of answers about one pair of episodes that are the same, and number of such pairs.

    Args:
        pairs: Per answer the pair of episodes in no order, and the answer in one orientation.

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
    """Equal steps from 1/3, the least a largest of three can be, to 1."""
    edges = np.linspace(1 / 3, 1, NUM_BINS + 1)
    place = np.clip(np.searchsorted(edges, confidence, side="right") - 1, 0, NUM_BINS - 1)
    found = []
    for number in range(NUM_BINS):
        inside = place == number
        count = int(inside.sum())
        predicted, observed = (float(confidence[inside].mean()), float(right_share[inside].mean())) if count else (0.0, 0.0)
        found.append(Bin(float(edges[number]), float(edges[number + 1]), predicted, observed, count))
    return tuple(found)
