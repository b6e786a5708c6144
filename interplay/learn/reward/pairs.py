"""Read answers about two games, or two segments of games, as pairs from which a reward is learned."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from interplay.errors import unknown_name
from interplay.learn.config import RunError
from interplay.store import Database
from interplay.store import judging as store
from interplay.store.judging.verdicts import full_answers

Judges = Literal["people", "models", "all"]
FIRST, SECOND, DRAW = 0, 1, 2


Span = tuple[int, int]
"""First and last step of a segment."""
Side = tuple[str, Span | None]
"""An episode, and the first and last step that are compared; None to compare all steps."""


class Pair(NamedTuple):
    """Two episodes, or a segment of each, that a judge compared; the smaller id is first, whichever side it was shown on.

    The outcome is `FIRST` or `SECOND` for the better one, or `DRAW`; whole games have no `spans`.
    """

    first: str
    second: str
    outcome: int
    seeds: tuple[int, int]
    spans: tuple[Span, Span] | None = None

    @property
    def sides(self) -> tuple[Side, Side]:
        one, other = self.spans or (None, None)
        return (self.first, one), (self.second, other)


class Split(NamedTuple):
    """Training pairs, and test pairs of held-out worlds (`seeds`); a pair with one held-out and one other world is left out."""

    training: list[Pair]
    unseen: list[Pair]
    seeds: frozenset[int]


def answered_pairs(database: Database, task: str, judges: Judges = "people") -> list[Pair]:
    """Pairs of all answers that count, in the order of the log: by default people's answers, never those of banned judges."""
    with database.read() as session:
        return [
            pair_of(answer.left_episode, answer.right_episode, answer.outcome, answer.seed)
            for answer in full_answers(session, task, judges=judges)
        ]


def pair_of(left: str, right: str, outcome: str, seed: int) -> Pair:
    """Make a pair from an answer about two episodes.

    >>> pair_of("b", "a", "left", 7) == pair_of("a", "b", "right", 7)
    True
    """
    return _pair(outcome, (left, None, seed), (right, None, seed))


def _pair(outcome: str, left: tuple[str, Span | None, int], right: tuple[str, Span | None, int]) -> Pair:
    """Make a pair from an answer about two (episode, span, seed), in an order that does not depend on the sides."""
    code = {"left": FIRST, "right": SECOND, "draw": DRAW}[outcome]
    if left > right:
        left, right = right, left
        code = DRAW if code == DRAW else 1 - code
    (first, one, seed), (second, other, other_seed) = left, right
    return Pair(first, second, code, (seed, other_seed), None if one is None or other is None else (one, other))


class AskedSegments(NamedTuple):
    """A study of segments, as the training of a reward uses it.

    Attributes:
        seat: The compared seat; None if the task has only one.
        pairs: The pair of every answer that counts, in the order of the log.
        held_out: Worlds whose answers are used to measure, not to learn.
        sides: All segments in all versions of the study; the learned reward is computed for each.
    """

    task: str
    seat: str | None
    pairs: list[Pair]
    held_out: frozenset[int]
    sides: dict[str, Side]


def asked_segments(database: Database, study: str, judges: Judges = "people") -> AskedSegments:
    """Read a study's segments and the answers about them: by default people's answers, never those of banned judges.

    Raises:
        RunError: If the study compares no segments, or segments of several tasks.
        NotFoundError: If no study of this id was opened here.
    """
    with database.read() as session:
        segments = store.segments_of_study(session, study)  # those of imported answers belong to no study of this server
        if not segments and store.study(session, study) is None:
            raise unknown_name("study", study[:100], store.studies(session), hint="All studies:  interplay study list")
        tasks = sorted({one.task for one in segments})
        if len(tasks) != 1:
            what = f"segments of {len(tasks)} tasks, {', '.join(tasks)}" if tasks else "whole games, and no segments"
            raise RunError(
                f"study {study!r} compares {what}; a reward is learned from segments of one task\n"
                "Learn from answers about whole games:  interplay learn reward --task TASK --out NAME"
            )
        answers = list(store.segment_answers(session, study, judges=judges))
    seats = {answer.seat for answer in answers} - {""}
    pairs = [_pair(answer.outcome, _side(answer.left), _side(answer.right)) for answer in answers]
    held_out = frozenset(one.seed for one in segments if one.is_held_out)
    sides: dict[str, Side] = {one.key: (one.episode_id, (one.first_step, one.last_step)) for one in segments}
    return AskedSegments(tasks[0], min(seats) if seats else None, pairs, held_out, sides)


def _side(row: store.SegmentRow) -> tuple[str, Span, int]:
    return row.episode_id, (row.first_step, row.last_step), row.seed


def split(pairs: Sequence[Pair], share: float, *, rng: np.random.Generator, held_out: frozenset[int] | None = None) -> Split:
    """Hold out a share of the worlds (at least one of two or more) to measure the prediction of answers about unseen worlds.

    `held_out` are worlds that were chosen before; `share` and `rng` are then ignored. `RunError` if no training pair is left,
    or all answers are draws.
    """
    if held_out is None:
        seeds = sorted({seed for pair in pairs for seed in pair.seeds})
        num = 0 if share == 0 or len(seeds) < 2 else min(len(seeds) - 1, max(1, round(share * len(seeds))))
        held_out = frozenset(rng.permutation(seeds)[:num].tolist())
    training = [pair for pair in pairs if not held_out & {*pair.seeds}]
    unseen = [pair for pair in pairs if held_out >= {*pair.seeds}]
    _check(training)
    return Split(training, unseen, held_out)


def _check(pairs: Iterable[Pair]) -> None:
    outcomes = [pair.outcome for pair in pairs]
    decided = [outcome for outcome in outcomes if outcome != DRAW]
    if not decided:
        what = f"all {len(outcomes)} answers are draws" if outcomes else "no answer counts"
        raise RunError(
            f"there is nothing to learn a reward from: {what}\n"
            "Let people compare games of this task first (interplay serve), or take model judges' answers: --judges all"
        )
