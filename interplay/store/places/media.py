"""Rows about files: which films were made, and which store has the files of this database."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import bindparam, delete, exists, select, text
from sqlalchemy.orm import Session

from interplay.store.models import EpisodeRow, MediaFile, UTCDateTime

_BLOBS = "blobs"
# Two servers may make one film, or start, at the same time; both databases have this clause, and SQLAlchemy only by dialect.
_NOTE_MADE = text(
    "INSERT INTO media_files (name, made_at) VALUES (:name, :made_at) ON CONFLICT (name) DO UPDATE SET made_at = :made_at"
).bindparams(bindparam("made_at", type_=UTCDateTime()))
_NOTE_PLACE = text(
    "INSERT INTO places (kind, address) VALUES (:kind, :address) ON CONFLICT (kind) DO UPDATE SET address = :address"
)
_MAX_NAMES = 500
"""Largest number of names in one `IN (...)`, as for ids."""


def made(session: Session, names: Iterable[str]) -> set[str]:
    """Return which of these films, clips and second files were made."""
    wanted = sorted(names)
    found: set[str] = set()
    for start in range(0, len(wanted), _MAX_NAMES):
        found |= set(session.scalars(select(MediaFile.name).where(MediaFile.name.in_(wanted[start : start + _MAX_NAMES]))))
    return found


def note_made(session: Session, names: Iterable[str], now: datetime) -> None:
    if rows := [{"name": name, "made_at": now} for name in names]:
        session.connection().execute(_NOTE_MADE, rows)


def forget(session: Session, name: str) -> None:
    session.execute(delete(MediaFile).where(MediaFile.name == name))


def blobs_address(session: Session) -> str | None:
    """Return the address of the store that has the files of this database; None if they are in data folders."""
    # As text, as in `names_films`: every process asks when it opens a database, and compiling takes longer than the rest.
    return session.connection().exec_driver_sql(f"SELECT address FROM places WHERE kind = '{_BLOBS}'").scalar()


def note_blobs(session: Session, address: str) -> None:
    session.connection().execute(_NOTE_PLACE, {"kind": _BLOBS, "address": address})


def keys(session: Session) -> set[str]:
    """Return the paths, relative to the data folder, of all files that rows name: sealed episodes, videos, films."""
    films = {f"media/{name}.mp4" for name in session.scalars(select(MediaFile.name))}
    return films | set(session.scalars(select(EpisodeRow.path).where(EpisodeRow.path != "")))


def names_films(session: Session) -> bool:
    return session.connection().exec_driver_sql("SELECT 1 FROM media_files LIMIT 1").scalar() is not None


def names_files(session: Session) -> bool:
    """Return whether any row names a file."""
    return names_films(session) or bool(session.scalar(select(exists().where(EpisodeRow.path != ""))))
