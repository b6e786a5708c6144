"""One seat as the web process sees it: its player's socket on one side, its worker on the other."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interplay.play import wire
from interplay.play.channel import ToWorker, pack_input
from interplay.play.connection import Connection
from interplay.tasks import Task

if TYPE_CHECKING:
    from interplay.play.pool import WorkerLink
    from interplay.play.server import PlayServer

log = logging.getLogger("interplay.play")

MAX_RECOVERIES = 3
"""A seat whose worker died more often is ended: its world is probably why."""


class State(StrEnum):
    """Where a seat stands."""

    EMPTY = "empty"
    """No world yet: nobody has come."""
    WAITING = "waiting"
    """The world is there, or being built; the player has not said start."""
    COUNTDOWN = "countdown"
    PLAYING = "playing"
    PAUSED = "paused"
    RECOVERING = "recovering"
    """The worker died; another one rebuilds the world from its journal."""
    ENDING = "ending"
    """The journal is closed and being sealed."""
    ENDED = "ended"


@dataclass(eq=False)
class Seat:
    """The state machine of one session; every method runs on the event loop.

    Attributes:
        session: Its id, as the token names it.
        number: Its number on the channel to the worker.
        episode_id: Of the episode that is or will be recorded.
    """

    server: PlayServer
    session: str
    number: int
    episode_id: str
    task: Task
    seed: int
    actor: str
    actor_kind: str
    participant_id: int | None
    countdown_s: int
    client: str | None = None
    state: State = State.EMPTY
    link: WorkerLink | None = None
    connection: Connection | None = None
    last_words: str | None = None
    """The `ended` or `error` message, for a client that comes back too late."""
    _opened: bool = False
    _welcomed: bool = False
    _start_when_opened: bool = False
    _play_when_opened: bool = False
    _outcome_when_opened: str | None = None
    """The player left while the world was being rebuilt: the episode ends when it is there."""
    _num_recoveries: int = 0
    _timer: asyncio.TimerHandle | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    # The player's side

    def attach(self, connection: Connection) -> None:
        """A player's socket takes the seat; one that sat there before is closed."""
        self._stop_timer()
        before, self.connection = self.connection, connection
        self._welcomed = False
        if before is not None:
            before.close(wire.CLOSE_TAKEN_OVER, "this seat was taken over by another socket")
        if self.state in (State.ENDING, State.ENDED):
            if self.last_words is not None:
                self._part(self.last_words)
            return
        self._outcome_when_opened = None
        if self.state is State.PLAYING:
            self._pause()
        elif self.state is State.COUNTDOWN:
            self._stop_countdown()
        if self.state is State.EMPTY:
            self.state = State.WAITING
            self._open()
        elif self._opened:
            self._command("welcome")
        self._command_go()

    def detach(self, connection: Connection) -> None:
        """A socket is gone; the seat is kept a while."""
        if connection is not self.connection:
            return
        self.connection = None
        self._welcomed = False
        if self.state is State.PLAYING:
            self._pause()
        elif self.state is State.COUNTDOWN:
            self._stop_countdown()
        if self.state not in (State.ENDING, State.ENDED):
            self._set_timer(self.server.seat_kept_s, self._give_up)

    def on_input(self, message: wire.PlayerInput) -> None:
        """The player holds other buttons, or gives a sign of life."""
        if self.link is not None and self._opened:
            received_us = time.time_ns() // 1000
            pitch, yaw = message.turn or (0.0, 0.0)
            payload = pack_input(message.buttons, message.painted_step, message.client_ms, received_us, pitch, yaw)
            self.link.send(self.number, ToWorker.INPUT, payload)

    def on_command(self, command: str) -> None:
        """The player's page says something."""
        match command, self.state:
            case "start" | "resume", State.WAITING:
                self._count_down(self.countdown_s)
            case "start" | "resume", State.PAUSED:
                self._stop_timer()
                self.state = State.PLAYING
                self._command("start")
            case "pause", State.COUNTDOWN:
                self._stop_countdown()
                self._wait_for_player()
                self._text("paused", reason="blur")
            case "pause", State.PLAYING:
                self._pause()
                self._wait_for_player()
                self._text("paused", reason="blur")
            case "pause", State.RECOVERING:
                self._play_when_opened = False
            case "resume", State.RECOVERING:
                self._play_when_opened = True
            case "key", _ if self._opened and self.link is not None:
                self.link.send(self.number, ToWorker.KEY)
            case "quit", State.PLAYING | State.PAUSED:
                self.end("quit")
            case "quit", State.RECOVERING:
                self._outcome_when_opened = "quit"
            case "quit", State.WAITING | State.COUNTDOWN:
                self._leave_unplayed("quit")

    def end(self, outcome: str) -> None:
        """End the episode, whoever wants it."""
        self._stop_timer()
        if self.state in (State.PLAYING, State.PAUSED):
            self.state = State.ENDING
            self._command("finish", outcome=outcome)

    # The worker's side

    def on_frame(self, message: bytes, *, last: bool) -> None:
        """Pass a frame on."""
        if self.connection is not None and self._welcomed:
            self.connection.send_frame(message, last=last)

    def on_text(self, message: str) -> None:
        """Pass a JSON message on."""
        if self.state is State.PAUSED and json.loads(message)["type"] in ("started", "resumed"):
            return  # it crossed the player's pause on the way, and the worker has the pause by now
        if self.connection is not None and self._welcomed:
            self.connection.send_text(message)

    def on_event(self, event: dict[str, Any]) -> None:
        """The worker reports."""
        match event["event"]:
            case "opened":
                self._on_opened()
            case "welcome":
                self._welcome(event)
            case "slow":
                self._on_slow(event)
            case "released":
                self._leave_worker()
                self._go_on(alone=True)
            case "ended":
                self.state = State.ENDING
                self._stop_timer()
                self._leave_worker()
                self._run(self._seal(event))
            case "failed":
                self.state = State.ENDING
                self._stop_timer()
                self._leave_worker()
                self._run(self._seal_failed(event))

    def on_orphaned(self) -> None:
        """Its worker died."""
        self.link = None
        self._opened = False
        if self.state is State.ENDING:
            # The journal may have its end marker or not: sealing finds out.
            self._run(self._seal_failed({"code": "interrupted", "message": "the episode ended while its worker died"}))
            return
        self._num_recoveries += 1
        if self._num_recoveries > MAX_RECOVERIES:
            self.state = State.ENDING
            self._stop_timer()
            message = f"no worker could hold the world of {self.task.title}; {self._num_recoveries} have tried"
            self._run(self._seal_failed({"code": "world_failed", "message": message}))
        elif self.state in (State.WAITING, State.COUNTDOWN):
            self._open()
        elif self.state in (State.PLAYING, State.PAUSED, State.RECOVERING):
            # From the second time on each seat gets a worker of its own, so that one bad world stops bothering the others.
            self._go_on(alone=self._num_recoveries > 1)

    # Steps of the state machine

    def _open(self) -> None:
        self._run(self._place("open", alone=self.server.is_slow(self.task)))

    def _go_on(self, *, alone: bool) -> None:
        """Rebuild the episode from its journal on another worker."""
        if self.state is not State.RECOVERING:
            self._play_when_opened = self.state is State.PLAYING
        self.state = State.RECOVERING
        self._opened = False
        self._text("paused", reason="recovering")
        self._run(self._place("go_on", alone=alone))

    async def _place(self, do: str, *, alone: bool) -> None:
        try:
            link = await self.server.pool.choose(alone=alone)
        except OSError as error:
            log.error("session %s: no worker could be started: %s", self.session, error)
            if self.state not in (State.ENDING, State.ENDED) and not self.server.pool.stopping:
                self.on_orphaned()
            return
        if self.state in (State.ENDING, State.ENDED):
            self.server.pool.leave(link, self.number)
            return
        self.link = link
        link.seats[self.number] = self
        link.command(
            self.number,
            do,
            task=self.task.to_json(),
            seed=self.seed,
            actor=self.actor,
            actor_kind=self.actor_kind,
            participant_id=self.participant_id,
            session=self.session,
            episode=self.episode_id,
        )

    def _on_opened(self) -> None:
        self._opened = True
        if self.connection is not None and not self._welcomed:
            self._command("welcome")
        elif self.connection is not None and self.link is not None:
            self.link.send(self.number, ToWorker.KEY)
        if self.state is State.RECOVERING:
            if self._outcome_when_opened is not None:
                self.state = State.PAUSED
                self.end(self._outcome_when_opened)
            elif self._play_when_opened and self.connection is not None:
                self.state = State.PLAYING
                self._command("start")
            else:
                self.state = State.PAUSED
                self._text("paused", reason="blur")
        if self._start_when_opened:
            self._start_when_opened = False
            self._begin()

    def _welcome(self, event: dict[str, Any]) -> None:
        """Tell the client what it will see."""
        self._welcomed = True
        if self.state in (State.WAITING, State.PAUSED):
            self._wait_for_player()
        facts = {key: event[key] for key in ("width", "height", "codec", "palette", "step")}
        started = self.state not in (State.WAITING, State.COUNTDOWN)
        self._text(
            "welcome",
            version=wire.VERSION,
            session=self.session,
            task=self.task.id,
            frame_rate_hz=self.task.frame_rate_hz,
            max_steps=self.task.max_steps,
            state="paused" if started else "waiting",
            **facts,
        )

    def _count_down(self, seconds: int) -> None:
        self._stop_timer()
        self.state = State.COUNTDOWN
        if seconds > 0:
            self._text("countdown", seconds=seconds)
            self._set_timer(1.0, lambda: self._count_down(seconds - 1))
        elif self._opened:
            self._begin()
        else:
            self._start_when_opened = True

    def _stop_countdown(self) -> None:
        """The countdown begins anew when the player is back."""
        self._stop_timer()
        self._start_when_opened = False
        self.state = State.WAITING

    def _begin(self) -> None:
        if self.state is State.COUNTDOWN:
            self._stop_timer()
            self.state = State.PLAYING
            self.server.note_started(self)
            self._command("start")

    def _pause(self) -> None:
        self.state = State.PAUSED
        self._command("pause")

    def _wait_for_player(self) -> None:
        """A player who is connected but does nothing keeps the seat only so long."""
        self._set_timer(self.server.idle_s, self._give_up)

    def _give_up(self) -> None:
        """Nobody is coming."""
        self._timer = None
        if self.state is State.RECOVERING and self.link is not None:
            self._outcome_when_opened = "left"
        elif self.state is State.RECOVERING:
            self.state = State.ENDING
            self._run(self._seal_failed({"code": "interrupted", "message": "the game could not be brought back"}))
        elif self.state in (State.PLAYING, State.PAUSED):
            self.end("left")
        elif self.state in (State.WAITING, State.COUNTDOWN):
            self._leave_unplayed("left")

    def _leave_unplayed(self, outcome: str) -> None:
        """Leave before the first step: there is nothing to keep."""
        self._stop_timer()
        self._command("close")
        self._leave_worker()
        self._part(wire.text("ended", episode=None, outcome=outcome, total_reward=0.0, num_steps=0))
        self.server.note_ended(self, state="ended")

    def _on_slow(self, event: dict[str, Any]) -> None:
        self.server.mark_slow(self.task, event["step_ms"])
        if self.link is None or self.link.alone or self.state is not State.PLAYING:
            return
        if len(self.link.seats) == 1 or not event["movable"]:
            return
        self._play_when_opened = True
        self.state = State.RECOVERING
        self._command("release")

    async def _seal(self, event: dict[str, Any]) -> None:
        if event["path"] is None:
            self._part(wire.text("ended", episode=None, outcome=event["outcome"], total_reward=0.0, num_steps=0))
            self.server.note_ended(self, state="ended")
            return
        try:
            episode_id = await self.server.seal(Path(event["path"]))
        except Exception:
            log.exception("session %s: sealing %s failed", self.session, event["path"])
            message = "your play is kept, but it is not in the catalogue yet"
            self._part(wire.text("error", code="not_sealed", message=message, episode=self.episode_id))
            self.server.note_ended(self, state="interrupted", episode_id=self.episode_id)
            return
        message = wire.text(
            "ended",
            episode=episode_id,
            outcome=event["outcome"],
            total_reward=event["total_reward"],
            num_steps=event["num_steps"],
        )
        self._part(message)
        self.server.note_ended(self, state="ended", episode_id=episode_id)

    async def _seal_failed(self, event: dict[str, Any]) -> None:
        """The episode ended with an error: keep what was recorded, then say so."""
        kept = await self.server.seal_what_is_left(self.episode_id)
        message = event["message"] + ("\nWhat you played until then is kept." if kept else "")
        self._part(wire.text("error", code=event["code"], message=message, episode=self.episode_id if kept else None))
        self.server.note_ended(self, state="interrupted", episode_id=self.episode_id if kept else None)

    @property
    def pending(self) -> list[asyncio.Task[None]]:
        """Work under way in the background, such as sealing."""
        return [task for task in self._tasks if not task.done()]

    def leave(self, words: str) -> None:
        """Send a last message and close the socket: the server ends."""
        self._stop_timer()
        self._part(words)

    def _part(self, words: str) -> None:
        """The last message, then the end of the socket."""
        self.state = State.ENDED
        self.last_words = words
        if self.connection is not None:
            self.connection.send_text(words)
            self.connection.close(1000)

    def _leave_worker(self) -> None:
        self._opened = False
        if self.link is not None:
            self.server.pool.leave(self.link, self.number)
            self.link = None

    def _command(self, do: str, **fields: Any) -> None:
        if self.link is not None:
            self.link.command(self.number, do, **fields)

    def hold(self) -> None:
        """The client reads too slowly."""
        if self.link is not None:
            self.link.send(self.number, ToWorker.HOLD)

    def go(self, dropped: bool) -> None:
        """The client has read everything."""
        if self.link is not None:
            self.link.send(self.number, ToWorker.GO, b"\x01" if dropped else b"")

    def _command_go(self) -> None:
        """A new socket starts unhindered."""
        self.go(True)

    def _text(self, kind: str, **fields: Any) -> None:
        if self.connection is not None and (self._welcomed or kind == "welcome"):
            self.connection.send_text(wire.text(kind, **fields))

    def _set_timer(self, seconds: float, act: Any) -> None:
        self._stop_timer()
        self._timer = asyncio.get_running_loop().call_later(seconds, act)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _run(self, coroutine: Any) -> None:
        """Run to the end in the background; the set keeps it from being collected."""
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
