"""The states of a game, and the interfaces through which its parts (hosting, lobby, takeover, closing) use game and server."""

from __future__ import annotations

import threading
from collections.abc import Coroutine
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from interplay.play.games.for_study import ForStudy
from interplay.play.games.seat import Seat
from interplay.play.games.watching import WatchedGame, Watchers
from interplay.play.limits import Limits
from interplay.play.workers import channel
from interplay.play.workers.pool import Played, WorkerPool
from interplay.record import Owner
from interplay.tasks import Task


class State(StrEnum):
    """The state of a game."""

    EMPTY = "empty"
    """There is no world yet, because nobody has come."""
    WAITING = "waiting"
    """The world exists or is being built, and not every player has said start."""
    COUNTDOWN = "countdown"
    PLAYING = "playing"
    PAUSED = "paused"
    """No player looks at the game."""
    HELD = "held"
    """The journal waits for the players: the server was started again, or stops and will be started again."""
    RECOVERING = "recovering"
    """The worker died, or the world moves; another worker rebuilds the world from the journal."""
    ENDING = "ending"
    """The journal is closed and being sealed."""
    ENDED = "ended"


OVER = (State.ENDING, State.ENDED)
UNBEGUN = (State.EMPTY, State.WAITING, State.COUNTDOWN)
BEGUN = (State.PLAYING, State.PAUSED, State.RECOVERING)


class GameServer(Protocol):
    """The server of a game. `PlayServer` describes the methods. `granting`: the lock that is held while a seat is granted."""

    granting: threading.Lock
    pool: WorkerPool
    limits: Limits
    seat_kept_s: float
    idle_s: float
    partner_after_s: float

    def partner(self, task: Task) -> str | None: ...

    def expect(self, agent: str) -> None: ...

    async def seal(self, path: Path) -> str | None: ...

    async def seal_what_is_left(self, episode_id: str) -> bool: ...

    async def end_journal(self, episode_id: str, outcome: str) -> channel.Ended: ...

    def has_journal(self, episode_id: str) -> bool: ...

    def note_waited(self, session: str, seconds: float, came: str) -> None:
        """Record how long a player waited, and who came; see `PlaySession.came`."""
        ...

    def note_started(self, game: PlayedGame) -> None: ...

    def note_over(self, seat: Seat, *, state: str, episode_id: str | None = None) -> None: ...

    def note_open(self, game: PlayedGame) -> None: ...


class PlayedGame(Played, WatchedGame, Protocol):
    """The game, as its parts use it. `Game` describes the attributes and methods."""

    number: int
    episode_id: str
    seed: int
    study: ForStudy | None
    is_blind: bool
    invitation: str
    state: State
    watchers: Watchers
    is_told_open: bool

    @property
    def owners(self) -> dict[str, Owner]: ...

    def on_orphaned(self) -> None: ...

    def start_clock(self) -> None: ...

    def run(self, work: Coroutine[Any, Any, None]) -> None: ...

    def wait_for_player(self, seat: Seat) -> None: ...

    def look_away(self, seat: Seat) -> None: ...

    def go_on(self) -> bool: ...

    def end(self, outcome: str, seat: Seat) -> None: ...

    def leave_worker(self) -> None: ...

    def stop_timers(self) -> None: ...

    def tell_seats(self) -> None: ...

    def seat_for_one_more(self, may_move: bool) -> Seat | None: ...
