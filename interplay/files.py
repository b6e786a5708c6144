"""Files that appear whole or not at all, whoever is killed while writing them and whenever the power fails."""

from __future__ import annotations

import errno
import fcntl
import glob
import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A place beside `path` to write to; it becomes `path`, on disk for good, when the block ends, and goes when it raises.

    Raises:
        OSError: If the file cannot be put in place.
    """
    part = part_of(path)
    try:
        yield part
        to_disk(part)  # before it gets its name: a name may reach the disk earlier than what it stands for
        part.replace(path)
        to_disk(path.parent)
    finally:
        part.unlink(missing_ok=True)


def part_of(path: Path) -> Path:
    """A place beside `path` that nobody else is given: its name begins with a dot and ends on `.part`."""
    return path.with_name(f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}.part")


def remove_parts(path: Path) -> None:
    """Remove what killed writers of `path` left; for its only writer."""
    for part in path.parent.glob(f".{glob.escape(path.name)}.*part"):
        part.unlink(missing_ok=True)


@contextmanager
def alone(lock: Path, *, otherwise: Exception | None = None) -> Iterator[None]:
    """Of several processes that want to be in this block with the same lock file, one is, however the others end.

    They wait for each other, or raise `otherwise` where that is given.

    Raises:
        OSError: If the lock file, which stays, cannot be made.
    """
    with lock.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX if otherwise is None else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            assert otherwise is not None
            raise otherwise from None
        yield


def to_disk(path: Path) -> None:
    """Wait until a file's bytes, or the names in a folder, are on disk for good."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sha256_of(path: Path) -> str:
    """The hash of a file's bytes, as 64 digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file.

    Raises:
        OSError: If it cannot be written. The file is as it was.
    """
    with replacing(path) as part:
        part.write_bytes(data)


def json_text(document: Any, **options: Any) -> str:
    """A document as JSON, which has no word for NaN and infinite numbers: they become null. `options` as of `json.dumps`.

    >>> json_text({"loss": float("inf"), "accuracy": 0.5})
    '{"loss": null, "accuracy": 0.5}'
    """
    try:
        return json.dumps(document, allow_nan=False, **options)
    except ValueError:
        plain = json.loads(json.dumps(document, **options), parse_constant=lambda name: None)
        return json.dumps(plain, allow_nan=False, **options)


def write_json(path: Path, document: Any, *, indent: int | None = 1) -> None:
    """Write a document as JSON in UTF-8, characters as they are; see `json_text`.

    Raises:
        OSError: If it cannot be written. The file is as it was.
        TypeError: If something in it is not a JSON value. The file is as it was.
    """
    write_bytes(path, (json_text(document, indent=indent, ensure_ascii=False) + "\n").encode())


def is_disk_full(error: BaseException | None) -> bool:
    """Whether an error, or one it came of, says that a disk, a quota or a file's limit leaves no room for what was written."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            return True
        # SQLite names a full disk; a full quota is to it a write that failed.
        if getattr(error, "sqlite_errorcode", None) in _SQLITE_FULL or getattr(error, "sqlstate", None) == _POSTGRES_FULL:
            return True
        error = error.__cause__ or error.__context__
    return False


_SQLITE_FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE)
_POSTGRES_FULL = "53100"
"""disk_full (PostgreSQL, appendix A)."""


def keep_to_owner(path: Path) -> bool:
    """Let nobody but its owner read or write a file, if it is ours; returns whether anybody else could before."""
    try:
        found = path.stat()
        if not found.st_mode & 0o077 or found.st_uid != os.geteuid():
            return False
        path.chmod(found.st_mode & 0o700)
    except OSError:  # not there
        return False
    return True
