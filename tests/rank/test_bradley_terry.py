"""Bradley-Terry equals evalica, is stationary where it says, and says when the answers settle no finite strengths."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from interplay.rank.bradley_terry import fit, fit_many, is_strongly_connected


def random_counts(seed: int, num_agents: int = 17, num_answers: int = 3049, num_draws: int = 366):
    """Wins and ties, (n, n) each, of a log with about 12 % draws."""
    rng = np.random.default_rng(seed)
    skill = rng.normal(0, 1, num_agents)
    wins, ties = np.zeros((num_agents, num_agents)), np.zeros((num_agents, num_agents))
    for number in range(num_answers):
        a, b = rng.choice(num_agents, 2, replace=False)
        if number < num_draws:
            ties[a, b] += 1
            ties[b, a] += 1
        elif rng.random() < 1 / (1 + math.exp(skill[b] - skill[a])):
            wins[a, b] += 1
        else:
            wins[b, a] += 1
    return wins, ties


def as_log(wins, ties) -> tuple[list[str], list[str], list]:
    """The answers behind the counts, as evalica takes them."""
    import evalica  # it loads scipy and pandas, and every process collects these tests

    xs, ys, winners = [], [], []
    for a, b in np.ndindex(wins.shape):
        for count, winner in ((wins[a, b], evalica.Winner.X), (ties[a, b] if a < b else 0, evalica.Winner.Draw)):
            xs += [f"a{a}"] * int(count)
            ys += [f"a{b}"] * int(count)
            winners += [winner] * int(count)
    return xs, ys, winners


def test_strengths_equal_evalica():
    for seed, tie_weight in [(0, 0.5), (1, 0.5), (2, 0.5), (3, 0.0), (4, 1.0)]:
        import evalica

        wins, ties = random_counts(seed)
        scores = evalica.bradley_terry(*as_log(wins, ties), tie_weight=tie_weight, tolerance=1e-14, limit=100_000).scores
        ours = fit(wins, ties, tie_weight=tie_weight)
        strength = np.exp(ours.log_strength)  # evalica's scores have a geometric mean of 1, too
        assert not ours.is_regularised
        theirs = np.array([scores[f"a{i}"] for i in range(len(wins))])
        np.testing.assert_allclose(strength / strength.sum(), theirs / theirs.sum(), rtol=0, atol=1e-6)
        np.testing.assert_allclose(ours.log_strength, np.log(theirs) - np.log(theirs).mean(), rtol=0, atol=1e-6)


def test_two_agents_are_the_logarithm_of_their_odds_apart():
    result = fit(np.array([[0, 30], [10, 0]]))
    assert result.log_strength == pytest.approx([math.log(3) / 2, -math.log(3) / 2], abs=1e-12)
    # The difference is a logit of 40 trials, of variance 1 / (40 p q); each strength is half of it.
    assert result.standard_error == pytest.approx([math.sqrt(1 / (40 * 0.75 * 0.25)) / 2] * 2, rel=1e-12)
    assert result.win_probabilities()[0, 1] == pytest.approx(0.75, abs=1e-12)
    assert result.log_likelihood == pytest.approx(30 * math.log(0.75) + 10 * math.log(0.25), rel=1e-12)


def test_the_covariance_is_the_inverse_of_the_curvature_in_the_gauge_of_mean_zero():
    wins, ties = random_counts(5, num_agents=6, num_answers=300, num_draws=40)
    result = fit(wins, ties)
    weights = wins + ties / 2

    def log_likelihood(s):
        return -(weights * np.log1p(np.exp(s[None, :] - s[:, None]))).sum()

    h, n = 1e-4, 6
    curvature = np.zeros((n, n))
    for i, j in np.ndindex(n, n):
        for x, y in ((h, h), (-h, -h), (h, -h), (-h, h)):
            s = result.log_strength.copy()
            s[i] += x
            s[j] += y
            curvature[i, j] -= math.copysign(1, x * y) * log_likelihood(s) / (4 * h * h)
    np.testing.assert_allclose(result.covariance, np.linalg.pinv(curvature, rcond=1e-5), rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(result.covariance.sum(axis=0), 0, atol=1e-12)


@given(arrays(int, (5, 5), elements=st.integers(0, 4)), arrays(int, (5, 5), elements=st.integers(0, 2)))
def test_any_counts_give_finite_strengths_at_which_wins_are_as_expected(wins, ties):
    np.fill_diagonal(wins, 0)
    ties = np.triu(ties, 1) + np.triu(ties, 1).T
    result = fit(wins, ties)
    assert np.isfinite(result.log_strength).all()
    assert np.isfinite(result.standard_error).all()
    assert result.log_strength.mean() == pytest.approx(0, abs=1e-12)
    if not result.is_regularised:
        weights = wins + ties / 2
        expected = ((weights + weights.T) * result.win_probabilities()).sum(axis=1)
        np.testing.assert_allclose(expected, weights.sum(axis=1), rtol=1e-8, atol=1e-8)


@given(st.permutations(range(6)))
def test_the_order_of_agents_does_not_matter(order):
    wins, ties = random_counts(7, num_agents=6, num_answers=60, num_draws=8)
    index = np.array(order)
    there, back = fit(wins, ties), fit(wins[np.ix_(index, index)], ties[np.ix_(index, index)])
    np.testing.assert_allclose(back.log_strength, there.log_strength[index], atol=1e-9)


@pytest.mark.parametrize(
    ("wins", "why"),
    [
        ([[0, 5, 5], [0, 0, 2], [0, 1, 0]], "the first never lost"),
        ([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]], "two islands"),
        ([[0, 1, 0], [1, 0, 0], [0, 0, 0]], "one agent was never compared"),
        ([[0, 0], [0, 0]], "no answers at all"),
    ],
)
def test_where_no_finite_strengths_fit_phantom_draws_help_and_it_is_said(wins, why):
    result = fit(np.array(wins))
    assert result.is_regularised, why
    assert np.isfinite(result.log_strength).all()
    if why == "the first never lost":
        assert result.log_strength[0] == result.log_strength.max()


def test_one_agent_alone_is_average():
    result = fit(np.zeros((1, 1)))
    assert (result.log_strength.tolist(), result.covariance.tolist(), result.is_regularised) == ([0.0], [[0.0]], False)


def test_one_win_is_the_phantom_draws_alone():
    # Each side has its answer and a draw against a phantom at 0: 1.5 wins of 2 games, by symmetry s and -s. The condition
    # of the top: 1 + 0.5 = p(2 s) + p(s).
    s = fit(np.array([[0, 1], [0, 0]])).log_strength[0]
    assert 1 / (1 + math.exp(-2 * s)) + 1 / (1 + math.exp(-s)) == pytest.approx(1.5, abs=1e-10)


def test_hundreds_of_agents_far_apart_converge():
    # A ladder of 300 agents, each 99 to 1 against the next: log(99) a rung.
    wins = np.zeros((300, 300))
    wins[np.arange(299), np.arange(1, 300)] = 99
    wins[np.arange(1, 300), np.arange(299)] = 1
    result = fit(wins)
    assert not result.is_regularised
    np.testing.assert_allclose(-np.diff(result.log_strength), math.log(99), rtol=1e-8)


def test_many_logs_at_once_are_each_as_alone():
    logs = [random_counts(seed, num_agents=8, num_answers=60, num_draws=7) for seed in range(20)]
    logs.append((np.triu(np.ones((8, 8)), 1), np.zeros((8, 8))))  # a clean order, which needs the phantom
    many = fit_many(np.array([wins + ties / 2 for wins, ties in logs]))
    for row, flag, (wins, ties) in zip(many.log_strength, many.is_regularised, logs, strict=True):
        alone = fit(wins, ties)
        np.testing.assert_allclose(row, alone.log_strength, atol=1e-9)
        assert flag == alone.is_regularised
    assert many.is_regularised[-1]


@given(arrays(bool, (6, 6)))
def test_strong_connection_is_as_a_walk_finds_it(edges):
    def reached(matrix):
        seen, todo = {0}, [0]
        while todo:
            new = set(np.flatnonzero(matrix[todo.pop()]).tolist()) - seen
            seen |= new
            todo += new
        return len(seen) == len(matrix)

    assert bool(is_strongly_connected(edges.astype(float))) == (reached(edges) and reached(edges.T))


def test_counts_that_make_no_sense_are_refused():
    for wins, ties, tie_weight, text in [
        (np.zeros((2, 3)), None, 0.5, r"num_wins must have shape \(n, n\) with n at least 1, got \(2, 3\)"),
        (np.zeros((0, 0)), None, 0.5, "n at least 1"),
        (np.ones((2, 2)), None, 0.5, "num_wins must be 0 on its diagonal: an agent cannot be compared with itself"),
        (np.array([[0, -1], [0, 0]]), None, 0.5, "num_wins must be finite and not negative"),
        (np.array([[0, np.nan], [0, 0]]), None, 0.5, "num_wins must be finite"),
        (np.zeros((2, 2)), np.zeros((3, 3)), 0.5, r"num_ties must have the shape of num_wins, \(2, 2\), got \(3, 3\)"),
        (np.zeros((2, 2)), np.array([[0, 1], [2, 0]]), 0.5, "num_ties must be symmetric"),
        (np.zeros((2, 2)), None, -1, "tie_weight must be zero or positive, got -1"),
    ]:
        with pytest.raises(ValueError, match=text):
            fit(wins, ties, tie_weight=tie_weight)
