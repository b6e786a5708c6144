"""From a log of answers to ratings: TrueSkill replayed in order, nothing else remembered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

import numpy as np

from interplay.rank.ranking import Options, Ranking, connected
from interplay.rank.rows import LeaderboardRow, rows
from interplay.rank.trueskill import DEFAULTS, Outcome, Rating, Settings, rate_1vs1


class Comparison(NamedTuple):
    """One answer, as far as ratings care: which of two agents was better."""

    left: str
    right: str
    outcome: Outcome
    task: str = ""
    judge: str = ""
    time: datetime | None = None


class Standings:
    """Ratings and counts after a log of answers, to be carried on as answers arrive.

    Adding answers one by one or all at once gives the same standings; leaving answers out (of a banned judge, of a removed
    agent) means making new standings from the others.

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
        """Take one answer into account; ValueError if both sides are the same agent or the outcome is unknown."""
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
        """Every agent in the log, as the other methods rank them."""
        names = tuple(sorted(self._ratings))
        ratings = [self._ratings[name] for name in names]
        return Ranking.of_skills(names, np.array([one.mu for one in ratings]), np.array([one.sigma for one in ratings]))

    def leaderboard(self) -> list[LeaderboardRow]:
        """Every agent in the log, by group, in each highest score first (then higher mu, then name)."""
        ranking = self.ranking()
        place = {name: number for number, name in enumerate(ranking.agents)}
        counts = np.array([(self._won[name], self._drew[name], self._lost[name]) for name in ranking.agents], np.int64)
        counts = counts.reshape(-1, 3)
        pairs = [(place[a], place[b]) for a, b in self._pairs]
        group = connected(len(place), pairs, counts.sum(axis=1).tolist())
        return rows(ranking, counts, group, options=Options(settings=self.settings))


class TaskStandings:
    """Standings overall and of each task, from one log; a task's ratings come from that task's answers alone."""

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
    """The overall leaderboard of a log, replayed in its order.

    >>> [row.agent for row in leaderboard([Comparison("ada", "bob", "right")])]
    ['bob', 'ada']
    """
    standings = Standings(settings)
    for comparison in comparisons:
        standings.add(comparison.left, comparison.right, comparison.outcome)
    return standings.leaderboard()
