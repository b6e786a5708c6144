"""TrueSkill over many logs at once: a thousand resamples of one log step from answer to answer together."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from interplay.rank.log import DRAW, RIGHT, Log
from interplay.rank.normal_arrays import draw_corrections, win_corrections
from interplay.rank.trueskill import DEFAULTS, Settings

Array = NDArray[np.float64]

_REPORT_EVERY = 100
"""Steps between two calls of `on_progress`."""


class RatingsMany(NamedTuple):
    """Ratings after B logs about n agents: float64, shape (B, n); the prior where a log does not name the agent."""

    mu: Array
    sigma: Array


def rate_many(
    log: Log, times: NDArray[np.int64], settings: Settings = DEFAULTS, *, on_progress: Callable[[int], None] | None = None
) -> RatingsMany:
    """Replay B logs made of the answers of one, each in that one's order.

    Args:
        log: N answers in order.
        times: int64, shape (B, N): how often each answer comes in each log, its copies one behind the other.
        on_progress: Called now and then with the number of answers replayed since.

    >>> from interplay.rank import Comparison
    >>> once = rate_many(Log.of([Comparison("ada", "bob", "left")]), np.array([[1], [0]]))
    >>> print(once.mu.round(3))
    [[29.396 20.604]
     [25.    25.   ]]
    """
    num_logs, num_agents = len(times), len(log.agents)
    mu = np.full((num_logs, num_agents), settings.mu)
    variance = np.full((num_logs, num_agents), settings.sigma**2)
    lengths = times.sum(axis=1)
    # Longest first, so that the logs that still go on are always the first ones.
    order = np.argsort(-lengths, kind="stable")
    lengths = lengths[order]
    answers = np.zeros((int(lengths.max(initial=0)), num_logs), np.int32)
    for place, row in enumerate(order.tolist()):
        answers[: lengths[place], place] = np.repeat(np.arange(len(log), dtype=np.int32), times[row])
    better = np.where(log.outcome == RIGHT, log.right, log.left)
    worse = np.where(log.outcome == RIGHT, log.left, log.right)
    num_going_on = np.searchsorted(-lengths, -np.arange(1, len(answers) + 1), side="right")
    offsets = np.arange(num_logs) * num_agents
    flat_mu, flat_variance = mu.reshape(-1), variance.reshape(-1)
    drift, noise, margin = settings.tau**2, 2 * settings.beta**2, settings.draw_margin
    since = 0
    for step, number in enumerate(num_going_on.tolist()):
        answer = answers[step, :number]
        a, b = offsets[:number] + better[answer], offsets[:number] + worse[answer]
        variance_a, variance_b = flat_variance[a] + drift, flat_variance[b] + drift
        c_squared = variance_a + variance_b + noise
        c = np.sqrt(c_squared)
        mu_a, mu_b = flat_mu[a], flat_mu[b]
        t = (mu_a - mu_b) / c
        v, w = win_corrections(t, margin / c)
        drawn = np.flatnonzero(log.outcome[answer] == DRAW)
        if drawn.size:
            v[drawn], w[drawn] = draw_corrections(t[drawn], margin / c[drawn])
        flat_mu[a] = mu_a + variance_a / c * v
        flat_mu[b] = mu_b - variance_b / c * v
        flat_variance[a] = variance_a * (1 - variance_a / c_squared * w)
        flat_variance[b] = variance_b * (1 - variance_b / c_squared * w)
        since += number
        if on_progress and (step + 1) % _REPORT_EVERY == 0:
            on_progress(since)
            since = 0
    if on_progress and since:
        on_progress(since)
    back = np.empty_like(order)
    back[order] = np.arange(num_logs)
    return RatingsMany(mu[back], np.sqrt(variance[back]))
