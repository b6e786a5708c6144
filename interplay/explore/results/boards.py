"""Boards of language models: a table for each group of settings, with references, tests of pairs and ratings.

Pairs are runs of two models on the same instance, settings, seed and epoch.
"""

from __future__ import annotations

import csv
import io
import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from interplay.explore.evaluation.metrics import BY, Result, by_model, tables
from interplay.explore.evaluation.scripted import PREFIX as SCRIPTED
from interplay.explore.evaluation.settings import GOALS, PROTOCOLS
from interplay.explore.results.references import References
from interplay.rank import Comparison, LeaderboardRow, leaderboards, methods
from interplay.rank.bias import holm

_EXACT = 12
"""Largest number of instances for which the test is exact."""
_DRAWS = 10_000
_OF_ANSWERS = ("left", "right", "outcome", "task", "judge", "seed", "left_episode", "right_episode")


def matched(left: Iterable[Result], right: Iterable[Result]) -> Iterator[tuple[Result, Result]]:
    """Yield the pairs of runs with the same instance, settings, seed and epoch of which none failed."""
    others = {(one.task, one.settings, one.seed, one.epoch): one for one in right}
    for one in left:
        other = others.get((one.task, one.settings, one.seed, one.epoch))
        if other is not None and one.outcomes and one.failed is None and other.failed is None:
            yield one, other


def paired_tests(results: Sequence[Result], rng: np.random.Generator) -> list[dict[str, Any]]:
    """Compare every two models in the runs that both have: difference of their shares, and its p-value.

    The test exchanges the two models' runs of an instance (Fisher's randomization test, with instances as units). P-values are
    exact up to 12 instances. `*_holm` are p-values corrected for the number of pairs (Holm 1979).
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
    """Return the two-sided p-value of the differences' sum, if each difference has a positive or negative sign by chance.

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
    """Yield one row for each pair of `matched` runs: the run with more milestones wins, and equal numbers are a draw."""
    for (first, own), (second, theirs) in itertools.combinations(by_model(results).items(), 2):
        for one, other in matched(own, theirs):
            more = one.num_reached - other.num_reached
            outcome = "left" if more > 0 else "right" if more < 0 else "draw"
            named = (first, second, outcome, one.task, "milestones", one.seed, one.episode or "", other.episode or "")
            yield dict(zip(_OF_ANSWERS, named, strict=True))


def write_answers(results: Sequence[Result], path: Path) -> int:
    """Write the rows of `answers` in the form that `interplay rank --answers` reads; return their number."""
    rows = list(answers(results))
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, _OF_ANSWERS)
        writer.writeheader()
        writer.writerows(rows)
    return len(rows)


METHODS = tuple(name for name, method in methods.METHODS.items() if not method.uses_order)
"""Methods in which the order of pairs does not matter, the default first."""


@dataclass(frozen=True)
class Ratings:
    """Models by strength, with 95 % intervals, and `above_next`: the share of resamples in which a model is above the next one.

    Intervals and `above_next` are `None` if there is a single task, or if all tasks agree: resampling then tells nothing.
    """

    rows: Sequence[LeaderboardRow]
    notes: Sequence[str]
    num_answers: int
    num_tasks: int


def rate(results: Sequence[Result], method: str = "bradley-terry") -> Ratings:
    """Rate the models of one table from the pairs of their runs (`answers`).

    Pairs of one task are alike, so the bootstrap for the intervals draws whole tasks. `rank.bootstrap` draws all answers of a
    judge together; so each pair names its task as its judge.
    """
    pairs = [Comparison(one["left"], one["right"], one["outcome"], judge=one["task"]) for one in answers(results)]
    if not pairs:
        return Ratings((), (), 0, 0)
    board = leaderboards.boards(pairs, method, resampling=leaderboards.Resampling(unit="judges")).overall
    assert board.resampled is not None
    share, place = board.resampled.above(), {name: number for number, name in enumerate(board.log.agents)}
    rows = [replace(row, low=row.score_low, high=row.score_high) for row in board.rows]
    for number, (row, below) in enumerate(pairwise(rows)):
        if row.above_next is not None:
            known = None not in (row.low, below.low)
            above = float(share[place[row.agent], place[below.agent]]) if known else None
            rows[number] = replace(row, above_next=above)
    return Ratings(rows, board.notes, len(pairs), board.num_judges)


NUMBERS = (
    "runs", "instances", "failed", "false_done", "calls", "input_tokens", "output_tokens", "refused_replies", "cost",
    "latency_ms",
)  # fmt: skip
COLUMNS = (
    "model",
    *(name + end for name in ("tsr", "msr", "ordered_msr") for end in ("", "_low", "_high")),
    *NUMBERS,
)


@dataclass(frozen=True)
class Board:
    """One table, and everything else on its page.

    Attributes:
        table: As `metrics.tables` makes it.
        pairs: As `paired_tests` makes them.
        num_waiting: Number of people's first attempts that would count but are not judged yet.
        wrong: Runs that are left out because their files are wrong, each with the reason.
        num_believed: Number of runs that were not compared with their episodes yet.
    """

    name: str
    table: Mapping[str, Any]
    results: Sequence[Result]
    pairs: Sequence[Mapping[str, Any]] = ()
    num_waiting: int = 0
    wrong: Sequence[tuple[Result, str]] = ()
    num_believed: int = 0

    @property
    def models(self) -> list[Mapping[str, Any]]:
        return [row for row in self.table["models"] if not row["model"].startswith(SCRIPTED)]

    @property
    def references(self) -> list[Mapping[str, Any]]:
        scripted = [row for row in self.table["models"] if row["model"].startswith(SCRIPTED)]
        return [*self.table["references"], *scripted]

    @property
    def meanings(self) -> Mapping[str, str]:
        return BY

    @property
    def how(self) -> str:
        said = self.table["settings"]
        parts = [PROTOCOLS[said["protocol"]], f"{said['max_steps']:,} ticks at most"]
        return "; ".join(parts + ([GOALS[said["goal"]]] if said["goal"] != "written" else []))

    def failed(self) -> list[Mapping[str, Any]]:
        return [_named(one, one.why) for one in self.results if one.failed is not None]

    def left_out(self) -> list[Mapping[str, Any]]:
        """Return the wrong runs with reasons; the reasons name no milestones, because readers of the page may still play."""
        return [_named(one, why.partition(":")[0]) for one, why in self.wrong]

    def runs(self) -> list[tuple[str, list[list[Result]]]]:
        names = [row["model"] for row in self.table["models"]]
        tasks = sorted({(one.hops, one.task) for one in self.results})
        of = {(task, name): [] for _, task in tasks for name in names}
        for one in self.results:
            of[one.task, one.model].append(one)
        return [(task, [sorted(of[task, name], key=lambda one: one.epoch) for name in names]) for _, task in tasks]

    def to_json(self) -> dict[str, Any]:
        more = {"failed": self.failed(), "pairs": list(self.pairs), "attempts_not_judged": self.num_waiting}
        more |= {"left_out": self.left_out(), "not_compared": self.num_believed}
        return {**self.table, **more, "runs": [one.run for one in self.results]}

    def to_csv(self) -> str:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(("kind", *COLUMNS))
        for kind, own in (("reference", self.references), ("model", self.models)):
            for row in own:
                rates = [row[share][part] for share in ("tsr", "msr", "ordered_msr") for part in ("value", "low", "high")]
                writer.writerow([kind, row["model"], *rates, *(row[number] for number in NUMBERS)])
        return text.getvalue()


def _named(result: Result, why: str | None) -> dict[str, Any]:
    return {name: getattr(result, name) for name in ("run", "model", "task", "epoch")} | {"why": why}


def sorted_out(
    results: Sequence[Result], verdicts: Mapping[str, str | None]
) -> tuple[list[Result], list[tuple[Result, str]], list[Result]]:
    """Return runs that count, wrong runs with reasons, and those that count but are not compared with their episodes yet.

    `verdicts` maps a run to its result of `verification.compared`. If several runs name the same episode, none of them counts.
    """
    claims = Counter(one.episode for one in results if one.failed is None)
    whys = {one.run: verdicts.get(one.run, "") for one in results}
    whys |= {
        one.run: f"{claims[one.episode]} runs say that they are episode {one.episode}"
        for one in results
        if one.failed is None and one.episode is not None and claims[one.episode] > 1
    }
    counts = [one for one in results if not whys[one.run]]
    return counts, [(one, why) for one in results if (why := whys[one.run])], [one for one in counts if whys[one.run] is None]


def boards(every: Sequence[Result], references: References, verdicts: Mapping[str, str | None] = {}) -> list[Board]:
    """Make a board for each table of the runs that count, boards with the most models first; `verdicts` as for `sorted_out`."""
    results, wrong, believed = sorted_out(every, verdicts)
    of_settings: dict[str, list[Result]] = {}
    for one in results:
        of_settings.setdefault(one.settings, []).append(one)
    made = []
    for table in tables(results, references=references.rows):
        own = of_settings[table["key"]]
        tests = paired_tests(own, np.random.default_rng(0))
        of_table = [(one, why) for one, why in wrong if one.settings == table["key"]]
        num_believed = sum(one.settings == table["key"] for one in believed)
        made.append(Board(table["name"], table, own, tests, references.num_waiting(own), of_table, num_believed))
    return sorted(made, key=lambda board: (-len(board.models), -len(board.table["models"]), board.name))
