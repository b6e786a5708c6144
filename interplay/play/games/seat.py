"""A place in a game as the web process sees it: its owner, and their socket."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from interplay.play.connections import wire
from interplay.play.workers import channel
from interplay.record import Owner

if TYPE_CHECKING:
    from interplay.play.connections.connection import Connection

_GRANTED = ("session", "client", "owner", "granted_at", "is_drawn_here", "agent", "wheel", "may_move")
UNKNOWN_CLIENT = ""
"""Of a seat that a killed server has left: whose it counts as is known when its player comes back."""


class Seat:
    """One place in a game; every method runs on the event loop.

    Args:
        session: Its player's, as the token names it; None while the seat is open.
        client: See `sockets.client_of`; None for a seat that no limit counts.

    Attributes:
        granted_at: When its player was granted it, seconds of the monotonic clock; later by the time without a socket.
        lost_at: Likewise, when their last socket was lost; None while there is one.
        may_move: Its player has not come yet and asked for no game of their own, so any place in such a game will do.
        is_welcomed: Whether the player has been told the format of the pictures.
        is_ready: The player has said start, and is connected.
        is_away: They paused since, or their socket has closed.
        is_restored: The server was killed meanwhile, and the player has not resumed yet.
        is_drawn_here: Whether the game counts as drawn by this player's page: it said so when it asked, or does it.
        hud: The last `hud` message about it, as JSON; empty before the first.
        last_words: The `ended` or `error` message, for a client that comes back too late.
        agent: The agent that acts here, or shall as soon as there is a world: a name for `interplay.agents.find`.
        acting: The worker's last message about who acts; None before the first agent did.
        wheel: The agent with which the person here shares the control.
        leaving: How their part ends, of a person who has left for good and for whom no agent acts yet.
        is_gone: Whether that has happened.
    """

    def __init__(
        self, name: str, index: int, *, session: str | None = None, owner: Owner | None = None, client: str | None = None
    ) -> None:
        self.name = name
        self.index = index
        self.session = session
        self.granted_at = time.monotonic()
        self.lost_at: float | None = None
        self.owner = owner
        self.client = client
        self.connection: Connection | None = None
        self.has_come = self.may_move = False
        self.is_welcomed = False
        self.is_ready = False
        self.is_away = False
        self.is_restored = False
        self.drawn_by: channel.DrawnBy | None = None
        self.is_drawn_here = False
        self.hud = ""
        self.last_words: str | None = None
        self._held = self._num_presses = 0
        self.agent: str | None = None
        self.acting: channel.Acting | None = None
        self.wheel: str | None = None
        self.leaving: str | None = None
        self.is_gone = False
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_open(self) -> bool:
        return self.session is None and self.agent is None

    @property
    def is_vacant(self) -> bool:
        """Whether nobody has come for it: before the first step it counts as open, though somebody may have asked for it."""
        return self.is_open or (self.session is not None and not self.has_come)

    @property
    def is_left(self) -> bool:
        return self.has_come and self.connection is None

    @property
    def has_person(self) -> bool:
        return self.session is not None and self.leaving is None and not self.is_gone

    @property
    def held_s(self) -> float:
        """How long its player has had it and was connected, seconds."""
        return (time.monotonic() if self.lost_at is None else self.lost_at) - self.granted_at

    @property
    def acted_by(self) -> str | None:
        if self.agent is not None and self.acting is not None and self.acting.agent is not None:
            return self.acting.owner
        return None if self.owner is None else self.owner.name

    @property
    def is_playing(self) -> bool:
        return self.connection is not None and not self.is_away

    def take(self, connection: Connection) -> None:
        self.stop_waiting()
        before, self.connection = self.connection, connection
        if self.lost_at is not None:
            self.granted_at, self.lost_at = self.granted_at + time.monotonic() - self.lost_at, None
        self.has_come, self.may_move, self.is_welcomed, self.drawn_by = True, False, False, None
        self._held = self._num_presses = 0
        if before is not None:
            before.close(wire.CLOSE_TAKEN_OVER, "this seat was taken over by another socket")

    def unready(self) -> bool:
        was_ready, self.is_ready = self.is_ready, False
        return was_ready

    def trade(self, other: Seat) -> None:
        """Exchange the grants of two seats, before either player has come."""
        for name in _GRANTED:
            ours, theirs = getattr(self, name), getattr(other, name)
            setattr(self, name, theirs)
            setattr(other, name, ours)

    def read(self, message: wire.PlayerInput, received_us: int) -> wire.PlayerInput:
        """An input message with the buttons it newly presses, and when it came.

        A press whose number is known presses nothing. Messages without a number press what was not held before.
        """
        if message.press is not None:
            pressed, number = message.press
            pressed = pressed if number > self._num_presses else 0
            self._num_presses = max(number, self._num_presses)
        else:
            pressed = message.buttons & ~self._held
        self._held = message.buttons
        return message._replace(press=None, pressed=pressed, received_us=received_us)

    def lose(self, connection: Connection) -> bool:
        """A socket has closed; returns whether it was the one of this seat."""
        if connection is not self.connection:
            return False
        self.connection, self.is_welcomed, self.lost_at = None, False, time.monotonic()
        return True

    def note(self, message: str) -> None:
        if message.startswith('{"type":"hud"'):
            self.hud = message

    @property
    def facts(self) -> dict[str, Any]:
        """The last score, time and rate its player was told, as `hud` of docs/protocol.md; empty before."""
        return msgspec.json.decode(self.hud) if self.hud else {}

    def text(self, kind: str, **fields: Any) -> None:
        if self.is_welcomed:
            self.pass_on(wire.text(kind, **fields))

    def pass_on(self, message: str) -> None:
        if self.connection is not None:
            self.connection.send_text(message)

    def part(self, words: str) -> None:
        self.stop_waiting()
        self.last_words = words
        self.say_last_words()

    def say_last_words(self) -> None:
        if self.connection is not None and self.last_words is not None:
            self.connection.send_text(self.last_words)
            self.connection.close(1000)

    def wait(self, seconds: float, give_up: Callable[[Seat], None]) -> None:
        """Limit how long the seat waits for its player to come back, start or resume."""
        self.stop_waiting()
        self._timer = asyncio.get_running_loop().call_later(seconds, give_up, self)

    def stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
