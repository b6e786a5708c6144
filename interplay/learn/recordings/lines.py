"""Lines of a recording: one JSON object a frame, read one after the other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

_decode = msgspec.json.Decoder().decode


def read_lines(path: Path) -> Iterator[dict[str, Any] | None]:
    """What each line of a recording says; None for one that is no JSON object. Empty lines are left out."""
    with path.open("rb") as lines:
        for line in lines:
            if line.strip():
                yield _object(line)


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        frame = _decode(line)
    except (msgspec.DecodeError, RecursionError):
        try:
            frame = json.loads(line)  # which takes NaN and other things that the quick reader refuses
        except (ValueError, RecursionError):
            return None
    return frame if isinstance(frame, dict) else None
