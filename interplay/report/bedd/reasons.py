"""Measure the reasons of answers (length and sentiment), group answers by task or agent, and test counts of sentiments.

`interplay report bedd --counts FILE` reads such counts from a file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from interplay.errors import InterplayError, not_installed, unknown_name
from interplay.report.bedd.paper import short_name, task_id, task_ids
from interplay.report.statistics import ChiSquare, PairTest, chi_square, pairwise_chi_square
from interplay.store.judging.verdicts import FullAnswer
from interplay.tasks import Question, builtin_suites
from interplay.wording import amount

Sentiment = Literal["positive", "neutral", "negative"]
SENTIMENTS: tuple[Sentiment, ...] = ("positive", "neutral", "negative")


@lru_cache(maxsize=4096)  # a report reads the same reasons again
def sentiment(text: str) -> Sentiment:
    """Return positive, neutral or negative: the polarity by TextBlob's pattern analyser is above, at or below 0.

    The polarity is the mean over the words that the analyser's English lexicon knows; 0 if it knows no word of the text. The
    lexicon reads "right" as praise (+0.29) and ignores "left", even where they name a side: see docs/report.md, "Sentiment".
    """
    polarity: float = _analyser()(text).polarity  # type: ignore[assignment]  # a property cached on the instance
    return "positive" if polarity > 0 else "negative" if polarity < 0 else "neutral"


def sentiment_counts(sentiments: Iterable[Sentiment]) -> tuple[int, int, int]:
    """Count the positive, neutral and negative sentiments.

    >>> sentiment_counts(["positive", "negative", "positive"])
    (2, 0, 1)
    """
    listed = list(sentiments)
    positive, neutral, negative = (listed.count(name) for name in SENTIMENTS)
    return positive, neutral, negative


def _analyser():
    """Return the class TextBlob; it is imported only when a text is read, because the import takes a second."""
    try:
        from textblob import TextBlob
    except ModuleNotFoundError:
        raise InterplayError(not_installed("sentiment needs", "textblob", "report")) from None
    return TextBlob


_RIGHT = re.compile(r"\bright\b", re.IGNORECASE)


class Reading(NamedTuple):
    """An answer and the measures of its reason: numbers of characters and words (separated by white space), and sentiment.

    `leans_on_right`: whether the sentiment would be different without the word "right" in the text. TextBlob takes this
    word for praise, even where it names a side.
    """

    answer: FullAnswer
    num_chars: int
    num_words: int
    sentiment: Sentiment
    leans_on_right: bool


Groups = Mapping[str, Sequence[Reading]]


def read(answers: Iterable[FullAnswer], *, on_answer: Callable[[], None] = lambda: None) -> list[Reading]:
    """Measure the reason of every answer; one reason takes about 0.15 ms."""
    readings = []
    for answer in answers:
        its = sentiment(answer.reason)
        leans = bool(_RIGHT.search(answer.reason)) and sentiment(_RIGHT.sub("", answer.reason)) != its
        readings.append(Reading(answer, len(answer.reason), len(answer.reason.split()), its, leans))
        on_answer()
    return readings


def by_task(readings: Iterable[Reading]) -> dict[str, list[Reading]]:
    """Group answers by task: published (or else own) name -> answers; the paper's tasks come first, in the paper's order."""
    groups: dict[str, list[Reading]] = {}
    for reading in readings:
        groups.setdefault(short_name(reading.answer.task), []).append(reading)
    order = list(task_ids())
    return {name: groups[name] for name in sorted(groups, key=lambda name: (order.index(name) if name in order else 99, name))}


def among(readings: Iterable[Reading], agents: Sequence[str]) -> list[Reading]:
    return [reading for reading in readings if reading.answer.left in agents and reading.answer.right in agents]


def by_agent(readings: Iterable[Reading], agents: Sequence[str]) -> dict[str, list[Reading]]:
    """Group answers by agent, in the order of `agents`; an answer is in the group of each of its two agents."""
    groups: dict[str, list[Reading]] = {agent: [] for agent in agents}
    for reading in readings:
        for agent in (reading.answer.left, reading.answer.right):
            if agent in groups:
                groups[agent].append(reading)
    return {agent: group for agent, group in groups.items() if group}


GROUPS = ("task_sentiment", "agent_sentiment")
Counts = dict[str, tuple[int, int, int]]

_EXAMPLE = '{"task_sentiment": {"FindCave": [575, 48, 99], ...}, "agent_sentiment": {"Random": [213, 28, 96], ...}}'


class CountsError(InterplayError):
    """Raised when a file of counts cannot be used; the text names the key and the expected value."""


class SentimentTests(NamedTuple):
    """Counts by task or by agent, with tests of independence: over all groups, and for each pair of groups."""

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
    """Tests of the counts, and the number of single judgements behind the counts."""

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
        path: JSON file: `task_sentiment` and `agent_sentiment`, each with name -> [positive, neutral, negative].
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
    """Test counts of groups by chi-square, over all groups and for each pair."""
    try:
        overall = chi_square(list(counts.values()))
    except ValueError:
        raise CountsError(
            f"{where}: all answers are of one sentiment, so there is nothing to test; "
            f"rows are [{', '.join(SENTIMENTS)}], two of them must occur"
        ) from None
    return SentimentTests(counts, overall, pairwise_chi_square(counts))


def points_per_answer(questions: tuple[Question, ...]) -> int:
    """Return the number of single judgements in one answer: one overall, and one for each direct and comparative question.

    The paper's 27,905 judgements are the sum of n x (1 + direct + comparative) over its four tasks.
    """
    return 1 + sum(question.kind in ("direct", "comparative") for question in questions)


def _known_task(name: str, *, where: str) -> tuple[Question, ...]:
    tasks = {task.id: task for suite in builtin_suites() for task in suite.tasks}
    id = task_id(name) or name
    if id not in tasks:
        known = [*task_ids(), *task_ids().values()]
        raise CountsError(f"{where}: {unknown_name('task', name, known, hint='Comparison points come from its questions.')}")
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
