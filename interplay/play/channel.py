"""The pipe between the web process and a child (a worker, the sealer): a Unix socket that carries (number, kind, payload).

An encoded Atari frame is about 100 bytes, so frames travel in the same stream as everything else, many to a read: there is
no shared memory to clean up after a process that was killed.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from enum import IntEnum
from typing import Any

import msgspec

_HEAD = struct.Struct("<III")
_INPUT = struct.Struct("<IIdQff")

pack_input = _INPUT.pack
"""(buttons, painted step, client ms, received us, pitch, yaw) -> payload of `ToWorker.INPUT`."""
unpack_input = _INPUT.unpack

encode = msgspec.json.Encoder().encode
decode = msgspec.json.Decoder().decode


class ToWorker(IntEnum):
    """Kinds of message the web process sends."""

    COMMAND = 1
    """JSON: `{"do": ...}`."""
    INPUT = 2
    """What the player holds, packed by `pack_input`."""
    HOLD = 3
    """Stop encoding frames; go on stepping and recording."""
    GO = 4
    """Encode again."""
    KEY = 5
    """The next frame must be a key frame."""


class ToWeb(IntEnum):
    """Kinds of message a worker sends."""

    FRAME = 1
    """A frame message for the player, finished."""
    TEXT = 2
    """A JSON message for the player, finished."""
    EVENT = 3
    """JSON for the web process: `{"event": ...}`."""
    LAST_FRAME = 4
    """The frame an episode ended with: never skipped."""


def pack(number: int, kind: int, payload: bytes) -> bytes:
    """One message."""
    return _HEAD.pack(number, kind, len(payload)) + payload


def pack_json(number: int, kind: int, document: Any) -> bytes:
    """One message with a JSON payload."""
    return pack(number, kind, encode(document))


class Unpacker:
    """Cuts a byte stream back into messages, whatever pieces it arrives in."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> Iterator[tuple[int, int, bytes]]:
        """The messages completed by `data`: (seat number, kind, payload)."""
        if self._rest:
            data = self._rest + data
        position, end = 0, len(data)
        while end - position >= 12:
            number, kind, size = _HEAD.unpack_from(data, position)
            stop = position + 12 + size
            if stop > end:
                break
            yield number, kind, data[position + 12 : stop]
            position = stop
        self._rest = data[position:]
