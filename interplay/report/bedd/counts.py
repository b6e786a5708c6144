"""`interplay report bedd --counts FILE`: chi-square tests and comparison points of BEDD from integer counts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from interplay.errors import InterplayError, unknown_name
from interplay.report.bedd.paper import task_id, task_ids
from interplay.report.bedd.reasons import SENTIMENTS
from interplay.report.statistics import ChiSquare, PairTest, chi_square, pairwise_chi_square
from interplay.tasks import Question, builtin_suites
from interplay.wording import amount

GROUPS = ("task_sentiment", "agent_sentiment")
Counts = dict[str, tuple[int, int, int]]

_EXAMPLE = '{"task_sentiment": {"FindCave": [575, 48, 99], ...}, "agent_sentiment": {"Random": [213, 28, 96], ...}}'


class CountsError(InterplayError):
    """A file of counts that cannot be used; the text names the key and what was expected there."""


class SentimentTests(NamedTuple):
    """Counts of one kind of group (tasks, agents), tested for independence, over all and pair by pair."""

    counts: Counts
    chi_square: ChiSquare
    pairs: list[PairTest]

    def to_json(self) -> dict[str, Any]:
        return {
            "counts": {name: list(row) for name, row in self.counts.items()},
            "chi_square": self.chi_square._asdict(),
            "pairs": [pair._asdict() for pair in self.pairs],
        }


class CountsReport(NamedTuple):
    """Tests of the counts, and how many single judgements they stand for."""

    task_sentiment: SentimentTests
    agent_sentiment: SentimentTests
    comparison_points: int

    def to_json(self) -> dict[str, Any]:
        return {
            "task_sentiment": self.task_sentiment.to_json(),
            "agent_sentiment": self.agent_sentiment.to_json(),
            "comparison_points": self.comparison_points,
        }


def counts_report(path: Path) -> CountsReport:
    """Read counts and test them.

    Args:
        path: JSON: `task_sentiment` and `agent_sentiment`, each a name -> [positive, neutral, negative].
    Raises:
        CountsError: If the file cannot be read, a key or a count is missing or wrong, or a task is not in the basalt suite.
    """
    counts = read_counts(path)
    tests = {name: compare_counts(counts[name], where=f"{path}: {name}") for name in GROUPS}
    points = sum(
        sum(row) * points_per_answer(_known_task(task, where=f"{path}: task_sentiment"))
        for task, row in counts["task_sentiment"].items()
    )
    return CountsReport(tests["task_sentiment"], tests["agent_sentiment"], points)


def read_counts(path: Path) -> dict[str, Counts]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CountsError(f"there is no file {path}\n--counts takes JSON such as {_EXAMPLE}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise CountsError(f"{path} cannot be read as JSON: {error}\nExpected {_EXAMPLE}") from None
    if not isinstance(document, Mapping):
        raise CountsError(f"{path} holds {_kind(document)}, expected an object\nExpected {_EXAMPLE}")
    missing = [name for name in GROUPS if name not in document]
    if missing:
        raise CountsError(f"{path} misses {' and '.join(missing)}; it has {sorted(document) or 'nothing'}\nExpected {_EXAMPLE}")
    return {name: _check_group(document[name], f"{path}: {name}") for name in GROUPS}


def compare_counts(counts: Counts, *, where: str) -> SentimentTests:
    """Chi-square over all groups and of each pair."""
    try:
        overall = chi_square(list(counts.values()))
    except ValueError:
        raise CountsError(
            f"{where}: all answers are of one sentiment, so there is nothing to test; "
            f"rows are [{', '.join(SENTIMENTS)}], two of them must occur"
        ) from None
    return SentimentTests(counts, overall, pairwise_chi_square(counts))


def points_per_answer(questions: tuple[Question, ...]) -> int:
    """Single judgements in one answer: the overall one, and one for each direct and each comparative question.

    The paper's 27,905 are the sum of n x (1 + direct + comparative) over its four tasks.
    """
    return 1 + sum(question.kind in ("direct", "comparative") for question in questions)


def _known_task(name: str, *, where: str) -> tuple[Question, ...]:
    tasks = {task.id: task for suite in builtin_suites() for task in suite.tasks}
    id = task_id(name) or name
    if id not in tasks:
        known = [*task_ids(), *task_ids().values()]
        raise CountsError(f"{where}: {unknown_name('task', name, known, hint='Comparison points need its form.')}")
    return tasks[id].questions


def _check_group(group: Any, where: str) -> Counts:
    if not isinstance(group, Mapping):
        raise CountsError(f"{where} is {_kind(group)}, expected an object: name -> [{', '.join(SENTIMENTS)}]")
    if len(group) < 2:
        raise CountsError(f"{where} names {amount(len(group), 'group')}; a comparison needs two or more")
    return {name: _check_row(row, f"{where}: {name}") for name, row in group.items()}


def _check_row(row: Any, where: str) -> tuple[int, int, int]:
    expected = f"expected three counts [{', '.join(SENTIMENTS)}]"
    if not isinstance(row, list):
        raise CountsError(f"{where} is {_kind(row)}, {expected}")
    if len(row) != len(SENTIMENTS):
        raise CountsError(f"{where} has {len(row)} numbers, {expected}")
    for value in row:
        if isinstance(value, bool) or not isinstance(value, int):
            raise CountsError(f"{where} holds {value!r}, {expected}: whole numbers of answers, not shares or percentages")
        if value < 0:
            raise CountsError(f"{where} holds {value}, {expected}: none below 0")
        if value > 2**53:
            raise CountsError(f"{where} holds {value}, {expected}: more than can be counted exactly")
    if not any(row):
        raise CountsError(f"{where} has no answers at all ({row}); leave this name out")
    positive, neutral, negative = row
    return positive, neutral, negative


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    kinds = {bool: "true or false", int: "a number", float: "a number", str: "a text", list: "a list", dict: "an object"}
    return kinds[type(value)]
