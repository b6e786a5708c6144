"""Match published answers to our questions, by their place in the form and by the questions' sentences in the file.

Published questions have no ids, only sentences. A form asks its questions in a fixed order, so every row with the right number
of answers shows which sentence stands in which place. In rows that lack answers, these sentences identify the questions.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from interplay.tasks import Question, Task

Kind = Literal["direct", "comparative"]
CHOICES = {"p1": "left", "p2": "right", "left": "left", "right": "right", "draw": "draw", "na": "na"}
"""Published word for an answer -> our word."""
_LISTS: dict[Kind, str] = {"direct": "direct_question", "comparative": "comparisons"}
_YES_NO = {"true": True, "false": False, True: True, False: False}


class Wordings:
    """Learns from the rows of a file which sentence belongs to which question id, for each task and kind of question.

    Args:
        rows: For every row, its task and the `responses` of its metadata.
    """

    def __init__(self, rows: Iterable[tuple[Task, Mapping[str, Any]]]) -> None:
        places: defaultdict[tuple[str, Kind, str], Counter[str]] = defaultdict(Counter)
        self.counts: defaultdict[tuple[str, Kind], Counter[int]] = defaultdict(Counter)
        for task, responses in rows:
            for kind in _LISTS:
                entries, asked = entries_of(responses, kind), questions(task, kind)
                self.counts[task.id, kind][len(entries)] += 1
                if len(entries) == len(asked):
                    for entry, question in zip(entries, asked, strict=True):
                        if isinstance(text := entry.get("question"), str):
                            places[task.id, kind, text.strip()][question.id] += 1
        self._ids = {key: counter.most_common(1)[0][0] for key, counter in places.items()}

    def ids(self, task: Task, kind: Kind, entries: Sequence[Mapping[str, Any]]) -> list[str | None]:
        asked = questions(task, kind)
        known = {text: question.id for question in asked for text in (question.text, question.factor)}
        found = [self._one(task, kind, entry, known) for entry in entries]
        if len(entries) == len(asked) and (None in found or len(set(found)) < len(found)):
            return [question.id for question in asked]
        return [name if found.count(name) == 1 else None for name in found]

    def _one(self, task: Task, kind: Kind, entry: Mapping[str, Any], known: Mapping[str, str]) -> str | None:
        text = entry.get("question")
        if not isinstance(text, str):
            return None
        return known.get(text.strip()) or self._ids.get((task.id, kind, text.strip()))


def questions(task: Task, kind: Kind) -> list[Question]:
    return [question for question in task.questions if question.kind == kind]


def entries_of(responses: Mapping[str, Any], kind: Kind) -> list[Mapping[str, Any]]:
    """Return the answers to one kind of question. An entry that is not an object counts as an empty object."""
    entries = responses.get(_LISTS[kind])
    return [entry if isinstance(entry, dict) else {} for entry in entries] if isinstance(entries, list) else []


def read_responses(
    task: Task, responses: Mapping[str, Any], winner: str, wordings: Wordings
) -> tuple[dict[str, Any], list[str]]:
    """Convert a published form to ours. Return the answers by question id, and notes on irregularities.

    `winner` (`p1`, `p2` or `draw`) is the answer to the overall question, which some forms repeat among the comparisons.
    """
    answers: dict[str, Any] = {}
    notes: list[str] = []
    for kind in _LISTS:
        entries = entries_of(responses, kind)
        asked = questions(task, kind)
        ids = wordings.ids(task, kind, entries)
        if kind == "comparative" and len(entries) == len(asked) + 1 and entries[-1].get("answer") == winner:
            entries, ids = entries[:-1], wordings.ids(task, kind, entries[:-1])
            notes.append("the overall question is also among the comparisons")
        elif len(entries) != len(asked):
            notes.append(f"{len(entries)} {kind} answers, but the form has {len(asked)}")
        for name, entry in zip(ids, entries, strict=True):
            if name is None:
                notes.append(f"a {kind} answer to a question that cannot be identified")
            elif kind == "direct":
                answers[name] = _both_sides(entry, notes)
            else:
                answers[name] = _choice(entry, notes)
    return answers, notes


def _both_sides(entry: Mapping[str, Any], notes: list[str]) -> dict[str, bool]:
    """Return yes or no for each side. A missing answer counts as no: the published format cannot tell the two apart."""
    sides = {}
    for side, player in (("left", "player_1"), ("right", "player_2")):
        value = entry.get(player)
        value = value.strip().lower() if isinstance(value, str) else value
        yes = _YES_NO.get(value) if isinstance(value, str | bool) else None
        if yes is None:
            notes.append("a direct question without an answer, counted as no")
        sides[side] = bool(yes)
    return sides


def _choice(entry: Mapping[str, Any], notes: list[str]) -> str:
    value = entry.get("answer")
    choice = CHOICES.get(value.strip().lower()) if isinstance(value, str) else None
    if choice is None:
        empty = value is None or value == ""
        notes.append(
            "a comparison without an answer, counted as n/a" if empty else "a comparison with an unknown answer, counted as n/a"
        )
    return choice or "na"
