"""The tests behind BEDD's tables: chi-square of independence, pairwise chi-square, ANOVA with Tukey's HSD, descriptions.

Pure arithmetic over counts and lists of numbers; scipy is imported when a test is run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from math import comb, isfinite, sqrt
from typing import NamedTuple

import numpy as np

SIGNIFICANCE = 0.05
"""The level the paper tests at, before Bonferroni's correction."""


class ChiSquare(NamedTuple):
    """A chi-square test of independence; `p` is the chance of a statistic at least this large if rows do not differ."""

    statistic: float
    df: int
    p: float


class PairTest(NamedTuple):
    """Two rows compared; `significant` after Bonferroni's correction over all pairs."""

    a: str
    b: str
    statistic: float
    p: float
    significant: bool


class Description(NamedTuple):
    """A sample in five numbers: `sd` divides by n - 1, `se` is sd / sqrt(n); both NaN for fewer than two values."""

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


class Anova(NamedTuple):
    """One-way analysis of variance, and Tukey's HSD of all pairs of groups."""

    statistic: float
    df_between: int
    df_within: int
    p: float
    differences: tuple[Difference, ...]


def chi_square(rows: Sequence[Sequence[int]]) -> ChiSquare:
    """Pearson's chi-square test of independence, without Yates's correction.

    Args:
        rows: Counts, one sequence per group, all of one length.
    Returns:
        Statistic, degrees of freedom and p; a column nobody is in (or a row without anybody) counts for no degree of freedom.
    Raises:
        ValueError: If fewer than two rows or two columns hold anything, so that there is nothing to test.

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


def pairwise_chi_square(counts: Mapping[str, Sequence[int]], *, level: float = SIGNIFICANCE) -> list[PairTest]:
    """Chi-square of every pair of groups; a pair is significant if p is below `level` divided by the number of pairs.

    Pairs in which nothing can be tested (both groups in one column) have statistic 0 and p 1.
    """
    limit = level / comb(len(counts), 2) if len(counts) > 1 else level
    tests = []
    for a, b in combinations(counts, 2):
        try:
            test = chi_square([counts[a], counts[b]])
        except ValueError:
            test = ChiSquare(0.0, 0, 1.0)
        tests.append(PairTest(a, b, test.statistic, test.p, test.p < limit))
    return tests


def describe(values: Sequence[float]) -> Description:
    """Mean, sample standard deviation, standard error of the mean, and median; all NaN without values.

    >>> describe([1, 2, 3, 6])
    Description(num=4, mean=3.0, sd=2.160246899469287, se=1.0801234497346435, median=2.5)
    """
    sample = np.asarray(values, dtype=float)
    nan = float("nan")
    if not len(sample):
        return Description(0, nan, nan, nan, nan)
    sd = float(sample.std(ddof=1)) if len(sample) > 1 else nan
    return Description(len(sample), float(sample.mean()), sd, sd / sqrt(len(sample)), float(np.median(sample)))


def anova(groups: Mapping[str, Sequence[float]], *, level: float = SIGNIFICANCE) -> Anova:
    """One-way ANOVA and Tukey's HSD (Tukey-Kramer where groups differ in size), as `scipy.stats` has them.

    Args:
        groups: Name -> values.
        level: One minus the confidence of the simultaneous intervals.
    Raises:
        ValueError: If there are fewer than two groups with two values each, or no value differs from another of its group.
    """
    from scipy.stats import f_oneway, studentized_range

    kept = {name: np.asarray(values, dtype=float) for name, values in groups.items() if len(values) > 1}
    if len(kept) < 2 or not any(values.std() > 0 for values in kept.values()):
        raise ValueError(f"ANOVA needs two groups with two differing values each, got {[len(v) for v in groups.values()]}")
    samples = list(kept.values())
    statistic, p = f_oneway(*samples)
    df = sum(map(len, samples)) - len(samples)
    within = sum(len(sample) * sample.var() for sample in samples) / df
    widest = _studentized_range(1 - level, len(samples), df)
    differences = []
    for (a, of_a), (b, of_b) in combinations(kept.items(), 2):
        difference = float(of_a.mean() - of_b.mean())
        error = sqrt(within / 2 * (1 / len(of_a) + 1 / len(of_b)))
        pair_p = float(studentized_range.sf(abs(difference) / error, len(samples), df))
        margin = widest * error
        differences.append(Difference(a, b, difference, difference - margin, difference + margin, pair_p, pair_p < level))
    return Anova(float(statistic), len(samples) - 1, df, float(p), tuple(differences))


@lru_cache(maxsize=64)
def _studentized_range(share: float, num_groups: int, df: int) -> float:
    """The quantile, which scipy takes a tenth of a second to find: tables of words and of characters share it."""
    from scipy.stats import studentized_range

    return float(studentized_range.ppf(share, num_groups, df))


def anova_from_summaries(groups: Mapping[str, tuple[int, float, float]]) -> tuple[float, float]:
    """F and p of a one-way ANOVA from each group's size, mean and standard error: how printed tables are checked.

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
    """A number as JSON can have it: None for NaN and infinities."""
    return value if isfinite(value) else None
