"""Answers about two games as a learner of rewards takes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np

from interplay.learn.config import RunError
from interplay.store import Database
from interplay.store.answers import full_answers

Judges = Literal["people", "models", "all"]
JUDGES: tuple[Judges, ...] = get_args(Judges)
FIRST, SECOND, DRAW = 0, 1, 2
"""Outcomes of a pair."""


class Pair(NamedTuple):
    """Two episodes that somebody compared. Which one was on which side says nothing: the one whose id sorts first comes first.

    Attributes:
        first, second: Ids of the episodes.
        outcome: `FIRST` or `SECOND` for the better one, or `DRAW`.
        seeds: Of their worlds.
    """

    first: str
    second: str
    outcome: int
    seeds: tuple[int, int]


class Split(NamedTuple):
    """Pairs to learn from, and pairs whose worlds are unseen there; those between the two are in neither."""

    training: list[Pair]
    unseen: list[Pair]
    seeds: frozenset[int]
    """That are unseen."""


def answered_pairs(database: Database, task: str, judges: Judges = "people") -> list[Pair]:
    """The pairs of every answer that counts, in the order of the log: people's unless told otherwise, no banned judge's."""
    with database.read() as session:
        return [
            pair_of(answer.left_episode, answer.right_episode, answer.outcome, answer.seed)
            for answer in full_answers(session, task, judges=judges)
        ]


def pair_of(left: str, right: str, outcome: str, seed: int) -> Pair:
    """A pair from an answer.

    >>> pair_of("b", "a", "left", 7) == pair_of("a", "b", "right", 7)
    True
    """
    code = {"left": FIRST, "right": SECOND, "draw": DRAW}[outcome]
    if left <= right:
        return Pair(left, right, code, (seed, seed))
    return Pair(right, left, DRAW if code == DRAW else 1 - code, (seed, seed))


def split(pairs: Sequence[Pair], share: float, *, rng: np.random.Generator) -> Split:
    """Hold out a share of the worlds, at least one where there are two: how well answers about unseen worlds are predicted.

    Raises:
        RunError: If nothing is left to learn from, or all answers say the same.
    """
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
