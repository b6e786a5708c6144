"""What the parts of a game (its hosting, lobby, takeover and closing) ask of it and of the server."""

from __future__ import annotations

import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, Protocol

from interplay.play.games.for_study import ForStudy
from interplay.play.games.seat import Seat
from interplay.play.games.state import State
from interplay.play.games.watching import Watchers
from interplay.play.limits import Limits
from interplay.play.workers import channel
from interplay.play.workers.pool import Played, WorkerPool
from interplay.record import Owner
from interplay.tasks import Task


class GameServer(Protocol):
    """What a game asks of the server it is played on.

    Attributes:
        granting: Held while somebody is given a seat.
        pool: Where its worker is from.
        limits: How many processes there may be.
        seat_kept_s: How long a seat waits for a socket that was lost.
        idle_s: How long it waits for a connected player who does not start or resume.
        partner_after_s: How long a player waits for people before they may choose an agent, where no study says otherwise.
    """

    granting: threading.Lock
    pool: WorkerPool
    limits: Limits
    seat_kept_s: float
    idle_s: float
    partner_after_s: float

    def partner(self, task: Task) -> str | None:
        """The agent that acts for a person who is gone, and plays where no second person comes; None where nobody can."""
        ...

    def expect(self, agent: str) -> None:
        """An agent may be needed soon."""
        ...

    async def seal(self, path: Path) -> str | None:
        """Seal a finished journal; returns the episode's id, or None if nothing was played."""
        ...

    async def seal_what_is_left(self, episode_id: str) -> bool:
        """Seal the journal of an episode that failed; returns whether anything of it is kept."""
        ...

    async def end_journal(self, episode_id: str, outcome: str) -> channel.Ended:
        """Write down how an episode ended whose worker died before it could; what the worker would have answered."""
        ...

    def has_journal(self, episode_id: str) -> bool:
        """Whether an episode whose worker died can go on from its recording."""
        ...

    def note_waited(self, session: str, seconds: float, came: str) -> None:
        """Write down how long a player waited, and who came: see `PlaySession.came`."""
        ...

    def note_started(self, game: PlayedGame) -> None:
        """Write down that a game is played."""
        ...

    def note_over(self, seat: Seat, *, state: str, episode_id: str | None = None) -> None:
        """Write down that it is over for a seat."""
        ...


class PlayedGame(Played, Protocol):
    """What the parts ask of their game.

    Attributes:
        number: Its number on the channel to the worker.
        episode_id: Of its episode.
        task, seed: What is played.
        study: What a study says about it; None for a game that is for itself.
        is_blind: Whether its players are not told of agents.
        invitation: Names the game to friends whom its players invite.
        state: Where it stands.
        seats: Its seats.
        watchers: Who watches and does not play.
    """

    number: int
    episode_id: str
    task: Task
    seed: int
    study: ForStudy | None
    is_blind: bool
    invitation: str
    state: State
    seats: list[Seat]
    watchers: Watchers

    @property
    def is_opened(self) -> bool:
        """Whether the worker has its world."""
        ...

    @property
    def owners(self) -> dict[str, Owner]:
        """Seat -> who sits there."""
        ...

    def command(self, command: channel.Command, seat: Seat | None = None) -> None:
        """Tell the worker something about the game, or about a seat."""
        ...

    def on_orphaned(self) -> None:
        """It has no worker any more."""
        ...

    def start_clock(self) -> None:
        """Play from now on."""
        ...

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something to the end in the background."""
        ...

    def wait_for_player(self, seat: Seat) -> None:
        """Wait only so long for a player who is connected and does nothing."""
        ...

    def look_away(self, seat: Seat) -> None:
        """A player does not look at the game from now on."""
        ...

    def go_on(self) -> bool:
        """End a pause if nobody is missing."""
        ...

    def end(self, outcome: str, seat: Seat) -> None:
        """End the episode, because of one of its players; at once, or when its world is back."""
        ...

    def leave_worker(self) -> None:
        """Its world is not needed any more."""
        ...

    def stop_timers(self) -> None:
        """Wait for nothing any more."""
        ...

    def tell_seats(self) -> None:
        """Tell every player who is there, when that has changed."""
        ...
