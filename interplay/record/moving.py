"""Bring the rows and files of a data folder to another database and to a store, and prove that the copies are equal."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from interplay.files import sha256_of
from interplay.record.archive import DESCRIPTIONS, Archive
from interplay.record.errors import RecordingError
from interplay.store import Database, games
from interplay.store.places import copying, media
from interplay.store.places.blobs import FOLDERS, StoredBlobs, check_blobs_address
from interplay.wording import amount

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

_FILES_AT_ONCE = 8

Report = Callable[[str, int, int], None]
"""Function that is called with the name of the present step, the amount that is done, and the total amount."""


class MoveError(RecordingError):
    """The data cannot be brought to another place; the source stays as it is."""


@dataclass(frozen=True)
class Moved:
    """The contents of the new places.

    Attributes:
        num_rows: Rows in the other database, equal to those of the source; 0 if rows were not moved.
        num_files, size_bytes: Files in the store, equal to those of the source.
        num_put: The files among them that were put by this call; the others were there before.
        missing: Keys of files that rows name, but that the source does not have.
    """

    num_rows: int
    num_files: int
    size_bytes: int
    num_put: int
    missing: list[str]


def move(source: Archive, target: Database | None, address: str | None, report: Report = lambda *_: None) -> Moved:
    """Copy all rows to another database, all files to a store, or both. Nobody else may use the source or the targets.

    Files come first, then all rows in one transaction: a call that is killed leaves the other database empty, and the next
    call continues with the files that are not in the store yet. At the end, the database of the rows notes the store.

    Args:
        target: Database for the rows; None leaves them where they are.
        address: Store for the files of episodes, films and models, `s3://BUCKET/PREFIX`; None, or the source's own store,
            leaves them where they are.
    Raises:
        MoveError: If a target holds other data, if a server runs on the source's database, or if files came meanwhile.
        StoreError: If the other database refuses a row.
        BlobsError: If the store cannot be used.
    """
    _check_no_server(source)
    address = None if address is None else check_blobs_address(address)
    if address == source.blobs.address:
        address = None
    has_rows = target is not None and _has_rows(source, target, report)
    files = _Files(source, address) if address is not None else None
    keys = _keys(source) if files is not None else []
    files_there = [] if files is None else files.put(keys, report)
    num_rows = 0
    if target is not None:
        with source.database.read() as old, target.write() as new:
            num_rows = copying.num_rows(old)
            if not has_rows:
                copying.copy_rows(old, new, _counting("copying rows", num_rows, report))
            if files is not None:
                _check_none_came(old, keys)
            _note(new, address or source.blobs.address)
    else:
        with source.database.write() as session:
            if files is not None:
                _check_none_came(session, keys)
            _note(session, address)
    there = [one for one in files_there if one is not None]
    missing = [key for key, one in zip(keys, files_there, strict=True) if one is None]
    return Moved(num_rows, len(there), sum(one.size_bytes for one in there), sum(one.was_put for one in there), missing)


def _check_no_server(source: Archive) -> None:
    with source.database.read() as session:
        alive = [one.node for one in games.nodes(session) if one.is_alive]
    if alive:
        raise MoveError(
            f"servers run on this database: {', '.join(alive)}; nothing was changed\n"
            "Stop them first: rows and files that they write meanwhile would be lost."
        )


def _check_none_came(session: Session, keys: list[str]) -> None:
    """Raise MoveError if rows of the source name files that were not there when the files were put."""
    if came := media.keys(session) - set(keys):
        raise MoveError(
            f"{amount(len(came), 'file')} came while the others were put, such as {min(came)}; no row was moved\n"
            "Stop what records, learns or makes films here, and run the command again: it continues."
        )


def _note(session: Session, address: str | None) -> None:
    if address is not None:
        media.note_blobs(session, address)


def _has_rows(source: Archive, target: Database, report: Report) -> bool:
    """Whether another database has the rows of the source already. Raises MoveError if it holds other rows."""
    with target.read() as session:
        num_there = copying.num_rows(session)
        if num_there == 0:
            return False
        with source.database.read() as old:
            total = num_there + copying.num_rows(old)
            count = _counting("comparing rows", total, report)
            if copying.contents_of(session, count) == copying.contents_of(old, count):
                return True
    raise MoveError(
        f"the database {target.engine.url!r} holds other data ({num_there:,} rows); nothing was changed\n"
        "Make an empty database, and name that one with --to."
    )


def _keys(source: Archive) -> list[str]:
    """Return the keys of all files that rows name, and of finished models (`models/NAME/...`)."""
    models = {key for key in source.blobs.keys("models") if key.count("/") == 2}
    finished = {key.rpartition("/")[0] for key in models if key.rpartition("/")[2] in DESCRIPTIONS}
    with source.database.read() as session:
        return sorted(media.keys(session) | {key for key in models if key.rpartition("/")[0] in finished})


class _There(NamedTuple):
    """A file that is in the store; `was_put`: by this call."""

    size_bytes: int
    was_put: bool


class _Files:
    """Puts files of a source into a store."""

    def __init__(self, source: Archive, address: str) -> None:
        self._source = source
        self._address = address

    def put(self, keys: list[str], report: Report) -> list[_There | None]:
        """Put the files that are not there, and compare all; None stands for a file that the source does not have."""
        with tempfile.TemporaryDirectory() as nowhere:  # what is fetched from the store does not touch the source
            store = StoredBlobs(Path(nowhere), self._address)
            there = {key for folder in FOLDERS for key in store.keys(folder)}
            if others := there - set(keys):
                raise MoveError(
                    f"the store {self._address} holds other files, such as {min(others)}; nothing was changed\n"
                    "Name another bucket or prefix with --blobs."
                )
            count = _counting("putting files", len(keys), report)
            found = []
            with ThreadPoolExecutor(_FILES_AT_ONCE) as pool:
                try:
                    for one in pool.map(partial(self._put_one, store, there), keys):
                        found.append(one)
                        count(1)
                except BaseException:
                    pool.shutdown(cancel_futures=True)
                    raise
            return found

    def _put_one(self, store: StoredBlobs, there: set[str], key: str) -> _There | None:
        file = self._source.blobs.path(key)
        if not file.exists():
            return None
        if key not in there:
            store.put(key, file)
        if store.sha256(key) != sha256_of(file):
            raise MoveError(
                f"the store {self._address} has other bytes under {key}; no row was moved\n"
                "Name another bucket or prefix with --blobs, or delete this file there and run the command again."
            )
        return _There(file.stat().st_size, key not in there)


def _counting(what: str, total: int, report: Report) -> Callable[[int], None]:
    done = 0
    report(what, 0, total)

    def count(more: int) -> None:
        nonlocal done
        done += more
        report(what, done, total)

    return count
