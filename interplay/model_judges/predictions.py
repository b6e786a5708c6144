"""Probabilities of left, draw and right: which is likeliest, how often that is right, how far they are from what was said."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Texts = Sequence[str] | NDArray[np.str_]

OUTCOMES = ("left", "draw", "right")
"""Columns of probabilities."""
UNDECIDED = -1
"""What `likeliest` says where both sides are."""
_EVEN = 1e-6
"""Probabilities that differ by less are equal: a model that knows nothing must not prefer the left."""


def likeliest(probabilities: Array) -> NDArray[np.int64]:
    """Which of `OUTCOMES` each row makes likeliest, shape (n,); `UNDECIDED` where left and right are alike the likeliest.

    Args:
        probabilities: Of left, draw and right, shape (n, 3).
    """
    tied = _largest(probabilities)
    return np.where(tied[:, 0] & tied[:, 2], UNDECIDED, probabilities.argmax(axis=1))


def chance_right(probabilities: Array, column: NDArray[np.int64]) -> Array:
    """Chance that the likeliest answer is the one that was given, shape (n,): 1 or 0, shared where several are alike.

    Who cannot tell left from right tosses a coin, and is right half the time if either was said.

    Args:
        probabilities: Of each possible answer, shape (n, number of them).
        column: Place of the one that was given, shape (n,).

    >>> chance_right(np.array([[0.45, 0.1, 0.45]] * 3), np.array([0, 1, 2])).tolist()
    [0.5, 0.0, 0.5]
    """
    tied = _largest(probabilities)
    return (tied / tied.sum(axis=1, keepdims=True))[np.arange(len(column)), column]


def log_loss(probabilities: Array, column: NDArray[np.int64]) -> Array:
    """Negative log probability of the answers that were given, shape (n,); arguments as for `chance_right`."""
    return -np.log(np.maximum(probabilities[np.arange(len(column)), column], 1e-12))


def columns(outcomes: Texts) -> NDArray[np.int64]:
    """Place of each outcome in `OUTCOMES`, shape (n,)."""
    return np.array([OUTCOMES.index(outcome) for outcome in outcomes], np.int64)


def brier_scores(probabilities: Array, column: NDArray[np.int64]) -> Array:
    """Sum of squared errors of the probabilities of each answer (Brier 1950), shape (n,): 0 at best, 2 at worst.

    Args:
        probabilities: Of left, draw and right, shape (n, 3).
        column: Place of what was said in `OUTCOMES`, shape (n,).
    """
    return ((probabilities - np.eye(3)[column]) ** 2).sum(axis=1)


def _largest(probabilities: Array) -> NDArray[np.bool_]:
    """Where a row is as large as it gets, of the same shape."""
    return probabilities > probabilities.max(axis=1, keepdims=True) - _EVEN
