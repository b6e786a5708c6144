"""The ways from a log to a ranking: TrueSkill, Bradley-Terry (ties as half wins, or Davidson's), TrueSkill through time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from interplay.rank import bradley_terry, davidson, through_time
from interplay.rank.leaderboard import Standings
from interplay.rank.log import Log
from interplay.rank.trueskill import DEFAULTS, OUTCOMES, Settings
from interplay.rank.trueskill_many import rate_many as trueskill_many

Array = NDArray[np.float64]
Method = Literal["trueskill", "bradley-terry", "davidson", "through-time"]
METHODS: tuple[Method, ...] = get_args(Method)


@dataclass(frozen=True)
class Options:
    """What the methods can be told.

    Attributes:
        settings: The constants of TrueSkill and of TrueSkill through time.
        tie_weight: Wins a tie is worth to Bradley-Terry.
        drift: Standard deviation of a skill's change from one time step to the next, through time only.
        step: Length of a time step; all answers are one step if None.
    """

    settings: Settings = DEFAULTS
    tie_weight: float = 0.5
    drift: float = 0.0
    step: timedelta | None = None


@dataclass(frozen=True, eq=False)
class Ranking:
    """What a method makes of a log about n agents.

    Attributes:
        method: Its name.
        agents: Names, sorted.
        mu: float64, shape (n,): skill points, or the log strength for Bradley-Terry and Davidson.
        sigma: float64, shape (n,): standard deviation of the belief, or standard error.
        score: float64, shape (n,): what agents are sorted by: mu - 3 sigma, or mu for Bradley-Terry and Davidson.
        covariance: float64, shape (n, n), of mu.
        notes: What a reader must know about this fit, such as that phantom draws were needed.
    """

    method: Method
    agents: tuple[str, ...]
    mu: Array
    sigma: Array
    score: Array
    covariance: Array
    notes: tuple[str, ...] = ()

    @property
    def rank(self) -> NDArray[np.int64]:
        """Places from 1 on, shape (n,); equal scores share the best."""
        return ranks(self.score)


class Scores(NamedTuple):
    """Mu and score of B logs about n agents: float64, shape (B, n) each."""

    mu: Array
    score: Array


def rate(log: Log, method: Method = "trueskill", options: Options | None = None) -> Ranking:
    """Rank the agents of a log.

    Raises:
        ValueError: If there is no such method, or drift is asked for and an answer has no time.
    """
    options = options or Options()
    _check(method)
    if method == "trueskill":
        standings = Standings(options.settings)
        names = log.agents
        for left, right, outcome in zip(log.left.tolist(), log.right.tolist(), log.outcome.tolist(), strict=True):
            standings.add(names[left], names[right], OUTCOMES[outcome])
        ratings = [standings.rating(name) for name in names]
        mu, sigma = np.array([rating.mu for rating in ratings]), np.array([rating.sigma for rating in ratings])
        return Ranking(method, names, mu, sigma, mu - 3 * sigma, np.diag(sigma**2))
    if method == "through-time":
        fitted = through_time.fit(log, options.settings, steps=_steps(log, options), drift=options.drift)
        mu, sigma = fitted.mu[-1], fitted.sigma[-1]
        notes = () if fitted.has_converged else (f"the sweeps did not settle in {fitted.num_sweeps} rounds",)
        return Ranking(method, log.agents, mu, sigma, mu - 3 * sigma, fitted.covariance, notes)
    if not log.agents:
        return Ranking(method, (), np.zeros(0), np.zeros(0), np.zeros(0), np.zeros((0, 0)))
    wins, ties = log.counts()
    if method == "davidson":
        result = davidson.fit(wins, ties)
    else:
        result = bradley_terry.fit(wins, ties, tie_weight=options.tie_weight)
    strength, covariance = result.log_strength, result.covariance
    notes = (PHANTOM_NOTE,) if result.is_regularised else ()
    return Ranking(method, log.agents, strength, result.standard_error, strength, covariance, notes)


PHANTOM_NOTE = (
    "some agents never lost to some others, directly or through third ones, so each agent was given a draw against a phantom "
    "of average strength; otherwise strengths would be infinite"
)


def rate_many(
    log: Log,
    times: NDArray[np.int64],
    method: Method = "trueskill",
    options: Options | None = None,
    *,
    on_progress: Callable[[float], None] | None = None,
) -> Scores:
    """Rank the agents in B logs made of the answers of one.

    Args:
        times: int64, shape (B, N): how often each answer comes in each log.
        on_progress: Called now and then with the share of the work done since, in [0, 1].
    """
    options = options or Options()
    _check(method)
    report = on_progress or (lambda share: None)
    if not log.agents:
        return Scores(np.zeros((len(times), 0)), np.zeros((len(times), 0)))
    if method == "trueskill":
        total = max(int(times.sum()), 1)
        mu, sigma = trueskill_many(log, times, options.settings, on_progress=lambda count: report(count / total))
        return Scores(mu, mu - 3 * sigma)
    if method == "through-time":
        fitted = through_time.fit_many(
            log,
            times.astype(float),
            options.settings,
            steps=_steps(log, options),
            drift=options.drift,
            on_progress=lambda count: report(count / len(times)),
        )
        return Scores(fitted.mu, fitted.mu - 3 * fitted.sigma)
    wins, ties = log.counts(times.astype(float))
    if method == "davidson":
        strength = davidson.fit_many(wins, ties).log_strength
    else:
        strength = bradley_terry.fit_many(wins + options.tie_weight * ties).log_strength
    report(1.0)
    return Scores(strength, strength)


def ranks(score: Array) -> NDArray[np.int64]:
    """Places from 1 on by falling score, along the last axis; equal scores share the best place.

    >>> ranks(np.array([3.0, 9.0, 3.0])).tolist()
    [2, 1, 2]
    """
    return 1 + (score[..., None, :] > score[..., :, None]).sum(axis=-1)


def _check(method: str) -> None:
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")


def _steps(log: Log, options: Options) -> NDArray[np.int64] | None:
    """Time steps of the answers, if steps are asked for."""
    return None if options.step is None else through_time.time_steps(log, options.step)
