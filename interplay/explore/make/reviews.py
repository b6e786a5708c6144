"""Statistics of reviews: agreement with its interval, shares of valid instances, and the exact test between paired modes.

A verdict is true if the reviewer calls the instance valid. Different instances may have different raters, so agreement is
Fleiss' kappa ("Measuring nominal scale agreement among many raters", 1971). For two verdicts on each instance it equals Scott's
pi. If the same two people have reviewed everything, Cohen's kappa (1960) is given as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan

import numpy as np

from interplay.rank.bias import Share, binomial_p, share

NUM_RESAMPLES = 2000


@dataclass(frozen=True)
class Agreement:
    """How far raters agree about the same instances.

    Attributes:
        num: Number of instances with two verdicts or more.
        table: Numbers of these instances that all raters, no rater, or some raters called valid.
        agreement: Mean over instances of the share of pairs of verdicts that are equal.
        kappa: Fleiss' kappa; `None` without instances, or if all verdicts are the same.
        low, high: 95 % interval of kappa: percentiles over resampled instances.
        cohen: Cohen's kappa if the same two people have reviewed all instances, else `None`.
    """

    num: int
    table: tuple[int, int, int]
    agreement: float | None
    kappa: float | None
    low: float | None
    high: float | None
    cohen: float | None = None


@dataclass(frozen=True)
class Paired:
    """The exact test of McNemar ("Note on the sampling error of the difference between correlated proportions", 1947).

    Attributes:
        both, neither: Number of pairs in which both instances are valid, and in which none is.
        first_only, second_only: Number of pairs in which only the first or only the second instance is valid.
        p: Two-sided, by the binomial distribution of these pairs; 1 without such pairs.
    """

    both: int
    neither: int
    first_only: int
    second_only: int
    p: float

    @property
    def num(self) -> int:
        return self.both + self.neither + self.first_only + self.second_only


Verdicts = Mapping[str, Mapping[str, bool]]


def verdicts_of(rows: Iterable[tuple[str, str, bool]]) -> Verdicts:
    found: dict[str, dict[str, bool]] = {}
    for instance, rater, is_valid in rows:
        found.setdefault(instance, {})[rater] = is_valid
    return found


def agreement(verdicts: Verdicts, *, seed: int = 0) -> Agreement:
    """Compute the agreement of raters on the instances that have two verdicts or more.

    >>> two = verdicts_of([("a", "r", True), ("a", "s", True), ("b", "r", False), ("b", "s", False)])
    >>> agreement(two).kappa, agreement(two).cohen
    (1.0, 1.0)
    """
    counted = {name: own for name, own in verdicts.items() if len(own) > 1}
    if not counted:
        return Agreement(0, (0, 0, 0), None, None, None, None)
    yes = np.array([sum(own.values()) for own in counted.values()], float)
    total = np.array([len(own) for own in counted.values()], float)
    everything = np.arange(len(yes))
    value, alike = (float(one) for one in _kappa(yes, total, everything))
    rng = np.random.default_rng(seed)
    drawn = _kappa(yes, total, rng.integers(0, len(yes), (NUM_RESAMPLES, len(yes))))[0]
    drawn = drawn[~np.isnan(drawn)]
    low, high = np.percentile(drawn, [2.5, 97.5]).tolist() if len(drawn) else (None, None)
    table = int((yes == total).sum()), int((yes == 0).sum()), int(((yes > 0) & (yes < total)).sum())
    return Agreement(len(yes), table, alike, None if isnan(value) else value, low, high, _cohen(list(counted.values())))


def _kappa(yes: np.ndarray, total: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return Fleiss' kappa and the share of pairs that agree; the last axis of `chosen` has indices of instances."""
    y, n = yes[chosen], total[chosen]
    alike = ((y * (y - 1) + (n - y) * (n - y - 1)) / (n * (n - 1))).mean(-1)
    valid = y.sum(-1) / n.sum(-1)
    chance = valid**2 + (1 - valid) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(chance < 1, (alike - chance) / (1 - chance), nan), alike


def _cohen(rows: Sequence[Mapping[str, bool]]) -> float | None:
    raters = {frozenset(row) for row in rows}
    if len(raters) != 1 or len(next(iter(raters))) != 2:
        return None
    first, second = sorted(next(iter(raters)))
    alike = sum(row[first] == row[second] for row in rows) / len(rows)
    a, b = (sum(row[name] for row in rows) / len(rows) for name in (first, second))
    chance = a * b + (1 - a) * (1 - b)
    return None if chance == 1 else (alike - chance) / (1 - chance)


def decided(own: Mapping[str, bool]) -> bool | None:
    """Return the verdict that most raters of an instance gave; `None` if both verdicts are equally frequent."""
    lean = 2 * sum(own.values()) - len(own)
    return None if lean == 0 else lean > 0


def valid_share(decisions: Iterable[bool | None]) -> Share:
    """Return the share of valid instances with Wilson's interval; undecided instances count as not valid."""
    values = list(decisions)
    return share(sum(one is True for one in values), len(values))


def paired(pairs: Iterable[tuple[bool, bool]]) -> Paired:
    """Test whether one mode makes more valid instances than the other; both instances of a pair have the same candidates.

    >>> round(paired([(True, False)] * 11 + [(False, True)] * 3).p, 4)
    0.0574
    """
    rows = list(pairs)
    first_only, second_only = rows.count((True, False)), rows.count((False, True))
    p = binomial_p(first_only, first_only + second_only)
    return Paired(rows.count((True, True)), rows.count((False, False)), first_only, second_only, p)
