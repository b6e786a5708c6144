"""Measure how many of people's answers a model judge saves until the ranking of agents is like that from all answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from interplay.rank import bradley_terry
from interplay.rank.compare import rank_correlation
from interplay.store.judging.model_judges import JudgedPair

Array = NDArray[np.float64]

VIRTUAL_ANSWERS = 1.0
"""Weight of the judge's expectation about two agents: it counts as this many answers by people."""
TARGET_CORRELATION = 0.9
NUM_REPEATS = 20


@dataclass(frozen=True)
class SavingPoint:
    """Mean rank correlation with the ranking from all answers, after `num_answers` answers, without and with the model."""

    num_answers: int
    people: float
    with_model: float


@dataclass(frozen=True, eq=False)
class Contest:
    """People's m answers about n agents; `left_agent` and `right_agent` are indices in `agents`; all arrays have shape (m,)."""

    agents: tuple[str, ...]
    left_agent: NDArray[np.int64]
    right_agent: NDArray[np.int64]
    outcomes: NDArray[np.str_]

    @classmethod
    def of(cls, pairs: Sequence[JudgedPair]) -> Contest:
        agents = tuple(sorted({agent for pair in pairs for agent in (pair.left_agent, pair.right_agent)}))
        place = {agent: number for number, agent in enumerate(agents)}
        return cls(
            agents=agents,
            left_agent=np.array([place[pair.left_agent] for pair in pairs], np.int64),
            right_agent=np.array([place[pair.right_agent] for pair in pairs], np.int64),
            outcomes=np.array([pair.outcome for pair in pairs], np.str_),
        )


Expect = Callable[[NDArray[np.int64]], Array]
"""Function: indices of the drawn answers -> the judge's expected wins of agent i over agent j, shape (n, n)."""


def saving_curve(
    contest: Contest,
    expect: Expect,
    rng: np.random.Generator,
    *,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[SavingPoint, ...]:
    """Measure how close the ranking from a few answers is to the ranking from all answers, without and with the judge.

    For each of several numbers of answers, so many answers are drawn without replacement. Without the judge, agents are ranked
    by the Bradley-Terry strengths of the drawn answers; with the judge, the wins of `expect` are added first. Both rankings
    are compared (Spearman) with the ranking from all answers.

    Args:
        expect: Called with the drawn answers; a judge that learns may learn only from these.
    """
    num_agents, total = len(contest.agents), len(contest.outcomes)
    if num_agents < 3 or total < 2 * num_agents:
        return ()
    everything = np.arange(total)
    [reference] = bradley_terry.fit_many(_counts(contest, everything)[None]).log_strength
    sizes = np.unique(np.geomspace(num_agents, total, 8).round().astype(int))
    points: list[SavingPoint] = []
    for place, size in enumerate(sizes):
        logs: list[Array] = []
        for repeat in range(NUM_REPEATS):
            on_progress(place * NUM_REPEATS + repeat, len(sizes) * NUM_REPEATS)
            drawn = rng.permutation(total)[:size]
            wins = _counts(contest, drawn)
            logs += wins, wins + expect(drawn)
        strengths = bradley_terry.fit_many(np.array(logs)).log_strength
        found = [rank_correlation(one, reference) for one in strengths]
        people, with_model = np.mean(np.reshape(found, (NUM_REPEATS, 2)), axis=0)
        points.append(SavingPoint(int(size), float(people), float(with_model)))
    return tuple(points)


def answers_saved(curve: Sequence[SavingPoint]) -> int | None:
    """Return the number of answers saved until the mean rank correlation is `TARGET_CORRELATION`, by linear interpolation.

    >>> answers_saved([SavingPoint(10, 0.5, 0.8), SavingPoint(20, 0.8, 1.0), SavingPoint(40, 1.0, 1.0)])
    15
    """
    sizes = [point.num_answers for point in curve]
    without = _reaches(sizes, [point.people for point in curve])
    with_model = _reaches(sizes, [point.with_model for point in curve])
    return None if without is None or with_model is None else round(without - with_model)


def _reaches(sizes: Sequence[int], values: Sequence[float]) -> float | None:
    for place, value in enumerate(values):
        if value >= TARGET_CORRELATION:
            if place == 0:
                return float(sizes[0])
            before = values[place - 1]
            return sizes[place - 1] + (TARGET_CORRELATION - before) / (value - before) * (sizes[place] - sizes[place - 1])
    return None


def _counts(contest: Contest, chosen: NDArray[np.int64]) -> Array:
    """Return the wins of agent i over agent j, shape (n, n); a draw is half a win for both."""
    wins = np.zeros((len(contest.agents),) * 2)
    left, right = contest.left_agent[chosen], contest.right_agent[chosen]
    outcomes = contest.outcomes[chosen]
    share = np.where(outcomes == "left", 1.0, np.where(outcomes == "draw", 0.5, 0.0))
    np.add.at(wins, (left, right), share)
    np.add.at(wins, (right, left), 1 - share)
    return wins


def virtual_wins(num_agents: int, pair_agents: NDArray[np.int64], probabilities: Array) -> Array:
    """Return expected wins of agent i over agent j, shape (n, n); each pair of agents counts as `VIRTUAL_ANSWERS` answers.

    Args:
        pair_agents: Indices of the left and the right agent of each pair of episodes, shape (k, 2).
        probabilities: Probabilities of left, draw and right, shape (k, 3).
    """
    share = probabilities[:, 0] + probabilities[:, 1] / 2
    wins, num_pairs = np.zeros((2, num_agents, num_agents))
    a, b = pair_agents.T
    np.add.at(wins, (a, b), share)
    np.add.at(wins, (b, a), 1 - share)
    np.add.at(num_pairs, (a, b), 1.0)
    np.add.at(num_pairs, (b, a), 1.0)
    return VIRTUAL_ANSWERS * wins / np.maximum(num_pairs, 1)
