"""Aggregates of scores: equal to those of the authors' package, and intervals that hold what they promise."""

import json
from pathlib import Path

import numpy as np
import pytest

from interplay.learn.benchmark import scores as learn_scores
from interplay.learn.benchmark.scores import (
    AGGREGATES,
    aggregates,
    estimate,
    improvement,
    improvements,
    iqm,
    normalised,
    profile,
    profiles,
)

GOLDEN = json.loads(Path(__file__).with_name("rliable_scores.json").read_text())


def scores(kind: int, num_runs: int, num_tasks: int) -> np.ndarray:
    """The formula of tools/make_rliable_scores.py."""
    place = np.arange(num_runs * num_tasks).reshape(num_runs, num_tasks)
    return np.round(np.sin(place * (1.7 + kind)) * 0.9 + 0.1 * kind + 0.3, 1)


def test_aggregates_equal_those_of_rliable():
    for golden in GOLDEN:
        one, other = (scores(kind, *golden["shape"]) for kind in (0, 1))
        for name, of in AGGREGATES.items():
            assert abs(float(of(one)) - golden[name]) < 1e-9, name
        assert abs(float(improvement(one, other)) - golden["improvement"]) < 1e-9
        assert np.abs(profile(one, np.array(golden["levels"])) - golden["profile"]).max() < 1e-9


def test_the_same_seed_gives_the_same_intervals_and_another_seed_others():
    both = {"a": scores(0, 4, 5), "b": scores(1, 4, 5)}
    assert aggregates(both, seed=3) == aggregates(both, seed=3)
    assert aggregates(both, seed=3) != aggregates(both, seed=4)
    assert improvements(both, seed=3) == improvements(both, seed=3)
    assert profiles(both, [0.0, 0.5], seed=3) == profiles(both, [0.0, 0.5], seed=3)


def test_a_profile_is_the_same_however_many_resamples_are_taken_at_once(monkeypatch):
    both = {"a": scores(0, 4, 5), "b": scores(1, 4, 5)}
    whole = profiles(both, [0.0, 0.2, 0.9])
    monkeypatch.setattr(learn_scores, "_CELLS_AT_ONCE", 7 * 4 * 5 * 3)
    assert profiles(both, [0.0, 0.2, 0.9]) == whole


def test_intervals_of_95_percent_hold_the_truth_about_so_often():
    """Of 120 experiments of 30 runs in 4 tasks. A percentile interval of 30 runs holds it in some 93 %: fewer than 90 would be
    a chance of less than one in a million if it were 91 %."""
    rng = np.random.default_rng(0)
    held = sum(
        found.low <= 0.5 <= found.high
        for found in (estimate(rng.normal(0.5, 0.3, (30, 4)), learn_scores.mean, number=number) for number in range(120))
    )
    assert 90 <= held < 120


def test_one_run_has_an_interval_without_width():
    assert estimate(np.array([[0.2, 0.4]]), iqm) == pytest.approx((0.3, 0.3, 0.3))


def test_chances_of_a_pair_add_up_to_one():
    both = {"a": scores(0, 3, 4), "b": scores(1, 5, 4)}
    found = improvements(both)
    assert found["a", "b"].value + found["b", "a"].value == pytest.approx(1)


def test_a_best_score_that_is_not_above_random_play_is_refused():
    with pytest.raises(ValueError, match="best 3 and random 3"):
        normalised(5, random=3, best=3)
