"""Krippendorff's alpha equals the krippendorff package; sides do not matter; missing answers are missing, not disagreement."""

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from interplay.rank.agreement import METRICS, Judgement, agreement, alpha, bootstrap_alpha, questions


def test_alpha_equals_the_krippendorff_package():
    for metric in METRICS:
        for seed in range(5):
            rng = np.random.default_rng(seed)
            truth = rng.integers(4, size=80)
            ratings = np.where(rng.random((6, 80)) < 0.6, truth, rng.integers(4, size=(6, 80))).astype(float)
            ratings[rng.random((6, 80)) < 0.5] = np.nan
            counts = np.stack([(ratings == value).sum(axis=0) for value in range(4)], axis=1)
            expected = krippendorff.alpha(reliability_data=ratings, level_of_measurement=metric, value_domain=[0, 1, 2, 3])
            assert alpha(counts, metric) == pytest.approx(expected, abs=1e-9)


@given(arrays(int, (6, 3), elements=st.integers(0, 3)), st.sampled_from(METRICS))
def test_any_counts_equal_the_package_or_are_undefined(counts, metric):
    paired = counts[counts.sum(axis=1) > 1]
    if (paired.sum(axis=0) > 0).sum() < 2:
        assert np.isnan(alpha(counts, metric))
    else:
        expected = krippendorff.alpha(value_counts=counts, level_of_measurement=metric, value_domain=[0, 1, 2])
        assert alpha(counts, metric) == pytest.approx(expected, abs=1e-9)


def test_agreement_turns_answers_to_one_orientation():
    # Judges saw the same two episodes with the sides swapped, and preferred the same one.
    same = [Judgement("j1", "e1", "e2", "left"), Judgement("j2", "e2", "e1", "right")]
    other = [Judgement("j1", "e3", "e4", "right"), Judgement("j2", "e3", "e4", "right")]
    result = agreement([*same, *other])
    assert (result.alpha, result.num_units, result.num_values, result.num_judges) == (1.0, 2, 4, 2)
    assert agreement([*same, *other, Judgement("j3", "e2", "e1", "left")]).alpha < 1


@pytest.mark.parametrize("metric", METRICS)
def test_a_draw_is_nearer_to_a_side_than_the_other_side_only_if_ordinal(metric):
    settled = enumerate(["left", "right", "draw"] * 5)
    log = [Judgement(judge, f"c{n}", f"d{n}", outcome) for n, outcome in settled for judge in ("j1", "j2")]
    log.append(Judgement("j1", "a", "b", "left"))
    near = agreement([*log, Judgement("j2", "a", "b", "draw")], metric=metric).alpha
    far = agreement([*log, Judgement("j2", "a", "b", "right")], metric=metric).alpha
    assert near - far == pytest.approx(0, abs=0.02) if metric == "nominal" else near > far + 0.1


def test_each_question_has_its_own_agreement():
    def judgement(judge, left, right, fast, cave):
        return Judgement(judge, left, right, "draw", "dig", {"fast": fast, "cave": cave})

    log = [
        judgement("j1", "a", "b", "left", {"left": True, "right": False}),
        judgement("j2", "b", "a", "right", {"left": False, "right": True}),
        judgement("j1", "c", "d", "right", {"left": True, "right": True}),
        judgement("j2", "c", "d", "na", {"left": True, "right": False}),
    ]
    assert questions(log) == ["overall", "cave", "fast"]
    assert agreement(log, question="overall").alpha is None  # all say draw throughout
    fast = agreement(log, question="fast")
    assert (fast.num_units, fast.num_values) == (1, 2)  # `na` is missing
    cave = agreement(log, question="cave")
    assert (cave.num_units, cave.num_values) == (4, 8)  # each thing of a pair by itself
    # Of the 4 units (yes yes), (no no), (yes yes), (yes no): observed disagreement 2 / 8; 5 yes and 3 no: expected 30 / 56.
    assert cave.alpha == pytest.approx(1 - (2 / 8) / (30 / 56))


def test_a_judge_who_answers_twice_counts_once():
    log = [Judgement("j1", "a", "b", "left"), Judgement("j1", "a", "b", "right"), Judgement("j2", "c", "d", "left")]
    assert agreement(log).num_units == 0
    assert agreement(log).alpha is None
    assert agreement([*log, Judgement("j2", "a", "b", "left")]).num_values == 2


def test_the_same_pair_in_another_task_is_another_unit():
    log = [Judgement("j1", "a", "b", "left", "dig"), Judgement("j2", "a", "b", "left", "jump")]
    assert agreement(log).num_units == 0


def test_the_interval_holds_alpha_and_narrows_with_units():
    rng = np.random.default_rng(0)

    def log(num):
        truth = rng.integers(2, size=num)
        return [
            Judgement(j, f"a{n}", f"b{n}", "left" if truth[n] ^ (rng.random() < 0.15) else "right")
            for n in range(num)
            for j in ("j1", "j2")
        ]

    few = agreement(log(40), num_resamples=300, rng=np.random.default_rng(1))
    many = agreement(log(1000), num_resamples=300, rng=np.random.default_rng(1))
    for result in (few, many):
        assert result.low < result.alpha < result.high
    assert many.high - many.low < (few.high - few.low) / 2


def test_resampling_units_is_as_counting_them_again():
    counts = np.random.default_rng(0).integers(0, 3, size=(12, 3))
    counts = counts[counts.sum(axis=1) > 1]
    values = bootstrap_alpha(counts, "ordinal", num_resamples=5, rng=np.random.default_rng(3))
    times = np.random.default_rng(3).multinomial(len(counts), np.full(len(counts), 1 / len(counts)), size=5)
    for value, row in zip(values, times, strict=True):
        assert value == pytest.approx(alpha(np.repeat(counts, row, axis=0), "ordinal"))


def test_arguments_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="metric must be one of nominal, ordinal, got 'ratio'"):
        alpha(np.ones((2, 2)), "ratio")  # type: ignore[arg-type]
    log = [Judgement(j, f"a{n}", "z", o) for n, o in enumerate(["left", "right"]) for j in "xy"]
    with pytest.raises(ValueError, match="an interval needs rng"):
        agreement(log, num_resamples=10)
