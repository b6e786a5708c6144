import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interplay.play import wire
from interplay.play.channel import Unpacker, pack


@given(st.integers(0, 2**16 - 1), st.integers(0, 2**32 - 1), st.floats(allow_nan=False, allow_infinity=False))
def test_an_input_comes_back_as_it_was_packed(buttons: int, painted: int, client_ms: float) -> None:
    message = wire.pack_input(buttons, painted, client_ms)
    assert len(message) == 16
    assert wire.parse_input(message) == (buttons, painted, client_ms)


@given(st.binary(max_size=40))
def test_any_bytes_are_an_input_or_a_protocol_error(message: bytes) -> None:
    with contextlib.suppress(wire.ProtocolError):
        assert wire.pack_input(*wire.parse_input(message)) == message


@given(st.text(max_size=60) | st.sampled_from(['{"type":"start"}', '{"type":1}', "[]", "null", '{"type":"hello","token":7}']))
def test_any_text_is_a_command_or_a_protocol_error(message: str) -> None:
    try:
        kind, _ = wire.parse_command(message)
        assert kind in wire.COMMANDS
    except wire.ProtocolError:
        pass


def test_a_header_has_the_offsets_of_the_protocol_page() -> None:
    message = wire.pack_header(2, 1, 0, 7, 6, 116, 30.0)
    assert message.hex() == "02010000" + "07000000" + "06000000" + "74000000" + "0000f041"
    assert wire.unpack_header(message) == (2, 1, 0, 7, 6, 116, 30.0)
    with pytest.raises(wire.ProtocolError, match="at least 20 bytes"):
        wire.unpack_header(message[:19])


@given(
    st.lists(st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 9), st.binary(max_size=50)), max_size=8),
    st.lists(st.integers(1, 60), min_size=1, max_size=20),
)
def test_channel_messages_survive_any_cut(messages: list[tuple[int, int, bytes]], cuts: list[int]) -> None:
    stream = b"".join(pack(*message) for message in messages)
    unpacker, got, position = Unpacker(), [], 0
    for size in [*cuts, len(stream) + 1]:
        got += unpacker.feed(stream[position : position + size])
        position += size
    assert got == messages
