"""Checks on judges: decide when a check is due, and summarise how carefully each judge works. No database is needed.

A check looks like any other match. `attention` shows a pair with an obvious answer; `repeat` shows a pair that this judge has
answered before, with sides swapped. Answers to checks are in the log and affect no rating.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from statistics import fmean, median
from typing import Literal, NamedTuple

import numpy as np

from interplay.rank import Outcome

Purpose = Literal["rating", "attention", "repeat"]

SWAPPED: Mapping[str, Outcome] = {"left": "right", "right": "left", "draw": "draw"}
"""Outcome -> the same outcome after the sides are swapped."""
_Entry = tuple[Purpose, int | None]
HURRY_S = 5.0
"""Longest time (s) after the minimum time in which an answer counts as hurried; the minimum time itself if that is shorter."""


def checks_due(
    attention_every: int | None, repeat_every: int | None, answered: Sequence[str], rng: np.random.Generator
) -> tuple[Purpose, ...]:
    """Return the kinds of check that are due for the next match, the most urgent first; empty if no check is due.

    For each kind of check, a judge's answers form blocks of fixed length. Each block has one check, at a place drawn at random
    with equal chances. So a judge who counts learns only that each block has a check. If both kinds fall on one place, the kind
    with fewer places left in its block is taken, and the other kind is drawn again.

    Args:
        attention_every, repeat_every: Length of a block, 2 or more; None for no checks of this kind.
        answered: Purposes of this judge's answers, oldest first.
    """
    left: dict[Purpose, int] = {}
    for purpose, every in _in_random_order(("attention", attention_every), ("repeat", repeat_every), rng=rng):
        if every is not None:
            place = len(answered) % every
            if purpose not in answered[len(answered) - place :]:
                left[purpose] = every - place
    # Place by place, this chance makes every place of the block equally likely.
    due: list[Purpose] = [purpose for purpose, num_left in left.items() if rng.random() < 1 / num_left]
    if not due and len(left) == 2 and max(left.values()) == 2:  # two checks for the last two places of both blocks
        due = list(left)
    due.sort(key=lambda purpose: left[purpose])  # stable: chance decides between equals
    return tuple(due)


def _in_random_order(*entries: _Entry, rng: np.random.Generator) -> list[_Entry]:
    return [entries[place] for place in rng.permutation(len(entries))]


class CheckedAnswer(NamedTuple):
    """The values of one answer of the log that a summary needs."""

    judge: str
    judge_kind: str
    study: str | None
    purpose: str
    outcome: str
    expected: str | None
    duration_s: float | None
    left_watched_s: str | None = None
    left_length_s: str | None = None
    right_watched_s: str | None = None
    right_length_s: str | None = None

    @property
    def watched_share(self) -> float | None:
        """The smaller of the two videos' played shares (0 to 1), by the page's report; None without a report."""
        shares = []
        for watched, length in ((self.left_watched_s, self.left_length_s), (self.right_watched_s, self.right_length_s)):
            try:
                share = float(watched or "nan") / float(length or "nan")
            except (ValueError, ZeroDivisionError, OverflowError):
                return None
            if not share >= 0:
                return None
            shares.append(min(1.0, share))
        return min(shares)


@dataclass(frozen=True)
class JudgeSummary:
    """Summary of one judge's work.

    Attributes:
        num_attention, attention_passed: Number of answered attention checks, and number of right answers to them.
        num_repeats, repeats_consistent: Number of repeated pairs, and number of them that got the same answer again.
        left_share: Share of left among the answers that prefer a side, without checks; None without such answers.
        median_duration_s: Median time from serving to answering in seconds; None if unknown.
        minimum_time_share: Share of hurried answers (see `HURRY_S`); None without a minimum time.
        watched_share: Mean over answers of the smaller of the two videos' played shares; None without reports.
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
    median_duration_s: float | None
    minimum_time_share: float | None
    watched_share: float | None = None


def summarise(
    answers: Iterable[CheckedAnswer], *, banned: AbstractSet[str], min_viewing_s: Callable[[str | None], float]
) -> list[JudgeSummary]:
    """Return one summary for each judge, the judge with the most answers first.

    Args:
        banned: Judges whose answers do not count at present.
        min_viewing_s: Study (None for the open room) -> minimum viewing time of people in it, in seconds.
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
    sides = [
        answer.outcome == "left"
        for answer in answers
        if answer.purpose in ("rating", "segment") and answer.outcome in ("left", "right")
    ]
    timed = [(answer, answer.duration_s) for answer in answers if answer.duration_s is not None]
    limits = [(seconds, min_viewing_s(answer.study)) for answer, seconds in timed if answer.judge_kind == "person"]
    shares = [share for answer in answers if (share := answer.watched_share) is not None]
    hurried = [duration_s <= limit + min(HURRY_S, limit) for duration_s, limit in limits if limit > 0]
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
        median_duration_s=median(seconds for _, seconds in timed) if timed else None,
        watched_share=fmean(shares) if shares else None,
        minimum_time_share=sum(hurried) / len(hurried) if hurried else None,
    )
