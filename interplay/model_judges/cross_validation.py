"""Cross-validation: answers are split by seed, and each answer is predicted by a model that was fitted to other seeds.

No episode is on both sides of a split. For the overall question, penalty and temperature are chosen inside each training part.
The other questions use the penalty that was chosen on all answers to the overall question.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interplay.model_judges.outcomes import Texts, chance_right, columns, log_loss
from interplay.model_judges.preference import PreferenceModel, best_temperature, fit_preference, fit_yes_no

Array = NDArray[np.float64]
Groups = Sequence[Any] | NDArray[Any]
Predict = Callable[[NDArray[np.bool_], NDArray[np.bool_]], Array]
"""Function: masks of seen and of unseen answers -> probabilities of the unseen answers."""

PENALTIES = (0.25, 0.75, 2.5, 7.5, 25.0, 75.0)
NUM_FOLDS = 5
NAMES_PENALTY = 0.5
NUM_PARTS_OF_AGENTS = 6
MIN_SEEN = 10
"""Least number of answers to learn from when agents are left out."""


def folds(groups: Groups, num_folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the fold of each answer, shape (n,): groups stay whole, and folds have about equal size.

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
    left: Array, right: Array, outcomes: Texts, groups: Groups, rng: np.random.Generator
) -> tuple[PreferenceModel, float]:
    """Fit a model, with penalty and temperature chosen by predicting unseen seeds; return the model and its penalty.

    `left` and `right` are scaled features, shape (n, F).
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
            loss[place] += log_loss(model.probabilities(left[unseen], right[unseen]), columns(said[unseen])).sum()
    best = int(loss.argmin())
    model = fit_preference(left, right, said, penalty=PENALTIES[best])
    return replace(model, temperature=best_temperature(logits[best], model.draw, said)), PENALTIES[best]


def cross_validate(left: Array, right: Array, outcomes: Texts, groups: Groups, rng: np.random.Generator) -> Array:
    """Return probabilities for each answer, shape (n, 3), by a model that has seen no answer about the same seed."""
    said, about = np.array(outcomes), np.array([str(group) for group in groups])

    def predict(seen: NDArray[np.bool_], unseen: NDArray[np.bool_]) -> Array:
        model, _ = fit_carefully(left[seen], right[seen], said[seen], about[seen], rng)
        return model.probabilities(left[unseen], right[unseen])

    return _by_fold(about, 3, predict, rng)


def _by_fold(groups: Groups, num_answers: int, predict: Predict, rng: np.random.Generator) -> Array:
    """Predict each fold from all other folds, shape (n, `num_answers`); with a single fold, all probabilities are equal."""
    fold = folds(groups, NUM_FOLDS, rng)
    probabilities = np.full((len(fold), num_answers), 1 / num_answers)
    for number in range(fold.max() + 1):
        seen, unseen = fold != number, fold == number
        if seen.any():
            probabilities[unseen] = predict(seen, unseen)
    return probabilities


def _by_penalty(left: Array, right: Array, said: NDArray[np.str_], penalty: float) -> Predict:
    return lambda seen, unseen: fit_preference(left[seen], right[seen], said[seen], penalty=penalty).probabilities(
        left[unseen], right[unseen]
    )


def names_only(agents: Sequence[tuple[str, str]], outcomes: Texts, groups: Groups, rng: np.random.Generator) -> Array:
    """Return probabilities as `cross_validate` does, by Davidson's model, from the names of the two agents only."""
    place = {name: number for number, name in enumerate(sorted({name for pair in agents for name in pair}))}
    left, right = (np.eye(len(place))[[place[pair[side]] for pair in agents]] for side in (0, 1))
    return _by_fold(groups, 3, _by_penalty(left, right, np.array(outcomes), NAMES_PENALTY), rng)


def leave_agents_out(
    left: Array,
    right: Array,
    outcomes: Texts,
    agents: Sequence[tuple[str, str]],
    rng: np.random.Generator,
    *,
    penalty: float,
    temperature: float = 1.0,
) -> tuple[Array, NDArray[np.bool_]]:
    """Return probabilities for each answer by a model that has seen no answer about either of its two agents.

    Agents are divided into a few parts. For every two parts, and for each part alone, a model learns from the answers about
    all other agents, and predicts the answers about agents of these parts only.

    Args:
        penalty, temperature: As in the judge that will be used; they were chosen on all answers.
    Returns:
        Probabilities, shape (n, 3), and whether each answer's model had enough to learn from, shape (n,): never with fewer
        than four agents.
    """
    said = np.array(outcomes)
    names = np.array(sorted({name for pair in agents for name in pair}))
    probabilities, is_told = np.full((len(said), 3), 1 / 3), np.zeros(len(said), bool)
    num_parts = min(NUM_PARTS_OF_AGENTS, len(names))
    part = dict(zip(rng.permutation(names).tolist(), np.arange(len(names)) % num_parts, strict=True))
    first, second = (np.array([part[pair[side]] for pair in agents]) for side in (0, 1))
    for a in range(num_parts):
        for b in range(a, num_parts):
            unseen = ((first == a) & (second == b)) | ((first == b) & (second == a))
            seen = ~np.isin(first, (a, b)) & ~np.isin(second, (a, b))
            if unseen.any() and seen.sum() >= MIN_SEEN:
                model = fit_preference(left[seen], right[seen], said[seen], penalty=penalty)
                model = replace(model, temperature=temperature)
                probabilities[unseen], is_told[unseen] = model.probabilities(left[unseen], right[unseen]), True
    return probabilities, is_told


def comparative_agreement(
    left: Array, right: Array, said: Texts, groups: Groups, penalty: float, rng: np.random.Generator
) -> tuple[float, float]:
    """Return the agreement on unseen comparative answers (`said`, without `na`), and the share of the most frequent answer."""
    given = np.array(said)
    return _agreement(_by_fold(groups, 3, _by_penalty(left, right, given, penalty), rng), columns(given))


def direct_agreement(
    features: Array, said: Sequence[bool], groups: Groups, penalty: float, rng: np.random.Generator
) -> tuple[float, float]:
    """Return the agreement on unseen answers to a yes-or-no question, and the share of the most frequent answer."""
    given = np.array(said, bool)

    def predict(seen: NDArray[np.bool_], unseen: NDArray[np.bool_]) -> Array:
        yes = fit_yes_no(features[seen], given[seen], penalty=penalty).probabilities(features[unseen])
        return np.stack([1 - yes, yes], axis=1)

    return _agreement(_by_fold(groups, 2, predict, rng), given.astype(np.int64))


def _agreement(probabilities: Array, column: NDArray[np.int64]) -> tuple[float, float]:
    """Return the mean chance that the most probable answer was given, and the share of the most frequent answer."""
    return float(chance_right(probabilities, column).mean()), float(np.bincount(column).max() / len(column))
