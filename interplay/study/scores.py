"""High scores: `Scores` reads the games that may be compared, and `standing` computes the place of a value among others."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from interplay.store import Database
from interplay.store.scores import SCORE, AgentScore, ScoredEpisode, scores_of_agents, scores_of_people
from interplay.study.channels.base import UNPAID
from interplay.tasks import Task

MOST_BINS = 12


@dataclass(frozen=True)
class Standing:
    """The place of one person among other people; equal values share the better rank, counted from 1.

    Attributes:
        percentile: Percentage of the others who did worse, rounded down; an equal value counts half. None without other people.
    """

    value: float
    others: int
    percentile: int | None
    rank: int


def standing(value: float, others: Sequence[float], *, is_lower_better: bool = False) -> Standing:
    """Return the place of a value among the values of other people.

    >>> standing(30, [10, 20, 30, 40])
    Standing(value=30, others=4, percentile=62, rank=2)
    >>> standing(30, [10, 20, 30, 40], is_lower_better=True).percentile
    37
    """
    ordered = sorted(others)
    below, upto = bisect_left(ordered, value), bisect_right(ordered, value)
    equal, above = upto - below, len(ordered) - upto
    worse, better = (above, below) if is_lower_better else (below, above)
    percentile = math.floor(100 * (worse + equal / 2) / len(ordered)) if ordered else None
    return Standing(value, len(ordered), percentile, better + 1)


@dataclass(frozen=True)
class Bins:
    """A histogram with round edges. Each bin holds values from its lower edge up to, but not including, its upper edge.
    `low` is the lower edge of the first bin."""

    low: float
    width: float
    counts: tuple[int, ...]

    @property
    def high(self) -> float:
        return self.low + self.width * len(self.counts)

    def place(self, value: float) -> int:
        return min(len(self.counts) - 1, max(0, math.floor((value - self.low) / self.width + 1e-9)))


def bins(values: Sequence[float], marks: Sequence[float] = (), *, is_whole: bool = False) -> Bins:
    """Count values in at most `MOST_BINS` bins with round edges; the bins also cover `marks`.

    Args:
        values: Finite values; at least one.
        marks: Other values that must lie inside the plot.
        is_whole: Whether all values are whole numbers, so that bins are at least 1 wide.

    >>> bins([9, 12, 30, 186], is_whole=True)
    Bins(low=0.0, width=20.0, counts=(2, 1, 0, 0, 0, 0, 0, 0, 0, 1))
    """
    low, high = min((*values, *marks)), max((*values, *marks))
    rough = max((high - low) / (MOST_BINS - 2), 1.0 if is_whole else 0.0)
    if rough <= 0:
        rough = abs(high) / 10 or 1.0
    size = 10.0 ** math.floor(math.log10(rough))
    width = next(size * times for times in (1, 2, 5, 10) if size * times >= rough - size * 1e-9)
    first = math.floor(low / width + 1e-9)
    number = max(1, math.floor(high / width + 1e-9) - first + 1)
    empty = Bins(first * width, width, (0,) * number)
    counts = [0] * number
    for value in values:
        counts[empty.place(value)] += 1
    return Bins(empty.low, width, tuple(counts))


TOP = 10
AGENTS_SHOWN = 4


@dataclass(frozen=True)
class Place:
    """A line of the high scores: the best episode of one person; equal values share the better rank, counted from 1."""

    rank: int
    episode: str
    sha256: str
    participant: int
    at: datetime
    value: float
    is_own: bool


@dataclass(frozen=True)
class Board:
    """The high scores of one task and statistic: the best people (`top`), and the standing of the viewer (`own`)."""

    top: tuple[Place, ...]
    values: tuple[float, ...]
    own: Standing | None
    agents: tuple[AgentScore, ...]


class Scores:
    """High scores of one database; threads may share it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def board(
        self,
        task: Task,
        *,
        statistic: str = SCORE,
        is_lower_better: bool = False,
        since: datetime | None = None,
        person: int | None = None,
        without: Collection[str] = (),
    ) -> Board:
        """Return the high scores for one version of a task.

        Args:
            statistic: `score`, or a statistic that the task measures.
            since: Only episodes that began then or later.
            person: Number of the viewing participant.
            without: Episodes that do not count because their replay differed from the recording.
        """
        with self._database.read() as session:
            found = scores_of_people(
                session, task=task.id, task_hash=task.content_hash, statistic=statistic, channels=UNPAID, since=since
            )
            agents = scores_of_agents(
                session, task=task.id, task_hash=task.content_hash, statistic=statistic, most=AGENTS_SHOWN
            )
        counted = [one for one in found if one.episode not in without]
        return board(counted, agents, person, is_lower_better=is_lower_better)

    def of_visits(
        self, task: Task, visit: tuple[str, str], *, statistic: str, is_lower_better: bool = False
    ) -> dict[int, float]:
        """Return participant number -> best value, for one variant of a study."""
        with self._database.read() as session:
            found = scores_of_people(session, task=task.id, task_hash=task.content_hash, statistic=statistic, visit=visit)
        return {one.participant_id: one.value for one in best_of_each(found, is_lower_better=is_lower_better)}


def today(now: datetime) -> datetime:
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def best_of_each(found: Iterable[ScoredEpisode], *, is_lower_better: bool) -> list[ScoredEpisode]:
    """Return the best episode of each person, best person first; of equal values, the earlier episode counts."""
    sign = 1 if is_lower_better else -1
    best: dict[int, ScoredEpisode] = {}
    for one in sorted(found, key=lambda one: (sign * one.value, one.at, one.episode)):
        best.setdefault(one.participant_id, one)
    return list(best.values())


def board(found: Iterable[ScoredEpisode], agents: Iterable[AgentScore], person: int | None, *, is_lower_better: bool) -> Board:
    best = best_of_each(found, is_lower_better=is_lower_better)
    values = [one.value for one in best]
    places = []
    for place, one in enumerate(best):
        is_own = one.participant_id == person
        if place < TOP or is_own:
            places.append(
                Place(values.index(one.value) + 1, one.episode, one.sha256, one.participant_id, one.at, one.value, is_own)
            )
    mine = next((one for one in best if one.participant_id == person), None)
    others = [one.value for one in best if one is not mine]
    own = None if mine is None else standing(mine.value, others, is_lower_better=is_lower_better)
    ordered = sorted(agents, key=lambda one: one.mean if is_lower_better else -one.mean)
    return Board(tuple(places), tuple(values), own, tuple(ordered))
