"""Compute TrueSkill ratings from a log of answers, one answer after the other; and make the rows of all leaderboards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from interplay.rank.compare import above, beats
from interplay.rank.normal import Z95
from interplay.rank.ranking import GROUPS_NOTE, Options, Ranking, connected, place_key, ranks
from interplay.rank.trueskill import DEFAULTS, Outcome, Rating, Settings, rate_1vs1


@dataclass(frozen=True)
class LeaderboardRow:
    """One agent's row. Ranks are among agents that answers connect with each other. Agents with equal scores share a rank.

    Attributes:
        rank: Rank in its group, from 1.
        group: Number of its group, from 1; agents of two groups were never compared, directly or through third agents.
        score_low, score_high, rank_low, rank_high: Percentile intervals, if a bootstrap gave meaningful ones.
        num_tasks: For a normalised score, the number of tasks over which it is a mean.
        low, high: The 95 % interval of mu, by the normal approximation of the fit.
        beats_next: Probability that the next answer about this agent and the agent in the row below prefers this agent, given
            that it is no draw; None in the last row of a group, or if the method cannot tell.
        above_next: Probability that this agent's skill is higher than that of the next row; None in the last row of a group.
    """

    rank: int
    agent: str
    mu: float
    sigma: float
    score: float
    won: int
    drew: int
    lost: int
    num_answers: int
    group: int = 1
    score_low: float | None = None
    score_high: float | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    num_tasks: int | None = None
    low: float | None = None
    high: float | None = None
    beats_next: float | None = None
    above_next: float | None = None


class Resampled(NamedTuple):
    """Percentile intervals of one agent's score and rank."""

    score_low: float
    score_high: float
    rank_low: int
    rank_high: int


def rows(
    ranking: Ranking,
    won_drew_lost: NDArray[np.int64],
    group: NDArray[np.int64],
    *,
    options: Options | None = None,
    resampled: Sequence[Resampled | None] = (),
    num_tasks: Sequence[int] = (),
) -> list[LeaderboardRow]:
    """Return the rows of a leaderboard, sorted by group; within a group by falling score, then falling mu, then name.

    `won_drew_lost` is int64, shape (n, 3); `group` is int64, shape (n,), as `Log.groups`.
    """
    names, mu, sigma, score = ranking.agents, ranking.mu.tolist(), ranking.sigma.tolist(), ranking.score.tolist()
    groups, place, counts = group.tolist(), ranks(ranking.score, group).tolist(), won_drew_lost.tolist()
    order = sorted(range(len(names)), key=lambda n: place_key(groups[n], score[n], mu[n], names[n]))
    better = None if ranking.scale == "z-score" else beats(ranking, options)
    higher = above(ranking)
    made = []
    for n, below in zip(order, [*order[1:], None], strict=False):
        following = None if below is None or groups[below] != groups[n] else below
        interval = resampled[n] if resampled else None
        made.append(
            LeaderboardRow(
                rank=place[n],
                agent=names[n],
                mu=mu[n],
                sigma=sigma[n],
                score=score[n],
                won=counts[n][0],
                drew=counts[n][1],
                lost=counts[n][2],
                num_answers=sum(counts[n]),
                group=groups[n],
                low=mu[n] - Z95 * sigma[n],
                high=mu[n] + Z95 * sigma[n],
                beats_next=None if following is None or better is None else float(better[n, following]),
                above_next=None if following is None else float(higher[n, following]),
                num_tasks=num_tasks[n] if num_tasks else None,
                **({} if interval is None else interval._asdict()),
            )
        )
    return made


def notes(ranking: Ranking, rows: Sequence[LeaderboardRow]) -> tuple[str, ...]:
    """Notes on the fit, and a note if answers do not connect all agents."""
    num_groups = max((row.group for row in rows), default=1)
    return (*ranking.notes, *((GROUPS_NOTE.format(number=num_groups),) if num_groups > 1 else ()))


class Comparison(NamedTuple):
    """One answer, reduced to what ratings need: which of two agents was better."""

    left: str
    right: str
    outcome: Outcome
    task: str = ""
    judge: str = ""
    time: datetime | None = None


class Standings:
    """Ratings and counts after a log of answers, updated as answers arrive.

    Adding answers one by one or all at once gives the same standings. To remove answers (of a banned judge, or about a removed
    agent), make new standings from the remaining answers.

    >>> standings = Standings()
    >>> standings.add("ada", "bob", "left")
    >>> [(row.rank, row.agent, round(row.mu, 3)) for row in standings.leaderboard()]
    [(1, 'ada', 29.396), (2, 'bob', 20.604)]
    """

    def __init__(self, settings: Settings = DEFAULTS) -> None:
        self.settings = settings
        self.num_answers = 0
        self._ratings: dict[str, Rating] = {}
        self._won: Counter[str] = Counter()
        self._drew: Counter[str] = Counter()
        self._lost: Counter[str] = Counter()
        self._pairs: set[tuple[str, str]] = set()

    def add(self, left: str, right: str, outcome: Outcome) -> None:
        """Add one answer; `ValueError` if both sides are the same agent or the outcome is unknown."""
        if left == right:
            raise ValueError(f"an agent cannot be compared with itself, got {left!r} on both sides")
        pair = rate_1vs1(self.rating(left), self.rating(right), outcome, self.settings)
        self._ratings[left], self._ratings[right] = pair
        if outcome == "draw":
            self._drew[left] += 1
            self._drew[right] += 1
        else:
            winner, loser = (left, right) if outcome == "left" else (right, left)
            self._won[winner] += 1
            self._lost[loser] += 1
        self._pairs.add((left, right))
        self.num_answers += 1

    def copy(self) -> Standings:
        other = Standings(self.settings)
        other.num_answers = self.num_answers
        other._ratings, other._pairs = self._ratings.copy(), self._pairs.copy()
        other._won, other._drew, other._lost = self._won.copy(), self._drew.copy(), self._lost.copy()
        return other

    def rating(self, agent: str) -> Rating:
        """The agent's rating; the prior if nobody has judged it."""
        return self._ratings.get(agent, self.settings.prior)

    def ranking(self) -> Ranking:
        """The ranking of all agents in the log, in the form that all methods share."""
        names = tuple(sorted(self._ratings))
        ratings = [self._ratings[name] for name in names]
        return Ranking.of_skills(names, np.array([one.mu for one in ratings]), np.array([one.sigma for one in ratings]))

    def leaderboard(self) -> list[LeaderboardRow]:
        """A row for each agent in the log, sorted by group; within a group by falling score, then falling mu, then name."""
        ranking = self.ranking()
        place = {name: number for number, name in enumerate(ranking.agents)}
        counts = np.array([(self._won[name], self._drew[name], self._lost[name]) for name in ranking.agents], np.int64)
        counts = counts.reshape(-1, 3)
        pairs = [(place[a], place[b]) for a, b in self._pairs]
        group = connected(len(place), pairs, counts.sum(axis=1).tolist())
        return rows(ranking, counts, group, options=Options(settings=self.settings))


class TaskStandings:
    """Standings overall and for each task, from one log; a task's ratings depend only on that task's answers."""

    def __init__(self, settings: Settings = DEFAULTS) -> None:
        self.settings = settings
        self.overall = Standings(settings)
        self.by_task: dict[str, Standings] = {}
        self.judges: dict[str, set[str]] = {}

    def add(self, comparison: Comparison) -> None:
        left, right, outcome, task, judge, _ = comparison
        if task not in self.by_task:
            if len(self.by_task) == 1:
                self.by_task = {first: standings.copy() for first, standings in self.by_task.items()}
            # As long as there is one task, its standings are the overall ones, and rated once.
            self.by_task[task] = Standings(self.settings) if self.by_task else self.overall
        self.overall.add(left, right, outcome)
        if self.by_task[task] is not self.overall:
            self.by_task[task].add(left, right, outcome)
        if judge:
            self.judges.setdefault(task, set()).add(judge)

    def task(self, task: str) -> Standings:
        """One task's standings, empty if it has no answers."""
        return self.by_task.get(task) or Standings(self.settings)

    def num_judges(self, task: str | None = None) -> int:
        """Number of different judges who answered, in one task or overall."""
        if task is not None:
            return len(self.judges.get(task, ()))
        return len(set().union(*self.judges.values()))


def rate_all(comparisons: Iterable[Comparison], settings: Settings = DEFAULTS) -> TaskStandings:
    standings = TaskStandings(settings)
    for comparison in comparisons:
        standings.add(comparison)
    return standings


def leaderboard(comparisons: Iterable[Comparison], settings: Settings = DEFAULTS) -> list[LeaderboardRow]:
    """The overall leaderboard of a log, whose answers are replayed in order.

    >>> [row.agent for row in leaderboard([Comparison("ada", "bob", "right")])]
    ['bob', 'ada']
    """
    standings = Standings(settings)
    for comparison in comparisons:
        standings.add(comparison.left, comparison.right, comparison.outcome)
    return standings.leaderboard()
