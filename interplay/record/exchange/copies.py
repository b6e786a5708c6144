"""Sealed episodes for others: people under pseudonyms. An episode without people is given as it is.

Copies are made once and kept in `released/` of the data folder, so that a download continues with the same bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from interplay.files import replacing, sha256_of
from interplay.record.archive import Archive
from interplay.record.errors import RecordingError
from interplay.record.exchange.pseudonyms import Pseudonyms
from interplay.record.format.schema import DIGESTS_KEY, METADATA_KEY
from interplay.record.sealed.episode import Episode
from interplay.record.sealed.seal import HashingFile, episode_writer

FOLDER = "released"
_OWNER = "owner."
_HIDDEN = ("participant_id", "session_id")
"""Keys of a file's facts that mean something in this data folder alone."""


class Copy(NamedTuple):
    """A file for others."""

    path: Path
    sha256: str
    size_bytes: int


def copy_of(archive: Archive, episode: Episode, pseudonyms: Pseudonyms) -> Copy:
    """The file of an episode for others, made when missing."""
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
    """JSON values with other names, and without numbers that mean something here alone."""
    if key in _HIDDEN:
        return None
    if isinstance(value, dict):
        return {name: _renamed(part, names, name) for name, part in value.items()}
    if isinstance(value, list):
        return [_renamed(part, names) for part in value]
    return names.get(value, value) if isinstance(value, str) and key in ("actor", "name") else value
