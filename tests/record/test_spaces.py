"""Any value of any supported space survives the way through Arrow."""

from __future__ import annotations

import json

import gymnasium
import numpy as np
import pyarrow as pa
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st

from interplay.record import RecordingError
from interplay.record import spaces as columns

leaves = st.one_of(
    st.builds(spaces.Discrete, st.integers(1, 30), start=st.integers(-5, 5)),
    st.builds(
        lambda shape, dtype: spaces.Box(0, 7, tuple(shape), dtype),
        st.lists(st.integers(1, 3), max_size=3),
        st.sampled_from([np.uint8, np.int8, np.int32, np.float32, np.float64]),
    ),
    st.builds(spaces.MultiDiscrete, st.lists(st.integers(1, 9), min_size=1, max_size=4)),
    st.builds(spaces.MultiBinary, st.integers(1, 5)),
    st.builds(spaces.Text, st.integers(1, 9)),
)
any_space = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(spaces.Dict, st.dictionaries(st.sampled_from(["camera", "jump", "use"]), inner, min_size=1)),
        st.builds(spaces.Tuple, st.lists(inner, min_size=1, max_size=3)),
    ),
    max_leaves=4,
)


def equal(first, second):
    if isinstance(second, dict):
        return first.keys() == second.keys() and all(equal(first[key], second[key]) for key in second)
    if isinstance(second, tuple):
        return len(first) == len(second) and all(map(equal, first, second))
    return bool(np.array_equal(first, second))


@settings(max_examples=60, deadline=None)
@given(any_space, st.integers(0, 2**31), st.integers(1, 6))
def test_values_come_back_and_so_does_the_space(space, seed, count):
    space.seed(seed)
    values = [space.sample() for _ in range(count)]
    array = columns.to_arrow(space, [None, *values])
    assert array.null_count == 1
    assert array.type == columns.arrow_type(space)
    restored = columns.from_json(json.loads(json.dumps(columns.to_json(space))))
    for where in (space, restored):
        back = columns.from_arrow(where, array.slice(1))
        assert all(equal(got, value) for got, value in zip(back, values, strict=True))
    assert columns.to_arrow(space, values).type == pa.array(array).type


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
