"""Parquet files of a bounded size, one after the other; and pictures in them as PNG, without loss."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from interplay.envs.base import Frame
from interplay.envs.pictures import png
from interplay.record.errors import RecordingError

PICTURE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
"""How `datasets` keeps an image in a file."""


def column_of(values: Any, kind: pa.DataType) -> pa.Array:
    """Values as a column of a kind; arrays of shape (N, size) become lists, or numbers where the size is 1."""
    if isinstance(values, pa.ChunkedArray):
        return values.combine_chunks().cast(kind)
    if isinstance(values, np.ndarray) and values.ndim == 2:
        if isinstance(kind, pa.FixedSizeListType):
            return pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1), kind.value_type), type=kind)
        values = values[:, 0]
    return pa.array(values, kind)


class ParquetShards:
    """Tables in numbered files; a table is never cut, and a new file begins when the last one has `most_bytes`."""

    def __init__(self, place: Callable[[int], Path], schema: pa.Schema, most_bytes: int) -> None:
        self._place = place
        self._schema = schema
        self._most_bytes = most_bytes
        self._writer: pq.ParquetWriter | None = None
        self._path = Path()
        self.num_files = 0

    def write(self, table: pa.Table) -> int:
        """Append a table as a row group; returns the number of its file."""
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
"""zlib's; 9 takes three times as long and gains a hundredth."""


def to_png(frame: Frame) -> bytes:
    return png(frame, level=_LEVEL)


def from_png(data: bytes, palette: np.ndarray | None, height: int, width: int) -> Frame:
    """A picture of its PNG.

    Args:
        palette: uint8, shape (256, 3): of which its colours are indices; None for RGB.
        height, width: Required size; a picture of another size is not unpacked.
    Raises:
        RecordingError: If it is no such picture.
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
