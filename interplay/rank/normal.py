"""The truncated normal distribution, exact in the far tails: what a win, a loss or a draw says about a difference of skills.

Names follow Herbrich, Minka & Graepel, "TrueSkill: A Bayesian Skill Rating System" (NIPS 2007): V is the shift of the mean
and W the shrinking of the variance of a standard normal variable that turned out to lie above a bound (win) or between two
(draw).
"""

from __future__ import annotations

import math
from typing import NamedTuple

Z95 = 1.959963984540054
"""Half width of the 95 % interval of a normal distribution, in standard deviations."""
_SQRT_HALF = math.sqrt(0.5)
_DENSITY_AT_ZERO = 1 / math.sqrt(2 * math.pi)
_TAIL = 5.0
"""Beyond this many standard deviations quotients of tiny numbers give way to a continued fraction."""
_NUM_TERMS = 32
"""Terms of the continued fraction; 32 give full double precision from `_TAIL` on (checked against mpmath in the tests)."""


class Correction(NamedTuple):
    """What an observed outcome does to a standard normal difference: `v` is its new mean less the old, `w` the share of its
    variance that goes, in [0, 1]."""

    v: float
    w: float


def density(x: float) -> float:
    """Density of the standard normal distribution."""
    return _DENSITY_AT_ZERO * math.exp(-0.5 * x * x)


def cumulative(x: float) -> float:
    """Probability that a standard normal variable is below `x`; relative error about 1e-16, also far below zero."""
    return 0.5 * math.erfc(-x * _SQRT_HALF)


def win_correction(t: float, margin: float) -> Correction:
    """V and W when the performance difference, expected to be `t`, turned out to exceed `margin`.

    With x = t - margin: v = density(x) / cumulative(x), w = v (v + x).

    Args:
        t: Expected difference of performances (winner less loser), in its own standard deviations.
        margin: Draw margin in the same unit, not negative.
    """
    x = t - margin
    if x > -_TAIL:
        v = density(x) / cumulative(x)
        return Correction(v, v * (v + x))
    excess = _mills_excess(-x)  # v = -x + excess, so that v + x needs no subtraction
    v = excess - x
    return Correction(v, v * excess)


def draw_correction(t: float, margin: float) -> Correction:
    """V and W when the performance difference, expected to be `t`, turned out to lie within plus and minus `margin`.

    Args:
        t: Expected difference of performances (left less right), in its own standard deviations.
        margin: Draw margin in the same unit, positive.
    """
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


def _mills_excess(x: float) -> float:
    """density(x) / cumulative(-x) - x for `x` of at least `_TAIL`: 1/(x + 2/(x + 3/(x + ...)))."""
    rest = 0.0
    for term in range(_NUM_TERMS, 0, -1):
        rest = term / (x + rest)
    return rest
