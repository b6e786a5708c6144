"""Cycles and violations in small tables counted by hand; equal agents make cycles, a true order makes few."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from random_logs import random_log

from interplay.rank.methods import Log
from interplay.rank.transitivity import expected, transitivity


def test_a_cycle_is_counted_once():
    result = transitivity(np.array([[0, 2, 0], [0, 0, 2], [2, 0, 0]]))
    assert (result.num_triads, result.num_decided, result.num_cyclic) == (1, 1, 1)
    assert (result.num_weak_violations, result.num_strong_violations) == (1, 1)
    assert result.share_cyclic == 1


def test_an_order_has_no_cycles():
    result = transitivity(np.triu(np.full((6, 6), 3), 1))
    assert result == (20, 20, 0, 0, 0)


def test_a_strong_violation_that_is_no_weak_one():
    # p(a, b) = 0.9, p(b, c) = 0.9, p(a, c) = 0.6: above a half, below the larger.
    result = transitivity(np.array([[0, 9, 6], [1, 0, 9], [4, 1, 0]]))
    assert (result.num_cyclic, result.num_weak_violations, result.num_strong_violations) == (0, 0, 1)


def test_pairs_nobody_compared_and_ties_leave_triads_out():
    wins = np.array([[0, 1, 0, 2], [0, 0, 1, 0], [0, 0, 0, 1], [0, 1, 0, 0]])
    ties = np.zeros((4, 4))
    ties[1, 3] = ties[3, 1] = 1
    result = transitivity(wins, ties)
    # a-c was never compared, so only a, b, d and b, c, d are triads; d beat b once and tied once.
    assert (result.num_triads, result.num_decided, result.num_cyclic) == (2, 2, 1)
    wins[3, 1] = 0
    assert transitivity(wins, ties).num_decided == 0
    assert transitivity(wins, ties).share_cyclic is None


@given(arrays(int, (5, 5), elements=st.integers(0, 2)), arrays(int, (5, 5), elements=st.integers(0, 1)))
def test_counts_are_as_a_walk_over_all_orders_finds_them(wins, ties):
    np.fill_diagonal(wins, 0)
    ties = np.triu(ties, 1) + np.triu(ties, 1).T
    weights = wins + ties / 2
    total = weights + weights.T
    cyclic, weak, strong = set(), set(), set()
    for order in permutations(range(5), 3):
        a, b, c = order
        if not (total[a, b] and total[b, c] and total[a, c]):
            continue
        ab, bc, ac = weights[a, b] / total[a, b], weights[b, c] / total[b, c], weights[a, c] / total[a, c]
        if ab > 0.5 and bc > 0.5 and ac < 0.5:
            cyclic.add(frozenset(order))
        if ab >= 0.5 and bc >= 0.5:
            if ac < 0.5:
                weak.add(frozenset(order))
            if ac < max(ab, bc) - 1e-12:
                strong.add(frozenset(order))
    assert transitivity(wins, ties)[2:] == (len(cyclic), len(weak), len(strong))


def test_equal_agents_make_a_quarter_of_all_triads_cyclic():
    # One decided answer a pair: 2 of the 8 ways a triad can fall are cycles. 10 agents: 120 triads, 30 cycles.
    wins = np.triu(np.ones((10, 10)), 1)
    chance = expected(wins, rng=np.random.default_rng(0), equal=True, num_logs=2000)
    assert chance.num_cyclic[0] == pytest.approx(30, abs=1)  # one deviation of the mean is 0.11
    assert chance.num_cyclic[1] < 30 < chance.num_cyclic[2]


def test_a_log_that_follows_the_model_has_as_many_cycles_as_it_predicts():
    wins, ties = Log.of(random_log(0)).counts()
    result = transitivity(wins, ties)
    model = expected(wins, ties, rng=np.random.default_rng(0), num_logs=300)
    chance = expected(wins, ties, rng=np.random.default_rng(0), num_logs=300, equal=True)
    assert result.num_triads == 680
    assert result.num_cyclic < chance.num_cyclic[1]
    assert model.num_cyclic[0] < chance.num_cyclic[0] / 3
    assert model.num_strong_violations[1] <= result.num_strong_violations <= model.num_strong_violations[2] * 1.5


def test_two_agents_make_no_triad():
    assert transitivity(np.zeros((0, 0))) == (0, 0, 0, 0, 0)
    assert expected(np.zeros((0, 0)), rng=np.random.default_rng(0)).num_cyclic == (0, 0, 0)
    assert transitivity(np.array([[0, 1], [1, 0]])) == (0, 0, 0, 0, 0)
    assert expected(np.array([[0, 1], [1, 0]]), rng=np.random.default_rng(0), num_logs=3).num_cyclic == (0, 0, 0)
