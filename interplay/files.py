"""Files that appear whole or not at all, even if a process is killed while writing, or the power fails."""

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
    """A temporary path beside `path`; it becomes `path`, on disk for good, when the block ends, and is removed when it
    raises."""
    part = part_of(path)
    try:
        yield part
        to_disk(part)  # before it gets its name: a name may reach the disk earlier than what it stands for
        part.replace(path)
        to_disk(path.parent)
    finally:
        part.unlink(missing_ok=True)


def part_of(path: Path) -> Path:
    """A unique path beside `path`: its name begins with a dot and ends on `.part`."""
    return path.with_name(f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}.part")


def remove_parts(path: Path) -> None:
    """Remove temporary files of killed writers of `path`; for its only writer."""
    for part in path.parent.glob(f".{glob.escape(path.name)}.*part"):
        part.unlink(missing_ok=True)


@contextmanager
def alone(lock: Path, *, otherwise: Exception | None = None) -> Iterator[None]:
    """Let one process at a time into this block, by a lock file, even if others are killed; they wait, or raise `otherwise`."""
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
    """Write a file; on an OSError it is as it was."""
    with replacing(path) as part:
        part.write_bytes(data)


def json_text(document: Any, **options: Any) -> str:
    """A document as JSON; NaN and infinite numbers become null. `options` as of `json.dumps`.

    >>> json_text({"loss": float("inf"), "accuracy": 0.5})
    '{"loss": null, "accuracy": 0.5}'
    """
    try:
        return json.dumps(document, allow_nan=False, **options)
    except ValueError:
        plain = json.loads(json.dumps(document, **options), parse_constant=lambda name: None)
        return json.dumps(plain, allow_nan=False, **options)


def write_json(path: Path, document: Any, *, indent: int | None = 1) -> None:
    """Write a document as JSON in UTF-8; see `json_text`. On an OSError or TypeError the file is as it was."""
    write_bytes(path, (json_text(document, indent=indent, ensure_ascii=False) + "\n").encode())


def is_disk_full(error: BaseException | None) -> bool:
    """Whether an error, or its cause, says that a disk, a quota or a file's limit leaves no room."""
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
