"""People's first attempts, as results beside those of models: only the first game of each person on each instance counts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

from interplay.explore import published
from interplay.explore.evaluation.metrics import Result, result_of
from interplay.explore.evaluation.runs import Run, header
from interplay.explore.evaluation.settings import Settings
from interplay.explore.instance import Instance
from interplay.explore.judgement_cache import Judgement
from interplay.store import Database, EpisodeRow, entrants
from interplay.store.episodes import EpisodeQuery, find_episodes
from interplay.store.participants import PEOPLE as ENTRANT
from interplay.store.participants import Exposure, add_exposures, exposures, tasks_known_to
from interplay.tasks import Task

PEOPLE = "people (first attempts)"
JudgementOf = Callable[[str], Judgement | None]
"""From the id of an episode to what was reached."""


class Attempts(NamedTuple):
    """First attempts that count, as results; and task and version of those that are not judged yet."""

    results: list[Result]
    waiting: list[tuple[str, str]]


def first_attempts(
    database: Database,
    judgement_of: JudgementOf,
    shown: Mapping[tuple[int, str], datetime],
) -> Attempts:
    """First attempts that count: the player agreed to the comparison, and played to an end. No later attempt replaces one.

    An attempt waits without a judgement. `shown` has (participant, task id) -> when they saw the parts of the task: games that
    ended later are no first attempts, nor are games that ended after another of the same task.
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
    """Attempts on the instances of some runs, in the version that was played, and within the time that these had."""
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
    """End of a game that was never paused; the recording does not say it more exactly."""
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
        """(participant, task id) -> when they first saw the task, or a pair of it to judge."""
        first: dict[tuple[int, str], datetime] = {}
        with self._database.read() as session:
            for person, task, at in exposures(session):
                first[person, task] = min(at, first.get((person, task), at))
        return first

    def known_to(self, participant: int) -> set[str]:
        with self._database.read() as session:
            return tasks_known_to(session, participant)
