"""Gymnasium spaces as Arrow columns: types, values there and back, and the space itself as JSON.

| space | Arrow type |
| --- | --- |
| Discrete | int64 |
| Box of uint8 | fixed-size binary, row-major |
| other Box, MultiDiscrete, MultiBinary | fixed-size list of its dtype, row-major |
| Text | string |
| Dict, Tuple | struct, one field an entry ("0", "1", ... for a tuple) |
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
    """The Arrow type that holds one value of a space.

    Raises:
        RecordingError: For a space with no fixed form (Graph, Sequence, ...).
    """
    if isinstance(space, spaces.Discrete):
        return pa.int64()
    if isinstance(space, _FLAT):
        size = math.prod(space.shape)
        return pa.binary(size) if space.dtype == np.uint8 else pa.list_(pa.from_numpy_dtype(space.dtype), size)
    if isinstance(space, spaces.Text):
        return pa.string()
    if isinstance(space, spaces.Dict | spaces.Tuple):
        return pa.struct([(name, arrow_type(part)) for name, part in _parts(space)])
    raise _unsupported(space)


def _unsupported(space: spaces.Space) -> RecordingError:
    return RecordingError(
        f"values of {space} cannot be recorded; spaces may be Discrete, Box, MultiDiscrete, MultiBinary, Text, Dict, Tuple.\n"
        "Wrap the environment so that its actions and observations use those."
    )


def load_arrow() -> None:
    """Make a first array: Arrow loads pandas for it where that is installed, a third of a second that a game need not wait."""
    pa.array([0])


def to_arrow(space: spaces.Space, values: Sequence[Any], kind: pa.DataType | None = None) -> pa.Array:
    """Values of a space as an Arrow array; None becomes null.

    Args:
        kind: `arrow_type(space)`, where it is at hand.
    """
    if isinstance(space, spaces.Discrete):
        if None in values:
            return pa.array([None if value is None else int(value) for value in values], pa.int64())
        return pa.Array.from_buffers(pa.int64(), len(values), [None, pa.py_buffer(np.array(values, np.int64))])
    kind = kind or arrow_type(space)
    if isinstance(space, _FLAT):
        return _flat_to_arrow(space, values, kind)
    if isinstance(space, spaces.Dict | spaces.Tuple):
        parts = list(_parts(space))
        keys = list(space.spaces) if isinstance(space, spaces.Dict) else range(len(parts))
        arrays = [
            to_arrow(part, [None if value is None else value[key] for value in values], field.type)
            for key, (_, part), field in zip(keys, parts, kind, strict=True)
        ]
        missing = pa.array([value is None for value in values]) if any(value is None for value in values) else None
        return pa.StructArray.from_arrays(arrays, fields=list(kind), mask=missing)
    return pa.array([None if value is None else clean_text(value) for value in values], kind)


def _flat_to_arrow(space: spaces.Space, values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Box, MultiDiscrete and MultiBinary."""
    arrays = [None if value is None else np.asarray(value, space.dtype) for value in values]
    for array in arrays:
        if array is not None and array.shape != space.shape:
            raise RecordingError(f"a value of {space} must have shape {space.shape}, got {array.shape}")
    if isinstance(kind, pa.FixedSizeBinaryType):
        return pa.array([None if array is None else array.tobytes() for array in arrays], kind)
    empty = np.zeros(space.shape or (), space.dtype)
    flat = np.stack([empty if array is None else array for array in arrays]).reshape(-1) if arrays else empty.reshape(-1)[:0]
    missing = pa.array([array is None for array in arrays], pa.bool_()) if any(array is None for array in arrays) else None
    return pa.FixedSizeListArray.from_arrays(pa.array(flat), type=kind, mask=missing)


def from_arrow(space: spaces.Space, array: pa.Array) -> np.ndarray:
    """The inverse of `to_arrow` for an array without nulls.

    Returns:
        Shape (N, *space.shape) in the space's dtype; for Text, Dict and Tuple shape (N,) of objects.
    """
    if isinstance(space, spaces.Discrete):
        return array.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    if isinstance(space, _FLAT):
        shape = (len(array), *space.shape)
        if isinstance(array, pa.FixedSizeBinaryArray):
            return binary_to_numpy(array).reshape(shape)
        return array.flatten().to_numpy(zero_copy_only=False).astype(space.dtype, copy=False).reshape(shape)
    result = np.empty(len(array), object)
    if isinstance(space, spaces.Dict | spaces.Tuple):
        columns = {name: from_arrow(part, array.field(name)) for name, part in _parts(space)}
        keys = list(space.spaces) if isinstance(space, spaces.Dict) else None
        for index in range(len(array)):
            row = [column[index] for column in columns.values()]
            result[index] = tuple(row) if keys is None else dict(zip(keys, row, strict=True))
    else:
        result[:] = array.to_pylist()
    return result


def plain_action(action: Any) -> Any:
    """A numpy scalar as a Python number, everything else as it is."""
    return action.item() if isinstance(action, np.generic) else action


def copied(value: Any) -> Any:
    """A value of a space whose arrays are nobody else's: worlds and agents use theirs again."""
    if isinstance(value, np.ndarray):
        return np.array(value, copy=True)
    if isinstance(value, Mapping):
        return {name: copied(part) for name, part in value.items()}
    return tuple(map(copied, value)) if isinstance(value, tuple) else value


def binary_to_numpy(array: pa.FixedSizeBinaryArray) -> np.ndarray:
    """A fixed-size binary array without nulls as uint8, shape (N, size), without a copy."""
    size = array.type.byte_width
    data = array.buffers()[1]
    return np.frombuffer(data, np.uint8, len(array) * size, array.offset * size).reshape(len(array), size)


def to_json(space: spaces.Space) -> dict[str, Any]:
    """What is needed to read a column back: kind, shape and dtype (bounds stay with the environment)."""
    kind = type(space).__name__
    if isinstance(space, spaces.Discrete):
        return {"kind": kind, "n": int(space.n), "start": int(space.start)}
    if isinstance(space, spaces.Box):
        return {"kind": kind, "shape": list(space.shape), "dtype": str(space.dtype)}
    if isinstance(space, spaces.MultiDiscrete):
        return {"kind": kind, "nvec": space.nvec.tolist(), "dtype": str(space.dtype)}
    if isinstance(space, spaces.MultiBinary):
        return {"kind": kind, "shape": list(space.shape)}
    if isinstance(space, spaces.Text):
        return {"kind": kind, "max_length": space.max_length}
    if isinstance(space, spaces.Dict | spaces.Tuple):
        return {"kind": kind, "parts": {name: to_json(part) for name, part in _parts(space)}}
    raise _unsupported(space)


def from_json(document: Mapping[str, Any]) -> spaces.Space:
    """The inverse of `to_json`; a Box comes back with the bounds of its dtype."""
    match document["kind"]:
        case "Discrete":
            return spaces.Discrete(document["n"], start=document["start"])
        case "Box":
            dtype = np.dtype(document["dtype"])
            if dtype.kind == "f":
                low, high = -np.inf, np.inf
            elif dtype.kind == "b":
                low, high = 0, 1
            else:
                low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
            return spaces.Box(low, high, tuple(document["shape"]), dtype.type)  # type: ignore[arg-type]
        case "MultiDiscrete":
            return spaces.MultiDiscrete(np.array(document["nvec"]), dtype=np.dtype(document["dtype"]).type)  # type: ignore[arg-type]
        case "MultiBinary":
            shape = document["shape"]
            return spaces.MultiBinary(shape[0] if len(shape) == 1 else shape)
        case "Text":
            return spaces.Text(document["max_length"])
        case "Dict":
            return spaces.Dict([(name, from_json(part)) for name, part in document["parts"].items()])
        case "Tuple":
            return spaces.Tuple([from_json(part) for part in document["parts"].values()])
        case kind:
            raise RecordingError(f"the recording uses a space of kind {kind!r}, which this version of Interplay does not know")


def _parts(space: spaces.Dict | spaces.Tuple) -> list[tuple[str, spaces.Space]]:
    """Field names and spaces of a compound space."""
    if isinstance(space, spaces.Dict):
        return [(str(name), part) for name, part in space.spaces.items()]
    return [(str(index), part) for index, part in enumerate(space.spaces)]
