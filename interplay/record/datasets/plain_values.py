"""Read values of foreign pickles: `unpickler` reads them in a separate process and returns JSON and arrays."""

from __future__ import annotations

import base64
import json
import secrets
import struct
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from isal import isal_zlib

from interplay.record.errors import RecordingError


@dataclass(frozen=True)
class Limits:
    """Limits of the process that reads a pickle.

    Attributes:
        memory_bytes: Size of its address space; a game of 28 minutes needs 2 GB.
        time_s: Time until it is stopped; a game of 28 minutes takes two minutes.
    """

    memory_bytes: int = 4 << 30
    time_s: float = 1200


SMALL = Limits(1 << 28, 20)
"""Limits for files of some kilobytes."""


class Refused(RecordingError):
    """A file is not a list of plain values, or asks for too much memory or time."""


@dataclass(frozen=True)
class Held:
    """An array whose elements are kept compressed."""

    shape: tuple[int, ...]
    dtype: np.dtype
    order: Any
    packed: memoryview

    def array(self) -> np.ndarray:
        return np.frombuffer(isal_zlib.decompress(self.packed), self.dtype).reshape(self.shape, order=self.order)


def read_values(path: Path, limits: Limits = Limits()) -> Any:
    """Return the value of a pickle as JSON would have it: tuples become lists, keys become texts. bzip2 and gzip are unpacked.

    Arrays and bytes become `Held`, NumPy's numbers become Python numbers, and points in time become `datetime`.

    Raises:
        Refused: If the file names forbidden code, is cut off or malformed, or exceeds the limits. No forbidden code has run.
        OSError: If the file cannot be opened.
    """
    with path.open("rb") as file:
        found = _read(limits, [], stdin=file)
    if isinstance(found, str):
        raise Refused(found)
    return found[0]


def read_each(pickles: Sequence[bytes], limits: Limits = SMALL) -> list[Any]:
    """Return the value of each of many small pickles. A refused pickle gives a `Refused` in the list, which is not raised.

    Raises:
        Refused: If one pickle ended the process that reads all of them.
    """
    document = json.dumps([base64.b64encode(one).decode() for one in pickles])
    found = _read(limits, ["each"], input=document.encode())
    return [Refused(one) if isinstance(one, str) else one[0] for one in found]


def _read(limits: Limits, arguments: list[str], **source: Any) -> Any:
    tag = secrets.token_hex(8)
    script = Path(__file__).with_name("unpickler.py")
    command = [sys.executable, "-P", str(script), tag, str(limits.memory_bytes), *arguments]
    try:
        done = subprocess.run(command, **source, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=limits.time_s)
    except subprocess.TimeoutExpired:
        raise Refused(f"it was not read within {limits.time_s:g} s, which such a file never takes\nFetch it again.") from None
    if done.returncode != 0:
        raise Refused(f"the process that read it ended with status {done.returncode}: it asks for too much\nFetch it again.")
    content = memoryview(done.stdout)
    (size,) = struct.unpack("<Q", content[-8:])
    return json.loads(bytes(content[-8 - size : -8]), object_hook=lambda found: _value(found, tag, content))


def _value(found: dict[str, Any], tag: str, content: memoryview) -> Any:
    entry = found.get(tag)
    if entry is None:
        return found
    if isinstance(entry, str):
        return datetime.fromisoformat(entry)
    place, size, kind, shape, order = entry
    held = Held(tuple(shape), np.dtype(kind), order, content[place : place + size])
    return held if shape else held.array().item()
