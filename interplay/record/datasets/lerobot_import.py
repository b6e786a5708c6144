"""Import LeRobot data sets that Interplay wrote: replay and prove each episode if possible, otherwise keep it as it is."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from interplay.envs.base import Frame
from interplay.record.datasets import lerobot_layout as layout
from interplay.record.datasets.lerobot_layout import FRAME_HASH, OURS, OWN, STATE, VIEW
from interplay.record.errors import RecordingError
from interplay.record.exchange.columns import from_png
from interplay.record.exchange.importer import Brought
from interplay.record.exchange.reader import Format, Part, episodes_of, numbers, text_json
from interplay.record.exchange.rows import Description, Rows, brought


class _DataSet:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._description = Description.read(folder / OURS)
        self.episodes: list[dict[str, Any]] = episodes_of(sorted(folder.glob("meta/episodes/*/*.parquet")))
        self._open = functools.lru_cache(2)(pq.read_table)

    def read(self, said: dict[str, Any]) -> Brought:
        description = self._description
        try:
            number = int(said["data/chunk_index"]) * layout.FILES_A_CHUNK + int(said["data/file_index"])
            table = self._open(layout.place(self._folder, layout.DATA, number))
            where = np.flatnonzero(table.column("episode_index").to_numpy() == said["episode_index"])
            if len(where) != said["length"]:
                raise ValueError(f"it has {len(where)} rows, but {said['length']} were written")
            rows = self._rows(table.take(pa.array(where)), said)
        except (OSError, KeyError, ValueError, TypeError, pa.ArrowException) as error:
            raise RecordingError(f"it cannot be read: {error}\nFetch or export the data set again.") from error
        read = None if description.pictures == "none" else lambda: self._pictures(table, where, said)
        return brought(description, rows, read, are_exact=False)

    def _rows(self, table: pa.Table, said: dict[str, Any]) -> Rows:
        description = self._description
        observations = None
        if description.observation_space is not None:
            first = numbers(table.column(STATE))
            observations = np.concatenate([first, np.array([said[f"{OWN}last_state"]], first.dtype)])
        hashes = [*table.column(FRAME_HASH).to_pylist(), said[f"{OWN}last_frame_hash"]]
        seats = description.action_spaces
        return Rows(
            actions={seat: numbers(table.column(description.column("action", seat))) for seat in seats},
            rewards={seat: table.column(description.column("next.reward", seat)).to_numpy() for seat in seats},
            terminated=table.column("next.terminated").to_numpy(),
            truncated=table.column("next.truncated").to_numpy(),
            owners={seat: table.column(description.column("owner", seat)).to_pylist() for seat in seats},
            observations=observations,
            frame_hashes=np.array(hashes, np.int64),
            facts=text_json(said[f"{OWN}facts"]),
        )

    def _pictures(self, table: pa.Table, where: np.ndarray, said: dict[str, Any]) -> Iterator[Frame]:
        description = self._description
        if description.pictures == "images":
            for row in where.tolist():
                yield from_png(table.column(VIEW)[row].as_py()["bytes"], None, description.height, description.width)
            yield from_png(said[f"{OWN}last_frame"], None, description.height, description.width)
            return
        number = int(said[f"videos/{VIEW}/chunk_index"]) * layout.FILES_A_CHUNK + int(said[f"videos/{VIEW}/file_index"])
        path = layout.place(self._folder, layout.VIDEOS, number, video_key=VIEW)
        start_s, fps = float(said[f"videos/{VIEW}/from_timestamp"]), layout.whole_fps(description)
        yield from layout.read_video(path, start_s, len(where) + 1, fps, description.height, description.width)


def _parts(folder: Path) -> list[Part]:
    dataset, parts = _DataSet(folder), []
    for said in dataset.episodes:
        parts.append(Part(str(said["episode_index"]), int(said["length"]), functools.partial(dataset.read, said)))
    return parts


FORMAT = Format("that Interplay wrote for LeRobot", OURS, _parts)
