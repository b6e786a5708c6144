"""The mirror: journals of live games are copied into the database, so that another server can continue a game whose server,
with its disk, is gone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from interplay.record import journal
from interplay.store import Database, games

MAX_PART_BYTES = 1 << 20
"""Largest part of a journal in one row."""
MAX_COPIED_BYTES = 8 << 20
"""Number of bytes after which a copy is written, before more is read."""


class Mirror:
    """Copies of the journals that one server writes. Only one thread may use it."""

    def __init__(self, folder: Path, database: Database, node: str) -> None:
        self._folder, self._database, self._node = folder, database, node
        self._copied: dict[str, dict[int, int]] = {}
        """Episode -> segment -> number of bytes that are copied."""

    def copy(self, held: Mapping[str, int]) -> None:
        """Copy what was added to the journals of the games `held` (episode -> epoch). Raises a database error if the database
        cannot be reached; the next call then copies the same again."""
        self._copied = {episode: self._copied.get(episode, {}) for episode in held}
        parts: list[games.Part] = []
        size = 0
        for path in self._folder.glob("[!.]*.arrows"):
            episode, segment = journal.episode_of(path), int(path.name.split(".")[-2])
            if episode not in held:
                continue
            try:
                with path.open("rb") as file:
                    file.seek(self._copied[episode].get(segment, 0))
                    while data := file.read(MAX_PART_BYTES):
                        parts.append(games.Part(episode, held[episode], segment, file.tell() - len(data), data))
                        size += len(data)
                        if size >= MAX_COPIED_BYTES:
                            self._write(parts)
                            parts, size = [], 0
            except FileNotFoundError:  # sealed meanwhile
                continue
        self._write(parts)

    def _write(self, parts: list[games.Part]) -> None:
        if not parts:
            return
        with self._database.write() as session:
            games.mirror(session, self._node, parts)
        for part in parts:
            self._copied[part.episode][part.segment] = part.start + len(part.data)


def bring_back(folder: Path, database: Database, episode: str) -> None:
    """Write the mirrored journal of an episode to `folder`. Segments there that begin with the same bytes stay."""
    with database.read() as session:
        parts = list(games.mirrored(session, episode))
    segments: dict[int, bytearray] = {}
    for segment, start, data in parts:
        content = segments.setdefault(segment, bytearray())
        if start <= len(content):  # after a gap, nothing can be read
            content[start : start + len(data)] = data
    for path in journal.segments(folder, episode):
        if int(path.name.split(".")[-2]) not in segments:
            path.unlink()
    for segment, content in segments.items():
        path = folder / f"{episode}.{segment}.arrows"
        if path.exists() and path.read_bytes().startswith(content):
            continue
        draft = path.with_name(f".{path.name}.mirror")
        draft.write_bytes(content)
        draft.rename(path)
