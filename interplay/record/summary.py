"""Summarise a data folder in numbers: hours by day, the quality of people's games, and the episodes of a query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from interplay.record.archive import Archive, conditions
from interplay.record.verification.verify import Verdict
from interplay.store import EpisodeRow, EpisodeVerdict
from interplay.store import summary as store
from interplay.store.episodes import EpisodeQuery, find_episodes
from interplay.store.summary import AGENTS, NO_STUDY, Bins, Hours, Spread, Totals

__all__ = ["AGENTS", "NO_STUDY", "Bins", "Found", "Hours", "Outlier", "Quality", "Spread", "Summary", "Totals"]

_FENCE = 1.5
"""A value is an outlier if its distance from the middle half of all values is more than this many times the length of that
half (Tukey 1977)."""


@dataclass(frozen=True)
class Outlier:
    """An episode with a value far outside the usual values of its task."""

    measure: str
    task: str
    episode: str
    value: float


@dataclass(frozen=True)
class Quality:
    """Quality of people's games.

    Attributes:
        measures: `latency_ms`, `lost_share`, `active_share`, `score`, `length_s` -> task -> spread.
        outcomes: Task -> outcome -> number of games.
        equal, different, unverified: Number of episodes by the result of their newest verification.
        problems: (episode, difference), newest first.
        outliers: At most three for each measure and task, the farthest first; `_FENCE` defines an outlier.
    """

    measures: dict[str, dict[str, Spread]]
    outcomes: dict[str, dict[str, int]]
    equal: int
    different: int
    unverified: int
    problems: list[tuple[str, str]]
    outliers: list[Outlier]


@dataclass(frozen=True)
class Found:
    """Result of a query.

    Attributes:
        rows: One page of the episodes, newest first.
        scores, lengths: Histograms over all episodes found (lengths in seconds); None if fewer than two values differ.
        num_withheld: Number of episodes found that may not be released.
    """

    totals: Totals
    rows: Sequence[EpisodeRow]
    scores: Bins | None
    lengths: Bins | None
    num_withheld: int


class Summary:
    """The numbers of one data folder."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive

    def hours(self, study: str | None = None) -> list[Hours]:
        with self._archive.database.read() as session:
            return store.hours_by_day(session, study=study)

    def quality(self, study: str | None = None) -> Quality:
        with self._archive.database.read() as session:
            measures = store.measures(session, study=study)
            extremes = store.extremes(session, study=study)
            outcomes = store.outcomes(session, study=study)
            equal, different, unverified = store.verdicts(session, study=study)
            problems = store.different(session, study=study) if different else []
        far = [
            (beyond, Outlier(measure, *one))
            for measure in ("latency_ms", "lost_share", "active_share")
            for one in extremes[measure]
            if (beyond := how_far(one.value, measures[measure][one.task], low=measure == "active_share")) > _FENCE
        ]
        outliers = [outlier for _, outlier in sorted(far, key=lambda one: -one[0])]
        return Quality(measures, outcomes, equal, different, unverified, problems, outliers)

    def found(self, where: Sequence[str], *, task: str | None = None, limit: int, offset: int = 0) -> Found:
        """Run a query with conditions as in `Archive.episodes`, and return its result with one page of episodes."""
        with self._archive.database.read() as session:
            wanted = EpisodeQuery(task=task, where=conditions(session, where), newest_first=True)
            page = EpisodeQuery(task=task, where=wanted.where, newest_first=True, limit=limit, offset=offset)
            totals = store.totals(session, wanted)
            released = store.totals(session, EpisodeQuery(task=task, where=wanted.where, released=True))
            return Found(
                totals,
                find_episodes(session, page),
                store.bins(session, wanted, EpisodeRow.total_reward),
                store.bins(session, wanted, EpisodeRow.duration_s),
                totals.num_episodes - released.num_episodes,
            )

    def note(self, verdicts: Sequence[Verdict]) -> None:
        now = datetime.now(UTC)
        rows = [
            EpisodeVerdict(
                episode_id=one.episode,
                is_equal=one.equal,
                reason="" if one.equal else f"from step {one.step} on: {one.reason}",
                created_at=now,
            )
            for one in verdicts
        ]
        with self._archive.database.write() as session:
            store.add_verdicts(session, rows)


def how_far(value: float, spread: Spread, *, low: bool = False) -> float:
    """Distance of a value above the middle half of a spread (with `low`: below it), in lengths of the middle half.

    >>> how_far(80.0, Spread(9, 30, 40, 50, 60, 90)), how_far(0.0, Spread(9, 30, 40, 50, 60, 90), low=True)
    (1.0, 2.0)
    """
    beyond = spread.p25 - value if low else value - spread.p75
    return beyond / max(spread.p75 - spread.p25, 1e-12)
