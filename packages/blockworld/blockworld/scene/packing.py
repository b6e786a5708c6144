"""Packing one message of a scene, a JSON document and arrays, into bytes that a browser reads without copying.

A message begins with the length of the head as u32 (all numbers are little-endian). The head is JSON, filled with spaces to a
multiple of 4 bytes: the document, and `arrays`: name -> [dtype, shape, offset]. The arrays follow in C order, each at a
multiple of 4 bytes from the end of the head. Each message is sent as raw deflate (RFC 1951); `web/packing.js` reads it.

>>> document, arrays = unpack(pack({"tick": 3}, {"at": np.array([[1, 2, 3]], np.uint8)}))
>>> document, arrays["at"].tolist()
({'tick': 3}, [[1, 2, 3]])
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import msgspec
import numpy as np

from blockworld.errors import WorldError

DTYPES = {name: np.dtype(name).newbyteorder("<") for name in ("uint8", "int16", "uint16", "int32", "uint32", "float32")}
MOST_AXES = 8
MOST_BYTES = 2**26
"""Largest number of bytes in one message; `inflate` refuses larger messages."""
_RAW_DEFLATE = -15


class Body(NamedTuple):
    """The arrays of a message, one after another in `data`; `places` has dtype, shape and offset by name, as in the head."""

    places: dict[str, tuple[str, tuple[int, ...], int]]
    data: bytes


def body(arrays: Mapping[str, np.ndarray]) -> Body:
    """Put arrays one after another into a `Body`; WorldError if a dtype is not one of the `DTYPES`."""
    places, parts, offset = {}, [], 0
    for name, array in arrays.items():
        dtype = _name(array.dtype)
        if dtype not in DTYPES:
            raise WorldError(f"an array of a scene is one of {', '.join(DTYPES)}, got {dtype} for {name!r}")
        places[name] = (dtype, array.shape, offset)
        padding = -array.nbytes % 4
        parts += (array.astype(DTYPES[dtype], copy=False).tobytes(), bytes(padding))
        offset += array.nbytes + padding
    return Body(places, b"".join(parts))


@cache
def _name(dtype: np.dtype) -> str:
    """Name of a dtype, cached because NumPy builds it at every access."""
    return dtype.name


def head(document: Mapping[str, Any], places: Mapping[str, Any]) -> bytes:
    """Make the head of a message; WorldError if the document has a key `arrays`.

    Args:
        document: Plain values; numbers that are not finite become null.
        places: The `places` of the message's `Body`.
    """
    if "arrays" in document:
        raise WorldError("the key 'arrays' of a packed document says where its arrays are: choose another name")
    text = msgspec.json.encode({**document, "arrays": places})
    text += b" " * (-len(text) % 4)
    return len(text).to_bytes(4, "little") + text


def pack(document: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> bytes:
    places, data = body(arrays)
    return head(document, places) + data


def unpack(data: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the document and the arrays of a message; the arrays are read-only views of the bytes.

    Raises:
        WorldError: If the bytes are not a message.
    """
    size = int.from_bytes(data[:4], "little")
    start = 4 + size
    if len(data) < 4 or size % 4 or start > len(data):
        raise WorldError(
            f"the head of a scene's message should take {size} bytes, a multiple of 4, and {len(data)} came in all"
        )
    try:
        document = msgspec.json.decode(data[4:start])
    except msgspec.DecodeError as error:
        raise WorldError(f"the head of a scene's message is not JSON: {error}") from None
    places = document.pop("arrays", None) if isinstance(document, dict) else None
    if not isinstance(places, dict):
        raise WorldError("the head of a scene's message does not say where its arrays are")
    return document, {name: _array(data, start, name, place) for name, place in places.items()}


def _array(data: bytes, start: int, name: str, place: Any) -> np.ndarray:
    match place:
        case [str(dtype), [*shape], int(offset)] if (
            dtype in DTYPES and len(shape) <= MOST_AXES and offset % 4 == 0 and all(_is_count(one) for one in (*shape, offset))
        ):
            num_cells = math.prod(shape)
            if start + offset + num_cells * DTYPES[dtype].itemsize <= len(data):
                return np.frombuffer(data, DTYPES[dtype], num_cells, start + offset).reshape(shape)
    raise WorldError(f"the array {name!r:.40} of a scene's message cannot be at {place!r:.100} of {len(data) - start} bytes")


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MOST_BYTES


def deflate(data: bytes, level: int = 6) -> bytes:
    return zlib.compress(data, level, _RAW_DEFLATE)


def deflate_before(head: bytes, deflated: bytes) -> bytes:
    """Join a head and a deflated body into one deflated message, so that many messages can use one compressed body."""
    stream = zlib.compressobj(6, zlib.DEFLATED, _RAW_DEFLATE)
    return stream.compress(head) + stream.flush(zlib.Z_SYNC_FLUSH) + deflated


def inflate(data: bytes) -> bytes:
    """Undo `deflate`; WorldError if the message is incomplete or longer than `MOST_BYTES`."""
    stream = zlib.decompressobj(_RAW_DEFLATE)
    try:
        found = stream.decompress(data, MOST_BYTES)
    except zlib.error as error:
        raise WorldError(f"a scene's message cannot be inflated: {error}") from None
    if not stream.eof or stream.unused_data:
        raise WorldError(f"a scene's message is cut off, has bytes after its end, or is larger than {MOST_BYTES} bytes")
    return found
