"""A log as arrays counts what a loop counts, once or for many weights at once."""

import numpy as np
import pytest
from random_logs import random_log

from interplay.rank import Comparison, Standings
from interplay.rank.methods import Log


def test_counts_are_as_a_loop_counts():
    comparisons = random_log(0, 200, 5)
    log = Log.of(comparisons)
    wins, ties = np.zeros((5, 5)), np.zeros((5, 5))
    for c in comparisons:
        a, b = log.agents.index(c.left), log.agents.index(c.right)
        if c.outcome == "draw":
            ties[a, b] += 1
            ties[b, a] += 1
        else:
            wins[(a, b) if c.outcome == "left" else (b, a)] += 1
    for ours, expected in zip(log.counts(), (wins, ties), strict=True):
        np.testing.assert_array_equal(ours, expected)
    standings = Standings()
    for c in comparisons:
        standings.add(c.left, c.right, c.outcome)
    rows = {row.agent: [row.won, row.drew, row.lost] for row in standings.leaderboard()}
    assert dict(zip(log.agents, log.won_drew_lost().tolist(), strict=True)) == rows


def test_weights_count_answers_more_than_once():
    log = Log.of(random_log(1, 30, 4))
    times = np.random.default_rng(0).integers(0, 3, size=(6, 30))
    many_wins, many_ties = log.counts(times)
    for row in range(6):
        wins, ties = log.select(np.repeat(np.arange(30), times[row])).counts()
        np.testing.assert_array_equal(many_wins[row], wins)
        np.testing.assert_array_equal(many_ties[row], ties)


def test_an_empty_log_has_counts_of_nothing():
    wins, ties = Log.of([], agents=["ada", "bob"]).counts()
    assert wins.tolist() == ties.tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize(
    ("comparison", "text"),
    [
        (Comparison("ada", "ada", "left"), "an agent cannot be compared with itself, got 'ada' on both sides"),
        (Comparison("ada", "bob", "won"), "outcome must be one of left, right, draw, got 'won'"),  # type: ignore[arg-type]
    ],
)
def test_answers_that_make_no_sense_are_refused(comparison, text):
    with pytest.raises(ValueError, match=text):
        Log.of([comparison])
