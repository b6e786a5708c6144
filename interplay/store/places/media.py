"""Rows about files: which films were made, and which store has the files of this database."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import delete, exists, select
from sqlalchemy.orm import Session

from interplay.store.models import EpisodeRow, MediaFile, Place

_BLOBS = "blobs"
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
    for name in names:
        session.merge(MediaFile(name=name, made_at=now))


def forget(session: Session, name: str) -> None:
    session.execute(delete(MediaFile).where(MediaFile.name == name))


def blobs_address(session: Session) -> str | None:
    """Return the address of the store that has the files of this database; None if they are in data folders."""
    return session.scalar(select(Place.address).where(Place.kind == _BLOBS))


def note_blobs(session: Session, address: str) -> None:
    session.merge(Place(kind=_BLOBS, address=address))


def keys(session: Session) -> set[str]:
    """Return the paths, relative to the data folder, of all files that rows name: sealed episodes, videos, films."""
    films = {f"media/{name}.mp4" for name in session.scalars(select(MediaFile.name))}
    return films | set(session.scalars(select(EpisodeRow.path).where(EpisodeRow.path != "")))


def names_films(session: Session) -> bool:
    return bool(session.scalar(select(exists().select_from(MediaFile))))


def names_files(session: Session) -> bool:
    """Return whether any row names a file."""
    return names_films(session) or bool(session.scalar(select(exists().where(EpisodeRow.path != ""))))
