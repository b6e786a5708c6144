"""The world's own sines and powers are as good as the C library's."""

import math

import numpy as np
import pytest

from blockworld.render import exact

RNG = np.random.default_rng(3)


@pytest.mark.parametrize(
    ("ours", "theirs", "reach"),
    [(exact.sin, math.sin, 50_000.0), (exact.cos, math.cos, 50_000.0), (exact.tan, math.tan, 1.3), (exact.exp, math.exp, 30.0)],
)
def test_series_agree_with_the_c_library(ours, theirs, reach):
    for x in [0.0, -0.0, reach, -reach, *RNG.uniform(-reach, reach, 2000).tolist()]:
        assert ours(x) == pytest.approx(theirs(x), rel=1e-15, abs=4e-16)


def test_angles_agree_with_the_c_library_in_all_quarters():
    points = [(0.0, 0.0), (0.0, 1.0), (0.0, -1.0), (1.0, 0.0), (-1.0, 0.0), (-3.0, 3.0), *RNG.normal(0, 5, (2000, 2)).tolist()]
    for y, x in points:
        assert exact.atan2(y, x) == pytest.approx(math.atan2(y, x), rel=1e-15, abs=1e-15)


def test_arrays_keep_their_shape():
    y, x = RNG.normal(0, 5, (3, 1)), RNG.normal(0, 5, (1, 4))
    np.testing.assert_allclose(exact.each(exact.atan2, y, x), np.arctan2(y, x), rtol=1e-15)
