"""Pictures of many episodes in one mp4: H.264, a key frame at the start of each episode."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from interplay.envs.base import Frame
from interplay.record.errors import RecordingError

if TYPE_CHECKING:
    import av

_OPTIONS = {"crf": "18", "preset": "veryfast", "g": "10", "bf": "0"}
"""A key frame every ten frames: learners read single frames."""


class VideoFile:
    """An mp4 that is being written; sizes are even, and pictures that are one line smaller get their last line twice."""

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
        """Append a picture; the first of an episode can be decoded alone."""
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
        """Size of the file so far; 0 before the encoder writes its first picture."""
        return self.path.stat().st_size if self.path.exists() else 0

    def close(self) -> None:
        self._container.mux(self._stream.encode())
        self._container.close()


def read(path: Path, start_s: float, count: int, fps: int, height: int, width: int) -> Iterator[Frame]:
    """Pictures of a video from a time on, cut to a size; `RecordingError` if they are missing."""
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
