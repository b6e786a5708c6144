"""Rows of a leaderboard: the one place that makes them, for pages, programs, the command line and reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from interplay.rank.compare import above, beats
from interplay.rank.normal import Z95
from interplay.rank.ranking import GROUPS_NOTE, Options, Ranking, place_key, ranks


@dataclass(frozen=True)
class LeaderboardRow:
    """One agent's place among those that answers connect it with. Agents with the same score share a rank.

    Attributes:
        rank: From 1 on, in its group.
        group: From 1 on: agents of two groups were never compared, directly or through third ones.
        score_low, score_high, rank_low, rank_high: Percentile intervals, if a bootstrap tells anything of them.
        num_tasks: Of a normalised score, over how many tasks it is a mean.
        low, high: The 95 % interval of mu, by the normal approximation of the fit.
        beats_next: Probability that the next answer about this agent and the one in the row below names this one, if it names
            any; None in the last row of a group, and where the method cannot say.
        above_next: Probability that its skill is higher than that one's; None in the last row of a group.
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
    """Percentile intervals of one agent: of its score, and of its rank."""

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
    """By group, in each highest score first, then higher mu, then name.

    Args:
        won_drew_lost: int64, shape (n, 3).
        group: int64, shape (n,), as `Log.groups`.
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
    """Notes on the fit, and whether answers connect all agents."""
    num_groups = max((row.group for row in rows), default=1)
    return (*ranking.notes, *((GROUPS_NOTE.format(number=num_groups),) if num_groups > 1 else ()))
