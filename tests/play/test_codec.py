import asyncio
import json

import numpy as np
import pytest

from bench.players import Player
from interplay.envs import Frame, make
from interplay.play.connections import wire
from interplay.play.connections.codec import ColourTable, FrameDecoder, FrameEncoder, OutOfStepError, palette_from_text
from interplay.record.format.schema import frame_hash


def encode(encoder: FrameEncoder, frame: Frame, step: int) -> bytes:
    return encoder.encode(frame, step=step, time_ms=step * 16, reward=0.0)


def decoder_for(encoder: FrameEncoder) -> FrameDecoder:
    return FrameDecoder(encoder.width, encoder.height, encoder.palette)


def test_a_game_decodes_to_the_same_pixels_through_skips_and_key_frames() -> None:
    env = make("atari/breakout")
    env.reset(seed=1)
    encoder = FrameEncoder(env.view())
    decoder = decoder_for(encoder)
    rng = np.random.default_rng(0)
    sizes = []
    for step in range(200):
        if step % 7 == 3:  # a skipped frame: the next delta is against the last one sent
            env.step({"player": int(rng.integers(18))})
        if step % 50 == 0:
            encoder.request_key()
        message = encode(encoder, env.view(), step)
        header = decoder.apply(message)
        assert header.kind == (wire.KEY_FRAME if step % 50 == 0 else wire.DELTA_FRAME)
        assert np.array_equal(decoder.frame().rgb(), env.view().rgb())
        sizes.append(len(message))
        env.step({"player": int(rng.integers(18))})
    assert np.median(sizes) < 300  # bytes, header included; measured 64 in Breakout


def test_a_delta_against_another_frame_asks_for_a_key_frame() -> None:
    palette = np.zeros((256, 3), np.uint8)
    encoder = FrameEncoder(Frame(np.zeros((4, 5), np.uint8), palette))
    decoder = decoder_for(encoder)
    decoder.apply(encode(encoder, Frame(np.full((4, 5), 1, np.uint8), palette), 0))
    encode(encoder, Frame(np.full((4, 5), 2, np.uint8), palette), 1)  # lost
    with pytest.raises(OutOfStepError, match="frame 2 builds on frame 1; the current frame is 0"):
        decoder.apply(encode(encoder, Frame(np.full((4, 5), 3, np.uint8), palette), 2))
    encoder.request_key()
    decoder.apply(encode(encoder, Frame(np.full((4, 5), 4, np.uint8), palette), 3))
    assert (decoder.pixels == 4).all()


@pytest.mark.parametrize(
    "damage", [lambda m: m[:19], lambda m: m[:-3], lambda m: m[:20] + b"\xff" * 9, lambda m: b"\x09" + m[1:]]
)
def test_damaged_frames_are_protocol_errors(damage) -> None:
    frame = Frame(np.random.default_rng(0).integers(0, 256, (6, 7), np.uint8), np.zeros((256, 3), np.uint8))
    encoder = FrameEncoder(frame)
    with pytest.raises(wire.ProtocolError):
        decoder_for(encoder).apply(damage(encode(encoder, frame, 0)))


def test_few_colours_become_a_palette_that_grows() -> None:
    rgb = np.zeros((10, 12, 3), np.uint8)
    encoder = FrameEncoder(Frame(rgb))
    assert encoder.codec == "palette"
    decoder = decoder_for(encoder)
    for step in range(40):
        rgb[step % 10, step % 12] = (step * 5, 255 - step, 7)
        message = encode(encoder, Frame(rgb), step)
        for notice in encoder.take_notices():
            decoder.palette = palette_from_text(json.loads(notice)["palette"])
        decoder.apply(message)
        assert np.array_equal(decoder.frame().rgb(), rgb)


def test_players_of_the_bench_hash_pictures_as_recordings_do() -> None:
    rgb = np.zeros((10, 12, 3), np.uint8)
    encoder = FrameEncoder(Frame(rgb))
    expected: list[int] = []

    async def seen() -> list[int]:
        player = Player({"token": ""}, False, np.random.default_rng(0), 4, exact=True, in_colours=True)
        player._take({"type": "welcome", **encoder.welcome()})
        for step in range(3):
            rgb[step] = (step * 5, 200, 7)
            message = encode(encoder, Frame(rgb), step)
            for notice in encoder.take_notices():
                player._take(json.loads(notice))
            player._see(message)
            expected.append(frame_hash(rgb))
        return player.decoded()[0].tolist()

    assert asyncio.run(seen()) == expected


def test_the_257th_colour_changes_the_coding_to_jpeg() -> None:
    rgb = np.zeros((32, 32, 3), np.uint8)
    encoder = FrameEncoder(Frame(rgb))
    decoder = decoder_for(encoder)
    decoder.apply(encode(encoder, Frame(rgb), 0))
    rgb[...] = np.random.default_rng(0).integers(0, 256, rgb.shape, np.uint8)
    message = encode(encoder, Frame(rgb), 1)
    assert [json.loads(notice) for notice in encoder.take_notices()] == [{"type": "codec", "codec": "jpeg"}]
    assert decoder.apply(message).kind == wire.JPEG_FRAME
    assert decoder.frame().palette is None
    assert decoder.pixels.shape == (32, 32, 3)


def test_a_colour_table_holds_exactly_256_colours() -> None:
    table = ColourTable(16, 16)
    values = np.arange(256, dtype=np.uint32)
    rgb = np.stack([values * 3 % 256, values, values * 7 % 256], axis=-1).astype(np.uint8).reshape(16, 16, 3)
    indices = table.indices(rgb)
    assert indices is not None
    assert table.num_colours == 256
    assert np.array_equal(table.palette[indices], rgb)
    rgb[0, 0] = (1, 2, 3)
    assert table.indices(rgb) is None


def test_a_picture_that_changes_its_size_is_refused() -> None:
    encoder = FrameEncoder(Frame(np.zeros((4, 5, 3), np.uint8)))
    with pytest.raises(ValueError, match="from 5x4 to 6x4"):
        encode(encoder, Frame(np.zeros((4, 6, 3), np.uint8)), 0)


def test_smaller_pictures_of_a_world_that_has_some_come_as_jpeg_and_say_their_own_size() -> None:
    encoder = FrameEncoder(Frame(np.zeros((8, 16, 3), np.uint8)), (8, 16))
    decoder = decoder_for(encoder)
    decoder.apply(encode(encoder, Frame(np.zeros((8, 16, 3), np.uint8)), 0))
    assert encoder.codec == "palette"
    decoder.apply(encode(encoder, Frame(np.full((4, 8, 3), 200, np.uint8)), 1))
    assert [json.loads(notice)["codec"] for notice in encoder.take_notices()] == ["jpeg"]
    assert decoder.pixels.shape == (4, 8, 3)
    decoder.apply(encode(encoder, Frame(np.zeros((8, 16, 3), np.uint8)), 2))
    assert decoder.pixels.shape == (8, 16, 3)
    assert encoder.welcome()["height"] == 8
