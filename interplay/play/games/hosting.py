"""The worker of a game's world: how the world comes back after its worker died, and how it moves to a worker of its own."""

from __future__ import annotations

import asyncio
import logging

from interplay.envs import backends
from interplay.play.games.interfaces import OVER, GameServer, PlayedGame, State
from interplay.play.games.seat import Seat
from interplay.play.workers import channel
from interplay.play.workers.channel import ToWorker
from interplay.play.workers.pool import WorkerLink

log = logging.getLogger("interplay.play")

MAX_RECOVERIES = 3
RECOVERIES_WITHIN_S = 600.0
"""A game is ended if its workers died too often within this time: its world is probably the reason."""


class Hosting:
    """The world of one game, as the web process knows it. `is_moving`: whether the world moves although its worker is alive."""

    def __init__(self, game: PlayedGame, server: GameServer, *, is_counted: bool) -> None:
        self._game = game
        self._server = server
        self._is_counted = is_counted
        self._deaths_s: list[float] = []
        """When workers of this game died recently, by the clock of the event loop."""
        self.link: WorkerLink | None = None
        self.is_opened = False
        self.is_moving = False
        self._left: asyncio.Future[None] | None = None

    @property
    def holds_world(self) -> bool:
        """Whether the game has, or will have, a process to itself because its world is slow. A game that waits for its players
        after a restart of the server counts too. A game that browsers draw does not count, even if it has a process to
        itself."""
        return (self.link is not None and self.link.alone and not self.is_drawn_here) or self._needs_process

    @property
    def is_drawn_here(self) -> bool:
        """Whether every player's page draws the world, so that it needs little time."""
        taken = [seat for seat in self._game.seats if seat.session is not None]
        return bool(taken) and all(seat.is_drawn_here for seat in taken)

    @property
    def _needs_process(self) -> bool:
        return self._server.limits.is_slow(self._game.task) and not self.is_drawn_here

    @property
    def _may_be_alone(self) -> bool:
        return self._server.limits.may_be_alone(self._game.task, self._server.pool.num_alone, is_counted=self._is_counted)

    # To a worker

    def open(self) -> None:
        task = self._game.task
        self._is_counted = self._is_counted and not self.is_drawn_here
        # Drawn or not, a game begins soonest in the worker that was made ready for it.
        has_spare = backends.of(task).must_load and self._server.pool.has_spare
        self._game.run(self._place(self._anew, alone=self._needs_process or has_spare))

    @property
    def _anew(self) -> channel.Command:
        for_people = any(seat.owner is None or seat.owner.kind == "human" for seat in self._game.seats)
        return channel.Open(self._game.task.to_json(), self._game.seed, for_people)

    def restore(self) -> None:
        self._go_on(alone=self._needs_process)

    def _go_on(self, *, alone: bool) -> None:
        """Rebuild the episode from its journal on another worker. If there is no journal yet, begin the episode again."""
        self._game.state = State.RECOVERING
        self.is_opened = False
        owners = {seat.name: name for seat in self._game.seats if (name := seat.acted_by) is not None}
        for seat in self._game.seats:
            seat.text("paused", reason="moving" if self.is_moving else "recovering")
        episode = self._game.episode_id
        is_recorded = self._server.has_journal(episode)
        command = channel.GoOn(self._game.task.to_json(), episode, owners) if is_recorded else self._anew
        self._game.run(self._place(command, alone=alone))

    async def _place(self, command: channel.Command, *, alone: bool) -> None:
        game, pool = self._game, self._server.pool
        try:
            alone = alone and self._may_be_alone
            link = await pool.choose(alone=alone, loaded=backends.of(game.task).must_load)
        except OSError as error:
            log.error("game %d: no worker could be started: %s", game.number, error, extra={"game": game.number})
            if game.state not in OVER and not pool.stopping:
                game.on_orphaned()
            return
        if game.state in (*OVER, State.HELD):
            pool.leave(link, game.number)
            return
        self.link = link
        link.games[game.number] = game
        link.command(game.number, command)

    def opened(self) -> None:
        self.is_opened, self.is_moving = True, False
        if self._game.state is State.HELD:  # it was set down meanwhile
            self.command(channel.Release())

    # From a worker

    def lost(self) -> str | None:
        """Move the world of a worker that died to another worker. If that is impossible, return the reason for the players."""
        game = self._game
        self.link = None
        self.is_opened = self.is_moving = False
        self._note_left()
        if game.state is State.ENDING:
            return "the episode ended while its worker died"
        now_s = asyncio.get_running_loop().time()
        self._deaths_s = [at_s for at_s in self._deaths_s if now_s - at_s < RECOVERIES_WITHIN_S] + [now_s]
        num_deaths = len(self._deaths_s)
        if num_deaths > MAX_RECOVERIES:
            return f"no worker could hold the world of {game.task.title}; {num_deaths} have tried"
        if game.state in (State.WAITING, State.COUNTDOWN):
            self.open()
        elif game.state in (State.PLAYING, State.PAUSED, State.RECOVERING):
            # From the second time on each game gets a worker of its own, so that one bad world stops bothering the others.
            self._go_on(alone=num_deaths > 1)
        return None

    def leave(self) -> None:
        self.is_opened = False
        if self.link is not None:
            self._server.pool.leave(self.link, self._game.number)
            self.link = None
        self._note_left()

    async def set_down(self) -> None:
        """Let the worker write the journal and forget the world."""
        if self.link is None:
            return
        if self._left is None:
            self._left = asyncio.get_running_loop().create_future()
            if self.is_opened:
                self.command(channel.Release())
        await asyncio.shield(self._left)

    def _note_left(self) -> None:
        if self._left is not None:
            self._left.set_result(None)
            self._left = None

    # To a worker of its own

    def note_who_draws(self, seat: Seat) -> None:
        """Note whether the player's page draws the world. If the server draws it from now on, move a slow game where there is
        room."""
        if backends.of(self._game.task).sends_scenes:
            seat.is_drawn_here = seat.drawn_by is not None and seat.drawn_by.here
            self._move_if_slow()

    def note_slow(self, event: channel.Slow) -> None:
        self._server.limits.mark_slow(self._game.task, event.step_ms)
        for seat in self._game.seats:
            seat.is_drawn_here = seat.is_drawn_here and seat.drawn_by is not None and seat.drawn_by.here
        if event.movable:
            self._move_if_slow()

    def _move_if_slow(self) -> None:
        """Move a slow game, with its recording, to a worker that holds only this game, if there is room."""
        if self.link is None or self.link.alone or self._game.state is not State.PLAYING or not self._needs_process:
            return
        self._is_counted = False  # it was granted as one that shares a worker
        if len(self.link.games) > 1 and self._may_be_alone:
            self._game.state = State.RECOVERING
            self.is_moving = True
            self.command(channel.Release())

    def released(self) -> None:
        self.leave()
        if self._game.state is not State.HELD:
            self._go_on(alone=True)

    # Messages

    def send(self, seat: Seat, kind: ToWorker, payload: bytes = b"") -> None:
        if self.link is not None and seat.last_words is None:
            self.link.send(self._game.number, kind, payload, seat=seat.index)

    def command(self, command: channel.Command, seat: Seat | None = None) -> None:
        if self.link is not None:
            self.link.command(self._game.number, command, seat=0 if seat is None else seat.index)
