"""Davidson's model is stationary, equals Bradley-Terry without ties, and is held by phantoms where strengths would run away."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from random_logs import random_log

from interplay.rank import bradley_terry
from interplay.rank.davidson import fit, fit_many
from interplay.rank.methods import Log


def test_two_agents_have_a_closed_form():
    # Three outcomes, two parameters: the fit is perfect. exp(s1 - s2) = wins / losses, nu = ties / sqrt(wins * losses).
    result = fit(np.array([[0, 36], [4, 0]]), np.array([[0, 6], [6, 0]]))
    assert result.log_strength == pytest.approx([math.log(9) / 2, -math.log(9) / 2], abs=1e-10)
    assert result.nu == pytest.approx(6 / 12, abs=1e-10)
    # Delta method on log(36 / 4) of a multinomial of 46: variance 1/36 + 1/4; a strength is half the difference.
    assert result.standard_error[0] == pytest.approx(math.sqrt(1 / 36 + 1 / 4) / 2, rel=1e-8)


def test_at_the_fit_wins_and_ties_are_as_expected():
    wins, ties = Log.of(random_log(0)).counts()
    result = fit(wins, ties)
    half = np.exp((result.log_strength[:, None] - result.log_strength[None, :]) / 2)
    total = half + 1 / half + result.nu
    matches = wins + wins.T + ties
    np.testing.assert_allclose((matches * (half + result.nu / 2) / total).sum(axis=1), (wins + ties / 2).sum(axis=1), rtol=1e-9)
    assert np.triu(matches * result.nu / total, 1).sum() == pytest.approx(ties.sum() / 2, rel=1e-9)
    assert not result.is_regularised


def test_a_log_without_ties_is_bradley_terry():
    wins, _ = Log.of(random_log(1, draws=0)).counts()
    result, plain = fit(wins, np.zeros_like(wins)), bradley_terry.fit(wins)
    np.testing.assert_allclose(result.log_strength, plain.log_strength, atol=1e-8)
    np.testing.assert_allclose(result.covariance, plain.covariance, atol=1e-8)
    assert result.nu == 0


@given(arrays(int, (4, 4), elements=st.integers(0, 3)), arrays(int, (4, 4), elements=st.integers(0, 3)))
def test_any_counts_give_finite_strengths(wins, ties):
    np.fill_diagonal(wins, 0)
    ties = np.triu(ties, 1) + np.triu(ties, 1).T
    result = fit(wins, ties)
    assert np.isfinite(result.log_strength).all()
    assert np.isfinite(result.standard_error).all()
    assert (result.nu == 0) == (not ties.any())


def test_ties_alone_do_not_bound_strengths_so_phantoms_do():
    result = fit(np.array([[0, 3], [0, 0]]), np.array([[0, 2], [2, 0]]))
    assert result.is_regularised
    assert 0 < result.log_strength[0] < 5


def test_many_logs_at_once_are_each_as_alone():
    logs = [Log.of(random_log(seed, 60, 6)).counts() for seed in range(12)]
    wins, ties = (np.array(tables) for tables in zip(*logs, strict=True))
    ties[3] = 0
    many = fit_many(wins, ties)
    for row in range(12):
        alone = fit(wins[row], ties[row])
        np.testing.assert_allclose(many.log_strength[row], alone.log_strength, atol=1e-9)
        assert many.nu[row] == pytest.approx(alone.nu, rel=1e-8)
