"""Parquet files of a bounded size, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

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
    """Writes tables to numbered files; a table is never cut, a file that is large enough is followed by a new one.

    Args:
        place: Number of a file -> its path.
        schema: Of every table.
        most_bytes: From which size on a new file begins.
    """

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
