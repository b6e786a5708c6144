"""Second encodes: a check that shows one episode on both sides shows two files, as any other match does."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from interplay.errors import InterplayError
from interplay.files import replacing
from interplay.judge.background import Background

NUM_OF_TASK = 3
"""Episodes of a task that get a second encode before anybody asks for it."""


def twin_path(video: Path) -> Path:
    """Where the second encode of a video is or would be; no address leads there but a match's."""
    return video.parent / "twins" / video.name


class Twins(Background[Path]):
    """Makes second encodes of videos."""

    def __init__(self) -> None:
        super().__init__("twins", twin_path, make_twin, "checks show the video twice as it is")


def make_twin(video: Path, target: Path) -> None:
    """Encode a video once more, so that the same pictures make other bytes.

    Args:
        target: Appears whole or not at all.
    Raises:
        InterplayError: If it cannot be read or written.
    """
    import av
    from av.error import FFmpegError

    try:
        with (
            replacing(target) as part,
            av.open(str(video)) as old,
            av.open(str(part), "w", format="mp4", options={"movflags": "+faststart"}) as new,
        ):
            source = old.streams.video[0]
            rate = Fraction(source.average_rate or 20)
            stream = new.add_stream("libx264", rate=rate)
            stream.width, stream.height, stream.pix_fmt = source.width, source.height, "yuv420p"
            stream.codec_context.thread_count = 1
            # As fine as the films themselves, and cut elsewhere: key frames fall on other frames.
            stream.options = {"crf": "19", "preset": "fast", "g": "97", "bf": "0"}
            for number, frame in enumerate(old.decode(source)):
                frame.pts, frame.time_base = number, 1 / rate
                frame.pict_type = 0
                new.mux(stream.encode(frame))
            new.mux(stream.encode(None))
    except (FFmpegError, OSError, IndexError, ValueError) as error:
        raise InterplayError(f"{video}: {str(error).splitlines()[0]}") from error
