"""Lists of published recordings: VPT's index files, lists of addresses, and folders."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

import httpx

from interplay.learn.recordings.counts import all_files
from interplay.learn.recordings.names import RecordingName, RecordingsError, task_of, why_bad

ENDINGS = (".jsonl", ".mp4")
_OTHER_ENDINGS = ("-options.json", ".zip")
"""Endings of other files that some releases have beside the recordings."""
_SAFE = re.compile(r"[\w.+-]+")
_MOST_NAME_BYTES = 200
"""Limit of a name without its ending. During the download a file has a longer name, and file systems allow 255 bytes."""
_FORMS = 'an index {"basedir": ADDRESS, "relpaths": [PATH, ...]} or a list with an address or a name in each line'


@dataclass(frozen=True)
class Entry:
    """One recording of a list; `stem` is the name of its files without ending.

    `folder` is the folder that names the task; else the part of the list's name that names it; else `recordings`, with no
    `task`. `address` is empty if the list has names only.
    """

    stem: str
    task: str | None
    folder: str
    address: str

    @property
    def why_bad(self) -> str:
        return why_bad(self.stem, self.task)


def read_list(text: str, source: str) -> list[Entry]:
    """Read the recordings of a list, each once, sorted by folder and name; `RecordingsError` if the text is not such a list.

    A VPT index has a base address and paths below it, with `.mp4` or without ending. Other lists have an address or a name in
    each line; both files of a recording may be listed. Errors show `source`; its name tells the task if no folder does.
    """
    base, paths = _index(text, source) if text.lstrip()[:1] in ("{", "[") else ("", text.split("\n"))
    address = address_of(source)
    stem = PurePosixPath(source if address is None else address.path).stem
    named = next((folder for folder in _starts(stem) if task_of([folder])), "recordings")
    entries: dict[tuple[str, str], Entry] = {}
    for number, path in enumerate(paths, start=1):
        if path.strip() and not path.strip().endswith(_OTHER_ENDINGS):
            entry = _entry(base, path.strip(), named, f"{source}: entry {number}")
            entries.setdefault((entry.folder, entry.stem), entry)
    if not entries:
        raise RecordingsError(f"{source} lists no recordings\nExpected {_FORMS}.")
    return [entries[key] for key in sorted(entries)]


def _starts(stem: str) -> Iterable[str]:
    """Beginnings of a name, longest first: `find-cave-Jul-28`, `find-cave-Jul`, `find-cave`, ...; also split at underscores."""
    words = re.split(r"[-_]", stem)
    for count in range(len(words), 0, -1):
        yield "-".join(words[:count])


def _index(text: str, source: str) -> tuple[str, Sequence[str]]:
    try:
        document: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RecordingsError(f"{source} is not JSON: {error}\nFetch it again; expected {_FORMS}.") from None
    base = document.get("basedir") if isinstance(document, dict) else None
    paths = document.get("relpaths") if isinstance(document, dict) else None
    if not isinstance(base, str) or not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise RecordingsError(f"{source} has no base address with paths\nExpected {_FORMS}.")
    return base, paths


def _entry(base: str, path: str, named: str, where: str) -> Entry:
    whole = path if "://" in path or not base else f"{base.rstrip('/')}/{path.lstrip('/')}"
    without = next((whole.removesuffix(ending) for ending in ENDINGS if whole.endswith(ending)), whole)
    address = address_of(without) if "://" in without else None
    if "://" in without and (address is None or not {"?", "#"}.isdisjoint(without)):
        raise RecordingsError(
            f"{where} is {path[:200]!r}\nAn address begins with http:// or https:// and has no ? or #: endings are added to it."
        )
    parts = PurePosixPath(without).parts if address is None else PurePosixPath(without.split("://", 1)[1]).parts[1:]
    stem = parts[-1] if parts else ""
    is_safe = _SAFE.fullmatch(stem) and not stem.startswith(".") and len(stem.encode()) <= _MOST_NAME_BYTES
    if ".." in parts or not is_safe:
        raise RecordingsError(f"{where} is {path[:200]!r}, which is not the name of a recording\nCheck the list.")
    folder = next((part for part in reversed(parts[:-1]) if task_of([part])), None) or named
    return Entry(stem, task_of([folder]), folder, "" if address is None else without)


def address_of(text: str) -> httpx.URL | None:
    """Return the text as an address for a download; None if it is not one.

    >>> str(address_of("https://example.org/a")), address_of("file:///etc/passwd"), address_of("http://a:99999999/b")
    ('https://example.org/a', None, None)
    """
    try:
        address = httpx.URL(text)
    except httpx.InvalidURL:
        return None
    is_one = address.scheme in ("http", "https") and address.host and (address.port or 0) < 1 << 16
    return address if is_one and text.isprintable() else None


def list_folder(folder: Path) -> list[Entry]:
    return [Entry(path.stem, task, path.parent.name, "") for path, task in all_files(folder).items()]


@dataclass(frozen=True)
class Summary:
    """Statistics of one task in a list; `task` is empty for recordings of no known task.

    Players and sessions are counted from names of the usual form; `num_unnamed` counts the others. A session is identified by
    player and session, because different players have sessions called `f153ac423f61`. Several episodes may share a session.
    `first` and `last` are UTC, or None if no name has a time.
    """

    task: str
    num_recordings: int
    num_players: int
    num_sessions: int
    num_bad: int
    num_unnamed: int
    first: datetime | None
    last: datetime | None


def summaries(entries: Iterable[Entry]) -> list[Summary]:
    """Return the statistics of each task in a list, sorted by task."""
    by_task: dict[str, list[Entry]] = {}
    for entry in entries:
        by_task.setdefault(entry.task or "", []).append(entry)
    return [_summary(task, by_task[task]) for task in sorted(by_task)]


def _summary(task: str, entries: list[Entry]) -> Summary:
    names = [name for entry in entries if (name := RecordingName.parse(entry.stem)) is not None]
    times = [name.time for name in names]
    return Summary(
        task,
        len(entries),
        len({name.alias for name in names}),
        len({name[:2] for name in names}),
        sum(bool(entry.why_bad) for entry in entries),
        len(entries) - len(names),
        min(times, default=None),
        max(times, default=None),
    )
