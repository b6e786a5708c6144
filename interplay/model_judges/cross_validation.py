"""Cross-validation: answers are split by seed, and each is predicted by a model that was fitted to the other seeds.

No episode is on both sides of a split. Of the overall question, penalty and temperature are chosen inside each training
part; the other questions take the penalty that all answers to the overall one chose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interplay.model_judges.outcomes import Texts, chance_right, columns, log_loss
from interplay.model_judges.preference import PreferenceModel, best_temperature, fit_preference, fit_yes_no

Array = NDArray[np.float64]
Groups = Sequence[Any] | NDArray[Any]

PENALTIES = (0.25, 0.75, 2.5, 7.5, 25.0, 75.0)
NUM_FOLDS = 5
NAMES_PENALTY = 0.5
NUM_PARTS_OF_AGENTS = 6
MIN_SEEN = 10
"""Answers that a model needs at least when agents are left out."""


def folds(groups: Groups, num_folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Fold of each answer: groups stay whole, folds are about equal; shape (n,).

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
    """A model whose penalty and temperature were chosen on answers about other seeds; and that penalty.

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


def names_only(agents: Sequence[tuple[str, str]], outcomes: Texts, groups: Groups, rng: np.random.Generator) -> Array:
    """As `cross_validate`, by Davidson's model of the names of the agents, left and right of each answer."""
    said, about = np.array(outcomes), np.array([str(group) for group in groups])
    place = {name: number for number, name in enumerate(sorted({name for pair in agents for name in pair}))}
    left, right = (np.eye(len(place))[[place[pair[side]] for pair in agents]] for side in (0, 1))
    fold = folds(about, NUM_FOLDS, rng)
    probabilities = np.full((len(said), 3), 1 / 3)
    for number in range(fold.max() + 1):
        seen, unseen = fold != number, fold == number
        if seen.any():
            model = fit_preference(left[seen], right[seen], said[seen], penalty=NAMES_PENALTY)
            probabilities[unseen] = model.probabilities(left[unseen], right[unseen])
    return probabilities


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
    """Probabilities of each answer by a model that has seen no answer about either of its agents.

    Agents are dealt to a few parts; for every two parts (and for each part with itself) a model learns from the answers about
    all other agents and says what it expects of those between the two.

    Args:
        penalty, temperature: Those of the judge that will be used, which all answers chose.
    Returns:
        Shape (n, 3), and which answers had something to learn from, shape (n,); none with fewer than four agents.
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
    """Agreement on unseen answers to a comparative question, and the share of the most frequent one; `said` without `na`."""
    given = np.array(said)
    fold = folds(groups, NUM_FOLDS, rng)
    probabilities = np.full((len(given), 3), 1 / 3)
    for number in range(fold.max() + 1):
        seen, unseen = fold != number, fold == number
        if seen.any():
            model = fit_preference(left[seen], right[seen], given[seen], penalty=penalty)
            probabilities[unseen] = model.probabilities(left[unseen], right[unseen])
    return _agreement(probabilities, columns(given))


def direct_agreement(
    features: Array, said: Sequence[bool], groups: Groups, penalty: float, rng: np.random.Generator
) -> tuple[float, float]:
    """Agreement on unseen answers to a yes-or-no question, and the share of the most frequent one."""
    given = np.array(said, bool)
    fold = folds(groups, NUM_FOLDS, rng)
    yes = np.full(len(given), 0.5)
    for number in range(fold.max() + 1):
        seen, unseen = fold != number, fold == number
        if seen.any():
            yes[unseen] = fit_yes_no(features[seen], given[seen], penalty=penalty).probabilities(features[unseen])
    return _agreement(np.stack([1 - yes, yes], axis=1), given.astype(np.int64))


def _agreement(probabilities: Array, column: NDArray[np.int64]) -> tuple[float, float]:
    """Mean chance that the most probable answer was given, and the share of the most frequent one."""
    return float(chance_right(probabilities, column).mean()), float(np.bincount(column).max() / len(column))
