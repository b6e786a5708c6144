"""LeRobot's layout, version 3.0: paths of files, and the columns in `meta/info.json`.

The facts are those of `LeRobotDataset` v3.0 (github.com/huggingface/lerobot): chunks of 1,000 files, several episodes a file,
and for each episode the file and the place in it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pyarrow as pa

from interplay.record.exchange.parquet import PICTURE
from interplay.record.exchange.rows import Description
from interplay.record.exchange.vectors import dtype_of, names_of

VERSION = "v3.0"
DATA = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
VIDEOS = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"
EPISODES = "meta/episodes/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
INFO, STATS, TASKS, OURS = "meta/info.json", "meta/stats.json", "meta/tasks.parquet", "meta/interplay.json"
FILES_A_CHUNK = 1000
DATA_MB, VIDEO_MB = 100, 200
"""From these sizes on a new file begins."""

VIEW = "observation.images.view"
STATE = "observation.state"
FRAME_HASH = "interplay.frame_hash"
OWN = "interplay/"
"""Columns of an episode that are ours begin so."""
_COUNTERS = ("frame_index", "episode_index", "index", "task_index")


def place(root: Path, template: str, number: int, **names: str) -> Path:
    chunk, file = divmod(number, FILES_A_CHUNK)
    return root / template.format(chunk_index=chunk, file_index=file, **names)


def whole_fps(description: Description) -> int:
    return max(1, round(description.task.frame_rate_hz))


def view_shape(description: Description) -> tuple[int, int]:
    """Height and width of stored pictures: of videos even, as H.264 in yuv420p has them."""
    height, width = description.height, description.width
    return (height + height % 2, width + width % 2) if description.pictures == "video" else (height, width)


def features(description: Description) -> dict[str, dict[str, Any]]:
    """Column -> what `meta/info.json` says of it."""

    def numbers(space: gymnasium.Space) -> dict[str, Any]:
        names = names_of(space)
        return {"dtype": str(dtype_of(space)), "shape": [len(names)], "names": names}

    result: dict[str, dict[str, Any]] = {}
    if description.pictures != "none":
        height, width = view_shape(description)
        kind = "video" if description.pictures == "video" else "image"
        view: dict[str, Any] = {"dtype": kind, "shape": [height, width, 3], "names": ["height", "width", "channels"]}
        result[VIEW] = view
        if kind == "video":
            view["info"] = {
                "video.height": height,
                "video.width": width,
                "video.codec": "h264",
                "video.pix_fmt": "yuv420p",
                "video.is_depth_map": False,
                "video.fps": whole_fps(description),
                "video.channels": 3,
                "has_audio": False,
            }
    if description.observation_space is not None:
        result[STATE] = numbers(description.observation_space)
    for seat, space in description.action_spaces.items():
        result[description.column("action", seat)] = numbers(space)
        result[description.column("next.reward", seat)] = _scalar("float64")
        result[description.column("owner", seat)] = _scalar("string")
    for name in ("next.terminated", "next.truncated", "next.done"):
        result[name] = _scalar("bool")
    result[FRAME_HASH] = _scalar("int64")
    result["timestamp"] = _scalar("float32")
    return result | {name: _scalar("int64") for name in _COUNTERS}


def _scalar(dtype: str) -> dict[str, Any]:
    return {"dtype": dtype, "shape": [1], "names": None}


def column_type(feature: dict[str, Any]) -> pa.DataType | None:
    """The Arrow type of a column; None for pictures in a video."""
    if feature["dtype"] == "video":
        return None
    if feature["dtype"] == "image":
        return PICTURE
    kind = pa.string() if feature["dtype"] == "string" else pa.from_numpy_dtype(np.dtype(feature["dtype"]))
    (size,) = feature["shape"]
    return kind if size == 1 else pa.list_(kind, size)


def schema(description: Description) -> pa.Schema:
    kinds = {name: column_type(feature) for name, feature in features(description).items()}
    return pa.schema([(name, kind) for name, kind in kinds.items() if kind is not None])
