"""Messages of a scene: what was packed comes back, and bytes that lie are refused with a reason."""

import json
import zlib

import numpy as np
import pytest

from blockworld.errors import WorldError
from blockworld.scene import packing


def message(places, *, document=(), body=b""):
    head = json.dumps({**dict(document), "arrays": places}).encode()
    head += b" " * (-len(head) % 4)
    return len(head).to_bytes(4, "little") + head + body


def test_arrays_come_back_with_dtype_and_shape():
    for dtype in packing.DTYPES:
        for shape in [(), (0,), (3,), (2, 3, 5), (0, 7)]:
            array = (np.random.default_rng(1).random(shape) * 250).astype(dtype)
            document, arrays = packing.unpack(packing.pack({"me": {"x": 0.1}}, {"first": np.ones(3, np.uint8), "array": array}))
            assert document == {"me": {"x": 0.1}}
            assert arrays["first"].tolist() == [1, 1, 1]
            assert (arrays["array"].dtype, arrays["array"].shape) == (np.dtype(dtype), shape)
            np.testing.assert_array_equal(arrays["array"], array)


def test_an_array_that_is_not_contiguous_is_packed_in_c_order():
    array = np.arange(24, dtype=np.uint16).reshape(4, 6).T[::2]
    np.testing.assert_array_equal(packing.unpack(packing.pack({}, {"a": array}))[1]["a"], array)


def test_each_array_starts_at_a_multiple_of_four_bytes():
    data = packing.pack({"text": "é"}, {"a": np.ones(3, np.uint8), "b": np.full(1, 7, np.uint32)})
    size = int.from_bytes(data[:4], "little")
    head = json.loads(data[4 : 4 + size])
    assert size % 4 == 0
    assert head == {"text": "é", "arrays": {"a": ["uint8", [3], 0], "b": ["uint32", [1], 4]}}
    assert data[4 + size :] == b"\1\1\1\0\7\0\0\0"


def test_other_dtypes_are_refused():
    for dtype in [np.float64, np.int64, np.bool_, "S3", object]:
        with pytest.raises(WorldError, match="is one of uint8, int16"):
            packing.pack({}, {"a": np.zeros(2, dtype)})


def test_a_document_may_not_have_arrays_of_its_own():
    with pytest.raises(WorldError, match="choose another name"):
        packing.pack({"arrays": 1}, {})


def test_an_array_that_cannot_be_there_is_refused():
    for place, body in [
        (["uint8", [5], 0], b"1234"),  # more than there is
        (["uint8", [4], 4], b"1234"),
        (["uint8", [2**62, 4], 0], b"1234"),
        (["uint8", [2**63, 0], 0], b"1234"),
        (["uint32", [2**62], 0], b"1234"),
        (["uint8", [-1], 0], b"1234"),
        (["uint8", [-2, -2], 0], b"1234"),
        (["uint8", [1.0], 0], b"1234"),
        (["uint8", [True], 0], b"1234"),
        (["uint8", ["1"], 0], b"1234"),
        (["uint8", 4, 0], b"1234"),
        (["uint8", [1] * 9, 0], b"1234"),
        (["uint8", [1], 1], b"1234"),
        (["uint8", [1], -4], b"1234"),
        (["uint8", [1], 2**70], b"1234"),
        (["uint8", [1], 0.0], b"1234"),
        (["uint8", [0], 8], b"1234"),
        (["float64", [0], 0], b"1234"),
        (["object", [0], 0], b"1234"),
        ([["uint8"], [0], 0], b"1234"),
        (["uint8", [1]], b"1234"),
        (["uint8", [1], 0, 0], b"1234"),
        ({"dtype": "uint8"}, b"1234"),
        (None, b"1234"),
    ]:
        with pytest.raises(WorldError, match=r"array 'a' .* cannot be at"):
            packing.unpack(message({"a": place}, body=body))


def test_a_head_that_is_none_is_refused():
    for data in [
        b"",
        b"\0\0\0",
        b"\0\0\0\0",
        b"\3\0\0\0{} ",
        b"\4\0\0\0{}  ",
        b"\4\0\0\0[]  ",
        b"\4\0\0\0\xff\xfe  ",
        b"\xff\xff\xff\xff{}  ",
        message([]),
        message(3),
        b"\x10\0\0\0" + b'{"arrays": nope}',
        b"\x14\0\0\0" + b'{"a":NaN,"arrays":{}',
    ]:
        with pytest.raises(WorldError, match="the head of a scene's message"):
            packing.unpack(data)


def test_every_cut_of_a_message_is_refused():
    data = packing.pack({"tick": 1}, {"a": np.arange(9, dtype=np.uint16)})
    for length in range(len(data) - 3):  # the last two bytes are padding
        with pytest.raises(WorldError):
            packing.unpack(data[:length])


def test_deflated_bytes_come_back_and_broken_ones_are_refused():
    data = packing.pack({"tick": 1}, {"a": np.arange(900, dtype=np.uint16)})
    packed = packing.deflate(data)
    assert zlib.decompress(packed, -15) == data == packing.inflate(packed)
    for broken in (b"", packed[:-1], packed + b"more", b"\xff" + packed):
        with pytest.raises(WorldError, match="a scene's message"):
            packing.inflate(broken)


def test_a_bomb_is_not_inflated():
    bomb = packing.deflate(bytes(packing.MOST_BYTES + 1))
    with pytest.raises(WorldError, match="larger than"):
        packing.inflate(bomb)
