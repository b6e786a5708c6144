"""Comparison of algorithms over tasks and seeds: normalised scores, aggregates and their intervals. Pure arithmetic.

Agarwal et al. 2021, "Deep Reinforcement Learning at the Edge of the Statistical Precipice" (NeurIPS), sections 4.1 to 4.3. The
scores of an algorithm are a matrix with a row for each run (a seed of training) and a column for each task, normalised so that
0 is random play and 1 the best human game (Gerstgrasser et al. 2022, appendix A.7, multiplies them by 100).

Differences: the intervals depend on a seed only, unlike those of the authors' package rliable. They cover 95 %; CrowdPlay's
figures show the middle half.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

NUM_RESAMPLES = 2000
_LEVEL = 0.95
_CELLS_AT_ONCE = 4_000_000


class Estimate(NamedTuple):
    """A number and its percentile interval."""

    value: float
    low: float
    high: float


def normalised(score: float, *, random: float, best: float) -> float:
    """Scale a return so that random play is 0 and the best human game 1; `ValueError` unless best > random.

    >>> round(normalised(381.88, random=165, best=695), 4)
    0.4092
    """
    if not best > random:
        raise ValueError(f"the best score must be above that of random play, got best {best:g} and random {random:g}")
    return (score - random) / (best - random)


# Aggregates: of scores (..., runs, tasks), one number for each matrix.


def iqm(scores: Array) -> Array:
    """Interquartile mean: the mean of the middle half of the scores of all runs in all tasks.

    >>> float(iqm(np.array([[0.0, 1.0], [2.0, 3.0]])))
    1.5
    """
    flat = np.sort(scores.reshape(*scores.shape[:-2], -1), axis=-1)
    cut = flat.shape[-1] // 4
    return flat[..., cut : flat.shape[-1] - cut].mean(axis=-1)


def median(scores: Array) -> Array:
    """Median over tasks of the mean score in each task."""
    return np.median(scores.mean(axis=-2), axis=-1)


def mean(scores: Array) -> Array:
    """Mean over tasks of the mean score in each task."""
    return scores.mean(axis=(-2, -1))


def optimality_gap(scores: Array) -> Array:
    """Mean over runs of max(0, 1 - score): how far runs stay below 1."""
    return 1 - np.minimum(scores, 1).mean(axis=(-2, -1))


AGGREGATES: Mapping[str, Callable[[Array], Array]] = {
    "IQM": iqm,
    "median": median,
    "mean": mean,
    "optimality gap": optimality_gap,
}


def profile(scores: Array, levels: Array) -> Array:
    """Performance profile: the share of runs above each level, shape (..., len(levels))."""
    flat = scores.reshape(*scores.shape[:-2], -1)
    return (flat[..., None, :] > levels[:, None]).mean(axis=-1)


def improvement(of: Array, over: Array) -> Array:
    """Probability of improvement: the chance that a run of one algorithm beats a run of another in a random task; equal scores
    count one half.

    Scores are float64, shapes (..., runs, tasks); the two algorithms may have different numbers of runs.
    """
    mine, others = of[..., :, None, :], over[..., None, :, :]
    return ((mine > others) + (mine == others) / 2).mean(axis=(-3, -2, -1))


# Intervals: by runs drawn anew within each task.


def resampled(scores: Array, *, seed: int, number: int) -> Array:
    """Matrices in which each task's runs are drawn again with replacement (stratified bootstrap), shape (B, runs, tasks).

    `number` is the algorithm's place in the list, so that two algorithms have different random draws.
    """
    rng = np.random.default_rng((seed, number))
    chosen = rng.integers(len(scores), size=(NUM_RESAMPLES, *scores.shape))
    return np.take_along_axis(scores[None], chosen, axis=1)


def estimate(scores: Array, statistic: Callable[[Array], Array], *, seed: int = 0, number: int = 0) -> Estimate:
    """Estimate a statistic of a matrix of scores, with the interval of its stratified bootstrap for this seed."""
    return _estimate(statistic(scores), statistic(resampled(scores, seed=seed, number=number)))


def aggregates(scores: Mapping[str, Array], *, seed: int = 0) -> dict[str, dict[str, Estimate]]:
    """Map each algorithm to its estimates, by their name in `AGGREGATES`."""
    found = {}
    for number, (name, matrix) in enumerate(scores.items()):
        drawn = resampled(matrix, seed=seed, number=number)
        found[name] = {kind: _estimate(of(matrix), of(drawn)) for kind, of in AGGREGATES.items()}
    return found


def profiles(scores: Mapping[str, Array], levels: Sequence[float], *, seed: int = 0) -> dict[str, list[Estimate]]:
    """Map each algorithm to the estimates of its performance profile at each level; intervals are pointwise."""
    at = np.asarray(levels, np.float64)
    found = {}
    for number, (name, matrix) in enumerate(scores.items()):
        size = max(1, _CELLS_AT_ONCE // (matrix.size * len(at)))
        drawn = resampled(matrix, seed=seed, number=number)
        shares = np.concatenate([profile(drawn[start : start + size], at) for start in range(0, len(drawn), size)])
        found[name] = [_estimate(value, shares[:, place]) for place, value in enumerate(profile(matrix, at))]
    return found


def improvements(scores: Mapping[str, Array], *, seed: int = 0) -> dict[tuple[str, str], Estimate]:
    """Map each ordered pair (algorithm, other) to the probability that the first improves on the other."""
    drawn = {name: resampled(matrix, seed=seed, number=number) for number, (name, matrix) in enumerate(scores.items())}
    return {
        (one, other): _estimate(improvement(scores[one], scores[other]), improvement(drawn[one], drawn[other]))
        for one in scores
        for other in scores
        if one != other
    }


def _estimate(value: Array | float, drawn: Array) -> Estimate:
    low, high = np.quantile(drawn, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return Estimate(float(value), float(low), float(high))
