"""Data sets of `datasets` that Interplay wrote to episodes: played again and proved where that is possible, otherwise kept."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from interplay.envs.base import Frame
from interplay.record.errors import RecordingError
from interplay.record.exchange.pictures import from_png
from interplay.record.exchange.proving import Brought
from interplay.record.exchange.reading import Format, Part, episodes_of, numbers, text_json
from interplay.record.exchange.rows import Description, Rows, brought
from interplay.record.hugging_face.columns import IMAGE, OURS


class _DataSet:
    """One data set.

    Raises:
        RecordingError: If it cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        self._description = Description.read(folder / OURS)
        self.episodes: list[dict[str, Any]] = episodes_of(sorted(folder.glob("episodes/*.parquet")))
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
                frame_hashes=table.column("frame_hash").to_numpy(),
                facts=text_json(said["facts"]),
            )
        except (OSError, KeyError, ValueError, TypeError, pa.ArrowException) as error:
            raise RecordingError(f"it cannot be read: {error}\nFetch or export the data set again.") from error

        def pictures() -> Iterator[Frame]:
            for row in range(table.num_rows):
                picture = table.column(IMAGE)[row].as_py()["bytes"]
                yield from_png(picture, description.palette, description.height, description.width)

        return brought(description, rows, pictures if description.pictures == "images" else None, are_exact=True)


def _parts(folder: Path) -> list[Part]:
    dataset = _DataSet(folder)
    return [
        Part(str(said["episode"]), int(said["num_steps"]), functools.partial(dataset.read, said)) for said in dataset.episodes
    ]


FORMAT = Format("that Interplay wrote for Hugging Face", OURS, _parts)
