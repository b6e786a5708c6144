"""Make mp4 films of episodes, and clips: films of some steps of an episode that contain no other frame of the game."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from interplay.envs import Frame
from interplay.files import replacing
from interplay.record.archive import Archive
from interplay.record.errors import RecordingError
from interplay.record.sealed.episode import Episode, no_video

if TYPE_CHECKING:
    from av import VideoFrame

MIN_HEIGHT = 400
"""Smallest height in pixels. Smaller screens are enlarged by a whole factor, so that a browser does not blur them."""


def write_mp4(
    episode: Episode,
    path: Path,
    *,
    crf: int = 23,
    preset: str = "veryfast",
    advance: Callable[[int], None] | None = None,
    frames: Iterable[Frame] | None = None,
) -> None:
    """Write an episode as mp4: H.264, yuv420p, playable while it loads, with a key frame every two seconds.

    If the episode is only a video, the video is copied unchanged.

    Args:
        path: An existing file is replaced; the file appears only when it is complete.
        crf, preset: Quality and effort of x264.
        advance: Called with numbers of finished frames.
        frames: The pictures; by default, what the player saw. Smaller pictures are enlarged to the size of the first.
    Raises:
        RecordingError: If the file cannot be written.
    """
    if episode.is_video_only and not episode.path.exists():
        raise no_video(episode)
    try:
        with replacing(path) as part:
            if episode.is_video_only:
                shutil.copyfile(episode.path, part)
            else:
                _encode(episode, part, episode.frames if frames is None else frames, crf, preset, advance)
    except OSError as error:
        remedy = "free some space" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "give another place"
        raise RecordingError(
            f"cannot write {path}: {error.strerror or error}.\nThe episode itself is safe; {remedy} and try again."
        ) from error


def _encode(
    episode: Episode, path: Path, frames: Iterable[Frame], crf: int, preset: str, advance: Callable[[int], None] | None
) -> None:
    import av

    header = episode.header
    scale = max(1, round(MIN_HEIGHT / header.height)) if header.height < MIN_HEIGHT else 1
    rate = Fraction(header.task.frame_rate_hz).limit_denominator(1001)
    to_frame = _palette_frames(header.palette, header.height, header.width, scale)
    with av.open(str(path), "w", format="mp4", options={"movflags": "+faststart"}) as container:
        stream = cast(av.VideoStream, container.add_stream("libx264", rate=rate))
        # yuv420p halves the colour planes, so both sides must be even; the picture's last odd line is cut
        stream.width, stream.height = header.width * scale & ~1, header.height * scale & ~1
        stream.pix_fmt = "yuv420p"
        stream.options = {"crf": str(crf), "preset": preset, "g": str(max(1, round(2 * rate)))}
        stream.codec_context.thread_count = 2
        for frame in frames:
            if to_frame is not None:
                picture = to_frame(frame.pixels)
            elif frame.pixels.shape[0] != header.height:
                picture = av.VideoFrame.from_ndarray(frame.rgb(), format="rgb24").reformat(stream.width, stream.height)
            else:
                rgb = frame.rgb().repeat(scale, 0).repeat(scale, 1)[: stream.height, : stream.width]
                picture = av.VideoFrame.from_ndarray(np.ascontiguousarray(rgb), format="rgb24")
            container.mux(stream.encode(picture))
            if advance is not None:
                advance(1)
        container.mux(stream.encode())


def _palette_frames(
    palette: np.ndarray | None, height: int, width: int, scale: int
) -> Callable[[np.ndarray], VideoFrame] | None:
    """Return a fast function from palette indices to a doubled yuv420p frame; None if the general conversion is needed.

    At twice the size, each colour sample covers exactly one source pixel. So subsampling loses nothing, and three table
    look-ups replace the conversion (ITU-R BT.601, limited range).
    """
    if palette is None or scale != 2:
        return None
    import av

    weights = np.array([[65.481, 128.553, 24.966], [-37.797, -74.203, 112.0], [112.0, -93.786, -18.214]])
    luma, blue, red = np.rint(weights @ palette.T / 255 + [[16], [128], [128]]).astype(np.uint8)
    twice = luma.astype(np.uint16) * 257  # two equal bytes: one look-up writes two pixels
    buffer = np.zeros((height * 3, width * 2), np.uint8)
    doubled = buffer[: height * 2].reshape(height, 2, width * 2)
    chroma = buffer[height * 2 :].reshape(2, height, width)

    def convert(pixels: np.ndarray) -> VideoFrame:
        rows = twice[pixels].view(np.uint8)
        doubled[:, 0] = rows
        doubled[:, 1] = rows
        np.take(blue, pixels, out=chroma[0])
        np.take(red, pixels, out=chroma[1])
        return av.VideoFrame.from_ndarray(buffer, format="yuv420p")

    return convert


FOLDER = "clips"


class Clip(NamedTuple):
    """Some steps of an episode: the picture before their first action, and the picture after each of their actions.

    Attributes:
        first_step, last_step: Steps of the episode; both belong to the clip.
    """

    episode_id: str
    first_step: int
    last_step: int

    @property
    def name(self) -> str:
        """Name that films of `Archive` accept in place of an episode's id. Web addresses name a match instead."""
        return f"{FOLDER}/{self.episode_id}-{self.first_step}-{self.last_step}"


def clip_of(name: str) -> Clip | None:
    """Return the clip that has this name; None if the name is an episode's id.

    >>> clip_of(Clip("20260101T120000-1a2b3c4d", 8, 67).name)
    Clip(episode_id='20260101T120000-1a2b3c4d', first_step=8, last_step=67)
    >>> clip_of("20260101T120000-1a2b3c4d")
    """
    folder, is_clip, rest = name.rpartition("/")
    if not is_clip or folder != FOLDER:
        return None
    episode_id, first, last = rest.rsplit("-", 2)
    return Clip(episode_id, int(first), int(last))


def film(
    archive: Archive,
    name: str,
    *,
    begin: Callable[[int], None] = lambda num_frames: None,
    advance: Callable[[int], None] | None = None,
) -> Path:
    """Return the mp4 of an episode or clip, made if missing: what judges see, drawn in the same way for people and agents.

    Args:
        name: An episode's id, or a clip's name.
        begin: Called once, before `advance`, with the number of frames.
        advance: Called with numbers of finished frames.
    Raises:
        InterplayError: If the episode does not exist, cannot be read or has no picture, or if the file cannot be written.
    """
    if archive.has_video(name) and (path := archive.video_path(name)).exists():
        return path
    path = archive.video_place(name)
    clip = clip_of(name)
    episode = archive.get(name if clip is None else clip.episode_id)
    try:
        if clip is not None:
            path.parent.mkdir(exist_ok=True)
            begin(clip.last_step - clip.first_step + 2)
            frames = episode.observed.range(clip.first_step, clip.last_step + 2)
        else:
            begin(episode.num_steps + 1)
            frames = None if episode.is_video_only else episode.observed
        write_mp4(episode, path, advance=advance, frames=frames)
        archive.keep_video(name)
    finally:
        episode.close()  # a world that was played again for it goes at once
    return archive.video_path(name)
