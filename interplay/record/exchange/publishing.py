"""Offer episodes to other servers and people: a list of the episodes that may be released, their files, and a zip of all.

In these files people have pseudonyms; the file of an episode without people is given unchanged. Each copy is made once and kept
in `released/` of the data folder, so that an interrupted download continues with the same bytes.
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from interplay.errors import NotFoundError
from interplay.files import replacing, sha256_of
from interplay.record.archive import Archive, Released
from interplay.record.errors import RecordingError
from interplay.record.exchange.pseudonyms import Pseudonyms, open_pseudonyms
from interplay.record.exchange.queries import Queries
from interplay.record.exchange.rows import facts_of
from interplay.record.format.schema import DIGESTS_KEY, METADATA_KEY
from interplay.record.sealed.episode import Episode, missing
from interplay.record.sealed.seal import HashingFile, episode_writer

log = logging.getLogger("interplay.record")
FOLDER = "released"
_OWNER = "owner."
_HIDDEN = ("participant_id", "session_id")
"""Keys of a file's facts that have a meaning only in this data folder."""


class Copy(NamedTuple):
    """A file that may be given to others."""

    path: Path
    sha256: str
    size_bytes: int


def copy_of(archive: Archive, episode: Episode, pseudonyms: Pseudonyms) -> Copy:
    """Return the file of an episode for others; it is made if it is missing. MissingFileError: if the recording is not here."""
    if not episode.path.exists():
        raise missing(episode.path)
    names = {
        held.actor: shown for held in episode.seats if (shown := pseudonyms.player(held.actor, held.actor_kind)) != held.actor
    }
    known = all(held.participant_id is None for held in episode.seats)
    if not names and known and episode.sha256 is not None and episode.size_bytes is not None:
        return Copy(episode.path, episode.sha256, episode.size_bytes)
    # Other names or another file of the episode make another copy.
    kind = hashlib.sha256(f"{episode.sha256} {sorted(names.items())}".encode()).hexdigest()[:16]
    path = archive.root / FOLDER / f"{episode.id}-{kind}.parquet"
    try:
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            _write(episode, path, names)
        return Copy(path, sha256_of(path), path.stat().st_size)
    except OSError as error:
        raise RecordingError(
            f"cannot write a copy of episode {episode.id} to {path.parent}: {error.strerror or error}\nFree some space there."
        ) from error


def _write(episode: Episode, path: Path, names: Mapping[str, str]) -> None:
    with pq.ParquetFile(episode.path) as source, replacing(path) as part:
        schema = source.schema_arrow.remove_metadata()
        told = json.loads((source.metadata.metadata or {})[METADATA_KEY])
        metadata = json.dumps(_renamed(told, names))
        if named := [name for name in names if f'"{name}"' in metadata]:
            raise RecordingError(f"episode {episode.id} names {named[0]} where no name is expected, so it is not released")
        file = HashingFile(part)
        try:
            with episode_writer(file, schema) as writer:
                for group in range(source.num_row_groups):
                    table = source.read_row_group(group).replace_schema_metadata(None)
                    for index, field in enumerate(schema):
                        if field.name.startswith(_OWNER):
                            owners = [names.get(name, name) for name in table.column(index).to_pylist()]
                            table = table.set_column(index, field, pa.array(owners, field.type))
                    writer.write_table(table, row_group_size=max(1, table.num_rows))
                    file.mark()
                writer.add_key_value_metadata({METADATA_KEY: metadata, DIGESTS_KEY: json.dumps(file.marks)})
        finally:
            file.close()


def _renamed(value: Any, names: Mapping[str, str], key: str = "") -> Any:
    """Return JSON values with names replaced, and without numbers that have a meaning only in this data folder."""
    if key in _HIDDEN:
        return None
    if isinstance(value, dict):
        return {name: _renamed(part, names, name) for name, part in value.items()}
    if isinstance(value, list):
        return [_renamed(part, names) for part in value]
    return names.get(value, value) if isinstance(value, str) and key in ("actor", "name") else value


PAGE_EPISODES = 100
_CHUNK_BYTES = 1 << 18


class Offered(NamedTuple):
    """An episode that others may have, and its file."""

    id: str
    task: str
    file: Copy


class OfferedPage(NamedTuple):
    """One page of a list: its episodes, the number of all episodes, the number withheld, and the offset of the next page."""

    episodes: list[Offered]
    num_episodes: int
    num_withheld: int
    following: int | None


class Publishing:
    """Offers episodes of one archive to others."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive

    def page(self, task: str | None, where: Sequence[str], query: str | None, offset: int) -> OfferedPage:
        """Return a page of the episodes that match, oldest first, with the hash of each file."""
        found = self._released(task, where, query, PAGE_EPISODES, offset)
        pseudonyms = open_pseudonyms(self._archive.root)
        episodes = [
            Offered(episode.id, episode.task_id, copy_of(self._archive, episode, pseudonyms)) for episode in _here(found)
        ]
        stop = offset + len(found.episodes)
        return OfferedPage(
            episodes, found.num_released, found.num_withheld, stop if found.episodes and stop < found.num_released else None
        )

    def file(self, episode_id: str) -> Copy:
        """Return the file of one episode (NotFoundError: if there is no such episode, or it may not be released)."""
        found = self._archive.released(ids=[episode_id])
        if not found.episodes:
            raise NotFoundError(f"episode {episode_id} may not be released: somebody in it did not agree, or it has no file")
        return copy_of(self._archive, found.episodes[0], open_pseudonyms(self._archive.root))

    def zipped(self, task: str | None, where: Sequence[str], query: str | None = None) -> Iterator[bytes]:
        """Yield a zip of every file that matches, with `episodes.json` (facts of each episode); it is made while it is read."""
        found = self._released(task, where, query, None, 0)
        return self._zip(found)

    def _zip(self, found: Released) -> Iterator[bytes]:
        pseudonyms, told = open_pseudonyms(self._archive.root), []
        sink = _Sink()
        with zipfile.ZipFile(sink, "w", zipfile.ZIP_STORED) as archive:
            for episode in _here(found):
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


def _here(found: Released) -> Iterator[Episode]:
    """Yield the episodes whose recordings are on this server; the others are left out and logged."""
    for episode in found.episodes:
        if not episode.is_lost:
            yield episode
        else:
            log.warning("episode %s is not offered: its recording is not on this server", episode.id)


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
