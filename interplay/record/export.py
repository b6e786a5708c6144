"""Episodes in other people's formats. Today: mp4."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path
from typing import cast

import numpy as np

from interplay.record.errors import RecordingError
from interplay.record.sealed import Episode

MIN_HEIGHT = 400
"""Smaller screens are enlarged by a whole factor, so that a browser does not blur them."""


def write_mp4(episode: Episode, path: Path, *, crf: int = 23, preset: str = "veryfast") -> None:
    """Write an episode as H.264 in mp4, yuv420p, playable while it loads; the file appears whole or not at all.

    Args:
        path: Replaced if it exists.
        crf, preset: x264's quality and effort.
    Raises:
        RecordingError: If the file cannot be written.
    """
    import av

    header = episode.header
    scale = max(1, round(MIN_HEIGHT / header.height)) if header.height < MIN_HEIGHT else 1
    part = path.with_name(f".{path.stem}.{os.getpid()}.part.mp4")
    rate = Fraction(header.task.frame_rate_hz).limit_denominator(1001)
    try:
        with av.open(str(part), "w", format="mp4", options={"movflags": "+faststart"}) as container:
            stream = cast(av.VideoStream, container.add_stream("libx264", rate=rate))
            stream.width, stream.height = header.width * scale & ~1, header.height * scale & ~1
            stream.pix_fmt = "yuv420p"
            stream.options = {"crf": str(crf), "preset": preset}
            stream.codec_context.thread_count = 2
            for frame in episode.frames:
                pixels = frame.pixels.repeat(scale, 0).repeat(scale, 1)[: stream.height, : stream.width]
                rgb = pixels if frame.palette is None else frame.palette[pixels]
                container.mux(stream.encode(av.VideoFrame.from_ndarray(np.ascontiguousarray(rgb), format="rgb24")))
            container.mux(stream.encode())
        os.replace(part, path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise RecordingError(
            f"cannot write {path}: {error.strerror or error}.\nThe episode itself is safe; free some space and try again."
        ) from error
