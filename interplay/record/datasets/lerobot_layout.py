"""LeRobot's layout, version 3.0: paths of files, columns in `meta/info.json`, and videos with many episodes each.

Source: `LeRobotDataset` v3.0 (github.com/huggingface/lerobot). A chunk has 1,000 files, and a file has several episodes. The
metadata of an episode say in which file and where it is. A video is H.264 with a key frame at the start of each episode.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import gymnasium
import numpy as np
import pyarrow as pa

from interplay.envs.base import Frame
from interplay.record.errors import RecordingError
from interplay.record.exchange.columns import PICTURE, dtype_of, names_of
from interplay.record.exchange.rows import Description

if TYPE_CHECKING:
    import av

VERSION = "v3.0"
DATA = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
VIDEOS = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"
EPISODES = "meta/episodes/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
INFO, STATS, TASKS, OURS = "meta/info.json", "meta/stats.json", "meta/tasks.parquet", "meta/interplay.json"
FILES_A_CHUNK = 1000
DATA_MB, VIDEO_MB = 100, 200
"""Sizes of a file in MB; when a file reaches its size, a new file is begun."""

VIEW = "observation.images.view"
STATE = "observation.state"
FRAME_HASH = "interplay.frame_hash"
OWN = "interplay/"
"""Prefix of those columns in `EPISODES` that only Interplay writes."""
_COUNTERS = ("frame_index", "episode_index", "index", "task_index")


def place(root: Path, template: str, number: int, **names: str) -> Path:
    chunk, file = divmod(number, FILES_A_CHUNK)
    return root / template.format(chunk_index=chunk, file_index=file, **names)


def whole_fps(description: Description) -> int:
    return max(1, round(description.task.frame_rate_hz))


def view_shape(description: Description) -> tuple[int, int]:
    """Height and width of stored pictures. Videos have even sizes, as H.264 in yuv420p requires."""
    height, width = description.height, description.width
    return (height + height % 2, width + width % 2) if description.pictures == "video" else (height, width)


def features(description: Description) -> dict[str, dict[str, Any]]:
    """Map each column to its description in `meta/info.json`."""

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
    """Arrow type of a column; None for pictures in a video."""
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


_OPTIONS = {"crf": "18", "preset": "veryfast", "g": "10", "bf": "0"}
"""Encoder options: a key frame every ten frames, because learners read single frames."""


class VideoFile:
    """An mp4 that is being written. Its sizes are even: the last line of a picture with an odd size is written twice."""

    def __init__(self, path: Path, height: int, width: int, fps: int) -> None:
        import av

        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.num_frames = 0
        self._height, self._width = height, width
        self._container = av.open(str(path), "w", format="mp4")
        self._stream = cast("av.VideoStream", self._container.add_stream("libx264", rate=fps, options=_OPTIONS))
        self._stream.height, self._stream.width = height, width
        self._stream.pix_fmt = "yuv420p"
        self._stream.time_base = Fraction(1, fps)
        self._stream.codec_context.time_base = Fraction(1, fps)
        self._stream.codec_context.thread_count = 2

    def add(self, frame: Frame, *, is_first: bool) -> None:
        """Append a picture. The first picture of an episode can be decoded without earlier ones."""
        import av
        from av.video.frame import PictureType

        rgb = frame.rgb()
        missing = (self._height - rgb.shape[0], self._width - rgb.shape[1])
        if any(missing):
            rgb = np.pad(rgb, ((0, missing[0]), (0, missing[1]), (0, 0)), mode="edge")
        picture = av.VideoFrame.from_ndarray(np.ascontiguousarray(rgb), format="rgb24")
        picture.pts = self.num_frames
        if is_first:
            picture.pict_type = PictureType.I
        self._container.mux(self._stream.encode(picture))
        self.num_frames += 1

    def size_bytes(self) -> int:
        """Size of the file so far in bytes; 0 before the encoder writes its first picture."""
        return self.path.stat().st_size if self.path.exists() else 0

    def close(self) -> None:
        self._container.mux(self._stream.encode())
        self._container.close()


def read_video(path: Path, start_s: float, count: int, fps: int, height: int, width: int) -> Iterator[Frame]:
    """Yield `count` pictures of a video from `start_s` on, cropped to a size; `RecordingError` if pictures are missing."""
    import av
    from av.error import FFmpegError

    first = round(start_s * fps)
    num_found = 0
    try:
        with av.open(str(path)) as container:
            stream = container.streams.video[0]
            time_base = stream.time_base or Fraction(1, fps)
            container.seek(round(Fraction(first, fps) / time_base), stream=stream)
            for picture in container.decode(stream):
                if picture.pts is None or round(picture.pts * time_base * fps) < first:
                    continue
                yield Frame(np.ascontiguousarray(picture.to_ndarray(format="rgb24")[:height, :width]))
                num_found += 1
                if num_found == count:
                    return
    except (FFmpegError, OSError, IndexError) as error:
        raise RecordingError(f"{path} cannot be read: {error}\nFetch or export the data set again.") from error
    raise RecordingError(f"{path} ends after {num_found} of {count} pictures\nFetch or export the data set again.")
