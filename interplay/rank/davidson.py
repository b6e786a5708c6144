"""Davidson's tie model: Bradley-Terry with a probability of ties, which are more likely between agents of similar strength.

Davidson, "On Extending the Bradley-Terry Model to Accommodate Ties in Paired Comparison Experiments" (Journal of the American
Statistical Association 1970). With d = s_i - s_j and tie parameter nu, the three outcomes i, j and tie have odds
exp(d / 2) : exp(-d / 2) : nu. This is an exponential family in s and log(nu), so the likelihood is concave, and Newton's
method finds its maximum.

Differences from the paper:
    If strengths would be infinite, `PHANTOM_DRAWS` keep them finite, as in `interplay.rank.bradley_terry`. A log without a
    tie has nu = 0 and is plain Bradley-Terry.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from interplay.rank.bradley_terry import PHANTOM_DRAWS, check_counts, is_strongly_connected, sigmoid

Array = NDArray[np.float64]

_MAX_STEPS = 200
_SMALL_STEP = 1e-11
_TIE_BOUND = 30.0
"""Upper bound of log(nu), which would grow without limit if all answers were ties."""


@dataclass(frozen=True, eq=False)
class Davidson:
    """A fitted model of n agents.

    Attributes:
        log_strength: float64, shape (n,); mean 0. The difference of two is the logarithm of the odds given that it is no tie.
        nu: The odds of a tie between equal agents are nu to 2; 0 if there was no tie.
        covariance: float64, shape (n, n); inverse Fisher information of the strengths, with nu estimated together.
    """

    log_strength: Array
    nu: float
    covariance: Array
    is_regularised: bool

    @property
    def standard_error(self) -> Array:
        """Standard error of each log strength relative to the mean of all, shape (n,)."""
        return np.sqrt(np.diag(self.covariance))


class DavidsonMany(NamedTuple):
    """For B logs: strengths (B, n), mean 0 in each row; tie parameters (B,); and which logs needed phantom draws (B,)."""

    log_strength: Array
    nu: Array
    is_regularised: NDArray[np.bool_]


def fit(num_wins: Array, num_ties: Array) -> Davidson:
    """Fit strengths and the tie parameter by maximum likelihood; arguments as of `interplay.rank.bradley_terry.fit`.

    >>> result = fit(np.array([[0, 40], [10, 0]]), np.array([[0, 20], [20, 0]]))
    >>> print(result.log_strength.round(6), round(result.nu, 6))  # two agents: log(40 / 10) apart, 20 / sqrt(40 * 10)
    [ 0.693147 -0.693147] 1.0
    """
    check_counts(num_wins, num_ties)
    wins, ties = np.asarray(num_wins, float)[None], np.asarray(num_ties, float)[None]
    many = fit_many(wins, ties)
    n = wins.shape[1]
    has_ties = bool(ties.any())
    phantom = np.where(many.is_regularised, PHANTOM_DRAWS, 0.0)
    theta = np.log(many.nu) if has_ties else np.full(1, -np.inf)
    information = _derivatives(wins, ties, many.log_strength, theta, phantom).information[0]
    if not has_ties:
        information = information[:n, :n]
    centre = np.eye(len(information))
    centre[:n, :n] -= 1 / n
    if not phantom[0]:
        information[:n, :n] += max(np.trace(information), 1.0) / n**2
    covariance = (centre @ np.linalg.solve(information, centre))[:n, :n]
    return Davidson(many.log_strength[0], float(many.nu[0]), (covariance + covariance.T) / 2, bool(many.is_regularised[0]))


def fit_many(num_wins: Array, num_ties: Array) -> DavidsonMany:
    """Fit B logs at once; both arguments have the shape (B, n, n)."""
    num_logs, n, _ = num_wins.shape
    is_regularised = ~is_strongly_connected(num_wins)
    phantom = np.where(is_regularised, PHANTOM_DRAWS, 0.0)
    has_ties = num_ties.any(axis=(1, 2))
    strength = np.zeros((num_logs, n))
    theta = np.where(has_ties, 0.0, -np.inf)
    active = np.arange(num_logs)
    for _ in range(_MAX_STEPS):
        if not active.size or n == 1:
            break
        wins, ties, ghosts, s, th = num_wins[active], num_ties[active], phantom[active], strength[active], theta[active]
        likelihood, gradient, information = _derivatives(wins, ties, s, th, ghosts)
        size = np.trace(information, axis1=1, axis2=2)
        information[:, :n, :n] += np.where(ghosts > 0, 0.0, size / n**2)[:, None, None]
        information[:, n, n] += np.where(np.isinf(th), 1.0, 1e-14 * size)
        step = np.linalg.solve(information, gradient[..., None])[..., 0]
        share = np.ones(active.size)
        noise = 1e-13 * (1 + np.abs(likelihood))
        while True:
            new_s = s + share[:, None] * step[:, :n]
            new_theta = np.minimum(th + share * step[:, n], _TIE_BOUND)
            after = _log_likelihood(wins, ties, new_s, new_theta, ghosts)
            worse = ~(after >= likelihood - noise) & (share > 1e-12)
            if not worse.any():
                break
            share[worse] /= 2
        moved = np.maximum(np.abs(new_s - s).max(axis=1), np.abs(np.where(np.isinf(th), 0.0, step[:, n])))
        is_done = (moved <= _SMALL_STEP * (1 + np.abs(s).max(axis=1))) | (new_theta >= _TIE_BOUND)
        strength[active], theta[active] = new_s, new_theta
        active = active[~is_done]
    return DavidsonMany(strength - strength.mean(axis=1, keepdims=True), np.exp(theta), is_regularised)


class _Derivatives(NamedTuple):
    """Log likelihood (B,), gradient (B, n + 1) and Fisher information (B, n + 1, n + 1) in s and log(nu)."""

    likelihood: Array
    gradient: Array
    information: Array


def _probabilities(strength: Array, theta: Array) -> tuple[Array, Array]:
    """Probability that i beats j, and probability that they tie: shape (B, n, n) each."""
    half = (strength[:, :, None] - strength[:, None, :]) / 2
    tie = np.broadcast_to(theta[:, None, None], half.shape)
    top = np.maximum(np.abs(half), tie)
    win, loss, draw = np.exp(half - top), np.exp(-half - top), np.exp(tie - top)
    total = win + loss + draw
    return win / total, draw / total


def _log_likelihood(wins: Array, ties: Array, strength: Array, theta: Array, phantom: Array) -> Array:
    """Log likelihood of each log, phantom draws included; shape (B,)."""
    half = (strength[:, :, None] - strength[:, None, :]) / 2
    tie = np.broadcast_to(theta[:, None, None], half.shape)
    log_total = np.logaddexp(np.logaddexp(half, -half), tie)
    safe_tie = np.where(np.isinf(tie), 0.0, tie)  # no ties were seen where it is infinite
    answers = (wins * (half - log_total)).sum(axis=(1, 2)) + (ties * (safe_tie - log_total)).sum(axis=(1, 2)) / 2
    ghosts = np.logaddexp(0, strength) + np.logaddexp(0, -strength)
    return answers - phantom / 2 * ghosts.sum(axis=1)


def _derivatives(wins: Array, ties: Array, strength: Array, theta: Array, phantom: Array) -> _Derivatives:
    """Derivatives for each log. An answer has two statistics: x, which is 1/2, -1/2 or (tie) 0, and whether it is a tie."""
    num_logs, n = strength.shape
    win, draw = _probabilities(strength, theta)
    matches = wins + wins.transpose(0, 2, 1) + ties
    mean_x = (win - win.transpose(0, 2, 1)) / 2
    var_x = (win + win.transpose(0, 2, 1)) / 4 - mean_x**2
    ghost = sigmoid(strength)
    gradient, information = np.zeros((num_logs, n + 1)), np.zeros((num_logs, n + 1, n + 1))
    observed = (wins - wins.transpose(0, 2, 1)) / 2
    gradient[:, :n] = (observed - matches * mean_x).sum(axis=2) + phantom[:, None] * (0.5 - ghost)
    gradient[:, n] = (ties - matches * draw).sum(axis=(1, 2)) / 2
    index = np.arange(n)
    spread = matches * var_x
    information[:, :n, :n] = -spread
    information[:, index, index] += spread.sum(axis=2) + phantom[:, None] * ghost * (1 - ghost)
    information[:, :n, n] = information[:, n, :n] = -(matches * mean_x * draw).sum(axis=2)
    information[:, n, n] = (matches * draw * (1 - draw)).sum(axis=(1, 2)) / 2
    return _Derivatives(_log_likelihood(wins, ties, strength, theta, phantom), gradient, information)
