"""A log as leaderboards by any method: overall, task by task, and normalised over tasks, with intervals if asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from interplay.rank.bootstrap import Bootstrap, Unit, bootstrap, bootstrap_tasks
from interplay.rank.compare import normalised
from interplay.rank.leaderboard import Comparison, LeaderboardRow
from interplay.rank.log import Log
from interplay.rank.methods import Method, Options, Ranking, ranks, rate


@dataclass(frozen=True)
class Resampling:
    """How intervals are made: so many resamples of answers or judges, and the share of them an interval holds."""

    num_resamples: int = 1000
    unit: Unit = "answers"
    level: float = 0.95
    seed: int = 0


@dataclass(frozen=True)
class BoardRow(LeaderboardRow):
    """One agent's place, with percentile intervals of its score and its rank if there was a bootstrap.

    `mu`, `sigma` and `score` are as `Ranking` has them: for Bradley-Terry the log strength, its standard error, and the log
    strength again.
    """

    score_low: float | None = None
    score_high: float | None = None
    rank_low: int | None = None
    rank_high: int | None = None


@dataclass(frozen=True)
class NormalisedRow:
    """One agent's normalised score over `num_tasks` tasks, see `compare.normalised`."""

    rank: int
    agent: str
    score: float
    num_tasks: int
    score_low: float | None = None
    score_high: float | None = None
    rank_low: int | None = None
    rank_high: int | None = None


@dataclass(frozen=True, eq=False)
class Board:
    """One leaderboard.

    Attributes:
        task: Task id, or None for all answers.
        rows: Highest score first, then higher mu, then name.
        ranking: What the method said.
        resampled: The bootstrap, if there was one.
        log: The answers, with a place for each agent they name.
        num_judges: Different judges who gave them, unnamed ones not counted.
    """

    task: str | None
    rows: list[BoardRow]
    ranking: Ranking
    resampled: Bootstrap | None
    log: Log
    num_judges: int


class Boards(NamedTuple):
    """The leaderboard of the whole log, one of each task by name, and the normalised one (None with fewer than two tasks)."""

    overall: Board
    tasks: dict[str, Board]
    normalised: list[NormalisedRow] | None


def boards(
    comparisons: Sequence[Comparison],
    method: Method = "trueskill",
    options: Options | None = None,
    *,
    resampling: Resampling | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> Boards:
    """Every leaderboard of a log.

    Args:
        comparisons: The log in order.
        resampling: For intervals; none if None. Overall and tasks are resampled by one generator, seeded with its seed.
        on_progress: Called now and then with the share of the bootstrap done since, in [0, 1].
    """
    log = Log.of(list(comparisons))
    names = sorted({comparison.task for comparison in comparisons})
    place = {name: number for number, name in enumerate(names)}
    task = np.array([place[comparison.task] for comparison in comparisons], np.int64)
    several = len(names) > 1
    whole: Bootstrap | None = None
    by_task: list[Bootstrap | None] = [None] * len(names)
    together: Bootstrap | None = None
    level = 0.95
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
    return Boards(overall, tasks, _normalised(log.agents, list(tasks.values()), together, level))


def _board(
    task: str | None, log: Log, method: Method, options: Options | None, resampled: Bootstrap | None, level: float
) -> Board:
    ranking = rate(log, method, options)
    rank, counts = ranking.rank.tolist(), log.won_drew_lost().tolist()
    intervals = _intervals(resampled, len(log.agents), level)
    rows = [
        BoardRow(
            rank=rank[number],
            agent=agent,
            mu=float(ranking.mu[number]),
            sigma=float(ranking.sigma[number]),
            score=float(ranking.score[number]),
            won=counts[number][0],
            drew=counts[number][1],
            lost=counts[number][2],
            num_answers=sum(counts[number]),
            **intervals[number],
        )
        for number, agent in enumerate(log.agents)
    ]
    rows.sort(key=lambda row: (-row.score, -row.mu, row.agent))
    num_judges = len({log.judges[number] for number in np.unique(log.judge).tolist()} - {""})
    return Board(task, rows, ranking, resampled, log, num_judges)


def _normalised(agents: tuple[str, ...], tasks: list[Board], resampled: Bootstrap | None, level: float) -> list[NormalisedRow]:
    mu = np.zeros((len(tasks), len(agents)))
    played = np.zeros((len(tasks), len(agents)), bool)
    for number, board in enumerate(tasks):
        places = [agents.index(agent) for agent in board.ranking.agents]
        mu[number, places], played[number, places] = board.ranking.mu, True
    score = normalised(mu, played)
    rank, num_tasks = ranks(score).tolist(), played.sum(axis=0).tolist()
    intervals = _intervals(resampled, len(agents), level)
    rows = [
        NormalisedRow(rank[number], agent, float(score[number]), num_tasks[number], **intervals[number])
        for number, agent in enumerate(agents)
    ]
    return sorted(rows, key=lambda row: (-row.score, row.agent))


def _intervals(resampled: Bootstrap | None, num_agents: int, level: float) -> list[dict]:
    """Fields of the intervals for each agent, none without a bootstrap."""
    if resampled is None:
        return [{} for _ in range(num_agents)]
    scores, places = resampled.score_interval(level), resampled.rank_interval(level)
    return [
        {
            "score_low": float(scores.low[number]),
            "score_high": float(scores.high[number]),
            "rank_low": int(places.low[number]),
            "rank_high": int(places.high[number]),
        }
        for number in range(num_agents)
    ]
