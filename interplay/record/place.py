"""The archive of jobs in other processes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from interplay.jobs import Place
from interplay.record.archive import Archive, open


def place_of(archive: Archive) -> Place:
    return Place(archive.root.resolve(), archive.database.address)


@contextmanager
def archive_of_job() -> Iterator[Archive]:
    """Open the archive that the environment of this process names."""
    place = Place.of_environment()
    archive = open(place.data, database=place.database)
    try:
        yield archive
    finally:
        archive.close()
