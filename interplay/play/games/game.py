"""A game as the web process sees it: one live world, its worker on one side, the players in its seats on the other."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from interplay.play.connections import wire
from interplay.play.games.closing import Closing
from interplay.play.games.for_study import ForStudy
from interplay.play.games.hosting import Hosting
from interplay.play.games.interfaces import OVER, UNBEGUN, GameServer, State
from interplay.play.games.lobby import Lobby
from interplay.play.games.seat import Seat
from interplay.play.games.takeover import Takeover
from interplay.play.games.watching import Watchers
from interplay.play.tables import address as tables_address
from interplay.play.tracing import press_traces
from interplay.play.workers import channel
from interplay.play.workers.channel import ToWorker, pack_input
from interplay.record import Owner, PaintedPicture
from interplay.record.archive import new_episode_id
from interplay.tasks import Task

if TYPE_CHECKING:
    from interplay.play.connections.connection import Connection

COUNTDOWN_S = 3


class Game:
    """The state machine of one game; every method runs on the event loop.

    It begins when every seat is taken and every player has said start. The clock runs while at least one player looks at the
    game. With one seat a pause stops the game; with several it only releases the keys of the player who pauses.

    Args:
        number: Number of the game on the channel to the worker.
        episode_id: Id of the episode that is or will be recorded.
        countdown_s: Seconds to count down before the first step, when every player has said start.
        is_counted: Whether the server's limits (`Limits.check`) counted the game as one more world when it was granted.
        company: The earlier episode whose players meet again in this game; None if anybody may come.

    Attributes:
        study: Rules that a study sets for the game; None for a game outside studies.
        is_blind: Whether its players are not told which seats are agents.
        invitation: Name of the game in invitations that its players send to friends.
        watchers: People who watch the game and do not play.
        is_told_open: Whether other servers know that one more player may join; only games of several seats.
    """

    def __init__(
        self,
        server: GameServer,
        number: int,
        task: Task,
        seed: int,
        *,
        episode_id: str | None = None,
        countdown_s: int = COUNTDOWN_S,
        state: State = State.EMPTY,
        study: ForStudy | None = None,
        is_counted: bool = True,
        company: str | None = None,
    ) -> None:
        self.server = server
        self.number = number
        self.episode_id = episode_id or new_episode_id()
        self.task = task
        self.seed = seed
        self.study = study
        self.is_blind = study is not None and study.is_blind
        self.invitation = secrets.token_urlsafe(9)
        self.company = company
        self.is_told_open = False
        self.state = state
        self.seats = [Seat(name, index) for index, name in enumerate(task.seats)]
        self.hosting = Hosting(self, server, is_counted=is_counted and state is not State.HELD)
        self.takeover = Takeover(self, server)
        self.lobby = Lobby(self, server, self.takeover, countdown_s=countdown_s)
        self.closing = Closing(self, server)
        self.watchers = Watchers(self)
        self._ends: dict[Seat, str] = {}
        """Player who ended the episode -> outcome. While the world is being rebuilt, the worker is not told yet, and a player
        who has only left may come back."""
        self._said_of_seats: list[dict[str, str]] = []
        self._restoring: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._traces = press_traces()

    @property
    def is_opened(self) -> bool:
        return self.hosting.is_opened

    @property
    def holds_world(self) -> bool:
        return self.hosting.holds_world

    @property
    def owners(self) -> dict[str, Owner]:
        return {seat.name: seat.owner for seat in self.seats if seat.owner is not None}

    @property
    def open_seat(self) -> Seat | None:
        """An open seat for one more player, or None when the game is full or has begun. Read it while `GameServer.granting` is
        held."""
        may_join = self.state in (State.EMPTY, State.WAITING)
        return next((seat for seat in self.seats if seat.is_open), None) if may_join else None

    def seat_for_one_more(self, may_move: bool) -> Seat | None:
        """Return the open seat. Otherwise, with `may_move`, return a seat whose player has not come and may move to another
        game."""
        is_asked = may_move and self.state in (State.EMPTY, State.WAITING)
        return self.open_seat or next((seat for seat in self.seats if is_asked and seat.may_move), None)

    @property
    def is_waited_in(self) -> bool:
        return any(seat.connection is not None for seat in self.seats)

    def has_participant(self, participant_id: int) -> bool:
        return any(seat.owner is not None and seat.owner.participant_id == participant_id for seat in self.seats)

    @property
    def pending(self) -> list[asyncio.Task[None]]:
        """Unfinished work in the background, such as sealing."""
        return [task for task in self._tasks if not task.done()]

    # The players' side

    def attach(self, seat: Seat, connection: Connection) -> None:
        is_first = not seat.has_come
        seat.take(connection)
        if self.state in OVER or seat.last_words is not None:
            seat.say_last_words()
            return
        self._has_not_left(seat)
        self.look_away(seat)  # whoever comes is asked before the game goes on for them
        if self.state is State.EMPTY:
            self.state = State.WAITING
            self.hosting.open()
        elif self.state is State.HELD:
            self._restore()
        elif self.is_opened:
            self.command(channel.Welcome(is_shown=not seat.is_drawn_here), seat)
        self.go(seat, True)  # a new socket starts unhindered
        if is_first and self.state is State.WAITING:
            self.lobby.joined(seat)
        self.tell_seats()

    def detach(self, seat: Seat, connection: Connection) -> None:
        """Note that a socket has closed. The seat stays reserved for its player for a while."""
        if not seat.lose(connection) or seat.last_words is not None:
            return
        self.look_away(seat)
        if self.state not in OVER:
            seat.wait(self.server.seat_kept_s, self._give_up)
            self.takeover.lost_socket(seat)
        self.tell_seats()

    def on_input(self, seat: Seat, message: wire.PlayerInput) -> None:
        if not self.is_opened or seat.last_words is not None or (seat.is_away and self.state is State.PLAYING):
            return
        held = seat.read(message, time.time_ns() // 1000)
        if self.task.takes_turns and held.pressed and self.state is State.PLAYING:
            self.wait_for_player(seat)
        traced = self._traces.begin(held.client_ms) if self._traces is not None and held.pressed else None
        seat.traced = traced or seat.traced
        self.hosting.send(seat, ToWorker.INPUT if traced is None else ToWorker.TRACED_INPUT, pack_input(held))

    def on_command(self, seat: Seat, command: wire.ClientCommand) -> None:
        if seat.last_words is not None:
            return
        match command.type, self.state:
            case "scene", _:
                seat.drawn_by = channel.DrawnBy(command.drawn == "here", command.gui_width, command.gui_height)
                if self.is_opened:
                    self.command(seat.drawn_by, seat)
                self.hosting.note_who_draws(seat)
            case "land", _ if self.is_opened:
                self.command(channel.Land(command.parts), seat)
            case "painted", _ if self.is_opened:
                painted = (command.yaw, command.pitch, command.width, command.height, command.fps, command.input_ms)
                self.command(channel.Painted(PaintedPicture(*painted)), seat)
            case "options", _ if self.is_opened and self.task.keys.pointer is not None:
                self.command(channel.Options(command.options(self.task.keys.buttons)), seat)
            case "start" | "resume", State.WAITING:
                self.lobby.ready(seat)
            case "start" | "resume", State.PAUSED | State.RECOVERING:
                self._look_again(seat)
            case "start" | "resume", State.PLAYING if seat.is_away:
                self._look_again(seat)
            case "pause", State.COUNTDOWN | State.PLAYING | State.PAUSED | State.RECOVERING if not seat.is_away:
                said = self.state in (State.COUNTDOWN, State.PLAYING)
                self.look_away(seat)
                self.wait_for_player(seat)
                if said:
                    seat.text("paused", reason="blur")
            case "key", _ if self.is_opened:
                self.hosting.send(seat, ToWorker.KEY)
            case "partner", State.WAITING:
                self.lobby.choose_agent(seat)
            case "traced", _ if self._traces is not None and seat.traced is not None:
                at = {"arrived_ms": command.arrived_ms, "painted_ms": command.painted_ms}
                self._traces.finish(seat.traced, **at, game=self.number, task=self.task.id)
                seat.traced = None
            case "wheel", _:
                self.takeover.turn_over(seat, command.who)
            case "quit", State.PLAYING | State.PAUSED | State.RECOVERING:
                self.takeover.gone(seat, "quit")
            case "quit", State.WAITING | State.COUNTDOWN:
                self.lobby.leave(seat, "quit")
        self.tell_seats()

    def hold(self, seat: Seat) -> None:
        self.hosting.send(seat, ToWorker.HOLD)

    def go(self, seat: Seat, dropped: bool) -> None:
        self.hosting.send(seat, ToWorker.GO, b"\x01" if dropped else b"")

    def tell_seats(self) -> None:
        """Tell every player the states of all seats, when one has changed and the game has several seats."""
        if len(self.seats) == 1:
            return
        self.server.note_open(self)
        if self.state in OVER:
            return
        said = [{"seat": seat.name} | self.state_of(seat) for seat in self.seats]
        if said != self._said_of_seats and (self.state not in UNBEGUN or self.lobby.may_tell()):
            self._said_of_seats = said
            for seat in self.seats:
                seat.text("seats", you=seat.name, seats=said)

    def state_of(self, seat: Seat) -> dict[str, str]:
        if seat.is_open or (self.state in UNBEGUN and seat.is_vacant):
            return {"state": "open"}
        is_agents = seat.agent is not None and not seat.is_playing and (seat.acting is not None or seat.session is None)
        is_before = self.state in UNBEGUN
        if self.is_blind:  # a person and an agent go through the same states
            is_there = is_agents or seat.is_playing or self.state is State.PLAYING
            return {
                "state": "ready" if is_before and seat.is_ready else "here" if is_before else "playing" if is_there else "away"
            }
        if is_agents:
            name = seat.agent if self.study is None else ""  # in a study it is not judged by its name
            return {"state": "here" if seat.acting is None else "agent", "agent": name or ""}
        if is_before:
            return {"state": "away" if seat.connection is None else "ready" if seat.is_ready else "here"}
        return {"state": "playing" if seat.is_playing else "away"}

    # Ends

    def end(self, outcome: str, seat: Seat) -> None:
        """End the episode because one of its players ended it. If its world is being rebuilt, end it when the world is back."""
        if self.state is State.RECOVERING:
            self._ends.setdefault(seat, outcome)  # others are waited for meanwhile: this one may come back
        elif self.state in (State.PLAYING, State.PAUSED):
            self.stop_timers()
            self.state = State.ENDING
            self._ends, self.closing.ended_by = {seat: outcome}, seat
            self.command(channel.Finish(outcome))

    def give_up(self, seat: Seat) -> None:
        """Stop waiting for one of the players, connected or not."""
        if seat.last_words is None:
            self._give_up(seat)

    def leave(self, words: str) -> None:
        self.closing.part(dict.fromkeys(self.seats, words))

    def _give_up(self, seat: Seat) -> None:
        if self.takeover.can_go_on_without(seat) or (self.state is State.RECOVERING and self.hosting.link is not None):
            self.takeover.gone(seat, "left")
        elif self.state is State.HELD:
            self.closing.failed("interrupted", "the server was restarted while you were away")
        elif self.state is State.RECOVERING:
            self._fail("interrupted", "the game could not be restored")
        elif self.state in (State.PLAYING, State.PAUSED):
            self.end("left", seat)
        elif self.state in UNBEGUN:
            self.lobby.leave(seat, "left")

    # The worker's side

    def on_frame(self, seat_index: int, message: bytes, *, last: bool) -> None:
        seat = self.seats[seat_index]
        if seat.connection is not None and seat.is_welcomed:
            seat.connection.send_frame(message, last=last)
        self.watchers.frame(seat_index, message, last=last)

    def on_watched(self, seat_index: int, message: bytes) -> None:
        self.watchers.picture(seat_index, message)

    def on_text(self, seat_index: int, message: str) -> None:
        seat = self.seats[seat_index]
        seat.note(message)
        self.watchers.text(seat_index, message)
        if (self.state is State.PAUSED or seat.is_away) and json.loads(message)["type"] in ("started", "resumed"):
            return  # it crossed the player's pause on the way, and the worker has the pause by now
        if seat.is_welcomed:
            seat.pass_on(message)

    def on_event(self, seat_index: int, event: channel.WorkerEvent) -> None:
        match event:
            case channel.Preparing(share):
                text = f"Compiling the block world, once: {round(100 * share)} %"
                for seat in self.seats:
                    seat.pass_on(wire.text("preparing", text=text, share=share))
            case channel.Opened():
                self._on_opened()
            case channel.Welcomed():
                self._welcome(self.seats[seat_index], event)
            case channel.Watched():
                self.watchers.welcome(seat_index, event)
            case channel.Acting():
                self.takeover.on_acting(self.seats[seat_index], event)
                self.lobby.begin_when_all_are_ready()
            case channel.AgentLost():
                self.takeover.on_lost(self.seats[seat_index], event)
                self.lobby.tell()
            case channel.Traced():
                self._tell_trace(self.seats[seat_index], event)
            case channel.Slow():
                self.hosting.note_slow(event)
            case channel.Released():
                self.hosting.released()
            case channel.Ended():
                self.closing.ended(event)
            case channel.Failed(code, message):
                self._fail(code, message)

    def _tell_trace(self, seat: Seat, step: channel.Traced) -> None:
        """Ask the page when it paints the frame that comes next."""
        if seat.traced is not None:
            seat.traced.stepped(step)
            seat.text("traced", step=step.step)

    def on_orphaned(self) -> None:
        message = self.hosting.lost()
        if message is not None:
            self._fail("world_failed", message, has_worker=False)

    def _fail(self, code: str, message: str, *, has_worker: bool = True) -> None:
        """End a game that cannot continue. If a player has already ended it, it ends in the way that this player wanted."""
        if self._ends and not (has_worker and self.state is State.ENDING):
            (seat, outcome), *_ = self._ends.items()
            self.closing.unanswered(outcome, seat)
        else:
            self.closing.failed(code, message)

    def _on_opened(self) -> None:
        self.hosting.opened()
        self.takeover.on_opened()
        self.watchers.on_opened()
        for seat in self.seats:
            if seat.connection is not None and not seat.is_welcomed:
                self.command(channel.Welcome(is_shown=not seat.is_drawn_here), seat)
            elif seat.connection is not None and seat.drawn_by is not None:
                self.command(seat.drawn_by, seat)
            elif seat.connection is not None:
                self.hosting.send(seat, ToWorker.KEY)
        if self.state is State.RECOVERING:
            self.state = State.PAUSED
            for seat, outcome in list(self._ends.items())[:1]:
                self.end(outcome, seat)
            if self.state is State.PAUSED:
                self.go_on()
                for seat in self.seats:
                    if self.state is State.PAUSED or not seat.is_playing:
                        seat.text("paused", reason="others" if seat.is_playing else "blur")
        self.lobby.opened()
        self.tell_seats()

    def _welcome(self, seat: Seat, event: channel.Welcomed) -> None:
        """Tell the client the format of its pictures. If its socket has closed, do nothing, so that the timer of the lost
        socket continues."""
        if seat.connection is None:
            return
        seat.is_welcomed = True
        started = self.state not in (State.WAITING, State.COUNTDOWN)
        if self.state is not State.COUNTDOWN and not (started and seat.is_playing):
            self.wait_for_player(seat)
        seat.text(
            "welcome",
            version=wire.VERSION,
            session=seat.session,
            task=self.task.id,
            frame_rate_hz=self.task.frame_rate_hz,
            max_steps=self.task.max_steps,
            state="paused" if started else "waiting",
            restored=seat.is_restored,
            width=event.width,
            height=event.height,
            codec=event.codec,
            palette=event.palette,
            step=event.step,
            scene=None if event.tables is None else {"tables": tables_address(event.tables)},
        )
        self._said_of_seats = []  # they have not heard it yet
        self.tell_seats()
        self.lobby.tell()
        self.takeover.tell_wheel(seat)

    # Who looks at the game

    def start_clock(self) -> None:
        is_first = self.state is State.COUNTDOWN
        self.state = State.PLAYING
        if is_first:
            self.server.note_started(self)
        session = next((seat.session for seat in self.seats if seat.session is not None), "")
        self.command(channel.Start(self.episode_id, session, self.seed, self.owners))
        if is_first and self.task.takes_turns:  # nothing else ends a game whose player does nothing
            for seat in self.seats:
                self.wait_for_player(seat)
        self.tell_seats()

    def look_away(self, seat: Seat) -> None:
        """Note that a player no longer looks at the game. The clock stops when no player looks at it."""
        match self.state:
            case State.EMPTY | State.WAITING | State.COUNTDOWN:
                self.lobby.unready(seat)
            case State.PLAYING:
                seat.is_away = True
                if any(one.is_playing for one in self.seats):
                    self.command(channel.Away(), seat)
                else:
                    self.state = State.PAUSED
                    self.command(channel.Pause())
            case State.PAUSED | State.RECOVERING if not seat.is_away:
                # After a restart, while others are not back, the game waits for this player again, too.
                seat.is_away = True
                seat.is_restored = any(one.is_restored for one in self.seats)

    def _look_again(self, seat: Seat) -> None:
        self._has_not_left(seat)
        seat.stop_waiting()
        seat.is_away = seat.is_restored = False
        if self.task.takes_turns:
            self.wait_for_player(seat)
        self.takeover.came_back(seat)
        if self.state is State.PLAYING:
            self.command(channel.Back(), seat)
        elif self.state is State.PAUSED and not self.go_on():
            seat.text("paused", reason="others")
        self.hosting.note_who_draws(seat)  # a socket that came back is sent pictures until it asks for scenes

    def _has_not_left(self, seat: Seat) -> None:
        if self.state is State.RECOVERING and self._ends.get(seat) == "left":
            del self._ends[seat]

    def go_on(self) -> bool:
        """End a pause if a player looks at the game and, after a restart of the server, no earlier player is still missing.
        Return whether the game continues."""
        is_missing = any(seat.is_restored for seat in self.seats)
        if self.state is not State.PAUSED or is_missing or not any(seat.is_playing for seat in self.seats):
            return False
        self.start_clock()
        return True

    def wait_for_player(self, seat: Seat) -> None:
        """Limit how long a player who is connected but does nothing keeps the seat."""
        seat.wait(self.server.idle_s, self._give_up)

    # After the server was killed or stopped

    def keep(self) -> None:
        """Leave the game for the next start of the server: from now on no player and no clock changes it."""
        if self.state not in (*OVER, State.ENDING):
            self.stop_timers()
            self.state = State.HELD

    async def set_down(self, resume_s: float | None) -> None:
        """Leave the game to whichever server holds it from now on, perhaps this one again: stop the clock at a step, let the
        worker write the journal, and close the sockets, whose players then ask where the game is. With `resume_s`, the game
        waits so many seconds for them here."""
        self.keep()
        if self.state is State.HELD:
            await self.hosting.set_down()
        for seat in self.seats:
            connection = seat.connection
            if connection is not None:
                seat.lose(connection)
                connection.close(wire.CLOSE_RESTART, "the game goes on elsewhere, or in a moment; connect again")
        if self.state is State.HELD and resume_s is not None:
            self.hold_for(resume_s)

    def hold_for(self, seconds: float) -> None:
        for seat in self.seats:
            if seat.has_person:
                seat.wait(seconds, self._give_up)

    def _restore(self) -> None:
        """Rebuild the world for the first player who is back, and wait a while for the others. A player for whom an agent acted
        at the end was away, so the game does not wait for them. All may come back as long as their seats are held."""
        for seat in self.seats:
            seat.is_away = seat.has_person
            seat.is_restored = seat.has_person and seat.agent is None
        self.hosting.restore()
        self._restoring = asyncio.get_running_loop().call_later(self.server.seat_kept_s, self._wait_no_longer)

    def _wait_no_longer(self) -> None:
        """Stop waiting for players who are not back. An agent acts for them; without an agent the game still waits. A player
        who is connected but has not resumed counts as paused."""
        for seat in self.seats:
            if seat.connection is None:
                self.takeover.lost_socket(seat)
            else:
                seat.is_restored = False
        self.go_on()
        self.tell_seats()

    # Small things

    def command(self, command: channel.Command, seat: Seat | None = None) -> None:
        self.hosting.command(command, seat)

    def leave_worker(self) -> None:
        self.hosting.leave()

    def stop_timers(self) -> None:
        self.lobby.stop()
        if self._restoring is not None:
            self._restoring.cancel()
        for seat in self.seats:
            seat.stop_waiting()

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a piece of work to its end in the background. A set holds the task, which protects it from garbage collection."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
