"""Answers as the analyses need them: each reason measured once, answers grouped by task or by agent."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from interplay.report.bedd.paper import short_name, task_ids
from interplay.report.sentiment import Sentiment, sentiment
from interplay.store.judging.verdicts import FullAnswer

_RIGHT = re.compile(r"\bright\b", re.IGNORECASE)


class Reading(NamedTuple):
    """An answer and what its reason measures: characters, words (parted by white space) and sentiment.

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
    """The answers that compare two of these agents."""
    return [reading for reading in readings if reading.answer.left in agents and reading.answer.right in agents]


def by_agent(readings: Iterable[Reading], agents: Sequence[str]) -> dict[str, list[Reading]]:
    """Agent -> every answer that has it on a side, in the order of `agents`; an answer about two of them is in both groups."""
    groups: dict[str, list[Reading]] = {agent: [] for agent in agents}
    for reading in readings:
        for agent in (reading.answer.left, reading.answer.right):
            if agent in groups:
                groups[agent].append(reading)
    return {agent: group for agent, group in groups.items() if group}
