"""Read formats with Parquet files: find data sets, and return columns as arrays."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from interplay.record.archive import Archive
from interplay.record.errors import RecordingError
from interplay.record.exchange.importer import Brought, Imported, Importing
from interplay.tables import visible


class Part(NamedTuple):
    """One episode of a data set: its name in errors, its largest possible number of steps, and the function that reads it."""

    label: str
    num_steps: int
    read: Callable[[], Brought]


@dataclass(frozen=True)
class Format:
    """A format, which is recognized by a document in each data set.

    Attributes:
        name: Name of its data sets in errors, such as `of CrowdPlay`.
        document: Path of the document in the folder of a data set.
        parts: Returns the episodes of the data set in a folder.
    """

    name: str
    document: str
    parts: Callable[[Path], list[Part]]

    def num_steps_in(self, place: str) -> int:
        return sum(part.num_steps for folder in find(place, self.document, self.name) for part in self._parts(folder))

    def _parts(self, folder: Path) -> list[Part]:
        try:
            return self.parts(folder)
        except (KeyError, TypeError, ValueError) as error:
            said = f"{folder}: its list of episodes cannot be read: {type(error).__name__}: {error}"
            raise RecordingError(f"{said}\nFetch or export it again.") from error

    def import_data_sets(self, archive: Archive, place: str, *, advance: Callable[[int], None] | None = None) -> Imported:
        """Import the episodes of every data set in a place. A second import adds nothing.

        Raises:
            RecordingError: If there is no data set, or no episode can be made of any data set. No episode is entered in part.
        """
        with Importing.to(archive) as importing:
            for folder in find(place, self.document, self.name):
                for part in self._parts(folder):
                    if importing.take(f"{folder.name} episode {part.label}", part.read) and advance is not None:
                        advance(part.num_steps)
        return importing.result


def find(place: str, document: str, name: str) -> list[Path]:
    """Return the folders in a place that hold a certain document, sorted; `RecordingError` if there is no such folder."""
    root, depth = Path(place).resolve(), len(Path(document).parts)
    found = [path.parents[depth - 1] for path in visible(root.rglob(document), root)]  # a killed export leaves others
    if not found:
        raise RecordingError(
            f"there is no data set {name} in {root}: no file {document}\n"
            "Give a data set's folder, or a folder of data sets. This command downloads nothing; fetch the data set first."
        )
    return found


def episodes_of(paths: list[Path]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for path in paths:
        try:
            rows += pq.read_table(path).to_pylist()
        except (pa.ArrowException, OSError) as error:
            raise RecordingError(f"{path} cannot be read: {error}\nFetch or export the data set again.") from error
    return rows


def numbers(column: pa.ChunkedArray) -> np.ndarray:
    """Return a column of numbers, or of lists of equal length, as an array of shape (N, size)."""
    array = column.combine_chunks()
    if pa.types.is_nested(array.type):
        return array.flatten().to_numpy(zero_copy_only=False).reshape(len(array), -1)
    return array.to_numpy(zero_copy_only=False).reshape(-1, 1)


def text_json(text: str) -> dict[str, Any]:
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError(f"expected a JSON object, got {type(value).__name__}")
    return value
