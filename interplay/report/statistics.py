"""Statistical tests: chi-square of independence (also pairwise), ANOVA with Tukey's HSD, Mann-Whitney with Holm's correction.

The functions compute with counts and lists of numbers only; scipy is imported when a test is run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from math import comb, isfinite, sqrt
from typing import NamedTuple, cast

import numpy as np

from interplay.rank.bias import holm

SIGNIFICANCE = 0.05
"""The paper's level of significance, before Bonferroni's correction."""


class ChiSquare(NamedTuple):
    """A chi-square test of independence; `p` is the chance of a statistic at least as large if the rows do not differ."""

    statistic: float
    df: int
    p: float


class PairTest(NamedTuple):
    """Chi-square test of two groups; `significant` is with Bonferroni's correction over all pairs."""

    a: str
    b: str
    statistic: float
    p: float
    significant: bool


class Description(NamedTuple):
    """A sample in five numbers: `sd` divides by n - 1, `se` is sd / sqrt(n); both are NaN for fewer than two values."""

    num: int
    mean: float
    sd: float
    se: float
    median: float


class Difference(NamedTuple):
    """Mean of `a` minus mean of `b`, with Tukey's simultaneous confidence interval and p."""

    a: str
    b: str
    difference: float
    low: float
    high: float
    p: float
    significant: bool


class RankTest(NamedTuple):
    """Mann-Whitney test of two groups, one of a family of such tests.

    Attributes:
        statistic: U of `a`: the number of pairs in which the value of `a` is larger, plus half the pairs with equal values.
        p: Two-sided.
        corrected_p: By Holm's method, over the family.
        superiority: U / number of pairs: the chance that a value of `a` is larger than a value of `b`; ties count half.
        low, high: Interval of `superiority`.
    """

    a: str
    b: str
    num_a: int
    num_b: int
    statistic: float
    p: float
    corrected_p: float
    superiority: float
    low: float
    high: float


class Anova(NamedTuple):
    """One-way analysis of variance, and Tukey's HSD of all pairs of groups."""

    statistic: float
    df_between: int
    df_within: int
    p: float
    differences: tuple[Difference, ...]


def chi_square(rows: Sequence[Sequence[int]]) -> ChiSquare:
    """Return statistic, degrees of freedom and p of Pearson's chi-square test of independence, without Yates's correction.

    Each row has the counts of one group. Empty rows and columns are left out.

    Raises:
        ValueError: If fewer than two rows or two columns have counts, so that nothing can be tested.

    >>> chi_square([[10, 20], [20, 10]]).df
    1
    """
    from scipy.stats import chi2

    table = np.asarray(rows, dtype=float)
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    if min(table.shape) < 2:
        raise ValueError(f"a chi-square test needs two rows and two columns with counts, got {np.asarray(rows).tolist()}")
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    statistic = float(((table - expected) ** 2 / expected).sum())
    df = (table.shape[0] - 1) * (table.shape[1] - 1)
    return ChiSquare(statistic, df, float(chi2.sf(statistic, df)))


def pairwise_chi_square(counts: Mapping[str, Sequence[int]]) -> list[PairTest]:
    """Test every pair of groups by chi-square; a pair is significant if p is below `SIGNIFICANCE` / number of pairs.

    Pairs in which nothing can be tested (all counts in one column) have statistic 0 and p 1.
    """
    limit = SIGNIFICANCE / max(1, comb(len(counts), 2))
    tests = []
    for a, b in combinations(counts, 2):
        try:
            test = chi_square([counts[a], counts[b]])
        except ValueError:
            test = ChiSquare(0.0, 0, 1.0)
        tests.append(PairTest(a, b, test.statistic, test.p, test.p < limit))
    return tests


def describe(values: Sequence[float]) -> Description:
    """Compute mean, sample standard deviation, standard error of the mean, and median; all are NaN without values.

    >>> describe([1, 2, 3, 6])
    Description(num=4, mean=3.0, sd=2.160246899469287, se=1.0801234497346435, median=2.5)
    """
    sample = np.asarray(values, dtype=float)
    nan = float("nan")
    if not len(sample):
        return Description(0, nan, nan, nan, nan)
    sd = float(sample.std(ddof=1)) if len(sample) > 1 else nan
    return Description(len(sample), float(sample.mean()), sd, sd / sqrt(len(sample)), float(np.median(sample)))


def spread(values: Sequence[float]) -> dict[str, float | int]:
    sample = np.asarray(values, dtype=float)
    levels = dict(zip(("p5", "p25", "median", "p75", "p95"), np.percentile(sample, (5, 25, 50, 75, 95)).tolist(), strict=True))
    return {"num": len(sample), **levels, "mean": float(sample.mean())}


def anova(groups: Mapping[str, Sequence[float]]) -> Anova:
    """Make a one-way ANOVA and Tukey's HSD (Tukey-Kramer if groups differ in size), with the results of `scipy.stats`.

    Raises:
        ValueError: If fewer than two groups have two values or more, or if the values of each group are all equal.
    """
    from scipy.stats import f_oneway

    kept = {name: np.asarray(values, dtype=float) for name, values in groups.items() if len(values) > 1}
    if len(kept) < 2 or not any(values.std() > 0 for values in kept.values()):
        raise ValueError(f"ANOVA needs two groups with two differing values each, got {[len(v) for v in groups.values()]}")
    samples = list(kept.values())
    statistic, p = f_oneway(*samples)
    df = sum(map(len, samples)) - len(samples)
    within = sum(len(sample) * sample.var() for sample in samples) / df
    widest = _studentized_range(1 - SIGNIFICANCE, len(samples), df)
    differences = []
    for (a, of_a), (b, of_b) in combinations(kept.items(), 2):
        difference = float(of_a.mean() - of_b.mean())
        error = sqrt(within / 2 * (1 / len(of_a) + 1 / len(of_b)))
        pair_p = _studentized_range_above(abs(difference) / error, len(samples), df)
        margin = widest * error
        differences.append(
            Difference(a, b, difference, difference - margin, difference + margin, pair_p, pair_p < SIGNIFICANCE)
        )
    return Anova(float(statistic), len(samples) - 1, df, float(p), tuple(differences))


@lru_cache(maxsize=64)
def _studentized_range(share: float, num_groups: int, df: int) -> float:
    """Return a quantile of the studentized range; cached, because scipy needs a tenth of a second for each."""
    from scipy.stats import studentized_range

    return float(studentized_range.ppf(share, num_groups, df))


@lru_cache(maxsize=1024)
def _studentized_range_above(statistic: float, num_groups: int, df: int) -> float:
    """Return the share of the studentized range above a statistic; cached, because scipy needs a hundredth of a second."""
    from scipy.stats import studentized_range

    return float(studentized_range.sf(statistic, num_groups, df))


def mann_whitney(groups: Mapping[str, Sequence[float]]) -> list[RankTest]:
    """Test every pair of groups by the two-sided Mann-Whitney test, corrected by Holm's method.

    p is exact if there are no ties and a group has eight values or fewer; else it is the normal approximation, corrected for
    ties and continuity (`scipy.stats.mannwhitneyu`). If all values of both groups are equal, p is 1. The interval of the effect
    is Newcombe's fifth method (Statistics in Medicine 25, 2006, part 2), which also holds if the groups do not overlap.
    """
    from scipy.stats import mannwhitneyu

    kept = {name: np.asarray(values, dtype=float) for name, values in groups.items() if len(values)}
    found = []
    for (a, of_a), (b, of_b) in combinations(kept.items(), 2):
        differs = len(np.unique(np.concatenate([of_a, of_b]))) > 1
        statistic, p = mannwhitneyu(of_a, of_b) if differs else (len(of_a) * len(of_b) / 2, 1.0)
        found.append((a, b, len(of_a), len(of_b), float(statistic), float(p)))
    corrected = holm([one[-1] for one in found])
    tests = []
    for (a, b, num_a, num_b, statistic, p), corrected_p in zip(found, corrected, strict=True):
        effect = statistic / (num_a * num_b)
        low, high = _superiority_interval(effect, num_a, num_b)
        tests.append(RankTest(a, b, num_a, num_b, statistic, p, corrected_p, effect, low, high))
    return tests


def _superiority_interval(effect: float, num_a: int, num_b: int) -> tuple[float, float]:
    """Return the ends of the interval: the distance of each from `effect` is z times the standard error at that end."""
    from scipy.optimize import brentq
    from scipy.stats import norm

    z, mean = float(norm.ppf(1 - SIGNIFICANCE / 2)), (num_a + num_b) / 2 - 1

    def outside(true: float) -> float:
        factor = 1 + mean * ((1 - true) / (2 - true) + true / (1 + true))
        return (true - effect) ** 2 - z**2 * true * (1 - true) * factor / (num_a * num_b)

    inside = min(max(effect, 1e-9), 1 - 1e-9)  # at 0 and 1 themselves there is a root, too
    low = 0.0 if effect <= 0 else cast(float, brentq(outside, 0.0, inside))
    high = 1.0 if effect >= 1 else cast(float, brentq(outside, inside, 1.0))
    return low, high


def mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """Return Student's interval of a mean; NaN for fewer than two different values, because their spread is then unknown.

    >>> [round(end, 2) for end in mean_interval([1, 2, 3, 4, 5])]
    [1.04, 4.96]
    """
    from scipy.stats import t

    about = describe(values)
    margin = float(t.ppf(1 - SIGNIFICANCE / 2, about.num - 1)) * about.se if len(set(values)) > 1 else float("nan")
    return about.mean - margin, about.mean + margin


def anova_from_summaries(groups: Mapping[str, tuple[int, float, float]]) -> tuple[float, float]:
    """Compute F and p of a one-way ANOVA from each group's size, mean and standard error, to check printed tables.

    >>> F, p = anova_from_summaries({"a": (10, 1.0, 0.1), "b": (10, 1.5, 0.1)})
    >>> round(F, 2)
    12.5
    """
    from scipy.stats import f as f_distribution

    sizes, means, errors = (np.array(column, dtype=float) for column in zip(*groups.values(), strict=True))
    grand = (sizes * means).sum() / sizes.sum()
    between = (sizes * (means - grand) ** 2).sum() / (len(sizes) - 1)
    within = ((sizes - 1) * sizes * errors**2).sum() / (sizes.sum() - len(sizes))
    statistic = float(between / within)
    return statistic, float(f_distribution.sf(statistic, len(sizes) - 1, sizes.sum() - len(sizes)))


def number_or_none(value: float) -> float | None:
    return value if isfinite(value) else None
