"""The pipe between the web process and a child (a worker, the sealer, the drawer): a Unix socket, and its messages.

An encoded Atari frame is about 100 bytes, so frames travel in the same stream as everything else, many to a read: there is no
shared memory to clean up after a process that was killed. Each message has its game, its seat in the game and its kind;
commands and events are JSON of the structs below, everything else is bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from enum import IntEnum
from typing import Any

import msgspec

from interplay.play.connections import wire
from interplay.record import Owner, PaintedPicture

_HEAD = struct.Struct("<IHHI")
_INPUT = struct.Struct("<IIdQBffI")


def pack_input(held: wire.PlayerInput) -> bytes:
    """The payload of `ToWorker.INPUT`, for an input that a seat has read."""
    kind, pair = wire.HELD, (0.0, 0.0)
    if held.turn is not None:
        kind, pair = wire.TURNED, held.turn
    elif held.look is not None:
        kind, pair = wire.LOOKED, held.look
    elif held.pointed is not None:
        kind, pair = wire.POINTED, held.pointed
    return _INPUT.pack(held.buttons, held.painted_step, held.client_ms, held.received_us, kind, *pair, held.pressed)


def unpack_input(payload: bytes) -> wire.PlayerInput:
    buttons, painted_step, client_ms, received_us, kind, first, second, pressed = _INPUT.unpack(payload)
    turn, look, pointed = ((first, second) if kind == one else None for one in (wire.TURNED, wire.LOOKED, wire.POINTED))
    return wire.PlayerInput(buttons, painted_step, client_ms, turn, look, None, pointed, pressed, received_us)


class ToWorker(IntEnum):
    """Kinds of message the web process sends."""

    COMMAND = 1
    """A `Command`."""
    INPUT = 2
    """What the player of a seat holds, packed by `pack_input`."""
    HOLD = 3
    """Stop encoding a seat's frames; go on stepping and recording."""
    GO = 4
    """Encode again."""
    KEY = 5
    """A seat's next frame must be a key frame."""


class ToWeb(IntEnum):
    """Kinds of message a child sends."""

    FRAME = 1
    """A frame message for the player of a seat, finished."""
    TEXT = 2
    """A JSON message for the player of a seat, finished."""
    EVENT = 3
    """An `Event`."""
    LAST_FRAME = 4
    """The frame an episode ended with: never skipped."""
    WATCHED = 5
    """A frame message for those who watch a seat, and not for its player."""


class Command(msgspec.Struct, tag_field="do", tag=str.lower):
    """A command of the web process to a child."""


class Event(msgspec.Struct, tag_field="event", tag=str.lower):
    """A report of a child."""


# To a worker; all but the first three are about one game


class Configure(Command):
    """The first command: where to record, and which of the shared workers this is, from 0; one that is alone is 0 of 1.

    `statistics` are computed in every game; `agents` is the address of the process that decides for agents.
    """

    data: str
    database: str
    place: int
    num_workers: int
    statistics: list[dict[str, Any]] = []
    agents: str = ""


class Prepare(Command):
    """Make a world ready before anybody asks for it."""

    task: dict[str, Any]
    seed: int


class Stop(Command):
    """End every game as interrupted, then the process."""


class Open(Command):
    """Build a world; the answer is `Opened`. `for_people`: whether a person will look at it."""

    task: dict[str, Any]
    seed: int
    for_people: bool


class GoOn(Command):
    """Rebuild a world from the journal of its episode; the answer is `Opened`. `owners`: seat -> name of its owner from here
    on; `AgentActs` follows where that is an agent."""

    task: dict[str, Any]
    episode: str
    owners: dict[str, str]


class Welcome(Command):
    """A player has come to a seat; the answer is `Welcomed` and a key frame. `is_shown`: whether the key frame comes at once;
    otherwise once their page has said who draws."""

    is_shown: bool = True


class Watch(Command):
    """A seat has its first watcher, or no longer one; the answer to the first is `Watched`, and the current picture."""

    is_watched: bool


class Start(Command):
    """Turn the clock on; the first time this begins the recording."""

    episode: str
    session: str
    seed: int
    owners: dict[str, Owner]


class Pause(Command):
    """Turn the clock off."""


class Away(Command):
    """The player of a seat looks away while others play on: release what they hold."""


class Back(Command):
    """The player of a seat looks again."""


class DrawnBy(Command):
    """The side that draws for a seat from now on: its player's browser, or this worker. `gui_width`, `gui_height`: size of the
    GUI that the browser draws over the world, GUI pixels."""

    here: bool
    gui_width: int
    gui_height: int


class AgentActs(Command):
    """An agent, as `interplay.agents.find` takes it, acts for a seat from now on; the answer is `Acting` when it does, or
    `AgentLost`."""

    agent: str
    seed: int


class PersonActs(Command):
    """The person in a seat acts for it from now on; the answer is `Acting`. `owner` is their name in the recording."""

    owner: str


class Land(Command):
    """The player of a seat asks for so many more parts of the land."""

    parts: int


class Painted(Command):
    """The last picture that the browser of a seat has painted, for the recording."""

    painted: PaintedPicture


class Options(Command):
    """The options that the player of a seat has set on their page, as JSON, for the recording."""

    options: str


class Finish(Command):
    """End the episode; the answer is `Ended`."""

    outcome: str


class Release(Command):
    """Leave the episode to another worker; the answer is `Released`."""


class Close(Command):
    """Forget a world in which nothing was played."""


WorkerCommand = (
    Configure
    | Prepare
    | Stop
    | Open
    | GoOn
    | Welcome
    | Watch
    | Start
    | Pause
    | Away
    | Back
    | DrawnBy
    | AgentActs
    | PersonActs
    | Land
    | Painted
    | Options
    | Finish
    | Release
    | Close
)


# From a worker; the first two are about the worker itself


class Statistics(Event):
    """A report, twice a second.

    `num_stalls`: how often a clock of a running game skipped frame times. `late_0_1ms`: lateness of steps in tenths of a
    millisecond -> how many steps. `num_decisions`, `num_late`: decisions of agents in the other process that were due, and
    late.
    """

    num_steps: int
    num_games: int
    num_running: int
    num_stalls: int
    late_0_1ms: dict[str, int]
    cpu_s: float
    num_decisions: int = 0
    num_late: int = 0


class Ready(Event):
    """The world of `Prepare` is ready."""

    task: str
    seed: int


class Preparing(Event):
    """A world has to wait for a long preparation; `share` of it is done, 0 to 1."""

    share: float


class Opened(Event):
    """The world is there."""


class Welcomed(Event):
    """The format of the pictures, for a player who has come to a seat. `tables`: name of the tables with which a browser can
    draw this world; None where it cannot."""

    width: int
    height: int
    codec: str
    palette: str | None
    step: int
    tables: str | None = None


class Watched(Event):
    """The format of the pictures, for watchers of a seat; fields as in `Welcomed`."""

    width: int
    height: int
    codec: str
    palette: str | None
    step: int


class Acting(Event):
    """The actor of a seat from the next step on: `owner` in the recording, `agent` as in `AgentActs`, None for a person. Steps
    and reward of the seat until then."""

    owner: str
    agent: str | None
    step: int
    total_reward: float


class AgentLost(Event):
    """An agent cannot act for a seat, or no longer: nobody presses a key there any more. `message` is one line."""

    agent: str
    message: str


class Slow(Event):
    """The world turned out to be slow; `movable` says whether another worker can rebuild it."""

    step_ms: float
    movable: bool


class Released(Event):
    """The journal is free for another worker."""


class Ended(Event):
    """The episode is over and its journal, None if it never began, is closed."""

    outcome: str
    path: str | None
    total_rewards: tuple[float, ...]
    num_steps: int


class Failed(Event):
    """The game cannot continue; `code` and `message` are for its players."""

    code: str
    message: str


WorkerEvent = (
    Statistics | Ready | Preparing | Opened | Welcomed | Watched | Acting | AgentLost | Slow | Released | Ended | Failed
)


# The sealer


class Seal(Command):
    """Seal the journal that a segment belongs to; the answer is `Sealed`."""

    path: str
    data: str
    database: str


class Sealed(Event):
    """The result: the id of the episode, or why it was not sealed; neither for a game in which no step was made."""

    cpu_s: float
    episode: str | None = None
    error: str | None = None


# The drawer


class Draw(Command):
    """Draw some frames of the sealed episode in a file again; the answer is `Drawn` and the frames, as one `ToWeb.FRAME`. With
    a `seat`, scenes for a browser as seen from there, in place of pictures."""

    path: str
    start: int
    stop: int
    step: int
    seat: str | None = None


class DrawLand(Command):
    """Send the generated land of such an episode; the answer is `Drawn` and land frames, as one `ToWeb.FRAME`. The tables that
    draw it are stored in the data folder `folder`."""

    path: str
    folder: str


class Drop(Command):
    """Nobody wants these frames any more."""


class Drawing(Event):
    """Share of the steps already played again before the next picture, 0 to 1."""

    share: float


class Drawn(Event):
    """About the frames that come next: the palette in base64, or None; for the land, the name of the tables that draw it."""

    palette: str | None = None
    tables: str | None = None


class Undrawable(Event):
    """Why the frames cannot be drawn."""

    error: str


encode = msgspec.json.Encoder().encode
decode_command = msgspec.json.Decoder(WorkerCommand).decode
decode_event = msgspec.json.Decoder(WorkerEvent).decode
decode_seal = msgspec.json.Decoder(Seal).decode
decode_sealed = msgspec.json.Decoder(Sealed).decode
decode_draw = msgspec.json.Decoder(Draw | DrawLand | Drop).decode
decode_drawn = msgspec.json.Decoder(Drawing | Drawn | Undrawable).decode


def pack(number: int, kind: int, payload: bytes, *, seat: int = 0) -> bytes:
    return _HEAD.pack(number, seat, kind, len(payload)) + payload


def pack_command(number: int, command: Command, *, seat: int = 0) -> bytes:
    return pack(number, ToWorker.COMMAND, encode(command), seat=seat)


def pack_event(number: int, event: Event, *, seat: int = 0) -> bytes:
    return pack(number, ToWeb.EVENT, encode(event), seat=seat)


class Unpacker:
    """Cuts a byte stream into messages, in whatever pieces it arrives."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> Iterator[tuple[int, int, int, bytes]]:
        """The messages completed by `data`: (game, seat, kind, payload)."""
        if self._rest:
            data = self._rest + data
        position, end = 0, len(data)
        while end - position >= 12:
            number, seat, kind, size = _HEAD.unpack_from(data, position)
            stop = position + 12 + size
            if stop > end:
                break
            yield number, seat, kind, data[position + 12 : stop]
            position = stop
        self._rest = data[position:]
