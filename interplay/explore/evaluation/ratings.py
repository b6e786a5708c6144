"""Models rated by which of two reached more milestones of a task, whatever the order in which they played."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from interplay.explore.evaluation.metrics import Result
from interplay.explore.evaluation.pairs import answers
from interplay.rank import Comparison, LeaderboardRow
from interplay.rank.leaderboards import Resampling, boards
from interplay.rank.ranking import Method

METHODS: tuple[Method, ...] = ("bradley-terry", "davidson")
"""Those in which the order of pairs does not matter; the first is the usual one."""


@dataclass(frozen=True)
class Ratings:
    """Models by strength.

    Attributes:
        rows: Of which `low` and `high` are the 95 % interval of the strength, and `above_next` the share of resamples in which
            it is above the next one; None where a single task, or tasks that all say the same, cannot tell.
        notes: What a reader must know.
        num_answers, num_tasks: How many pairs there are, of how many tasks.
    """

    rows: Sequence[LeaderboardRow]
    notes: Sequence[str]
    num_answers: int
    num_tasks: int


def rate(results: Sequence[Result], method: Method = "bradley-terry") -> Ratings:
    """Rate the models of one table from the pairs of their runs (`pairs.answers`).

    Pairs of one task are alike, so intervals are a bootstrap that draws whole tasks (`rank.bootstrap`): there, what an answer
    shares with others is its judge, and a pair's judge is its task.
    """
    pairs = [Comparison(one["left"], one["right"], one["outcome"], judge=one["task"]) for one in answers(results)]
    if not pairs:
        return Ratings((), (), 0, 0)
    board = boards(pairs, method, resampling=Resampling(unit="judges")).overall
    assert board.resampled is not None
    share, place = board.resampled.above(), {name: number for number, name in enumerate(board.log.agents)}
    rows = [replace(row, low=row.score_low, high=row.score_high) for row in board.rows]
    for number, (row, below) in enumerate(pairwise(rows)):
        if row.above_next is not None:
            known = None not in (row.low, below.low)
            above = float(share[place[row.agent], place[below.agent]]) if known else None
            rows[number] = replace(row, above_next=above)
    return Ratings(rows, board.notes, len(pairs), board.num_judges)
