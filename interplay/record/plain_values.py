"""Values out of a pickle, by a reader of its own that calls nothing a file names.

A pickle is a program for a machine with a stack. This machine knows the instructions that make numbers, texts, bytes, tuples,
lists and dictionaries, and six names: those by which NumPy writes arrays and numbers, `collections.OrderedDict` (read as a
dictionary) and `datetime.datetime`. A name is a word here, never an object of this process; whatever else a file asks for is
refused. What is read is bounded, however small the file is.

Source: the comments of Python's `pickletools` on each instruction; NumPy's `ndarray.__reduce__`. Python wrote protocol 3 up to
3.7 and 4 since. Protocols 0 to 2 write bytes as a call of a codec, and 5 arrays in another way: those are refused.
"""

from __future__ import annotations

import math
import re
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import Any, Protocol

import numpy as np
from isal import isal_zlib

from interplay.record.errors import RecordingError

_LARGE_BYTES = 4096
"""Bytes strings beyond this stay compressed: 28 minutes of pictures have 10 GB."""
_VALUE_BYTES = 64
"""What a value takes in memory beside its content, and as much again where the file keeps it for later."""
_ARRAY_BYTES = 512
_KIND = re.compile(r"b1|[iu][1248]|f[248]")


@dataclass(frozen=True)
class Limits:
    """What a file may ask for.

    Attributes:
        read_bytes: Of the unpacked file; CrowdPlay stops a game after 100,000 frames, and a step has 101 kB.
        kept_bytes: Of all values in memory, bytes compressed where they are large.
        values: Instructions, each of which makes one value at most.
        one_bytes: Of one text or bytes string.
    """

    read_bytes: int = 12 << 30
    kept_bytes: int = 1 << 30
    values: int = 50_000_000
    one_bytes: int = 16 << 20


class Stream(Protocol):
    """What is read: a file, or one that is unpacked as it is read."""

    def read(self, size: int, /) -> bytes:
        """So many bytes, fewer only at the end."""
        ...


class Refused(RecordingError):
    """A file that is no list of plain values, or asks for too much."""


class _Word(Enum):
    """The names that a file may say."""

    RECONSTRUCT = "numpy array"
    ARRAY = "numpy.ndarray"
    DTYPE = "numpy.dtype"
    SCALAR = "numpy number"
    MAPPING = "collections.OrderedDict"
    MOMENT = "datetime.datetime"


_WORDS = {
    ("numpy", "ndarray"): _Word.ARRAY,
    ("numpy", "dtype"): _Word.DTYPE,
    ("collections", "OrderedDict"): _Word.MAPPING,
    ("datetime", "datetime"): _Word.MOMENT,
} | {
    (f"numpy.{core}.multiarray", name): word
    for core in ("core", "_core")
    for name, word in (("_reconstruct", _Word.RECONSTRUCT), ("scalar", _Word.SCALAR))
}


class _Large:
    """A long bytes string, compressed."""

    def __init__(self, data: bytes) -> None:
        self.size = len(data)
        self.packed = isal_zlib.compress(data, 1)

    def unpacked(self) -> bytes:
        """The bytes."""
        return isal_zlib.decompress(self.packed)


class _Kind:
    """The type of an array's elements: `dtype`, little-endian until it is told otherwise."""

    def __init__(self, code: str) -> None:
        self.dtype = np.dtype(code)


class Held:
    """An array, whose elements may be compressed.

    Attributes:
        shape, dtype: As of a NumPy array.
    """

    def __init__(self) -> None:
        self.shape: tuple[int, ...] = ()
        self.dtype = np.dtype(np.uint8)
        self._order: Any = "C"
        self._data: bytes | _Large = b""

    def set(self, shape: tuple[int, ...], dtype: np.dtype, data: bytes | _Large, *, is_fortran: bool) -> None:
        """What it holds."""
        self.shape, self.dtype, self._data, self._order = shape, dtype, data, "F" if is_fortran else "C"

    def array(self) -> np.ndarray:
        """As an array, read-only."""
        data = self._data.unpacked() if isinstance(self._data, _Large) else self._data
        return np.frombuffer(data, self.dtype).reshape(self.shape, order=self._order)


_MARK = object()


def read_values(stream: Stream, limits: Limits | None = None) -> Any:
    """The value of a pickle: numbers, texts, short bytes, None, tuples, lists, dictionaries, moments, and arrays as `Held`.

    Raises:
        Refused: If it names anything else, is cut off or malformed, or is beyond the limits; nothing it names was called.
    """
    try:
        return _Machine(stream, limits or Limits()).run()
    except Refused:
        raise
    except (IndexError, KeyError, TypeError, ValueError, struct.error, OverflowError) as error:
        raise Refused(f"it is not a pickle of plain values: {type(error).__name__}: {error}\nFetch it again.") from error
    except (OSError, EOFError, zlib.error) as error:  # what unpacks it as it is read
        raise Refused(f"it cannot be unpacked: {error}\nFetch it again.") from error


class _Machine:
    """Stack, memory, and an instruction for each byte that is known."""

    def __init__(self, stream: Stream, limits: Limits) -> None:
        self._stream, self._limits = stream, limits
        self._buffer, self._place, self._num_read, self._num_kept = b"", 0, 0, 0
        self._stack: list[Any] = []
        self._memory: dict[int, Any] = {}

    def run(self) -> Any:
        """Until the last instruction."""
        stack, do, most = self._stack, self._instructions(), self._limits.values
        for _ in range(most):
            code = self._take(1)
            if code == b"K":  # numbers up to 255: half of all instructions
                stack.append(self._take(1)[0])
            elif code == b".":
                value = stack.pop()
                if stack or value is _MARK or isinstance(value, _Word | _Kind):
                    raise Refused("it is not a pickle of plain values: it ends in the middle of one\nFetch it again.")
                return value
            elif (act := do.get(code)) is not None:
                act()
            else:
                raise Refused(_unknown(code))
        raise Refused(f"it has more than {most:,} values, more than such a file has; it was not read to its end")

    def _instructions(self) -> dict[bytes, Callable[[], object]]:
        push, new, number = self._stack.append, self._push_new, self._number
        return {
            b"\x80": lambda: self._take(1),
            b"\x95": lambda: self._take(8),
            b"(": lambda: push(_MARK),
            b"0": self._stack.pop,
            b"1": self._since_mark,
            b"N": lambda: push(None),
            b"\x88": lambda: push(True),
            b"\x89": lambda: push(False),
            b"M": lambda: new(number("<H")),
            b"J": lambda: new(number("<i")),
            b"G": lambda: new(number(">d")),
            b"\x8a": lambda: new(int.from_bytes(self._take(self._take(1)[0]), "little", signed=True)),
            b"X": lambda: push(self._text(number("<I"))),
            b"\x8c": lambda: push(self._text(self._take(1)[0])),
            b"\x8d": lambda: push(self._text(number("<Q"))),
            b"B": lambda: push(self._bytes(number("<I"))),
            b"C": lambda: push(self._bytes(self._take(1)[0])),
            b"\x8e": lambda: push(self._bytes(number("<Q"))),
            b")": lambda: push(()),
            b"t": lambda: new(tuple(self._since_mark())),
            b"\x85": lambda: new(tuple(self._last(1))),
            b"\x86": lambda: new(tuple(self._last(2))),
            b"\x87": lambda: new(tuple(self._last(3))),
            b"]": lambda: new([]),
            b"l": lambda: new(self._since_mark()),
            b"a": lambda: self._append(self._last(1)),
            b"e": lambda: self._append(self._since_mark()),
            b"}": lambda: new({}),
            b"d": lambda: new(_paired(self._since_mark())),
            b"s": lambda: self._update(self._last(2)),
            b"u": lambda: self._update(self._since_mark()),
            b"q": lambda: self._keep(self._take(1)[0]),
            b"r": lambda: self._keep(number("<I")),
            b"\x94": lambda: self._keep(len(self._memory)),
            b"h": lambda: push(self._memory[self._take(1)[0]]),
            b"j": lambda: push(self._memory[number("<I")]),
            b"c": lambda: push(_word(self._line(), self._line())),
            b"\x93": lambda: push(_word(*self._last(2))),
            b"R": self._reduce,
            b"b": self._build,
        }

    # Reading

    def _take(self, size: int) -> bytes:
        stop = self._place + size
        if stop > len(self._buffer):
            self._fill(size)
            stop = self._place + size
        piece, self._place = self._buffer[self._place : stop], stop
        return piece

    def _fill(self, size: int) -> None:
        """Have so many bytes at hand."""
        if size > self._limits.one_bytes:
            raise Refused(f"one of its values has {size:,} bytes, more than a picture has; it was not read")
        self._buffer, self._place = self._buffer[self._place :], 0
        while len(self._buffer) < size:
            piece = self._stream.read(1 << 18)
            if not piece:
                raise Refused("it ends in the middle: it was cut off, or is not a pickle\nFetch it again.")
            self._num_read += len(piece)
            if self._num_read > self._limits.read_bytes:
                most = self._limits.read_bytes
                raise Refused(f"it unpacks to more than {most:,} bytes, more than such a file has; it was not read to its end")
            self._buffer += piece

    def _line(self) -> str:
        parts = bytearray()
        while (one := self._take(1)) != b"\n":
            parts += one
            if len(parts) > 200:
                raise Refused("it is not a pickle of plain values: a name has more than 200 letters\nFetch it again.")
        return parts.decode()

    def _number(self, layout: str) -> Any:
        return struct.unpack(layout, self._take(struct.calcsize(layout)))[0]

    def _text(self, size: int) -> str:
        self._count(size + _VALUE_BYTES)
        return self._take(size).decode("utf-8", "surrogatepass")

    def _bytes(self, size: int) -> bytes | _Large:
        data = self._take(size)
        if size <= _LARGE_BYTES:
            self._count(size + _VALUE_BYTES)
            return data
        large = _Large(data)
        self._count(len(large.packed) + 2 * _VALUE_BYTES)
        return large

    def _count(self, size: int) -> None:
        self._num_kept += size
        if self._num_kept > self._limits.kept_bytes:
            raise Refused(f"it holds more than {self._limits.kept_bytes:,} bytes, more than such a file has; it was left there")

    # Stack and memory

    def _push_new(self, value: Any) -> None:
        self._count(_VALUE_BYTES)
        self._stack.append(value)

    def _since_mark(self) -> list[Any]:
        stack = self._stack
        place = len(stack) - 1
        while stack[place] is not _MARK:  # the first value is under a mark, or there is an IndexError at last
            place -= 1
            if place < 0:
                raise IndexError("a list without a beginning")
        found = stack[place + 1 :]
        del stack[place:]
        return found

    def _last(self, count: int) -> list[Any]:
        found = self._stack[-count:]
        if len(found) < count or any(one is _MARK for one in found):
            raise IndexError("an instruction without its values")
        del self._stack[-count:]
        return found

    def _top(self, kind: type) -> Any:
        if not isinstance(self._stack[-1], kind):
            raise TypeError(f"expected a {kind.__name__}, got {type(self._stack[-1]).__name__}")
        return self._stack[-1]

    def _append(self, values: list[Any]) -> None:
        self._top(list).extend(values)

    def _update(self, values: list[Any]) -> None:
        self._top(dict).update(_paired(values))

    def _keep(self, place: int) -> None:
        if self._stack[-1] is _MARK:
            raise IndexError("an instruction without its value")
        self._count(_VALUE_BYTES)
        self._memory[place] = self._stack[-1]

    # The six names

    def _reduce(self) -> None:
        word, given = self._last(2)
        if not isinstance(word, _Word) or not isinstance(given, tuple):
            raise Refused("it calls something that is not a name; such a file holds plain values only. Nothing was run.")
        self._count(_ARRAY_BYTES)
        self._stack.append(_made(word, given))

    def _build(self) -> None:
        (state,) = self._last(1)
        made = self._stack[-1]
        if isinstance(made, _Kind):
            made.dtype = _with_order(made.dtype, state)
        elif isinstance(made, Held):
            _fill_array(made, state)
        else:
            raise Refused(
                f"it sets the inside of a {type(made).__name__}; such a file holds plain values only. Nothing was run."
            )


def _paired(values: list[Any]) -> dict[Any, Any]:
    if not all(isinstance(key, str | int) for key in values[::2]):  # to hash tuples of tuples may take for ever
        raise TypeError("a key of a dictionary is neither text nor a number")
    return dict(zip(values[::2], values[1::2], strict=True))


def _word(module: Any, name: Any) -> _Word:
    if not isinstance(module, str) or not isinstance(name, str):
        raise Refused("a name in it is not text. Nothing was run.\nFetch it from where it was published.")
    word = _WORDS.get((module, name))
    if word is None:
        raise Refused(
            f"it names {module[:80]}.{name[:80]}, which could run a program; such a file holds arrays and "
            "plain values only. Nothing was run.\nFetch it from where it was published."
        )
    return word


def _made(word: _Word, given: tuple[Any, ...]) -> Any:
    """What a call of one of the names makes; here no name is called."""
    if word is _Word.MAPPING and given in ((), ([],)):
        return {}
    if word is _Word.MAPPING and len(given) == 1 and isinstance(given[0], list):  # Python 2 wrote lists of pairs
        return _paired([part for key, value in given[0] for part in (key, value)])
    if word is _Word.RECONSTRUCT and len(given) == 3 and given[:2] == (_Word.ARRAY, (0,)):
        return Held()
    if word is _Word.DTYPE and given and isinstance(given[0], str) and _KIND.fullmatch(given[0]):
        return _Kind(given[0])
    if word is _Word.SCALAR and len(given) == 2 and isinstance(given[0], _Kind) and isinstance(given[1], bytes):
        if len(given[1]) != given[0].dtype.itemsize:
            raise ValueError(f"a number of type {given[0].dtype} with {len(given[1])} bytes")
        return np.frombuffer(given[1], given[0].dtype)[0].item()
    if word is _Word.MOMENT and len(given) == 1 and isinstance(given[0], bytes) and len(given[0]) == 10:
        (year, month, day, hour, minute, second), micro = struct.unpack(">H5B", given[0][:7]), given[0][7:]
        return datetime(year, month, day, hour, minute, second, int.from_bytes(micro, "big"), tzinfo=UTC)
    raise Refused(f"it makes a {word.value} in a way that no plain value needs; it was not read")


def _with_order(dtype: np.dtype, state: Any) -> np.dtype:
    """A type with the order of bytes that a file says; one with fields or objects is refused."""
    if not (isinstance(state, tuple) and len(state) >= 5 and state[1] in ("<", ">", "|", "=") and not any(state[2:5])):
        raise Refused("its arrays are not arrays of numbers; they were not read")
    return dtype if state[1] in ("|", "=") else dtype.newbyteorder(state[1])


def _fill_array(held: Held, state: Any) -> None:
    _, shape, kind, is_fortran, data = state
    if not isinstance(kind, _Kind) or not isinstance(data, bytes | _Large):
        raise Refused("its arrays are not arrays of numbers; they were not read")
    if not isinstance(shape, tuple) or not all(type(side) is int and side >= 0 for side in shape) or len(shape) > 8:
        raise ValueError("an array whose shape is not a tuple of at most eight sizes")
    size = data.size if isinstance(data, _Large) else len(data)
    if math.prod(shape) * kind.dtype.itemsize != size:
        raise ValueError(f"an array of shape {shape} and type {kind.dtype} with {size} bytes")
    held.set(shape, kind.dtype, data, is_fortran=bool(is_fortran))


_OTHERS = {
    b"P": "a thing kept elsewhere", b"Q": "a thing kept elsewhere", b"i": "an object of a class", b"o": "an object of a class",
    b"\x81": "an object of a class", b"\x92": "an object of a class", b"\x82": "a name by number", b"\x83": "a name by number",
    b"\x84": "a name by number", b"\x97": "memory of another program", b"\x98": "memory of another program",
    b"\x8f": "a set", b"\x90": "a set", b"\x91": "a set", b"\x96": "bytes that change",
}  # fmt: skip


def _unknown(code: bytes) -> str:
    if (what := _OTHERS.get(code)) is not None:
        return f"it holds {what}; such a file holds arrays and plain values only. Nothing was run."
    return f"it is not a pickle of plain values: instruction {code!r} is not one of theirs\nFetch it again."
