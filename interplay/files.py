"""Files that appear whole or not at all, whoever is killed while writing them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A place beside `path` to write to; it becomes `path` when the block ends, and goes when it raises.

    No two processes are given the same place; what one left that was killed begins with a dot and ends on `.part`.

    Raises:
        OSError: If the file cannot be put in place.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}.part")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def write_json(path: Path, document: Any, *, indent: int | None = 1) -> None:
    """Write a document as JSON in UTF-8, characters as they are.

    Raises:
        OSError: If it cannot be written.
        TypeError: If something in it is no JSON value. The file is as it was.
    """
    text = json.dumps(document, indent=indent, ensure_ascii=False) + "\n"
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")
