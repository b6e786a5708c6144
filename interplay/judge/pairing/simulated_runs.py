"""Store runs of a simulation in a file, one JSON document on each line, so that a stopped simulation can continue."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from interplay.judge.pairing.simulate import Run, Simulation, SimulationError, fingerprint


class SimulatedRuns:
    """The runs of one simulation, stored in a file that may also hold runs with other settings.

    Args:
        path: File of the runs, created with the first run; None to store nothing.
    Raises:
        SimulationError: If the file holds anything but runs.
    """

    def __init__(self, path: Path | None, settings: Simulation, methods: Sequence[str]) -> None:
        self._path = path
        self._settings = dict(fingerprint(settings, methods))
        self._runs: dict[tuple[str, int], Run] = {}
        self._ends_in_line = True
        for document in self._documents():
            if document["settings"] == self._settings:
                run = Run(document["policy"], document["seed"], document["answers"], document["correlation"])
                self._runs[run.policy, run.seed] = run

    def get(self, policy: str, seed: int) -> Run | None:
        return self._runs.get((policy, seed))

    def add(self, run: Run) -> None:
        """Store a run; it is on disk when this returns (SimulationError if it cannot be written)."""
        self._runs[run.policy, run.seed] = run
        if self._path is None:
            return
        line = json.dumps({"settings": self._settings, **run._asdict()}) + "\n"
        try:
            with self._path.open("a", encoding="utf-8") as stream:
                stream.write(line if self._ends_in_line else f"\n{line}")
        except OSError as error:
            raise SimulationError(
                f"cannot write {self._path}: {error.strerror or error}\nName a file in a folder that exists with --resume."
            ) from None
        self._ends_in_line = True

    def _documents(self) -> list[dict[str, Any]]:
        """Return the document of every complete line. A line that a crash cut off is left out."""
        if self._path is None or not self._path.exists():
            return []
        try:
            text = self._path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise self._no_runs(str(error)) from None
        self._ends_in_line = not text or text.endswith("\n")
        documents = []
        lines = text.splitlines()
        for number, line in enumerate(lines, start=1):
            try:
                document = json.loads(line) if line.strip() else None
            except (ValueError, RecursionError):
                if line.startswith('{"settings": '):
                    continue
                raise self._no_runs(f"line {number} is not JSON") from None
            if document is None:
                continue
            if not isinstance(document, dict) or not {"settings", *Run._fields} <= document.keys():
                raise self._no_runs(f"line {number} is not a run")
            documents.append(document)
        return documents

    def _no_runs(self, what: str) -> SimulationError:
        return SimulationError(
            f"{self._path} holds no runs of a simulation: {what}\nName a file this command wrote, or a new one, with --resume."
        )
