"""Bootstrap intervals: how much scores and ranks would vary if the same study were repeated, from many resamples of the log.

Efron, "Bootstrap Methods: Another Look at the Jackknife" (Annals of Statistics 1979). Intervals are percentiles of the
resampled values. Resampling whole judges instead of answers (the cluster bootstrap) takes into account that one person's
answers resemble each other, and so gives the right interval if few judges gave many answers each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from interplay.rank.compare import normalised
from interplay.rank.methods import Log, rate_many
from interplay.rank.ranking import TOLERANCE, Options, ranks

Array = NDArray[np.float64]
Unit = Literal["answers", "judges"]
UNITS: tuple[Unit, ...] = get_args(Unit)

_CELLS_AT_ONCE = 8_000_000
"""Largest number of counts in one part of the resamples; it limits memory to a few hundred megabytes."""


class Interval(NamedTuple):
    """Percentile intervals: arrays (n,) of lower and upper ends."""

    low: Array
    high: Array


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """Scores of n agents in B resamples.

    Attributes:
        agents: Names, sorted.
        score, mu: float64, shape (B, n). An agent without answers in a resample has the values of an unjudged agent.
        rank: int64, shape (B, n); equal scores share the best rank; each group of `rank.ranking` is ranked separately.
        is_known: bool, shape (n,): whether the agent has a meaningful interval. False if there is only one answer about it (one
            judge, if judges are drawn), or if all resamples are equal, which would give an interval without width.
    """

    agents: tuple[str, ...]
    score: Array
    mu: Array
    rank: NDArray[np.int64]
    is_known: NDArray[np.bool_]

    def score_interval(self, level: float = 0.95) -> Interval:
        """Interval of each agent's score that contains the share `level` of the resamples."""
        return percentiles(self.score, level)

    def rank_interval(self, level: float = 0.95) -> Interval:
        """Interval of each agent's rank; its ends are whole ranks, so that it contains at least about the share `level`."""
        tail = _tail(level)
        high = np.quantile(self.rank, 1 - tail, axis=0, method="higher")
        return Interval(np.quantile(self.rank, tail, axis=0, method="lower"), high)

    def above(self) -> Array:
        """Share of resamples in which agent i scores above agent j; a tie counts half. Shape (n, n), 0.5 on the diagonal."""
        n = len(self.agents)
        share = np.empty((n, n))
        for i in range(n):
            mine = self.score[:, i : i + 1]
            share[i] = (mine > self.score).mean(axis=0) + (mine == self.score).mean(axis=0) / 2
        return share


def bootstrap(
    log: Log,
    method: str = "trueskill",
    options: Options | None = None,
    *,
    num_resamples: int = 1000,
    rng: np.random.Generator,
    unit: Unit = "answers",
    on_progress: Callable[[float], None] | None = None,
) -> Bootstrap:
    """Rank the agents in resamples of a log.

    Args:
        log: A log with at least one answer. TrueSkill depends on the order and replays each resample in the log's order.
        unit: Draw `answers`, or `judges` with all their answers; with replacement, as many as the log has.
        on_progress: Called now and then with the share of the work done since the last call, in [0, 1].
    Raises:
        ValueError: If there is nothing to resample, or an argument is out of range.
    """
    parts = [
        rate_many(log, times, method, options, on_progress=_scaled(on_progress, len(times) / num_resamples))
        for times in resample(log, num_resamples, rng, unit)
    ]
    score = np.concatenate([part.score for part in parts])
    return _made(log.agents, score, np.concatenate([part.mu for part in parts]), log.groups(), log.num_sources(unit))


def bootstrap_tasks(
    log: Log,
    task: NDArray[np.int64],
    num_tasks: int,
    method: str = "trueskill",
    options: Options | None = None,
    *,
    num_resamples: int = 1000,
    rng: np.random.Generator,
    unit: Unit = "answers",
    on_progress: Callable[[float], None] | None = None,
) -> tuple[list[Bootstrap], Bootstrap]:
    """Bootstrap each task's scores, and the normalised score over all tasks (`compare.normalised`), from the same resamples.

    `task`, int64, shape (N,), is the task of each answer, from 0 to `num_tasks - 1`.
    """
    used = [np.flatnonzero(task == number) for number in range(num_tasks)]
    logs = [log.select(rows).compact() for rows in used]
    scores: list[list[Array]] = [[] for _ in logs]
    mus: list[list[Array]] = [[] for _ in logs]
    for times in resample(log, num_resamples, rng, unit):
        for number, (rows, one) in enumerate(zip(used, logs, strict=True)):
            weight = len(times) / num_resamples * len(rows) / len(log)
            part = rate_many(one, times[:, rows], method, options, on_progress=_scaled(on_progress, weight))
            scores[number].append(part.score)
            mus[number].append(part.mu)
    results = []
    everywhere = np.zeros((num_resamples, num_tasks, len(log.agents)))
    played = np.zeros((num_tasks, len(log.agents)), bool)
    for number, one in enumerate(logs):
        score, mu = np.concatenate(scores[number]), np.concatenate(mus[number])
        results.append(_made(one.agents, score, mu, one.groups(), one.num_sources(unit)))
        places = [log.agents.index(agent) for agent in one.agents]
        everywhere[:, number, places], played[number, places] = mu, True
    overall = normalised(everywhere, played)
    return results, _made(log.agents, overall, overall, log.groups(), log.num_sources(unit))


def _made(
    agents: tuple[str, ...], score: Array, mu: Array, group: NDArray[np.int64], num_sources: NDArray[np.int64]
) -> Bootstrap:
    is_known = (num_sources > 1) & (np.ptp(score, axis=0) > TOLERANCE)
    return Bootstrap(agents, score, mu, ranks(score, group), is_known)


def resample(log: Log, num_resamples: int, rng: np.random.Generator, unit: Unit = "answers") -> Iterator[NDArray[np.int64]]:
    """Yield how often each answer occurs in each resample: int64 arrays (b, N), together `num_resamples` rows."""
    if num_resamples < 1:
        raise ValueError(f"num_resamples must be at least 1, got {num_resamples}")
    if not len(log):
        raise ValueError("there is no answer to resample")
    if unit not in UNITS:
        raise ValueError(f"unit must be one of {', '.join(UNITS)}, got {unit!r}")
    return _parts(log, num_resamples, rng, unit)


def percentiles(values: Array, level: float) -> Interval:
    """The interval that leaves out the share (1 - `level`) / 2 of the values (B, ...) at each end."""
    tail = _tail(level)
    low, high = np.quantile(values, [tail, 1 - tail], axis=0)
    return Interval(low, high)


def _parts(log: Log, num_resamples: int, rng: np.random.Generator, unit: Unit) -> Iterator[NDArray[np.int64]]:
    size = max(1, _CELLS_AT_ONCE // len(log))
    for start in range(0, num_resamples, size):
        number = min(size, num_resamples - start)
        if unit == "answers":
            yield rng.multinomial(len(log), np.full(len(log), 1 / len(log)), size=number)
        else:
            num_judges = len(log.judges)
            yield rng.multinomial(num_judges, np.full(num_judges, 1 / num_judges), size=number)[:, log.judge]


def _scaled(on_progress: Callable[[float], None] | None, weight: float) -> Callable[[float], None] | None:
    return None if on_progress is None else lambda share: on_progress(share * weight)


def _tail(level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, both excluded, got {level!r}")
    return (1 - level) / 2
