"""The ways from a log to a ranking: TrueSkill, Bradley-Terry (ties as half wins, or Davidson's).

`METHODS` is the registry: a method is one entry there, and two functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from interplay.rank import bradley_terry, davidson
from interplay.rank.log import Log
from interplay.rank.ranking import Method, Options, Ranking, Scores
from interplay.rank.standings import Standings
from interplay.rank.trueskill import OUTCOMES
from interplay.rank.trueskill_many import rate_many as trueskill_many

Report = Callable[[float], None]
"""Called now and then with the share of the work done since, in [0, 1]."""


class RatingMethod(NamedTuple):
    """One way to rank.

    Attributes:
        rate: The agents of one log.
        rate_many: The agents in B logs made of the answers of one; int64, shape (B, N), says how often each answer comes.
    """

    rate: Callable[[Log, Options], Ranking]
    rate_many: Callable[[Log, NDArray[np.int64], Options, Report], Scores]


def rate(log: Log, method: Method = "trueskill", options: Options | None = None) -> Ranking:
    """Rank the agents of a log.

    Raises:
        ValueError: If there is no such method.
    """
    return _method(method).rate(log, options or Options())


def rate_many(
    log: Log,
    times: NDArray[np.int64],
    method: Method = "trueskill",
    options: Options | None = None,
    *,
    on_progress: Report | None = None,
) -> Scores:
    """Rank the agents in B logs made of the answers of one.

    Args:
        times: int64, shape (B, N): how often each answer comes in each log.
        on_progress: Called now and then with the share of the work done since, in [0, 1].
    """
    chosen = _method(method)
    if not log.agents:
        return Scores(np.zeros((len(times), 0)), np.zeros((len(times), 0)))
    return chosen.rate_many(log, times, options or Options(), on_progress or (lambda share: None))


def _method(name: str) -> RatingMethod:
    if name not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {name!r}")
    return METHODS[name]  # type: ignore[index]


# TrueSkill, in the order of the log


def _trueskill(log: Log, options: Options) -> Ranking:
    standings = Standings(options.settings)
    names = log.agents
    for left, right, outcome in zip(log.left.tolist(), log.right.tolist(), log.outcome.tolist(), strict=True):
        standings.add(names[left], names[right], OUTCOMES[outcome])
    ratings = [standings.rating(name) for name in names]  # also of agents that no answer names
    return Ranking.of_skills(names, np.array([one.mu for one in ratings]), np.array([one.sigma for one in ratings]))


def _trueskill_many(log: Log, times: NDArray[np.int64], options: Options, report: Report) -> Scores:
    total = max(int(times.sum()), 1)
    mu, sigma = trueskill_many(log, times, options.settings, on_progress=lambda count: report(count / total))
    return Scores(mu, mu - 3 * sigma)


# Strengths, whatever the order

PHANTOM_NOTE = (
    "some agents never lost to some others, directly or through third ones, so each agent was given a draw against a phantom "
    "of average strength; otherwise strengths would be infinite"
)


def _strengths(
    fit: Callable[[NDArray[np.float64], NDArray[np.float64], Options], bradley_terry.BradleyTerry | davidson.Davidson],
) -> Callable[[Log, Options], Ranking]:
    """A method of log strengths, from a fit of wins and ties."""

    def rate(log: Log, options: Options) -> Ranking:
        if not log.agents:
            return Ranking("log-strength", (), np.zeros(0), np.zeros(0), np.zeros(0), np.zeros((0, 0)))
        result = fit(*log.counts(), options)
        strength, notes = result.log_strength, (PHANTOM_NOTE,) if result.is_regularised else ()
        return Ranking("log-strength", log.agents, strength, result.standard_error, strength, result.covariance, notes)

    return rate


def _bradley_terry_many(log: Log, times: NDArray[np.int64], options: Options, report: Report) -> Scores:
    wins, ties = log.counts(times.astype(float))
    strength = bradley_terry.fit_many(wins + options.tie_weight * ties).log_strength
    report(1.0)
    return Scores(strength, strength)


def _davidson_many(log: Log, times: NDArray[np.int64], options: Options, report: Report) -> Scores:
    strength = davidson.fit_many(*log.counts(times.astype(float))).log_strength
    report(1.0)
    return Scores(strength, strength)


METHODS: Mapping[Method, RatingMethod] = {
    "trueskill": RatingMethod(_trueskill, _trueskill_many),
    "bradley-terry": RatingMethod(
        _strengths(lambda wins, ties, options: bradley_terry.fit(wins, ties, tie_weight=options.tie_weight)),
        _bradley_terry_many,
    ),
    "davidson": RatingMethod(_strengths(lambda wins, ties, options: davidson.fit(wins, ties)), _davidson_many),
}
"""Name -> method."""
