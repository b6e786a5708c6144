"""A place in a game as the web process sees it: its owner, and the owner's socket."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from interplay.play.connections import wire
from interplay.play.tracing import TracedPress
from interplay.play.workers import channel
from interplay.record import Owner

if TYPE_CHECKING:
    from interplay.play.connections.connection import Connection

_GRANTED = ("session", "client", "owner", "granted_at", "is_drawn_here", "agent", "wheel", "may_move")
UNKNOWN_CLIENT = ""
"""Client of a seat that a killed server has left. The client becomes known when the player comes back."""


class Seat:
    """One place in a game; every method runs on the event loop.

    Attributes:
        session: The player's session, as the token names it; None while the seat is open.
        client: See `sockets.client_of`; None for a seat that no limit counts.
        granted_at: When the player was granted the seat (monotonic clock, seconds), moved forward by all time without a socket.
        lost_at: When the last socket was lost (same clock); None while there is a socket.
        may_move: Whether the player has not come yet and accepts any seat in another game of the same kind.
        is_welcomed: Whether the player has been told the format of the pictures.
        is_ready: Whether the player has said start, and is connected.
        is_away: Whether the player has paused, or the socket has closed.
        is_restored: Whether the server was started again and the player has not resumed yet.
        is_drawn_here: Whether this player's page counts as drawing the game: it announced this when it asked for the seat, or
            it draws now.
        hud: The last `hud` message about this seat, as JSON; empty before the first.
        last_words: The `ended` or `error` message, for a client that comes back too late.
        agent: Name (for `interplay.agents.find`) of the agent that acts here, or will act as soon as there is a world.
        acting: The worker's last message about who acts; None before the first agent did.
        wheel: The agent with which the person here shares the control.
        leaving: Outcome for a person who has left for good, until an agent acts for them.
        is_gone: Whether the person has left for good and an agent acts for them.
        traced: The last key press that is traced, until its trace is made.
    """

    def __init__(self, name: str, index: int) -> None:
        self.name = name
        self.index = index
        self.session: str | None = None
        self.granted_at = time.monotonic()
        self.lost_at: float | None = None
        self.owner: Owner | None = None
        self.client: str | None = None
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
        self.traced: TracedPress | None = None
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_open(self) -> bool:
        return self.session is None and self.agent is None

    @property
    def is_vacant(self) -> bool:
        """Whether nobody has come to the seat. Before the first step it then counts as open, though somebody may have asked for
        it."""
        return self.is_open or (self.session is not None and not self.has_come)

    @property
    def is_left(self) -> bool:
        return self.has_come and self.connection is None

    @property
    def has_person(self) -> bool:
        return self.session is not None and self.leaving is None and not self.is_gone

    @property
    def held_s(self) -> float:
        """Seconds that the player has had the seat and was connected."""
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
        """Return an input message with the buttons that it newly presses, and when it came.

        A press whose number is known presses nothing. A message without a number presses the buttons that were not held before.
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
        """Note that a socket has closed; return whether it was the socket of this seat."""
        if connection is not self.connection:
            return False
        self.connection, self.is_welcomed, self.lost_at = None, False, time.monotonic()
        return True

    def note(self, message: str) -> None:
        if message.startswith('{"type":"hud"'):
            self.hud = message

    @property
    def facts(self) -> dict[str, Any]:
        """Return the last score, time and rate that the player was told, as `hud` of docs/protocol.md; empty before the
        first."""
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
