"""Check videos from elsewhere: whether a file is an mp4 that every browser plays from its first byte, and what it contains."""

from __future__ import annotations

import errno
import hashlib
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from interplay.files import to_disk
from interplay.record.errors import RecordingError
from interplay.record.films.variation import walk_boxes

if TYPE_CHECKING:
    import av

PROFILES = frozenset({"Baseline", "Constrained Baseline", "Main", "High"})
"""H.264 profiles that every browser decodes, if the pixel format is yuv420p."""
_PIXEL_FORMATS = frozenset({"yuv420p", "yuvj420p"})
_WORDS = "6|12|24-31"
"""Types of H.264 units that hold no picture and may hold any text: SEI, filler, and the types free for any use."""


@dataclass(frozen=True)
class Mp4:
    """A video that browsers can play.

    Attributes:
        num_frames: Number of pictures, counted.
        duration_s: Time from the first frame to the end of the last.
        frame_rate_hz: Average frame rate.
        profile: H.264 profile, one of `PROFILES`.
        sha256, size_bytes: Hash and size of the file.
        streams_at_once: Whether the index is before the pictures, so that the video plays while it loads.
    """

    num_frames: int
    duration_s: float
    frame_rate_hz: float
    width: int
    height: int
    profile: str
    sha256: str
    size_bytes: int
    streams_at_once: bool


def probe(path: Path, *, for_browsers: bool = True) -> Mp4:
    """Read a whole video: check its structure, every packet, and the picture of every key frame.

    Args:
        for_browsers: Whether browsers must be able to play the video; otherwise decoders are enough.
    Raises:
        RecordingError: If the file is missing, empty, cut off, damaged, not an mp4, or not playable in some browsers; the text
            says what to do.
    """
    import av
    from av.error import FFmpegError

    streams_at_once = _check_boxes(path)
    try:
        with av.open(str(path)) as container:
            if not container.streams.video:
                raise _broken(path, "there is no picture in it")
            stream = container.streams.video[0]
            if for_browsers:
                _check_codec(path, stream)
            stream.codec_context.skip_frame = "NONKEY"
            num_frames = num_pictures = 0
            for packet in container.demux(stream):
                if packet.is_corrupt:
                    raise _broken(path, f"frame {num_frames} is damaged")
                num_frames += packet.size > 0
                num_pictures += len(packet.decode())
            if not num_pictures:
                raise _broken(path, "no picture in it can be decoded")
            if stream.frames and stream.frames != num_frames:
                raise _broken(path, f"its index lists {stream.frames} frames, {num_frames} are there")
            rate = float(stream.average_rate or 0)
            if stream.duration and stream.time_base:
                duration_s = float(stream.duration * stream.time_base)
            else:
                duration_s = num_frames / rate if rate else 0.0
            facts = (num_frames, duration_s, rate or num_frames / duration_s, stream.width, stream.height, stream.profile or "")
    except (FFmpegError, ZeroDivisionError) as error:
        raise _broken(path, str(error).splitlines()[0]) from error
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Mp4(*facts, digest, path.stat().st_size, streams_at_once)


def copy_to_stream(source: Path, facts: Mp4, target: Path) -> Mp4:
    """Copy a probed video for browsers: pictures and sound unchanged, the index first, and no text about its author.

    Two kinds of text are left out: titles outside the pictures, and names and encoder settings between them (`_WORDS`).

    Args:
        target: An existing file is replaced; after an error it is removed.
    Returns:
        The facts of `target`.
    Raises:
        RecordingError: If the disk is full, the file changed since it was probed, or it is damaged without these texts.
    """
    from av.error import FFmpegError

    try:
        try:
            _rewrap(source, target)
        except FFmpegError as error:
            if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS):
                raise
            raise _broken(source, str(error).splitlines()[0]) from error
        with source.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != facts.sha256:
                raise RecordingError(f"{source} changed while it was read; try again when nothing writes to it")
        copied = probe(target)
        if copied.num_frames != facts.num_frames:
            raise _broken(source, f"only {copied.num_frames} of its {facts.num_frames} frames can be copied")
        return copied
    except OSError as error:
        target.unlink(missing_ok=True)
        raise RecordingError(
            f"cannot write {target}: {error.strerror or error}.\nFree some space and try again; nothing was added."
        ) from error
    except BaseException:
        target.unlink(missing_ok=True)
        raise


def _rewrap(source: Path, part: Path) -> None:
    import av

    with (
        av.open(str(source)) as old,
        av.open(str(part), "w", format="mp4", options={"movflags": "+faststart"}) as new,
    ):
        picture = old.streams.video[0]
        streams = {}
        for stream in (picture, *old.streams.audio[:1]):
            streams[stream.index] = new.add_stream_from_template(stream)
            streams[stream.index].metadata.clear()
        without_words = av.BitStreamFilterContext(f"filter_units=remove_types={_WORDS}", picture, streams[picture.index])
        for packet in old.demux([old.streams[index] for index in streams]):
            if packet.dts is None:  # the end
                continue
            index = packet.stream.index
            for kept in without_words.filter(packet) if index == picture.index else (packet,):
                kept.stream = streams[index]
                new.mux(kept)
    to_disk(part)


def _check_boxes(path: Path) -> bool:
    """Check the outermost boxes of a file; return whether the index (`moov`) is before the pictures (`mdat`)."""
    try:
        size = path.stat().st_size
        if not size:
            raise _broken(path, "the file is empty")
        with path.open("rb") as file:
            head = file.read(8)
            found = list(walk_boxes(file, 0, size))
    except OSError as error:
        raise _broken(path, error.strerror or str(error)) from error
    if len(head) == 8 and head[4:] != b"ftyp":
        raise _unplayable(path, "it is not an mp4")
    if not found or found[-1][2] != size:
        raise _broken(path, "it is cut off")
    names = [name for name, _, _ in found]
    for name, what in ((b"moov", "its index is missing; the recorder was probably stopped hard"), (b"mdat", "no pictures")):
        if name not in names:
            raise _broken(path, what)
    return names.index(b"moov") < names.index(b"mdat")


def _check_codec(path: Path, stream: av.VideoStream) -> None:
    context = stream.codec_context
    codec, profile, pixels = context.name, stream.profile or "", cast(str, context.pix_fmt)
    odd = bool(context.width % 2 or context.height % 2)
    if codec != "h264":
        raise _unplayable(path, f"its pictures are {codec}, and not every browser plays that", odd=odd)
    if profile not in PROFILES or pixels not in _PIXEL_FORMATS:
        raise _unplayable(path, f"it is H.264 {profile} in {pixels}, and not every browser plays that", odd=odd)


def _broken(path: Path, problem: str) -> RecordingError:
    return RecordingError(f"{path} is damaged: {problem}\nExport or copy it again, and see that a player plays it to the end.")


def _unplayable(path: Path, problem: str, *, odd: bool = False) -> RecordingError:
    even = " -vf 'scale=trunc(iw/2)*2:trunc(ih/2)*2'" if odd else ""
    source, target = shlex.quote(str(path)), shlex.quote(str(path.with_name(f"{path.stem}-h264.mp4")))
    return RecordingError(
        f"{path}: {problem}\nConvert it:  ffmpeg -i {source} -c:v libx264 -pix_fmt yuv420p{even} -movflags +faststart {target}"
    )
