"""Watchers of the seats of a game: they receive encoded frames, and do not play.

A watcher gets the pictures that the worker sends to the player of the seat, after the player. Where these cannot be shown (the
player's page draws the world itself, or an agent has the seat, or its player has stopped reading), the worker makes pictures
for watchers in its spare time. A watcher who is slow misses frames; the player never does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from interplay.play.connections import wire
from interplay.play.workers import channel

if TYPE_CHECKING:
    from interplay.play.connections.connection import Connection
    from interplay.play.games.seat import Seat
    from interplay.tasks import Task

_PICTURES = frozenset((wire.KEY_FRAME, wire.DELTA_FRAME, wire.JPEG_FRAME))


class WatchedGame(Protocol):
    """The game as watchers use it; `Game` describes it."""

    task: Task
    seats: list[Seat]

    @property
    def is_opened(self) -> bool: ...

    def command(self, command: channel.Command, seat: Seat | None = None) -> None: ...


class Watcher:
    """A person who watches a seat. `waits`: whether they wait for the welcome and a picture that stands alone. `step`: step of
    the last picture that they got."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.waits = True
        self.step: int | None = None

    def wait(self) -> None:
        self.waits, self.step = True, None

    def send(self, message: bytes, *, last: bool = False) -> bool:
        """Send a picture; return False if it builds on a picture that the watcher does not have."""
        header = wire.unpack_header(message)
        if header.kind == wire.DELTA_FRAME and header.base_step != self.step:
            return False
        self.step = header.step
        self.connection.send_frame(message, last=last)
        return True


class Watchers:
    """All watchers of one game; every method runs on the event loop."""

    def __init__(self, game: WatchedGame) -> None:
        self._game = game
        self._of_seat: dict[int, list[Watcher]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._of_seat.values()))

    def add(self, seat: Seat, watcher: Watcher) -> None:
        self._of_seat.setdefault(seat.index, []).append(watcher)
        self._ask(seat.index)

    def remove(self, seat: Seat, watcher: Watcher) -> None:
        watchers = self._of_seat.get(seat.index, [])
        if watcher in watchers:
            watchers.remove(watcher)
        if not watchers and self._of_seat.pop(seat.index, None) is not None:
            self._game.command(channel.Watch(is_watched=False), self._game.seats[seat.index])

    def again(self, watcher: Watcher, seat: Seat) -> None:
        watcher.wait()
        self._ask(seat.index)

    def on_opened(self) -> None:
        for index, watchers in self._of_seat.items():
            for watcher in watchers:
                watcher.wait()
            self._ask(index)

    def welcome(self, seat_index: int, event: channel.Watched) -> None:
        task = self._game.task
        for watcher in [one for one in self._of_seat.get(seat_index, ()) if one.waits]:
            watcher.waits = False
            watcher.connection.send_text(
                wire.text(
                    "welcome",
                    version=wire.VERSION,
                    task=task.id,
                    seat=self._game.seats[seat_index].name,
                    frame_rate_hz=task.frame_rate_hz,
                    width=event.width,
                    height=event.height,
                    codec=event.codec,
                    palette=event.palette,
                    step=event.step,
                )
            )

    def frame(self, seat_index: int, message: bytes, *, last: bool = False) -> None:
        if not (watchers := self._of_seat.get(seat_index)) or message[0] not in _PICTURES:
            return
        missed = [one for one in watchers if not one.waits and not one.send(message, last=last)]
        for watcher in missed:
            watcher.wait()
        if missed:
            self._ask(seat_index)

    def picture(self, seat_index: int, message: bytes) -> None:
        """Pass on a picture that stands alone and was made only for watchers. Watchers who have the picture of this step do not
        get it again."""
        step = wire.unpack_header(message).step
        for watcher in self._of_seat.get(seat_index, ()):
            if not watcher.waits and watcher.step != step:
                watcher.send(message)

    def text(self, seat_index: int, message: str) -> None:
        for watcher in self._of_seat.get(seat_index, ()):
            if not watcher.waits:
                watcher.connection.send_text(message)

    def end(self) -> None:
        for watchers in self._of_seat.values():
            for watcher in watchers:
                watcher.connection.send_text(wire.text("ended"))
                watcher.connection.close(1000)
        self._of_seat.clear()

    def _ask(self, seat_index: int) -> None:
        if self._game.is_opened:
            self._game.command(channel.Watch(is_watched=True), self._game.seats[seat_index])
