"""The process that decides for agents, as the web process sees it. It is started for the first agent that needs it, and started
again when it dies or sends nothing for a while. Games continue meanwhile; their agents hold their last actions."""

from __future__ import annotations

import asyncio
import logging
import shutil
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec

from interplay.play.partners import messages
from interplay.play.workers import processes, starting

DECIDING_MODULE = "interplay.play.partners.deciding"
WATCH_EVERY_S = 0.5
SILENT_S = 10.0
"""A process that sends nothing for this long is killed. It may be silent for a while when an agent loads its libraries."""
QUICK_DEATH_S = 10.0
MAX_DEATHS = 2
"""An agent that was at work when the process died this many times is not started again."""
FORGIVEN_AFTER_S = 60.0
"""When the process dies after living longer than this, earlier deaths no longer count."""
MAX_RESPAWN_DELAY_S = 5.0
STOP_TIMEOUT_S = 3.0

log = logging.getLogger("interplay.play")


class Decider:
    """The deciding process. Workers connect to its socket at `address`."""

    def __init__(self, *, data: Path, database: str) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="interplay-"))  # short, as the path of a socket must be
        self.address = str(self._folder / "agents")
        self.num_deaths = 0
        self._data, self._database = str(data), database
        self._link: _Link | None = None
        self._running: asyncio.Task[None] | None = None
        self._expected: set[str] = set()
        self._is_stopping = False
        self._num_quick_deaths = 0
        self._deaths_of: Counter[str] = Counter()

    def expect(self, agent: str) -> None:
        """Start the process, or load an agent in it, because the agent may be needed soon. Call it on the event loop."""
        if self._is_stopping or agent in self._expected:
            return
        self._expected.add(agent)
        if self._running is None:
            self._running = asyncio.get_running_loop().create_task(self._run())
        elif self._link is not None:
            self._link.command(0, messages.Load(agent))

    async def stop(self) -> None:
        self._is_stopping = True
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait([self._running])
        link, self._link = self._link, None
        if link is not None:
            await link.end(STOP_TIMEOUT_S)
        shutil.rmtree(self._folder, ignore_errors=True)

    def statistics(self) -> dict[str, Any] | None:
        if self._running is None:
            return None
        link = self._link
        report = {} if link is None or link.report is None else msgspec.structs.asdict(link.report)
        return {"pid": None if link is None else link.process.pid, "deaths": self.num_deaths} | report

    async def _run(self) -> None:
        while True:
            try:
                process, ours = await asyncio.to_thread(starting.start, DECIDING_MODULE)
                link = await processes.connect(_Link(process), ours)
            except OSError as error:
                log.error("the process that decides for agents could not be started: %s", error)
                await asyncio.sleep(MAX_RESPAWN_DELAY_S)
                continue
            self._link = link
            refused = [agent for agent, num in self._deaths_of.items() if num >= MAX_DEATHS]
            link.command(0, messages.Listen(self.address, self._data, self._database, list(self._deaths_of), refused))
            for agent in sorted(self._expected):
                link.command(0, messages.Load(agent))
            await self._watch(link)
            self._link = None
            self.num_deaths += 1
            log.error("the process %d that decides for agents died; another one takes its place", link.process.pid)
            lived_s = time.monotonic() - link.born_at
            if lived_s > FORGIVEN_AFTER_S:
                self._deaths_of.clear()
            self._deaths_of.update(messages.busy_agents(self._folder))
            is_quick = lived_s < QUICK_DEATH_S
            self._num_quick_deaths = self._num_quick_deaths + 1 if is_quick else 0
            if self._num_quick_deaths > 1:
                await asyncio.sleep(min(0.1 * 2.0 ** min(self._num_quick_deaths, 10), MAX_RESPAWN_DELAY_S))

    async def _watch(self, link: _Link) -> None:
        silent_s = 0.0
        while not link.gone.done():
            heard = link.num_heard
            await asyncio.wait([link.gone], timeout=WATCH_EVERY_S)
            silent_s = silent_s + WATCH_EVERY_S if link.num_heard == heard else 0.0
            if silent_s >= SILENT_S:
                log.error("the process %d that decides for agents says nothing: it is killed", link.process.pid)
                link.process.kill()
                await link.gone


class _Link(processes.ProcessLink):
    num_heard = 0
    report: messages.Decisions | None = None

    def on_message(self, number: int, seat: int, kind: int, payload: bytes) -> None:
        self.num_heard += 1
        self.report = messages.decode_event(payload)

    def on_death(self) -> None: ...
