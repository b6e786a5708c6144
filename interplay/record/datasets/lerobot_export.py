"""Write episodes as LeRobot data sets: one data set for each task, with all its seats."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from interplay.envs.base import Frame
from interplay.files import write_json
from interplay.record.datasets import lerobot_layout as layout
from interplay.record.datasets.lerobot_layout import EPISODES, OWN, STATE, VIDEOS, VIEW, VideoFile, place
from interplay.record.exchange.card import Release, write_card
from interplay.record.exchange.columns import ParquetShards, column_of, to_png
from interplay.record.exchange.pseudonyms import Pseudonyms
from interplay.record.exchange.rows import Description, Pictures, Rows, walk
from interplay.record.exchange.writer import Advance, Exported, write_each
from interplay.record.sealed.episode import Episode

_PICTURES_IN_STATISTICS = 50
"""Largest number of pictures of an episode that the statistics use, evenly spaced; more would hardly change the mean."""


def export(
    episodes: Sequence[Episode],
    out: str,
    *,
    pictures: Pictures = "video",
    pseudonyms: Pseudonyms,
    release: Release,
    advance: Advance | None = None,
) -> Exported:
    """Write episodes as LeRobot data sets, one for each task: `OUT/suite/task/`.

    Each row is a step: the picture before the step, the action, and the reward after it. The last observation has no row: its
    picture is the last one in the episode's part of the video, and its values are in `meta/episodes`.

    Args:
        pictures: `video` (small, not exact), `images` (exact) or `none`.
        release: Facts about consent and licence, for the card.
    Raises:
        ExportError, RecordingError: As `hugging_face.export`.
    """

    def write(folder: Path, its_episodes: list[Episode], made: str) -> int:
        writer = _Writer(folder, Description.of(its_episodes[0], pictures), pseudonyms)
        for episode in its_episodes:
            writer.add(episode)
            if advance is not None:
                advance(episode.num_steps)
            episode.close()
        writer.close(release, made)
        return writer.num_steps

    return write_each(episodes, out, (pictures, release), layout.OURS, write)


class _Writer:
    def __init__(self, folder: Path, description: Description, pseudonyms: Pseudonyms) -> None:
        self._folder = folder
        self._description = description
        self._pseudonyms = pseudonyms
        self._features = layout.features(description)
        self._fps = layout.whole_fps(description)
        self._schema = layout.schema(description)
        self._data = ParquetShards(lambda n: place(folder, layout.DATA, n), self._schema, layout.DATA_MB << 20)
        self._video: VideoFile | None = None
        self._num_videos = 0
        self._rows: list[dict[str, Any]] = []
        self._statistics = Statistics()
        self.num_steps = 0

    def add(self, episode: Episode) -> None:
        description, kept = self._description, []
        video = self._video_file() if description.pictures == "video" else None
        sampled = set(np.linspace(0, episode.num_steps, _PICTURES_IN_STATISTICS).astype(int).tolist())
        seen = Statistics()
        where: dict[str, Any] = {}
        if video is not None:
            where = self._in_video(video, episode.num_steps + 1)
        number = 0

        def show(frame: Frame) -> None:
            nonlocal number
            if number in sampled:
                seen.add_picture(VIEW, frame.rgb())
            if video is not None:
                video.add(frame, is_first=number == 0)
            else:
                kept.append(to_png(Frame(frame.rgb())))  # readers take indices of colours for grey
            number += 1

        rows = walk(episode, description, self._pseudonyms, None if description.pictures == "none" else show)
        columns = self._columns(rows)
        for name, values in columns.items():
            if self._features[name]["dtype"] != "string":
                seen.add(name, values)
        if kept:
            columns[VIEW] = [{"bytes": data, "path": None} for data in kept[:-1]]
        table = pa.table({field.name: column_of(columns[field.name], field.type) for field in self._schema})
        chunk, file = divmod(self._data.write(table), layout.FILES_A_CHUNK)
        self._rows.append(
            {
                "episode_index": len(self._rows),
                "tasks": [description.task.goal],
                "length": rows.num_steps,
                "data/chunk_index": chunk,
                "data/file_index": file,
                "dataset_from_index": self.num_steps,
                "dataset_to_index": self.num_steps + rows.num_steps,
                **where,
                **{f"stats/{name}": value for name, value in seen.flat().items()},
                "meta/episodes/chunk_index": 0,
                "meta/episodes/file_index": 0,
                f"{OWN}facts": json.dumps(rows.facts),
                f"{OWN}last_state": None if rows.observations is None else rows.observations[-1],
                f"{OWN}last_frame": kept[-1] if kept else None,
                f"{OWN}last_frame_hash": int(rows.frame_hashes[-1]),
            }
        )
        self._statistics.merge(seen)
        self.num_steps += rows.num_steps

    def _columns(self, rows: Rows) -> dict[str, Any]:
        description, count = self._description, rows.num_steps
        columns: dict[str, Any] = {}
        if rows.observations is not None:
            columns[STATE] = rows.observations[:-1]
        for seat in description.action_spaces:
            columns[description.column("action", seat)] = rows.actions[seat]
            columns[description.column("next.reward", seat)] = rows.rewards[seat]
            columns[description.column("owner", seat)] = list(rows.owners[seat])
        frames = np.arange(count)
        return columns | {
            "next.terminated": rows.terminated,
            "next.truncated": rows.truncated,
            "next.done": rows.terminated | rows.truncated,
            layout.FRAME_HASH: rows.frame_hashes[:-1],
            "timestamp": (frames / self._fps).astype(np.float32),
            "frame_index": frames,
            "episode_index": np.full(count, len(self._rows)),
            "index": self.num_steps + frames,
            "task_index": np.zeros(count, np.int64),
        }

    def _video_file(self) -> VideoFile:
        if self._video is not None and self._video.size_bytes() >= layout.VIDEO_MB << 20:
            self._video.close()
            self._video = None
        if self._video is None:
            path = place(self._folder, VIDEOS, self._num_videos, video_key=VIEW)
            self._video = VideoFile(path, *layout.view_shape(self._description), self._fps)
            self._num_videos += 1
        return self._video

    def _in_video(self, video: VideoFile, num_frames: int) -> dict[str, Any]:
        chunk, file = divmod(self._num_videos - 1, layout.FILES_A_CHUNK)
        return {
            f"videos/{VIEW}/chunk_index": chunk,
            f"videos/{VIEW}/file_index": file,
            f"videos/{VIEW}/from_timestamp": video.num_frames / self._fps,
            f"videos/{VIEW}/to_timestamp": (video.num_frames + num_frames) / self._fps,
        }

    def close(self, release: Release, made: str) -> None:
        self._data.close()
        if self._video is not None:
            self._video.close()
        path = place(self._folder, EPISODES, 0)
        path.parent.mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(self._rows), path)
        pq.write_table(_tasks(self._description.task.goal), self._folder / layout.TASKS)
        write_json(self._folder / layout.STATS, self._statistics.nested())
        write_json(self._folder / layout.INFO, self._info())
        write_json(self._folder / layout.OURS, self._description.to_json() | {"made_of": made})
        files = {"default": "data/*/*.parquet"}
        write_card(
            self._folder, self._description, release, files,
            num_episodes=len(self._rows), num_steps=self.num_steps, tags=("LeRobot",),
        )  # fmt: skip

    def _info(self) -> dict[str, Any]:
        return {
            "codebase_version": layout.VERSION,
            "robot_type": None,
            "total_episodes": len(self._rows),
            "total_frames": self.num_steps,
            "total_tasks": 1,
            "chunks_size": layout.FILES_A_CHUNK,
            "data_files_size_in_mb": layout.DATA_MB,
            "video_files_size_in_mb": layout.VIDEO_MB,
            "fps": self._fps,
            "splits": {"train": f"0:{len(self._rows)}"},
            "data_path": layout.DATA,
            "video_path": layout.VIDEOS if self._description.pictures == "video" else None,
            "features": self._features,
        }


def _tasks(text: str) -> pa.Table:
    """Return `meta/tasks.parquet`: a pandas table whose index is the task in words."""
    index = {"name": "task", "field_name": "task", "pandas_type": "unicode", "numpy_type": "object", "metadata": None}
    number = {"name": "task_index", "field_name": "task_index", "pandas_type": "int64", "numpy_type": "int64", "metadata": None}
    pandas = {"index_columns": ["task"], "column_indexes": [], "columns": [number, index], "pandas_version": "2.0.0"}
    table = pa.table({"task_index": pa.array([0], pa.int64()), "task": pa.array([text])})
    return table.replace_schema_metadata({b"pandas": json.dumps(pandas).encode()})


class _Sums(NamedTuple):
    """Sums over rows; the sums of two sets of rows can be added up. Arrays have the shape of a row."""

    least: np.ndarray
    most: np.ndarray
    total: np.ndarray
    squares: np.ndarray
    weight: float
    rows: int

    def with_other(self, other: _Sums) -> _Sums:
        return _Sums(
            np.minimum(self.least, other.least),
            np.maximum(self.most, other.most),
            self.total + other.total,
            self.squares + other.squares,
            self.weight + other.weight,
            self.rows + other.rows,
        )


class Statistics:
    """Sums over the rows of named columns. Pictures are added by colour channel, with values from 0 to 1."""

    def __init__(self) -> None:
        self._sums: dict[str, _Sums] = {}

    def add(self, name: str, values: Any) -> None:
        """Add rows of numbers to the sums: shape (N,) or (N, size), N at least 1. Numbers that are not finite count as 0."""
        rows = np.asarray(values, np.float64).reshape(len(values), -1)
        rows = rows if np.isfinite(rows).all() else np.nan_to_num(rows, posinf=0, neginf=0)
        self._add(name, _Sums(rows.min(0), rows.max(0), rows.sum(0), (rows**2).sum(0), len(rows), len(rows)))

    def add_picture(self, name: str, rgb: np.ndarray) -> None:
        """Add a picture to the sums: uint8, shape (H, W, 3)."""
        shares = rgb.reshape(-1, 3) / 255.0
        shape = (3, 1, 1)
        least, most, total, squares = (
            one.reshape(shape) for one in (shares.min(0), shares.max(0), shares.sum(0), (shares**2).sum(0))
        )
        self._add(name, _Sums(least, most, total, squares, len(shares), 1))

    def merge(self, other: Statistics) -> None:
        for name, sums in other._sums.items():
            self._add(name, sums)

    def _add(self, name: str, sums: _Sums) -> None:
        before = self._sums.get(name)
        self._sums[name] = sums if before is None else before.with_other(sums)

    def nested(self) -> dict[str, dict[str, Any]]:
        return {name: _said(sums) for name, sums in self._sums.items()}

    def flat(self) -> Mapping[str, Any]:
        return {f"{name}/{key}": value for name, said in self.nested().items() for key, value in said.items()}


def _said(sums: _Sums) -> dict[str, Any]:
    mean = sums.total / sums.weight
    deviation = np.sqrt(np.maximum(sums.squares / sums.weight - mean**2, 0))
    values = {"min": sums.least, "max": sums.most, "mean": mean, "std": deviation}
    return {key: value.tolist() for key, value in values.items()} | {"count": [sums.rows]}
