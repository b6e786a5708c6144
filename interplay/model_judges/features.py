"""Find the episodes that can be compared, and compute features from the catalogue and from a few frames of their videos.

Features hold no names and no pixels.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from interplay.errors import InterplayError, NotFoundError
from interplay.files import write_json
from interplay.judge.pairing.candidates import Candidates
from interplay.judge.pairing.matchmaking import Candidate, comparable
from interplay.record import Archive
from interplay.store.episodes import UPLOADED, episodes_by_id

VERSION = 1
"""Version of the numbers' meaning; stored features of another version are computed again."""

ROWS, COLUMNS = 36, 64
SEEN = ("video:", "end:")
"""Prefixes of features from a video."""
_FEW_KEY_FRAMES = 16
_MAX_SAMPLES = 64
_STILL = 0.01
"""Least difference between two samples that shows movement, as a share of the range of brightness."""


class ModelJudgeError(InterplayError):
    """Raised when a model judge cannot be made or used; the text says what is missing."""


def from_video(path: Path) -> dict[str, float]:
    """Return the features of an mp4, from its key frames, or from all its frames if key frames are few.

    Raises:
        ValueError: If no frame of the video can be decoded.
    """
    frames = _decode(path, only_keys=True)
    if len(frames) < _FEW_KEY_FRAMES:
        frames = _decode(path, only_keys=False)
    if not frames:
        raise ValueError(f"{path} has no frame that can be decoded; export it again:  interplay episodes export")
    places = np.unique(np.linspace(0, len(frames) - 1, min(len(frames), _MAX_SAMPLES)).round().astype(int))
    return from_samples(np.stack([frames[place] for place in places]))


def from_samples(samples: NDArray[np.uint8]) -> dict[str, float]:
    """Return the features of a few frames in order: uint8, shape (n, ROWS, COLUMNS, 3), RGB, n at least 1."""
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
    """Return features as float64, shape (number of rows, number of names); NaN where a row lacks a feature.

    A missing feature `ended:OUTCOME` is 0, not NaN: the episode did not end with this outcome.
    """
    return np.array(
        [[row.get(name, 0.0 if name.startswith("ended:") else math.nan) for name in names] for row in rows], float
    ).reshape(len(rows), len(names))


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


Progress = Callable[[str, int, int], None]
"""Function called with the name of the work in progress, the number of parts done, and the number of all parts."""


def candidates_with_videos(archive: Archive, offered: Candidates, session: Session, task: str) -> list[Candidate]:
    """Return the candidates that have a video; episodes of imported answers may have none."""
    try:
        candidates = offered.of_task(session, task)
    except NotFoundError:
        return []
    made = archive.videos_made((one.episode_id for one in candidates), session)
    return [one for one in candidates if one.episode_id in made]


def couples_to_answer(archive: Archive, offered: Candidates, session: Session, task: str) -> list[tuple[Candidate, Candidate]]:
    """Return every two videos of a task that could be shown together; raise a `ModelJudgeError` without any."""
    couples = couples_of(candidates_with_videos(archive, offered, session, task))
    if not couples:
        raise ModelJudgeError(
            f"there are no two agents with videos of the same seed in {task}\n"
            f"Record some:  interplay play {task} --agent random --seeds heldout"
        )
    return couples


def couples_of(candidates: Iterable[Candidate]) -> list[tuple[Candidate, Candidate]]:
    """Return every two episodes of different agents that may be compared, seat by seat; each pair in order of agent name."""
    by_place: dict[tuple[str, int, str], list[Candidate]] = {}
    for candidate in candidates:
        by_place.setdefault((candidate.task_hash, candidate.seed, candidate.seat), []).append(candidate)
    return [
        (one, other) if one.agent < other.agent else (other, one)
        for _, together in sorted(by_place.items())
        for one, other in itertools.combinations(together, 2)
        if one.agent != other.agent and one.episode_id != other.episode_id and comparable(one, other)
    ]


def features_of(archive: Archive, episodes: Iterable[str], on_progress: Progress) -> dict[str, dict[str, float]]:
    """Return episode id -> features; features of videos are cached in `media/features/`, because decoding takes long."""
    folder = archive.root / "media" / "features"
    folder.mkdir(parents=True, exist_ok=True)
    with archive.database.read() as session:
        rows = episodes_by_id(session, sorted(episodes))
    found: dict[str, dict[str, float]] = {}
    for place, row in enumerate(rows):
        on_progress("looking at videos", place, len(rows))
        facts: dict[str, float] = {}
        if row.frames != UPLOADED or row.path:  # else an imported answer's, whose zeros stand for what nobody knows
            facts = {"steps": math.log1p(row.num_steps), "duration": math.log1p(row.duration_s)}
            facts |= {"reward": _signed_log(row.total_reward), f"ended:{row.outcome}": 1.0}
            numbers = {one.name: float(one.number) for one in row.statistics if one.number is not None}
            facts |= {f"statistic:{name}": _signed_log(value) for name, value in numbers.items() if math.isfinite(value)}
        found[row.id] = facts | _seen(archive, row.id, folder / f"{row.id}.json")
    return found


def _signed_log(value: float) -> float:
    return math.copysign(math.log1p(abs(value)), value)


def known(table: Mapping[str, Mapping[str, float]]) -> set[str]:
    """Return the episodes that have a video, or a feature in which episodes differ; a model can tell only these apart."""
    rows = [row for row in table.values() if row]
    names = sorted({name for row in rows for name in row})
    values = matrix(rows, names)
    telling = {name for name, column in zip(names, values.T, strict=True) if len(np.unique(column[np.isfinite(column)])) > 1}
    return {
        episode for episode, row in table.items() if not telling.isdisjoint(row) or any(name.startswith(SEEN) for name in row)
    }


def _seen(archive: Archive, episode: str, kept: Path) -> dict[str, float]:
    """Return the features of a video, from the cache file `kept` if it has this version; empty without a video."""
    try:
        document = json.loads(kept.read_text("utf-8"))
        if document["version"] == VERSION:
            return document["features"]
    except (OSError, ValueError, KeyError):
        pass  # not looked at yet, or cut off while being written
    if not archive.has_video(episode):
        return {}
    try:
        seen = from_video(archive.video_path(episode))
    except ValueError as error:
        raise ModelJudgeError(str(error)) from error
    write_json(kept, {"version": VERSION, "features": seen})
    return seen
