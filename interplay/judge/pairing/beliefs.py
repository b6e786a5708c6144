"""A joint belief about the strengths of all agents: their means, and how errors of one go with errors of another.

TrueSkill keeps a sigma for each agent and ignores that two agents who met are uncertain together: whether a whole group is
strong or weak matters to no order, who leads inside it does. Here the covariance of all strengths is kept: Bradley-Terry with a
normal prior, its posterior approximated by a normal distribution at its peak (Laplace's method; MacKay, "Information Theory,
Inference, and Learning Algorithms", chapter 27). It needs only the counts of answers, so their order does not matter.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

PRIOR_SD = 1.7
"""Standard deviation of strengths before any answer, in logits; skills about as far apart as two performances of one agent."""
_MAX_STEPS = 100
_MAX_STEP = 2.0
"""Newton moves no strength further at once: far from the peak a full step may overshoot."""


class Beliefs(NamedTuple):
    """A normal distribution over the strengths of n agents.

    Attributes:
        mean: float64, shape (n,); logits, about 0.
        covariance: float64, shape (n, n); logits squared.
    """

    mean: Array
    covariance: Array

    @property
    def difference(self) -> Array:
        return self.mean[:, None] - self.mean

    @property
    def difference_variance(self) -> Array:
        """Variance of the difference of i and j, shape (n, n); 1 on the diagonal, so that it can be divided by."""
        diagonal = np.diag(self.covariance)
        variance = diagonal[:, None] + diagonal - 2 * self.covariance
        np.fill_diagonal(variance, 1.0)
        return np.maximum(variance, 1e-12)


def beliefs(won: Array, awaited: tuple[NDArray[np.intp], NDArray[np.intp]], prior_sd: float = PRIOR_SD) -> Beliefs:
    """Strengths after the answers, their uncertainty as it will be when the awaited answers have come.

    Args:
        won: Shape (n, n); entry (i, j) is how often i was better than j, draws counting half for each.
        awaited: Rows and columns of the matches that judges have open. Their outcomes are unknown, so means stay; the average
            information of an answer is counted.
        prior_sd: Of strengths, logits, positive.
    """
    mean, precision = _peak(won, prior_sd)
    rows, columns = awaited
    if len(rows):
        known = Beliefs(mean, _inverse(precision))
        told = information(known)[rows, columns]
        np.add.at(precision, (rows, rows), told)
        np.add.at(precision, (columns, columns), told)
        np.subtract.at(precision, (rows, columns), told)
        np.subtract.at(precision, (columns, rows), told)
    return Beliefs(mean, _inverse(precision))


def information(known: Beliefs) -> Array:
    """Fisher information p (1 - p) of one answer about i and j on their difference, shape (n, n), in (0, 0.25].

    The uncertainty of the difference widens the logistic curve (MacKay, section 41.4).
    """
    widened = known.difference / np.sqrt(1 + np.pi / 8 * known.difference_variance)
    fade = np.exp(-np.abs(widened))
    return fade / (1 + fade) ** 2


def _peak(won: Array, prior_sd: float) -> tuple[Array, Array]:
    num_agents = len(won)
    compared, score = won + won.T, won.sum(axis=1)
    diagonal = np.arange(num_agents)
    mean, precision = np.zeros(num_agents), np.eye(num_agents)
    for _ in range(_MAX_STEPS):
        difference = mean[:, None] - mean
        fade = np.exp(-np.abs(difference))
        probability = np.where(difference >= 0, 1.0, fade) / (1 + fade)
        gradient = score - (compared * probability).sum(axis=1) - mean / prior_sd**2
        told = compared * fade / (1 + fade) ** 2
        precision = -told
        precision[diagonal, diagonal] += told.sum(axis=1) + prior_sd**-2
        step = np.linalg.solve(precision, gradient)
        longest = np.abs(step).max(initial=0.0)
        mean = mean + step * min(1.0, _MAX_STEP / longest if longest else 1.0)
        if longest < 1e-6:
            break
    return mean, precision


def _inverse(precision: Array) -> Array:
    covariance = np.linalg.inv(precision)
    return np.asarray((covariance + covariance.T) / 2, dtype=np.float64)
