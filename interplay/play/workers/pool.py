"""The workers as the web process sees them: how they are started, given messages, and replaced when they die."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any, Literal, Protocol

from interplay.forking import Forked
from interplay.play.workers import channel, processes, starting
from interplay.play.workers.channel import ToWeb, decode_event
from interplay.play.workers.totals import Totals
from interplay.tasks import Task

WORKER_MODULE: str = "interplay.play.workers.worker"

QUICK_DEATH_S = 10.0
"""A worker that lived no longer than this may have died of a lasting fault, such as a database that cannot be reached."""
MAX_RESPAWN_DELAY_S = 30.0
SPARE_KEPT_S = 600.0
"""How long a worker with the block world loaded (400 MB) waits for a game after somebody last looked at such a task."""

WATCH_EVERY_S = 0.25
QUIET_S = 1.5
"""A worker whose last report is older than this is examined: the thread that makes its steps reports twice a second."""
SILENT_S = 3.5
"""A worker whose last report is older than this counts as dead, because it is stopped or hangs."""
LONG_STEP_S = 30.0
"""Limit instead of `SILENT_S` for a worker that computes, waits for a core, or is alone with one world: a single step may take
this long. A shared worker that sleeps in a step counts as dead. Its games move to another worker; from the second time on, each
gets a worker of its own."""
LOADING_S = 120.0
"""Limit for a new worker until its first report, and for a worker that is alone during a step that compiles code."""

log = logging.getLogger("interplay.play")


class Played(Protocol):
    """A game, which receives a worker's messages."""

    @property
    def holds_world(self) -> bool: ...

    def on_frame(self, seat_index: int, message: bytes, *, last: bool) -> None: ...

    def on_text(self, seat_index: int, message: str) -> None: ...

    def on_watched(self, seat_index: int, message: bytes) -> None:
        """Take a frame for the watchers of a seat, which its player does not get."""
        ...

    def on_event(self, seat_index: int, event: channel.WorkerEvent) -> None: ...


class WorkerLink(processes.ProcessLink):
    """One worker.

    Attributes:
        games: Number -> game, for every game in this worker.
        place: Number among the shared workers, from 0; None for a worker that is not shared.
        num_frames: Number of frames for players that have come from the worker.
        silent_s: Seconds since the last message from the worker.
        is_given_up: Whether it was killed because it sent nothing.
        ready: For the spare worker: task hash -> seed of a world that nobody plays yet; None while the world is being made.
        is_loaded: Whether the worker has loaded the block world, or is loading it.
    """

    def __init__(self, process: Forked, died: Callable[[WorkerLink], None], *, place: int | None) -> None:
        super().__init__(process)
        self.place = place
        self.games: dict[int, Played] = {}
        self.statistics: channel.Statistics | None = None
        self.num_frames = 0
        self.stopping = False
        self.has_spoken = False
        self.silent_s = 0.0
        self.is_given_up = False
        self._cpu_s = self._used_s = 0.0
        self.ready: dict[str, int | None] = {}
        self.is_loaded = False
        self._died = died

    def stop(self) -> None:
        """Tell the worker to end. Later messages are not sent: a process that closes its socket with unread input loses its
        last messages."""
        self.command(0, channel.Stop())
        self.stopping = True

    def let_go(self) -> None:
        """Close this half of the socket: the worker writes its journals, ends no game, says what it has to say, and ends."""
        self.stopping = True
        if self._transport is not None:
            self._transport.write_eof()

    def send(self, number: int, kind: channel.ToWorker, payload: bytes = b"", *, seat: int = 0) -> None:
        if not self.stopping:
            super().send(number, kind, payload, seat=seat)

    def command(self, number: int, command: channel.Command, *, seat: int = 0) -> None:
        if not self.stopping:
            super().command(number, command, seat=seat)

    @property
    def alone(self) -> bool:
        return self.place is None

    def data_received(self, data: bytes) -> None:
        self.has_spoken, self.silent_s = True, 0.0
        super().data_received(data)

    def is_hung(self, passed_s: float) -> bool:
        before, self.silent_s = self.silent_s, self.silent_s + passed_s
        if self.silent_s < QUIET_S:
            return False
        state, cpu_s = processes.state_of(self.process.pid)
        # The time falls where a thread ends.
        self._used_s = 0.0 if before < QUIET_S else self._used_s + max(0.0, cpu_s - self._cpu_s)
        self._cpu_s = cpu_s
        computes = self._used_s > 0.25 * (self.silent_s - QUIET_S)
        if state == "T":
            return self.silent_s > SILENT_S
        if not self.has_spoken or (self.alone and computes):
            return self.silent_s > LOADING_S
        return self.silent_s > (LONG_STEP_S if computes or self.alone else SILENT_S)

    def on_message(self, number: int, seat: int, kind: int, payload: bytes) -> None:
        game = self.games.get(number)
        if game is None:
            report = decode_event(payload) if number == 0 and kind == ToWeb.EVENT else None
            if isinstance(report, channel.Ready):
                self.ready[report.task] = report.seed
            elif isinstance(report, channel.Statistics):
                self.statistics = report
        elif kind == ToWeb.FRAME:
            self.num_frames += 1
            game.on_frame(seat, payload, last=False)
        elif kind == ToWeb.TEXT:
            game.on_text(seat, payload.decode())
        elif kind == ToWeb.EVENT:
            game.on_event(seat, decode_event(payload))
        elif kind == ToWeb.LAST_FRAME:
            self.num_frames += 1
            game.on_frame(seat, payload, last=True)
        elif kind == ToWeb.WATCHED:
            game.on_watched(seat, payload)

    def on_death(self) -> None:
        self._died(self)


class WorkerPool:
    """The workers of the server: the number that was asked for, one more for each slow world, and a spare one that has loaded
    the block world.

    Args:
        data, database: The archive for recordings.
        statistics: Statistics that are computed in every game, as JSON values.
        agents: Address of the process that decides for agents.
        on_orphans: Called with the games of a worker that died.
    """

    def __init__(
        self,
        num_workers: int,
        *,
        data: Path,
        database: str,
        on_orphans: Callable[[list[Played]], None],
        statistics: list[dict[str, Any]] | None = None,
        agents: str = "",
    ) -> None:
        self.links: list[WorkerLink] = []
        self.num_deaths = 0
        self._gone: dict[int | None, Totals] = {}
        self._counting = threading.Lock()
        self._num_workers = num_workers
        self._data = data
        self._database = database
        self._statistics = statistics or []
        self._agents = agents
        self._on_orphans = on_orphans
        self.stopping = False
        self._num_quick_deaths = 0
        self._respawning: set[asyncio.Task[None]] = set()
        self._watching: asyncio.Task[None] | None = None
        self._spare: WorkerLink | None = None
        self._spare_lock = asyncio.Lock()
        self._spare_timer: asyncio.TimerHandle | None = None
        self._num_coming = 0

    async def start(self) -> None:
        """Start the shared workers. They take commands at once, and load in the background."""
        await asyncio.gather(*(self._spawn(place) for place in range(self._num_workers)))
        self._watching = asyncio.get_running_loop().create_task(self._watch())

    async def choose(self, *, alone: bool, loaded: bool = False) -> WorkerLink:
        """Return the worker for the next game. That is the shared worker with the fewest games or, with `alone`, a worker of
        its own, if possible one that has the block world `loaded`. Raises `OSError` if no process can be started, or the server
        stops."""
        if alone:
            self._num_coming += 1
            try:
                link = await self._take_spare() if loaded else None
                if link is None:
                    link = await self._spawn(None, world="now" if loaded else None)
            finally:
                self._num_coming -= 1
            link.is_loaded = loaded
            link.ready.clear()
            return link
        while not (shared := [link for link in self.links if not link.alone and not link.stopping]):
            if not self._respawning:
                raise ConnectionError("there are no workers")
            await asyncio.wait(self._respawning, return_when=asyncio.FIRST_COMPLETED)
        return min(shared, key=lambda link: len(link.games))

    @property
    def num_alone(self) -> int:
        """Number of workers that hold a slow world alone, or are ending after it. A worker that only waits for a game does not
        count."""
        alone = [link for link in list(self.links) if link.alone]
        return self._num_coming + sum(link.stopping or any(game.holds_world for game in link.games.values()) for link in alone)

    @property
    def has_spare(self) -> bool:
        return self._spare is not None

    def leave(self, link: WorkerLink, number: int) -> None:
        link.games.pop(number, None)
        if link.alone and not link.games and not link.stopping:
            if link.is_loaded and self._spare is None:
                link.ready.clear()
                self._keep_spare(link)
            else:
                link.stop()

    async def prepare(self, task: Task, draw_seed: Callable[[], int]) -> None:
        """Have a worker and a land ready before somebody who looks at a task of the block world presses Start. Do nothing while
        every core has a game of its own."""
        num_games = sum(link.alone and bool(link.games) for link in self.links)
        if self.stopping or num_games >= len(os.sched_getaffinity(0)):
            return
        async with self._spare_lock:
            spare = self._spare or await self._spawn(None, world="behind")
            self._keep_spare(spare)
        spare.is_loaded = True
        if task.content_hash not in spare.ready:
            spare.ready[task.content_hash] = None
            spare.command(0, channel.Prepare(task.to_json(), draw_seed()))

    def take_seed(self, task: Task, may_have: Callable[[int], bool]) -> int | None:
        """Take the seed of a world that is ready, for one game; None if no such world has a seed that the game `may_have`. Can
        be called from any thread."""
        spare = self._spare
        seed = None if spare is None else spare.ready.get(task.content_hash)
        return None if spare is None or seed is None or not may_have(seed) else spare.ready.pop(task.content_hash, None)

    async def _take_spare(self) -> WorkerLink | None:
        async with self._spare_lock:
            link, self._spare = self._spare, None
            return link

    def _keep_spare(self, link: WorkerLink) -> None:
        if self._spare_timer is not None:
            self._spare_timer.cancel()
        self._spare = link
        self._spare_timer = asyncio.get_running_loop().call_later(SPARE_KEPT_S, self._end_spare, link)

    def _end_spare(self, link: WorkerLink) -> None:
        if link is self._spare:
            self._spare = None
            link.stop()

    async def stop(self, *, keeps_games: bool = False, timeout_s: float = 10.0) -> None:
        """End all games and all workers; kill workers that take longer than `timeout_s` seconds. With `keeps_games`, no game
        ends: the workers write every recorded step to the journals and stop."""
        self.stopping = True
        if self._spare_timer is not None:
            self._spare_timer.cancel()
        ending = [*self._respawning, *([] if self._watching is None else [self._watching])]
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)
        for link in self.links:
            if processes.state_of(link.process.pid)[0] == "T":
                link.process.kill()  # it would never read that it should stop
            (link.let_go if keeps_games else link.stop)()
        if self.links:
            await asyncio.wait([link.gone for link in self.links], timeout=timeout_s)
        for link in list(self.links):
            link.close()
            if not link.gone.done():
                log.warning("worker %d did not end in %g s and is killed", link.process.pid, timeout_s)
                link.process.kill()
        self.links.clear()

    async def _spawn(self, place: int | None, *, world: Literal["now", "behind"] | None = None) -> WorkerLink:
        process, ours = await asyncio.to_thread(starting.start, WORKER_MODULE, world=world)
        link = await processes.connect(WorkerLink(process, self._died, place=place), ours)
        if self.stopping:
            link.close()
            raise ConnectionError("the server stops")
        # Over the socket, not on the command line: an address may hold a password.
        place, num_workers = (0, 1) if place is None else (place, self._num_workers)
        command = channel.Configure(str(self._data), self._database, place, num_workers, self._statistics, self._agents)
        link.command(0, command)
        self.links.append(link)
        return link

    async def _watch(self) -> None:
        """Kill workers that send nothing. Their games then move, like the games of a worker that died."""
        before = time.monotonic()
        while True:
            await asyncio.sleep(WATCH_EVERY_S)
            # No more than one round: what came while this process itself stood still has not been read yet.
            passed_s, before = min(time.monotonic() - before, 2 * WATCH_EVERY_S), time.monotonic()
            for link in list(self.links):
                if not link.stopping and not link.is_given_up and link.is_hung(passed_s):
                    log.error("worker %d has not answered for %.1f s: it is killed", link.process.pid, link.silent_s)
                    link.is_given_up = True
                    link.process.kill()

    @property
    def troubles(self) -> list[str]:
        missing = self._num_workers - sum(not link.alone for link in self.links)
        silent = sum(link.has_spoken and not link.stopping and link.silent_s >= QUIET_S for link in self.links)
        found = [f"{missing} of {self._num_workers} workers are being replaced"] if missing else []
        return found + ([f"{silent} workers have not answered for more than {QUIET_S:g} s"] if silent else [])

    @property
    def totals(self) -> dict[int | None, Totals]:
        """Place of a shared worker -> what its processes have done; None -> what workers that are not shared have done. Can be
        read from any thread."""
        with self._counting:
            found = deepcopy(self._gone)
            for link in self.links:
                found.setdefault(link.place, Totals()).add(link.statistics, link.num_frames)
        return found

    def _died(self, link: WorkerLink) -> None:
        if self.stopping:
            return
        if link in self.links:
            with self._counting:
                self.links.remove(link)
                self._gone.setdefault(link.place, Totals()).add(link.statistics, link.num_frames)
        if link is self._spare:
            self._spare = None
        if link.stopping:
            return
        self.num_deaths += 1
        orphans = list(link.games.values())
        log.error("worker %d died; its %d games move to another", link.process.pid, len(orphans))
        link.games.clear()
        if link.place is None:
            self._on_orphans(orphans)
            return
        self._num_quick_deaths = self._num_quick_deaths + 1 if time.monotonic() - link.born_at < QUICK_DEATH_S else 0
        task = asyncio.get_running_loop().create_task(self._respawn(link.place, orphans, self._num_quick_deaths))
        self._respawning.add(task)
        task.add_done_callback(self._respawning.discard)

    async def _respawn(self, place: int, orphans: list[Played], num_failures: int) -> None:
        """Replace a shared worker. The first try comes at once, later tries after growing delays, until one succeeds."""
        while True:
            if num_failures > 1:
                # Other workers take the games meanwhile; where there are none, `choose` waits.
                self._on_orphans(orphans)
                orphans = []
                await asyncio.sleep(min(0.1 * 2.0 ** min(num_failures, 20), MAX_RESPAWN_DELAY_S))
            try:
                await self._spawn(place)
                break
            except OSError as error:
                log.error("no new worker could be started: %s", error)
                num_failures = max(num_failures, 1) + 1
        self._on_orphans(orphans)
