"""How far an automatic judge can be believed: measured on answers about seeds it has not learnt from.

Answers are split by task and seed, so that no episode is on both sides of a split. Penalty and temperature are chosen inside
each training part. Every figure here is about people's answers the model did not see.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from interplay.judge.automatic.preference import (
    OUTCOMES,
    PreferenceModel,
    Texts,
    best_temperature,
    fit_preference,
    fit_yes_no,
    likeliest,
)
from interplay.rank import bradley_terry

Array = NDArray[np.float64]

PENALTIES = (0.25, 0.75, 2.5, 7.5, 25.0, 75.0)
NUM_FOLDS = 5
NUM_BINS = 10
VIRTUAL_ANSWERS = 1.0
"""Answers of people one expectation of the model about two agents is taken for, in the curve of answers saved."""
TARGET_CORRELATION = 0.9


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
        agreement: Share of them the model gives too.
        commonest: Share of people's commonest answer, what a model without eyes would reach.
    """

    question: str
    factor: str
    num_answers: int
    agreement: float
    commonest: float


class SavingPoint(NamedTuple):
    """With so many of people's answers: mean rank correlation with the order by all of them, without and with the model."""

    num_answers: int
    people: float
    with_model: float


@dataclass(frozen=True)
class Calibration:
    """What the cross-validation found.

    Attributes:
        num_answers, num_groups: People's answers about the task, and the seeds they are about.
        accuracy: Share of answers whose outcome was given the largest probability.
        commonest: Share of the commonest outcome.
        decided_accuracy: The same among answers that name a side; 0.5 is chance.
        brier, brier_reference: Mean sum of squared errors of the three probabilities (Brier 1950); and that of always giving
            the outcomes' shares.
        log_loss, log_loss_reference: Mean negative log probability; likewise.
        calibration_error: Mean distance of predicted and observed in the bins, weighted by answers (ECE).
        bins: The reliability diagram.
        people_agree: Share of pairs of people who gave one outcome about one pair of episodes; None if no two did.
        num_people_pairs: How many such pairs.
        factors: Agreement by question.
        saving: The curve of answers saved; empty where agents or answers are too few for an order.
        answers_saved: Answers of people fewer with the model than without, at a rank correlation of `TARGET_CORRELATION`;
            negative where the model does harm; None where the curve does not get there.
    """

    num_answers: int
    num_groups: int
    accuracy: float
    commonest: float
    decided_accuracy: float
    brier: float
    brier_reference: float
    log_loss: float
    log_loss_reference: float
    calibration_error: float
    bins: tuple[Bin, ...]
    people_agree: float | None
    num_people_pairs: int
    factors: tuple[FactorAgreement, ...] = ()
    saving: tuple[SavingPoint, ...] = ()
    answers_saved: int | None = None

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        lists = {name: [item._asdict() for item in getattr(self, name)] for name in ("bins", "factors", "saving")}
        return asdict(self) | lists

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Calibration:
        """The inverse of `to_json`."""
        kinds = {"bins": Bin, "factors": FactorAgreement, "saving": SavingPoint}
        return cls(**{**document, **{name: tuple(kind(**item) for item in document[name]) for name, kind in kinds.items()}})


def folds(groups: Sequence[Any] | NDArray[Any], num_folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Which fold each answer is in: groups stay whole, folds are about equal; shape (n,).

    >>> folds(["a", "a", "b", "b"], 2, np.random.default_rng(0)).tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])
    True
    """
    names, place, count = np.unique(np.array([str(group) for group in groups]), return_inverse=True, return_counts=True)
    size = np.zeros(max(1, min(num_folds, len(names))))
    fold_of = np.zeros(len(names), np.int64)
    shuffled = rng.permutation(len(names))
    for name in shuffled[np.argsort(-count[shuffled], kind="stable")]:
        fold_of[name] = size.argmin()
        size[size.argmin()] += count[name]
    return fold_of[place]


def fit_carefully(
    left: Array, right: Array, outcomes: Texts, groups: Sequence[Any] | NDArray[Any], rng: np.random.Generator
) -> tuple[PreferenceModel, float]:
    """A model whose penalty and temperature were chosen on answers about other seeds; and that penalty.

    Args:
        left, right: Scaled features, shape (n, F).
        outcomes, groups: n of each.
    """
    said = np.array(outcomes)
    fold = folds(groups, NUM_FOLDS - 1, rng)
    num_folds = fold.max() + 1
    if num_folds < 2:
        return fit_preference(left, right, said, penalty=PENALTIES[-2]), PENALTIES[-2]
    logits = np.zeros((len(PENALTIES), len(said)))
    loss = np.zeros(len(PENALTIES))
    for number in range(num_folds):
        seen, unseen = fold != number, fold == number
        for place, penalty in enumerate(PENALTIES):
            model = fit_preference(left[seen], right[seen], said[seen], penalty=penalty)
            logits[place, unseen] = (left[unseen] - right[unseen]) @ model.weights
            loss[place] += _log_loss(model.probabilities(left[unseen], right[unseen]), said[unseen]).sum()
    best = int(loss.argmin())
    model = fit_preference(left, right, said, penalty=PENALTIES[best])
    return replace(model, temperature=best_temperature(logits[best], model.draw, said)), PENALTIES[best]


def cross_validate(
    left: Array, right: Array, outcomes: Texts, groups: Sequence[Any] | NDArray[Any], rng: np.random.Generator
) -> Array:
    """Probabilities of each answer by a model that has seen no answer about its seed, shape (n, 3)."""
    said, about = np.array(outcomes), np.array([str(group) for group in groups])
    fold = folds(about, NUM_FOLDS, rng)
    probabilities = np.full((len(said), 3), 1 / 3)
    for number in range(fold.max() + 1):
        seen, unseen = fold != number, fold == number
        if seen.any():
            model, _ = fit_carefully(left[seen], right[seen], said[seen], about[seen], rng)
            probabilities[unseen] = model.probabilities(left[unseen], right[unseen])
    return probabilities


def measure(probabilities: Array, outcomes: Texts, groups: Sequence[Any] | NDArray[Any], pairs: Sequence[Any]) -> Calibration:
    """Every figure that needs predictions and answers only.

    Args:
        probabilities: Of left, draw and right, shape (n, 3).
        outcomes, groups: n of each.
        pairs: Per answer (pair of episodes in no order, outcome said of it in one orientation): `people_agreement`'s input.
    """
    column = np.array([OUTCOMES.index(outcome) for outcome in outcomes])
    truth = np.eye(3)[column]
    shares = truth.mean(axis=0)
    confidence, is_right = probabilities.max(axis=1), likeliest(probabilities) == column
    bins = _bins(confidence, is_right)
    decided = column != 1
    lean = probabilities[:, 0] - probabilities[:, 2]
    side_share = np.where(np.abs(lean) < 1e-6, 0.5, (lean > 0) == (column == 0))  # an even guess is right half the time
    agree, num_pairs = people_agreement(pairs)
    return Calibration(
        num_answers=len(column),
        num_groups=len({str(group) for group in groups}),
        accuracy=float(is_right.mean()),
        commonest=float(shares.max()),
        decided_accuracy=float(side_share[decided].mean()) if decided.any() else 0.5,
        brier=float(((probabilities - truth) ** 2).sum(axis=1).mean()),
        brier_reference=float(((shares - truth) ** 2).sum(axis=1).mean()),
        log_loss=float(_log_loss(probabilities, outcomes).mean()),
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


def comparative_agreement(
    left: Array, right: Array, said: Texts, groups: Sequence[Any] | NDArray[Any], penalty: float, rng: np.random.Generator
) -> tuple[float, float]:
    """Agreement on unseen answers to a comparative question, and the share of the commonest answer; `said` without `na`."""
    given = np.array(said)
    fold = folds(groups, NUM_FOLDS, rng)
    right_ones = np.zeros(len(given), bool)
    for number in range(fold.max() + 1):
        seen, unseen = fold != number, fold == number
        if not seen.any():
            continue
        model = fit_preference(left[seen], right[seen], given[seen], penalty=penalty)
        guess = np.array(OUTCOMES)[likeliest(model.probabilities(left[unseen], right[unseen]))]
        right_ones[unseen] = guess == given[unseen]
    return float(right_ones.mean()), float(np.unique(given, return_counts=True)[1].max() / len(given))


def direct_agreement(
    features: Array, said: Sequence[bool], groups: Sequence[Any] | NDArray[Any], penalty: float, rng: np.random.Generator
) -> tuple[float, float]:
    """Agreement on unseen answers to a yes-or-no question, and the share of the commonest answer."""
    given = np.array(said, bool)
    fold = folds(groups, NUM_FOLDS, rng)
    right_ones = np.zeros(len(given), bool)
    for number in range(fold.max() + 1):
        seen, unseen = fold != number, fold == number
        if not seen.any():
            continue
        model = fit_yes_no(features[seen], given[seen], penalty=penalty)
        right_ones[unseen] = (model.probabilities(features[unseen]) > 0.5) == given[unseen]
    return float(right_ones.mean()), float(max(given.mean(), 1 - given.mean()))


@dataclass(frozen=True, eq=False)
class Contest:
    """People's answers and every pair that could be shown, for the curve of answers saved.

    Attributes:
        agents: Names, n of them.
        left_agent, right_agent: int64, shape (m,): agents of each answer.
        left, right: Scaled features of each answer's episodes, shape (m, F).
        outcomes: m of them.
        pair_agents: int64, shape (k, 2): agents of each pair of episodes that can be shown.
        pair_left, pair_right: Its scaled features, shape (k, F).
    """

    agents: tuple[str, ...]
    left_agent: NDArray[np.int64]
    right_agent: NDArray[np.int64]
    left: Array
    right: Array
    outcomes: NDArray[np.str_]
    pair_agents: NDArray[np.int64]
    pair_left: Array
    pair_right: Array


def saving_curve(
    contest: Contest,
    penalty: float,
    rng: np.random.Generator,
    *,
    num_repeats: int = 20,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[SavingPoint, ...]:
    """How the order of agents nears that of all people's answers, as answers come in, with and without the model.

    For each number of answers, so many are drawn without replacement. Without the model the agents are ordered by
    Bradley-Terry strengths of those answers; with it, a model is fitted to *those answers only*, and what it expects of
    every pair of agents is added as `VIRTUAL_ANSWERS` answers. Both orders are compared (Spearman) with that of all answers.
    """
    from scipy.stats import spearmanr

    num_agents, total = len(contest.agents), len(contest.outcomes)
    if num_agents < 3 or total < 2 * num_agents:
        return ()
    everything = np.arange(total)
    reference = _strengths(_counts(contest, everything))
    sizes = np.unique(np.geomspace(num_agents, total, 8).round().astype(int))
    points: list[SavingPoint] = []
    for place, size in enumerate(sizes):
        found: list[tuple[float, float]] = []
        for repeat in range(num_repeats):
            on_progress(place * num_repeats + repeat, len(sizes) * num_repeats)
            drawn = rng.permutation(total)[:size]
            wins = _counts(contest, drawn)
            model = fit_preference(contest.left[drawn], contest.right[drawn], contest.outcomes[drawn], penalty=penalty)
            alone, helped = _strengths(wins), _strengths(wins + _expected(contest, model))
            found.append((_correlation(spearmanr, alone, reference), _correlation(spearmanr, helped, reference)))
        people, with_model = np.mean(found, axis=0)
        points.append(SavingPoint(int(size), float(people), float(with_model)))
    return tuple(points)


def answers_saved(curve: Sequence[SavingPoint], target: float = TARGET_CORRELATION) -> int | None:
    """Answers fewer with the model than without for a mean rank correlation of `target`, by straight lines between points.

    >>> answers_saved([SavingPoint(10, 0.5, 0.8), SavingPoint(20, 0.8, 1.0), SavingPoint(40, 1.0, 1.0)])
    15
    """
    sizes = [point.num_answers for point in curve]
    without = _reaches(sizes, [point.people for point in curve], target)
    with_model = _reaches(sizes, [point.with_model for point in curve], target)
    return None if without is None or with_model is None else round(without - with_model)


def _reaches(sizes: Sequence[int], values: Sequence[float], target: float) -> float | None:
    """Where a broken line first gets to `target`."""
    for place, value in enumerate(values):
        if value >= target:
            if place == 0:
                return float(sizes[0])
            before = values[place - 1]
            return sizes[place - 1] + (target - before) / (value - before) * (sizes[place] - sizes[place - 1])
    return None


def _counts(contest: Contest, chosen: NDArray[np.int64]) -> Array:
    """Wins of i over j, a draw half a win to both; shape (n, n)."""
    wins = np.zeros((len(contest.agents),) * 2)
    left, right = contest.left_agent[chosen], contest.right_agent[chosen]
    outcomes = contest.outcomes[chosen]
    share = np.where(outcomes == "left", 1.0, np.where(outcomes == "draw", 0.5, 0.0))
    np.add.at(wins, (left, right), share)
    np.add.at(wins, (right, left), 1 - share)
    return wins


def _expected(contest: Contest, model: PreferenceModel) -> Array:
    """What the model expects of each pair of agents, over all their episodes, as `VIRTUAL_ANSWERS` answers; shape (n, n)."""
    p = model.probabilities(contest.pair_left, contest.pair_right)
    share = p[:, 0] + p[:, 1] / 2
    wins, num_pairs = np.zeros((2, len(contest.agents), len(contest.agents)))
    a, b = contest.pair_agents.T
    np.add.at(wins, (a, b), share)
    np.add.at(wins, (b, a), 1 - share)
    np.add.at(num_pairs, (a, b), 1.0)
    np.add.at(num_pairs, (b, a), 1.0)
    return VIRTUAL_ANSWERS * wins / np.maximum(num_pairs, 1)


def _strengths(wins: Array) -> Array:
    return bradley_terry.fit(wins).log_strength


def _correlation(spearmanr: Callable[..., Any], a: Array, b: Array) -> float:
    """Spearman's; 0 where one order says nothing."""
    if np.ptp(a) < 1e-12 or np.ptp(b) < 1e-12:
        return 0.0
    return float(spearmanr(a, b).statistic)


def _log_loss(probabilities: Array, outcomes: Texts) -> Array:
    """Negative log probability of what people said, shape (n,)."""
    column = np.array([OUTCOMES.index(outcome) for outcome in outcomes], np.int64)
    return -np.log(np.maximum(probabilities[np.arange(len(column)), column], 1e-12))


def _bins(confidence: Array, is_right: NDArray[np.bool_]) -> tuple[Bin, ...]:
    """Equal steps from 1/3, the least a largest of three can be, to 1."""
    edges = np.linspace(1 / 3, 1, NUM_BINS + 1)
    place = np.clip(np.searchsorted(edges, confidence, side="right") - 1, 0, NUM_BINS - 1)
    found = []
    for number in range(NUM_BINS):
        inside = place == number
        count = int(inside.sum())
        predicted, observed = (float(confidence[inside].mean()), float(is_right[inside].mean())) if count else (0.0, 0.0)
        found.append(Bin(float(edges[number]), float(edges[number + 1]), predicted, observed, count))
    return tuple(found)
