"""References that models are compared with on the same instances: the recorded proofs of the oracle, and people."""

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
    """Results of others on the same instances; `waiting` has (task, version) of first attempts that are not judged yet."""

    proofs: Mapping[str, str]
    attempts: Sequence[Result]
    waiting: Sequence[tuple[str, str]]

    @property
    def rows(self) -> Mapping[str, Reference]:
        """Name -> function that makes its results on the instances of some runs, for `metrics.tables`."""
        return {ORACLE: partial(proved, proofs=self.proofs), PEOPLE: partial(beside, attempts=self.attempts)}

    def num_waiting(self, results: Sequence[Result]) -> int:
        versions = {(one.task, one.task_hash) for one in results}
        return sum(one in versions for one in self.waiting)


def references(database: Database, data: Path, judgement_of: JudgementOf) -> References:
    attempts, waiting = first_attempts(database, judgement_of, Exposures(database).times())
    return References(proofs(database, data, judgement_of), attempts, waiting)


def proofs(database: Database, data: Path, judgement_of: JudgementOf) -> dict[str, str]:
    """Hash of a task's version -> episode in which the oracle reached all its milestones.

    `judgement_of` judges tasks that come with the package as they are now; for others the cached judgement counts.
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
    """Results of the oracle on the instances of these runs: all milestones of a version in `proofs`, none of others.

    Without any version in `proofs` the list is empty.
    """
    made = {}
    for one in results:
        solved = one.task_hash in proofs
        reached = tuple(replace(part, tick=0 if solved else None, in_order=solved) for part in one.outcomes)
        made[one.task] = replace(one, model=ORACLE, outcomes=reached, failed=None, said_done=False, episode=None, **_NOTHING)
    return list(made.values()) if any(one.num_reached for one in made.values()) else []


def recorded_proof(archive: Archive, instance: Instance) -> tuple[str, Mapping[str, int]] | None:
    """Newest recorded proof of an instance in a data folder: its episode, and when each milestone was reached.

    It is one that the instance names, or one of the same version of its task.
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
