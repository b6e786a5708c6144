"""A joint belief about the strengths of all agents: the means, and the covariance of the errors.

TrueSkill keeps one sigma for each agent. It ignores that the errors of two compared agents depend on each other. (For example,
an error in the strength of a whole group does not change the order inside the group.) This module therefore keeps the
covariance of all strengths. The model is Bradley-Terry with a normal prior; its posterior is approximated by a normal
distribution at its peak (Laplace's method; MacKay, "Information Theory, Inference, and Learning Algorithms", chapter 27). The
result depends only on the counts of answers, not on their order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

PRIOR_SD = 1.7
"""Standard deviation of strengths before any answer (logits): agents differ about as much as two performances of one agent."""
_MAX_STEPS = 100
_MAX_STEP = 2.0
"""Largest change of a strength in one Newton step. Far from the peak, a full step may be too long."""


class Beliefs(NamedTuple):
    """A normal distribution over the strengths of n agents.

    Attributes:
        mean: float64, shape (n,); logits, centred on 0.
        covariance: float64, shape (n, n); logits squared.
    """

    mean: Array
    covariance: Array

    @property
    def difference(self) -> Array:
        return self.mean[:, None] - self.mean

    @property
    def difference_variance(self) -> Array:
        """Variance of the difference of i and j, shape (n, n). The diagonal is 1, so that one can divide by the matrix."""
        diagonal = np.diag(self.covariance)
        variance = diagonal[:, None] + diagonal - 2 * self.covariance
        np.fill_diagonal(variance, 1.0)
        return np.maximum(variance, 1e-12)


def beliefs(won: Array, awaited: tuple[NDArray[np.intp], NDArray[np.intp]], prior_sd: float = PRIOR_SD) -> Beliefs:
    """Estimate the strengths after the answers, with the uncertainty that will be left when the awaited answers have come.

    Args:
        won: Shape (n, n); entry (i, j) is how often i was better than j, draws counting half for each.
        awaited: Indices (first, second) of the two agents in each open match. Open matches do not change the mean, because
            their outcomes are unknown; they lower the uncertainty by the average information of an answer.
        prior_sd: Standard deviation of strengths before any answer; logits, positive.
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
    """Fisher information p (1 - p) that one answer about i and j gives on their difference, shape (n, n), in (0, 0.25].

    The uncertainty of the difference makes the logistic curve wider (MacKay, section 41.4).
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
