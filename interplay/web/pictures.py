"""A picture of each task for the library: a real frame of its world, drawn once and kept in the data folder."""

from __future__ import annotations

import os
import struct
import tempfile
import threading
import zlib
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import numpy as np

from interplay.envs import Frame, make
from interplay.parallel import process_pool
from interplay.play.server import SLOW_DOORS
from interplay.tasks import Task

NUM_STEPS = 420
"""Seven seconds of Atari: long enough that title screens are gone and something is going on."""
_HOLD_STEPS = 12

PAINTER_IDLE_S = 20.0
"""The process that draws slow worlds ends after so long without a task."""

_one_at_a_time = threading.Lock()


def task_picture(task: Task, folder: Path) -> Path:
    """The PNG of a task, made when missing (some 0.2 s, of a slow world some seconds).

    The name holds the task's hash, so a changed task gets a new one.

    Args:
        folder: Where pictures are kept.
    Raises:
        EnvError: If the world cannot be built.
    """
    path = folder / f"{task.suite}-{task.name}-{task.content_hash}.png"
    if not path.exists():
        # One at a time: a page asks for many at once, and live games share these cores.
        with _one_at_a_time:
            if not path.exists():
                folder.mkdir(parents=True, exist_ok=True)
                _write_atomically(path, _drawn(task))
    return path


def _drawn(task: Task) -> bytes:
    """The picture; of a slow world in a process of its own, because building one would hold up everybody's frames."""
    if task.env.door not in SLOW_DOORS:
        return png(_a_moment(task))
    return _painter.draw(task)


class _Painter:
    """The process, kept for the next picture of the same page. Used by one thread at a time."""

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None
        self._end: threading.Timer | None = None

    def draw(self, task: Task) -> bytes:
        if self._end is not None:
            self._end.cancel()
        if self._pool is None:
            self._pool = process_pool(1)
        try:
            return self._pool.submit(_png_of, task.to_json()).result()
        except BrokenProcessPool:
            self._pool = None
            raise
        finally:
            self._end = threading.Timer(PAINTER_IDLE_S, self._stop)
            self._end.daemon = True
            self._end.start()

    def _stop(self) -> None:
        with _one_at_a_time:
            if self._pool is not None and self._end is threading.current_thread():
                self._pool.shutdown(wait=False)
                self._pool = None


_painter = _Painter()


def _png_of(document: dict[str, Any]) -> bytes:
    """In that process."""
    return png(_a_moment(Task.from_json(document)))


def _a_moment(task: Task) -> Frame:
    """A frame some seconds into a game of random key presses, or the last one if the game is over sooner.

    Worlds whose keys are composed are shown as they are found: seen in first person, random keys open menus and look at the
    ground.
    """
    env = make(task)
    try:
        rng = np.random.default_rng(0)
        env.reset(seed=0)
        action = task.keys.noop
        for step in range(0 if task.keys.compose else min(NUM_STEPS, task.max_steps)):
            if step % _HOLD_STEPS == 0:
                action = task.keys.table[int(rng.integers(len(task.keys.table)))]
            _, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                break
        view = env.view()
        return Frame(view.pixels.copy(), view.palette)
    finally:
        env.close()


def png(frame: Frame) -> bytes:
    """A frame as PNG, with its palette where it has one."""
    pixels = np.ascontiguousarray(frame.pixels)
    height, width = pixels.shape[:2]
    colour_type = 2 if frame.palette is None else 3
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], axis=1)  # each row: filter 0, data
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, colour_type, 0, 0, 0))]
    if frame.palette is not None:
        chunks.append((b"PLTE", frame.palette.tobytes()))
    chunks += [(b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b"")]
    body = b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + body


def _write_atomically(path: Path, data: bytes) -> None:
    descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=".picture-")
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    os.replace(draft, path)
