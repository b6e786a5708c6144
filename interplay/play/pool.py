"""The workers as the web process sees them: started, spoken to, replaced when they die."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from interplay.play import processes
from interplay.play.channel import ToWeb, decode

WORKER_MODULE = "interplay.play.worker"

QUICK_DEATH_S = 10.0
"""A worker that lived no longer may die of something that lasts, such as a database that cannot be reached."""
MAX_RESPAWN_DELAY_S = 30.0

log = logging.getLogger("interplay.play")


class Seated(Protocol):
    """What a worker's messages are for: a seat."""

    number: int

    def on_frame(self, message: bytes, *, last: bool) -> None:
        """A frame for the player."""
        ...

    def on_text(self, message: str) -> None:
        """A JSON message for the player."""
        ...

    def on_event(self, event: dict[str, Any]) -> None:
        """Something happened to the episode."""
        ...


class WorkerLink(processes.ProcessLink):
    """One worker.

    Attributes:
        seats: Number -> seat, of every seat it holds.
        place: Which of the shared workers it is, from 0; None for one that is alone.
        statistics: Its newest report.
        stopping: It was told to end.
    """

    def __init__(self, process: subprocess.Popen[bytes], died: Callable[[WorkerLink], None], *, place: int | None) -> None:
        super().__init__(process)
        self.place = place
        self.seats: dict[int, Seated] = {}
        self.statistics: dict[str, Any] = {}
        self.stopping = False
        self._died = died

    @property
    def alone(self) -> bool:
        """Whether it holds one slow world and gets no second."""
        return self.place is None

    def on_message(self, number: int, kind: int, payload: bytes) -> None:
        """Hand a message to its seat."""
        seat = self.seats.get(number)
        if seat is None:
            if number == 0 and kind == ToWeb.EVENT:
                self.statistics = decode(payload)
        elif kind == ToWeb.FRAME:
            seat.on_frame(payload, last=False)
        elif kind == ToWeb.TEXT:
            seat.on_text(payload.decode())
        elif kind == ToWeb.EVENT:
            seat.on_event(decode(payload))
        elif kind == ToWeb.LAST_FRAME:
            seat.on_frame(payload, last=True)

    def on_death(self) -> None:
        """The worker ended, or was killed."""
        self._died(self)


class WorkerPool:
    """As many workers as asked for, and one more for each slow world.

    Args:
        num_workers: Shared workers.
        data, database: What workers record into.
        on_orphans: Called with the seats of a worker that died.

    Attributes:
        links: The workers that live.
        num_deaths: How many died so far.
        stopping: Whether the pool was told to stop.
    """

    def __init__(self, num_workers: int, *, data: Path, database: str, on_orphans: Callable[[list[Seated]], None]) -> None:
        self.links: list[WorkerLink] = []
        self.num_deaths = 0
        self._num_workers = num_workers
        self._data = data
        self._database = database
        self._on_orphans = on_orphans
        self.stopping = False
        self._num_quick_deaths = 0
        self._respawning: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Start the shared workers; they take commands at once and load behind."""
        await asyncio.gather(*(self._spawn(place) for place in range(self._num_workers)))

    async def choose(self, *, alone: bool) -> WorkerLink:
        """The worker for the next seat: the shared one with fewest seats, or one of its own.

        Raises:
            OSError: If no process can be started, or the pool stops.
        """
        if alone:
            return await self._spawn(None)
        while not (shared := [link for link in self.links if not link.alone and not link.stopping]):
            if not self._respawning:
                raise ConnectionError("there are no workers")
            await asyncio.wait(self._respawning, return_when=asyncio.FIRST_COMPLETED)
        return min(shared, key=lambda link: len(link.seats))

    def leave(self, link: WorkerLink, number: int) -> None:
        """A seat leaves its worker; a worker that was its alone ends."""
        link.seats.pop(number, None)
        if link.alone and not link.seats and not link.stopping:
            link.stopping = True
            link.command(0, "stop")

    async def stop(self, *, timeout_s: float = 10.0) -> None:
        """End all workers, after they have closed their journals; kill those that do not."""
        self.stopping = True
        for task in self._respawning:
            task.cancel()
        for link in self.links:
            link.stopping = True
            link.command(0, "stop")
        if self.links:
            await asyncio.wait([link.gone for link in self.links], timeout=timeout_s)
        for link in list(self.links):
            link.close()
            if not link.gone.done():
                log.warning("worker %d did not end in %g s and is killed", link.process.pid, timeout_s)
                link.process.kill()
        self.links.clear()

    async def _spawn(self, place: int | None) -> WorkerLink:
        process, ours = processes.start(WORKER_MODULE)
        link = await processes.connect(WorkerLink(process, self._died, place=place), ours)
        # Over the socket, not on the command line: an address may hold a password.
        link.command(
            0,
            "configure",
            data=str(self._data),
            database=self._database,
            place=place or 0,
            num_workers=1 if place is None else self._num_workers,
        )
        self.links.append(link)
        return link

    def _died(self, link: WorkerLink) -> None:
        if self.stopping:
            return
        if link in self.links:
            self.links.remove(link)
        if link.stopping:
            return
        self.num_deaths += 1
        orphans = list(link.seats.values())
        log.error("worker %d died; its %d seats move to another", link.process.pid, len(orphans))
        link.seats.clear()
        if link.place is None:
            self._on_orphans(orphans)
            return
        self._num_quick_deaths = self._num_quick_deaths + 1 if time.monotonic() - link.born_at < QUICK_DEATH_S else 0
        task = asyncio.get_running_loop().create_task(self._respawn(link.place, orphans, self._num_quick_deaths))
        self._respawning.add(task)
        task.add_done_callback(self._respawning.discard)

    async def _respawn(self, place: int, orphans: list[Seated], num_failures: int) -> None:
        """Replace a shared worker: the first time at once, then after growing delays, for as long as it takes."""
        while True:
            if num_failures > 1:
                # Other workers take the seats meanwhile; where there are none, `choose` waits.
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
