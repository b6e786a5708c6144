"""Convert Gymnasium spaces to Arrow columns: types, values in both directions, and the space itself as JSON.

| space | Arrow type |
| --- | --- |
| Discrete | int64 |
| Box of uint8 | fixed-size binary, row-major |
| other Box, MultiDiscrete, MultiBinary | fixed-size list of its dtype, row-major |
| Text | string |
| Dict, Tuple | struct, one field for each entry ("0", "1", ... for a tuple) |
| a Box or MultiDiscrete without elements, a Dict or Tuple without entries | bool, true where there is a value |

A value is kept unchanged or refused, except that floats may lose digits, and texts lose characters that no file can hold.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from gymnasium import spaces

from interplay.envs.info import clean_text
from interplay.record.errors import RecordingError

_FLAT = (spaces.Box, spaces.MultiDiscrete, spaces.MultiBinary)


def arrow_type(space: spaces.Space) -> pa.DataType:
    """Return the Arrow type that holds one value of a space.

    Raises:
        RecordingError: If the space has no fixed form (Graph, Sequence, ...), or keys or numbers that no file can hold.
    """
    if isinstance(space, spaces.Discrete):
        return pa.int64()
    if is_void(space):
        return pa.bool_()
    if isinstance(space, _FLAT):
        size = math.prod(space.shape)
        if space.dtype == np.uint8:
            return pa.binary(size)
        try:
            return pa.list_(pa.from_numpy_dtype(space.dtype), size)
        except pa.ArrowNotImplementedError:
            raise RecordingError(f"numbers of type {space.dtype} cannot be recorded; use float64 in {space}") from None
    if isinstance(space, spaces.Text):
        return pa.string()
    if isinstance(space, spaces.Dict | spaces.Tuple):
        names = [name for name, _ in _parts(space)]
        keys = space.spaces if isinstance(space, spaces.Dict) else ()
        if any(type(key) not in (str, int) or str(key) != clean_text(str(key)) for key in keys) or len(set(names)) < len(names):
            raise RecordingError(
                f"a Dict with the keys {', '.join(map(repr, keys))} cannot be recorded\n"
                "Use different texts or whole numbers as keys, without NUL and halves of surrogate pairs."
            )
        return pa.struct([(name, arrow_type(part)) for name, part in _parts(space)])
    raise _unsupported(space)


def _unsupported(space: spaces.Space) -> RecordingError:
    return RecordingError(
        f"values of {space} cannot be recorded; spaces may be Discrete, Box, MultiDiscrete, MultiBinary, Text, Dict, Tuple.\n"
        "Wrap the environment so that its actions and observations use those."
    )


def is_void(space: spaces.Space) -> bool:
    """Return whether values of a space are empty: Arrow and Parquet have no lists of size 0 and no structs without fields."""
    return not space.spaces if isinstance(space, spaces.Dict | spaces.Tuple) else 0 in (space.shape or ())


_MOST_NUMBERS = 2**28
"""Largest number of elements of a Box that a file describes, because a larger one could claim too much memory."""


def load_arrow() -> None:
    """Make a first array before any game: Arrow then loads pandas, if installed, which takes a third of a second."""
    pa.array([0])


def held(space: spaces.Space, value: Any) -> Any:
    """Return a copy of a value in the dtype of its space; worlds and agents may reuse their own arrays.

    Raises:
        RecordingError: If the dtype would change the value: 300 is not a uint8, 1.7 not an integer. Floats may lose digits. A
            value outside the bounds of its space is kept.
    """
    if isinstance(space, spaces.Discrete):
        return value if type(value) is int else int(_exact(space, value, np.dtype(np.int64), ()).item())
    if isinstance(space, _FLAT):
        return _exact(space, value, np.dtype(space.dtype), space.shape)
    if isinstance(space, spaces.Dict) and isinstance(value, Mapping) and value.keys() == space.spaces.keys():
        return {key: held(part, value[key]) for key, part in space.spaces.items()}
    if isinstance(space, spaces.Tuple) and isinstance(value, Sequence | np.ndarray) and len(value) == len(space.spaces):
        return tuple(map(held, space.spaces, value))
    if isinstance(space, spaces.Text) and isinstance(value, str):
        return clean_text(value)
    if not isinstance(space, spaces.Dict | spaces.Tuple | spaces.Text):
        raise _unsupported(space)
    raise RecordingError(f"{_short(value)} is not a value of {space}, so it cannot be recorded\n{_REMEDY}")


_REMEDY = "Correct the space or the values in the environment; a wrapper can do that."


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 200 else f"{text[:200]}..."


def _exact(space: spaces.Space, value: Any, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """Convert a value as `held` does to an array of this dtype and shape. A number may come as an array of one element."""
    try:
        given = np.asarray(value)
        given = given.reshape(()) if not shape and given.size == 1 else given
        if given.dtype.kind not in "biufcO":
            raise TypeError
        with np.errstate(all="ignore"):
            array = given.astype(dtype)
    except (TypeError, ValueError, OverflowError):
        raise RecordingError(f"{_short(value)} is not a value of {space}, so it cannot be recorded\n{_REMEDY}") from None
    if array.shape != shape:
        raise RecordingError(f"a value of {space} must have shape {shape}, got {array.shape}\n{_REMEDY}")
    if given.dtype != dtype:
        if given.dtype.kind == dtype.kind == "f":
            is_kept = np.isfinite(array) | ~np.isfinite(given)
        else:
            is_kept = (array == given) & (array.astype(given.dtype) == given)
        if not np.all(is_kept):
            lost = given[~np.asarray(is_kept, bool)].flat[0]
            raise RecordingError(f"{lost} is not a value of {space}, and {dtype} would change it\n{_REMEDY}")
    return array


def to_arrow(space: spaces.Space, values: Sequence[Any], kind: pa.DataType | None = None) -> pa.Array:
    """Return values of a space as an Arrow array of `arrow_type(space)`; None becomes null."""
    values = [None if value is None else held(space, value) for value in values]
    return _to_arrow(space, values, kind or arrow_type(space))


def _to_arrow(space: spaces.Space, values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    missing = [value is None for value in values]
    mask = pa.array(missing, pa.bool_()) if any(missing) else None
    if isinstance(space, spaces.Discrete) and mask is None:
        return pa.Array.from_buffers(pa.int64(), len(values), [None, pa.py_buffer(np.array(values, np.int64))])
    if is_void(space):
        return pa.array([None if value is None else True for value in values], kind)
    if isinstance(space, _FLAT):
        if isinstance(kind, pa.FixedSizeBinaryType):
            return pa.array([None if value is None else value.tobytes() for value in values], kind)
        empty = np.zeros(space.shape or (), space.dtype)
        flat = (
            np.stack([empty if value is None else value for value in values]).reshape(-1) if values else empty.reshape(-1)[:0]
        )
        return pa.FixedSizeListArray.from_arrays(pa.array(flat), type=kind, mask=mask)
    if isinstance(space, spaces.Dict | spaces.Tuple):
        keys: Any = space.spaces if isinstance(space, spaces.Dict) else range(len(space.spaces))
        arrays = [
            _to_arrow(space.spaces[key], [None if value is None else value[key] for value in values], field.type)
            for key, field in zip(keys, kind, strict=True)
        ]
        return pa.StructArray.from_arrays(arrays, fields=list(kind), mask=mask)
    return pa.array(values, kind)


def from_arrow(space: spaces.Space, array: pa.Array) -> np.ndarray:
    """Return the values of an Arrow array without nulls; the inverse of `to_arrow`.

    Returns:
        Shape (N, *space.shape) in the space's dtype; for Text, Dict and Tuple shape (N,) of objects.
    """
    if isinstance(space, spaces.Discrete):
        return array.to_numpy(zero_copy_only=False).astype(space.dtype, copy=False)
    if isinstance(space, _FLAT):
        shape = (len(array), *space.shape)
        if is_void(space):
            return np.zeros(shape, space.dtype)
        if isinstance(array, pa.FixedSizeBinaryArray):
            return binary_to_numpy(array).reshape(shape)
        return array.flatten().to_numpy(zero_copy_only=False).astype(space.dtype, copy=False).reshape(shape)
    result = np.empty(len(array), object)
    if isinstance(space, spaces.Dict | spaces.Tuple):
        columns = [] if is_void(space) else [from_arrow(part, array.field(name)) for name, part in _parts(space)]
        keys = list(space.spaces) if isinstance(space, spaces.Dict) else None
        for index in range(len(array)):
            row = [column[index] for column in columns]
            result[index] = tuple(row) if keys is None else dict(zip(keys, row, strict=True))
    else:
        result[:] = array.to_pylist()
    return result


def plain_action(action: Any) -> Any:
    """Return a numpy scalar as a Python number, and any other action unchanged."""
    return action.item() if isinstance(action, np.generic) else action


def binary_to_numpy(array: pa.FixedSizeBinaryArray) -> np.ndarray:
    """Return a fixed-size binary array without nulls as uint8, shape (N, size), without a copy."""
    size = array.type.byte_width
    data = array.buffers()[1]
    return np.frombuffer(data, np.uint8, len(array) * size, array.offset * size).reshape(len(array), size)


def to_json(space: spaces.Space) -> dict[str, Any]:
    """Return the whole space as JSON values.

    The bounds of a Box are one number if all are equal, else a list, row-major; None means no bound. A Dict has `keys` if some
    of its keys are numbers.
    """
    document: dict[str, Any] = {"kind": type(space).__name__}
    if isinstance(space, spaces.Discrete):
        document |= {"n": int(space.n), "start": int(space.start)}
        return document if space.dtype == np.int64 else document | {"dtype": str(space.dtype)}
    if isinstance(space, spaces.Box):
        bounds = {"low": (space.low, space.bounded_below), "high": (space.high, space.bounded_above)}
        document |= {"shape": list(space.shape), "dtype": str(space.dtype)}
        return document | {name: _bounds(*given) for name, given in bounds.items()}
    if isinstance(space, spaces.MultiDiscrete):
        document |= {"nvec": space.nvec.tolist(), "dtype": str(space.dtype)}
        return document | ({"start": space.start.tolist()} if space.start.any() else {})
    if isinstance(space, spaces.MultiBinary):
        return document | {"shape": list(space.shape)}
    if isinstance(space, spaces.Text):
        return document | {
            "max_length": space.max_length,
            "min_length": space.min_length,
            "charset": "".join(space.character_list),
        }
    if isinstance(space, spaces.Dict | spaces.Tuple):
        document |= {"parts": {name: to_json(part) for name, part in _parts(space)}}
        keys = list(space.spaces) if isinstance(space, spaces.Dict) else []
        return document if all(isinstance(key, str) for key in keys) else document | {"keys": keys}
    raise _unsupported(space)


def _bounds(values: np.ndarray, are_bounds: np.ndarray) -> Any:
    if values.size and np.all(values == values.flat[0]) and np.all(are_bounds == are_bounds.flat[0]):
        values, are_bounds = values.flat[0], are_bounds.flat[0]
    if not values.ndim:
        return values.item() if are_bounds else None
    return [value if is_bound else None for value, is_bound in zip(values.ravel().tolist(), are_bounds.flat, strict=True)]


def from_json(document: Mapping[str, Any]) -> spaces.Space:
    """Return the space that JSON values describe, the inverse of `to_json`.
    Missing fields get Gymnasium's defaults, and a Box the bounds of its dtype.

    Raises:
        KeyError, ValueError, RecordingError: If the values do not describe a space.
    """
    match document["kind"]:
        case "Discrete":
            return spaces.Discrete(document["n"], start=document["start"], dtype=np.dtype(document.get("dtype", "int64")).type)
        case "Box":
            return _box(document)
        case "MultiDiscrete":
            dtype = np.dtype(document["dtype"])
            start = document.get("start")
            return spaces.MultiDiscrete(
                np.array(document["nvec"], dtype), dtype.type, start=None if start is None else np.array(start, dtype)
            )
        case "MultiBinary":
            shape = document["shape"]
            return spaces.MultiBinary(shape[0] if len(shape) == 1 else shape)
        case "Text":
            default = spaces.Text(1)
            return spaces.Text(
                document["max_length"],
                min_length=document.get("min_length", default.min_length),
                charset=document.get("charset", "".join(default.character_list)),
            )
        case "Dict":
            keys = document.get("keys", document["parts"])
            return spaces.Dict([(key, from_json(part)) for key, part in zip(keys, document["parts"].values(), strict=True)])
        case "Tuple":
            return spaces.Tuple([from_json(part) for part in document["parts"].values()])
        case kind:
            raise RecordingError(f"the recording uses a space of kind {kind!r}, which this version of Interplay does not know")


def _box(document: Mapping[str, Any]) -> spaces.Box:
    shape, dtype = tuple(document["shape"]), np.dtype(document["dtype"])
    if math.prod(shape) > _MOST_NUMBERS:
        raise ValueError(f"a Box of {math.prod(shape)} numbers")
    limits: Any = (-np.inf, np.inf) if dtype.kind == "f" else (0, 1)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype).min, np.iinfo(dtype).max
    ends, are_bounds = [], []
    for name, limit in zip(("low", "high"), limits, strict=True):
        said = document.get(name, None if dtype.kind == "f" else limit)
        given = np.array(said, object).reshape(shape) if isinstance(said, list) else np.full(shape, said, object)
        are_bounds.append(given != None)  # noqa: E711 (of each element)
        ends.append(np.where(are_bounds[-1], given, limit).astype(dtype))
    box = spaces.Box(*ends, shape, dtype.type)  # type: ignore[arg-type]
    box.bounded_below, box.bounded_above = are_bounds
    return box


def _parts(space: spaces.Dict | spaces.Tuple) -> list[tuple[str, spaces.Space]]:
    if isinstance(space, spaces.Dict):
        return [(str(name), part) for name, part in space.spaces.items()]
    return [(str(index), part) for index, part in enumerate(space.spaces)]
