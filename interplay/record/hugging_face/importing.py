"""Data sets of `datasets` that Interplay wrote to episodes: played again and proved where that is possible, otherwise kept."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from interplay.envs.base import Frame
from interplay.record.archive import Archive
from interplay.record.errors import RecordingError
from interplay.record.exchange.pictures import from_png
from interplay.record.exchange.proving import Brought, Imported, Importing
from interplay.record.exchange.reading import episodes_of, find, numbers, text_json
from interplay.record.exchange.rows import Description, Rows, brought
from interplay.record.hugging_face.columns import IMAGE, OURS


def num_steps_in(place: str) -> int:
    """Steps of all data sets in a place.

    Raises:
        RecordingError: If there is none.
    """
    return sum(_DataSet(folder).num_steps for folder in find(place, OURS, "Hugging Face"))


def import_data_sets(archive: Archive, place: str, *, advance: Callable[[int], None] | None = None) -> Imported:
    """Make episodes of every data set in a place. Importing again adds nothing.

    Raises:
        RecordingError: If there is no data set, or nothing can be made of any; an episode is entered whole or not at all.
    """
    with Importing.to(archive) as importing:
        for folder in find(place, OURS, "Hugging Face"):
            dataset = _DataSet(folder)
            for said in dataset.episodes:
                read = functools.partial(dataset.read, said)
                if importing.take(f"{folder.name} episode {said['episode']}", read) and advance is not None:
                    advance(int(said["num_steps"]))
    return importing.result


class _DataSet:
    """One data set.

    Raises:
        RecordingError: If it cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        self._description = Description.read(folder / OURS)
        self.episodes: list[dict[str, Any]] = episodes_of(sorted(folder.glob("episodes/*.parquet")))
        self.num_steps = sum(int(said["num_steps"]) for said in self.episodes)
        self._files = sorted(folder.glob("steps/*.parquet"))

    @functools.cached_property
    def _where(self) -> dict[str, list[tuple[Path, int]]]:
        """Episode -> the row groups that hold it: file and number."""
        found: dict[str, list[tuple[Path, int]]] = {}
        for path in self._files:
            with pq.ParquetFile(path) as file:
                for group in range(file.num_row_groups):
                    for name in file.read_row_group(group, ["episode"]).column(0).unique().to_pylist():
                        found.setdefault(name, []).append((path, group))
        return found

    def read(self, said: dict[str, Any]) -> Brought:
        """One episode, by its row of `episodes`."""
        description, seats = self._description, self._description.action_spaces
        try:
            parts = []
            for path, group in self._where.get(said["episode"], []):
                with pq.ParquetFile(path) as file:
                    parts.append(file.read_row_group(group))
            if not parts:
                raise ValueError("there is no step of it")
            table = pa.concat_tables(parts)
            table = table.filter(pa.array([name == said["episode"] for name in table.column("episode").to_pylist()]))
            table = table.sort_by("step")
            steps = table.slice(0, table.num_rows - 1)
            rows = Rows(
                actions={seat: numbers(steps.column(description.column("action", seat))) for seat in seats},
                rewards={seat: steps.column(description.column("reward", seat)).to_numpy() for seat in seats},
                terminated=np.array(steps.column("terminated").to_pylist(), bool),
                truncated=np.array(steps.column("truncated").to_pylist(), bool),
                owners={seat: steps.column(description.column("owner", seat)).to_pylist() for seat in seats},
                observations=None if description.observation_space is None else numbers(table.column("observation")),
                frame_hashes=table.column("frame_hash").to_numpy().astype(np.uint32),
                facts=text_json(said["facts"]),
            )
        except (OSError, KeyError, ValueError, TypeError, pa.ArrowException) as error:
            raise RecordingError(f"it cannot be read: {error}\nFetch or export the data set again.") from error

        def pictures() -> Iterator[Frame]:
            for row in range(table.num_rows):
                yield from_png(table.column(IMAGE)[row].as_py()["bytes"], description.palette)

        return brought(description, rows, pictures if description.pictures == "images" else None, are_exact=True)
