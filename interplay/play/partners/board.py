"""The agents at work in the deciding process, written to files that outlive it, so that the agent over which it died is
known."""

from __future__ import annotations

import mmap
from pathlib import Path

_MAX_AGENTS = 4096


class Board:
    """The process's side. Old names are deleted when it is opened."""

    def __init__(self, folder: Path) -> None:
        self._names = folder / "names"
        self._names.write_text("")
        flags = folder / "flags"
        flags.write_bytes(bytes(_MAX_AGENTS))
        with flags.open("r+b") as file:
            self._flags = mmap.mmap(file.fileno(), _MAX_AGENTS)
        self._num = 0

    def enter(self, name: str) -> int:
        with self._names.open("a") as file:
            file.write(name.replace("\n", " ") + "\n")
        self._num += 1
        return (self._num - 1) % _MAX_AGENTS

    def mark(self, place: int, *, is_busy: bool) -> None:
        self._flags[place] = is_busy


def busy(folder: Path) -> set[str]:
    try:
        names = (folder / "names").read_text().splitlines()
        flags = (folder / "flags").read_bytes()
    except OSError:
        return set()
    return {name for place, name in enumerate(names) if flags[place % _MAX_AGENTS]}
