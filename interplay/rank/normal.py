"""The truncated normal distribution, exact in the far tails: how a win, a loss or a draw changes a difference of skills.

Names follow Herbrich, Minka & Graepel, "TrueSkill: A Bayesian Skill Rating System" (NIPS 2007): V is the shift of the mean
and W the reduction of the variance of a standard normal variable, given that it lies above a bound (win) or between two
bounds (draw). There are functions for one answer and for arrays of answers. The functions for arrays use the hazard of the
standard normal distribution, h(x) = density(x) / cumulative(-x), from a table of cubics: its derivative is h (h - x), so that
values and slopes at the nodes are exact.
"""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Z95 = 1.959963984540054
"""Half width of the 95 % interval of a normal distribution, in standard deviations."""
_SQRT_HALF = math.sqrt(0.5)
_DENSITY_AT_ZERO = 1 / math.sqrt(2 * math.pi)
_TAIL = 5.0
"""From this many standard deviations on, a continued fraction replaces quotients of tiny numbers."""
_NUM_TERMS = 32
"""Number of terms of the continued fraction; 32 give full double precision from `_TAIL` on (tests check this with mpmath)."""


class Correction(NamedTuple):
    """Change of a standard normal difference by an outcome: `v`, its mean's shift; `w`, the share of variance lost (0 to 1)."""

    v: float
    w: float


def density(x: float) -> float:
    return _DENSITY_AT_ZERO * math.exp(-0.5 * x * x)


def cumulative(x: float) -> float:
    """Probability that a standard normal variable is below `x`; the relative error is about 1e-16, also far below zero."""
    return 0.5 * math.erfc(-x * _SQRT_HALF)


def win_correction(t: float, margin: float) -> Correction:
    """V and W of a win: the performance difference, expected to be `t`, was greater than `margin`.

    With x = t - margin: v = density(x) / cumulative(x), w = v (v + x). `t` is the expected difference of performances, winner
    minus loser, in standard deviations of the difference; `margin`, not negative, has the same unit.
    """
    x = t - margin
    if x > -_TAIL:
        v = density(x) / cumulative(x)
        return Correction(v, v * (v + x))
    excess = _mills_excess(-x)  # v = -x + excess, so that v + x needs no subtraction
    v = excess - x
    return Correction(v, v * excess)


def draw_correction(t: float, margin: float) -> Correction:
    """V and W of a draw: the performance difference, expected to be `t`, was at most `margin` (positive) from 0."""
    distance = abs(t)
    near, far = distance - margin, distance + margin
    if near < _TAIL:
        inside = cumulative(-near) - cumulative(-far)
        v = (density(far) - density(near)) / inside
        w = v * v + (far * density(far) - near * density(near)) / inside
    else:
        # Everything divided by density(near): the ratio of the two densities is exp(-2 distance margin).
        fade = math.exp(-2 * distance * margin)
        near_excess, far_excess = _mills_excess(near), _mills_excess(far)
        near_mills, far_mills = 1 / (near + near_excess), 1 / (far + far_excess)
        inside = near_mills - far_mills * fade
        v_beyond_near = (near_excess * near_mills - fade * (1 - near * far_mills)) / inside
        v = -(near + v_beyond_near)
        w = -v * v_beyond_near + 2 * margin * fade / inside
    return Correction(-v if t < 0 else v, w)


def _mills_excess(x: Any, num_terms: int = _NUM_TERMS) -> Any:
    """density(x) / cumulative(-x) - x for `x` of at least `_TAIL`, a number or an array: 1/(x + 2/(x + 3/(x + ...)))."""
    rest = 0.0
    for term in range(num_terms, 0, -1):
        rest = term / (x + rest)
    return rest


Array = NDArray[np.float64]

_LOWEST, _HIGHEST, _PER_UNIT = -9, 14, 1024
"""Lower and upper end of the table, and its cubics per unit: cubics of length 1 / 1024 have errors below 1e-15."""
_NUM_TERMS_BEYOND = 14
"""Number of terms of the continued fraction above the table's upper end, where 14 terms give full precision."""


class Corrections(NamedTuple):
    """Mean shift `v` and lost share of variance `w`, as in `Correction`, in arrays of the same shape."""

    v: Array
    w: Array


def win_corrections(t: Array, margin: Array) -> Corrections:
    """V and W of wins, see `win_correction`; arguments have the same shape."""
    value, excess = hazard(margin - t)
    return Corrections(value, np.minimum(value * excess, 1.0))


def draw_corrections(t: Array, margin: Array) -> Corrections:
    """V and W of draws, see `draw_correction`; arguments have the same shape, and margins are positive.

    All terms are divided by the density at the nearer bound; the ratio of the two densities is exp(-2 |t| margin).
    """
    distance = np.abs(t)
    near, far = distance - margin, distance + margin
    near_hazard, near_excess = hazard(near)
    far_hazard, _ = hazard(far)
    with np.errstate(under="ignore"):
        fade = np.exp(-2 * distance * margin)
    inside = 1 / near_hazard - fade / far_hazard
    v_beyond_near = (near_excess / near_hazard - fade * (1 - near / far_hazard)) / inside
    v = -(near + v_beyond_near)
    w = -v * v_beyond_near + 2 * margin * fade / inside
    return Corrections(np.where(t < 0, -v, v), np.clip(w, 0.0, 1.0))


def hazard(x: Array) -> tuple[Array, Array]:
    """Return h(x) = density(x) / cumulative(-x), and h(x) - x; relative errors are below 1e-10, absolute errors about 1e-15.

    >>> value, excess = hazard(np.array([0.0, 3.0, 40.0]))
    >>> print(value.round(6), excess.round(6))
    [ 0.797885  3.283099 40.024969] [0.797885 0.283099 0.024969]
    """
    table = _cubics()
    place = (x - _LOWEST) * _PER_UNIT
    index = np.clip(place, 0, table.shape[1] - 1).astype(np.int64)
    u = place - index
    c = table[:, index]
    smooth = ((c[3] * u + c[2]) * u + c[1]) * u + c[0]
    is_negative = x < 0
    value = np.where(is_negative, smooth, smooth + x)
    excess = np.where(is_negative, smooth - x, smooth)
    if (x < _LOWEST).any():  # the event is certain to 1e-19
        below = x < _LOWEST
        value[below] = np.exp(-np.square(x[below]) / 2) / np.sqrt(2 * np.pi)
        value[below] = np.maximum(value[below], np.finfo(float).tiny)
        excess[below] = value[below] - x[below]
    if (x >= _HIGHEST).any():
        above = x >= _HIGHEST
        rest = _mills_excess(x[above], _NUM_TERMS_BEYOND)
        excess[above] = rest
        value[above] = x[above] + rest
    return value, excess


def cumulatives(x: Array) -> Array:
    """Apply `cumulative` to each entry."""
    return np.array([cumulative(value) for value in x.reshape(-1).tolist()]).reshape(x.shape)


@functools.cache
def _cubics() -> Array:
    """Coefficients, shape (4, number of cubics), over cubics of length 1: of h(x) for x < 0; of h(x) - x for larger x."""
    nodes = np.arange(_LOWEST * _PER_UNIT, _HIGHEST * _PER_UNIT + 1) / _PER_UNIT
    # Above 5 the excess comes from the continued fraction, as the subtraction would lose digits.
    excess = np.array([density(x) / cumulative(-x) - x if x < 5 else _mills_excess(x, 40) for x in nodes.tolist()])
    values = np.where(nodes <= 0, [density(x) / cumulative(-x) for x in nodes.tolist()], excess + nodes)
    slopes = values * excess
    is_negative = nodes[:-1] < 0
    start = np.where(is_negative, values[:-1], excess[:-1])
    end = np.where(is_negative, values[1:], excess[1:])
    start_slope = np.where(is_negative, slopes[:-1], slopes[:-1] - 1) / _PER_UNIT
    end_slope = np.where(is_negative, slopes[1:], slopes[1:] - 1) / _PER_UNIT
    rise = end - start
    return np.stack([start, start_slope, 3 * rise - 2 * start_slope - end_slope, start_slope + end_slope - 2 * rise])
