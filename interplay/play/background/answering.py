"""The base class of the sealer and the drawer: it stands, in the web process, for a process that answers requests."""

from __future__ import annotations

import asyncio
import itertools
import logging
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from interplay.forking import Forked
from interplay.play.workers import processes, starting
from interplay.play.workers.channel import Command
from interplay.record import RecordingError

MAX_TRIES = 2
"""Number of deaths of the process during one request after which the request is not tried again."""

log = logging.getLogger("interplay.play")


@dataclass
class Request:
    """A request about an episode. `path`: one of the episode's files; `num_tries`: how often the process died during the
    request."""

    path: Path
    answer: asyncio.Future[Any] = field(init=False, default_factory=lambda: asyncio.get_running_loop().create_future())
    num_tries: int = field(init=False, default=0)


R = TypeVar("R", bound=Request)


class AnsweringProcess(ABC, Generic[R]):
    """A process that is started when it is needed and replaced when it dies. The new process gets the open requests.

    Args:
        module: The module whose `main` runs in the process.
        deed: Verb that names the work of the process in error messages, such as `seal`.
        stop_timeout_s: Seconds that the process may take to end; then it is killed.
    """

    def __init__(self, module: str, *, deed: str, stop_timeout_s: float) -> None:
        self._module, self._deed, self._stop_timeout_s = module, deed, stop_timeout_s
        self._requests: dict[int, R] = {}
        self._numbers = itertools.count(1)
        self._link: _Link | None = None
        self._starting = asyncio.Lock()
        self._is_stopping = False

    async def start(self) -> None:
        """Start the process unless it runs; it loads in the background. Raises `OSError` if no process can be started."""
        async with self._starting:
            if self._is_stopping:
                raise ConnectionError("the server stops")
            if self._link is None:
                process, ours = await asyncio.to_thread(starting.start, self._module)
                self._link = await processes.connect(_Link(process, self), ours)

    async def stop(self) -> None:
        self._is_stopping = True
        try:
            async with self._starting:
                link, self._link = self._link, None
            if link is not None and await link.end(self._stop_timeout_s):
                log.warning("the process %d did not end in %g s and was killed", link.process.pid, self._stop_timeout_s)
            for request in self._requests.values():
                self._fail(request, "the server was stopped")
        finally:
            self._is_stopping = False

    async def _ask(self, request: R) -> Any:
        """Return the answer to a request; drop the request if its caller stops waiting. Raises `RecordingError` if there is no
        answer."""
        number = next(self._numbers)
        self._requests[number] = request
        try:
            await self._send(number, request)
            return await request.answer
        finally:
            del self._requests[number]
            if request.answer.cancelled() and self._link is not None:
                self._drop(self._link, number)

    async def _send(self, number: int, request: R) -> None:
        try:
            await self.start()
        except OSError as error:
            self._fail(request, f"no process could be started to {self._deed} it: {error}")
            return
        assert self._link is not None
        self._link.command(number, self._command(request))

    @abstractmethod
    def _command(self, request: R) -> Command:
        """Return the command that the process gets for a request."""

    @abstractmethod
    def on_message(self, number: int, kind: int, payload: bytes) -> None:
        """Take an answer or a progress report from the process."""

    @abstractmethod
    def _refusal(self, request: R, reason: str) -> RecordingError:
        """Return the error that tells the caller why there is no answer."""

    def _drop(self, link: processes.ProcessLink, number: int) -> None:
        """Act when the caller no longer waits for an answer; by default do nothing."""

    def _died(self, link: processes.ProcessLink, waiting: Sequence[R]) -> Sequence[R]:
        """Log the death of the process; return the requests that may have caused it."""
        if waiting:
            log.error("the process %d that %ss died with %d requests waiting", link.process.pid, self._deed, len(waiting))
        return waiting

    def on_death(self, link: processes.ProcessLink) -> None:
        if link is not self._link:
            return
        self._link = None
        waiting = {number: one for number, one in self._requests.items() if not one.answer.done()}
        for request in self._died(link, list(waiting.values())):
            request.num_tries += 1
            if request.num_tries >= MAX_TRIES:
                self._fail(request, f"the process that {self._deed}s it died {request.num_tries} times")
        for number, request in waiting.items():
            if not request.answer.done():
                again = asyncio.get_running_loop().create_task(self._send(number, request))
                request.answer.add_done_callback(lambda _, again=again: again.cancel())

    def _fail(self, request: R, reason: str) -> None:
        if not request.answer.done():
            request.answer.set_exception(self._refusal(request, reason))


class _Link(processes.ProcessLink):
    def __init__(self, process: Forked, owner: AnsweringProcess[Any]) -> None:
        super().__init__(process)
        self._owner = owner

    def on_message(self, number: int, seat: int, kind: int, payload: bytes) -> None:
        self._owner.on_message(number, kind, payload)

    def on_death(self) -> None:
        self._owner.on_death(self)
