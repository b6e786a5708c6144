"""Measure biases of judges (side, draws, length of reasons), and compare each judge with the others."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from interplay.rank.agreement import Judgement
from interplay.rank.normal import Z95
from interplay.rank.trueskill import OUTCOMES


@dataclass(frozen=True)
class Share:
    """A share: `part` of `num`, with Wilson's 95 % interval ("Probable Inference", JASA 1927); None if `num` is 0."""

    part: int
    num: int
    share: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class SideBias:
    """Whether judges favour a side.

    Attributes:
        left: Share of `left` among decided answers; 0.5 is expected if sides are random and judges ignore the side.
        p: Two-sided exact binomial test of a left share of 0.5; 1 if no answer is decided. Answers of one judge are treated as
            independent.
    """

    left: Share
    draws: Share
    p: float


@dataclass(frozen=True)
class LengthBias:
    """Whether the length of reasons depends on the choice.

    Attributes:
        num, median_chars: For each outcome: number of answers with a known length, and their median length (None if no
            answers).
        h: Kruskal & Wallis' rank statistic over the outcomes that occur, corrected for ties; None for a single outcome.
        p: Probability of at least `h` by the chi-square distribution if length and choice are unrelated.
        longer_left: Probability that a reason for `left` is longer than one for `right`; equal lengths count one half.
    """

    num: dict[str, int]
    median_chars: dict[str, float | None]
    h: float | None
    p: float | None
    longer_left: float | None


@dataclass(frozen=True)
class JudgeRow:
    """Facts about one judge.

    Attributes:
        agreement: Share of answers equal to the most frequent answer of the other judges about the same item; items without
            such an answer, or with several, are left out.
    """

    judge: str
    num_answers: int
    left: Share
    draws: Share
    agreement: Share
    median_duration_s: float | None
    median_reason_chars: float | None


def side_bias(judgements: Iterable[Judgement]) -> SideBias:
    """Measure the bias towards a side over all answers.

    >>> one = Judgement("eve", "a", "b", "left")
    >>> bias = side_bias([one] * 6)
    >>> bias.left.share, bias.p
    (1.0, 0.03125)
    """
    counts = Counter(judgement.outcome for judgement in judgements)
    decided = counts["left"] + counts["right"]
    return SideBias(
        left=share(counts["left"], decided),
        draws=share(counts["draw"], decided + counts["draw"]),
        p=binomial_p(counts["left"], decided),
    )


def length_bias(judgements: Iterable[Judgement]) -> LengthBias:
    """Measure whether the length of reasons depends on the choice, over the answers whose length is known."""
    lengths: dict[str, list[int]] = {outcome: [] for outcome in OUTCOMES}
    for judgement in judgements:
        if judgement.num_reason_chars is not None:
            lengths[judgement.outcome].append(judgement.num_reason_chars)
    groups = [group for group in lengths.values() if group]
    h = kruskal_wallis(groups) if len(groups) > 1 else None
    return LengthBias(
        num={outcome: len(group) for outcome, group in lengths.items()},
        median_chars={outcome: float(median(group)) if group else None for outcome, group in lengths.items()},
        h=h,
        # The chi-square tail has a closed form for one and for two degrees of freedom.
        p=None if h is None else (math.erfc(math.sqrt(h / 2)) if len(groups) == 2 else math.exp(-h / 2)),
        longer_left=_superiority(lengths["left"], lengths["right"]),
    )


def judges(judgements: Iterable[Judgement]) -> list[JudgeRow]:
    """Return one row for each judge, the judge with the most answers first."""
    by_judge: dict[str, list[Judgement]] = defaultdict(list)
    said: dict[tuple[str, str, str], dict[str, str | None]] = defaultdict(dict)
    for judgement in judgements:
        by_judge[judgement.judge].append(judgement)
        said[judgement.item].setdefault(judgement.judge, judgement.oriented(judgement.outcome))
    rows = []
    for judge, own in by_judge.items():
        outcomes = Counter(judgement.outcome for judgement in own)
        num_agreed = num_compared = 0
        for item in {judgement.item for judgement in own}:
            consensus = _consensus(value for other, value in said[item].items() if other != judge)
            if consensus is not None:
                num_compared += 1
                num_agreed += said[item][judge] == consensus
        rows.append(
            JudgeRow(
                judge=judge,
                num_answers=len(own),
                left=share(outcomes["left"], outcomes["left"] + outcomes["right"]),
                draws=share(outcomes["draw"], len(own)),
                agreement=share(num_agreed, num_compared),
                median_duration_s=_median([one.duration_s for one in own if one.duration_s is not None]),
                median_reason_chars=_median([float(one.num_reason_chars) for one in own if one.num_reason_chars is not None]),
            )
        )
    return sorted(rows, key=lambda row: (-row.num_answers, row.judge))


def share(count: int, num: int) -> Share:
    """A share with Wilson's 95 % interval.

    >>> interval = share(1, 10)
    >>> interval.share, round(interval.low, 4), round(interval.high, 4)
    (0.1, 0.0179, 0.4042)
    """
    if num == 0:
        return Share(0, 0, None, None, None)
    p = count / num
    centre = (p + Z95 * Z95 / (2 * num)) / (1 + Z95 * Z95 / num)
    half = Z95 / (1 + Z95 * Z95 / num) * math.sqrt(p * (1 - p) / num + Z95 * Z95 / (4 * num * num))
    return Share(count, num, p, max(0.0, centre - half) if count else 0.0, min(1.0, centre + half) if count < num else 1.0)


def binomial_p(count: int, num: int) -> float:
    """Exact probability that `num` fair coins split at least as unevenly as `count` to `num - count`.

    >>> binomial_p(5, 10), round(binomial_p(1, 10), 6)
    (1.0, 0.021484)
    """
    fewer = min(count, num - count)
    if 2 * fewer == num:
        return 1.0
    if num <= 1000:  # whole numbers throughout
        return min(1.0, 2 * sum(math.comb(num, k) for k in range(fewer + 1)) / 2**num)
    term = math.exp(math.lgamma(num + 1) - math.lgamma(fewer + 1) - math.lgamma(num - fewer + 1) - num * math.log(2))
    total, k = 0.0, fewer
    while k >= 0 and term > total * 1e-18:
        total += term
        term *= k / (num - k + 1)
        k -= 1
    return min(1.0, 2 * total)


def holm(ps: Sequence[float]) -> list[float]:
    """Correct p values for multiple tests (Holm 1979): the i-th smallest of n, times n - i + 1, at least the result before it.

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    corrected = [0.0] * len(ps)
    least = 0.0
    for rank, place in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        least = corrected[place] = max(least, min(1.0, (len(ps) - rank) * ps[place]))
    return corrected


def kruskal_wallis(groups: Sequence[Sequence[float]]) -> float:
    """The rank statistic H, corrected for ties (Kruskal & Wallis, JASA 1952); 0 if all values are equal.

    >>> round(kruskal_wallis([[1, 2, 3], [4, 5, 6]]), 4)
    3.8571
    """
    num = sum(map(len, groups))
    counts = sorted(Counter(value for group in groups for value in group).items())
    rank: dict[float, float] = {}
    below = 0
    for value, count in counts:
        rank[value] = below + (count + 1) / 2
        below += count
    ties = 1 - sum(count**3 - count for _, count in counts) / (num**3 - num) if num > 1 else 0.0
    if ties <= 0:
        return 0.0
    sums = sum(sum(rank[value] for value in group) ** 2 / len(group) for group in groups)
    return max(0.0, (12 / (num * (num + 1)) * sums - 3 * (num + 1)) / ties)


def _superiority(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Probability that a value of `a` is above a value of `b`; equal values count one half."""
    if not a or not b:
        return None
    others = Counter(b)
    below, so_far, total = {}, 0, 0.0
    for value in sorted(set(a) | set(b)):
        below[value] = so_far + others[value] / 2
        so_far += others[value]
    for value in a:
        total += below[value]
    return total / (len(a) * len(b))


def _consensus(values: Iterable[str | None]) -> str | None:
    """The most frequent value; None if it is not unique, or if there is no value."""
    top = Counter(value for value in values if value is not None).most_common(2)
    return top[0][0] if top and (len(top) == 1 or top[0][1] > top[1][1]) else None


def _median(values: list[float]) -> float | None:
    return float(median(values)) if values else None
