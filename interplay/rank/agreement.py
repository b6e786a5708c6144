"""Krippendorff's alpha: how far judges of the same things agree beyond chance.

Krippendorff, "Content Analysis: An Introduction to Its Methodology" (4th ed. 2018, chapter 12): alpha is 1 - (observed
disagreement / disagreement expected if values were assigned to units at random). 1 is perfect agreement, 0 is chance, and a
value below 0 is systematic disagreement. A unit counts if at least two judges judged it; nobody has to judge all units.

A `Judgement` is one answer, as agreement and bias use it: the judge, the two compared things, and a response to each question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

_NOTHING: Mapping[str, Any] = MappingProxyType({})
OVERALL = "overall"
"""The question that every judgement answers; the answer is the judgement's `outcome`."""
VALUES = ("first", "draw", "second")
"""Possible answers, with left and right replaced by an order of the two things that is the same for all judges."""
_MIRROR = {"left": "second", "right": "first", "draw": "draw"}
_STRAIGHT = {"left": "first", "right": "second", "draw": "draw"}


class Judgement(NamedTuple):
    """One answer.

    Attributes:
        left, right: Names of the two things shown, such as episode ids; the same thing always has the same name.
        responses: Question id -> `left`, `right`, `draw`, `na`, or `{"left": bool, "right": bool}` for a direct question.
    """

    judge: str
    left: str
    right: str
    outcome: str
    task: str = ""
    responses: Mapping[str, Any] = _NOTHING
    num_reason_chars: int | None = None
    duration_s: float | None = None

    @property
    def item(self) -> tuple[str, str, str]:
        """The task and the two things, sorted by name and not by side."""
        return (self.task, *sorted((self.left, self.right)))  # type: ignore[return-value]

    def oriented(self, answer: str) -> str | None:
        """Translate `left`, `right` or `draw` to `first`, `second` or `draw` of `item`; None for other answers, such as
        `na`."""
        return (_STRAIGHT if self.left <= self.right else _MIRROR).get(answer)


Array = NDArray[np.float64]
Metric = Literal["nominal", "ordinal"]
METRICS: tuple[Metric, ...] = get_args(Metric)


@dataclass(frozen=True)
class Agreement:
    """Agreement of judges on one question.

    Attributes:
        alpha: Krippendorff's alpha; None if it is undefined: no unit has two judges, or all values are the same.
        low, high: Percentile bootstrap interval over units; None if it was not computed.
        num_units: Number of units with at least two judges; other units do not count.
    """

    alpha: float | None
    low: float | None
    high: float | None
    num_units: int
    num_values: int
    num_judges: int


def agreement(
    judgements: Iterable[Judgement],
    *,
    question: str = OVERALL,
    metric: Metric = "nominal",
    num_resamples: int = 0,
    level: float = 0.95,
    rng: np.random.Generator | None = None,
) -> Agreement:
    """Compute the agreement of judges on one question.

    A unit is an unordered pair of things in a task. Its value is `first`, `draw` or `second`, in an order that does not depend
    on the sides. For a direct question (yes or no for each side), a unit is one thing of a pair. `na` and unanswered
    questions are missing values. If a judge answers about a unit several times, the first answer counts.

    Args:
        metric: `nominal` (values are equal or not) or `ordinal` (a draw lies between the other two).
        num_resamples: Number of resamples of units for the interval; 0 for no interval. Judges are not resampled, because a
            judge drawn twice would agree with themself.
    """
    values: dict[Any, dict[str, int]] = {}
    for judgement in judgements:
        for unit, value in _values(judgement, question):
            values.setdefault(unit, {}).setdefault(judgement.judge, value)
    paired = {unit: by_judge for unit, by_judge in values.items() if len(by_judge) > 1}
    tallies = [Counter(by_judge.values()) for by_judge in paired.values()]
    counts = np.array([[tally[value] for value in range(len(VALUES))] for tally in tallies], float).reshape(-1, len(VALUES))
    found = alpha(counts, metric)
    value = found if np.isfinite(found) else None
    low = high = None
    if num_resamples and value is not None:
        if rng is None:
            raise ValueError("an interval needs rng, a numpy random generator")
        resampled = bootstrap_alpha(counts, metric, num_resamples=num_resamples, rng=rng)
        resampled = resampled[np.isfinite(resampled)]
        if resampled.size:
            low, high = np.quantile(resampled, [(1 - level) / 2, (1 + level) / 2]).tolist()
    judges = {judge for by_judge in paired.values() for judge in by_judge}
    return Agreement(value, low, high, len(paired), int(counts.sum()), len(judges))


def questions(judgements: Iterable[Judgement]) -> list[str]:
    """Ids of the questions with at least one answer, `overall` first."""
    found = {question for judgement in judgements for question in judgement.responses} - {OVERALL}
    return [OVERALL, *sorted(found)]


def alpha(counts: Array, metric: Metric = "nominal") -> float:
    """Compute Krippendorff's alpha; NaN if it is undefined.

    `counts`, shape (units, values): number of judges who gave each value to each unit; for `ordinal`, values are in order.

    >>> round(alpha(np.array([[2, 0], [0, 2], [1, 1]])), 4)  # three units, two judges each, one disagreement
    0.4444
    """
    counts = np.asarray(counts, float)
    return float(_alphas(_coincidences(counts).sum(axis=0)[None], metric)[0])


def bootstrap_alpha(counts: Array, metric: Metric = "nominal", *, num_resamples: int, rng: np.random.Generator) -> Array:
    """Compute alpha of resamples of the units, shape (num_resamples,); NaN where it is undefined."""
    tables = _coincidences(np.asarray(counts, float))
    num_units, num_values = tables.shape[:2]
    times = rng.multinomial(num_units, np.full(num_units, 1 / num_units), size=num_resamples)
    return _alphas((times @ tables.reshape(num_units, -1)).reshape(-1, num_values, num_values), metric)


def _coincidences(counts: Array) -> Array:
    """Count pairs of values within each unit that has at least two; each value has total weight 1: (U, V) -> (units, V, V)."""
    num_judges = counts.sum(axis=1)
    counts, num_judges = counts[num_judges > 1], num_judges[num_judges > 1]
    pairs = counts[:, :, None] * counts[:, None, :]
    index = np.arange(counts.shape[1])
    pairs[:, index, index] -= counts
    return pairs / (num_judges - 1)[:, None, None]


def _alphas(coincidences: Array, metric: Metric) -> Array:
    """Compute alpha from coincidences: (B, V, V) -> (B,)."""
    if metric not in METRICS:
        raise ValueError(f"metric must be one of {', '.join(METRICS)}, got {metric!r}")
    totals = coincidences.sum(axis=2)
    num_values = totals.shape[1]
    if metric == "nominal":
        distance = np.broadcast_to(1 - np.eye(num_values), coincidences.shape)
    else:
        # Values from c to k, the two ends by half.
        upto = np.cumsum(totals, axis=1) - totals / 2
        distance = (upto[:, :, None] - upto[:, None, :]) ** 2
    observed = (coincidences * distance).sum(axis=(1, 2))
    expected = (totals[:, :, None] * totals[:, None, :] * distance).sum(axis=(1, 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(expected > 0, 1 - (totals.sum(axis=1) - 1) * observed / expected, np.nan)


def _values(judgement: Judgement, question: str) -> Sequence[tuple[Any, int]]:
    answer = judgement.outcome if question == OVERALL else judgement.responses.get(question)
    if isinstance(answer, dict):
        things = {"left": judgement.left, "right": judgement.right}
        return [((judgement.item, things[side]), int(bool(answer[side]))) for side in ("left", "right") if side in answer]
    value = judgement.oriented(answer) if isinstance(answer, str) else None
    return [] if value is None else [(judgement.item, VALUES.index(value))]
