"""Values of spaces as rows of numbers, for formats whose columns are numbers, and back."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from interplay.record.exchange.writer import ExportError

NOT_NUMERIC = "values of {} are not a row of numbers, so they fit no column of this format\nExport it with:  --format minari"
_FLAT = (spaces.Box, spaces.MultiDiscrete, spaces.MultiBinary)


def leaves(space: gymnasium.Space, name: str = "") -> Iterator[tuple[str, gymnasium.Space]]:
    """The parts of a space that are no Dict or Tuple, by their paths, in order."""
    if isinstance(space, spaces.Dict):
        parts: Any = space.spaces.items()
    elif isinstance(space, spaces.Tuple):
        parts = zip(count(), space.spaces, strict=False)
    else:
        yield name, space
        return
    for key, part in parts:
        yield from leaves(part, f"{name}.{key}" if name else str(key))


def is_numeric(space: gymnasium.Space) -> bool:
    """Whether values of the space are rows of numbers, at least one."""
    parts = [leaf for _, leaf in leaves(space)]
    return all(isinstance(leaf, (spaces.Discrete, *_FLAT)) for leaf in parts) and sum(map(_size, parts)) > 0


def _size(leaf: gymnasium.Space) -> int:
    return 1 if isinstance(leaf, spaces.Discrete) else math.prod(leaf.shape or ())


def dtype_of(space: gymnasium.Space) -> np.dtype:
    """The dtype of a row: of a space of several parts one that holds them all, float64 for whole numbers beside floats."""
    kinds = [np.dtype(np.int64) if isinstance(leaf, spaces.Discrete) else np.dtype(leaf.dtype) for _, leaf in leaves(space)]
    return np.result_type(*kinds)


def names_of(space: gymnasium.Space) -> list[str]:
    """A name for each number of a row.

    >>> names_of(spaces.Dict({"camera": spaces.Box(-1, 1, (2,)), "jump": spaces.Discrete(2)}))
    ['camera.0', 'camera.1', 'jump']
    """
    names = []
    for name, leaf in leaves(space):
        size = _size(leaf)
        of_leaf = [""] if isinstance(leaf, spaces.Discrete) or leaf.shape == () else map(str, range(size))
        names += [".".join(filter(None, (name, part))) or "value" for part in of_leaf]
    return names


def to_rows(space: gymnasium.Space, values: Sequence[Any] | np.ndarray) -> np.ndarray:
    """Values of a space as numbers, shape (N, size), in `dtype_of(space)`.

    Raises:
        ExportError: If the space has texts or no numbers, or the type of all would change some of them.

    >>> to_rows(spaces.Dict({"a": spaces.Discrete(3), "b": spaces.Box(0, 9, (2,), np.int64)}), [{"a": 2, "b": [3, 4]}]).tolist()
    [[2, 3, 4]]
    """
    if not is_numeric(space):
        raise ExportError(NOT_NUMERIC.format(space))
    result = np.empty((len(values), sum(_size(leaf) for _, leaf in leaves(space))), dtype_of(space))
    if not isinstance(space, spaces.Dict | spaces.Tuple):
        result[:] = np.asarray(values, result.dtype).reshape(result.shape)
        return result
    for row, value in enumerate(values):
        parts = [np.asarray(part).reshape(-1) for part in _parts(space, value)]
        for part in parts:
            if not np.array_equal(part.astype(result.dtype).astype(part.dtype), part, equal_nan=part.dtype.kind == "f"):
                raise ExportError(
                    f"{part.tolist()} of {space} would be changed by {result.dtype}, the type of the whole column"
                )
        result[row] = np.concatenate(parts, dtype=result.dtype)
    return result


def _parts(space: gymnasium.Space, value: Any) -> Iterator[Any]:
    if isinstance(space, spaces.Dict | spaces.Tuple):
        keys: Any = space.spaces if isinstance(space, spaces.Dict) else range(len(space.spaces))
        for key in keys:
            yield from _parts(space.spaces[key], value[key])
    else:
        yield value


def from_row(space: gymnasium.Space, row: np.ndarray) -> Any:
    """One value of a space of its numbers, the inverse of `to_rows`."""
    value, rest = _taken(space, np.asarray(row).reshape(-1))
    if len(rest):
        raise ValueError(f"{space} has {len(row) - len(rest)} numbers, got {len(row)}")
    return value


def _taken(space: gymnasium.Space, row: np.ndarray) -> tuple[Any, np.ndarray]:
    if isinstance(space, spaces.Dict):
        values = {}
        for key, part in space.spaces.items():
            values[key], row = _taken(part, row)
        return values, row
    if isinstance(space, spaces.Tuple):
        listed = []
        for part in space.spaces:
            value, row = _taken(part, row)
            listed.append(value)
        return tuple(listed), row
    size = _size(space)
    if len(row) < size:
        raise ValueError(f"{space} has {size} numbers, got {len(row)}")
    if isinstance(space, spaces.Discrete):
        return int(row[0]), row[1:]
    return row[:size].astype(space.dtype).reshape(space.shape or ()), row[size:]
