"""Answers about pairs of episodes, seen one way round: whoever was shown the sides swapped said the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from interplay.judge.serving.checks import SWAPPED
from interplay.store.judging.model_judges import JudgedPair
from interplay.tasks import Question


class Said(NamedTuple):
    """One answer.

    Attributes:
        about: What it is about, the same for everybody who was asked it.
        answer: As if the episode with the lesser id had been left.
        shown: As it was given.
    """

    about: Any
    answer: str
    shown: str


def is_turned(pair: JudgedPair) -> bool:
    """Whether the episode with the lesser id was right."""
    return pair.left_episode > pair.right_episode


def overall(pairs: Iterable[JudgedPair]) -> list[Said]:
    """Which episode is better, of each pair."""
    return [_said(pair, pair.outcome) for pair in pairs]


def to_question(question: Question, pairs: Iterable[JudgedPair]) -> list[Said]:
    """What was said to a question of the form: about pairs, or yes or no of each episode of a pair; `na` is no answer."""
    found: list[Said] = []
    for pair in pairs:
        answer = pair.responses.get(question.id)
        if question.kind == "comparative" and isinstance(answer, str) and answer in SWAPPED:
            found.append(_said(pair, answer))
        elif question.kind == "direct" and isinstance(answer, Mapping):
            for side, episode in (("left", pair.left_episode), ("right", pair.right_episode)):
                said = "yes" if answer[side] else "no"
                found.append(Said((_episodes(pair), episode), said, said))
    return found


def _said(pair: JudgedPair, outcome: str) -> Said:
    return Said(_episodes(pair), SWAPPED[outcome] if is_turned(pair) else outcome, outcome)


def _episodes(pair: JudgedPair) -> tuple[str, ...]:
    return tuple(sorted((pair.left_episode, pair.right_episode)))
