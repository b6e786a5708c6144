"""The arithmetic of reports against scipy, against hand calculation, and against the paper's printed numbers."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interplay.report.bedd.paper import paper, published
from interplay.report.statistics import (
    anova,
    anova_from_summaries,
    chi_square,
    describe,
    pairwise_chi_square,
)

COUNTS = st.lists(st.lists(st.integers(1, 500), min_size=3, max_size=3), min_size=2, max_size=6)


@given(COUNTS)
def test_chi_square_matches_scipy(rows):
    from scipy.stats import chi2_contingency

    theirs = chi2_contingency(rows, correction=False)
    ours = chi_square(rows)
    assert ours.statistic == pytest.approx(theirs.statistic, abs=1e-9)
    assert ours.df == theirs.dof
    assert ours.p == pytest.approx(theirs.pvalue, abs=1e-12)


def test_chi_square_of_a_two_by_two_table_by_hand():
    # All expected counts are 15, so the statistic is 4 * 5**2 / 15.
    assert chi_square([[10, 20], [20, 10]]).statistic == pytest.approx(4 * 25 / 15)


def test_a_class_nobody_is_in_costs_no_degree_of_freedom():
    assert chi_square([[10, 0, 20], [20, 0, 10]]) == chi_square([[10, 20], [20, 10]])


def test_counts_in_one_column_have_nothing_to_test():
    with pytest.raises(ValueError, match="needs two rows and two columns"):
        chi_square([[10, 0, 0], [20, 0, 0]])
    (pair,) = pairwise_chi_square({"a": (10, 0, 0), "b": (20, 0, 0)})
    assert (pair.statistic, pair.p, pair.significant) == (0.0, 1.0, False)


def test_bonferroni_divides_the_level_by_the_number_of_pairs():
    # p of a pair is between 0.05 / 3 and 0.05 / 1.
    counts = {"a": (60, 0, 40), "b": (45, 0, 55)}
    assert 0.05 / 3 < pairwise_chi_square(counts)[0].p < 0.05
    assert pairwise_chi_square(counts)[0].significant
    assert not pairwise_chi_square(counts | {"c": (50, 0, 50)})[0].significant


def test_anova_matches_scipy_and_tukey_finds_the_group_that_differs():
    from scipy.stats import f_oneway, tukey_hsd

    rng = np.random.default_rng(0)
    groups = {"a": rng.normal(0, 1, 60), "b": rng.normal(0, 1, 50), "c": rng.normal(3, 1, 40)}
    result = anova({name: values.tolist() for name, values in groups.items()})
    theirs = f_oneway(*groups.values())
    assert (result.statistic, result.p) == (pytest.approx(theirs.statistic), pytest.approx(theirs.pvalue))
    assert (result.df_between, result.df_within) == (2, 147)
    tukey = tukey_hsd(*groups.values())
    interval = tukey.confidence_interval(0.95)
    for pair, (i, j) in zip(result.differences, ((0, 1), (0, 2), (1, 2)), strict=True):
        assert (pair.a, pair.b) == ("abc"[i], "abc"[j])
        expected = (tukey.statistic[i, j], interval.low[i, j], interval.high[i, j], tukey.pvalue[i, j])
        assert (pair.difference, pair.low, pair.high, pair.p) == pytest.approx(expected)
        assert pair.significant == (tukey.pvalue[i, j] < 0.05)
    by_pair = {(pair.a, pair.b): pair for pair in result.differences}
    assert by_pair["a", "c"].significant
    assert by_pair["b", "c"].significant
    assert by_pair["a", "c"].difference == pytest.approx(groups["a"].mean() - groups["c"].mean())
    assert by_pair["a", "c"].low < by_pair["a", "c"].difference < by_pair["a", "c"].high < 0


def test_anova_of_summaries_is_the_anova_of_the_values():
    groups = {"a": [1.0, 2.0, 4.0], "b": [2.0, 5.0, 6.0, 7.0]}
    summaries = {name: describe(values) for name, values in groups.items()}
    statistic, p = anova_from_summaries({name: (one.num, one.mean, one.se) for name, one in summaries.items()})
    assert (statistic, p) == (pytest.approx(anova(groups).statistic), pytest.approx(anova(groups).p))


def test_anova_refuses_values_that_are_all_alike():
    with pytest.raises(ValueError, match="two groups with two differing values each"):
        anova({"a": [1.0, 1.0], "b": [1.0, 1.0]})
    with pytest.raises(ValueError, match="two groups with two differing values each"):
        anova({"a": [1.0, 2.0], "b": [1.0]})


def test_the_paper_s_own_summaries_give_another_f_than_it_prints():
    summaries = {name: (row["comparisons"], row["words_mean"], row["words_se"]) for name, row in paper()["tasks"].items()}
    statistic, p = anova_from_summaries(summaries)
    assert round(statistic, 2) == 4.29
    assert round(p, 3) == 0.005
    assert published("words_by_task", "statistic") == 3.72


def test_describing_few_values_leaves_out_what_they_cannot_tell():
    assert math.isnan(describe([]).mean)
    assert describe([4.0]).mean == 4.0
    assert math.isnan(describe([4.0]).se)
