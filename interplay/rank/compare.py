"""Probabilities about pairs of ranked agents, and one score of an agent over several tasks.

`beats` is about the next answer, `above` about the order of skills. With enough answers, `above` goes to 0 or 1, but `beats`
does not, because the better agent does not win every time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from interplay.rank.bradley_terry import win_probabilities
from interplay.rank.normal import cumulatives
from interplay.rank.ranking import Options, Ranking

Array = NDArray[np.float64]


def beats(ranking: Ranking, options: Options | None = None) -> Array:
    """Probability that the next answer judges agent i better than agent j, given that it is no draw; shape (n, n).

    TrueSkill: the difference of two performances is Normal(mu_i - mu_j, sigma_i**2 + sigma_j**2 + 2 beta**2),
    so the probability that it is positive is cumulative((mu_i - mu_j) / sqrt(sigma_i**2 + sigma_j**2 + 2 beta**2)), as in
    `win_probability`. The uncertainty of the skills is included.
    Bradley-Terry: 1 / (1 + exp(s_j - s_i)) at the fitted strengths; a tie is half a win. Davidson: the same formula, which
    is then the probability given that it is no tie. The uncertainty of the strengths is not included.

    Raises:
        ValueError: If the ranking is a normalised score, which does not predict answers.
    """
    if ranking.scale == "log-strength":
        return win_probabilities(ranking.mu)
    if ranking.scale == "z-score":
        raise ValueError("a mean of z-scores says nothing about the next answer")
    beta = (options or Options()).settings.beta
    spread = ranking.sigma[:, None] ** 2 + ranking.sigma[None, :] ** 2 + 2 * beta**2
    return cumulatives((ranking.mu[:, None] - ranking.mu[None, :]) / np.sqrt(spread))


def above(ranking: Ranking) -> Array:
    """Probability that agent i's skill is above agent j's, by the normal approximation of the fit; shape (n, n).

    It is cumulative((mu_i - mu_j) / sqrt(C_ii + C_jj - 2 C_ij)), where C is the covariance of mu. TrueSkill treats skills as
    independent given the log, so the result can be too certain or too uncertain; `Bootstrap.above` has no such error.
    """
    variance = np.diag(ranking.covariance)
    spread = np.maximum(variance[:, None] + variance[None, :] - 2 * ranking.covariance, 0)
    difference = ranking.mu[:, None] - ranking.mu[None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(spread > 0, difference / np.sqrt(spread), np.sign(difference) * np.inf)
    np.fill_diagonal(z, 0.0)
    return cumulatives(np.where(np.isnan(z), 0.0, z))


def normalised(mu: Array, played: NDArray[np.bool_] | None = None) -> Array:
    """The normalised score: the z-score of mu over the agents in each task, averaged over the tasks.

    z = (mu - mean of mu) / (standard deviation of mu), both over the agents judged in that task; the deviation has the
    divisor n, not n - 1. A task in which all agents have the same mu gives each of them 0.

    Differences:
        The paper that reports "normalized TrueSkill" (Milani et al., "BEDD" 2023, Table 3) does not define it; this
        definition fits the paper's numbers.

    Args:
        mu: float64, shape (..., T, n): mu of n agents in T tasks.
        played: bool, shape (T, n): which agents were judged in which task; all if None.
    Returns:
        float64, shape (..., n): the mean over the tasks in which the agent was judged; NaN if it was judged in no task.

    >>> print(normalised(np.array([[10.0, 20.0, 30.0], [5.0, 5.0, 8.0]])).round(3))
    [-0.966 -0.354  1.319]
    """
    played = np.ones(mu.shape[-2:], bool) if played is None else np.asarray(played, bool)
    num_agents = np.maximum(played.sum(axis=-1, keepdims=True), 1)
    centred = mu - (mu * played).sum(axis=-1, keepdims=True) / num_agents
    deviation = np.sqrt((np.square(centred) * played).sum(axis=-1, keepdims=True) / num_agents)
    z = np.where(deviation > 1e-12 * (1 + np.abs(mu).max(initial=0)), centred / np.where(deviation > 0, deviation, 1), 0.0)
    num_tasks = played.sum(axis=0)
    return np.where(num_tasks > 0, (z * played).sum(axis=-2) / np.maximum(num_tasks, 1), np.nan)


NORMALISED_NOTE = (
    "mean over tasks of how many standard deviations an agent's mu is above the mean of all agents in that task; the interval "
    "takes that mean and that deviation for known"
)


def normalised_over(agents: tuple[str, ...], tasks: Sequence[Ranking]) -> Ranking:
    """The normalised score over the rankings of several tasks, with its standard error; tasks are treated as independent."""
    shape = (len(tasks), len(agents))
    mu, sigma, played = np.zeros(shape), np.zeros(shape), np.zeros(shape, bool)
    place = {name: number for number, name in enumerate(agents)}
    for number, ranking in enumerate(tasks):
        there = [place[name] for name in ranking.agents]
        mu[number, there], sigma[number, there], played[number, there] = ranking.mu, ranking.sigma, True
    score = normalised(mu, played)
    deviation = np.array([values[known].std() for values, known in zip(mu, played, strict=True)])
    scaled = np.where(played, sigma / np.where(deviation > 0, deviation, 1)[:, None], 0)
    error = np.sqrt((scaled**2).sum(axis=0)) / np.maximum(played.sum(axis=0), 1)
    return Ranking("z-score", agents, score, error, score, np.diag(error**2), (NORMALISED_NOTE,))


def rank_correlation(a: Array, b: Array) -> float:
    """Spearman's coefficient: the correlation of ranks; equal values share their mean rank. 0 if one side is all equal.

    >>> round(rank_correlation(np.array([1, 2, 3, 4.0]), np.array([10, 30, 20, 40.0])), 3)
    0.8
    """
    ranks = [_ranks(values) for values in (a, b)]
    ranks = [one - one.mean() for one in ranks]
    scale = math.sqrt(float((ranks[0] ** 2).sum() * (ranks[1] ** 2).sum()))
    return float((ranks[0] * ranks[1]).sum() / scale) if scale else 0.0


def _ranks(values: Array) -> Array:
    """Rank of each value, from 1; equal values share their mean rank."""
    # Rounded: two agents with the same answers have the same strength up to the last bits.
    _, place, times = np.unique(np.round(values, 9), return_inverse=True, return_counts=True)
    return (np.cumsum(times) - (times - 1) / 2)[place]
