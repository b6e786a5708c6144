"""References to compare models with, on the same instances: the oracle's recorded proofs, and people's games.

Of each person, only the first game on each instance counts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from interplay.errors import NotFoundError
from interplay.explore import judgement_cache, published
from interplay.explore.evaluation.metrics import Reference, Result, result_of
from interplay.explore.evaluation.runs import Run, header
from interplay.explore.evaluation.settings import Settings
from interplay.explore.instance import Instance
from interplay.explore.judgement_cache import Judgement
from interplay.record import Archive
from interplay.record.catalogue import listed
from interplay.store import Database, EpisodeRow, entrants
from interplay.store.episodes import EpisodeQuery, find_episodes
from interplay.store.participants import PEOPLE as ENTRANT
from interplay.store.participants import Exposure, add_exposures, exposures, tasks_known_to
from interplay.tasks import Task

PEOPLE = "people (first attempts)"
JudgementOf = Callable[[str], Judgement | None]
"""Id of an episode -> its judgement, or None if it is not judged yet."""


class Attempts(NamedTuple):
    """People's first attempts that count: results of judged ones, and (task, version) of those not judged yet."""

    results: list[Result]
    waiting: list[tuple[str, str]]


def first_attempts(
    database: Database,
    judgement_of: JudgementOf,
    shown: Mapping[tuple[int, str], datetime],
) -> Attempts:
    """Return people's first attempts that count: the player agreed to the comparison and finished; later attempts never count.

    An attempt without a judgement waits. `shown` maps (participant, task id) to the time when the person saw the parts of the
    task. A game that ended after this time is not a first attempt, nor is a game that ended after an earlier game of the task.
    """
    made = Attempts([], [])
    for instance in published.instances().values():
        for epoch, row in enumerate(_first(database, instance.task(), shown), 1):
            judgement = judgement_of(row.id)
            if judgement is None:
                made.waiting.append((row.task, row.task_hash))
            else:
                made.results.append(_result(instance, judgement, row, epoch))
    return made


def beside(results: Sequence[Result], attempts: Sequence[Result]) -> list[Result]:
    """Return attempts on the same versions of instances as some runs; milestones after the runs' step limit do not count."""
    versions = {(one.task, one.task_hash) for one in results}
    steps = min((json.loads(one.settings)["max_steps"] for one in results), default=0)

    def in_time(one: Result) -> Result:
        parts = [part if (part.tick or 0) <= steps else replace(part, tick=None, in_order=False) for part in one.outcomes]
        return replace(one, outcomes=tuple(parts))

    return [in_time(one) for one in attempts if (one.task, one.task_hash) in versions]


def _first(database: Database, task: Task, shown: Mapping[tuple[int, str], datetime]) -> list[EpisodeRow]:
    with database.read() as session:
        rows: dict[int, EpisodeRow] = {}
        knew: dict[int, datetime] = {person: at for (person, name), at in shown.items() if name == task.id}
        for row in find_episodes(session, EpisodeQuery(task=task.id, actor="human")):
            person = row.seats[0].participant_id
            if person is None:
                continue
            if person in rows:  # the end of another game shows what there was to reach
                knew[person] = min(_end(row), knew.get(person, _end(row)))
            rows.setdefault(person, row)
        agreed = entrants.agreed_games(session, [row.id for row in rows.values()])
        if any(entrants.state(one) == "withdrawn" for one in entrants.entrants(session, task.id, name=ENTRANT)):
            return []
        return [
            row
            for person, row in rows.items()
            if row.task_hash == task.content_hash
            and not entrants.not_comparable(row, entrants.held_out_seeds(session, row.task_hash), agreed=row.id in agreed)
            and not (person in knew and knew[person] <= _end(row))
        ]


def _end(row: EpisodeRow) -> datetime:
    """Return when a game ended, as if it was never paused: its begin plus its duration. The catalogue has no exact time."""
    return row.created_at + timedelta(seconds=row.duration_s)


def _result(instance: Instance, judgement: Judgement, row: EpisodeRow, epoch: int) -> Result:
    head = header(instance, Settings(), PEOPLE, epoch)
    begin = {
        "episode": row.id,
        "at_start": [name for name, tick in judgement.reached.items() if tick == 0],
        "not_judged": [one["id"] for one in head["milestones"] if one["id"] not in judgement.milestones],
    }
    # The catalogue does not say whether a player died or was done, so nobody is said to have been wrong about being done.
    end = {
        "outcome": row.outcome,
        "said_done": False,
        "num_steps": row.num_steps,
        "reached": judgement.reached,
        "replies": {},
    }
    return result_of(Run(head, begin=begin, end=end))


class Exposures:
    """Which participants were shown which tasks; safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, participant: int, task: str, now: datetime) -> None:
        if task in self.known_to(participant):
            return
        with self._database.write() as session:
            add_exposures(session, [Exposure(participant, task, now)])

    def times(self) -> dict[tuple[int, str], datetime]:
        """Return (participant, task id) -> when the person first saw the task, or was asked to judge a pair of its episodes."""
        first: dict[tuple[int, str], datetime] = {}
        with self._database.read() as session:
            for person, task, at in exposures(session):
                first[person, task] = min(at, first.get((person, task), at))
        return first

    def known_to(self, participant: int) -> set[str]:
        with self._database.read() as session:
            return tasks_known_to(session, participant)


ORACLE = "oracle"
_NOTHING: dict[str, Any] = {
    "calls": 0,
    "input_tokens": 0,
    "output_tokens": 0,
    "replies": {},
    "cost": None,
    "latency_ms": 0.0,
    "answered": (),
}


@dataclass(frozen=True, eq=False)
class References:
    """Results of the oracle and of people; `waiting` has (task, version) of people's first attempts not judged yet."""

    proofs: Mapping[str, str]
    attempts: Sequence[Result]
    waiting: Sequence[tuple[str, str]]

    @property
    def rows(self) -> Mapping[str, Reference]:
        """Name of the reference -> function that makes its results on the instances of some runs, for `metrics.tables`."""
        return {ORACLE: partial(proved, proofs=self.proofs), PEOPLE: partial(beside, attempts=self.attempts)}

    def num_waiting(self, results: Sequence[Result]) -> int:
        versions = {(one.task, one.task_hash) for one in results}
        return sum(one in versions for one in self.waiting)


def references(database: Database, data: Path, judgement_of: JudgementOf) -> References:
    attempts, waiting = first_attempts(database, judgement_of, Exposures(database).times())
    return References(proofs(database, data, judgement_of), attempts, waiting)


def proofs(database: Database, data: Path, judgement_of: JudgementOf) -> dict[str, str]:
    """Return hash of a task's version -> episode in which the oracle reached all milestones.

    `judgement_of` judges episodes of the package's present tasks; for other episodes the cached judgement counts.
    """
    today = {one.task().content_hash for one in published.instances().values()}
    found: dict[str, str] = {}
    for row in listed(database, EpisodeQuery(agent=ORACLE, outcome="terminated")):
        if not row.task.startswith(published.PREFIX) or row.task_hash in found:
            continue
        judgement = judgement_of(row.id) if row.task_hash in today else judgement_cache.read(data, row.id, row.task_hash)
        if judgement is not None and judgement.success:
            found[row.task_hash] = row.id
    return found


def proved(results: Sequence[Result], proofs: Collection[str]) -> list[Result]:
    """Return the oracle's results on the instances of these runs: all milestones if the version is in `proofs`, else none.

    The list is empty if no version is in `proofs`.
    """
    made = {}
    for one in results:
        solved = one.task_hash in proofs
        reached = tuple(replace(part, tick=0 if solved else None, in_order=solved) for part in one.outcomes)
        made[one.task] = replace(one, model=ORACLE, outcomes=reached, failed=None, said_done=False, episode=None, **_NOTHING)
    return list(made.values()) if any(one.num_reached for one in made.values()) else []


def recorded_proof(archive: Archive, instance: Instance) -> tuple[str, Mapping[str, int]] | None:
    """Return an instance's newest proof in a data folder: its episode, and the tick of each milestone; `None` without a proof.

    A proof that the instance names comes first, then an episode of the oracle in the same version of the task.
    """
    for named in reversed(instance.proofs):
        with suppress(NotFoundError):
            return archive.get(str(named.get("episode", ""))).id, named.get("milestones", {})
    task = instance.task()
    for one in archive.episodes(task=task, task_hash=task.content_hash, agent=ORACLE, newest_first=True):
        judgement = judgement_cache.read(archive.root, one.id, task.content_hash)
        if judgement is not None and judgement.success:
            return one.id, judgement.reached
    return None
