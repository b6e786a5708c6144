"""What a win or a draw says about a difference of skills, for arrays: `interplay.rank.normal` without its loop over answers.

Everything comes from one function, the hazard of the standard normal distribution, h(x) = density(x) / cumulative(-x), read
from a table of cubics. Its derivative is h (h - x), so that values and slopes at the nodes are exact.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from interplay.rank.normal import cumulative, density

Array = NDArray[np.float64]

_LOWEST, _HIGHEST, _PER_UNIT = -9, 14, 1024
"""The table's ends and its cubics in one unit: cubics 1 / 1024 long err by less than 1e-15."""
_NUM_TERMS = 14
"""Terms of the continued fraction beyond the table's upper end, where these few give full precision."""


class Corrections(NamedTuple):
    """Mean shift `v` and share of variance `w`, as `interplay.rank.normal.Correction`, in arrays of one shape."""

    v: Array
    w: Array


def win_corrections(t: Array, margin: Array) -> Corrections:
    """V and W of a win, see `interplay.rank.normal.win_correction`; arguments of one shape."""
    value, excess = hazard(margin - t)
    return Corrections(value, np.minimum(value * excess, 1.0))


def draw_corrections(t: Array, margin: Array) -> Corrections:
    """V and W of a draw, see `interplay.rank.normal.draw_correction`; arguments of one shape, margins positive.

    Everything is divided by the density at the nearer bound: the ratio of the two densities is exp(-2 |t| margin).
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
    """h(x) = density(x) / cumulative(-x), and h(x) - x; relative errors below 1e-10, absolute ones about 1e-15.

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
        rest = np.zeros(int(above.sum()))
        for term in range(_NUM_TERMS, 0, -1):
            rest = term / (x[above] + rest)
        excess[above] = rest
        value[above] = x[above] + rest
    return value, excess


def cumulatives(x: Array) -> Array:
    """`interplay.rank.normal.cumulative`, entry by entry."""
    return np.array([cumulative(value) for value in x.reshape(-1).tolist()]).reshape(x.shape)


@functools.cache
def _cubics() -> Array:
    """Coefficients (4, cubics) in the unit of one cubic: of h(x) below 0 and of h(x) - x above, where h grows like x."""
    nodes = np.arange(_LOWEST * _PER_UNIT, _HIGHEST * _PER_UNIT + 1) / _PER_UNIT
    # Above 5 the excess comes from the continued fraction, as the subtraction would lose digits.
    excess = np.array([_excess(x) for x in nodes.tolist()])
    values = np.where(nodes <= 0, [density(x) / cumulative(-x) for x in nodes.tolist()], excess + nodes)
    slopes = values * excess
    is_negative = nodes[:-1] < 0
    start = np.where(is_negative, values[:-1], excess[:-1])
    end = np.where(is_negative, values[1:], excess[1:])
    start_slope = np.where(is_negative, slopes[:-1], slopes[:-1] - 1) / _PER_UNIT
    end_slope = np.where(is_negative, slopes[1:], slopes[1:] - 1) / _PER_UNIT
    rise = end - start
    return np.stack([start, start_slope, 3 * rise - 2 * start_slope - end_slope, start_slope + end_slope - 2 * rise])


def _excess(x: float) -> float:
    """h(x) - x."""
    if x < 5:
        return density(x) / cumulative(-x) - x
    rest = 0.0
    for term in range(40, 0, -1):
        rest = term / (x + rest)
    return rest
