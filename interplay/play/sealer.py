"""Sealing beside the games: a process of low priority, because an episode's fifth of a second of compression is what makes the
frames of everybody else late.

    python -m interplay.play.sealer FD        (started by `Sealer`, FD is its end of a socket pair)
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import interplay.record
from interplay.play import processes
from interplay.play.channel import ToWeb, ToWorker, Unpacker, decode, pack_json
from interplay.record import RecordingError

SEALER_MODULE = "interplay.play.sealer"
NICENESS = 10
MAX_TRIES = 2
"""A journal whose sealing ended the process so often stays in the journal folder."""

log = logging.getLogger("interplay.play")


@dataclass
class _Request:
    path: str
    answer: asyncio.Future[str]
    num_tries: int = 0


class Sealer:
    """The process as the web process sees it: started with the server, replaced when it dies.

    Args:
        data, database: The archive.
    """

    def __init__(self, *, data: Path, database: str) -> None:
        self._data = data
        self._database = database
        self._requests: dict[int, _Request] = {}
        self._numbers = itertools.count(1)
        self._link: _Link | None = None
        self._starting = asyncio.Lock()

    async def seal(self, path: str) -> str:
        """Seal the journal that a segment belongs to.

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
                self._link = await processes.connect(_Link(self, process), ours)
                self._link.command(0, data=str(self._data), database=self._database)

    async def stop(self) -> None:
        """End the process. Call it when every `seal` has answered."""
        link, self._link = self._link, None
        if link is not None:
            link.close()
            await asyncio.to_thread(link.process.wait)

    async def _send(self, number: int, request: _Request) -> None:
        request.num_tries += 1
        try:
            await self.start()
        except OSError as error:
            if not request.answer.done():
                request.answer.set_exception(RecordingError(f"no process to seal {request.path} could be started: {error}"))
            return
        assert self._link is not None
        self._link.command(number, path=request.path)

    def on_answer(self, number: int, answer: dict[str, str]) -> None:
        """The process has sealed a journal, or could not."""
        request = self._requests.get(number)
        if request is None or request.answer.done():
            return
        if "error" in answer:
            request.answer.set_exception(RecordingError(answer["error"]))
        else:
            request.answer.set_result(answer["episode"])

    def on_death(self, link: _Link) -> None:
        """The process is gone: what it had not answered goes to a new one."""
        if link is not self._link:
            return
        self._link = None
        log.error("the sealing process %d died", link.process.pid)
        loop = asyncio.get_running_loop()
        loop.run_in_executor(None, link.process.wait)
        for number, request in list(self._requests.items()):
            if request.answer.done():
                continue
            if request.num_tries >= MAX_TRIES:
                message = f"{request.path}: the process that seals it died {request.num_tries} times; the journal stays"
                request.answer.set_exception(RecordingError(message))
            else:
                retry = loop.create_task(self._send(number, request))
                request.answer.add_done_callback(lambda _, retry=retry: retry.cancel())


class _Link(asyncio.Protocol):
    """Our end of the socket pair."""

    def __init__(self, sealer: Sealer, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._sealer = sealer
        self._unpacker = Unpacker()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        for number, _, payload in self._unpacker.feed(data):
            self._sealer.on_answer(number, decode(payload))

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._sealer.on_death(self)

    def command(self, number: int, **fields: str) -> None:
        if self._transport is not None:
            self._transport.write(pack_json(number, ToWorker.COMMAND, fields))

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


def main(descriptor: int) -> None:
    """Seal what is asked for until the web process goes away."""
    processes.shield_from_the_terminal()
    os.nice(NICENESS)
    logging.basicConfig(format="%(asctime)s sealer %(process)d: %(message)s", level=logging.WARNING)
    channel = socket.socket(fileno=descriptor)
    unpacker = Unpacker()
    archive: interplay.record.Archive | None = None
    while data := _receive(channel):
        for number, _, payload in unpacker.feed(data):
            command = decode(payload)
            if archive is None:
                archive = interplay.record.open(Path(command["data"]), database=command["database"])
                continue
            try:
                answer = {"episode": archive.seal(Path(command["path"])).id}
            except Exception as error:
                log.exception("%s was not sealed", command["path"])
                answer = {"error": str(error) if isinstance(error, RecordingError) else f"{type(error).__name__}: {error}"}
            try:
                channel.sendall(pack_json(number, ToWeb.EVENT, answer))
            except ConnectionError:
                return


def _receive(channel: socket.socket) -> bytes:
    try:
        return channel.recv(1 << 16)
    except ConnectionError:
        return b""


if __name__ == "__main__":
    main(int(sys.argv[1]))
