"""Messages of the process that decides for agents: to and from the web process over its channel, and workers over a socket.

Both streams have the form of `interplay.play.workers.channel`: the game, the seat and the kind, then the payload.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import Any

import msgspec

from interplay.play.workers.channel import Command, Event


class ToDecider(IntEnum):
    """Kinds of message a worker sends."""

    BEGIN = 1
    """A `Begin`, as MessagePack: an agent takes a seat."""
    ASK = 2
    """What `pack_question` packs."""
    LEAVE = 3
    """Somebody else acts for the seat."""


class ToAsker(IntEnum):
    """Kinds of message the deciding process sends to a worker."""

    BEGUN = 1
    """A `Begun`, as MessagePack."""
    DECIDED = 2
    """What `pack_answer` packs."""
    LOST = 3
    """Why the agent cannot go on, as UTF-8."""
    ALIVE = 4
    """A heartbeat, about no game."""


class Begin(msgspec.Struct):
    """An agent takes a seat."""

    agent: str
    task: dict[str, Any]
    seed: int


class Begun(msgspec.Struct):
    """It has: its name in recordings, and its pipeline of observations."""

    name: str
    observation: str


_QUESTION = struct.Struct("<IQQ")
_ANSWER = struct.Struct("<I")


def pack_question(step: int, asked_us: int, due_us: int, observation: bytes) -> bytes:
    """An observation to decide on: its step, when it was asked and is due on the monotonic clock, and `values.encode` of it."""
    return _QUESTION.pack(step, asked_us, due_us) + observation


def unpack_question(payload: bytes) -> tuple[int, int, int, memoryview]:
    return (*_QUESTION.unpack_from(payload), memoryview(payload)[_QUESTION.size :])


def pack_answer(step: int, decision: bytes) -> bytes:
    """The decision on the observation of a step: `values.encode` of the action and for how many steps it holds."""
    return _ANSWER.pack(step) + decision


def unpack_answer(payload: bytes) -> tuple[int, memoryview]:
    return _ANSWER.unpack_from(payload)[0], memoryview(payload)[_ANSWER.size :]


pack_struct = msgspec.msgpack.Encoder().encode
unpack_begin = msgspec.msgpack.Decoder(Begin).decode
unpack_begun = msgspec.msgpack.Decoder(Begun).decode


# Between the web process and the deciding process


class Listen(Command):
    """The first command.

    `suspects` were at work when an earlier process died: they work one at a time, so that the next death tells which of them it
    was. Over the `refused` agents it died too often.
    """

    address: str
    data: str
    database: str
    suspects: list[str]
    refused: list[str]


class Load(Command):
    """An agent may be needed soon: load it."""

    agent: str


class Decisions(Event):
    """A report, twice a second, with what was done so far; `num_seats`: agents in seats now."""

    num_decisions: int
    num_calls: int
    num_seats: int
    cpu_s: float


decode_command = msgspec.json.Decoder(Listen | Load).decode
decode_event = msgspec.json.Decoder(Decisions).decode
