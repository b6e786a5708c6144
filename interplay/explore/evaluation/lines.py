"""A file of JSON lines that one process writes: each line outlives the process, and a torn last one is cut off."""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from interplay.errors import InterplayError


class LinesError(InterplayError):
    """A file of lines that another process writes, or that cannot be written."""


class LineFile:
    """A file of JSON lines, locked, to be closed.

    Args:
        path: The file; made if it is not there.

    Attributes:
        whole: What it held when it was opened, a torn last line left out.
    Raises:
        LinesError: If another process writes it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._file)
            raise LinesError(f"another process writes {path}\nWait until it is done, or stop it.") from None
        whole = path.read_bytes()
        self.whole = whole[: whole.rfind(b"\n") + 1]
        os.ftruncate(self._file, len(self.whole))

    def append(self, line: Mapping[str, Any]) -> None:
        """Write one more line; when this returns it outlives the process.

        Raises:
            LinesError: If there is no room for it; nothing of it is written then.
        """
        data = json.dumps(line).encode() + b"\n"
        size = os.fstat(self._file).st_size
        try:
            if os.write(self._file, data) < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            os.ftruncate(self._file, size)
            raise LinesError(f"{error.strerror}\n{self.path}: make room, and run the same command again.") from None

    def close(self) -> None:
        """Let others write it."""
        os.close(self._file)
