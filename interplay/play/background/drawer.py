"""Draw pictures of recorded episodes again, in a process beside the games; `drawing.py` runs in that process."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from interplay.errors import InterplayError
from interplay.play.background.answering import AnsweringProcess, Request
from interplay.play.workers.channel import Draw, Drawing, DrawLand, Drawn, Drop, ToWeb, Undrawable, decode_drawn
from interplay.play.workers.processes import ProcessLink
from interplay.record import RecordingError

DRAWER_MODULE = "interplay.play.background.drawing"
MAX_WAITING = 40
"""Largest number of waiting requests: enough for a class that looks at replays, because a page has one open request."""
STOP_TIMEOUT_S = 2.0


class DrawerBusyError(InterplayError):
    """Too many requests for pictures already wait."""


class DrawnFrames(NamedTuple):
    """Encoded frames, `body` as `FrameList` returns it. `palette` is in base64; `tables` is the name of the tables that draw
    the land (`play.tables`)."""

    body: bytes
    palette: str | None = None
    tables: str | None = None


@dataclass
class _Request(Request):
    command: Draw | DrawLand
    share: float = field(init=False, default=0.0)
    drawn: Drawn = field(init=False, default_factory=Drawn)


class Drawer(AnsweringProcess[_Request]):
    """The drawing process: started when pictures are wanted, and ended after a long time without work."""

    def __init__(self) -> None:
        super().__init__(DRAWER_MODULE, deed="draw", stop_timeout_s=STOP_TIMEOUT_S)
        self._preparing: asyncio.Task[None] | None = None

    async def draw(self, path: Path, steps: range, *, seat: str | None = None) -> DrawnFrames:
        """Draw frames of an episode whose frame storage is `replay`. Cancel the call when nobody wants the frames any more.
        Raises `RecordingError` if they cannot be drawn, `DrawerBusyError` if too many requests already wait."""
        return await self._draw(path, Draw(str(path.resolve()), steps.start, steps.stop, steps.step, seat))

    async def land(self, path: Path, folder: Path) -> DrawnFrames:
        """Return the generated land of an episode whose frame storage is `replay`, for a browser that draws it. Cancelling and
        errors are as in `draw`. `folder`: the data folder, where the tables that draw the land are stored."""
        return await self._draw(path, DrawLand(str(path.resolve()), str(folder.resolve())))

    async def _draw(self, path: Path, command: Draw | DrawLand) -> DrawnFrames:
        if len(self._requests) >= MAX_WAITING:
            raise DrawerBusyError("many people are watching replays right now; try again in a few seconds")
        return await self._ask(_Request(path, command))

    async def prepare(self, path: Path) -> None:
        """Start loading the world of an episode that somebody is about to watch, unless another world is being loaded."""
        if self._preparing is None or self._preparing.done():
            self._preparing = asyncio.get_running_loop().create_task(self._prepare(path))

    async def _prepare(self, path: Path) -> None:
        with contextlib.suppress(InterplayError):  # told to whoever asks for its pictures
            await self.draw(path, range(1))

    def share(self, path: Path) -> float | None:
        """Share (0 to 1) of the steps replayed so far to draw this episode; None if it is not being drawn."""
        return next((one.share for one in self._requests.values() if one.path == path), None)

    def on_message(self, number: int, kind: int, payload: bytes) -> None:
        request = self._requests.get(number)
        if request is None:
            return
        if kind == ToWeb.FRAME:
            if not request.answer.done():
                request.answer.set_result(DrawnFrames(payload, request.drawn.palette, request.drawn.tables))
            return
        match decode_drawn(payload):
            case Undrawable(error):
                if not request.answer.done():
                    request.answer.set_exception(RecordingError(error))
            case Drawing(share):
                request.share = share
            case Drawn() as drawn:
                request.drawn = drawn

    def _command(self, request: _Request) -> Draw | DrawLand:
        return request.command

    def _refusal(self, request: _Request, reason: str) -> RecordingError:
        return RecordingError(f"the pictures of {request.path.stem} were not drawn: {reason}")

    def _drop(self, link: ProcessLink, number: int) -> None:
        link.command(number, Drop())
