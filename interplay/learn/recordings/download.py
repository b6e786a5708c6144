"""Download published recordings: both files of each, checked by size; an interrupted file continues at the same byte."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from interplay.errors import InterplayError, MisuseError
from interplay.files import alone, is_disk_full, to_disk
from interplay.learn.recordings.index import ENDINGS, Entry, address_of, list_folder, read_list
from interplay.learn.recordings.names import RecordingsError
from interplay.record.exchange.http_resume import Line, LineError
from interplay.tables import decoded

_MOST_LIST_BYTES = 64 << 20
"""Size limit of a list; BEDD's list of 5,466 recordings of FindCave has 0.4 MB."""
_LOCK = ".lock"


class FetchError(RecordingsError, MisuseError):
    """A list or an address is of no use for a download."""


@dataclass
class Fetched:
    """The result of a download: recordings (`folder/name`) that were fetched, already complete, or too large for the quota.

    `refused` has the reason why a recording could not be fetched; `size_bytes` counts the transferred bytes.
    """

    fetched: list[str] = field(default_factory=list)
    there_already: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    over_quota: list[str] = field(default_factory=list)
    size_bytes: int = 0


def open_list(source: str) -> list[Entry]:
    """The recordings of a list: a file, an address (http or https), or a folder of recordings."""
    if source.startswith(("http://", "https://")):
        if address_of(source) is None:
            raise FetchError(f"{source[:200]!r} is not an address\nWrite it as https://example.org/find-cave.json")
        with _line(time.sleep) as line:
            text = line.get(source, most_bytes=_MOST_LIST_BYTES)
    elif os.path.isdir(source):
        return list_folder(Path(source))
    else:
        try:
            text = Path(source).read_bytes()
        except OSError as error:
            raise FetchError(
                f"{source} cannot be read: {error.strerror or error}\nGive a list's file or address, or a folder."
            ) from error
    try:
        return read_list(decoded(text), source)
    except ValueError as error:
        raise FetchError(f"{source}: {error}") from None


def fetch(
    entries: Iterable[Entry],
    folder: Path,
    *,
    quota_bytes: float | None = None,
    on_progress: Callable[[int, int, int], None] = lambda done, total, size_bytes: None,
    sleep: Callable[[float], None] = time.sleep,
) -> Fetched:
    """Fetch the missing recordings into one folder for each task.

    A recording is two files. If its missing files together exceed the quota, none is fetched. A file gets its name when it is
    complete; until then it is called `.<name>.<its size>.part`.

    Args:
        quota_bytes: Maximum size of each folder, including its present content.
        on_progress: Called with the number of finished recordings, the number of all, and the transferred bytes.
        sleep: Waits a number of seconds before another attempt.
    Raises:
        FetchError: If a recording has no address.
        RecordingsError: If no recording of the list is available, the disk is full, or another process fetches to the same
            folder. Finished files are kept.
        LineError: If a server stops answering. Finished files are kept.
    """
    wanted = list(entries)
    nowhere = next((entry for entry in wanted if not entry.address), None)
    if nowhere is not None:
        raise FetchError(f"the list has no address of {nowhere.stem}\nGive an index file or a list of addresses.")
    download = _Download(folder, quota_bytes)
    result = download.result
    try:
        with _line(sleep) as line, download:
            for done, entry in enumerate(wanted):
                download.take(line, entry, lambda now=done: on_progress(now, len(wanted), line.size_bytes))
                on_progress(done + 1, len(wanted), line.size_bytes)
            result.size_bytes = line.size_bytes
    except OSError as error:
        remedy = "Free some space" if is_disk_full(error) else "Name another folder"
        raise RecordingsError(
            f"cannot write to {folder}: {error.strerror or error}\nThe first part is kept. {remedy}, then start again."
        ) from error
    if result.refused and not (result.fetched or result.there_already or result.over_quota):
        name, reason = next(iter(result.refused.items()))
        raise RecordingsError(f"none of {len(wanted)} recordings can be fetched; the first:\n{name}: {reason}")
    return result


class _Download(ExitStack):
    """A download into folders, each locked until the end, because two processes that write to one file would damage it."""

    def __init__(self, root: Path, quota_bytes: float | None) -> None:
        super().__init__()
        self._root, self._quota_bytes = root, quota_bytes
        self._used_bytes: dict[str, int] = {}
        self.result = Fetched()

    def take(self, line: Line, entry: Entry, came: Callable[[], None]) -> None:
        name = f"{entry.folder}/{entry.stem}"
        place = self._root / entry.folder
        missing = [target for ending in ENDINGS if not (target := place / f"{entry.stem}{ending}").exists()]
        if not missing:
            self.result.there_already.append(name)
            return
        used_bytes = self._used(entry.folder)
        try:
            sizes = {target: _size(line, f"{entry.address}{target.suffix}") for target in missing}
            if self._quota_bytes is not None and used_bytes + sum(sizes.values()) > self._quota_bytes:
                self.result.over_quota.append(name)
                return
            for target, size in sizes.items():
                _fetch_file(line, f"{entry.address}{target.suffix}", target, size, came)
                self._used_bytes[entry.folder] += size
        except LineError:
            raise
        except InterplayError as error:
            self.result.refused[name] = str(error)
            return
        self.result.fetched.append(name)

    def _used(self, folder: str) -> int:
        """Create and lock a folder; return the size of its recordings in bytes."""
        if folder not in self._used_bytes:
            place = self._root / folder
            place.mkdir(parents=True, exist_ok=True)
            busy = f"another process fetches recordings to {place}\nWait until it ends, or name another folder with --out."
            self.enter_context(alone(place / _LOCK, otherwise=RecordingsError(busy)))
            self._used_bytes[folder] = sum(path.stat().st_size for path in place.iterdir() if path.suffix in ENDINGS)
        return self._used_bytes[folder]


def _fetch_file(line: Line, address: str, target: Path, size: int, came: Callable[[], None]) -> None:
    """Fetch one file, or continue an interrupted one; an unfinished file of another size is an old version and is not used."""
    part = target.with_name(f".{target.name}.{size}.part")
    for other in target.parent.glob(f".{target.name}.*.part"):
        if other != part or other.stat().st_size > size:
            other.unlink()
    line.file(address, part, size, lambda _: came())
    to_disk(part)
    part.replace(target)
    to_disk(target.parent)


def _size(line: Line, address: str) -> int:
    size = line.length(address)
    if not size:
        what = "is empty" if size == 0 else "has no size: its server does not state one"
        raise RecordingsError(f"{address} {what}\nCheck the list; a file whose size is unknown cannot be checked.")
    return size


def _line(sleep: Callable[[float], None]):
    return Line.to("", {}, _refusal, sleep)


def _refusal(answer: httpx.Response, body: bytes) -> InterplayError:
    if answer.status_code in (404, 410):
        return RecordingsError(
            f"{answer.url} was not found (the server answers {answer.status_code})\nCheck the list, or fetch a newer one."
        )
    if answer.is_redirect:
        return RecordingsError(f"{answer.url} has moved to {answer.headers.get('Location', '')[:200]}\nGive that address.")
    return RecordingsError(f"{answer.url}: the server answers {answer.status_code}\nCheck the list, or try again later.")
