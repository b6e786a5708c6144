"""How many games one server and one address may hold, and which of them need a process of their own."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from typing import NamedTuple

from interplay.envs import backends
from interplay.errors import InterplayError
from interplay.tasks import Task

MAX_SEATS = 1000
MAX_SEATS_OF_ADDRESS = 64
"""Seats of one address, from the moment they are asked for: a class of 30 has one address, and may reload."""
WORLDS_OF_CORE = 2
WORLD_BYTES = 500 * 2**20
"""What a slow world and its process hold in memory."""
QUICK_GAME_CORES = 0.05
"""What a game of a world that is not slow needs: sixty of them fit on two cores."""
SERVER_CORES = 0.25
"""What the web process needs while people play."""

log = logging.getLogger("interplay.play")


class PlayError(InterplayError):
    """A seat that cannot be granted now.

    Attributes:
        is_own: Whether the one who asks holds too many already.
        retry_after_s: When to ask again, seconds.
    """

    def __init__(self, message: str, *, is_own: bool = False, retry_after_s: int = 60) -> None:
        super().__init__(message)
        self.is_own = is_own
        self.retry_after_s = retry_after_s


class HeldSeat(NamedTuple):
    """A seat that somebody has, as limits count it: untaken, waiting and playing alike.

    Attributes:
        game: Number of its game.
        client: Whose it is, see `sockets.client_of`; None for nobody's.
        holds_world: Whether its game has, or will have, a process to itself.
    """

    game: int
    client: str | None
    holds_world: bool


class Limits:
    """What a server may hold, and what was found to be slow.

    Args:
        max_worlds: Slow worlds at once, each a process of its own; one address may hold half of them.
        max_seats_of_address: Seats that one address may hold, whatever they are for.
    """

    def __init__(self, *, max_worlds: int, max_seats_of_address: int) -> None:
        self.max_worlds = max_worlds
        self.max_seats_of_address = max_seats_of_address
        self._slow_tasks: set[str] = set()

    @property
    def slow_tasks(self) -> list[str]:
        """Content hashes of tasks that were found to be slow."""
        return sorted(self._slow_tasks)

    def is_slow(self, task: Task) -> bool:
        """Whether this task's world needs a worker to itself: what is known to be slow, and what was found to be."""
        return backends.of(task).is_slow or task.content_hash in self._slow_tasks

    def mark_slow(self, task: Task, step_ms: float) -> None:
        """Remember that a task's world is slow."""
        if not self.is_slow(task):
            log.warning("task %s takes %.1f ms a step: each of its games gets a worker alone", task.id, step_ms)
            self._slow_tasks.add(task.content_hash)

    def may_be_alone(self, task: Task, num_alone: int) -> bool:
        """Whether a game of this task may have one more process: places were counted for what is known to be slow; what was
        found to be slow later, or has lost its worker again and again, gets one where there is room."""
        return backends.of(task).is_slow or num_alone < self.max_worlds

    def cores_needed(self, playing: Iterable[Task]) -> float:
        """How many cores these games need: one each where the world is slow, and some for the server."""
        tasks = list(playing)
        num_slow = sum(map(self.is_slow, tasks))
        return num_slow + (len(tasks) - num_slow) * QUICK_GAME_CORES + (SERVER_CORES if tasks else 0.0)

    def check(self, task: Task, client: str | None, held: list[HeldSeat], num_alone: int, *, joins: bool = False) -> None:
        """Refuse a seat beyond what this server, or the one who asks, may hold.

        Args:
            held: Every seat of this server.
            num_alone: Workers that hold a world alone.
            joins: Whether the seat is in a game that is there already, so that no world is added.
        Raises:
            PlayError: With when to try again.
        """
        own = [seat for seat in held if client is not None and seat.client == client]
        if len(held) >= MAX_SEATS:
            raise PlayError(f"all {MAX_SEATS} seats of this server are taken; try again in a few minutes", retry_after_s=180)
        if len(own) >= self.max_seats_of_address:
            raise PlayError(
                f"{len(own)} games are open from your address, and one address may not have more; "
                "end one, or close its page, and try again in two minutes",
                is_own=True,
                retry_after_s=120,
            )
        if joins or not self.is_slow(task):
            return
        ours = -(-self.max_worlds // 2)
        if _num_worlds(own) >= ours:
            raise PlayError(
                f"{ours} game{'s' if ours > 1 else ''} like this one {'are' if ours > 1 else 'is'} open from your address, and "
                "one address may not have more, because each one needs much processor time; "
                "end one, or close its page, and try again in two minutes",
                is_own=True,
                retry_after_s=120,
            )
        if max(_num_worlds(held), num_alone) >= self.max_worlds:
            raise PlayError(
                f"all {self.max_worlds} places for games like this one are taken, because each one needs much processor time; "
                "try again in a few minutes, or play another game now",
                retry_after_s=180,
            )


def _num_worlds(held: list[HeldSeat]) -> int:
    return len({seat.game for seat in held if seat.holds_world})


def default_max_worlds() -> int:
    """Slow worlds that this machine holds: two for each core, in half of its memory at most; two on the smallest."""
    cores = len(os.sched_getaffinity(0))
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(2, min(WORLDS_OF_CORE * cores, memory // 2 // WORLD_BYTES))
