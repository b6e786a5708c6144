"""The live server's heart: seats are granted, sockets find their seats, episodes are sealed."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import os
import secrets
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from starlette.websockets import WebSocket, WebSocketDisconnect

from interplay.errors import InterplayError
from interplay.play import wire
from interplay.play.connection import Connection
from interplay.play.pool import Seated, WorkerPool
from interplay.play.sealer import Sealer
from interplay.play.seat import Seat, State
from interplay.play.tokens import ExpiredTokenError, SeatTokens, TokenError
from interplay.record import Archive, journal
from interplay.record.archive import new_episode_id
from interplay.store import sessions
from interplay.tasks import Suite, Task, builtin_suites, index, lookup

log = logging.getLogger("interplay.play")

COUNTDOWN_S = 3
MAX_SEATS = 1000
SLOW_DOORS = ("voxel", "minerl", "minestudio")
"""Kinds of world that draw their pictures for so long that none shares a worker."""
MAX_UNTAKEN = 50
"""Seats of one address that wait for their player: more than a class behind one address opens at once."""
SEAL_TIMEOUT_S = 60.0
"""How long a server that stops waits for its last episodes to be sealed."""
_SEEDS = 2**31


class PlayError(InterplayError):
    """A seat that cannot be granted."""


@dataclass(frozen=True)
class SeatGrant:
    """What a player needs to take their seat: the answer to `POST /api/sessions`."""

    session: str
    token: str
    expires_at: datetime

    def to_json(self) -> dict[str, Any]:
        """As docs/protocol.md writes it."""
        return {
            "session": self.session,
            "token": self.token,
            "socket": "/api/play",
            "subprotocol": wire.SUBPROTOCOL,
            "expires_at": self.expires_at.isoformat(),
        }


class PlayServer:
    """Live play over one archive.

    Args:
        archive: Where episodes are recorded.
        num_workers: Environment workers; one per core by default.
        secret: Signs seat tokens.
        suites: Tasks on offer; the built-in ones by default.
        seat_ttl_s: How long a seat token is good for.
        untaken_s: How long a seat waits for its first socket.
        seat_kept_s: How long a seat waits for a socket that was lost.
        idle_s: How long it waits for a connected player who does not start or resume.
        clock: Seconds since the epoch, for tokens.
    """

    def __init__(
        self,
        archive: Archive,
        *,
        secret: bytes,
        num_workers: int | None = None,
        suites: Iterable[Suite] | None = None,
        seat_ttl_s: float = 6 * 3600,
        untaken_s: float = 120.0,
        seat_kept_s: float = 30.0,
        idle_s: float = 600.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if num_workers is not None and num_workers < 1:
            raise PlayError(f"the server needs at least one worker, got {num_workers}\nUse --workers 1 or more.")
        self.archive = archive
        self.tasks = index(builtin_suites() if suites is None else suites)
        self._untaken_s = untaken_s
        self.seat_kept_s = seat_kept_s
        self.idle_s = idle_s
        self._tokens = SeatTokens(secret, ttl_s=seat_ttl_s, clock=clock)
        self._seats: dict[str, Seat] = {}
        self._numbers = itertools.count(1)
        self._slow_tasks: set[str] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping = False
        self._notes = ThreadPoolExecutor(1, thread_name_prefix="session notes")  # one thread keeps them in order
        place = {
            "data": archive.root.resolve(),
            "database": archive.database.address,
        }
        self._sealer = Sealer(**place)
        self.pool = WorkerPool(num_workers or len(os.sched_getaffinity(0)), **place, on_orphans=self._on_orphans)

    async def start(self) -> None:
        """Start the workers and the sealer. A second call does nothing."""
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            await asyncio.gather(self.pool.start(), self._sealer.start())

    async def stop(self) -> None:
        """End every episode as `interrupted`, seal them, stop workers and sealer. A second call does nothing.

        What is not sealed within `SEAL_TIMEOUT_S` stays in its journal, for the next start.
        """
        if self._loop is None or self._stopping:
            return
        self._stopping = True
        await self.pool.stop()
        pending = [task for seat in self._seats.values() for task in seat.pending]
        if pending:
            await asyncio.wait(pending, timeout=SEAL_TIMEOUT_S)
        for seat in list(self._seats.values()):
            if seat.state is not State.ENDED:
                seat.leave(wire.text("error", code="server_stopped", message="the server was stopped"))
        await self._sealer.stop()
        await asyncio.to_thread(self._notes.shutdown)

    # Seats

    def task(self, task_id: str) -> Task:
        """A task on offer.

        Raises:
            NotFoundError: With the nearest id.
        """
        return lookup(task_id, self.tasks)

    def create_session(
        self,
        task: Task | str,
        *,
        participant_id: int | None = None,
        actor: str | None = None,
        actor_kind: str = "human",
        seed: int | None = None,
        countdown_s: int = COUNTDOWN_S,
        client: str | None = None,
    ) -> SeatGrant:
        """Grant a seat; its world is built when the player's socket comes. Call it from any thread: it writes the database.

        Args:
            task: One on offer, or any other.
            actor: Name under which the episode is recorded; `participant-<id>` by default.
            seed: A fresh one, never one of the task's held-out seeds, when not given.
            client: Address of who asks: it may have `MAX_UNTAKEN` seats that nobody has sat down in yet.
        Raises:
            NotFoundError: If there is no such task.
            PlayError: If the server is full or is stopping, or the client asks for too many seats.
        """
        if isinstance(task, str):
            task = self.task(task)
        if self._stopping:
            raise PlayError("the server is stopping; try again in a moment")
        if len(self._seats) >= MAX_SEATS:
            raise PlayError(f"all {MAX_SEATS} seats of this server are taken; try again later")
        waiting = [seat for seat in list(self._seats.values()) if seat.state is State.EMPTY and seat.client == client]
        if client is not None and len(waiting) >= MAX_UNTAKEN:
            raise PlayError(f"{len(waiting)} seats asked for from your address are still empty; take one, or wait two minutes")
        if seed is None:
            seed = secrets.randbelow(_SEEDS)
            while seed in task.held_out_seeds:
                seed = secrets.randbelow(_SEEDS)
        if actor is None:
            actor = "anonymous" if participant_id is None else f"participant-{participant_id}"
        session = secrets.token_urlsafe(12)
        with self.archive.database.write() as database:
            sessions.open_session(
                database,
                id=session,
                task=task.id,
                task_hash=task.content_hash,
                seed=seed,
                actor=actor,
                actor_kind=actor_kind,
                participant_id=participant_id,
                now=datetime.now(UTC),
            )
        token, expires_at = self._tokens.sign(session)
        self._seats[session] = Seat(
            server=self,
            session=session,
            number=next(self._numbers),
            episode_id=new_episode_id(),
            task=task,
            seed=seed,
            actor=actor,
            actor_kind=actor_kind,
            participant_id=participant_id,
            countdown_s=countdown_s,
            client=client,
        )
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.call_later, self._untaken_s, self._drop_untaken, session)
        return SeatGrant(session, token, expires_at)

    def _drop_untaken(self, session: str) -> None:
        """Free a seat nobody came for."""
        seat = self._seats.get(session)
        if seat is not None and seat.state is State.EMPTY and not self._stopping:
            del self._seats[session]
            self._set_state(seat, "ended")

    # Sockets

    async def handle_socket(self, websocket: WebSocket) -> None:
        """Serve one player's socket until it closes."""
        origin = websocket.headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != websocket.headers.get("host"):
            await websocket.close()  # before accepting: the browser of another site's visitor gets 403
            return
        offered = wire.SUBPROTOCOL in websocket.scope.get("subprotocols", [])
        await websocket.accept(subprotocol=wire.SUBPROTOCOL if offered else None)
        try:
            if not offered:
                raise _Refusal(wire.CLOSE_GARBAGE, f"this server speaks {wire.SUBPROTOCOL}")
            seat = await self._seat_of_hello(websocket)
            await self._serve(websocket, seat)
        except _Refusal as refusal:
            await self._refuse(websocket, refusal)
        except WebSocketDisconnect:
            pass

    async def _seat_of_hello(self, websocket: WebSocket) -> Seat:
        """The seat the first message has the token of."""
        try:
            async with asyncio.timeout(wire.HELLO_TIMEOUT_S):
                message = await websocket.receive()
        except TimeoutError:
            raise _Refusal(wire.CLOSE_UNSIGNED, f"no hello within {wire.HELLO_TIMEOUT_S:g} s") from None
        command, token = _parse_text(message)
        if command != "hello":
            raise _Refusal(wire.CLOSE_UNSIGNED, "the first message must be a hello with the seat's token")
        try:
            session = self._tokens.verify(token)
        except ExpiredTokenError as error:
            raise _Refusal(wire.CLOSE_EXPIRED, str(error)) from None
        except TokenError as error:
            raise _Refusal(wire.CLOSE_UNSIGNED, str(error)) from None
        seat = self._seats.get(session)
        if seat is None:
            raise _Refusal(wire.CLOSE_EXPIRED, "the session of this seat has ended; open the task again")
        return seat

    async def _serve(self, websocket: WebSocket, seat: Seat) -> None:
        """Pass messages to the seat; a client that breaks the rules is closed, its seat treated as if the socket were lost."""
        connection = Connection(websocket, on_hold=seat.hold, on_go=seat.go)
        sender = asyncio.get_running_loop().create_task(connection.run())
        seat.attach(connection)
        window_end, num_messages = 0.0, 0
        loop = asyncio.get_running_loop()
        try:
            while True:
                message = await websocket.receive()
                now = loop.time()
                if now >= window_end:
                    window_end, num_messages = now + 1.0, 0
                num_messages += 1
                if num_messages > wire.MAX_MESSAGES_PER_S:
                    raise _Refusal(wire.CLOSE_TOO_MANY, f"more than {wire.MAX_MESSAGES_PER_S} messages in a second")
                data = message.get("bytes")
                if data is not None:
                    _check_size(data)
                    try:
                        held = wire.parse_input(data)
                    except wire.ProtocolError as error:
                        raise _Refusal(wire.CLOSE_GARBAGE, str(error)) from None
                    if connection is seat.connection:
                        seat.on_input(held)
                else:
                    command, _ = _parse_text(message)
                    if connection is seat.connection:
                        seat.on_command(command)
        finally:
            seat.detach(connection)
            sender.cancel()

    @staticmethod
    async def _refuse(websocket: WebSocket, refusal: _Refusal) -> None:
        # The client may have left first, or read nothing at all.
        with contextlib.suppress(RuntimeError, WebSocketDisconnect, TimeoutError):
            await asyncio.wait_for(websocket.close(refusal.code, refusal.reason[:120]), 5.0)

    # What seats need

    def is_slow(self, task: Task) -> bool:
        """Whether this task's world needs a worker to itself: what is known to be slow, and what was found to be."""
        return task.env.door in SLOW_DOORS or task.content_hash in self._slow_tasks

    def mark_slow(self, task: Task, step_ms: float) -> None:
        """Remember that a task's world is slow."""
        if not self.is_slow(task):
            log.warning("task %s takes %.1f ms a step: each of its sessions gets a worker alone", task.id, step_ms)
            self._slow_tasks.add(task.content_hash)

    async def seal(self, path: Path) -> str:
        """Seal a finished journal; returns the episode's id.

        Raises:
            RecordingError: If it cannot be sealed; the journal then stays.
        """
        return await self._sealer.seal(path)

    async def seal_what_is_left(self, episode_id: str) -> bool:
        """Seal the journal of an episode that failed; returns whether anything of it is kept, sealed or not."""
        segments = await asyncio.to_thread(journal.segments, self.archive.journal_folder, episode_id)
        if not segments:
            return False
        try:
            await self.seal(segments[0])
        except Exception:
            log.exception("episode %s stays in the journal", episode_id)
        return True

    def note_started(self, seat: Seat) -> None:
        """Write down that a session plays."""
        self._set_state(seat, "playing")

    def note_ended(self, seat: Seat, *, state: str, episode_id: str | None = None) -> None:
        """Write down that a session is over, and forget its seat after a while in which a late client may still ask."""
        self._set_state(seat, state, episode_id)
        asyncio.get_running_loop().call_later(self.seat_kept_s, self._seats.pop, seat.session, None)

    def _set_state(self, seat: Seat, state: str, episode_id: str | None = None) -> None:
        def write() -> None:
            try:
                with self.archive.database.write() as database:
                    sessions.set_session_state(database, seat.session, state, episode_id=episode_id, now=datetime.now(UTC))
            except Exception:
                log.exception("session %s: its state was not written", seat.session)

        self._notes.submit(write)

    def _on_orphans(self, orphans: list[Seated]) -> None:
        for seat in orphans:
            assert isinstance(seat, Seat)
            seat.on_orphaned()

    def statistics(self) -> dict[str, Any]:
        """How the server is doing: seats by state, and every worker's newest report."""
        states: dict[str, int] = {}
        for seat in list(self._seats.values()):
            states[seat.state] = states.get(seat.state, 0) + 1
        return {
            "seats": states,
            "worker_deaths": self.pool.num_deaths,
            "slow_tasks": sorted(self._slow_tasks),
            "cpu_s": round(time.process_time(), 3),
            "sealer": self._sealer.statistics(),
            "workers": [
                {"pid": link.process.pid, "alone": link.alone, "seats": len(link.seats), **link.statistics}
                for link in self.pool.links
            ],
        }


class _Refusal(Exception):
    """Close the socket with this code."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


def _parse_text(message: Any) -> tuple[str, str]:
    """The command of a text message of a client."""
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1006))
    text = message.get("text")
    if text is None:
        raise _Refusal(wire.CLOSE_GARBAGE, "expected a JSON message")
    _check_size(text)
    try:
        return wire.parse_command(text)
    except wire.ProtocolError as error:
        raise _Refusal(wire.CLOSE_GARBAGE, str(error)) from None


def _check_size(data: str | bytes) -> None:
    if len(data) > wire.MAX_MESSAGE_BYTES:
        raise _Refusal(wire.CLOSE_TOO_LONG, f"messages may have {wire.MAX_MESSAGE_BYTES} bytes")
