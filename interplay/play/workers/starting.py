"""Start the processes beside the web process, as forks of a process that has loaded their libraries. This module imports none
of these libraries."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from typing import Literal

from interplay.forking import ONE_THREAD, Forked, Forker

_BUFFER_BYTES = 1 << 20
_LOADED = (
    "interplay.play.workers.worker",
    "interplay.play.background.sealer",
    "interplay.play.background.drawing",
    "interplay.play.background.filming",
    "interplay.play.partners.deciding",
    "interplay.play.partners.roster",
    "interplay.record.format.spaces:load_arrow",
    "cv2",  # with which agents look: loading it takes a tenth of a second, which no game that runs may wait
)
"""Modules of these processes; they are loaded before the processes are forked."""
_LOAD = {None: None, "now": "interplay.envs.backends:load_compiled", "behind": "interplay.envs.backends:load_compiled_behind"}


class _Starting:
    """The processes that fork the others, for all servers of this process. One has loaded the libraries; a fork of it has also
    loaded the block world, so that only games of the block world wait for that."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._forkers: dict[str, Forker] = {}

    def libraries(self, *, from_here: bool = False) -> Forker:
        with self._lock:
            return self._kept("libraries", lambda: Forker(_LOADED, from_here=from_here))

    def block_world(self) -> Forker:
        libraries = self.libraries()
        with self._lock:
            return self._kept("block world", lambda: Forker([], of=libraries))

    def _kept(self, name: str, make: Callable[[], Forker]) -> Forker:
        if name not in self._forkers or self._forkers[name].is_gone:
            self._forkers[name] = make()
        return self._forkers[name]


_starting = _Starting()


def get_ready() -> None:
    """Begin to load libraries for the processes; call it in a process that has opened nothing yet. Raises `OSError` if no
    process can be started."""
    _starting.libraries(from_here=True)


def start(module: str, *, world: Literal["now", "behind"] | None = None) -> tuple[Forked, socket.socket]:
    """Run the `main` of a module in a new process, and wait until its libraries are loaded. Return the process and our end of
    the socket pair, not yet connected to an event loop.

    Args:
        world: Whether the process needs the block world, which is loaded for the first process that needs it. `now`: somebody
            waits for it; `behind`: nobody waits yet, so games come before it. A load that has begun does not change its
            priority.
    Raises:
        OSError: If no process can be started.
    """
    ours, theirs = socket.socketpair()
    for end in (ours, theirs):
        for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            end.setsockopt(socket.SOL_SOCKET, option, _BUFFER_BYTES)
    with theirs:
        try:
            forker = _starting.libraries() if world is None else _starting.block_world()
            process = forker.start(
                f"{module}:main",
                load=_LOAD[world],
                descriptors=[theirs.fileno()],
                env=os.environ | ONE_THREAD,
            )
        except OSError:
            ours.close()
            raise
    ours.setblocking(False)
    return process, ours
