"""Episodes for other servers and people: a list of those that may be released, their files, and all of them in one zip."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from interplay.errors import NotFoundError
from interplay.record.archive import Archive, Released
from interplay.record.exchange.copies import Copy, copy_of
from interplay.record.exchange.pseudonyms import open_pseudonyms
from interplay.record.exchange.queries import Queries
from interplay.record.exchange.rows import facts_of

PAGE_EPISODES = 100
_CHUNK_BYTES = 1 << 18


class Offered(NamedTuple):
    """An episode that others may have, and its file."""

    id: str
    task: str
    file: Copy


class OfferedPage(NamedTuple):
    """A page of a list: its episodes, how many there are, how many are withheld, and the offset of the next page."""

    episodes: list[Offered]
    num_episodes: int
    num_withheld: int
    following: int | None


class Publishing:
    """Episodes of one archive for others."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive

    def page(self, task: str | None, where: Sequence[str], query: str | None, offset: int) -> OfferedPage:
        """A page of the episodes that fit, oldest first, with the hash of each file."""
        found = self._released(task, where, query, PAGE_EPISODES, offset)
        pseudonyms = open_pseudonyms(self._archive.root)
        episodes = [
            Offered(episode.id, episode.task_id, copy_of(self._archive, episode, pseudonyms)) for episode in found.episodes
        ]
        stop = offset + len(episodes)
        return OfferedPage(
            episodes, found.num_released, found.num_withheld, stop if episodes and stop < found.num_released else None
        )

    def file(self, episode_id: str) -> Copy:
        found = self._archive.released(ids=[episode_id])
        if not found.episodes:
            raise NotFoundError(f"episode {episode_id} may not be released: somebody in it did not agree, or it has no file")
        return copy_of(self._archive, found.episodes[0], open_pseudonyms(self._archive.root))

    def zipped(self, task: str | None, where: Sequence[str], query: str | None = None) -> Iterator[bytes]:
        """A zip of every file that fits, and `episodes.json` with the facts of each; made while it is read."""
        found = self._released(task, where, query, None, 0)
        return self._zip(found)

    def _zip(self, found: Released) -> Iterator[bytes]:
        pseudonyms, told = open_pseudonyms(self._archive.root), []
        sink = _Sink()
        with zipfile.ZipFile(sink, "w", zipfile.ZIP_STORED) as archive:
            for episode in found.episodes:
                copy = copy_of(self._archive, episode, pseudonyms)
                name = f"{episode.task_id}/{episode.id}.parquet"
                told.append(facts_of(episode, pseudonyms) | {"file": name, "sha256": copy.sha256})
                episode.close()
                with archive.open(zipfile.ZipInfo(name), "w", force_zip64=True) as entry, copy.path.open("rb") as file:
                    while chunk := file.read(_CHUNK_BYTES):
                        entry.write(chunk)
                        yield sink.taken()
                yield sink.taken()
            document = {"episodes": told, "num_withheld": found.num_withheld}
            archive.writestr(zipfile.ZipInfo("episodes.json"), json.dumps(document, indent=1))
        yield sink.taken()

    def _released(self, task: str | None, where: Sequence[str], query: str | None, limit: int | None, offset: int) -> Released:
        saved = None if query is None else Queries(self._archive).find(query)
        return self._archive.released(
            task=task, where=where, saved=None if saved is None else (saved.name, saved.version), limit=limit, offset=offset
        )


class _Sink(io.RawIOBase):
    def __init__(self) -> None:
        super().__init__()
        self._waiting = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data) -> int:
        self._waiting += data
        return len(data)

    def taken(self) -> bytes:
        piece, self._waiting = bytes(self._waiting), bytearray()
        return piece
