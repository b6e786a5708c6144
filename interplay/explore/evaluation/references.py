"""What models are compared with, on the instances that they played: the oracle, by its recorded proofs, and people."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from interplay.explore.evaluation.metrics import Reference, Result
from interplay.explore.evaluation.people import PEOPLE, JudgementOf, beside, first_attempts
from interplay.explore.shown import Shown
from interplay.record.listing import listed
from interplay.store import Database
from interplay.store.episodes import EpisodeQuery

KEPT_S = 20.0
"""People's games and new proofs are on the boards after so long."""
ORACLE = "oracle"
"""Name of who records proofs."""
_NOTHING: dict[str, Any] = {"calls": 0, "input_tokens": 0, "output_tokens": 0, "replies": {}, "cost": None}


def references(database: Database, data: Path, judgement_of: JudgementOf) -> Mapping[str, Reference]:
    """Name -> how its results on the instances of some runs are made, for `metrics.tables`.

    Args:
        database: Of the catalogue.
        data: The data folder.
        judgement_of: As `first_attempts`.
    """
    attempts = first_attempts(database, judgement_of, Shown(database, data).times())
    return {ORACLE: partial(proved, proofs=proofs(database)), PEOPLE: partial(beside, attempts=attempts)}


class KeptReferences:
    """The same for pages, made again after `KEPT_S`; safe to share between threads."""

    def __init__(self, database: Database, data: Path, judgement_of: JudgementOf) -> None:
        self._database, self._data, self._judgement_of = database, data, judgement_of
        self._lock = threading.Lock()
        self._made: tuple[float, Mapping[str, Reference]] | None = None

    def read(self) -> Mapping[str, Reference]:
        """As `references`, at most so old."""
        with self._lock:
            if self._made is None or time.monotonic() - self._made[0] > KEPT_S:
                self._made = time.monotonic(), references(self._database, self._data, self._judgement_of)
            return self._made[1]


def proofs(database: Database) -> dict[str, str]:
    """Hash of a version of a task -> the episode in which the oracle has solved it."""
    rows = listed(database, EpisodeQuery(agent=ORACLE, outcome="terminated"))
    return {row.task_hash: row.id for row in rows if row.task.startswith("explore/")}


def proved(results: Sequence[Result], proofs: Collection[str]) -> list[Result]:
    """What the oracle comes to on the instances of these runs: all of one whose version it has solved, nothing of others.

    Args:
        results: Runs of one table.
        proofs: Hashes of the versions of tasks that have a recorded proof; without one of them there is nothing to say.
    """
    made = {}
    for one in results:
        solved = one.task_hash in proofs
        reached = tuple(replace(part, tick=0 if solved else None, in_order=solved) for part in one.outcomes)
        made[one.task] = replace(one, model=ORACLE, outcomes=reached, failed=None, said_done=False, episode=None, **_NOTHING)
    return list(made.values()) if any(one.num_reached for one in made.values()) else []
