"""Pictures of recorded episodes drawn again beside the games, as the web process sees it; `drawing.py` is the process."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from interplay.errors import InterplayError
from interplay.play.workers import processes
from interplay.play.workers.channel import Draw, Drawing, Drop, Palette, ToWeb, Undrawable, decode_drawn
from interplay.record import RecordingError

DRAWER_MODULE = "interplay.play.beside.drawing"
MAX_WAITING = 40
"""Requests that may wait for pictures: a class that looks at replays, each page asking for one thing at a time."""
MAX_TRIES = 2
"""An episode over which the process died so often is not tried again."""
STOP_TIMEOUT_S = 2.0

log = logging.getLogger("interplay.play")


class DrawerBusyError(InterplayError):
    """Too many wait for pictures."""


class DrawnFrames(NamedTuple):
    """Frames as `FrameList` puts them.

    Attributes:
        body: The messages.
        palette: In base64, or None.
    """

    body: bytes
    palette: str | None


@dataclass
class _Request:
    path: Path
    steps: range
    answer: asyncio.Future[DrawnFrames]
    share: float = 0.0
    palette: str | None = None
    num_tries: int = field(default=0)


class Drawer:
    """The process: started when pictures are wanted, replaced when it dies, ended by itself when it has been idle for long."""

    def __init__(self) -> None:
        self._requests: dict[int, _Request] = {}
        self._numbers = itertools.count(1)
        self._link: _Link | None = None
        self._starting = asyncio.Lock()
        self._preparing: asyncio.Task[None] | None = None

    async def draw(self, path: Path, steps: range) -> DrawnFrames:
        """Frames of an episode whose policy is `replay`. Whoever wants them no longer cancels this.

        Args:
            path: Its sealed file.
            steps: Which frames, upwards.
        Raises:
            RecordingError: If they cannot be drawn.
            DrawerBusyError: If too many wait already.
        """
        if len(self._requests) >= MAX_WAITING:
            raise DrawerBusyError("many people are watching replays right now; try again in a few seconds")
        request = _Request(path, steps, asyncio.get_running_loop().create_future())
        number = next(self._numbers)
        self._requests[number] = request
        try:
            await self._send(number, request)
            return await request.answer
        finally:
            del self._requests[number]
            if request.answer.cancelled() and self._link is not None:
                self._link.command(number, Drop())

    async def prepare(self, path: Path) -> None:
        """Begin to load the world of an episode that somebody is about to watch, unless another one is being loaded."""
        if self._preparing is None or self._preparing.done():
            self._preparing = asyncio.get_running_loop().create_task(self._prepare(path))

    async def _prepare(self, path: Path) -> None:
        with contextlib.suppress(InterplayError):  # told to whoever asks for its pictures
            await self.draw(path, range(1))

    def share(self, path: Path) -> float | None:
        """Of the steps that are played again for a picture of this episode, how many are done, 0 to 1; None if none is."""
        return next((one.share for one in self._requests.values() if one.path == path), None)

    async def stop(self) -> None:
        """End the process."""
        link, self._link = self._link, None
        for request in self._requests.values():
            _fail(request, "the server was stopped")
        if link is not None:
            await link.end(STOP_TIMEOUT_S)

    async def _send(self, number: int, request: _Request) -> None:
        try:
            async with self._starting:
                if self._link is None:
                    process, ours = processes.start(DRAWER_MODULE)
                    self._link = await processes.connect(_Link(process, self), ours)
        except OSError as error:
            _fail(request, f"no process to draw it could be started: {error}")
            return
        steps = request.steps
        self._link.command(number, Draw(str(request.path.resolve()), steps.start, steps.stop, steps.step))

    def on_event(self, number: int, event: Drawing | Palette | Undrawable) -> None:
        """The process tells how far it is, or that it cannot."""
        request = self._requests.get(number)
        if request is None:
            return
        match event:
            case Undrawable(error):
                if not request.answer.done():
                    request.answer.set_exception(RecordingError(error))
            case Drawing(share):
                request.share = share
            case Palette(palette):
                request.palette = palette

    def on_frames(self, number: int, body: bytes) -> None:
        """The process has drawn what was asked for."""
        request = self._requests.get(number)
        if request is not None and not request.answer.done():
            request.answer.set_result(DrawnFrames(body, request.palette))

    def on_death(self, link: _Link) -> None:
        """The process is gone, perhaps because it had been idle: what it had not answered goes to a new one."""
        if link is not self._link:
            return
        self._link = None
        waiting = [(number, one) for number, one in self._requests.items() if not one.answer.done()]
        if waiting:
            log.error("the drawing process %d died with %d requests waiting", link.process.pid, len(waiting))
        for number, request in waiting:
            request.num_tries += 1
            if request.num_tries >= MAX_TRIES:
                _fail(request, f"the process that draws it died {request.num_tries} times")
            else:
                again = asyncio.get_running_loop().create_task(self._send(number, request))
                request.answer.add_done_callback(lambda _, again=again: again.cancel())


def _fail(request: _Request, reason: str) -> None:
    if not request.answer.done():
        request.answer.set_exception(RecordingError(f"the pictures of {request.path.stem} were not drawn: {reason}"))


class _Link(processes.ProcessLink):
    """Our end of the socket pair."""

    def __init__(self, process: subprocess.Popen[bytes], drawer: Drawer) -> None:
        super().__init__(process)
        self._drawer = drawer

    def on_message(self, number: int, seat: int, kind: int, payload: bytes) -> None:
        if kind == ToWeb.FRAME:
            self._drawer.on_frames(number, payload)
        else:
            self._drawer.on_event(number, decode_drawn(payload))

    def on_death(self) -> None:
        self._drawer.on_death(self)
