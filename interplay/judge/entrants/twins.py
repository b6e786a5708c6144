"""Second encodes: a check that shows one episode on both sides shows two files, as any other match does.

They are made once, beside everything else and at the lowest priority, and kept.
"""

from __future__ import annotations

import logging
import os
import queue
import threading
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

from interplay.errors import InterplayError
from interplay.files import replacing

log = logging.getLogger("interplay.judge")

NUM_OF_TASK = 3
"""Episodes of a task that get a second encode before anybody asks for it."""


def twin_path(video: Path) -> Path:
    """Where the second encode of a video is or would be; no address leads there but a match's."""
    return video.parent / "twins" / video.name


class Twins:
    """Makes second encodes, one after the other, in a thread that ends when there is nothing to do."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wanted: queue.SimpleQueue[Path] = queue.SimpleQueue()
        self._known: set[Path] = set()
        self._num_waiting = 0
        self._thread: threading.Thread | None = None

    def want(self, videos: Iterable[Path]) -> None:
        """Make the second encodes of these, if they are not there; each is tried once."""
        with self._lock:
            new = [video for video in videos if video not in self._known]
            self._known.update(new)
            new = [video for video in new if not twin_path(video).exists()]
            for video in new:
                self._wanted.put(video)
            self._num_waiting += len(new)
            if new and self._thread is None:
                self._thread = threading.Thread(target=self._work, name="twins", daemon=True)
                self._thread.start()

    @property
    def is_busy(self) -> bool:
        """Whether some are still being made."""
        return self._num_waiting > 0

    def wait(self, timeout_s: float) -> None:
        """Wait until what was wanted is made."""
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
            try:
                make_twin(video, twin_path(video))
            except Exception as error:
                log.warning("no second encode of %s: %s; checks show it twice as it is", video.name, error)
            finally:
                with self._lock:
                    self._num_waiting -= 1


def make_twin(video: Path, target: Path) -> None:
    """Encode a video once more, so that the same pictures make other bytes.

    Args:
        target: Appears whole or not at all.
    Raises:
        InterplayError: If it cannot be read or written.
    """
    import av
    from av.error import FFmpegError

    target.parent.mkdir(exist_ok=True)
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
