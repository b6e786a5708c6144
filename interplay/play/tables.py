"""The tables with which browsers draw a world. A worker writes the file once. The web process serves it under a name that is a
digest of its content, so that a page may cache it for ever."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from interplay.files import write_bytes

_NAME = re.compile(r"[0-9a-f]{16}")


def address(name: str) -> str:
    """Return the address from which browsers load the tables of this name.

    >>> address("0123456789abcdef")
    '/api/scene/tables/0123456789abcdef.bin'
    """
    return f"/api/scene/tables/{name}.bin"


def keep(root: Path, tables: bytes) -> str:
    """Write tables under the data folder, unless they exist; return their name, which is the beginning of their SHA-256."""
    name = hashlib.sha256(tables).hexdigest()[:16]
    path = root / "media" / "scene" / f"{name}.bin"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, tables)
    return name


def find(root: Path, name: str) -> Path | None:
    path = root / "media" / "scene" / f"{name}.bin"
    return path if _NAME.fullmatch(name) and path.is_file() else None
