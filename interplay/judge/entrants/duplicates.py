"""Make second files of videos, for checks that show one episode on both sides. Then the files differ, as in other matches."""

from __future__ import annotations

import logging
import math
import os
import queue
import threading
import time
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from typing import Protocol

from sqlalchemy.orm import Session

from interplay.errors import InterplayError
from interplay.files import replacing
from interplay.store import Database

log = logging.getLogger("interplay.judge")
_AGAIN_AFTER_S = 60.0
NUM_OF_TASK = 3
"""Number of episodes of each task for which a second file is made in advance."""


class VideoArchive(Protocol):
    """The part of `record.Archive` that judging needs. `name` is an episode's id, or the name of a clip or second file."""

    @property
    def database(self) -> Database: ...

    def video_place(self, name: str) -> Path: ...

    def video_path(self, name: str) -> Path: ...

    def videos_noted(self, names: Iterable[str], session: Session | None = None) -> set[str]: ...

    def videos_made(self, names: Iterable[str], session: Session | None = None) -> set[str]: ...

    def keep_video(self, name: str) -> None: ...


def twin_of(name: str) -> str:
    """Return the name of a video's second file, which the server only shows as a side of a match.

    >>> twin_of("clips/a-1-60")
    'clips/twins/a-1-60'
    """
    folder, slash, name = name.rpartition("/")
    return f"{folder}{slash}twins/{name}"


def with_twins(archive: VideoArchive, names: Iterable[str], session: Session) -> set[str]:
    """Return which of these videos have a second file."""
    wanted = {twin_of(name): name for name in names}
    return {wanted[twin] for twin in archive.videos_made(wanted, session)}


def make_twin(video: Path, target: Path) -> None:
    """Encode a video again: the same pictures in a file with other bytes (InterplayError if reading or writing fails)."""
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


class Twins:
    """Makes second files of videos in a separate thread, which ends when no video waits. Safe to share between threads."""

    def __init__(self, archive: VideoArchive, make: Callable[[Path, Path], None] = make_twin) -> None:
        self._archive = archive
        self._make = make
        self._lock = threading.Lock()
        self._wanted: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._not_before: dict[str, float] = {}
        self._num_waiting = 0
        self._thread: threading.Thread | None = None

    def want(self, videos: Iterable[str], session: Session | None = None) -> None:
        """Request the missing second files of these videos, given by their names.
        After a failure, a file can be requested again after a minute."""
        with self._lock:
            now = time.monotonic()
            new = [video for video in videos if self._not_before.get(video, 0.0) <= now]
            made = self._archive.videos_made(map(twin_of, new), session)
            new = [video for video in dict.fromkeys(new) if twin_of(video) not in made]
            self._not_before.update(dict.fromkeys(new, math.inf))
            for video in new:
                self._wanted.put(video)
            self._num_waiting += len(new)
            if new and self._thread is None:
                self._thread = threading.Thread(target=self._work, name="twins", daemon=True)
                self._thread.start()

    @property
    def is_busy(self) -> bool:
        return self._num_waiting > 0

    def wait(self, timeout_s: float) -> None:
        thread = self._thread
        if thread is not None:
            thread.join(timeout_s)

    def _work(self) -> None:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 19)  # of this thread and the encoder's alone
        while True:
            with self._lock:
                try:
                    video = self._wanted.get_nowait()
                except queue.Empty:
                    self._thread = None
                    return
            not_before = 0.0
            try:
                target = self._archive.video_place(twin_of(video))
                target.parent.mkdir(parents=True, exist_ok=True)
                self._make(self._archive.video_path(video), target)
                self._archive.keep_video(twin_of(video))
            except Exception as error:
                not_before = time.monotonic() + _AGAIN_AFTER_S
                log.warning("twins: the file of %s was not made: %s; checks show the video twice as it is", video, error)
            finally:
                with self._lock:
                    self._not_before[video] = not_before
                    self._num_waiting -= 1
