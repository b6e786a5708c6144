"""Who was shown what a task of `explore` is made of before playing it: such a person is no first attempt any more."""

from __future__ import annotations

import json
import os
import threading
from contextlib import suppress
from datetime import datetime
from pathlib import Path

FILE = Path("explore") / "shown.jsonl"
"""Of a data folder."""


class Shown:
    """Who asked to see which task from inside, kept in one file of JSON lines; safe to share between threads.

    Args:
        data: The data folder.
    """

    def __init__(self, data: Path) -> None:
        self._path = data / FILE
        self._lock = threading.Lock()

    def add(self, participant: int, task: str, now: datetime) -> None:
        """Keep that a person was shown a task; once is enough."""
        with self._lock:
            if (participant, task) in self._read():
                return
            self._path.parent.mkdir(parents=True, exist_ok=True)
            line = json.dumps({"participant": participant, "task": task, "at": now.isoformat()}).encode() + b"\n"
            file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            try:
                size = os.fstat(file).st_size
                is_torn = size > 0 and os.pread(file, 1, size - 1) != b"\n"
                os.write(file, b"\n" * is_torn + line)
            finally:
                os.close(file)

    def times(self) -> dict[tuple[int, str], datetime]:
        """Number of a participant and id of a task -> when they were shown it first."""
        with self._lock:
            return self._read()

    def _read(self) -> dict[tuple[int, str], datetime]:
        try:
            lines = self._path.read_bytes().splitlines()
        except FileNotFoundError:
            return {}
        found: dict[tuple[int, str], datetime] = {}
        for line in lines:
            with suppress(ValueError, KeyError, TypeError):  # of a line that was torn when the machine stopped
                one = json.loads(line)
                found.setdefault((one["participant"], one["task"]), datetime.fromisoformat(one["at"]))
        return found
