"""Reasons of answers, measured once: length and sentiment; and answers grouped by task or by agent."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from interplay.errors import InterplayError, not_installed
from interplay.report.bedd.paper import short_name, task_ids
from interplay.store.judging.verdicts import FullAnswer

Sentiment = Literal["positive", "neutral", "negative"]
SENTIMENTS: tuple[Sentiment, ...] = ("positive", "neutral", "negative")


@lru_cache(maxsize=4096)  # a report reads the same reasons again
def sentiment(text: str) -> Sentiment:
    """Positive, neutral or negative: polarity of TextBlob's pattern analyser above, at or below 0.

    The polarity is the mean over the words of the text that its English lexicon knows, 0 if it knows none. The lexicon reads
    "right" as praise (+0.29) and "left" as nothing, wherever they name a side: see docs/report.md, "Sentiment".
    """
    polarity: float = _analyser()(text).polarity  # type: ignore[assignment]  # a property cached on the instance
    return "positive" if polarity > 0 else "negative" if polarity < 0 else "neutral"


def sentiment_counts(sentiments: Iterable[Sentiment]) -> tuple[int, int, int]:
    """How many are positive, neutral and negative.

    >>> sentiment_counts(["positive", "negative", "positive"])
    (2, 0, 1)
    """
    listed = list(sentiments)
    positive, neutral, negative = (listed.count(name) for name in SENTIMENTS)
    return positive, neutral, negative


def _analyser():
    """The class TextBlob; importing it takes a second, so it waits until a text is read."""
    try:
        from textblob import TextBlob
    except ModuleNotFoundError:
        raise InterplayError(not_installed("sentiment needs", "textblob", "report")) from None
    return TextBlob


_RIGHT = re.compile(r"\bright\b", re.IGNORECASE)


class Reading(NamedTuple):
    """An answer and what its reason measures: characters, words (separated by white space) and sentiment.

    `leans_on_right` says that the class would be another one if the word "right" were not in the text: TextBlob takes it for
    praise, also where it names a side.
    """

    answer: FullAnswer
    num_chars: int
    num_words: int
    sentiment: Sentiment
    leans_on_right: bool


Groups = Mapping[str, Sequence[Reading]]


def read(answers: Iterable[FullAnswer], *, on_answer: Callable[[], None] = lambda: None) -> list[Reading]:
    """Measure every reason; about 0.15 ms each."""
    readings = []
    for answer in answers:
        its = sentiment(answer.reason)
        leans = bool(_RIGHT.search(answer.reason)) and sentiment(_RIGHT.sub("", answer.reason)) != its
        readings.append(Reading(answer, len(answer.reason), len(answer.reason.split()), its, leans))
        on_answer()
    return readings


def by_task(readings: Iterable[Reading]) -> dict[str, list[Reading]]:
    """Published (or else own) name of a task -> its answers; the paper's tasks first, in its order."""
    groups: dict[str, list[Reading]] = {}
    for reading in readings:
        groups.setdefault(short_name(reading.answer.task), []).append(reading)
    order = list(task_ids())
    return {name: groups[name] for name in sorted(groups, key=lambda name: (order.index(name) if name in order else 99, name))}


def among(readings: Iterable[Reading], agents: Sequence[str]) -> list[Reading]:
    return [reading for reading in readings if reading.answer.left in agents and reading.answer.right in agents]


def by_agent(readings: Iterable[Reading], agents: Sequence[str]) -> dict[str, list[Reading]]:
    """Agent -> every answer that has it on a side, in the order of `agents`; an answer about two of them is in both groups."""
    groups: dict[str, list[Reading]] = {agent: [] for agent in agents}
    for reading in readings:
        for agent in (reading.answer.left, reading.answer.right):
            if agent in groups:
                groups[agent].append(reading)
    return {agent: group for agent, group in groups.items() if group}
