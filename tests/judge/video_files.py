"""Small videos, made in some milliseconds, good and bad in every way that matters."""

from fractions import Fraction
from pathlib import Path

import av
import numpy as np

from interplay.tasks import find

FIND_CAVE = find("basalt/find_cave")
WATERFALL = find("basalt/make_waterfall")


def write_video(
    path: Path,
    *,
    shade: int = 0,
    num_frames: int = 12,
    codec: str = "libx264",
    pixels: str = "yuv420p",
    rate: int = 20,
    index_first: bool = True,
    title: str = "",
    size: tuple[int, int] = (48, 32),
) -> Path:
    """A video of one moving line; another `shade` makes another file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    options = {"movflags": "+faststart"} if index_first else {}
    with av.open(str(path), "w", format="mp4", options=options) as container:
        if title:
            container.metadata["title"] = title
        stream = container.add_stream(codec, rate=Fraction(rate))
        stream.width, stream.height = size
        stream.pix_fmt = pixels
        for number in range(num_frames):
            picture = np.full((size[1], size[0], 3), shade % 200, np.uint8)
            picture[number % size[1]] = 20 + shade // 200
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())
    return path


def write_agent(folder: Path, *, first_shade: int = 0, seeds: int = 3) -> Path:
    """Videos of two tasks of the published suite, their folders spelled in two ways, on the first held-out seeds."""
    for task, name in ((FIND_CAVE, "FindCave"), (WATERFALL, "MineRLBasaltMakeWaterfall-v0")):
        for number, seed in enumerate(task.held_out_seeds[:seeds]):
            shade = first_shade + number + (100 if task is WATERFALL else 0)
            write_video(folder / name / f"seed_{seed}.mp4", shade=shade)
    return folder


def pictures(path: Path) -> list[bytes]:
    """Every decoded frame."""
    with av.open(str(path)) as container:
        return [frame.to_ndarray().tobytes() for frame in container.decode(video=0)]
