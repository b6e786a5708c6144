"""Messages of the process that decides for agents. It talks with the web process over its channel, and with workers over a
socket. Values in messages are MessagePack with arrays. A `Board` shows which agents are at work, and outlives the process.

Both streams have the form of `interplay.play.workers.channel`: the game, the seat and the kind, then the payload.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Mapping
from enum import IntEnum
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from interplay.play.workers.channel import Command, Event


class ToDecider(IntEnum):
    """Kinds of message that a worker sends."""

    BEGIN = 1
    """A `Begin`, as MessagePack: an agent takes a seat."""
    ASK = 2
    """See `pack_question`."""
    LEAVE = 3


class ToAsker(IntEnum):
    """Kinds of message that the deciding process sends to a worker."""

    BEGUN = 1
    """A `Begun`, as MessagePack."""
    DECIDED = 2
    """See `pack_answer`."""
    LOST = 3
    """The reason why the agent cannot continue, as UTF-8."""
    ALIVE = 4
    """A heartbeat, which belongs to no game."""


class Begin(msgspec.Struct):
    """An agent takes a seat."""

    agent: str
    task: dict[str, Any]
    seed: int


class Begun(msgspec.Struct):
    """An agent has taken a seat: its name in recordings, and its pipeline of observations."""

    name: str
    observation: str


_QUESTION = struct.Struct("<IQQ")
_ANSWER = struct.Struct("<I")


def pack_question(step: int, asked_us: int, due_us: int, observation: bytes) -> bytes:
    """Pack an observation to decide on: its step, when it was asked and is due on the monotonic clock, and its
    `encode_value`."""
    return _QUESTION.pack(step, asked_us, due_us) + observation


def unpack_question(payload: bytes) -> tuple[int, int, int, memoryview]:
    return (*_QUESTION.unpack_from(payload), memoryview(payload)[_QUESTION.size :])


def pack_answer(step: int, decision: bytes) -> bytes:
    """Pack the decision on the observation of a step: `encode_value` of the action and of the number of steps for which it
    holds."""
    return _ANSWER.pack(step) + decision


def unpack_answer(payload: bytes) -> tuple[int, memoryview]:
    return _ANSWER.unpack_from(payload)[0], memoryview(payload)[_ANSWER.size :]


pack_struct = msgspec.msgpack.Encoder().encode
unpack_begin = msgspec.msgpack.Decoder(Begin).decode
unpack_begun = msgspec.msgpack.Decoder(Begun).decode


# Between the web process and the deciding process


class Listen(Command):
    """The first command to the deciding process.

    The agents in `suspects` were at work when an earlier process died. They work one at a time, so that the next death tells
    which of them caused it. The agents in `refused` caused too many deaths, and never decide.
    """

    address: str
    data: str
    database: str
    suspects: list[str]
    refused: list[str]


class Load(Command):
    """Load an agent, since it may be needed soon."""

    agent: str


class Decisions(Event):
    """A report, twice a second, of the work done so far. `num_seats`: number of agents in seats now."""

    num_decisions: int
    num_calls: int
    num_seats: int
    cpu_s: float


decode_command = msgspec.json.Decoder(Listen | Load).decode
decode_event = msgspec.json.Decoder(Decisions).decode


_ARRAY, _SCALAR = 1, 2
"""Extensions: u8 length of the dtype's name, the name, u8 number of axes, u32 of each, then the values, row-major."""


def _unknown(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        array = np.asarray(value)
        if array.dtype.hasobject or array.dtype.names is not None:
            raise TypeError(f"an array of dtype {array.dtype} cannot be sent")
        name = array.dtype.str.encode()
        head = struct.pack(f"<B{len(name)}sB{array.ndim}I", len(name), name, array.ndim, *array.shape)
        return msgspec.msgpack.Ext(_SCALAR if isinstance(value, np.generic) else _ARRAY, head + array.tobytes())
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a value of type {type(value).__name__} cannot be sent")


def _extension(code: int, data: memoryview) -> Any:
    length = data[0]
    dtype = np.dtype(bytes(data[1 : 1 + length]).decode())
    num_axes = data[1 + length]
    begin = 2 + length
    shape = struct.unpack_from(f"<{num_axes}I", data, begin)
    array = np.frombuffer(data, dtype, offset=begin + 4 * num_axes).reshape(shape).copy()
    return array[()] if code == _SCALAR else array


encode_value = msgspec.msgpack.Encoder(enc_hook=_unknown).encode
"""Encodes observations and actions: numbers, texts, arrays, and mappings and lists of these. TypeError for anything else."""
decode_value = msgspec.msgpack.Decoder(ext_hook=_extension).decode


_MAX_AGENTS = 4096


class Board:
    """The agents at work, in files that outlive the process, so that the agent that was at work when it died is known."""

    def __init__(self, folder: Path) -> None:
        self._names = folder / "names"
        self._names.write_text("")
        flags = folder / "flags"
        flags.write_bytes(bytes(_MAX_AGENTS))
        with flags.open("r+b") as file:
            self._flags = mmap.mmap(file.fileno(), _MAX_AGENTS)
        self._num = 0

    def enter(self, name: str) -> int:
        with self._names.open("a") as file:
            file.write(name.replace("\n", " ") + "\n")
        self._num += 1
        return (self._num - 1) % _MAX_AGENTS

    def mark(self, place: int, *, is_busy: bool) -> None:
        self._flags[place] = is_busy


def busy_agents(folder: Path) -> set[str]:
    try:
        names = (folder / "names").read_text().splitlines()
        flags = (folder / "flags").read_bytes()
    except OSError:
        return set()
    return {name for place, name in enumerate(names) if flags[place % _MAX_AGENTS]}
