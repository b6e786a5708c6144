"""How far an automatic judge can be believed: figures from predictions and from what people said.

Which predictions they are is up to who asks: `cross_validation.py` makes those of a model that has not seen the answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from interplay.judge.automatic.predictions import Texts, brier_scores, chance_right, columns, log_loss
from interplay.judge.automatic.saving import SavingPoint
from interplay.rank.normal import Z95

Array = NDArray[np.float64]

NUM_BINS = 10


class Bin(NamedTuple):
    """Predictions of about one probability.

    Attributes:
        low, high: Of the probability given to the predicted outcome.
        predicted, observed: Mean probability, and share of answers that came out so; 0 where there are none.
        num_answers: How many.
    """

    low: float
    high: float
    predicted: float
    observed: float
    num_answers: int


class FactorAgreement(NamedTuple):
    """How often the model says of a question what people say.

    Attributes:
        num_answers: Answers to the question (a direct one has two, one a side); `na` is left out.
        agreement: Share of them the judge gives too.
        commonest: Share of people's commonest answer, what a judge without eyes would reach.
        people_agree: Share of pairs of people who gave one answer about the same videos; None if no two were asked.
        num_people_pairs: How many such pairs.
    """

    question: str
    factor: str
    num_answers: int
    agreement: float
    commonest: float
    people_agree: float | None
    num_people_pairs: int


@dataclass(frozen=True)
class Calibration:
    """What the cross-validation found.

    Attributes:
        num_answers, num_groups: People's answers about the task that were learnt from, and the seeds they are about.
        accuracy: Share of answers whose outcome was given the largest probability; half an answer where left and right
            shared it and one of them was said.
        commonest: Share of the commonest outcome.
        decided_accuracy: The same among answers that name a side; 0.5 is chance.
        brier, brier_reference: Mean sum of squared errors of the three probabilities (Brier 1950); and that of always giving
            the outcomes' shares.
        brier_gain_low: Lower end of the 95 % interval of the second less the first, answers taken for independent.
        log_loss, log_loss_reference: Mean negative log probability; likewise.
        calibration_error: Mean distance of predicted and observed in the bins, weighted by answers (ECE).
        bins: The reliability diagram.
        people_agree: Share of pairs of people who gave one outcome about one pair of episodes; None if no two did.
        num_people_pairs: How many such pairs.
        factors: Agreement by question.
        saving: The curve of answers saved; empty where agents or answers are too few for an order.
        answers_saved: Answers of people fewer with the model than without, at a rank correlation of `TARGET_CORRELATION`;
            negative where the model does harm; None where the curve does not get there.
        num_left_out: Answers not among `num_answers`, because nothing is known here of the episodes they are about.
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

    @property
    def is_better_than_shares(self) -> bool:
        """Whether it tells people's preferences measurably better than who only knows the outcomes' shares."""
        return self.brier_gain_low > 0

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        lists = {name: [item._asdict() for item in getattr(self, name)] for name in ("bins", "factors", "saving")}
        return asdict(self) | lists

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Calibration:
        """The inverse of `to_json`."""
        kinds = {"bins": Bin, "factors": FactorAgreement, "saving": SavingPoint}
        return cls(**{**document, **{name: tuple(kind(**item) for item in document[name]) for name, kind in kinds.items()}})


def measure(probabilities: Array, outcomes: Texts, groups: Sequence[Any] | NDArray[Any], pairs: Sequence[Any]) -> Calibration:
    """Every figure that needs predictions and answers only.

    Args:
        probabilities: Of left, draw and right, shape (n, 3).
        outcomes, groups: n of each.
        pairs: Per answer (pair of episodes in no order, outcome said of it in one orientation): `people_agreement`'s input.
    """
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


def people_agreement(pairs: Sequence[tuple[Any, str]]) -> tuple[float | None, int]:
    """Share of pairs of answers about one pair of episodes that are the same, and how many such pairs there are.

    Args:
        pairs: Per answer the pair of episodes and what was said of it, in one orientation.

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
