"""Any value of any supported space survives the way through Arrow."""

import io
import json

import gymnasium
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from any_spaces import any_space, equal
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st

from interplay.record import RecordingError
from interplay.record.format import spaces as columns


def is_bounded_alike(first, second):
    if isinstance(first, spaces.Dict | spaces.Tuple):
        keys = first.spaces if isinstance(first, spaces.Dict) else range(len(first.spaces))
        return all(is_bounded_alike(first.spaces[key], second.spaces[key]) for key in keys)
    return not isinstance(first, spaces.Box) or (
        np.array_equal(first.bounded_below, second.bounded_below) and np.array_equal(first.bounded_above, second.bounded_above)
    )


@pytest.mark.filterwarnings("ignore:.*Casting input x")  # of numbers in a Box of shape ()
@settings(max_examples=150, deadline=None)
@given(any_space, st.integers(0, 2**31), st.integers(1, 6))
def test_values_come_back_and_so_does_the_space(space, seed, count):
    space.seed(seed)
    values = [space.sample() for _ in range(count)]
    array = columns.to_arrow(space, [None, *values])
    assert array.null_count == 1
    assert array.type == columns.arrow_type(space)
    restored = columns.from_json(json.loads(json.dumps(columns.to_json(space), allow_nan=False)))
    assert restored == space
    assert is_bounded_alike(space, restored)
    for where in (space, restored):
        back = columns.from_arrow(where, array.slice(1))
        assert all(equal(got, value) for got, value in zip(back, values, strict=True))
        assert all(where.contains(got) for got in back)
    assert columns.to_arrow(space, values).type == pa.array(array).type
    sink = io.BytesIO()
    pq.write_table(pa.table({"v": array}), sink)
    again = pq.read_table(sink).column("v").combine_chunks()
    assert all(map(equal, columns.from_arrow(restored, again.slice(1)), values))


def test_a_value_that_its_space_would_change_is_refused():
    for space, value, text in [
        (spaces.Box(0, 255, (2,), np.uint8), [7, 300], r"300 is not a value of Box\(0, 255, \(2,\), uint8\), and uint8 would"),
        (spaces.Box(0, 255, (1,), np.uint8), np.array([0.25]), "0.25 is not a value of Box"),
        (spaces.Box(0, 255, (1,), np.uint8), np.array([-1], np.int8), "-1 is not a value of Box"),
        (spaces.Box(0, 1, (1,), np.float32), np.array([1e300]), r"1e\+300 is not a value of Box"),
        (spaces.Box(0, 1, (1,), np.float32), np.array([2**24 + 1]), "16777217 is not a value of Box"),
        (spaces.Box(0, 1, (1,), np.float32), ["1.5"], r"\['1.5'\] is not a value of Box"),
        (spaces.Box(0, 9, (1,), np.int64), np.array([np.nan]), "nan is not a value of Box"),
        (spaces.Discrete(3), 1.7, r"1.7 is not a value of Discrete\(3\), and int64 would"),
        (spaces.Discrete(3), "1", "'1' is not a value of Discrete"),
        (spaces.MultiBinary(2), [0.5, 1], "0.5 is not a value of MultiBinary"),
        (spaces.Text(3), 3, "3 is not a value of Text"),
        (spaces.Dict({"a": spaces.Discrete(2)}), {"a": 1, "b": 2}, "'b': 2} is not a value of Dict"),
        (spaces.Tuple([spaces.Discrete(2)]), (1, 1), r"\(1, 1\) is not a value of Tuple"),
    ]:
        with pytest.raises(RecordingError, match=text):
            columns.to_arrow(space, [value])


def test_values_out_of_bounds_and_floats_of_more_digits_are_kept():
    """Two habits that lose nothing that matters."""
    assert columns.to_arrow(spaces.Discrete(3), [7]).to_pylist() == [7]
    assert columns.to_arrow(spaces.Discrete(3), [np.array([2])]).to_pylist() == [2]
    assert columns.to_arrow(spaces.Box(0, 1, (1,)), [np.array([5.5])]).to_pylist() == [[5.5]]
    assert columns.to_arrow(spaces.Box(0, 9, (1,), np.uint8), [[2.0]]).to_pylist() == [b"\x02"]


def test_spaces_of_earlier_releases_are_read():
    assert columns.from_json({"kind": "Box", "shape": [2], "dtype": "uint8"}) == spaces.Box(0, 255, (2,), np.uint8)
    unbounded = columns.from_json({"kind": "Box", "shape": [2], "dtype": "float32"})
    assert unbounded == spaces.Box(-np.inf, np.inf, (2,))
    assert not unbounded.is_bounded("below")
    assert columns.from_json({"kind": "Text", "max_length": 4}) == spaces.Text(4)
    assert columns.from_json({"kind": "MultiDiscrete", "nvec": [2, 3], "dtype": "int64"}) == spaces.MultiDiscrete([2, 3])
    flat = {"kind": "Box", "shape": [1, 2], "dtype": "float32", "low": [-1.0, None], "high": [1.0, None]}  # of a model.json
    assert columns.from_json(flat) == spaces.Box(np.float32([[-1, -np.inf]]), np.float32([[1, np.inf]]))


def test_keys_that_no_file_can_hold_are_refused():
    for keys in [(1, "1"), ("a\0",), ("\ud800",), (True,), (0.5,)]:
        with pytest.raises(RecordingError, match=r"cannot be recorded\nUse different texts or whole numbers as keys"):
            columns.arrow_type(spaces.Dict([(key, spaces.Discrete(2)) for key in keys]))


def test_a_tuple_may_come_as_an_array():
    space = spaces.Tuple((spaces.Discrete(3), spaces.Discrete(3)))
    array = columns.to_arrow(space, [np.array([1, 2]), None])
    assert list(columns.from_arrow(space, array.slice(0, 1))) == [(1, 2)]
    assert array.null_count == 1


def test_spaces_without_a_fixed_form_are_refused():
    with pytest.raises(RecordingError, match="spaces may be Discrete, Box"):
        columns.arrow_type(gymnasium.spaces.Sequence(spaces.Discrete(3)))


def test_a_value_of_the_wrong_shape_is_refused():
    with pytest.raises(RecordingError, match=r"must have shape \(2,\), got \(3,\)"):
        columns.to_arrow(spaces.Box(0, 1, (2,)), [np.zeros(3)])
