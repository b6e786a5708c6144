"""Write files completely or not at all, even if the process is killed while writing or the power fails."""

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
    """Yield a temporary path beside `path`; when the block ends, rename it to `path` and make it durable on disk.
    If the block raises, remove it."""
    part = part_of(path)
    try:
        yield part
        to_disk(part)  # before it gets its name: a name may reach the disk earlier than what it stands for
        part.replace(path)
        to_disk(path.parent)
    finally:
        part.unlink(missing_ok=True)


def part_of(path: Path) -> Path:
    """Return a unique path beside `path`; its name begins with a dot and ends with `.part`."""
    return path.with_name(f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}.part")


def remove_parts(path: Path) -> None:
    """Remove temporary files that killed writers of `path` left; only for the single writer of `path`."""
    for part in path.parent.glob(f".{glob.escape(path.name)}.*part"):
        part.unlink(missing_ok=True)


@contextmanager
def alone(lock: Path, *, otherwise: Exception | None = None) -> Iterator[None]:
    """Let only one process at a time run this block, by a lock file; the lock of a killed process is released.
    Other processes wait, or raise `otherwise` if it is given."""
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
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file. If this fails (OSError), the file keeps its old content."""
    with replacing(path) as part:
        part.write_bytes(data)


def json_text(document: Any, **options: Any) -> str:
    """Convert a document to JSON; NaN and infinite numbers become null. `options` are those of `json.dumps`.

    >>> json_text({"loss": float("inf"), "accuracy": 0.5})
    '{"loss": null, "accuracy": 0.5}'
    """
    try:
        return json.dumps(document, allow_nan=False, **options)
    except ValueError:
        plain = json.loads(json.dumps(document, **options), parse_constant=lambda name: None)
        return json.dumps(plain, allow_nan=False, **options)


def write_json(path: Path, document: Any, *, indent: int | None = 1) -> None:
    """Write a document as JSON in UTF-8; see `json_text`. After an OSError or TypeError the file keeps its old content."""
    write_bytes(path, (json_text(document, indent=indent, ensure_ascii=False) + "\n").encode())


def is_disk_full(error: BaseException | None) -> bool:
    """Return whether an error, or its cause, says that the disk, a quota or the limit on a file's size leaves no room."""
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
"""Error code `disk_full` of PostgreSQL (its manual, appendix A)."""


def keep_to_owner(path: Path) -> bool:
    """Allow only the owner to read or write a file, if this user owns it; return whether others could before."""
    try:
        found = path.stat()
        if not found.st_mode & 0o077 or found.st_uid != os.geteuid():
            return False
        path.chmod(found.st_mode & 0o700)
    except OSError:  # not there
        return False
    return True
