"""Side bias, length bias and the judges' table, against scipy and hand calculations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interplay.rank.agreement import Judgement
from interplay.rank.bias import binomial_p, judges, kruskal_wallis, length_bias, share, side_bias


@pytest.fixture(scope="module")
def stats():
    """Loaded when a test wants it: every process collects these tests."""
    from scipy import stats

    return stats


@given(st.integers(1, 3000), st.floats(0, 1))
def test_the_binomial_test_equals_scipy(stats, num, part):
    count = round(part * num)
    # Far out scipy says 0.
    assert binomial_p(count, num) == pytest.approx(stats.binomtest(count, num).pvalue, rel=1e-8, abs=1e-200)


def test_the_binomial_test_of_a_large_log_equals_scipy(stats):
    assert binomial_p(99_500, 200_000) == pytest.approx(stats.binomtest(99_500, 200_000).pvalue, rel=1e-7)
    assert binomial_p(0, 0) == 1


@given(st.integers(0, 50), st.integers(1, 50))
def test_shares_have_wilsons_interval(stats, part, more):
    num = part + more
    ours, theirs = share(part, num), stats.binomtest(part, num).proportion_ci(method="wilson")
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


def test_side_bias_leaves_draws_out_of_the_share():
    log = [Judgement("eve", "a", "b", outcome) for outcome in ["left"] * 6 + ["right"] * 2 + ["draw"] * 2]
    bias = side_bias(log)
    assert (bias.left.part, bias.left.num, bias.left.share) == (6, 8, 0.75)
    assert (bias.draws.part, bias.draws.num) == (2, 10)
    assert bias.p == pytest.approx(2 * (28 + 8 + 1) / 256)
    nothing = side_bias([])
    assert (nothing.left.share, nothing.p) == (None, 1.0)


@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=12), min_size=2, max_size=3))
def test_the_rank_statistic_equals_scipy(stats, groups):
    if len({value for group in groups for value in group}) == 1:
        assert kruskal_wallis(groups) == 0
    else:
        assert kruskal_wallis(groups) == pytest.approx(stats.kruskal(*groups).statistic, abs=1e-9)


def test_length_bias_equals_scipy_for_two_and_three_outcomes(stats):
    rng = np.random.default_rng(0)
    lengths = {"left": rng.integers(100, 400, 30), "right": rng.integers(80, 300, 25), "draw": rng.integers(100, 200, 9)}
    log = [Judgement("eve", "a", "b", o, num_reason_chars=int(n)) for o, some in lengths.items() for n in some]
    log.append(Judgement("eve", "a", "b", "left"))  # of unknown length
    bias = length_bias(log)
    h, p = stats.kruskal(*lengths.values())
    assert (bias.h, bias.p) == pytest.approx((h, p), rel=1e-9)
    assert bias.num == {"left": 30, "right": 25, "draw": 9}
    assert bias.median_chars["left"] == np.median(lengths["left"])
    u = stats.mannwhitneyu(lengths["left"], lengths["right"]).statistic
    assert bias.longer_left == pytest.approx(u / (30 * 25))
    decided = length_bias([one for one in log if one.outcome != "draw"])
    assert decided.p == pytest.approx(stats.kruskal(lengths["left"], lengths["right"]).pvalue, rel=1e-9)


def test_length_bias_of_nothing_is_unknown():
    bias = length_bias([Judgement("eve", "a", "b", "left")])
    assert (bias.h, bias.p, bias.longer_left, bias.median_chars["left"]) == (None, None, None, None)


def test_each_judge_is_held_against_what_most_of_the_others_say():
    log = [
        *(Judgement(judge, "a", "b", "left", duration_s=60) for judge in ("j1", "j2")),
        Judgement("j3", "b", "a", "right", duration_s=80),  # the same, seen from the other side
        Judgement("j4", "a", "b", "right", duration_s=5, num_reason_chars=100),
        Judgement("j4", "c", "d", "right", duration_s=7, num_reason_chars=110),  # nobody else judged it
        *(Judgement(judge, "e", "f", outcome) for judge, outcome in (("j1", "left"), ("j2", "draw"), ("j4", "left"))),
    ]
    rows = {row.judge: row for row in judges(log)}
    assert next(iter(rows)) == "j4"  # most answers first
    assert (rows["j3"].agreement.part, rows["j3"].agreement.num) == (1, 1)
    # On e-f: for j1 the others say draw and left, no single commonest; for j2 they say left twice.
    assert (rows["j1"].agreement.part, rows["j1"].agreement.num) == (1, 1)
    assert (rows["j2"].agreement.part, rows["j2"].agreement.num) == (1, 2)
    j4 = rows["j4"]
    assert (j4.num_answers, j4.left.part, j4.left.num, j4.draws.share) == (3, 1, 3, 0.0)
    assert (j4.agreement.part, j4.agreement.num) == (0, 1)
    assert (j4.median_duration_s, j4.median_reason_chars) == (6, 105)
    assert rows["j1"].median_reason_chars is None
