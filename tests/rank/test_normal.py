"""The corrections for arrays equal the ones for single answers, which are checked against mpmath."""

import numpy as np
import pytest

from interplay.rank.normal import draw_correction, draw_corrections, hazard, win_correction, win_corrections

T = np.concatenate([np.linspace(-60, 60, 4001), [-1e4, -37.5, 0.0, 37.5, 1e4]])


def test_wins_are_as_for_single_answers():
    for margin in [1e-3, 0.05, 0.126, 0.74, 3.0]:
        v, w = win_corrections(T, np.full_like(T, margin))
        expected = np.array([win_correction(t, margin) for t in T.tolist()])
        np.testing.assert_allclose(v, expected[:, 0], rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(w, expected[:, 1], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("margin", [0.05, 0.126, 0.74, 3.0])
def test_draws_are_as_for_single_answers(margin):
    v, w = draw_corrections(T, np.full_like(T, margin))
    expected = np.array([draw_correction(t, margin) for t in T.tolist()])
    np.testing.assert_allclose(v, expected[:, 0], rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(w, expected[:, 1], rtol=1e-9, atol=1e-9)


def test_the_hazard_is_continuous_where_its_pieces_meet():
    for edge in (-9.0, 0.0, 14.0):
        below, above = hazard(np.array([edge - 1e-12, edge + 1e-12]))[0]
        assert above - below == pytest.approx(0, abs=1e-11)
