"""The messages of docs/protocol.md: their numbers, their packing, and the checks on what a client sends."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable
from typing import Annotated, Any, Literal, NamedTuple

import msgspec

from interplay.tasks.keys import MAX_TURN, clip_turn

VERSION = 1
SUBPROTOCOL = "interplay.v1"
MAX_MESSAGE_BYTES = 1024
"""Longest message a client may send."""
MAX_MESSAGES_PER_S = 300
MAX_UNSENT_FRAMES = 2
"""Largest number of frames that may wait in the server for one client."""
MAX_UNACKNOWLEDGED_FRAMES = 45
"""Largest number of frames that were sent to a client and that it has not yet reported as painted."""
HELLO_TIMEOUT_S = 5.0

MAX_UNSENT_SCENES = 16
"""Largest number of scene frames that may wait: larger, because a client has to begin again if one is dropped."""
MAX_LAND_PARTS = 8
"""Largest number of parts of the land that one message may ask for."""
MAX_YAW, MAX_PITCH = 360.0, 90.0
"""Largest yaw and pitch, in degrees, of the direction in which a player looks."""

KEY_FRAME, DELTA_FRAME, JPEG_FRAME, SCENE_FRAME, LAND_FRAME = 1, 2, 3, 4, 5
LAST_FRAME = 1
"""Flag: the episode ended with this frame."""
MAX_U16, MAX_U32 = 2**16 - 1, 2**32 - 1
FRESH = 2
"""Flag of a scene frame: forget everything that came before."""

CLOSE_RESTART = 1012
CLOSE_GARBAGE = 4400
CLOSE_UNSIGNED = 4401
CLOSE_EXPIRED = 4403
CLOSE_TAKEN_OVER = 4409
CLOSE_TOO_LONG = 4413
CLOSE_TOO_MANY = 4429

COMMANDS: frozenset[str] = frozenset(
    ("hello", "start", "pause", "resume", "key", "quit", "scene", "land", "painted", "options", "wheel", "partner", "traced")
)

_HEADER = struct.Struct("<BBHIIIf")
_INPUT = struct.Struct("<BBHId")
_TURN_INPUT = struct.Struct("<BBHIdIff")
_PRESS_INPUT = struct.Struct("<BBHIdIII")
HELD, TURNED, LOOKED, PRESSED, POINTED = 1, 2, 3, 4, 5
HEADER_BYTES = _HEADER.size
INPUT_BYTES = _INPUT.size
TURN_INPUT_BYTES = _TURN_INPUT.size

pack_header = _HEADER.pack
"""(kind, flags, number, step, base step, server time in ms, reward) -> 20 bytes."""


class FrameHeader(NamedTuple):
    """The header of a frame message; docs/protocol.md describes its fields."""

    kind: int
    flags: int
    number: int
    step: int
    base_step: int
    time_ms: int
    reward: float


class PlayerInput(NamedTuple):
    """The buttons that a player holds, and how far they turned: bit i of `buttons` is button i.

    Attributes:
        painted_step: Step of the newest frame on the player's screen.
        turn: (pitch, yaw) in degrees since the last message, each from -180 to 180; None in messages of other kinds.
        look: (pitch, yaw) in degrees of the wanted view, pitch from -90 to 90, yaw from -360 to 360; None in other kinds.
        press: (buttons, number): a press of these buttons, and the number of presses since the welcome; None in other kinds.
        pointed: (x, y), the values that the pointer asks for, finite; None in other kinds.
        pressed: Newly pressed buttons; set when the seat has read the message.
        received_us: When the server received the message, in microseconds since 1970; set when the seat has read it.
    """

    buttons: int
    painted_step: int
    client_ms: float
    turn: tuple[float, float] | None = None
    look: tuple[float, float] | None = None
    press: tuple[int, int] | None = None
    pointed: tuple[float, float] | None = None
    pressed: int = 0
    received_us: int = 0


class ProtocolError(ValueError):
    """A message that breaks this protocol."""


def unpack_header(message: bytes) -> FrameHeader:
    if len(message) < HEADER_BYTES:
        raise ProtocolError(f"a frame message must have at least {HEADER_BYTES} bytes, got {len(message)}")
    return FrameHeader._make(_HEADER.unpack_from(message))


def pack_input(
    buttons: int,
    painted_step: int,
    client_ms: float,
    turn: tuple[float, float] | None = None,
    look: tuple[float, float] | None = None,
    press: tuple[int, int] | None = None,
    pointed: tuple[float, float] | None = None,
) -> bytes:
    """Pack an input message: 16 bytes of kind 1; or 28 bytes of kind 2 with a turn, 3 with a look, 4 with a press, or 5 with
    the values that the pointer asks for.

    Raises:
        ValueError: If the turn is not within -180 to 180 degrees on each axis (send the rest with the next message), the look
            not within -90 to 90 degrees of pitch and -360 to 360 of yaw, or the pointer's values not finite.

    >>> parse_input(pack_input(0b101, 7, 12.5)).buttons
    5
    >>> parse_input(pack_input(1 << 31, 7, 12.5, (0.0, -1.5))).turn
    (0.0, -1.5)
    >>> parse_input(pack_input(0, 7, 12.5, look=(-90.0, 170.0))).look
    (-90.0, 170.0)
    >>> parse_input(pack_input(0b11, 7, 12.5, press=(0b10, 4))).press
    (2, 4)
    """
    if press is not None:
        return _PRESS_INPUT.pack(PRESSED, 0, 0, painted_step, client_ms, buttons, *press)
    if pointed is not None:
        if not all(map(math.isfinite, pointed)):
            raise ValueError(f"the values of a pointer must be finite, got {pointed[0]:g} and {pointed[1]:g}")
        return _TURN_INPUT.pack(POINTED, 0, 0, painted_step, client_ms, buttons, *pointed)
    if look is not None:
        pitch, yaw = look
        if not _is_look(pitch, yaw):
            raise ValueError(f"a look has a pitch from -90 to 90 and a yaw from -360 to 360 degrees, got {pitch:g} and {yaw:g}")
        return _TURN_INPUT.pack(LOOKED, 0, 0, painted_step, client_ms, buttons, pitch, yaw)
    if turn is None:
        return _INPUT.pack(HELD, 0, buttons, painted_step, client_ms)
    pitch, yaw = turn
    if not (abs(pitch) <= MAX_TURN and abs(yaw) <= MAX_TURN):
        raise ValueError(f"a message turns at most {MAX_TURN:g} degrees on each axis, got pitch {pitch:g} and yaw {yaw:g}")
    return _TURN_INPUT.pack(TURNED, 0, 0, painted_step, client_ms, buttons, pitch, yaw)


def parse_input(message: bytes) -> PlayerInput:
    """Read an input message of any kind; turns beyond 180 degrees are clipped. Raises `ProtocolError` for a look beyond its
    bounds, and for anything that is no input message."""
    if len(message) == INPUT_BYTES:
        kind, zero, buttons, painted_step, client_ms = _INPUT.unpack(message)
        if kind == HELD and zero == 0 and math.isfinite(client_ms):
            return PlayerInput(buttons, painted_step, client_ms)
    elif len(message) == TURN_INPUT_BYTES:
        kind, zero, also_zero, painted_step, client_ms, buttons, pitch, yaw = _TURN_INPUT.unpack(message)
        are_good = zero == 0 and also_zero == 0 and math.isfinite(client_ms)
        if kind == PRESSED and are_good:
            pressed, number = _PRESS_INPUT.unpack(message)[-2:]
            return PlayerInput(buttons, painted_step, client_ms, press=(pressed, number))
        are_good = are_good and math.isfinite(pitch) and math.isfinite(yaw)
        if kind == TURNED and are_good:
            return PlayerInput(buttons, painted_step, client_ms, (clip_turn(pitch), clip_turn(yaw)))
        if kind == POINTED and are_good:
            return PlayerInput(buttons, painted_step, client_ms, pointed=(pitch, yaw))
        if kind == LOOKED and are_good:
            if not _is_look(pitch, yaw):
                raise ProtocolError(
                    "a binary message of kind 3 must have a pitch from -90 to 90 and a yaw from -360 to 360 degrees; "
                    f"got {pitch:g} and {yaw:g}"
                )
            return PlayerInput(buttons, painted_step, client_ms, look=(pitch, yaw))
    else:
        raise ProtocolError(f"a binary message must have {INPUT_BYTES} or {TURN_INPUT_BYTES} bytes, got {len(message)}")
    raise ProtocolError(
        "a binary message must be of kind 1 (16 bytes) or 2 to 5 (28 bytes), with finite numbers, and spare bytes of zero"
    )


def _is_look(pitch: float, yaw: float) -> bool:
    return abs(pitch) <= MAX_PITCH and abs(yaw) <= MAX_YAW


GuiPixels = Annotated[int, msgspec.Meta(ge=64, le=2048)]
Pixels = Annotated[int, msgspec.Meta(ge=1, le=1 << 14)]
KeyCode = Annotated[str, msgspec.Meta(pattern="^[A-Za-z0-9]{1,24}\\Z")]


class ClientCommand(msgspec.Struct):
    """A JSON message of a client. Each type has some of these fields; docs/protocol.md gives their meaning."""

    type: str
    token: str = ""
    drawn: Literal["here", "server"] = "server"
    gui_width: GuiPixels = 320
    gui_height: GuiPixels = 180
    parts: Annotated[int, msgspec.Meta(ge=1, le=MAX_LAND_PARTS)] = 1
    who: Literal["me", "agent"] = "me"
    yaw: Annotated[float, msgspec.Meta(ge=-MAX_YAW, le=MAX_YAW)] = 0.0
    pitch: Annotated[float, msgspec.Meta(ge=-MAX_PITCH, le=MAX_PITCH)] = 0.0
    width: Pixels = 1
    height: Pixels = 1
    fps: Annotated[float, msgspec.Meta(ge=0, le=1000)] = 0.0
    input_ms: Annotated[float, msgspec.Meta(ge=0, le=1e6)] | None = None
    sensitivity: Annotated[float, msgspec.Meta(ge=0.1, le=5)] = 1.0
    is_inverted: bool = False
    fov: Annotated[float, msgspec.Meta(ge=30, le=110)] | None = None
    gui_scale: Annotated[float, msgspec.Meta(ge=0.5, le=2)] | None = None
    keys: dict[str, KeyCode] = {}
    arrived_ms: float = 0.0
    painted_ms: float = 0.0

    def options(self, buttons: Iterable[str]) -> str:
        """Return the content of an `options` message as JSON, without the keys of buttons that the task does not have."""
        keys = {button: self.keys[button] for button in buttons if button in self.keys}
        values = {name: getattr(self, name) for name in ("sensitivity", "is_inverted", "fov", "gui_scale")}
        return _encode(values | {"keys": keys}).decode()


_decode_command = msgspec.json.Decoder(ClientCommand).decode


def parse_command(message: str | bytes) -> ClientCommand:
    """Read a JSON message of a client. Raises `ProtocolError` if it is not a JSON object of a known type, or a value is out of
    its bounds."""
    try:
        command = _decode_command(message)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise ProtocolError(f"a text message must be a JSON object with a type: {error}") from None
    if command.type not in COMMANDS:
        raise ProtocolError(f"unknown message type {command.type[:40]!r}; known: {', '.join(sorted(COMMANDS))}")
    return command


_encode = msgspec.json.Encoder().encode


def text(kind: str, **fields: Any) -> str:
    """Return a JSON message of the server.

    >>> text("started", step=0)
    '{"type":"started","step":0}'
    """
    return _encode({"type": kind, **fields}).decode()
