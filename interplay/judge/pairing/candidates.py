"""Candidates: the episodes on held-out seeds that judges may be shown, for each version of a task."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy.orm import Session

from interplay.errors import unknown_name
from interplay.judge.pairing.matchmaking import Candidate, num_pairs
from interplay.store import Database
from interplay.store import judging as store
from interplay.store.entrants import entrants
from interplay.tasks import Suite, Task, builtin_suites, index


class Candidates:
    """Reads versions of tasks, which never change and stay cached, and candidates, which are read again after they change."""

    def __init__(self, suites: Iterable[Suite] | None = None) -> None:
        self._tasks = index(builtin_suites() if suites is None else suites)
        self._versions: dict[str, Task] = {}
        self._candidates: dict[str, tuple[store.CandidatesState, tuple[Candidate, ...]]] = {}

    def of_task(self, session: Session, task: str) -> tuple[Candidate, ...]:
        """Return a task's candidates from all its known versions."""
        # Asked of the database every time: other processes let agents in, withdraw them, and add their episodes.
        state = store.candidates_state(session, task)
        known_state, candidates = self._candidates.get(task, (None, ()))
        if state != known_state:
            candidates = tuple(self._read(session, task))
            self._candidates[task] = (state, candidates)
        return candidates

    def num_pairs(self, database: Database, tasks: Iterable[str] | None) -> int:
        with database.read() as session:
            judged = [task for task in store.judged_tasks(session) if tasks is None or task in tasks]
            return sum(num_pairs(self.of_task(session, task)) for task in judged)

    def _read(self, session: Session, task: str) -> list[Candidate]:
        found: list[Candidate] = []
        for task_hash in store.candidate_versions(session, task):
            version = self.task(session, task, task_hash)
            if version is not None:
                found += _in_seats(version, store.candidates(session, task, task_hash, version.held_out_seeds))
        return found

    def in_episode(self, session: Session, task: str, episode_id: str) -> list[Candidate]:
        """Return the candidates of one episode on any seed: one for each seat of each entrant."""
        found = store.candidates_in(session, task, episode_id)
        version = self.task(session, task, found[0].task_hash) if found else None
        return [] if version is None else _in_seats(version, found)

    def task(self, session: Session, task: str, task_hash: str) -> Task | None:
        """Return one version of a task, from the database or from the suites; None if it is unknown."""
        if task_hash not in self._versions:
            definition = store.task_definition(session, task_hash)
            version = Task.from_json(definition) if definition is not None else self._tasks.get(task)
            if version is None or version.content_hash != task_hash:
                return None
            self._versions[task_hash] = version
        return self._versions[task_hash]

    def name_of(self, task_hash: str) -> str:
        return self._versions[task_hash].id

    def check_task(self, session: Session, task: str) -> None:
        known = {agent.task for agent in entrants(session)} | set(self._tasks)
        if task not in known:
            raise unknown_name("task", task[:100], known)


def _in_seats(version: Task, rows: Iterable[store.CandidateRow]) -> list[Candidate]:
    """Make candidates from rows. A video without recorded seats counts as a video of the first seat."""
    known = (row if row.seat in version.seats else row._replace(seat=version.seats[0]) for row in rows)
    return [Candidate(*row) for row in known]
