"""The process that draws the pictures of recorded episodes again, for replays. Episodes without stored pictures are played
again, which must delay neither the web process nor the games. `drawer.Drawer` starts `main`.

The process works in small pieces (a picture, or some steps without a picture) and reads messages between them. A request for
few pictures comes before a request for many, and a request that nobody wants any more is dropped. The worlds of the last
episodes stay at the step that they have reached, so continuing from there costs nothing.
"""

from __future__ import annotations

import logging
import select
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from interplay.envs import Frame
from interplay.errors import InterplayError
from interplay.parallel import give_way
from interplay.play import tables
from interplay.play.connections.frame_list import FrameList
from interplay.play.workers import channel, processes
from interplay.play.workers.channel import Draw, DrawLand, ToWeb, Unpacker, decode_draw, pack, pack_event
from interplay.record import Episode, RecordingError
from interplay.record.sealed.frames import ReplaySource

NICENESS = 10
"""Niceness: a lower priority than the games, but not the lowest, because somebody waits for the pictures."""
IDLE_S = 300.0
"""The process ends after this time without work, to free about 400 MB of memory. A new process takes seconds to load."""
KEPT = 3
REPORT_EVERY_S = 0.25

log = logging.getLogger("interplay.play.background.drawing")


@dataclass
class _Open:
    episode: Episode
    source: ReplaySource
    used_by: int | None = None
    """Number of the request for which this world is stepped; None if it is free."""


class _Request:
    def __init__(self, number: int, asked: Draw | DrawLand) -> None:
        self.number, self.asked, self.path = number, asked, asked.path
        self.steps = range(asked.start, asked.stop, asked.step) if isinstance(asked, Draw) else range(1)
        self.num_drawn = 0
        self.pieces: Iterator[None] | None = None


class Drawing:
    """The open requests, and the worlds that are kept open for them."""

    def __init__(self, pipe: socket.socket) -> None:
        self._pipe = pipe
        self._requests: dict[int, _Request] = {}
        self._open: dict[str, _Open] = {}  # the least recently used first

    @property
    def is_idle(self) -> bool:
        return not self._requests

    def command(self, number: int, command: Draw | DrawLand | channel.Drop) -> None:
        if isinstance(command, channel.Drop):
            self._drop(number)
        else:
            self._requests[number] = _Request(number, command)

    def work(self) -> None:
        moves = {path: world.used_by for path, world in self._open.items()}  # a world goes one way at a time
        request = min(
            (one for one in self._requests.values() if moves.get(one.path) in (None, one.number)),
            key=lambda one: (len(one.steps) - one.num_drawn, one.number),
        )
        try:
            request.pieces = request.pieces or self._pieces(request)
            if next(request.pieces, self) is self:
                self._drop(request.number)
        except Exception as error:  # told to who asked
            if not isinstance(error, InterplayError):
                log.exception("%s cannot be drawn", request.path)
            self._drop(request.number)
            self._close(request.path)
            text = str(error) if isinstance(error, InterplayError) else f"{type(error).__name__}: {error}"
            self._say(request.number, channel.Undrawable(text))

    def _pieces(self, request: _Request) -> Iterator[None]:
        world = self._world(request.path)
        world.used_by = request.number
        frames = FrameList(world.episode)
        yield
        if isinstance(request.asked, DrawLand):
            for part in world.source.land():
                frames.add_land(part)
                yield
            found = channel.Drawn(tables=tables.keep(Path(request.asked.folder), world.source.tables()))
        else:
            yield from self._steps(request, world, frames, request.asked.seat)
            found = channel.Drawn(frames.palette)
        self._say(request.number, found)
        self._pipe.sendall(pack(request.number, ToWeb.FRAME, frames.body))

    def _steps(self, request: _Request, world: _Open, frames: FrameList, seat: str | None) -> Iterator[None]:
        palette = world.episode.header.palette
        next_report = time.monotonic() + REPORT_EVERY_S
        for step in request.steps:
            start = None
            for position in world.source.approach(step):
                start = position if start is None else start
                if position < step and time.monotonic() >= next_report:
                    self._say(request.number, channel.Drawing((position - start) / (step - start)))
                    next_report = time.monotonic() + REPORT_EVERY_S
                yield
            if seat is None:
                frames.add(step, Frame(world.source.view(), palette))
            else:
                payload, is_fresh = world.source.scene(seat, fresh=step == request.steps[0])
                frames.add_scene(step, payload, fresh=is_fresh)
            request.num_drawn += 1
            yield

    def _world(self, path: str) -> _Open:
        world = self._open.pop(path, None)
        if world is None:
            for other in [name for name, one in self._open.items() if one.used_by is None][
                : max(0, len(self._open) - KEPT + 1)
            ]:
                self._close(other)
            episode = Episode.open(Path(path))
            if not episode.header.deterministic:
                raise RecordingError(f"episode {episode.id}: {episode.env} is not deterministic, so it cannot be drawn again")
            world = _Open(episode, episode.replay_source())
        self._open[path] = world
        return world

    def _drop(self, number: int) -> None:
        request = self._requests.pop(number, None)
        world = None if request is None else self._open.get(request.path)
        if world is not None and world.used_by == number:
            world.used_by = None

    def _close(self, path: str) -> None:
        world = self._open.pop(path, None)
        if world is not None:
            world.source.close()
            world.episode.close()

    def _say(self, number: int, event: channel.Event) -> None:
        self._pipe.sendall(pack_event(number, event))


def main(descriptor: int) -> None:
    """Draw until the web process ends, or has asked for nothing for a long time."""
    pipe = processes.enter(descriptor, "drawer")
    give_way(NICENESS)
    unpacker = Unpacker()
    drawing = Drawing(pipe)
    try:
        while True:
            if select.select([pipe], [], [], IDLE_S if drawing.is_idle else 0.0)[0]:
                data = pipe.recv(1 << 16)
                if not data:
                    return
                for number, _, _, payload in unpacker.feed(data):
                    drawing.command(number, decode_draw(payload))
            elif drawing.is_idle:
                return
            if not drawing.is_idle:
                drawing.work()
    except ConnectionError:
        return
