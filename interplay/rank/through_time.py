"""TrueSkill Through Time: the ratings a whole log supports, whatever order its answers came in.

Dangauthier, Herbrich, Minka & Graepel, "TrueSkill Through Time: Revisiting the History of Chess" (NIPS 2007). Where TrueSkill
takes each answer once, in order, here every answer is weighed again in the light of all others until nothing moves
(expectation propagation): an early win over an agent that proved strong later counts as what it was. Within a time step the
order of answers means nothing; from step to step a skill drifts by Normal(0, drift**2). Without drift, all answers are one
step and the result does not depend on order at all.

Differences from the paper:
    All answers of a step send their messages at once, damped, instead of one after the other, with the same fixed point. So
    equal answers (same agents, outcome and step) share one message and a count, and many logs are computed at once.
    After each sweep, agents that answers connect are shifted together so that their first ratings average `mu`. Answers
    tell only differences, so that is true of the fixed point anyhow, but sweeps alone would come to it very slowly.
    The draw margin is one for all agents (the paper estimates one an agent); `Settings.tau` is not used, `drift` replaces it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from interplay.rank.log import DRAW, RIGHT, Log
from interplay.rank.normal_arrays import draw_corrections, win_corrections
from interplay.rank.trueskill import DEFAULTS, Rating, Settings

Array = NDArray[np.float64]

_MAX_SWEEPS = 5000
_DAMPING = 0.2
"""Share of the old message that stays. Undamped, two agents would pass one surprise to and fro for ever."""
_MORE_DAMPING = 0.4
"""Share of the way to 1 by which damping rises in a log whose means swing back by more than half of the last change."""
_TOLERANCE = 1e-10
"""Sweeps stop when no mean and no deviation, but for the damping, moves by more, in prior standard deviations."""


@dataclass(frozen=True, eq=False)
class ThroughTime:
    """Ratings of n agents at each of S time steps.

    Attributes:
        agents: Names, sorted.
        mu, sigma: float64, shape (S, n); belief about each skill at each step given the whole log, before and after. As in
            the paper each skill's belief is kept apart from the others', which makes sigma too small (by a sixth, say, where
            three agents met; `covariance` is closer).
        covariance: float64, shape (n, n), of the skills at the last step. With one step: of the normal distribution that the
            prior and every answer's final message about a difference of skills make together. Else sigma**2 on the diagonal.
        num_sweeps: Sweeps until nothing moved.
        has_converged: False if the sweeps ran out first.
    """

    agents: tuple[str, ...]
    mu: Array
    sigma: Array
    covariance: Array
    num_sweeps: int
    has_converged: bool

    def ratings(self, step: int = -1) -> dict[str, Rating]:
        """Every agent's rating at one step, the last by default."""
        return {
            agent: Rating(mu, sigma)
            for agent, mu, sigma in zip(self.agents, self.mu[step].tolist(), self.sigma[step].tolist(), strict=True)
        }


class ThroughTimeMany(NamedTuple):
    """Ratings at the last step of B logs about the same n agents: float64, shape (B, n)."""

    mu: Array
    sigma: Array
    has_converged: bool


def fit(log: Log, settings: Settings = DEFAULTS, *, steps: NDArray[np.int64] | None = None, drift: float = 0.0) -> ThroughTime:
    """Ratings of a whole log.

    Args:
        log: Answers in any order.
        settings: The model; its `tau` is not used.
        steps: int64, shape (N,): the time step of each answer, 0 or more (`time_steps`); one step for all if None.
        drift: Standard deviation of a skill's change from one step to the next, in skill points (the paper's gamma).
    Raises:
        ValueError: If `drift` is negative or `steps` has another shape.

    >>> from interplay.rank import Comparison
    >>> log = Log.of([Comparison("ada", "bob", "left")])
    >>> {agent: round(rating.mu, 3) for agent, rating in fit(log).ratings().items()}  # one answer: TrueSkill without drift
    {'ada': 29.396, 'bob': 20.604}
    """
    sites = _Sites.of(log, steps, drift)
    counts = sites.sum_up(np.ones((1, len(log))))
    result = _propagate(sites, counts, settings)
    mu, variance = result.belief.mean[0], result.belief.variance[0]
    if sites.num_steps == 1:
        covariance = _covariance(sites, counts[0], result.between[0], settings)
    else:
        covariance = np.diag(variance[-1])
    return ThroughTime(log.agents, mu, np.sqrt(variance), covariance, result.num_sweeps, result.has_converged)


def fit_many(
    log: Log,
    weights: Array,
    settings: Settings = DEFAULTS,
    *,
    steps: NDArray[np.int64] | None = None,
    drift: float = 0.0,
    on_progress: Callable[[int], None] | None = None,
) -> ThroughTimeMany:
    """Ratings of B logs made of the answers of one.

    Args:
        weights: Shape (B, N): how often each answer counts in each log.
        on_progress: Called now and then with the number of logs that have come to be done.
    """
    sites = _Sites.of(log, steps, drift)
    num_logs = len(weights)
    # Arrays of about 400 kB each: quicker than larger ones, which leave the cache.
    size = max(1, 50_000 // (sites.num_steps * sites.num_agents + 2 * len(sites.first) + 1))
    mus, sigmas, converged = [], [], True
    for start in range(0, num_logs, size):
        result = _propagate(sites, sites.sum_up(weights[start : start + size]), settings)
        mus.append(result.belief.mean[:, -1])
        sigmas.append(np.sqrt(result.belief.variance[:, -1]))
        converged &= result.has_converged
        if on_progress:
            on_progress(len(result.belief.mean))
    return ThroughTimeMany(np.concatenate(mus), np.concatenate(sigmas), converged)


def time_steps(log: Log, length: timedelta) -> NDArray[np.int64]:
    """Time steps of `length` each, from the first answer on: int64, shape (N,).

    Raises:
        ValueError: If an answer has no time or `length` is not positive.
    """
    if log.time_s is None:
        raise ValueError("drift needs the time of every answer, and an answer here has none")
    if not length > timedelta(0):
        raise ValueError(f"length must be positive, got {length}")
    return np.floor((log.time_s - log.time_s.min(initial=math.inf)) / length.total_seconds()).astype(np.int64)


@dataclass(frozen=True, eq=False)
class _Sites:
    """Equal answers, gathered: K kinds of answers at S steps.

    `first` and `second` (K,) are places in a table of S * n nodes, better agent first; `place` (N,) leads from answers to
    kinds. `order` and `starts` gather both ends' messages by node for `np.add.reduceat`, `nodes` says for which nodes.
    `drift_variance` (S, n) is what the skill's variance gains on the way to each step: nothing before its first answer.
    """

    num_agents: int
    num_steps: int
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    is_draw: NDArray[np.bool_]
    place: NDArray[np.int64]
    order: NDArray[np.int64]
    starts: NDArray[np.int64]
    nodes: NDArray[np.int64]
    drift_variance: Array

    @classmethod
    def of(cls, log: Log, steps: NDArray[np.int64] | None, drift: float) -> _Sites:
        """Gather a log."""
        if not (0 <= drift < math.inf):
            raise ValueError(f"drift must be zero or positive, got {drift!r}")
        steps = np.zeros(len(log), np.int64) if steps is None else np.asarray(steps, np.int64)
        if steps.shape != (len(log),) or (steps < 0).any():
            raise ValueError(f"steps must give each of {len(log)} answers a step of 0 or more, got shape {steps.shape}")
        num_agents, num_steps = len(log.agents), int(steps.max(initial=0)) + 1
        first = steps * num_agents + np.where(log.outcome == RIGHT, log.right, log.left)
        second = steps * num_agents + np.where(log.outcome == RIGHT, log.left, log.right)
        is_draw = log.outcome == DRAW
        # A draw has no better agent: one way round.
        first, second = (
            np.where(is_draw, np.minimum(first, second), first),
            np.where(is_draw, np.maximum(first, second), second),
        )
        num_nodes = num_agents * num_steps
        keys, place = np.unique((first * num_nodes + second) * 2 + is_draw, return_inverse=True)
        first, second, is_draw = keys // 2 // num_nodes, keys // 2 % num_nodes, keys % 2 == 1
        ends = np.concatenate([first, second])
        nodes, counts = np.unique(ends, return_counts=True)
        first_step = np.full(num_agents, num_steps)
        np.minimum.at(first_step, ends % num_agents, ends // num_agents)
        has_begun = np.arange(num_steps)[:, None] > first_step
        return cls(
            num_agents=num_agents,
            num_steps=num_steps,
            first=first,
            second=second,
            is_draw=is_draw,
            place=place.reshape(-1),
            order=np.argsort(ends, kind="stable"),
            starts=np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64),
            nodes=nodes,
            drift_variance=np.where(has_begun, drift**2, 0.0),
        )

    def sum_up(self, weights: Array) -> Array:
        """How often each kind of answer counts: (B, N) -> (B, K)."""
        if not len(self.first):
            return np.zeros((len(weights), 0))
        order = np.argsort(self.place, kind="stable")
        starts = np.searchsorted(self.place[order], np.arange(len(self.first)))
        return np.add.reduceat(np.asarray(weights, float)[:, order], starts, axis=1)

    def to_nodes(self, counts: Array, messages: Array) -> Array:
        """Sum what all answers send to their two ends: (B, K) and (B, 2, K) -> (B, S, n)."""
        sums = np.zeros((len(counts), self.num_steps * self.num_agents))
        ends = (counts[:, None] * messages).reshape(len(counts), -1)
        sums[:, self.nodes] = np.add.reduceat(ends[:, self.order], self.starts, axis=1)
        return sums.reshape(len(counts), self.num_steps, self.num_agents)


class _Belief(NamedTuple):
    """Means and variances, (B, S, n)."""

    mean: Array
    variance: Array


class _Messages(NamedTuple):
    """What one answer of each kind says about the skills at its two ends, (B, 2, K), and about their difference, (B, K).

    A message is a precision and a shift, which is the precision times a mean.
    """

    precision: Array
    shift: Array
    between: Array

    def keep(self, rows: NDArray[np.bool_]) -> _Messages:
        """Those of some logs only."""
        return _Messages(*(one[rows] for one in self))


class _Result(NamedTuple):
    """Where expectation propagation came to rest."""

    belief: _Belief
    between: Array
    num_sweeps: int
    has_converged: bool


def _propagate(sites: _Sites, counts: Array, settings: Settings) -> _Result:
    """Expectation propagation for B logs; counts (B, K)."""
    num_logs, num_kinds = counts.shape
    groups = _together(sites, counts)
    nothing = np.zeros((num_logs, sites.num_steps, sites.num_agents))
    belief = _chain(nothing, nothing, settings, sites.drift_variance)
    messages = _Messages(np.zeros((num_logs, 2, num_kinds)), np.zeros((num_logs, 2, num_kinds)), np.zeros_like(counts))
    result, result_between = _Belief(belief.mean.copy(), belief.variance.copy()), np.zeros_like(counts)
    rows = np.arange(num_logs if num_kinds else 0)  # logs that still move
    damping = np.full((num_logs, 1, 1), _DAMPING)
    last = np.zeros_like(belief.mean)
    num_sweeps = 0
    while rows.size and num_sweeps < _MAX_SWEEPS:
        num_sweeps += 1
        before = belief
        belief, messages = _sweep(sites, counts, belief, messages, groups, damping, settings)
        change = belief.mean - before.mean
        # Two means may swing back and forth by a rounding error; that is no reason.
        is_swinging = (change * last).sum(axis=(1, 2)) < -0.5 * np.square(last).sum(axis=(1, 2)) - 1e-16
        damping[is_swinging] += _MORE_DAMPING * (1 - damping[is_swinging])
        last = change
        moved = np.maximum(np.abs(change), np.abs(np.sqrt(belief.variance) - np.sqrt(before.variance)))
        is_moving = moved.max(axis=(1, 2)) > _TOLERANCE * settings.sigma * (1 - damping[:, 0, 0])
        if num_sweeps == _MAX_SWEEPS or not is_moving.all():
            result.mean[rows], result.variance[rows], result_between[rows] = belief.mean, belief.variance, messages.between
            rows, counts, groups, messages = rows[is_moving], counts[is_moving], groups[is_moving], messages.keep(is_moving)
            belief = _Belief(belief.mean[is_moving], belief.variance[is_moving])
            damping, last = damping[is_moving], last[is_moving]
    return _Result(result, result_between, num_sweeps, not rows.size)


def _sweep(
    sites: _Sites, counts: Array, belief: _Belief, old: _Messages, groups: Array, damping: Array, settings: Settings
) -> tuple[_Belief, _Messages]:
    """Every answer weighed once more, in B logs: the new beliefs and messages; groups (B, n, n), damping (B, 1, 1)."""
    new = _answer(sites, belief, old, settings)
    is_counted = (counts > 0)[:, None]
    precision = is_counted * (damping * old.precision + (1 - damping) * new.precision)
    shift = is_counted * (damping * old.shift + (1 - damping) * new.shift)
    node_precision, node_shift = sites.to_nodes(counts, precision), sites.to_nodes(counts, shift)
    belief = _chain(node_precision, node_shift, settings, sites.drift_variance)
    # The gauge: agents who meet start out at `mu` on average.
    lift = np.einsum("bij,bj->bi", groups, settings.mu - belief.mean[:, 0])
    shift += precision * lift[:, np.stack([sites.first, sites.second]) % sites.num_agents]
    belief = _chain(node_precision, node_shift + node_precision * lift[:, None, :], settings, sites.drift_variance)
    return belief, _Messages(precision, shift, new.between)


def _answer(sites: _Sites, belief: _Belief, old: _Messages, settings: Settings) -> _Messages:
    """What each kind of answer says in the light of everything else: of one answer, not of all its copies."""
    num_logs = len(belief.mean)
    ends = np.stack([sites.first, sites.second])
    node_precision = 1 / belief.variance.reshape(num_logs, -1)
    node_shift = belief.mean.reshape(num_logs, -1) * node_precision
    variance = 1 / (node_precision[:, ends] - old.precision)
    mean = (node_shift[:, ends] - old.shift) * variance
    c_squared = variance.sum(axis=1) + 2 * settings.beta**2
    c = np.sqrt(c_squared)
    t, margin = (mean[:, 0] - mean[:, 1]) / c, settings.draw_margin / c
    v, w = np.empty_like(t), np.empty_like(t)
    for is_kind, corrections in ((sites.is_draw, draw_corrections), (~sites.is_draw, win_corrections)):
        if is_kind.any():
            v[:, is_kind], w[:, is_kind] = corrections(t[:, is_kind], margin[:, is_kind])
    rest = 1 - variance / c_squared[:, None] * w[:, None]
    precision = (w / c_squared)[:, None] / rest
    signs = np.array([1.0, -1.0])[:, None]
    # About the difference of skills: the same information before it is blurred by the other skill's own variance.
    between = w / (c_squared - variance.sum(axis=1) * w)
    return _Messages(precision, mean * precision + signs * (v / c)[:, None] / rest, between)


def _chain(node_precision: Array, node_shift: Array, settings: Settings, drift_variance: Array) -> _Belief:
    """Each agent's belief at each step from what its answers say there, forward and backward through time; (B, S, n)."""
    num_steps = node_precision.shape[1]
    forward_precision, forward_shift = np.empty_like(node_precision), np.empty_like(node_shift)
    forward_precision[:, 0], forward_shift[:, 0] = 1 / settings.sigma**2, settings.mu / settings.sigma**2
    for step in range(1, num_steps):
        precision = forward_precision[:, step - 1] + node_precision[:, step - 1]
        blur = 1 / (1 + precision * drift_variance[step])
        forward_precision[:, step] = precision * blur
        forward_shift[:, step] = (forward_shift[:, step - 1] + node_shift[:, step - 1]) * blur
    backward_precision, backward_shift = np.zeros_like(node_precision), np.zeros_like(node_shift)
    for step in range(num_steps - 2, -1, -1):
        precision = backward_precision[:, step + 1] + node_precision[:, step + 1]
        blur = 1 / (1 + precision * drift_variance[step + 1])
        backward_precision[:, step] = precision * blur
        backward_shift[:, step] = (backward_shift[:, step + 1] + node_shift[:, step + 1]) * blur
    precision = forward_precision + node_precision + backward_precision
    return _Belief((forward_shift + node_shift + backward_shift) / precision, 1 / precision)


def _covariance(sites: _Sites, counts: Array, between: Array, settings: Settings) -> Array:
    """Inverse of the prior's and the answers' precision together, for a log of one step; counts and between (K,)."""
    precision = np.eye(sites.num_agents) / settings.sigma**2
    for a, b, strength in zip(sites.first, sites.second, counts * between, strict=True):
        precision[a, a] += strength
        precision[b, b] += strength
        precision[a, b] -= strength
        precision[b, a] -= strength
    return np.linalg.inv(precision).astype(np.float64)


def _together(sites: _Sites, counts: Array) -> Array:
    """Averages over agents that answers connect, directly or through third ones: matrices (B, n, n)."""
    n = sites.num_agents
    reach = np.zeros((len(counts), n, n), bool)
    a, b = sites.first % n, sites.second % n
    for kind in range(len(a)):
        is_there = counts[:, kind] > 0
        reach[:, a[kind], b[kind]] |= is_there
        reach[:, b[kind], a[kind]] |= is_there
    reach |= np.eye(n, dtype=bool)
    for _ in range(max(n - 1, 1).bit_length()):
        reach = (reach.astype(np.float32) @ reach.astype(np.float32)) > 0
    return reach / reach.sum(axis=2, keepdims=True)
