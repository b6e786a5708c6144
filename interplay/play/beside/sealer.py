"""Sealing beside the games: a process of low priority, because an episode's fifth of a second of compression is what makes the
frames of everybody else late. Here is how the web process sees it; `interplay.play.beside.sealing` is what runs in it.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interplay.play.workers import processes
from interplay.play.workers.channel import Seal, Sealed, decode_sealed
from interplay.record import RecordingError

SEALER_MODULE = "interplay.play.beside.sealing"
MAX_TRIES = 2
"""A journal whose sealing ended the process so often stays in the journal folder."""
STOP_TIMEOUT_S = 10.0

log = logging.getLogger("interplay.play")


@dataclass
class _Request:
    path: Path
    answer: asyncio.Future[str]
    num_tries: int = 0


class Sealer:
    """The process as the web process sees it: started with the server, replaced when it dies.

    Args:
        data, database: The archive.

    Attributes:
        num_deaths: How often the process died.
    """

    def __init__(self, *, data: Path, database: str) -> None:
        self.num_deaths = 0
        self._place = {"data": str(data), "database": database}
        self._requests: dict[int, _Request] = {}
        self._numbers = itertools.count(1)
        self._link: _Link | None = None
        self._starting = asyncio.Lock()
        self._cpu_s_of_the_dead = 0.0

    async def seal(self, path: Path) -> str:
        """Seal the journal that a segment belongs to; one that was sealed meanwhile is as good.

        Returns:
            The episode's id.
        Raises:
            RecordingError: If it cannot be sealed; the journal then stays.
        """
        request = _Request(path, asyncio.get_running_loop().create_future())
        number = next(self._numbers)
        self._requests[number] = request
        try:
            await self._send(number, request)
            return await request.answer
        finally:
            self._requests.pop(number, None)

    async def start(self) -> None:
        """Start the process if there is none; it loads behind.

        Raises:
            OSError: If no process can be started.
        """
        async with self._starting:
            if self._link is None:
                process, ours = processes.start(SEALER_MODULE)
                self._link = await processes.connect(_Link(process, self), ours)

    async def stop(self) -> None:
        """End the process; what is still waiting stays in its journal, for the next start."""
        link, self._link = self._link, None
        if link is not None and await link.end(STOP_TIMEOUT_S):
            log.warning("the sealing process %d did not end in %g s and was killed", link.process.pid, STOP_TIMEOUT_S)
        for request in self._requests.values():
            _fail(request, "the server was stopped")

    def statistics(self) -> dict[str, Any]:
        """How it is doing."""
        return {
            "pid": None if self._link is None else self._link.process.pid,
            "waiting": len(self._requests),
            "deaths": self.num_deaths,
            "cpu_s": round(self._cpu_s_of_the_dead + (0.0 if self._link is None else self._link.cpu_s), 3),
        }

    async def _send(self, number: int, request: _Request) -> None:
        try:
            await self.start()
        except OSError as error:
            _fail(request, f"no process to seal it could be started: {error}")
            return
        assert self._link is not None
        self._link.command(number, Seal(str(request.path), **self._place))

    def on_answer(self, number: int, answer: Sealed) -> None:
        """The process has sealed a journal, or could not."""
        request = self._requests.get(number)
        if request is None or request.answer.done():
            return
        if answer.episode is None:
            request.answer.set_exception(RecordingError(answer.error))
        else:
            request.answer.set_result(answer.episode)

    def on_death(self, link: _Link) -> None:
        """The process is gone: what it had not answered goes to a new one."""
        if link is not self._link:
            return
        self._link = None
        self.num_deaths += 1
        self._cpu_s_of_the_dead += link.cpu_s
        waiting = [(number, request) for number, request in self._requests.items() if not request.answer.done()]
        log.error("the sealing process %d died with %d journals waiting", link.process.pid, len(waiting))
        if waiting:
            oldest = waiting[0][1]  # the one in work: they are sealed in order
            oldest.num_tries += 1
            if oldest.num_tries >= MAX_TRIES:
                _fail(oldest, f"the process that seals it died {oldest.num_tries} times")
        loop = asyncio.get_running_loop()
        for number, request in waiting:
            if not request.answer.done():
                again = loop.create_task(self._send(number, request))
                request.answer.add_done_callback(lambda _, again=again: again.cancel())


def _fail(request: _Request, reason: str) -> None:
    if not request.answer.done():
        request.answer.set_exception(RecordingError(f"{request.path} was not sealed: {reason}; the journal stays"))


class _Link(processes.ProcessLink):
    """Our end of the socket pair."""

    def __init__(self, process: subprocess.Popen[bytes], sealer: Sealer) -> None:
        super().__init__(process)
        self.cpu_s = 0.0
        self._sealer = sealer

    def on_message(self, number: int, seat: int, kind: int, payload: bytes) -> None:
        answer = decode_sealed(payload)
        self.cpu_s = answer.cpu_s
        self._sealer.on_answer(number, answer)

    def on_death(self) -> None:
        self._sealer.on_death(self)
