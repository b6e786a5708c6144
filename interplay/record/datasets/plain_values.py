"""Values of foreign pickles, which `unpickler` reads in a process of its own and hands over as JSON and arrays."""

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
    """Limits of the process that reads.

    Attributes:
        memory_bytes: Of its address space; a game of 28 minutes needs 2 GB.
        time_s: A game of 28 minutes takes two minutes.
    """

    memory_bytes: int = 4 << 30
    time_s: float = 1200


SMALL = Limits(1 << 28, 20)
"""For files of some kilobytes."""


class Refused(RecordingError):
    """A file that is not a list of plain values, or asks for too much."""


@dataclass(frozen=True)
class Held:
    """An array, whose elements are compressed."""

    shape: tuple[int, ...]
    dtype: np.dtype
    order: Any
    packed: memoryview

    def array(self) -> np.ndarray:
        return np.frombuffer(isal_zlib.decompress(self.packed), self.dtype).reshape(self.shape, order=self.order)


def read_values(path: Path, limits: Limits = Limits()) -> Any:
    """The value of a pickle, which may be compressed by bzip2 or gzip, as JSON has it: tuples as lists, keys as text.

    Arrays and bytes are `Held`, numbers of NumPy are numbers, moments are `datetime`.

    Raises:
        Refused: If it names anything else, is cut off or malformed, or is beyond the limits. Nothing that it names was called.
        OSError: If it cannot be opened.
    """
    with path.open("rb") as file:
        found = _read(limits, [], stdin=file)
    if isinstance(found, str):
        raise Refused(found)
    return found[0]


def read_each(pickles: Sequence[bytes], limits: Limits = SMALL) -> list[Any]:
    """The value of each of many small pickles; a `Refused` in its place, not raised, where one is refused.

    Raises:
        Refused: If one of them ended the process that reads them all.
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
