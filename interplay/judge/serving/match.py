"""A match as its judge may see it, and the time since it was served."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple

from interplay.judge.rules import Example, Rules
from interplay.store import Match
from interplay.tasks import Question, Task

LONGEST_S = 30 * 86_400.0
"""Longest time (s) that is accepted from the system's clock. A longer time means that the clock was changed."""
_REMEMBERED = 65_536


class Elapsed(NamedTuple):
    """Time since a match was served.

    Attributes:
        seconds: Zero or more. If `is_known` is false, the time since this process first heard of the match.
        is_known: Whether `seconds` is the whole time since serving.
    """

    seconds: float
    is_known: bool


class Stopwatch:
    """Times matches. Safe to share between threads.

    Matches that this process has served are timed by a clock that never goes back, so setting the system's clock has no
    effect. Matches that were served by another process, or before a restart, are timed by the system's clock, if it gives a
    time from 0 to `LONGEST_S`.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._began: dict[str, tuple[float, bool]] = {}

    def start(self, match_id: str) -> None:
        self._remember(match_id, self._monotonic(), True)

    def elapsed(self, match_id: str, served_at: datetime, now: datetime) -> Elapsed:
        """Return the time since a match was served. `served_at` and `now` are times of the system's clock."""
        here = self._monotonic()
        began = self._began.get(match_id)
        if began is None:
            by_clock = (now - served_at).total_seconds()
            can_be = 0 <= by_clock <= LONGEST_S
            began = (here - by_clock if can_be else here, can_be)
            self._remember(match_id, *began)
        return Elapsed(max(0.0, here - began[0]), began[1])

    def _remember(self, match_id: str, began: float, is_known: bool) -> None:
        with self._lock:
            self._began[match_id] = (began, is_known)
            if len(self._began) > _REMEMBERED:
                del self._began[next(iter(self._began))]


MatchState = Literal["open", "released", "answered"]


@dataclass(frozen=True)
class ServedMatch:
    """A match as its judge may see it: no agent, episode, seed or hash, and nothing that shows whether it is a check.

    Attributes:
        id: Random; tells nothing about the episodes.
        seat: Seat that is compared, in a game with several seats; None in a game of one player.
        is_of_segments: Whether the videos are a few seconds of any two games; the judge may then answer `na` (cannot tell).
        elapsed_s: Seconds from serving until now, by the server's clock.
        state: `open`, `released` (may be answered, but other judges may be shown the pair) or `answered`.
        num_wanted: Limit of answers of one judge; None for no limit.
        min_viewing_s: Seconds from serving until an answer is accepted.
        min_watched_share: Share of each video that must be played, from 0 to 1.
        draft: The form as the judge's page last stored it; None if the page has stored no form.
    """

    id: str
    task: str
    title: str
    goal: str
    seat: str | None
    is_of_segments: bool
    frame_rate_hz: float
    questions: tuple[Question, ...]
    served_at: datetime
    elapsed_s: float
    state: MatchState
    num_answered: int
    num_wanted: int | None
    min_reason_chars: int
    min_viewing_s: float
    min_watched_share: float
    study: str | None
    examples: tuple[Example, ...]
    draft: dict[str, Any] | None

    @classmethod
    def of(cls, match: Match, task: Task | None, rules: Rules, *, num_answered: int, elapsed_s: float) -> ServedMatch:
        """Make the view of `match` under these rules. `task` is the version that was played; None if it is unknown."""
        is_person = match.judge_kind == "person"
        return cls(
            id=match.id,
            task=match.task,
            title=task.title if task else match.task,
            goal=task.goal if task else "",
            seat=match.seat if match.seat and task and len(task.seats) > 1 else None,
            is_of_segments=match.left_segment_id is not None,
            frame_rate_hz=task.frame_rate_hz if task else 60.0,
            questions=questions_of(match, task, rules),
            served_at=match.served_at,
            elapsed_s=elapsed_s,
            state="answered" if match.answered_at else "released" if match.released_at else "open",
            num_answered=num_answered,
            num_wanted=rules.max_answers_per_judge,
            min_reason_chars=rules.min_reason_chars,
            min_viewing_s=rules.min_viewing_s if is_person else 0.0,
            min_watched_share=rules.min_watched_share if is_person else 0.0,
            study=match.study,
            examples=tuple(example for example in rules.examples if example.task in ("", match.task)),
            draft=match.draft,
        )


def questions_of(match: Match, task: Task | None, rules: Rules) -> tuple[Question, ...]:
    if match.left_segment_id is not None and rules.segments is not None:
        return rules.segments.questions()
    return task.questions if task else ()
