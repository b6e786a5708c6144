"""Who beats whom, who is above whom, and the normalised score, against hand calculations and the ratings they come from."""

import math

import numpy as np
import pytest
from random_logs import random_log

from interplay.rank import Rating, win_probability
from interplay.rank.bootstrap import bootstrap
from interplay.rank.compare import above, beats, normalised
from interplay.rank.methods import METHODS, Log, rate


@pytest.mark.parametrize("method", METHODS)
def test_probabilities_of_the_two_sides_make_one(method):
    ranking = rate(Log.of(random_log(0, 300, 6)), method)
    for matrix in (beats(ranking), above(ranking)):
        np.testing.assert_allclose(matrix + matrix.T, 1, atol=1e-12)
        np.testing.assert_allclose(np.diag(matrix), 0.5)
        order = np.argsort(-ranking.mu)
        assert (np.diag(matrix[np.ix_(order, order)], 1) >= 0.5).all()


def test_trueskill_beats_as_win_probability_says():
    ranking = rate(Log.of(random_log(1, 300, 5)))
    matrix = beats(ranking)
    for a in range(5):
        for b in range(5):
            one, other = Rating(ranking.mu[a], ranking.sigma[a]), Rating(ranking.mu[b], ranking.sigma[b])
            assert a == b or matrix[a, b] == pytest.approx(win_probability(one, other), abs=1e-12)


def test_two_agents_beat_as_often_as_they_did():
    log = Log.of([c for c in random_log(2, 200, 2, draws=0)])
    wins = log.counts()[0]
    for method in ("bradley-terry", "davidson"):
        assert beats(rate(log, method))[0, 1] == pytest.approx(wins[0, 1] / 200, abs=1e-8)


def test_being_above_uses_what_two_errors_share():
    # Two agents, 30 to 10: strengths (log(3) / 2, -log(3) / 2), their difference a logit of variance 1 / (40 p q).
    from interplay.rank import Comparison

    log = Log.of([Comparison("ada", "bob", "left" if number % 4 else "right") for number in range(40)])
    z = math.log(3) / math.sqrt(1 / (40 * 0.75 * 0.25))
    assert above(rate(log, "bradley-terry"))[0, 1] == pytest.approx(0.5 * math.erfc(-z / math.sqrt(2)), abs=1e-9)


@pytest.mark.parametrize("method", ["bradley-terry", "davidson"])
def test_the_approximation_of_being_above_is_close_to_the_bootstrap(method):
    log = Log.of(random_log(3, 400, 5))
    ranking = rate(log, method)
    resampled = bootstrap(log, method, num_resamples=1000, rng=np.random.default_rng(0))
    by_mu = (resampled.mu[:, :, None] > resampled.mu[:, None, :]).mean(axis=0)
    np.fill_diagonal(by_mu, 0.5)
    assert np.abs(above(ranking) - by_mu).max() < 0.12


def test_the_normalised_score_is_the_mean_of_z_scores():
    # Task 1: mu 10, 20, 30: mean 20, deviation sqrt(200 / 3); task 2: mu 5, 5, 8: mean 6, deviation sqrt(2).
    scores = normalised(np.array([[10.0, 20.0, 30.0], [5.0, 5.0, 8.0]]))
    a, b = math.sqrt(200 / 3), math.sqrt(2)
    assert scores == pytest.approx([(-10 / a - 1 / b) / 2, (0 - 1 / b) / 2, (10 / a + 2 / b) / 2])
    assert scores.sum() == pytest.approx(0)


def test_the_scale_and_origin_of_a_task_do_not_matter():
    mu = np.random.default_rng(0).normal(25, 5, (3, 7))
    np.testing.assert_allclose(normalised(mu * [[1], [10], [3]] + [[0], [5], [-2]]), normalised(mu), atol=1e-12)


def test_agents_not_judged_in_a_task_are_left_out_of_it():
    mu = np.array([[10.0, 20.0, 99.0, 7.0], [1.0, 2.0, 3.0, 7.0]])
    played = np.array([[True, True, False, False], [True, True, True, False]])
    scores = normalised(mu, played)
    third = 1 / math.sqrt(2 / 3)  # z of 3 among 1, 2, 3
    assert scores[:3] == pytest.approx([(-1 - third) / 2, (1 + 0) / 2, third])
    assert math.isnan(scores[3])


def test_a_task_in_which_all_are_equal_moves_nobody():
    assert normalised(np.array([[25.0, 25.0], [10.0, 30.0]])).tolist() == [-0.5, 0.5]
