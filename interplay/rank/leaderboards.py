"""Leaderboards of a log by any method: overall, for each task, and normalised over tasks; optionally with intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from interplay.rank.bootstrap import Bootstrap, Unit, bootstrap, bootstrap_tasks
from interplay.rank.compare import normalised_over
from interplay.rank.methods import Log, rate
from interplay.rank.ranking import Options, Ranking
from interplay.rank.standings import Comparison, LeaderboardRow, Resampled, notes, rows


@dataclass(frozen=True)
class Resampling:
    """Settings of intervals: the number of resamples of answers or judges, and the share of resamples inside an interval."""

    num_resamples: int = 1000
    unit: Unit = "answers"
    level: float = 0.95
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Board:
    """One leaderboard.

    Attributes:
        task: Task id, or None for all answers.
        rows: Sorted by group; within a group by falling score, then falling mu, then name.
        num_judges: Number of different judges who gave the answers; unnamed judges are not counted.
    """

    task: str | None
    rows: list[LeaderboardRow]
    ranking: Ranking
    resampled: Bootstrap | None
    log: Log
    num_judges: int

    @property
    def notes(self) -> tuple[str, ...]:
        return notes(self.ranking, self.rows)


class Boards(NamedTuple):
    """Leaderboards: of the whole log, of each task by name, and by normalised score (None with fewer than two tasks)."""

    overall: Board
    tasks: dict[str, Board]
    normalised: list[LeaderboardRow] | None


def boards(
    comparisons: Sequence[Comparison],
    method: str = "trueskill",
    options: Options | None = None,
    *,
    resampling: Resampling | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> Boards:
    """Make every leaderboard of a log; with intervals if `resampling` is given."""
    log = Log.of(list(comparisons))
    names = sorted({comparison.task for comparison in comparisons})
    place = {name: number for number, name in enumerate(names)}
    task = np.array([place[comparison.task] for comparison in comparisons], np.int64)
    several, level = len(names) > 1, 0.95
    whole: Bootstrap | None = None
    by_task: list[Bootstrap | None] = [None] * len(names)
    together: Bootstrap | None = None
    if resampling is not None and len(log):
        level = resampling.level
        rng = np.random.default_rng(resampling.seed)
        share = (lambda done: on_progress(done / 2 if several else done)) if on_progress else None
        how = {"num_resamples": resampling.num_resamples, "unit": resampling.unit, "rng": rng, "on_progress": share}
        whole = bootstrap(log, method, options, **how)
        if several:
            parts, together = bootstrap_tasks(log, task, len(names), method, options, **how)
            by_task = list(parts)
    overall = _board(None, log, method, options, whole, level)
    if not several:
        return Boards(overall, {name: overall for name in names}, None)
    logs = [log.select(np.flatnonzero(task == number)).compact() for number in range(len(names))]
    tasks = {
        name: _board(name, one, method, options, resampled, level)
        for name, one, resampled in zip(names, logs, by_task, strict=True)
    }
    num_tasks = Counter(agent for board in tasks.values() for agent in board.ranking.agents)
    together_rows = rows(
        normalised_over(log.agents, [board.ranking for board in tasks.values()]),
        log.won_drew_lost(),
        log.groups(),
        resampled=_intervals(together, level),
        num_tasks=[num_tasks[agent] for agent in log.agents],
    )
    return Boards(overall, tasks, together_rows)


def _board(
    task: str | None, log: Log, method: str, options: Options | None, resampled: Bootstrap | None, level: float
) -> Board:
    ranking = rate(log, method, options)
    made = rows(ranking, log.won_drew_lost(), log.groups(), options=options, resampled=_intervals(resampled, level))
    num_judges = len({log.judges[number] for number in np.unique(log.judge).tolist()} - {""})
    return Board(task, made, ranking, resampled, log, num_judges)


def _intervals(resampled: Bootstrap | None, level: float) -> list[Resampled | None]:
    """Return the intervals of each agent; None for an agent without a meaningful interval."""
    if resampled is None:
        return []
    scores, places = resampled.score_interval(level), resampled.rank_interval(level)
    columns = zip(
        scores.low.tolist(), scores.high.tolist(), map(int, places.low), map(int, places.high), resampled.is_known, strict=True
    )
    return [Resampled(*ends) if is_known else None for *ends, is_known in columns]
