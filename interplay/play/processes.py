"""Starting the processes that play needs: each is a module run on its end of a socket pair, and ends when the pair does."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from typing import TypeVar

P = TypeVar("P", bound=asyncio.Protocol)

_BUFFER_BYTES = 1 << 20


def start(module: str) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Run `python -m module FD`.

    Returns:
        The child and our end of the pair, not yet connected to an event loop.
    Raises:
        OSError: If no process can be started.
    """
    ours, theirs = socket.socketpair()
    for end in (ours, theirs):
        for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            end.setsockopt(socket.SOL_SOCKET, option, _BUFFER_BYTES)
    with theirs:
        try:
            process = subprocess.Popen(
                [sys.executable, "-m", module, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                # One thread each: they share the machine, and idle threads of number libraries would spin on it.
                env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            )
        except OSError:
            ours.close()
            raise
    ours.setblocking(False)
    return process, ours


async def connect(protocol: P, ours: socket.socket) -> P:
    """Let a protocol speak on our end."""
    await asyncio.get_running_loop().create_unix_connection(lambda: protocol, sock=ours)
    return protocol


def shield_from_the_terminal() -> None:
    """For a child: a Ctrl-C reaches every process of the group, and the web process decides when its children end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a file over its limit is an error to report, not a reason to die
