"""Read recordings as streams: a few frames and their actions at a time, never a whole video."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from interplay.envs.minerl_actions import KEYS
from interplay.learn.recordings.labels import WAYS, BrokenOffError, Label, Line, Way, labels_of, raw_lines, read_lines
from interplay.learn.recordings.names import RecordingsError
from interplay.learn.recordings.pictures import SIZE, OutsideError, Place, cursor_place, cursor_place_as_bedd, draw_cursor
from interplay.wording import amount

if TYPE_CHECKING:
    from av import VideoFrame

CHUNK = 64


class Steps(NamedTuple):
    """Consecutive steps of a recording; `first` is the number of the first one among all steps that the loader yields.

    Attributes:
        frames: uint8, shape (N, 128, 128, 3), or in the video's own size; RGB, with the cursor drawn.
        keys: uint8, shape (N, 23): 0 or 1 in the order of `minerl_actions.KEYS`.
        camera: float64, shape (N, 2): pitch and yaw, degrees.
        is_null: bool, shape (N,); see `Label`.
    """

    first: int
    frames: np.ndarray
    keys: np.ndarray
    camera: np.ndarray
    is_null: np.ndarray

    def __len__(self) -> int:
        return len(self.keys)


class _Read(NamedTuple):
    """A step as read, before its frame and label are converted."""

    part: Path
    frame: VideoFrame
    label: Label
    cursor: Place | None


_NOTHING = Label(frozenset(), 0.0, 0.0, True, None)


@dataclass
class Loader:
    """The steps of one recording, or of the parts of one episode; every iteration reads the files again.

    With `bedd` every part is read separately, as far as BEDD's loader reads it: a part with a line that is not JSON gives no
    steps, and reading stops at the line at which that loader stops. With `minerl` each frame is a step, and video and lines
    must have the same length; but one more line is allowed, and one more frame is the last observation.

    Args:
        parts: Recordings (`.jsonl`), oldest first; the video of each is in the same folder.
        labels: The way from lines to actions; see the module `labels`.
        is_small: Whether frames are resized to 128x128, as VPT sees them; otherwise they have the video's size.
        chunk: Number of steps that are yielded at a time.
        cut: Whether `minerl` uses the common part of a video and its lines if their lengths differ.
    Attributes:
        remarks: Steps left out in the last iteration, with reasons.
        last: The last observation, as in `frames`, if `minerl` found one more frame than lines in the last iteration.
    Raises:
        RecordingsError: While steps are read, if a file is missing or damaged, or a video and its lines differ in length.
    """

    parts: Sequence[Path]
    labels: Way = "minerl"
    is_small: bool = True
    chunk: int = CHUNK
    cut: bool = False

    def __post_init__(self) -> None:
        if self.labels not in WAYS:
            raise ValueError(f"labels are {' or '.join(WAYS)}, got {self.labels!r}")
        self.remarks: list[str] = []
        self.last: np.ndarray | None = None

    def __iter__(self) -> Iterator[Steps]:
        self.remarks, self.last = [], None
        coming = self._as_bedd() if self.labels == "bedd" else self._as_minerl()
        first = 0
        while chunk := self._chunk_of(coming):
            pictures, labels = chunk
            yield _steps(first, pictures, labels)
            first += len(labels)

    def _chunk_of(self, coming: Iterator[_Read]) -> tuple[np.ndarray, list[Label]] | None:
        """Return the pictures of the next steps, uint8, shape (N, H, W, 3), and their labels; None after the last step."""
        pictures: np.ndarray | None = None
        labels: list[Label] = []
        for step in islice(coming, self.chunk):
            if pictures is None:
                pictures = np.empty((self.chunk, *self._shape(step.frame)), np.uint8)
            self._draw(step, pictures[len(labels)])
            labels.append(step.label)
        return None if pictures is None else (pictures[: len(labels)], labels)

    def _shape(self, frame: VideoFrame) -> tuple[int, int, int]:
        return (SIZE, SIZE, 3) if self.is_small else (frame.height, frame.width, 3)

    def _draw(self, step: _Read, picture: np.ndarray) -> None:
        """Write a frame with its cursor into `picture`, in the size of `picture`."""
        part, frame, _, cursor = step
        try:
            whole = frame.to_ndarray(format="rgb24")
        except _ffmpeg_error() as error:
            raise RecordingsError(
                f"{part.with_suffix('.mp4')} says that its colour space is {int(frame.colorspace)}; FFmpeg cannot convert it\n"
                "Correct this in a copy:  ffmpeg -i OLD.mp4 -c copy -bsf:v h264_metadata=matrix_coefficients=1 NEW.mp4"
            ) from error
        if cursor is not None:
            draw_cursor(whole, cursor)
        if self.is_small:
            import cv2  # the resize of VPT; only where pictures are made small

            whole = cv2.resize(whole, (SIZE, SIZE), interpolation=cv2.INTER_LINEAR)
        picture[...] = whole

    def _as_bedd(self) -> Iterator[_Read]:
        for part in self.parts:
            lines = _lines_of_bedd(part)
            if lines is None:
                self.remarks.append(f"{part.name}: all of it, because a line is not JSON")
                continue
            frames = _frames(part)
            number = 1
            try:
                for label in _some_at_once(labels_of(lines, "bedd")):
                    frame = next(frames, None)
                    if frame is None:
                        self.remarks.append(f"{part.name}: lines from {number} on, because the video is shorter")
                        break
                    try:
                        yield _Read(part, frame, label, _placed(frame, label, cursor_place_as_bedd))
                    except OutsideError:
                        self.remarks.append(f"{part.name}: line {number}, because the cursor is outside the picture")
                    number += 1
            except (BrokenOffError, TypeError, ValueError, OverflowError) as error:
                self.remarks.append(f"{part.name}: lines from {number} on, because BEDD's loader cannot read it: {error}")

    def _as_minerl(self) -> Iterator[_Read]:
        num_unreadable = 0

        def lines() -> Iterator[Line]:
            nonlocal num_unreadable
            for part in self.parts:
                for line in read_lines(part):
                    num_unreadable += line is None
                    yield line

        labels = _some_at_once(labels_of(lines(), "minerl"))
        for part in self.parts:
            num_lines, num_frames = sum(1 for _ in read_lines(part)), 0
            self.last = None
            for frame in _frames(part):
                num_frames += 1
                if num_frames > num_lines:
                    if num_frames == num_lines + 1:
                        self.last = np.empty(self._shape(frame), np.uint8)
                        self._draw(_Read(part, frame, _NOTHING, None), self.last)
                    continue
                label = next(labels)
                yield _Read(part, frame, label, _placed(frame, label, cursor_place))
            if abs(num_lines - num_frames) > 1:
                said = f"{part.name} has {amount(num_lines, 'line')}, and its video {amount(num_frames, 'frame')}"
                if not self.cut:
                    raise RecordingsError(f"{said}\nFetch both again, or use only the steps that both have:  --cut")
                self.remarks.append(f"{said}: the steps that only one has are left out")
            for _ in range(num_lines - num_frames):
                next(labels)
        if num_unreadable:
            self.remarks.append(f"lines that are not JSON objects: {num_unreadable}; they count as steps without keys")


def _ffmpeg_error() -> type[Exception]:
    """Return the class of FFmpeg's errors; imported only when needed, because an import for each frame takes time."""
    from av.error import FFmpegError

    return FFmpegError


def _placed(frame: VideoFrame, label: Label, place: Callable[[int, int, Any, Any], Place | None]) -> Place | None:
    return None if label.cursor is None else place(frame.height, frame.width, *label.cursor)


def _some_at_once(labels: Iterator[Label]) -> Iterator[Label]:
    """Yield the same labels, computed many at a time, because the video decoder empties the CPU's caches at each frame."""
    while True:
        some: list[Label] = []
        try:
            some.extend(islice(labels, CHUNK))
        finally:  # also those before one that cannot be made
            yield from some
        if not some:
            return


def _steps(first: int, pictures: np.ndarray, labels: Sequence[Label]) -> Steps:
    keys = np.zeros((len(labels), len(KEYS)), np.uint8)
    keys.reshape(-1)[[step * len(KEYS) + place for step, label in enumerate(labels) for place in label.pressed]] = 1
    return Steps(
        first,
        pictures,
        keys,
        np.array([(label.pitch, label.yaw) for label in labels]),
        np.array([label.is_null for label in labels]),
    )


def _lines_of_bedd(path: Path) -> list[Any] | None:
    """Read the lines of a recording as BEDD's loader does: joined by commas and parsed at once; None if that is not JSON."""
    try:
        return json.loads(f"[{','.join(io.StringIO(b''.join(raw_lines(path)).decode(), newline=None))}]")
    except (ValueError, RecursionError):
        return None


def _frames(path: Path) -> Iterator[VideoFrame]:
    """Yield the frames of a recording's video; `RecordingsError` if the video is missing, incomplete or damaged."""
    import av
    from av.error import FFmpegError

    video = path.with_suffix(".mp4")
    try:
        with av.open(str(video)) as container:
            if not container.streams.video:
                raise RecordingsError(f"{video} has no picture\nFetch it again:  interplay demos get --help")
            stream = container.streams.video[0]
            stream.thread_type, stream.codec_context.thread_count = "NONE", 1  # others decode other recordings meanwhile
            yield from container.decode(stream)
    except FileNotFoundError as error:
        raise RecordingsError(
            f"{path.name} has no video: there is no file {video}\nFetch it:  interplay demos get --help"
        ) from error
    except FFmpegError as error:
        said = str(error).splitlines()[0]
        raise RecordingsError(
            f"{video} is damaged or cut off: {said}\nDelete it and fetch it again:  interplay demos get --help"
        ) from error
