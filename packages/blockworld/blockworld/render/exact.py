"""Sine, exponential and similar functions for pictures, with the same bits on every machine.

Python, NumPy and Numba take these functions from the C library or from SIMD code chosen when the program starts, which round
differently from processor to processor. Here they consist of sums, products and roots, whose results IEEE 754 fixes to the
last bit: Taylor series on a small range, with errors of about 1e-15. Kernels and Python call the same compiled functions. The
rules of the world (`player.movement`, `entities.mob_kernel`) use the C library: episodes recorded with it must replay equally.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

# Pi / 2 in three parts; the first two end in zero bits, so that their multiples up to 2**20 are exact. Ln 2 in two.
_A, _B, _C = 1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21
_LN2_A, _LN2_B = 0.6931471803691238, 1.9082149292705877e-10
_SINE = tuple((-1) ** k / math.factorial(2 * k + 1) for k in range(1, 9))
_COSINE = tuple((-1) ** k / math.factorial(2 * k) for k in range(1, 10))
_POWER = tuple(1 / math.factorial(k) for k in range(1, 15))
_ARC = tuple((-1) ** k / (2 * k + 1) for k in range(1, 13))


@njit(cache=True)
def _series(terms, x):
    """Compute terms[0] * x + terms[1] * x**2 + ... by Horner's rule, from the last term to the first."""
    total = 0.0
    for k in range(len(terms) - 1, -1, -1):
        total = (total + terms[k]) * x
    return total


@njit(cache=True)
def _sine(x, quarters):
    """Sine of x plus `quarters` quarters of a turn."""
    n = math.floor(x * (2.0 / math.pi) + 0.5)
    rest = x - n * _A - n * _B - n * _C
    place = (int(n) + quarters) & 3
    square = rest * rest
    if place & 1:
        value = 1.0 + _series(_COSINE, square)
    else:
        value = rest + rest * _series(_SINE, square)
    return -value if place & 2 else value


@njit(cache=True)
def sin(x):
    """Sine of an angle in radians, up to a million.

    >>> abs(sin(2.5) - math.sin(2.5)) < 1e-15
    True
    """
    return _sine(x, 0)


@njit(cache=True)
def cos(x):
    """Cosine of an angle in radians, up to a million."""
    return _sine(x, 1)


@njit(cache=True)
def exp(x):
    """e to the power x, for x from -700 to 700.

    >>> abs(exp(-3.5) / math.exp(-3.5) - 1) < 1e-15
    True
    """
    n = math.floor(x / 0.6931471805599453 + 0.5)
    rest = x - n * _LN2_A - n * _LN2_B
    return math.ldexp(1.0 + _series(_POWER, rest), int(n))


@njit(cache=True)
def atan2(y, x):
    """Angle of (x, y) in radians, from -pi to pi; 0 for (0, 0).

    >>> [round(atan2(y, x), 6) for x, y in ((1.0, 1.0), (-1.0, 0.0), (0.0, -2.0), (0.0, 0.0))]
    [0.785398, 3.141593, -1.570796, 0.0]
    """
    wide, tall = abs(x), abs(y)
    if wide == 0.0 and tall == 0.0:
        return 0.0
    part = min(wide, tall) / max(wide, tall)
    for _ in range(3):  # half the angle each time
        part = part / (1.0 + math.sqrt(1.0 + part * part))
    angle = 8.0 * (part + part * _series(_ARC, part * part))
    if tall > wide:
        angle = math.pi / 2 - angle
    if x < 0.0:
        angle = math.pi - angle
    return -angle if y < 0.0 else angle


def tan(x: float) -> float:
    return sin(x) / cos(x)


def each(function: Callable[..., float], *values: Any) -> np.ndarray:
    """Apply `function` to each entry of some arrays, which are broadcast; return float64.

    >>> each(sin, np.array([0.0, -2.0])).round(6).tolist()
    [0.0, -0.909297]
    """
    arrays = np.broadcast_arrays(*(np.asarray(value, float) for value in values))
    found = [function(*entry) for entry in zip(*(array.reshape(-1).tolist() for array in arrays), strict=True)]
    return np.array(found).reshape(arrays[0].shape)
