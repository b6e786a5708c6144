"""The child processes of the live server. Each runs the `main` of a module on its end of a socket pair, and ends when the pair
is closed."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import TypeVar, cast

from interplay import logs
from interplay.forking import Forked
from interplay.play.workers.channel import Command, ToWorker, Unpacker, pack, pack_command

L = TypeVar("L", bound="ProcessLink")


class ProcessLink(asyncio.Protocol):
    """One child process and the socket to it, seen from the web process. `gone` is done when the child has ended."""

    def __init__(self, process: Forked) -> None:
        self.process = process
        self.born_at = time.monotonic()
        self.gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._unpacker = Unpacker()
        self._transport: asyncio.Transport | None = None

    def on_message(self, number: int, seat: int, kind: int, payload: bytes) -> None:
        raise NotImplementedError

    def on_death(self) -> None:
        raise NotImplementedError

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        for number, seat, kind, payload in self._unpacker.feed(data):
            self.on_message(number, seat, kind, payload)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if not self.gone.done():
            self.gone.set_result(None)
        asyncio.get_running_loop().run_in_executor(None, self.process.wait)
        self.on_death()

    def send(self, number: int, kind: ToWorker, payload: bytes = b"", *, seat: int = 0) -> None:
        """Send one message. It is dropped if the child has ended, since the child's work moves to another process."""
        if self._transport is not None:
            self._transport.write(pack(number, kind, payload, seat=seat))

    def command(self, number: int, command: Command, *, seat: int = 0) -> None:
        if self._transport is not None:
            self._transport.write(pack_command(number, command, seat=seat))

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    async def end(self, timeout_s: float) -> bool:
        """Close the socket and wait for the child; return whether it took too long and was killed."""
        self.close()
        try:
            await asyncio.to_thread(self.process.wait, timeout_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return True
        return False


async def connect(link: L, ours: socket.socket) -> L:
    await asyncio.get_running_loop().create_unix_connection(lambda: link, sock=ours)
    return link


def state_of(pid: int) -> tuple[str, float]:
    """Return the state of a process: the kernel's letter (`T` is stopped), and in seconds the processor time it has used plus
    the time its threads have waited for a busy core.

    If the kernel does not answer, the result is an empty letter and zero. The waiting time of a thread that ends is lost, so
    the time can fall.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return "", 0.0
    waited_ns = 0
    for path in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with contextlib.suppress(OSError):  # a thread may end meanwhile
            waited_ns += int(path.read_text().split()[1])
    return fields[0], (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") + waited_ns / 1e9


def enter(descriptor: int, name: str) -> socket.socket:
    """Prepare a child when its `main` begins: print warnings under its name, and return its end of the pair."""
    shield_from_the_terminal()
    logs.configure(f"%(asctime)s {name} %(process)d: %(message)s", level=logging.WARNING, process=name)
    return socket.socket(fileno=descriptor)


def receive(channel: socket.socket) -> bytes:
    """Wait for the other side, and return its next bytes; empty if the other side has ended."""
    try:
        return channel.recv(1 << 20)
    except ConnectionError:
        return b""


def shield_from_the_terminal() -> None:
    """Let a child ignore Ctrl-C. The signal reaches every process of the group, but the web process decides when children
    end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a file over its limit is an error to report, not a reason to die
