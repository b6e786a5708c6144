"""Lines of a recording: one JSON object a frame, read one after the other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from interplay.learn.recordings.names import RecordingsError

_decode = msgspec.json.Decoder().decode


def read_lines(path: Path) -> Iterator[dict[str, Any] | None]:
    """What each line of a recording says; None for one that is no JSON object. Empty lines are left out.

    Raises:
        RecordingsError: If the file cannot be read.
    """
    for line in raw_lines(path):
        if line.strip():
            yield _object(line)


def raw_lines(path: Path) -> Iterator[bytes]:
    """Each line as it stands, also empty ones.

    Raises:
        RecordingsError: If the file cannot be read.
    """
    try:
        with path.open("rb") as lines:
            yield from lines
    except OSError as error:
        raise RecordingsError(f"{path} cannot be read: {error.strerror or error}\nFetch it again, or remove it.") from error


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        frame = _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        try:
            frame = json.loads(line)  # which takes NaN and other things that the quick reader refuses
        except (ValueError, RecursionError):
            return None
    return frame if isinstance(frame, dict) else None
