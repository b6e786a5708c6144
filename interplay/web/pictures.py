"""Pictures of tasks for the library: each is a real frame of the task's world.
Pictures of built-in tasks come with the package; all others are drawn once and stored in the data folder."""

from __future__ import annotations

import json
import signal
import threading
from concurrent.futures import Future
from functools import cache
from html import escape
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path

import numpy as np

from interplay.envs import EnvError, Frame, backends, make
from interplay.envs.pictures import png
from interplay.files import write_bytes
from interplay.parallel import begin
from interplay.tasks import Task

NUM_STEPS = 420
"""Number of steps before the picture is taken. In Atari these are seven seconds, enough to pass title screens."""
_HOLD_STEPS = 12

PAINTER_IDLE_S = 20.0
"""Seconds without a task after which the process that draws slow worlds ends."""

SHIPPED = Path(__file__).parent / "static" / "tasks"
"""Pictures of the tasks that come with the package, made by `tools/make_starter.py`."""

PLACEHOLDER_SIZE = (333, 251)
"""Pixels of the placeholder for an unfinished picture. No world has this size, so `pictures.js` recognises the placeholder."""


class Pictures:
    """The pictures in one folder. Each is made in the background at its first request, which may come from any thread.

    Only one picture is made at a time, because live games use the same cores. Slow worlds have a queue of their own.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._painter = _Painter()
        self._quick_turn, self._slow_turn = threading.Lock(), threading.Lock()
        self._lock = threading.Lock()
        self._being_made: dict[Path, Future[None]] = {}

    def path(self, task: Task, *, within_s: float | None = None) -> Path | None:
        """Return the path of a task's PNG, and make the PNG if it is missing; None if it is not made in time.

        This takes about 0.2 s, but seconds for a slow world, and up to a minute for the first slow world. The file's name
        contains the task's hash, so a changed task gets a new picture.

        Args:
            within_s: Seconds to wait for the picture, which is made in any case; None to wait until it is made.
        Raises:
            EnvError: If the world cannot be built; the next request tries again.
        """
        path = self._folder / f"{task.suite}-{task.name}-{task.content_hash}.png"
        with self._lock:
            made = self._being_made.get(path)
            if made is None:
                if path.exists():
                    return path
                made = self._being_made[path] = Future()
                threading.Thread(target=self._make, args=(task, path, made), daemon=True).start()
        try:
            made.result(within_s)
        except TimeoutError:
            if not made.done():
                return None
            raise
        finally:
            if made.done():
                with self._lock:
                    if self._being_made.get(path) is made:
                        del self._being_made[path]
        return path

    def close(self) -> None:
        self._painter.close()

    def _make(self, task: Task, path: Path, made: Future[None]) -> None:
        is_slow = backends.of(task).is_slow
        try:
            with self._slow_turn if is_slow else self._quick_turn:
                # Building a slow world in this process would hold up everybody's frames.
                data = self._painter.draw(task) if is_slow else png(_a_moment(task))
                self._folder.mkdir(parents=True, exist_ok=True)
                write_bytes(path, data)
        except Exception as error:  # told to who asked
            made.set_exception(error)
        else:
            made.set_result(None)


@cache
def shipped_picture(task_id: str) -> Path | None:
    stem = task_id.replace("/", "-")
    return next((path for path in (SHIPPED / f"{stem}.png", SHIPPED / f"{stem}.jpg") if path.is_file()), None)


def placeholder(title: str) -> bytes:
    width, height = PLACEHOLDER_SIZE
    size = min(28, round(1.7 * width / max(1, len(title))))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
        f'<rect width="100%" height="100%" fill="#46505e"/>'
        f'<text x="50%" y="50%" fill="#fff" font-family="sans-serif" font-size="{size}" text-anchor="middle" '
        f'dominant-baseline="middle">{escape(title)}</text></svg>'
    ).encode()


class _Painter:
    """A process that draws one slow world after another. It is kept for the next picture of the same page.

    Call `draw` in one thread at a time; `close` may be called in any thread.
    """

    def __init__(self) -> None:
        self._process: SpawnProcess | None = None
        self._pipe: Connection | None = None
        self._lock = threading.Lock()
        self._is_closed = False

    def draw(self, task: Task) -> bytes:
        request = json.dumps(task.to_json()).encode()
        for _ in range(2):  # it may just have ended, for want of work
            try:
                pipe = self._started()
                pipe.send_bytes(request)
                is_picture, data = pipe.recv_bytes() == b"1", pipe.recv_bytes()
            except (EOFError, OSError):
                continue
            if not is_picture:
                raise EnvError(data.decode())
            return data
        raise EnvError(f"{task.id}: the process that draws the picture stopped\nRead the server's log, then try again.")

    def _started(self) -> Connection:
        with self._lock:
            if self._is_closed:
                raise EnvError("the server is stopping: no more pictures are drawn")
            if self._process is None or not self._process.is_alive() or self._pipe is None:
                context = get_context("spawn")
                self._pipe, theirs = context.Pipe()
                self._process = context.Process(target=_paint, args=(theirs,), daemon=True)
                # Ctrl-C goes to every process of a terminal; this one ends with the server, and says nothing.
                resource_tracker.ensure_running()  # starting it lets the signal through again
                before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
                try:
                    self._process.start()
                finally:
                    signal.pthread_sigmask(signal.SIG_SETMASK, before)
                theirs.close()
            return self._pipe

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            if self._process is not None:
                self._process.kill()
                self._process.join()


def _paint(pipe: Connection) -> None:
    """Run in the painter's process: receive a task's document, send `1` and a PNG, or `0` and an error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    begin()
    while pipe.poll(PAINTER_IDLE_S):
        try:
            document = json.loads(pipe.recv_bytes())
        except EOFError:
            return
        try:
            kind, data = b"1", png(_a_moment(Task.from_json(document)))
        except Exception as error:  # told to who asked
            kind, data = b"0", str(error).encode()
        pipe.send_bytes(kind)
        pipe.send_bytes(data)


def _a_moment(task: Task) -> Frame:
    """Return a frame after some seconds of random key presses, or the last frame if the game ends sooner.

    A world whose keys have no table is shown at its start: in first person, random keys open menus and look at the ground.
    """
    env = make(task)
    try:
        rng = np.random.default_rng(0)
        env.reset(seed=0)
        keys = [task.keys.of(seat) for seat in task.seats]
        actions = [one.noop for one in keys]
        for step in range(min(NUM_STEPS, task.max_steps) if task.keys.has_table else 0):
            if step % _HOLD_STEPS == 0:
                actions = [one.table[int(rng.integers(len(one.table)))] for one in keys]
            _, _, terminated, truncated, _ = env.step(dict(zip(task.seats, actions, strict=True)))
            if terminated or truncated:
                break
        view = env.view()
        return Frame(view.pixels.copy(), view.palette)
    finally:
        env.close()
