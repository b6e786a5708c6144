"""The pipe between the web process and a child (a worker, the sealer, the drawer): a Unix socket, and its messages.

An encoded Atari frame is about 100 bytes, so frames travel in the same stream as everything else, and one read returns many.
Shared memory is not used: it would remain after a process was killed. Each message has its game, its seat in the game and its
kind. Commands and events are JSON of the structs below; everything else is bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from enum import IntEnum
from typing import Any

import msgspec

from interplay.play.connections import wire
from interplay.record import Owner, PaintedPicture
from interplay.store.games import Lease

_HEAD = struct.Struct("<IHHI")
_INPUT = struct.Struct("<IIdQBffI")


def pack_input(held: wire.PlayerInput) -> bytes:
    """Return the payload of `ToWorker.INPUT` for an input that a seat has read."""
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
    """Kinds of message that the web process sends."""

    COMMAND = 1
    INPUT = 2
    """See `pack_input`."""
    HOLD = 3
    """Stop encoding a seat's frames; stepping and recording continue."""
    GO = 4
    KEY = 5
    """A seat's next frame must be a key frame."""
    TRACED_INPUT = 6
    """An input whose way to the player's screen is measured; otherwise like `INPUT`. The answer is `Traced`."""


class ToWeb(IntEnum):
    """Kinds of message that a child sends."""

    FRAME = 1
    """A finished frame message for the player of a seat."""
    TEXT = 2
    """A finished JSON message for the player of a seat."""
    EVENT = 3
    LAST_FRAME = 4
    """The last frame of an episode, which is never skipped."""
    WATCHED = 5
    """A frame message for the watchers of a seat only."""


class Command(msgspec.Struct, tag_field="do", tag=str.lower):
    """A command of the web process to a child."""


class Event(msgspec.Struct, tag_field="event", tag=str.lower):
    """A report of a child."""


# To a worker; all but the first three are about one game


class Configure(Command):
    """The first command: where to record, and the number of this worker among the shared workers, from 0. A worker that is not
    shared is number 0 of 1.

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
    """End every game as interrupted, then end the process."""


class Open(Command):
    """Build a world; the answer is `Opened`. `for_people`: whether a person will look at the world."""

    task: dict[str, Any]
    seed: int
    for_people: bool


class GoOn(Command):
    """Rebuild a world from the journal of its episode; the answer is `Opened`. `owners`: seat -> name of its owner from now on.
    If an owner is an agent, `AgentActs` follows."""

    task: dict[str, Any]
    episode: str
    owners: dict[str, str]


class Welcome(Command):
    """A player has come to a seat; the answer is `Welcomed` and a key frame. `is_shown`: whether the key frame comes at once;
    otherwise it comes when the player's page has said who draws."""

    is_shown: bool = True


class Watch(Command):
    """A seat has its first watcher, or no watcher any more. The answer to the first watcher is `Watched` and the current
    picture."""

    is_watched: bool


class Start(Command):
    """Turn the clock on; the first `Start` begins the recording."""

    episode: str
    session: str
    seed: int
    owners: dict[str, Owner]


class Pause(Command):
    """Turn the clock off."""


class Away(Command):
    """The player of a seat looks away while others continue to play: release the player's buttons."""


class Back(Command):
    """The player of a seat looks at the game again."""


class DrawnBy(Command):
    """The side that draws for a seat from now on: its player's browser, or this worker. `gui_width`, `gui_height`: size in GUI
    pixels of the GUI that the browser draws over the world."""

    here: bool
    gui_width: int
    gui_height: int


class AgentActs(Command):
    """Let an agent (a name for `interplay.agents.find`) act for a seat. The answer is `Acting` when it acts, or `AgentLost`."""

    agent: str
    seed: int


class PersonActs(Command):
    """Let the person in a seat act for it from now on; the answer is `Acting`. `owner`: the person's name in the recording."""

    owner: str


class Land(Command):
    """The player of a seat asks for this many more parts of the land."""

    parts: int


class Painted(Command):
    """Record the last picture that the browser of a seat has painted."""

    painted: PaintedPicture


class Options(Command):
    """Record the options that the player of a seat has set on their page, as JSON."""

    options: str


class Finish(Command):
    """End the episode; the answer is `Ended`."""

    outcome: str


class Release(Command):
    """Leave the episode for another worker; the answer is `Released`."""


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

    `num_stalls`: how often a clock of a running game skipped frame times. `late_0_1ms`: lateness in tenths of a millisecond ->
    number of steps with it. `num_decisions`, `num_late`: number of decisions of agents in the other process that were due, and
    of those that were late.
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
    """The world that `Prepare` asked for is ready."""

    task: str
    seed: int


class Preparing(Event):
    """A world has to wait for a long preparation. `share`: part of the preparation that is done, 0 to 1."""

    share: float


class Opened(Event):
    """The world is built."""


class Watched(Event):
    """The format of the pictures for the watchers of a seat."""

    width: int
    height: int
    codec: str
    palette: str | None
    step: int


class Welcomed(Watched):
    """The format of the pictures for a player who has come to a seat. `tables`: name of the tables with which a browser can
    draw the world."""

    tables: str | None = None


class Acting(Event):
    """The actor of a seat from the next step on. `owner`: its name in the recording; `agent`: as in `AgentActs`, None for a
    person. `step` and `total_reward`: step and sum of rewards of the seat so far."""

    owner: str
    agent: str | None
    step: int
    total_reward: float


class AgentLost(Event):
    """An agent cannot act for a seat, or can no longer act: nobody presses a key there any more. `message` is one line."""

    agent: str
    message: str


class Traced(Event):
    """The step that has used a `TRACED_INPUT`, sent before its frame. `begun_us`, `made_us`: when the world began the step, and
    had made it, in microseconds of the monotonic clock."""

    step: int
    begun_us: int
    made_us: int


class Slow(Event):
    """The world turned out to be slow. `movable`: whether another worker can rebuild it."""

    step_ms: float
    movable: bool


class Released(Event):
    """The journal is free for another worker."""


class Ended(Event):
    """The episode is over and its journal is closed. `path`: the journal, None if the recording never began."""

    outcome: str
    path: str | None
    total_rewards: tuple[float, ...]
    num_steps: int


class Failed(Event):
    """The game cannot continue; `code` and `message` are for its players."""

    code: str
    message: str


WorkerEvent = (
    Statistics
    | Ready
    | Preparing
    | Opened
    | Welcomed
    | Watched
    | Acting
    | AgentLost
    | Traced
    | Slow
    | Released
    | Ended
    | Failed
)


# The sealer


class Seal(Command):
    """Seal the journal that a segment belongs to; the answer is `Sealed`."""

    path: str
    data: str
    database: str
    held_as: Lease | None = None


class Sealed(Event):
    """The result of `Seal`: id of the episode, or why it was not sealed; both None for a game in which no step was made."""

    cpu_s: float
    episode: str | None = None
    error: str | None = None


# The drawer


class Draw(Command):
    """Draw some frames of the sealed episode in a file again; the answer is `Drawn`, then the frames as one `ToWeb.FRAME`. With
    a `seat` the frames are scenes as seen from this seat, for a browser, instead of pictures."""

    path: str
    start: int
    stop: int
    step: int
    seat: str | None = None


class DrawLand(Command):
    """Send the generated land of the sealed episode in a file; the answer is `Drawn`, then land frames as one `ToWeb.FRAME`.
    The tables that draw the land are stored in the data folder `folder`."""

    path: str
    folder: str


class Drop(Command):
    """Drop a request: nobody wants its frames any more."""


class Drawing(Event):
    """Share (0 to 1) of the steps replayed so far on the way to the next picture."""

    share: float


class Drawn(Event):
    """Facts about the frames that come next: the palette in base64, or None; for land, the name of the tables that draw it."""

    palette: str | None = None
    tables: str | None = None


class Undrawable(Event):
    """The reason why the frames cannot be drawn."""

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
    """Cuts a byte stream into messages, whatever the size of its pieces."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> Iterator[tuple[int, int, int, bytes]]:
        """Yield the messages that `data` completes, as (game, seat, kind, payload)."""
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
