"""Second encodes: a check that shows one episode on both sides shows two files, as any other match does."""

from __future__ import annotations

import logging
import math
import os
import queue
import threading
import time
from collections.abc import Callable, Hashable, Iterable
from fractions import Fraction
from pathlib import Path
from typing import Generic, TypeVar

from interplay.errors import InterplayError
from interplay.files import replacing

log = logging.getLogger("interplay.judge")
Item = TypeVar("Item", bound=Hashable)
_AGAIN_AFTER_S = 60.0


class Background(Generic[Item]):
    """Makes a file of each item, in a thread that ends when there is nothing to do; safe to share between threads.

    Args:
        target: Item -> path of its file.
        make: Makes it: the file appears whole or not at all.
        without: Consequence of a missing file, for the log.
    """

    def __init__(self, name: str, target: Callable[[Item], Path], make: Callable[[Item, Path], None], without: str) -> None:
        self._name, self._target, self._make, self._without = name, target, make, without
        self._lock = threading.Lock()
        self._wanted: queue.SimpleQueue[Item] = queue.SimpleQueue()
        self._not_before: dict[Item, float] = {}
        self._num_waiting = 0
        self._thread: threading.Thread | None = None

    def want(self, items: Iterable[Item]) -> None:
        """Make the files of these, if they do not exist; an item that failed is tried again after a minute."""
        with self._lock:
            now = time.monotonic()
            new = [item for item in items if self._not_before.get(item, 0.0) <= now]
            new = [item for item in dict.fromkeys(new) if not self._target(item).exists()]
            self._not_before.update(dict.fromkeys(new, math.inf))
            for item in new:
                self._wanted.put(item)
            self._num_waiting += len(new)
            if new and self._thread is None:
                self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
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
                    item = self._wanted.get_nowait()
                except queue.Empty:
                    self._thread = None
                    return
            not_before = 0.0
            try:
                target = self._target(item)
                target.parent.mkdir(exist_ok=True)
                self._make(item, target)
            except Exception as error:
                not_before = time.monotonic() + _AGAIN_AFTER_S
                log.warning("%s: the file of %s was not made: %s; %s", self._name, item, error, self._without)
            finally:
                with self._lock:
                    self._not_before[item] = not_before
                    self._num_waiting -= 1


NUM_OF_TASK = 3
"""Episodes of a task that get a second encode before anybody asks for it."""


def twin_path(video: Path) -> Path:
    """Path of the second encode of a video; only the addresses of matches lead there."""
    return video.parent / "twins" / video.name


class Twins(Background[Path]):
    """Makes second encodes of videos."""

    def __init__(self) -> None:
        super().__init__("twins", twin_path, make_twin, "checks show the video twice as it is")


def make_twin(video: Path, target: Path) -> None:
    """Encode a video once more, so that the same pictures make other bytes (InterplayError if it cannot be read or written)."""
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
