"""Checks on judges: when one is due, and what a judge's answers say about their care. Pure rules; no database.

A check looks like any other match. `attention` shows a pair whose answer is beyond doubt, `repeat` a pair this judge has
answered before with sides swapped. Answers to checks are kept in the log and rate nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from statistics import median
from typing import Literal, NamedTuple

import numpy as np

from interplay.rank import Outcome

Purpose = Literal["rating", "attention", "repeat"]

SWAPPED: Mapping[str, Outcome] = {"left": "right", "right": "left", "draw": "draw"}
"""What an outcome is called when the sides change places."""
HURRY_S = 5.0
"""An answer within so many seconds of the first moment it was accepted counts as given at the minimum time."""


def is_due(purpose: Purpose, every: int | None, answered: Sequence[str], rng: np.random.Generator) -> bool:
    """Whether the next match is this check.

    A judge's answers fall into blocks of `every`; each block has one check, at a place drawn evenly, so that counting tells
    a judge nothing but that there is one in each block.

    Args:
        every: Length of a block; None for no checks.
        answered: Purposes of this judge's answers, oldest first; only as many as the last block needs the true count of.
        rng: Decides.
    """
    if every is None:
        return False
    place = len(answered) % every
    if purpose in answered[len(answered) - place :]:
        return False
    # Place by place, this chance makes every place of the block equally likely.
    return rng.random() < 1 / (every - place)


class CheckedAnswer(NamedTuple):
    """What a summary needs of one answer of the log."""

    judge: str
    judge_kind: str
    study: str | None
    purpose: str
    outcome: str
    expected: str | None
    duration_s: float


@dataclass(frozen=True)
class JudgeSummary:
    """How one judge has worked.

    Attributes:
        judge, kind: As the log names them; `person`, `program` or `model`.
        is_banned: Whether the answers count at present.
        num_answers: All answers, checks among them.
        num_attention, attention_passed: Attention checks answered, and answered right.
        num_repeats, repeats_consistent: Repeated pairs, and those answered the same way again.
        left_share: Of the answers that name a side, checks left out, how many name the left one; None without any.
        median_duration_s: From serving to answering, seconds.
        minimum_time_share: How many were given within `HURRY_S` of the first moment allowed; None where there is no minimum.
    """

    judge: str
    kind: str
    is_banned: bool
    num_answers: int
    num_attention: int
    attention_passed: int
    num_repeats: int
    repeats_consistent: int
    left_share: float | None
    median_duration_s: float
    minimum_time_share: float | None


def summarise(
    answers: Iterable[CheckedAnswer], *, banned: AbstractSet[str], min_viewing_s: Callable[[str | None], float]
) -> list[JudgeSummary]:
    """One summary a judge, those with most answers first.

    Args:
        answers: The log.
        banned: Judges whose answers do not count at present.
        min_viewing_s: Study, or None for the open room -> the minimum viewing time asked of people there, seconds.
    """
    by_judge: dict[str, list[CheckedAnswer]] = {}
    for answer in answers:
        by_judge.setdefault(answer.judge, []).append(answer)
    summaries = [_summary(judge, given, judge in banned, min_viewing_s) for judge, given in by_judge.items()]
    return sorted(summaries, key=lambda summary: (-summary.num_answers, summary.judge))


def _summary(
    judge: str, answers: Sequence[CheckedAnswer], is_banned: bool, min_viewing_s: Callable[[str | None], float]
) -> JudgeSummary:
    attention = [answer.outcome == answer.expected for answer in answers if answer.purpose == "attention"]
    repeats = [answer.outcome == answer.expected for answer in answers if answer.purpose == "repeat"]
    sides = [answer.outcome == "left" for answer in answers if answer.purpose == "rating" and answer.outcome != "draw"]
    limits = [(answer.duration_s, min_viewing_s(answer.study)) for answer in answers if answer.judge_kind == "person"]
    hurried = [duration_s <= limit + HURRY_S for duration_s, limit in limits if limit > 0]
    return JudgeSummary(
        judge=judge,
        kind=answers[-1].judge_kind,
        is_banned=is_banned,
        num_answers=len(answers),
        num_attention=len(attention),
        attention_passed=sum(attention),
        num_repeats=len(repeats),
        repeats_consistent=sum(repeats),
        left_share=sum(sides) / len(sides) if sides else None,
        median_duration_s=median(answer.duration_s for answer in answers),
        minimum_time_share=sum(hurried) / len(hurried) if hurried else None,
    )
