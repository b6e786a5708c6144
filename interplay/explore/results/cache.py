"""Cache results, boards and ratings for the pages of `explore`; renew them when runs, the catalogue or judgements change."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import TypeVar

from interplay.explore import judgement_cache, published
from interplay.explore.evaluation.metrics import Result, result_at
from interplay.explore.evaluation.runs import FOLDER, Run, RunError, is_played, read
from interplay.explore.results import verification
from interplay.explore.results.boards import Board, Ratings, boards, rate, sorted_out
from interplay.explore.results.references import JudgementOf, References, references
from interplay.store import Database
from interplay.store.participants import attempts_state

_Made = TypeVar("_Made")
_RUNS_KEPT = 16
_Stamp = tuple[int, int]
"""Time of a file's last change in ns, and its size."""
_Files = dict[Path, tuple[_Stamp, Result | RunError, str]]
"""File of a run -> its stamp, result and hash."""
_NONE = References({}, (), ())


class ResultCache:
    """The results, boards and ratings of a data folder; safe to share between threads."""

    def __init__(self, database: Database, data: Path, judgement_of: JudgementOf) -> None:
        self._database, self._data, self._judgement_of = database, data, judgement_of
        self._lock = threading.Lock()
        """Guards `_locks`. A thread that computes an entry holds only the lock of this entry, so other threads can read."""
        self._locks: dict[str, threading.Lock] = {}
        self._results: _Files = {}
        self._runs: dict[Path, tuple[_Stamp, Run]] = {}
        self._made: dict[str, tuple[Hashable, object]] = {}

    def results(self) -> tuple[list[Result], list[RunError]]:
        files = self._files()
        found, wrong, _ = sorted_out([one for _, one, _ in files.values() if isinstance(one, Result)], self._verdicts(files))
        errors = [one for _, one, _ in files.values() if isinstance(one, RunError)]
        return found, [*errors, *(RunError(f"run {one.run}: {why}") for one, why in wrong)]

    def _files(self) -> _Files:
        with self._lock_of("results"):
            now: _Files = {}
            for path in sorted((self._data / FOLDER).glob("*.jsonl")):
                stamp = _stamp(path)
                known = self._results.get(path)
                if known is not None and known[0] == stamp:
                    now[path] = known
                elif stamp is not None and stamp[1] and not is_played(path):
                    now[path] = (stamp, result_at(path), hashlib.sha256(path.read_bytes()).hexdigest())
            self._results = now
            return now

    def of_episode(self, episode: str) -> str | None:
        results, _ = self.results()
        return next((one.run for one in results if one.episode == episode), None)

    def run(self, run: str) -> Run | None:
        path = self._data / FOLDER / f"{run}.jsonl"
        stamp = _stamp(path) if re.fullmatch(r"[0-9a-f]{16}", run) else None
        if stamp is None:
            return None
        with self._lock_of("runs"):
            known = self._runs.pop(path, None)
            if known is None or known[0] != stamp:
                known = (stamp, read(path))
            self._runs[path] = known  # the last one asked for stands last
            while len(self._runs) > _RUNS_KEPT:
                del self._runs[next(iter(self._runs))]
        return known[1]

    def references(self) -> References:
        with self._database.read() as session:
            state = (*attempts_state(session, published.PREFIX), _stamp(self._data / judgement_cache.FOLDER))
        return self._keep("references", state, lambda: references(self._database, self._data, self._judgement_of))

    def boards(self) -> list[Board]:
        files = self._files()
        stamps = tuple((path, stamp) for path, (stamp, _, _) in files.items())
        found = [one for _, one, _ in files.values() if isinstance(one, Result)]
        beside, verdicts = self.references() if found else _NONE, self._verdicts(files)
        return self._keep("boards", (stamps, beside, tuple(verdicts.values())), lambda: boards(found, beside, verdicts))

    def _verdicts(self, files: _Files) -> dict[str, str | None]:
        """Return run -> the text of `verification.compared`, if it is known without a replay; None if it is not known."""
        folders = (_stamp(self._data / one) for one in (verification.FOLDER, judgement_cache.FOLDER))
        key = (*folders, *((path, stamp) for path, (stamp, _, _) in files.items()))
        found = [(path, one, digest) for path, (_, one, digest) in files.items() if isinstance(one, Result)]
        return self._keep("verdicts", key, lambda: {one.run: self._verdict(path, one, digest) for path, one, digest in found})

    def _verdict(self, path: Path, result: Result, digest: str) -> str | None:
        known = verification.last_verdict(self._data, path)
        if result.failed is not None or result.episode is None:
            return ""
        if known is not None and known["run"] == digest:
            return known["why"]
        there = self._judgement_of(result.episode) if result.task in published.instances() else None
        return None if there is None else verification.difference(result, published.PREFIX + there.instance, there)

    def ratings(self, board: Board, method: str) -> Ratings:
        key = tuple((one.run, one.num_reached, len(one.outcomes)) for one in board.results)
        return self._keep(f"ratings {board.name} {method}", key, lambda: rate(board.results, method))

    def _keep(self, name: str, key: Hashable, make: Callable[[], _Made]) -> _Made:
        with self._lock_of(name):
            known = self._made.get(name)
            if known is None or known[0] != key:
                known = self._made[name] = (key, make())
            return known[1]  # type: ignore[return-value]

    def _lock_of(self, name: str) -> threading.Lock:
        with self._lock:
            return self._locks.setdefault(name, threading.Lock())


def _stamp(path: Path) -> _Stamp | None:
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_mtime_ns, facts.st_size
