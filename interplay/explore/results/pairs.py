"""Pairs of models on the same instance, settings, seed and epoch: tests of their difference, ratings, and answers for
`interplay rank`."""

from __future__ import annotations

import csv
import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from interplay.explore.evaluation.metrics import Result, by_model
from interplay.rank import Comparison, LeaderboardRow, methods
from interplay.rank.bias import holm
from interplay.rank.leaderboards import Resampling, boards

_EXACT = 12
"""Instances up to which every way to exchange two models is looked at."""
_DRAWS = 10_000
COLUMNS: tuple[str, ...] = ("left", "right", "outcome", "task", "judge", "seed", "left_episode", "right_episode")


def matched(left: Iterable[Result], right: Iterable[Result]) -> Iterator[tuple[Result, Result]]:
    """Pairs of runs of one instance, settings, seed and epoch that did not fail."""
    others = {(one.task, one.settings, one.seed, one.epoch): one for one in right}
    for one in left:
        other = others.get((one.task, one.settings, one.seed, one.epoch))
        if other is not None and one.outcomes and one.failed is None and other.failed is None:
            yield one, other


def paired_tests(results: Sequence[Result], rng: np.random.Generator) -> list[dict[str, Any]]:
    """Difference of every two models' shares in the runs that both have, and how often chance alone makes one as large.

    The test exchanges the two models of an instance (Fisher's randomization test, with instances as units); p-values are exact
    up to 12 instances. `*_holm` are corrected for the number of pairs (Holm 1979).
    """
    rows = []
    for (first, own), (second, theirs) in itertools.combinations(by_model(results).items(), 2):
        both = list(matched(own, theirs))
        row: dict[str, Any] = {"first": first, "second": second, "runs": len(both), "instances": len({a.task for a, _ in both})}
        done = _by_instance((a.task, float(a.is_done) - float(b.is_done)) for a, b in both)
        reached = _by_instance((a.task, float(a.num_reached - b.num_reached)) for a, b in both)
        num_milestones = sum(len(a.outcomes) for a, _ in both)
        for name, differences, number in (("tsr", done, len(both)), ("msr", reached, num_milestones)):
            row[f"{name}_difference"] = float(differences.sum() / number) if number else None
            row[f"{name}_p"] = randomization_p(differences, rng)
        rows.append(row)
    for name in ("tsr", "msr"):
        for row, p in zip(rows, holm([row[f"{name}_p"] for row in rows]), strict=True):
            row[f"{name}_holm"] = p
    return rows


def _by_instance(differences: Iterable[tuple[str, float]]) -> np.ndarray:
    found: dict[str, float] = defaultdict(float)
    for task, value in differences:
        found[task] += value
    return np.array([*found.values()])


def randomization_p(differences: np.ndarray, rng: np.random.Generator) -> float:
    """Two-sided p-value of a sum of 0, when each difference could as well have the other sign.

    >>> randomization_p(np.array([1.0, 1.0, 1.0, 0.0]), np.random.default_rng(0))
    0.25
    """
    count = len(differences)
    if not np.any(differences):
        return 1.0
    observed = abs(differences.sum()) - 1e-9
    if count <= _EXACT:
        signs = np.array(list(itertools.product((-1, 1), repeat=count)))
        return float(np.mean(np.abs(signs @ differences) >= observed))
    signs = rng.choice((-1, 1), (_DRAWS, count))
    return float((1 + np.sum(np.abs(signs @ differences) >= observed)) / (_DRAWS + 1))


def answers(results: Sequence[Result]) -> Iterator[dict[str, Any]]:
    """One row for each pair of `matched` runs: the run with more milestones wins, as many make a draw."""
    for (first, own), (second, theirs) in itertools.combinations(by_model(results).items(), 2):
        for one, other in matched(own, theirs):
            more = one.num_reached - other.num_reached
            outcome = "left" if more > 0 else "right" if more < 0 else "draw"
            named = (first, second, outcome, one.task, "milestones", one.seed, one.episode or "", other.episode or "")
            yield dict(zip(COLUMNS, named, strict=True))


def write_answers(results: Sequence[Result], path: Path) -> int:
    """Write them as `interplay rank --answers` reads them; returns how many."""
    rows = list(answers(results))
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    return len(rows)


METHODS = tuple(name for name, method in methods.METHODS.items() if not method.uses_order)
"""Those in which the order of pairs does not matter; the first is the usual one."""


@dataclass(frozen=True)
class Ratings:
    """Models by strength, with 95 % intervals, and `above_next`, the share of resamples in which a model is above the next one.

    Both are `None` where a single task, or tasks that all say the same, cannot tell.
    """

    rows: Sequence[LeaderboardRow]
    notes: Sequence[str]
    num_answers: int
    num_tasks: int


def rate(results: Sequence[Result], method: str = "bradley-terry") -> Ratings:
    """Rate the models of one table from the pairs of their runs (`pairs.answers`).

    Pairs of one task are alike, so intervals are a bootstrap that draws whole tasks (`rank.bootstrap`): there, answers of one
    judge are drawn together, and a pair's judge is its task.
    """
    pairs = [Comparison(one["left"], one["right"], one["outcome"], judge=one["task"]) for one in answers(results)]
    if not pairs:
        return Ratings((), (), 0, 0)
    board = boards(pairs, method, resampling=Resampling(unit="judges")).overall
    assert board.resampled is not None
    share, place = board.resampled.above(), {name: number for number, name in enumerate(board.log.agents)}
    rows = [replace(row, low=row.score_low, high=row.score_high) for row in board.rows]
    for number, (row, below) in enumerate(pairwise(rows)):
        if row.above_next is not None:
            known = None not in (row.low, below.low)
            above = float(share[place[row.agent], place[below.agent]]) if known else None
            rows[number] = replace(row, above_next=above)
    return Ratings(rows, board.notes, len(pairs), board.num_judges)
