"""Columns of data sets: convert values of spaces to rows of numbers and back, write Parquet files of limited size and PNGs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from gymnasium import spaces

from interplay.envs.base import Frame
from interplay.envs.pictures import png
from interplay.record.errors import RecordingError
from interplay.record.exchange.writer import ExportError

NOT_NUMERIC = "values of {} are not a row of numbers, so they fit no column of this format\nExport it with:  --format minari"
_FLAT = (spaces.Box, spaces.MultiDiscrete, spaces.MultiBinary)


def leaves(space: gymnasium.Space, name: str = "") -> Iterator[tuple[str, gymnasium.Space]]:
    """Yield each part of a space that is not a Dict or Tuple, with its path, in order."""
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
    """Return whether values of the space are rows of at least one number."""
    parts = [leaf for _, leaf in leaves(space)]
    return all(isinstance(leaf, (spaces.Discrete, *_FLAT)) for leaf in parts) and sum(map(_size, parts)) > 0


def _size(leaf: gymnasium.Space) -> int:
    return 1 if isinstance(leaf, spaces.Discrete) else math.prod(leaf.shape or ())


def dtype_of(space: gymnasium.Space) -> np.dtype:
    """Return the dtype of a row. It can hold all parts of the space; integers together with floats give float64."""
    kinds = [np.dtype(np.int64) if isinstance(leaf, spaces.Discrete) else np.dtype(leaf.dtype) for _, leaf in leaves(space)]
    return np.result_type(*kinds)


def names_of(space: gymnasium.Space) -> list[str]:
    """Return a name for each number of a row.

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
    """Return values of a space as numbers, shape (N, size), in `dtype_of(space)`.

    Raises:
        ExportError: If the space has texts or no numbers, or the common dtype would change a number.

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
    """Return the value of a space that a row of numbers stands for; the inverse of `to_rows`."""
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


PICTURE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
"""Arrow type in which `datasets` keeps an image in a file."""


def column_of(values: Any, kind: pa.DataType) -> pa.Array:
    """Return values as an Arrow array of a type. Arrays of shape (N, size) become lists, or numbers if the size is 1."""
    if isinstance(values, pa.ChunkedArray):
        return values.combine_chunks().cast(kind)
    if isinstance(values, np.ndarray) and values.ndim == 2:
        if isinstance(kind, pa.FixedSizeListType):
            return pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1), kind.value_type), type=kind)
        values = values[:, 0]
    return pa.array(values, kind)


class ParquetShards:
    """Writes tables to numbered files. A table is never split, and a new file is begun when the last one has `most_bytes`."""

    def __init__(self, place: Callable[[int], Path], schema: pa.Schema, most_bytes: int) -> None:
        self._place = place
        self._schema = schema
        self._most_bytes = most_bytes
        self._writer: pq.ParquetWriter | None = None
        self._path = Path()
        self.num_files = 0

    def write(self, table: pa.Table) -> int:
        """Append a table as a row group; return the number of its file."""
        if self._writer is not None and self._path.stat().st_size >= self._most_bytes:
            self.close()
        if self._writer is None:
            self._path = self._place(self.num_files)
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._writer = pq.ParquetWriter(self._path, self._schema, compression="snappy")
            self.num_files += 1
        self._writer.write_table(table.cast(self._schema), row_group_size=max(1, table.num_rows))
        return self.num_files - 1

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None


_LEVEL = 6
"""Compression level of zlib; level 9 takes three times as long and saves one percent."""


def to_png(frame: Frame) -> bytes:
    return png(frame, level=_LEVEL)


def from_png(data: bytes, palette: np.ndarray | None, height: int, width: int) -> Frame:
    """Return the picture that a PNG holds.

    Args:
        palette: The colours that the pixels are indices of, uint8, shape (256, 3); None for RGB.
        height, width: Required size; a picture of another size is not unpacked.
    Raises:
        RecordingError: If the data is not such a picture.
    """
    import av
    from av.error import FFmpegError

    try:
        if data[12:24] != b"IHDR" + width.to_bytes(4) + height.to_bytes(4):
            raise ValueError(f"it is not a PNG of {width} x {height}")
        decoder = av.CodecContext.create("png", "r")
        (picture,) = [*decoder.decode(av.Packet(data)), *decoder.decode(None)]  # type: ignore[attr-defined]
        if palette is None:
            return Frame(picture.to_ndarray(format="rgb24"))
        pixels = picture.to_ndarray()
        return Frame(pixels[0] if isinstance(pixels, tuple) else pixels, palette)
    except (FFmpegError, ValueError, TypeError) as error:
        raise RecordingError(f"a picture of the data set cannot be read: {error}\nFetch or export it again.") from error
