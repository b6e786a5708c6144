"""What models are compared with on the same instances: the recorded proofs of the oracle, and people."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from interplay.errors import NotFoundError
from interplay.explore import judgement_cache, published
from interplay.explore.evaluation.metrics import Reference, Result
from interplay.explore.instance import Instance
from interplay.explore.results.first_attempts import PEOPLE, Exposures, JudgementOf, beside, first_attempts
from interplay.record import Archive
from interplay.record.catalogue import listed
from interplay.store import Database
from interplay.store.episodes import EpisodeQuery

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
    """What models are compared with.

    Attributes:
        proofs: As `proofs`.
        waiting: Task, and hash of its version, of each first attempt that would count and is not judged yet.
    """

    proofs: Mapping[str, str]
    attempts: Sequence[Result]
    waiting: Sequence[tuple[str, str]]

    @property
    def rows(self) -> Mapping[str, Reference]:
        """Name -> how its results on the instances of some runs are made, for `metrics.tables`."""
        return {ORACLE: partial(proved, proofs=self.proofs), PEOPLE: partial(beside, attempts=self.attempts)}

    def num_waiting(self, results: Sequence[Result]) -> int:
        """How many first attempts at the tasks of these runs are not judged yet."""
        versions = {(one.task, one.task_hash) for one in results}
        return sum(one in versions for one in self.waiting)


def references(database: Database, data: Path, judgement_of: JudgementOf) -> References:
    """All that models are compared with.

    Args:
        judgement_of: As `first_attempts`.
    """
    attempts, waiting = first_attempts(database, judgement_of, Exposures(database).times())
    return References(proofs(database, data, judgement_of), attempts, waiting)


def proofs(database: Database, data: Path, judgement_of: JudgementOf) -> dict[str, str]:
    """Hash of a version of a task -> the episode in which the oracle has solved it: one in which all was reached, as judged.

    Args:
        judgement_of: As `first_attempts`, for tasks that come with the package as they are now; of others the judgement counts
            that was kept when the proof was recorded.
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
    """What the oracle comes to on the instances of these runs: all of one whose version it has solved, nothing of others.

    Args:
        proofs: Hashes of the versions of tasks that have a recorded proof; without one of them there is nothing to say.
    """
    made = {}
    for one in results:
        solved = one.task_hash in proofs
        reached = tuple(replace(part, tick=0 if solved else None, in_order=solved) for part in one.outcomes)
        made[one.task] = replace(one, model=ORACLE, outcomes=reached, failed=None, said_done=False, episode=None, **_NOTHING)
    return list(made.values()) if any(one.num_reached for one in made.values()) else []


def recorded_proof(archive: Archive, instance: Instance) -> tuple[str, Mapping[str, int]] | None:
    """The newest proof of an instance that is recorded in a data folder: its episode, and when each milestone was reached.

    It is one that the instance names, or one of the same version of its task, wherever the instance's file lies.
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
