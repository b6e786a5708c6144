"""The results of all runs of a data folder that are not played now, kept: a file is read again only when it has changed."""

from __future__ import annotations

import threading
from pathlib import Path

from interplay.explore.evaluation.metrics import Result, result_of
from interplay.explore.evaluation.runs import FOLDER, RunError, is_played, read


class KeptResults:
    """Results of the runs of a data folder; safe to share between threads.

    Args:
        data: The data folder.
    """

    def __init__(self, data: Path) -> None:
        self._folder = data / FOLDER
        self._lock = threading.Lock()
        self._kept: dict[Path, tuple[tuple[int, int], Result | RunError]] = {}

    def read(self) -> tuple[list[Result], list[RunError]]:
        """The results as the files are now, and what is wrong with those that cannot be read."""
        with self._lock:
            now: dict[Path, tuple[tuple[int, int], Result | RunError]] = {}
            for path in sorted(self._folder.glob("*.jsonl")):
                try:
                    facts = path.stat()
                except FileNotFoundError:
                    continue
                stamp = (facts.st_mtime_ns, facts.st_size)
                known = self._kept.get(path)
                if known is not None and known[0] == stamp:
                    now[path] = known
                elif facts.st_size and not is_played(path):
                    now[path] = (stamp, _read(path))
            self._kept = now
            found = [one for _, one in now.values()]
        return [one for one in found if isinstance(one, Result)], [one for one in found if isinstance(one, RunError)]

    def of_episode(self, episode: str) -> str | None:
        """Id of the run that an episode is the recording of."""
        results, _ = self.read()
        return next((one.run for one in results if one.episode == episode), None)


def _read(path: Path) -> Result | RunError:
    try:
        return result_of(read(path))
    except RunError as error:
        return error
