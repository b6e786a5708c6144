"""Read a pickle in a separate process: `python unpickler.py TAG MEMORY_BYTES [each] < FILE`.

Python's own `Unpickler` reads the file, with stand-ins for the names that NumPy uses for arrays and numbers. Any other name is
refused. The operating system limits memory, and the waiting process (`plain_values`) limits time. Standard output gets
compressed arrays, then JSON, then the length of the JSON. In the JSON, an array is `{TAG: [place, size, dtype, shape, order]}`
and a point in time is `{TAG: text}`; a file cannot imitate these, because it does not know the tag.

Source: NumPy's `ndarray.__reduce__`. Python wrote protocol 3 up to version 3.7, and protocol 4 since. Protocols 0 to 2 write
bytes as a call of a codec, and protocol 5 writes arrays in another way: these protocols are refused.
"""

from __future__ import annotations

import base64
import bz2
import contextlib
import gzip
import io
import json
import math
import pickle  # of others; every name but those below is refused
import re
import resource
import struct
import sys
import zlib
from collections import OrderedDict
from datetime import UTC, datetime
from typing import Any, BinaryIO

from isal import isal_zlib

_LARGE_BYTES = 4096
_MOST_VALUES = 40_000_000
"""Largest number of values in the JSON. A game of two players for 28 minutes has 26 million values of console memory."""
_KIND = re.compile(r"b1|[iu][1248]|f[248]")
_PLAIN = "such a file holds arrays and plain values only. Nothing was run."


class Refused(Exception):
    """The file is refused; the text says why."""


class Kind:
    """Stand-in for `numpy.dtype`: the type of an array's elements."""

    def __init__(self, code: Any, *_: Any) -> None:
        if not isinstance(code, str) or not _KIND.fullmatch(code):
            raise Refused(f"its arrays are of type {str(code)[:20]!r} and not of numbers; they were not read")
        self.code = "|" + code

    def __setstate__(self, state: Any) -> None:
        if state[1] not in ("<", ">", "|", "=") or any(state[2:5]):
            raise Refused("its arrays are not of numbers; they were not read")
        self.code = state[1] + self.code[1:]

    @property
    def size_bytes(self) -> int:
        return int(self.code[2:])


class Array:
    """Stand-in for `numpy.ndarray`; its content is written to standard output as soon as it is known."""

    written: list[Any] | None = None

    def __setstate__(self, state: Any) -> None:
        _, shape, kind, is_fortran, data = state
        if not isinstance(kind, Kind) or not isinstance(data, bytes):
            raise Refused("its arrays are not of numbers; they were not read")
        if not isinstance(shape, tuple) or len(shape) > 8 or not all(type(side) is int and side >= 0 for side in shape):
            raise ValueError("an array whose shape is not a tuple of at most eight sizes")
        if math.prod(shape) * kind.size_bytes != len(data):
            raise ValueError(f"an array of shape {shape} and type {kind.code[1:]} with {len(data)} bytes")
        self.written = OUTPUT.write(data, kind.code, shape, "F" if is_fortran else "C")


def reconstruct(kind: Any, *_: Any) -> Array:
    """Stand-in for NumPy's `_reconstruct`, which makes an empty array."""
    if kind is not Array:
        raise Refused(f"it makes an array of {str(kind)[:80]}; {_PLAIN}")
    return Array()


def scalar(kind: Any, data: Any) -> Array:
    """Stand-in for NumPy's `scalar`, which makes a number: an array without dimensions."""
    number = Array()
    number.__setstate__((1, (), kind, False, data))
    return number


def moment(packed: Any, *_: Any) -> datetime:
    return datetime(packed).replace(tzinfo=UTC)  # type: ignore[call-arg]


_NAMES: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): Array,
    ("numpy", "dtype"): Kind,
    ("collections", "OrderedDict"): OrderedDict,
    ("datetime", "datetime"): moment,
} | {
    (f"numpy.{core}.multiarray", name): made
    for core in ("core", "_core")
    for name, made in (("_reconstruct", reconstruct), ("scalar", scalar))
}


class RepeatedBytes:
    """Stand-in for long bytes in the memo."""


class Memo(dict[int, Any]):
    """Values that a file may repeat by number, without pictures: no file repeats them, and 28 minutes take 10 GB."""

    def __setitem__(self, place: int, value: Any) -> None:
        last = value[-1] if isinstance(value, tuple) and value else value
        is_large = isinstance(last, bytes) and len(last) > _LARGE_BYTES
        super().__setitem__(place, RepeatedBytes() if is_large else value)


class Unpickler(pickle._Unpickler):
    """Python's `Unpickler`, restricted to the names above. The C version is not used, because its memo cannot be replaced."""

    def __init__(self, file: Any) -> None:
        super().__init__(file)
        self.memo = Memo()

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _NAMES:
            raise Refused(
                f"it names {module[:80]}.{name[:80]}, which could run a program; {_PLAIN}\n"
                "Fetch it from where it was published."
            )
        return _NAMES[module, name]

    def persistent_load(self, pid: Any) -> Any:
        raise Refused(f"it refers to an object outside the file; {_PLAIN}")


class Output:
    """Standard output; it counts the bytes of the arrays written so far."""

    def __init__(self, file: BinaryIO, most: int) -> None:
        self.file, self._most, self._place = file, most, 0

    def write(self, data: bytes, kind: str, shape: tuple[int, ...] | list[int], order: str) -> list[Any]:
        packed = isal_zlib.compress(data, 1)
        entry = [self._place, len(packed), kind, shape, order]
        self._place += len(packed)
        if self._place > self._most:
            raise MemoryError
        self.file.write(packed)
        return entry


def plain(tag: str, value: Any) -> Any:
    if isinstance(value, bytes):
        return {tag: OUTPUT.write(value, "|u1", [len(value)], "C")}
    if isinstance(value, Array) and value.written is not None:
        return {tag: value.written}
    if isinstance(value, datetime):
        return {tag: value.isoformat()}
    raise Refused(f"it holds a value of type {type(value).__name__}; {_PLAIN}")


def document_of(file: BinaryIO, tag: str) -> str:
    """Return the value of a pickle as JSON text.

    Raises:
        Refused: If the file names code that is not allowed, is cut off or malformed, or asks for too much.
    """
    try:
        text = json.dumps(Unpickler(file).load(), default=lambda value: plain(tag, value), check_circular=False)
    except Refused:
        raise
    except (MemoryError, RecursionError):
        raise Refused("it asks for more memory than such a file needs, or is nested too deeply; it was not read") from None
    except EOFError as error:
        if "end-of-stream" in str(error):  # of what unpacks it
            raise Refused(f"it cannot be unpacked: {error}\nFetch it again.") from None
        raise Refused("it ends in the middle: it was cut off, or is not a pickle\nFetch it again.") from None
    except (OSError, zlib.error) as error:
        raise Refused(f"it cannot be unpacked: {error}\nFetch it again.") from None
    except Exception as error:
        if "truncated" in str(error) or "exhausted" in str(error):
            raise Refused("it ends in the middle: it was cut off, or is not a pickle\nFetch it again.") from None
        raise Refused(f"it is not a pickle of plain values: {type(error).__name__}: {error}\nFetch it again.") from None
    if sum(map(text.count, ",[{")) > _MOST_VALUES:
        raise Refused(f"it has more than {_MOST_VALUES:,} values, more than such a file has; it was not read")
    return text


def unpacked(file: io.BufferedReader) -> Any:
    start = file.peek(3)[:3]
    return bz2.open(file) if start == b"BZh" else gzip.open(file) if start[:2] == b"\x1f\x8b" else file


def answer(file: Any, tag: str) -> str:
    """Return `[value]` as JSON, or, if the file is refused, the reason as a JSON text."""
    try:
        return f"[{document_of(file, tag)}]"
    except Refused as refused:
        return json.dumps(str(refused))


if __name__ == "__main__":
    tag, memory_bytes = sys.argv[1], int(sys.argv[2])
    with contextlib.suppress(ValueError):  # macOS refuses; time is bounded there as well
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    OUTPUT = Output(sys.stdout.buffer, memory_bytes)
    if sys.argv[3:] == ["each"]:
        found = f"[{','.join(answer(io.BytesIO(base64.b64decode(one)), tag) for one in json.load(sys.stdin))}]"
    else:
        with open(0, "rb") as file:
            found = answer(unpacked(file), tag)
    text = found.encode()
    OUTPUT.file.write(text + struct.pack("<Q", len(text)))
