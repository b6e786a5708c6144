import contextlib
import math
import struct

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interplay.play.connections import wire
from interplay.play.workers import channel
from interplay.play.workers.channel import Unpacker, pack, pack_input, unpack_input
from interplay.record import Owner


@given(st.integers(0, 2**16 - 1), st.integers(0, 2**32 - 1), st.floats(allow_nan=False, allow_infinity=False))
def test_an_input_comes_back_as_it_was_packed(buttons: int, painted: int, client_ms: float) -> None:
    message = wire.pack_input(buttons, painted, client_ms)
    assert len(message) == 16
    assert wire.parse_input(message) == wire.PlayerInput(buttons, painted, client_ms)


TURNS = st.floats(-180, 180, width=32)


@given(
    st.integers(0, 2**32 - 1),
    st.integers(0, 2**32 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.tuples(TURNS, TURNS),
)
def test_an_input_with_a_turn_comes_back_as_it_was_packed(
    buttons: int, painted: int, client_ms: float, turn: tuple[float, float]
) -> None:
    message = wire.pack_input(buttons, painted, client_ms, turn)
    assert len(message) == 28
    assert wire.parse_input(message) == wire.PlayerInput(buttons, painted, client_ms, turn)


def test_an_input_with_a_turn_has_the_offsets_of_the_protocol_page() -> None:
    message = wire.pack_input(0x80000001, 258, 1.5, (-1.0, 2.0))
    assert message.hex() == "02000000" + "02010000" + "000000000000f83f" + "01000080" + "000080bf" + "00000040"


def test_turns_are_clipped_and_what_is_no_number_is_refused() -> None:
    def message(*, kind: int = 2, spare: int = 0, also_spare: int = 0, ms: float = 0.0, pitch: float, yaw: float) -> bytes:
        return struct.pack("<BBHIdIff", kind, spare, also_spare, 0, ms, 0, pitch, yaw)

    assert wire.parse_input(message(pitch=-500.0, yaw=180.5)).turn == (-180.0, 180.0)
    nan, infinity = float("nan"), float("inf")
    for bad in (
        message(pitch=nan, yaw=0.0),
        message(pitch=0.0, yaw=-infinity),
        message(ms=nan, pitch=0.0, yaw=0.0),
        message(kind=1, pitch=0.0, yaw=0.0),
        message(spare=1, pitch=0.0, yaw=0.0),
        message(also_spare=1, pitch=0.0, yaw=0.0),
        message(pitch=0.0, yaw=0.0)[:27],
    ):
        with pytest.raises(wire.ProtocolError):
            wire.parse_input(bad)
    for turn in ((180.5, 0.0), (0.0, nan)):
        with pytest.raises(ValueError, match="at most 180 degrees on each axis, got pitch"):
            wire.pack_input(0, 0, 0.0, turn)


@given(st.floats(-90, 90, width=32), st.floats(-360, 360, width=32))
def test_an_input_with_a_look_comes_back_as_it_was_packed(pitch: float, yaw: float) -> None:
    message = wire.pack_input(3, 7, 12.5, look=(pitch, yaw))
    assert len(message) == 28
    assert wire.parse_input(message) == wire.PlayerInput(3, 7, 12.5, look=(pitch, yaw))


@given(st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1)))
def test_a_press_comes_back_as_it_was_packed(press: tuple[int, int]) -> None:
    message = wire.pack_input(3, 7, 12.5, press=press)
    assert len(message) == 28
    assert wire.parse_input(message) == wire.PlayerInput(3, 7, 12.5, press=press)


def test_a_press_has_the_offsets_of_the_protocol_page() -> None:
    message = wire.pack_input(0x80000001, 258, 1.5, press=(2, 259))
    assert message.hex() == "04000000" + "02010000" + "000000000000f83f" + "01000080" + "02000000" + "03010000"


@given(st.tuples(*2 * [st.floats(allow_nan=False, allow_infinity=False, width=32)]))
def test_what_the_pointer_asks_for_comes_back_as_it_was_packed(pointed: tuple[float, float]) -> None:
    assert wire.parse_input(wire.pack_input(3, 7, 12.5, pointed=pointed)) == wire.PlayerInput(3, 7, 12.5, pointed=pointed)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_pointer_that_asks_for_no_number_is_refused(number: float) -> None:
    with pytest.raises(wire.ProtocolError):
        wire.parse_input(struct.pack("<BBHIdIff", 5, 0, 0, 0, 0.0, 0, 0.0, number))
    with pytest.raises(ValueError, match="the values of a pointer must be finite"):
        wire.pack_input(0, 0, 0.0, pointed=(number, 0.0))


def test_a_look_out_of_its_bounds_is_refused() -> None:
    for pitch, yaw in [(90.1, 0.0), (-91.0, 0.0), (0.0, 361.0), (math.nan, 0.0), (0.0, math.inf), (0.0, -math.inf)]:
        with pytest.raises(wire.ProtocolError):
            wire.parse_input(struct.pack("<BBHIdIff", 3, 0, 0, 0, 0.0, 0, pitch, yaw))
        with pytest.raises(ValueError, match="a look has a pitch from -90 to 90"):
            wire.pack_input(0, 0, 0.0, look=(pitch, yaw))


def test_what_a_page_says_of_its_drawing_has_bounds() -> None:
    for message in [
        '{"type": "scene", "drawn": "there"}',
        '{"type": "scene", "drawn": "here", "gui_width": 2049, "gui_height": 180}',
        '{"type": "scene", "drawn": "here", "gui_width": 320, "gui_height": 0}',
        '{"type": "scene", "drawn": "here", "gui_width": 1e300}',
        '{"type": "land", "parts": 0}',
        '{"type": "land", "parts": 9}',
        '{"type": "land", "parts": "all"}',
        '{"type": "painted", "yaw": 1e999}',
        '{"type": "painted", "pitch": NaN}',
        '{"type": "painted", "pitch": 91}',
        '{"type": "painted", "width": 0}',
        '{"type": "painted", "height": 100000}',
        '{"type": "painted", "fps": -1}',
        '{"type": "painted", "input_ms": 1e7}',
        '{"type": "options", "fov": 111}',
        '{"type": "options", "gui_scale": 0}',
        '{"type": "options", "sensitivity": NaN}',
        '{"type": "options", "keys": {"drop": "Key\\n"}}',
        '{"type": "options", "keys": ["drop"]}',
        '{"type": "options", "more": ' + "[" * 100_000,
    ]:
        with pytest.raises(wire.ProtocolError):
            wire.parse_command(message)


@given(
    st.integers(0, 2**32 - 1),
    st.integers(0, 2**64 - 1),
    st.sampled_from(("turn", "look", "pointed", None)),
    st.tuples(TURNS, TURNS),
)
def test_the_channel_to_the_worker_carries_what_a_seat_has_read(
    buttons: int, received_us: int, name: str | None, pair: tuple[float, float]
) -> None:
    held = wire.PlayerInput(buttons, 7, 12.5, pressed=2**32 - 1, received_us=received_us)
    if name is not None:
        held = held._replace(**{name: pair})
    assert unpack_input(pack_input(held)) == held


@given(st.binary(max_size=40))
def test_any_bytes_are_an_input_or_a_protocol_error(message: bytes) -> None:
    with contextlib.suppress(wire.ProtocolError):
        assert wire.pack_input(*wire.parse_input(message)[:7]) == message


@given(st.text(max_size=60) | st.sampled_from(['{"type":"start"}', '{"type":1}', "[]", "null", '{"type":"hello","token":7}']))
def test_any_text_is_a_command_or_a_protocol_error(message: str) -> None:
    with contextlib.suppress(wire.ProtocolError):
        assert wire.parse_command(message).type in wire.COMMANDS


def test_a_header_has_the_offsets_of_the_protocol_page() -> None:
    message = wire.pack_header(2, 1, 0, 7, 6, 116, 30.0)
    assert message.hex() == "02010000" + "07000000" + "06000000" + "74000000" + "0000f041"
    assert wire.unpack_header(message) == (2, 1, 0, 7, 6, 116, 30.0)
    with pytest.raises(wire.ProtocolError, match="at least 20 bytes"):
        wire.unpack_header(message[:19])


@given(
    st.lists(
        st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 2**16 - 1), st.integers(0, 9), st.binary(max_size=50)), max_size=8
    ),
    st.lists(st.integers(1, 60), min_size=1, max_size=20),
)
def test_channel_messages_survive_any_cut(messages: list[tuple[int, int, int, bytes]], cuts: list[int]) -> None:
    stream = b"".join(pack(number, kind, payload, seat=seat) for number, seat, kind, payload in messages)
    unpacker, got, position = Unpacker(), [], 0
    for size in [*cuts, len(stream) + 1]:
        got += unpacker.feed(stream[position : position + size])
        position += size
    assert got == messages


def test_commands_and_events_come_back_as_they_were_and_others_are_refused() -> None:
    start = channel.Start("episode", "session", 7, {"left": Owner("ann", "human", 5), "right": Owner("bot", "agent")})
    assert channel.decode_command(channel.encode(start)) == start
    ended = channel.Ended("quit", None, (1.5, -2.0), 12)
    assert channel.decode_event(channel.encode(ended)) == ended
    for decode in (channel.decode_command, channel.decode_event):
        with pytest.raises(msgspec.ValidationError, match="Invalid value"):
            decode(b'{"do": "dance", "event": "dance"}')
    with pytest.raises(msgspec.ValidationError, match="`int`"):
        channel.decode_command(b'{"do": "prepare", "task": {}, "seed": "seven"}')
