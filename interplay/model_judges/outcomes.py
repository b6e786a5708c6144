"""Outcomes: people's answers with the sides in a fixed order; probabilities of left, draw and right; and their scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from interplay.judge.serving.checks import SWAPPED
from interplay.store.judging.model_judges import JudgedPair
from interplay.tasks import Question


class Said(NamedTuple):
    """One answer: `answer`, as if the episode with the smaller id had been on the left, and `shown`, as it was given."""

    about: Any
    answer: str
    shown: str


def is_turned(pair: JudgedPair) -> bool:
    return pair.left_episode > pair.right_episode


def overall(pairs: Iterable[JudgedPair]) -> list[Said]:
    return [_said(pair, pair.outcome) for pair in pairs]


def to_question(question: Question, pairs: Iterable[JudgedPair]) -> list[Said]:
    """Return the answers to one question of the form: one for each pair, or yes or no for each episode; `na` is left out."""
    found: list[Said] = []
    for pair in pairs:
        answer = pair.responses.get(question.id)
        if question.kind == "comparative" and isinstance(answer, str) and answer in SWAPPED:
            found.append(_said(pair, answer))
        elif question.kind == "direct" and isinstance(answer, Mapping):
            for side, episode in (("left", pair.left_episode), ("right", pair.right_episode)):
                said = "yes" if answer[side] else "no"
                found.append(Said((_episodes(pair), episode), said, said))
    return found


def _said(pair: JudgedPair, outcome: str) -> Said:
    return Said(_episodes(pair), SWAPPED[outcome] if is_turned(pair) else outcome, outcome)


def _episodes(pair: JudgedPair) -> tuple[str, ...]:
    return tuple(sorted((pair.left_episode, pair.right_episode)))


Array = NDArray[np.float64]
Texts = Sequence[str] | NDArray[np.str_]

OUTCOMES = ("left", "draw", "right")
UNDECIDED = -1
"""Result of `likeliest` if left and right are equally probable."""
_EVEN = 1e-6
"""Probabilities that differ by less count as equal, so that a model that knows nothing does not prefer the left."""


def likeliest(probabilities: Array) -> NDArray[np.int64]:
    """Return the index of each row's most probable outcome (from shape (n, 3)); `UNDECIDED` if left and right are largest."""
    tied = _largest(probabilities)
    return np.where(tied[:, 0] & tied[:, 2], UNDECIDED, probabilities.argmax(axis=1))


def chance_right(probabilities: Array, column: NDArray[np.int64]) -> Array:
    """Return the chance that the most probable answer is the given one, shape (n,): 1 or 0, or a share if several are equal.

    A judge that finds left and right equally probable guesses: half of its guesses are right if people named a side.

    Args:
        probabilities: Probability of each possible answer, shape (n, number of possible answers).
        column: Index of the given answer, shape (n,).

    >>> chance_right(np.array([[0.45, 0.1, 0.45]] * 3), np.array([0, 1, 2])).tolist()
    [0.5, 0.0, 0.5]
    """
    tied = _largest(probabilities)
    return (tied / tied.sum(axis=1, keepdims=True))[np.arange(len(column)), column]


def log_loss(probabilities: Array, column: NDArray[np.int64]) -> Array:
    """Return the negative log probability of the given answers, shape (n,); arguments as for `chance_right`."""
    return -np.log(np.maximum(probabilities[np.arange(len(column)), column], 1e-12))


def columns(outcomes: Texts) -> NDArray[np.int64]:
    return np.array([OUTCOMES.index(outcome) for outcome in outcomes], np.int64)


def brier_scores(probabilities: Array, column: NDArray[np.int64]) -> Array:
    """Return sums of squared errors (Brier 1950), shape (n,): 0 is best, 2 is worst; arguments as for `chance_right`."""
    return ((probabilities - np.eye(3)[column]) ** 2).sum(axis=1)


def _largest(probabilities: Array) -> NDArray[np.bool_]:
    return probabilities > probabilities.max(axis=1, keepdims=True) - _EVEN
