"""Spaces of every kind that can be recorded, nested, with starts, bounds, sizes of zero and odd keys."""

import numpy as np
from gymnasium import spaces
from hypothesis import strategies as st


def boxes(shape, dtype, numbers, are_unbounded):
    """A Box with bounds of its own for each number, some of them none."""
    size = int(np.prod(shape))
    low = np.array([(numbers + place) % 5 for place in range(size)], dtype).reshape(shape)
    high = low + np.array(1, dtype)
    if are_unbounded and np.dtype(dtype).kind == "f":
        low.flat[:1], high.flat[1:] = -np.inf, np.inf
    if are_unbounded and np.dtype(dtype).kind == "i":
        low = -np.inf
    return spaces.Box(low, high, tuple(shape), dtype)


leaves = st.one_of(
    st.builds(spaces.Discrete, st.integers(1, 30), start=st.integers(-5, 5), dtype=st.sampled_from([np.int64, np.int8])),
    st.builds(
        boxes,
        st.lists(st.integers(0, 3), max_size=3),
        st.sampled_from([np.uint8, np.int8, np.int32, np.int64, np.uint64, np.float16, np.float32, np.float64]),
        st.integers(0, 9),
        st.booleans(),
    ),
    st.integers(1, 4).flatmap(
        lambda size: st.builds(
            spaces.MultiDiscrete,
            st.lists(st.integers(1, 9), min_size=size, max_size=size),
            start=st.none() | st.lists(st.integers(-9, 9), min_size=size, max_size=size),
            dtype=st.sampled_from([np.int64, np.int16]),
        )
    ),
    st.builds(spaces.MultiBinary, st.integers(1, 5) | st.just([2, 3])),
    st.builds(spaces.Text, st.integers(2, 9), min_length=st.integers(0, 2), charset=st.sampled_from(["ab", "to the réd 門 "])),
)
KEYS = st.sampled_from(["camera", "a/b", "a.b", "", "0", "{}", "é 門", "a b"]) | st.integers(1, 3)
any_space = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(spaces.Dict, st.dictionaries(KEYS, inner, max_size=3)),
        st.builds(spaces.Tuple, st.lists(inner, max_size=3)),
    ),
    max_leaves=4,
)


def equal(first, second):
    if isinstance(second, dict):
        return first.keys() == second.keys() and all(equal(first[key], second[key]) for key in second)
    if isinstance(second, tuple):
        return len(first) == len(second) and all(map(equal, first, second))
    return bool(np.array_equal(first, second))
