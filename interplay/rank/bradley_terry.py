"""Bradley-Terry: one strength for each agent, independent of the order of the answers.

Bradley & Terry, "Rank Analysis of Incomplete Block Designs" (Biometrika 1952): agent i is better than agent j with
probability 1 / (1 + exp(s_j - s_i)), where s is the logarithm of strength. The likelihood is concave in s, and Newton's
method finds its maximum.

Differences from the textbook:
    A tie counts as `tie_weight` wins for each side; with 0.5, the default, a tie weighs as much as any other answer.
    `interplay.rank.davidson` models the probability of ties.
    If some agents never lost to some others, directly or through third agents, strengths would become infinite (Ford 1957).
    Only then each agent also gets `PHANTOM_DRAWS` draws against a phantom agent of average strength; the result says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

PHANTOM_DRAWS = 1.0
"""Number of draws with a phantom of strength 0 that each agent gets if the answers alone do not determine finite strengths."""
_MAX_STEPS = 200
_SMALL_STEP = 1e-11
"""Newton's method stops when no log strength moves by more than this times (1 + the largest absolute log strength)."""


@dataclass(frozen=True, eq=False)
class BradleyTerry:
    """A fitted model of n agents.

    Attributes:
        log_strength: float64, shape (n,); logits, mean 0. The difference of two is the logarithm of the odds.
        covariance: float64, shape (n, n); inverse Fisher information at the fit, for strengths of mean 0. It is a little too
            large, because half wins are treated as being as noisy as wins.
        is_regularised: Whether `PHANTOM_DRAWS` were needed because the graph of wins is not strongly connected.
        log_likelihood: Log likelihood of the answers, without phantom draws.
    """

    log_strength: Array
    covariance: Array
    is_regularised: bool
    log_likelihood: float
    num_steps: int

    @property
    def standard_error(self) -> Array:
        """Standard error of each log strength relative to the mean of all, shape (n,)."""
        return np.sqrt(np.diag(self.covariance))

    def win_probabilities(self) -> Array:
        """Probability that agent i is better than agent j, shape (n, n); 0.5 on the diagonal.

        >>> print(fit(np.array([[0, 3], [1, 0]])).win_probabilities().round(6))
        [[0.5  0.75]
         [0.25 0.5 ]]
        """
        return win_probabilities(self.log_strength)


class BradleyTerryMany(NamedTuple):
    """Fitted models of B logs about the same n agents.

    Attributes:
        log_strength: float64, shape (B, n), each row with mean 0.
        is_regularised: bool, shape (B,): whether a log needed `PHANTOM_DRAWS`.
    """

    log_strength: Array
    is_regularised: NDArray[np.bool_]


def fit(num_wins: Array, num_ties: Array | None = None, *, tie_weight: float = 0.5) -> BradleyTerry:
    """Fit strengths by maximum likelihood.

    Args:
        num_wins: Shape (n, n), n at least 1; entry (i, j) is how often i was better than j. The diagonal is 0.
        num_ties: Shape (n, n), symmetric: entry (i, j) and entry (j, i) are both the number of ties of i and j.
        tie_weight: Number of wins that a tie counts for each side; 0 ignores ties.
    Raises:
        ValueError: If a shape or a value is not as described.

    >>> print(fit(np.array([[0, 3], [1, 0]])).log_strength.round(6))  # 3 to 1: log(3) apart
    [ 0.549306 -0.549306]
    """
    weights = check_counts(num_wins, num_ties, tie_weight)
    solution = _newton(weights[None])
    return BradleyTerry(
        log_strength=solution.log_strength[0],
        covariance=_covariance(weights, solution.log_strength[0], solution.phantom[0]),
        is_regularised=bool(solution.phantom[0] > 0),
        log_likelihood=float(_log_likelihood(weights[None], solution.log_strength, np.zeros(1))[0]),
        num_steps=solution.num_steps,
    )


def fit_many(weights: Array) -> BradleyTerryMany:
    """Fit many logs at once; weight (b, i, j) is how often i was better than j in log b, ties included."""
    solution = _newton(np.asarray(weights, float))
    return BradleyTerryMany(solution.log_strength, solution.phantom > 0)


def win_probabilities(log_strength: Array) -> Array:
    """Probability that agent i is better than agent j, for strengths of shape (..., n); shape (..., n, n)."""
    return sigmoid(log_strength[..., :, None] - log_strength[..., None, :])


def check_counts(num_wins: Array, num_ties: Array | None, tie_weight: float = 0.5) -> Array:
    """Return the wins, ties included, shape (n, n); `ValueError` if the counts are invalid."""
    wins = np.asarray(num_wins, float)
    if wins.ndim != 2 or wins.shape[0] != wins.shape[1] or wins.shape[0] == 0:
        raise ValueError(f"num_wins must have shape (n, n) with n at least 1, got {wins.shape}")
    ties = np.zeros_like(wins) if num_ties is None else np.asarray(num_ties, float)
    if ties.shape != wins.shape:
        raise ValueError(f"num_ties must have the shape of num_wins, {wins.shape}, got {ties.shape}")
    if not (0 <= tie_weight < np.inf):
        raise ValueError(f"tie_weight must be zero or positive, got {tie_weight!r}")
    for name, counts in (("num_wins", wins), ("num_ties", ties)):
        if not (np.isfinite(counts).all() and (counts >= 0).all()):
            raise ValueError(f"{name} must be finite and not negative")
        if np.diag(counts).any():
            raise ValueError(f"{name} must be 0 on its diagonal: an agent cannot be compared with itself")
    if not np.array_equal(ties, ties.T):
        raise ValueError("num_ties must be symmetric: a tie of i and j counts at (i, j) and at (j, i)")
    return wins + tie_weight * ties


def is_strongly_connected(weights: Array) -> NDArray[np.bool_]:
    """Whether each agent beat each other agent, directly or through third agents: weights (..., n, n) -> bool, shape (...)."""
    num_agents = weights.shape[-1]
    reach = (weights > 0) | np.eye(num_agents, dtype=bool)
    for _ in range(max(num_agents - 1, 1).bit_length()):  # paths of 1, 2, 4, ... answers
        reach = (reach.astype(np.float32) @ reach.astype(np.float32)) > 0
    return np.asarray(reach.all(axis=(-2, -1)))


class _Solution(NamedTuple):
    """Log strengths (B, n), phantom draws (B,), and the number of steps."""

    log_strength: Array
    phantom: Array
    num_steps: int


def _newton(weights: Array) -> _Solution:
    """Maximise the likelihood of B logs at once by Newton's method with step halving; weights (B, n, n)."""
    num_logs, num_agents, _ = weights.shape
    phantom = np.where(is_strongly_connected(weights), 0.0, PHANTOM_DRAWS)
    strength = np.zeros((num_logs, num_agents))
    wins = weights.sum(axis=2) + phantom[:, None] / 2
    matches = weights + weights.transpose(0, 2, 1)
    likelihood = _log_likelihood(weights, strength, phantom)
    active = np.arange(num_logs) if num_agents > 1 else np.arange(0)
    num_steps = 0
    while active.size and num_steps < _MAX_STEPS:
        num_steps += 1
        s, games, ghosts = strength[active], matches[active], phantom[active]
        expected = games * win_probabilities(s)
        ghost = sigmoid(s)
        gradient = wins[active] - expected.sum(axis=2) - ghosts[:, None] * ghost
        information = _information(games, s, ghosts)
        # The gauge: F is singular along (1, ..., 1) without a phantom; the gradient has no part there, nor has the step.
        gauge = np.trace(information, axis1=1, axis2=2) / num_agents**2
        step = np.linalg.solve(information + np.where(ghosts > 0, 0.0, gauge)[:, None, None], gradient[..., None])[..., 0]
        share = np.ones(active.size)
        before = likelihood[active]
        noise = 1e-13 * (1 + np.abs(before))
        after = _log_likelihood(weights[active], s + step, ghosts)
        while (worse := ~(after >= before - noise) & (share > 1e-12)).any():
            share[worse] /= 2
            after = _log_likelihood(weights[active], s + share[:, None] * step, ghosts)
        strength[active] = s + share[:, None] * step
        likelihood[active] = after
        is_done = np.abs(step).max(axis=1) <= _SMALL_STEP * (1 + np.abs(s).max(axis=1))
        active = active[~is_done]
    return _Solution(strength - strength.mean(axis=1, keepdims=True), phantom, num_steps)


def _information(games: Array, strength: Array, phantom: Array) -> Array:
    """Fisher information: games (B, n, n) symmetric, strength (B, n), phantom (B,) -> (B, n, n)."""
    probability = win_probabilities(strength)
    between = games * probability * probability.transpose(0, 2, 1)
    ghost = sigmoid(strength) * sigmoid(-strength)
    diagonal = between.sum(axis=2) + phantom[:, None] * ghost
    index = np.arange(strength.shape[1])
    information = -between
    information[:, index, index] += diagonal
    return information


def _covariance(weights: Array, strength: Array, phantom: float) -> Array:
    """Inverse information of one log for strengths of mean 0: no variance along (1, ..., 1)."""
    num_agents = len(strength)
    if num_agents == 1:
        return np.zeros((1, 1))
    information = _information((weights + weights.T)[None], strength[None], np.array([phantom]))[0]
    centre = np.eye(num_agents) - 1 / num_agents
    if phantom == 0:
        information = information + np.trace(information) / num_agents**2
    covariance = centre @ np.linalg.solve(information, centre)
    return (covariance + covariance.T) / 2


def _log_likelihood(weights: Array, strength: Array, phantom: Array) -> Array:
    """Logarithm of the likelihood, phantom draws included: (B, n, n), (B, n), (B,) -> (B,)."""
    difference = strength[:, :, None] - strength[:, None, :]
    answers = -(weights * np.logaddexp(0, -difference)).sum(axis=(1, 2))
    ghosts = np.logaddexp(0, strength) + np.logaddexp(0, -strength)
    return answers - phantom / 2 * ghosts.sum(axis=1)


def sigmoid(x: Array | float) -> Array:
    """1 / (1 + exp(-x)) without overflow, exact to rounding in both tails."""
    fade = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0, fade) / (1 + fade)
