"""A game as the web process sees it: one live world, its worker on one side, the players in its seats on the other."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from interplay.envs import backends
from interplay.play.connections import wire
from interplay.play.games import agreement
from interplay.play.games.for_study import ForStudy
from interplay.play.games.lobby import Lobby, LobbyServer
from interplay.play.games.seat import Seat
from interplay.play.games.state import OVER, State
from interplay.play.games.takeover import PlayingServer, Takeover
from interplay.play.limits import Limits
from interplay.play.tables import address as tables_address
from interplay.play.workers import channel
from interplay.play.workers.channel import ToWorker, pack_input
from interplay.record import Owner, PaintedPicture
from interplay.tasks import Task

if TYPE_CHECKING:
    from interplay.play.connections.connection import Connection
    from interplay.play.workers.pool import WorkerLink, WorkerPool

log = logging.getLogger("interplay.play")

_HUD = '{"type":"hud"'
"""How a message of the worker begins that says score and time."""
MAX_RECOVERIES = 3
"""A game whose worker died more often is ended: its world is probably why."""


class GameServer(LobbyServer, PlayingServer, Protocol):
    """What a game asks of the server it is played on.

    Attributes:
        pool: Where its worker is from.
        limits: How many processes there may be.
        seat_kept_s: How long a seat waits for a socket that was lost.
        idle_s: How long it waits for a connected player who does not start or resume.
    """

    pool: WorkerPool
    limits: Limits
    seat_kept_s: float
    idle_s: float

    async def seal(self, path: Path) -> str:
        """Seal a finished journal; returns the episode's id."""
        ...

    async def seal_what_is_left(self, episode_id: str) -> bool:
        """Seal the journal of an episode that failed; returns whether anything of it is kept."""
        ...

    def note_started(self, game: Game) -> None:
        """Write down that a game is played."""
        ...


class Game:
    """The state machine of one game; every method runs on the event loop.

    It begins when every seat is taken and every player has said start. The clock is on while at least one of them looks at it:
    with one seat a pause stops the game, with several it only lets go of what that player holds.

    Args:
        number: Its number on the channel to the worker.
        episode_id: Of the episode that is or will be recorded.
        countdown_s: Before the first step, once every player has said start.
        study: What a study says about it; None for a game that is for itself.

    Attributes:
        is_blind: Whether its players are not told of agents.
        seats: In the task's order.
        link: Its worker.
        is_opened: Whether the worker has the world.
        sealed_id: Of the episode, once it is sealed.
        takeover: The agents in its seats.
        lobby: How its players wait for one another.
    """

    def __init__(
        self,
        server: GameServer,
        number: int,
        *,
        episode_id: str,
        task: Task,
        seed: int,
        countdown_s: int,
        state: State = State.EMPTY,
        study: ForStudy | None = None,
    ) -> None:
        self.server = server
        self.number = number
        self.episode_id = episode_id
        self.task = task
        self.seed = seed
        self.study = study
        self.is_blind = study is not None and study.is_blind
        self.state = state
        self.seats = [Seat(name, index) for index, name in enumerate(task.seats)]
        self.link: WorkerLink | None = None
        self.is_opened = False
        self.sealed_id: str | None = None
        self.takeover = Takeover(self, server)
        self.lobby = Lobby(self, server, self.takeover)
        self._countdown_s = countdown_s
        self._start_when_opened = False
        self._end_when_opened: tuple[str, Seat] | None = None
        """A player left while the world was being rebuilt: the episode ends when it is there."""
        self._ended_by: Seat | None = None
        self._said_of_seats: list[dict[str, str]] = []
        self._num_recoveries = 0
        self._is_counted = state is not State.HELD
        """Whether a place for a process was counted when it was granted."""
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def holds_world(self) -> bool:
        """Whether it has, or will have, a process to itself because it is slow; a game that is held for its players has a place
        too. One that browsers draw needs none, though it may have got one that was ready."""
        return (self.link is not None and self.link.alone and not self.is_drawn_here) or self._needs_process

    @property
    def is_drawn_here(self) -> bool:
        """Whether every player's page draws the world, so that it needs little time."""
        taken = [seat for seat in self.seats if seat.session is not None]
        return bool(taken) and all(seat.is_drawn_here for seat in taken)

    @property
    def _needs_process(self) -> bool:
        return self.server.limits.is_slow(self.task) and not self.is_drawn_here

    @property
    def open_seat(self) -> Seat | None:
        """A seat for one more player, as long as the game has not begun. Ask while `GameServer.granting` is held."""
        may_join = self.state in (State.EMPTY, State.WAITING)
        return next((seat for seat in self.seats if seat.is_open), None) if may_join else None

    def has_participant(self, participant_id: int) -> bool:
        """Whether this participant has one of the seats."""
        return any(seat.owner is not None and seat.owner.participant_id == participant_id for seat in self.seats)

    @property
    def pending(self) -> list[asyncio.Task[None]]:
        """Work under way in the background, such as sealing."""
        return [task for task in self._tasks if not task.done()]

    # Agents

    def give_to_agent(self, seat: Seat, agent: str) -> None:
        """Let an agent act for a seat: from the start of the game if nobody has the seat, else from now on.

        Args:
            agent: As `interplay.agents.find` takes it. One that cannot play loses the seat again, and the players are told.
        """
        self.takeover.let_agent(seat, agent)

    def give_to_person(self, seat: Seat) -> None:
        """Let the person in a seat act for it again."""
        self.takeover.let_person(seat)

    # The players' side

    def attach(self, seat: Seat, connection: Connection) -> None:
        """A player's socket takes a seat; one that sat there before is closed."""
        seat.take(connection)
        if self.state in OVER or seat.last_words is not None:
            seat.say_last_words()
            return
        if self._end_when_opened is not None and self._end_when_opened[1] is seat:
            self._end_when_opened = None
        self.look_away(seat)  # whoever comes is asked before the game goes on for them
        if self.state is State.EMPTY:
            self.state = State.WAITING
            self._open()
        elif self.state is State.HELD:
            for one in self.seats:
                one.is_restored = one.is_away = one.has_person
            self._go_on(alone=self._needs_process)
        elif self.is_opened:
            self.command(channel.Welcome(is_shown=not seat.is_drawn_here), seat)
        self.go(seat, True)  # a new socket starts unhindered
        self.tell_seats()

    def detach(self, seat: Seat, connection: Connection) -> None:
        """A socket is gone; the seat is kept a while."""
        if not seat.lose(connection) or seat.last_words is not None:
            return
        self.look_away(seat)
        seat.is_ready = False
        if self.state not in OVER:
            seat.wait(self.server.seat_kept_s, self._give_up)
            self.takeover.lost_socket(seat)
        self.tell_seats()

    def on_input(self, seat: Seat, message: wire.PlayerInput) -> None:
        """A player holds other buttons, or gives a sign of life."""
        if not self.is_opened or seat.last_words is not None or (seat.is_away and self.state is State.PLAYING):
            return
        kind, first, second, pressed = seat.read(message)
        if self.task.takes_turns and pressed and self.state is State.PLAYING:
            self._wait_for_player(seat)
        received_us = time.time_ns() // 1000
        head = message.buttons, message.painted_step, message.client_ms, received_us
        self._send(seat, ToWorker.INPUT, pack_input(*head, kind, first, second, pressed))

    def on_command(self, seat: Seat, command: wire.ClientCommand) -> None:
        """A player's page says something."""
        if seat.last_words is not None:
            return
        match command.type, self.state:
            case "scene", _:
                seat.drawn_by = channel.DrawnBy(command.drawn == "here", command.gui_width, command.gui_height)
                if self.is_opened:
                    self.command(seat.drawn_by, seat)
                self._note_who_draws(seat)
            case "land", _ if self.is_opened:
                self.command(channel.Land(command.parts), seat)
            case "painted", _ if self.is_opened:
                painted = (command.yaw, command.pitch, command.width, command.height, command.fps, command.input_ms)
                self.command(channel.Painted(PaintedPicture(*painted)), seat)
            case "start" | "resume", State.WAITING:
                seat.is_ready = True
                self.count_down_when_all_are_ready()
            case "start" | "resume", State.PAUSED:
                self._look_again(seat)
            case "start" | "resume", State.PLAYING if seat.is_away:
                self._look_again(seat)
            case "pause", State.COUNTDOWN | State.PLAYING | State.PAUSED | State.RECOVERING if not seat.is_away:
                said = self.state in (State.COUNTDOWN, State.PLAYING)
                self.look_away(seat)
                self._wait_for_player(seat)
                if said:
                    seat.text("paused", reason="blur")
            case "resume", State.RECOVERING:
                seat.stop_waiting()
                seat.is_away = seat.is_restored = False
                if self._end_when_opened == ("left", seat):
                    self._end_when_opened = None
                self.takeover.came_back(seat)
            case "key", _ if self.is_opened:
                self._send(seat, ToWorker.KEY)
            case "partner", State.WAITING:
                self.lobby.choose_agent(seat)
            case "wheel", _:
                self.takeover.turn_over(seat, command.who)
            case "quit", State.PLAYING | State.PAUSED | State.RECOVERING:
                self.takeover.gone(seat, "quit")
            case "quit", State.WAITING | State.COUNTDOWN:
                self._leave_unplayed(seat, "quit")
        self.tell_seats()

    def hold(self, seat: Seat) -> None:
        """A client reads too slowly."""
        self._send(seat, ToWorker.HOLD)

    def go(self, seat: Seat, dropped: bool) -> None:
        """A client has read everything."""
        self._send(seat, ToWorker.GO, b"\x01" if dropped else b"")

    def free(self, seat: Seat) -> None:
        """A player leaves before the first step: somebody else may have the seat, or the world goes with the last of them."""
        self._stop_timer()
        self._start_when_opened = False
        with self.server.granting:  # nobody may join meanwhile
            self.seats[seat.index] = Seat(seat.name, seat.index)
            is_empty = not any(one.has_person for one in self.seats)
            was_counting = self.state is State.COUNTDOWN
            self.state = State.ENDED if is_empty else State.EMPTY if self.state is State.EMPTY else State.WAITING
        if was_counting:
            self._wait_for_connected()
        if is_empty:
            self.command(channel.Close())
            self._leave_worker()
        self.tell_seats()
        self._tell_lobby()

    def _tell_lobby(self) -> None:
        """A seat is open again."""
        for seat in self.seats:
            self.lobby.tell(seat)

    def tell_seats(self) -> None:
        """Where there are several seats: tell every player who is there, when that has changed."""
        if len(self.seats) == 1 or self.state in OVER:
            return
        said = [{"seat": seat.name} | self._state_of(seat) for seat in self.seats]
        if said != self._said_of_seats:
            self._said_of_seats = said
            for seat in self.seats:
                seat.text("seats", you=seat.name, seats=said)

    def _state_of(self, seat: Seat) -> dict[str, str]:
        if seat.is_open:
            return {"state": "open"}
        is_agents = seat.agent is not None and not seat.is_playing and (seat.acting is not None or seat.session is None)
        is_before = self.state in (State.EMPTY, State.WAITING, State.COUNTDOWN)
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

    def end(self, outcome: str, seat: Seat) -> None:
        """End the episode, because of one of its players."""
        self._stop_timers()
        if self.state in (State.PLAYING, State.PAUSED):
            self.state = State.ENDING
            self._ended_by = seat
            self.command(channel.Finish(outcome))

    def end_when_opened(self, outcome: str, seat: Seat) -> None:
        """End the episode, because of one of its players, when its world is back."""
        self._end_when_opened = outcome, seat

    def hold_for(self, seconds: float) -> None:
        """Wait for the players of a game that a killed server has left."""
        for seat in self.seats:
            if seat.has_person:
                seat.wait(seconds, self._give_up)

    def give_up(self) -> None:
        """Wait no longer for anybody."""
        self._stop_timers()
        self._give_up(self.seats[0])

    def leave(self, words: str) -> None:
        """Send everybody a last message and close their sockets: the server ends."""
        self._part(dict.fromkeys(self.seats, words))

    # The worker's side

    def on_frame(self, seat_index: int, message: bytes, *, last: bool) -> None:
        """Pass a frame on."""
        seat = self.seats[seat_index]
        if seat.connection is not None and seat.is_welcomed:
            seat.connection.send_frame(message, last=last)

    def on_text(self, seat_index: int, message: str) -> None:
        """Pass a JSON message on."""
        seat = self.seats[seat_index]
        if (self.state is State.PAUSED or seat.is_away) and json.loads(message)["type"] in ("started", "resumed"):
            return  # it crossed the player's pause on the way, and the worker has the pause by now
        if message.startswith(_HUD):
            seat.hud = message
        if seat.is_welcomed:
            seat.pass_on(message)

    def on_event(self, seat_index: int, event: channel.WorkerEvent) -> None:
        """The worker reports."""
        match event:
            case channel.Preparing(share):
                text = f"Compiling the block world, once: {round(100 * share)} %"
                for seat in self.seats:
                    seat.pass_on(wire.text("preparing", text=text, share=share))
            case channel.Opened():
                self._on_opened()
            case channel.Welcomed():
                self._welcome(self.seats[seat_index], event)
            case channel.Acting():
                self.takeover.on_acting(self.seats[seat_index], event)
            case channel.AgentLost():
                self.takeover.on_lost(self.seats[seat_index], event)
                self._tell_lobby()
            case channel.Slow():
                self._on_slow(event)
            case channel.Released():
                self._leave_worker()
                self._go_on(alone=True)
            case channel.Ended():
                self._end_with(self._seal(event))
            case channel.Failed(code, message):
                self._end_with(self._seal_failed(code, message))

    def on_orphaned(self) -> None:
        """Its worker died."""
        self.link = None
        self.is_opened = False
        if self.state is State.ENDING:
            # The journal may have its end marker or not: sealing finds out.
            self._run(self._seal_failed("interrupted", "the episode ended while its worker died"))
            return
        self._num_recoveries += 1
        if self._num_recoveries > MAX_RECOVERIES:
            message = f"no worker could hold the world of {self.task.title}; {self._num_recoveries} have tried"
            self._end_with(self._seal_failed("world_failed", message))
        elif self.state in (State.WAITING, State.COUNTDOWN):
            self._open()
        elif self.state in (State.PLAYING, State.PAUSED, State.RECOVERING):
            # From the second time on each game gets a worker of its own, so that one bad world stops bothering the others.
            self._go_on(alone=self._num_recoveries > 1)

    # Steps of the state machine

    def _open(self) -> None:
        for_people = any(seat.owner is None or seat.owner.kind == "human" for seat in self.seats)
        command = channel.Open(self.task.to_json(), self.seed, for_people)
        self._is_counted = self._is_counted and not self.is_drawn_here
        # Drawn or not, a game begins soonest in the worker that was made ready for it.
        has_spare = backends.of(self.task).must_load and self.server.pool.has_spare
        self._run(self._place(command, alone=self._needs_process or has_spare))

    def _go_on(self, *, alone: bool) -> None:
        """Rebuild the episode from its journal on another worker."""
        self.state = State.RECOVERING
        self.is_opened = False
        for seat in self.seats:
            seat.text("paused", reason="recovering")
        owners = {seat.name: name for seat in self.seats if (name := self.takeover.owner_now(seat)) is not None}
        self._run(self._place(channel.GoOn(self.task.to_json(), self.episode_id, owners), alone=alone))

    async def _place(self, command: channel.Command, *, alone: bool) -> None:
        try:
            alone = alone and self._may_be_alone
            link = await self.server.pool.choose(alone=alone, loaded=backends.of(self.task).must_load)
        except OSError as error:
            log.error("game %d: no worker could be started: %s", self.number, error)
            if self.state not in OVER and not self.server.pool.stopping:
                self.on_orphaned()
            return
        if self.state in OVER:
            self.server.pool.leave(link, self.number)
            return
        self.link = link
        link.games[self.number] = self
        link.command(self.number, command)

    def _on_opened(self) -> None:
        self.is_opened = True
        self.takeover.on_opened()
        for seat in self.seats:
            if seat.connection is not None and not seat.is_welcomed:
                self.command(channel.Welcome(is_shown=not seat.is_drawn_here), seat)
            elif seat.connection is not None and seat.drawn_by is not None:
                self.command(seat.drawn_by, seat)
            elif seat.connection is not None:
                self._send(seat, ToWorker.KEY)
        if self.state is State.RECOVERING:
            if self._end_when_opened is not None:
                self.state = State.PAUSED
                self.end(*self._end_when_opened)
            elif self._goes_on:
                self.state = State.PLAYING
                self.command(self._start)
            else:
                self.state = State.PAUSED
            for seat in self.seats:
                if self.state is State.PAUSED or (self.state is State.PLAYING and not seat.is_playing):
                    seat.text("paused", reason="others" if seat.is_playing else "blur")
        if self._start_when_opened:
            self._start_when_opened = False
            self._begin()
        self.tell_seats()

    def _welcome(self, seat: Seat, event: channel.Welcomed) -> None:
        """Tell the client what it will see, unless its socket went meanwhile: the timer of a lost socket then runs on."""
        if seat.connection is None:
            return
        seat.is_welcomed = True
        started = self.state not in (State.WAITING, State.COUNTDOWN)
        if self.state is not State.COUNTDOWN and not (started and seat.is_playing):
            self._wait_for_player(seat)
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
        self.lobby.tell(seat)
        self.takeover.tell_wheel(seat)

    def count_down_when_all_are_ready(self) -> None:
        """Begin, if nobody is missing."""
        if self.state is State.WAITING and all(seat.is_ready for seat in self.seats):
            for seat in self.seats:
                seat.stop_waiting()
            self._count_down(self._countdown_s)

    def _count_down(self, seconds: int) -> None:
        self._stop_timer()
        self.state = State.COUNTDOWN
        if seconds > 0:
            for seat in self.seats:
                seat.text("countdown", seconds=seconds)
            self._timer = asyncio.get_running_loop().call_later(1.0, self._count_down, seconds - 1)
        elif self.is_opened:
            self._begin()
        else:
            self._start_when_opened = True

    def _stop_countdown(self, seat: Seat) -> None:
        """The countdown begins anew when this player is back."""
        self._stop_timer()
        self._start_when_opened = False
        self.state = State.WAITING
        seat.is_ready = False
        self._wait_for_connected(but=seat)

    def _begin(self) -> None:
        if self.state is State.COUNTDOWN:
            self._stop_timer()
            self.state = State.PLAYING
            self.server.note_started(self)
            self.command(self._start)
            if self.task.takes_turns:  # nothing else ends a game whose player does nothing
                for seat in self.seats:
                    self._wait_for_player(seat)
            self.tell_seats()

    def look_away(self, seat: Seat) -> None:
        """A player does not look at the game from now on; the clock stops with the last of them."""
        match self.state:
            case State.COUNTDOWN:
                self._stop_countdown(seat)
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
        """A player is back."""
        seat.stop_waiting()
        seat.is_away = seat.is_restored = False
        if self.task.takes_turns:
            self._wait_for_player(seat)
        self.takeover.came_back(seat)
        if self.state is State.PLAYING:
            self.command(channel.Back(), seat)
        elif not self.go_on():
            seat.text("paused", reason="others")
        self._note_who_draws(seat)  # a socket that came back is sent pictures until it asks for scenes

    def _note_who_draws(self, seat: Seat) -> None:
        """A game that is to be sent pictures from now on is moved, where there is room."""
        if backends.of(self.task).sends_scenes:
            seat.is_drawn_here = seat.drawn_by is not None and seat.drawn_by.here
            self._move_if_slow()

    def go_on(self) -> bool:
        """End a pause if nobody is missing; returns whether the game goes on."""
        if self.state is not State.PAUSED or not self._goes_on:
            return False
        self.state = State.PLAYING
        self.command(self._start)
        return True

    @property
    def _goes_on(self) -> bool:
        """Whether somebody looks at the game, and everybody has said so who was there before the server was killed."""
        return any(seat.is_playing for seat in self.seats) and not any(seat.is_restored for seat in self.seats)

    def _wait_for_player(self, seat: Seat) -> None:
        """A player who is connected but does nothing keeps the seat only so long."""
        seat.wait(self.server.idle_s, self._give_up)

    def _wait_for_connected(self, *, but: Seat | None = None) -> None:
        """A countdown was broken: the others keep their seats only so long again."""
        for seat in self.seats:
            if seat is not but and seat.connection is not None:
                self._wait_for_player(seat)

    def _give_up(self, seat: Seat) -> None:
        """This player is not coming."""
        if self.takeover.can_go_on_without(seat) or (self.state is State.RECOVERING and self.link is not None):
            self.takeover.gone(seat, "left")
        elif self.state is State.HELD:
            self._end_with(self._seal_failed("interrupted", "the server was restarted while you were away"))
        elif self.state is State.RECOVERING:
            self._end_with(self._seal_failed("interrupted", "the game could not be restored"))
        elif self.state in (State.PLAYING, State.PAUSED):
            self.end("left", seat)
        elif self.state in (State.WAITING, State.COUNTDOWN):
            self._leave_unplayed(seat, "left")

    def _leave_unplayed(self, seat: Seat, outcome: str) -> None:
        """Leave before the first step: there is nothing to keep."""
        seat.part(_unplayed(self.lobby.leave(seat, outcome)))
        self.free(seat)
        self.server.note_over(seat, state="ended")

    def _on_slow(self, event: channel.Slow) -> None:
        self.server.limits.mark_slow(self.task, event.step_ms)
        for seat in self.seats:
            seat.is_drawn_here = seat.is_drawn_here and seat.drawn_by is not None and seat.drawn_by.here
        if event.movable:
            self._move_if_slow()

    def _move_if_slow(self) -> None:
        """Go on in a worker alone, where that is needed and there is room; what is recorded goes along."""
        if self.link is None or self.link.alone or self.state is not State.PLAYING or not self._needs_process:
            return
        self._is_counted = False  # it was granted as one that shares a worker
        if len(self.link.games) > 1 and self._may_be_alone:
            self.state = State.RECOVERING
            self.command(channel.Release())

    @property
    def _may_be_alone(self) -> bool:
        return self.server.limits.may_be_alone(self.task, self.server.pool.num_alone, is_counted=self._is_counted)

    def _end_with(self, sealing: Coroutine[Any, Any, None]) -> None:
        """Nothing is played any more; what is left to do takes a while."""
        with self.server.granting:  # nobody joins a game that is ending
            self.state = State.ENDING
        self._stop_timers()
        self._leave_worker()
        self._run(sealing)

    async def _seal(self, event: channel.Ended) -> None:
        if event.path is None:
            self._is_over(dict.fromkeys(self.seats, _unplayed(event.outcome)), state="ended")
            return
        try:
            episode_id = await self.server.seal(Path(event.path))
        except Exception:
            log.exception("game %d: sealing %s failed", self.number, event.path)
            message = "your game is saved, but it is not in the catalogue yet"
            words = wire.text("error", code="not_sealed", message=message, episode=self.episode_id)
            self._is_over(dict.fromkeys(self.seats, words), state="interrupted", episode_id=self.episode_id)
            return
        self.sealed_id = episode_id
        more: dict[str, Any] = {} if self._ended_by is None or len(self.seats) == 1 else {"by": self._ended_by.name}
        can_be = event.num_steps > 0 and agreement.can_be_compared(self.task, self.seed, event.outcome, self._owners.values())
        said = {
            seat: wire.text(
                "ended",
                episode=episode_id,
                outcome=event.outcome,
                total_reward=event.total_rewards[seat.index],
                num_steps=event.num_steps,
                may_ask=can_be and seat.owner is not None and seat.owner.participant_id is not None,
                **more,
            )
            for seat in self.seats
        }
        self._is_over(said, state="ended", episode_id=episode_id)

    async def _seal_failed(self, code: str, message: str) -> None:
        """The episode ended with an error: keep what was recorded, then say so."""
        episode_id = self.episode_id if await self.server.seal_what_is_left(self.episode_id) else None
        message += "\nWhat you played until then is kept." if episode_id is not None else ""
        words = wire.text("error", code=code, message=message, episode=episode_id)
        self._is_over(dict.fromkeys(self.seats, words), state="interrupted", episode_id=episode_id)

    def _is_over(self, words: dict[Seat, str], *, state: str, episode_id: str | None = None) -> None:
        """Tell everybody, and write it down."""
        self._part(words)
        for seat in self.seats:
            if seat.session is not None and not seat.is_gone:
                self.server.note_over(seat, state=state, episode_id=episode_id)

    def _part(self, words: dict[Seat, str]) -> None:
        self.state = State.ENDED
        self._stop_timers()
        for seat in self.seats:
            seat.part(words[seat])

    # Small things

    @property
    def _owners(self) -> dict[str, Owner]:
        return {seat.name: seat.owner for seat in self.seats if seat.owner is not None}

    @property
    def _start(self) -> channel.Start:
        session = next((seat.session for seat in self.seats if seat.session is not None), "")
        return channel.Start(self.episode_id, session, self.seed, self._owners)

    def _leave_worker(self) -> None:
        self.is_opened = False
        if self.link is not None:
            self.server.pool.leave(self.link, self.number)
            self.link = None

    def _send(self, seat: Seat, kind: ToWorker, payload: bytes = b"") -> None:
        if self.link is not None and seat.last_words is None:
            self.link.send(self.number, kind, payload, seat=seat.index)

    def command(self, command: channel.Command, seat: Seat | None = None) -> None:
        """Tell the worker something about the game, or about a seat."""
        if self.link is not None:
            self.link.command(self.number, command, seat=0 if seat is None else seat.index)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _stop_timers(self) -> None:
        self._stop_timer()
        for seat in self.seats:
            seat.stop_waiting()

    def _run(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Run to the end in the background; the set keeps it from being collected."""
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _unplayed(outcome: str) -> str:
    """The last message where nothing was recorded."""
    return wire.text("ended", episode=None, outcome=outcome, total_reward=0.0, num_steps=0)
