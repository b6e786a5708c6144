"""Features of an episode: from the catalogue, and from a few frames of its video. They hold no names and no pixels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

VERSION = 1
"""Of what the numbers mean; stored features of another version are computed again."""

ROWS, COLUMNS = 36, 64
SEEN = ("video:", "end:")
"""How the names of features begin that come from a video."""
_FEW_KEY_FRAMES = 16
_MAX_SAMPLES = 64
_STILL = 0.01
"""Two samples that differ by less, as a share of the range of brightness, show no movement."""


def from_facts(
    *, num_steps: int, duration_s: float, total_reward: float, outcome: str, statistics: Mapping[str, float]
) -> dict[str, float]:
    """Features from the catalogue."""
    facts = {
        "steps": math.log1p(num_steps),
        "duration": math.log1p(duration_s),
        "reward": math.copysign(math.log1p(abs(total_reward)), total_reward),
        f"ended:{outcome}": 1.0,
    }
    numbers = {name: float(value) for name, value in statistics.items() if math.isfinite(value)}
    return facts | {f"statistic:{name}": math.copysign(math.log1p(abs(value)), value) for name, value in numbers.items()}


def from_video(path: Path) -> dict[str, float]:
    """Features of an mp4, from its key frames or, where those are few, from frames all over it.

    Raises:
        ValueError: If no frame of it can be decoded.
    """
    return from_samples(_samples(path))


def from_samples(samples: NDArray[np.uint8]) -> dict[str, float]:
    """Features of a few frames in order: uint8, shape (n, ROWS, COLUMNS, 3), RGB, n at least 1."""
    colour = samples.astype(np.float64) / 255
    gray = colour.mean(axis=3)
    flat = gray.reshape(len(gray), -1)
    change = np.abs(np.diff(flat, axis=0)).mean(axis=1) if len(flat) > 1 else np.zeros(1)
    apart = np.abs(flat[:, None, :] - flat[None, :, :]).mean(axis=2)
    novelty = [apart[i, :i].min() for i in range(1, len(flat))] or [0.0]
    last = colour[-1]
    return {
        "video:change": float(change.mean()),
        "video:change_spread": float(change.std()),
        "video:still": float((change < _STILL).mean()),
        "video:novelty": float(np.mean(novelty)),
        "video:return": float(apart[0, -1]),
        "video:brightness": float(gray.mean()),
        "video:contrast": float(gray.std(axis=(1, 2)).mean()),
        "video:saturation": float((colour.max(axis=3) - colour.min(axis=3)).mean()),
        "end:brightness": float(last.mean()),
        "end:dark": float((gray[-1] < 0.2).mean()),
        "end:contrast": float(gray[-1].std()),
        "end:red": float((last[..., 0] - last.mean(axis=2)).mean()),
        "end:green": float((last[..., 1] - last.mean(axis=2)).mean()),
        "end:blue": float((last[..., 2] - last.mean(axis=2)).mean()),
    }


def matrix(rows: Sequence[Mapping[str, float]], names: Sequence[str]) -> NDArray[np.float64]:
    """Features as float64, shape (number of rows, number of names); NaN where a row lacks one.

    An end that did not happen is 0, not unknown.
    """
    return np.array(
        [[row.get(name, 0.0 if name.startswith("ended:") else math.nan) for name in names] for row in rows], float
    ).reshape(len(rows), len(names))


def _samples(path: Path) -> NDArray[np.uint8]:
    """Key frames of a long video, or frames all over a short one, small; at most `_MAX_SAMPLES`."""
    frames = _decode(path, only_keys=True)
    if len(frames) < _FEW_KEY_FRAMES:
        frames = _decode(path, only_keys=False)
    if not frames:
        raise ValueError(f"{path} has no frame that can be decoded; export it again:  interplay episodes export")
    places = np.unique(np.linspace(0, len(frames) - 1, min(len(frames), _MAX_SAMPLES)).round().astype(int))
    return np.stack([frames[place] for place in places])


def _decode(path: Path, *, only_keys: bool) -> list[NDArray[np.uint8]]:
    import av
    from av.error import FFmpegError

    frames: list[Any] = []
    try:
        with av.open(str(path)) as container:
            stream = container.streams.video[0]
            stream.thread_type = "AUTO"
            if only_keys:
                stream.codec_context.skip_frame = "NONKEY"
            for frame in container.decode(stream):
                frames.append(frame.reformat(COLUMNS, ROWS, "rgb24", interpolation="AREA").to_ndarray())
    except (FFmpegError, IndexError, OSError) as error:
        if not frames:
            raise ValueError(f"{path} cannot be read as a video: {error}") from error
    return frames
