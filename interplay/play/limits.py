"""Limits on the games of one server and one address, and the games that need a process of their own."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from typing import NamedTuple

from interplay.envs import backends
from interplay.errors import InterplayError
from interplay.tasks import Task
from interplay.wording import amount

MAX_SEATS = 1000
MAX_SEATS_OF_ADDRESS = 64
"""Largest number of seats of one address: a class of 30 pupils has one address, and pupils may reload their pages."""
WORLDS_OF_CORE = 2
WORLD_BYTES = 500 * 2**20
"""Memory of a slow world and its process."""
QUICK_GAME_CORES = 0.05
"""Cores for a game without a process to itself, because its world is not slow or its players' pages draw it."""
DRAWN_GAMES_OF_CORE = 12
"""Measured: with `bench.play_world` and its players on the same two cores, 24 games kept 20 steps a second, 30 did not."""
DRAWN_GAME_BYTES = 40 * 2**20
"""Memory of a game whose world the players' pages draw."""
SERVER_CORES = 0.25
"""Cores for the web process while people play."""

log = logging.getLogger("interplay.play")


class PlayError(InterplayError):
    """A seat that cannot be granted now. `is_own`: whether the client that asks already has too many seats. Ask again after
    `retry_after_s` seconds."""

    def __init__(self, message: str, *, is_own: bool = False, retry_after_s: int = 60) -> None:
        super().__init__(message)
        self.is_own = is_own
        self.retry_after_s = retry_after_s


class HeldSeat(NamedTuple):
    """A seat that somebody has, as limits count it; untaken, waiting and playing seats count alike.

    `client`: as `sockets.client_of` returns it; None for a seat that no limit counts. `is_left`: the player has closed the page
    and may come back; until then its slow world does not count against the client's own limit.
    """

    game: int
    client: str | None
    holds_world: bool
    is_drawn_here: bool
    is_left: bool = False


class Limits:
    """The limits of a server, and the tasks that turned out to be slow. The arguments are those of `PlayServer`."""

    def __init__(self, *, max_worlds: int, max_seats_of_address: int, max_drawn_games: int) -> None:
        self.max_worlds = max_worlds
        self.max_seats_of_address = max_seats_of_address
        self.max_drawn_games = max_drawn_games
        self._slow_tasks: set[str] = set()

    @property
    def slow_tasks(self) -> list[str]:
        """Content hashes of tasks that were found to be slow."""
        return sorted(self._slow_tasks)

    def is_slow(self, task: Task) -> bool:
        """Whether this task's world needs a worker to itself: its backend is slow, or its steps turned out to be slow."""
        return backends.of(task).is_slow or task.content_hash in self._slow_tasks

    def mark_slow(self, task: Task, step_ms: float) -> None:
        if not self.is_slow(task):
            log.warning("task %s takes %.1f ms a step: each of its games gets a worker alone", task.id, step_ms)
            self._slow_tasks.add(task.content_hash)

    def may_be_alone(self, task: Task, num_alone: int, *, is_counted: bool) -> bool:
        """Whether a game of this task may have one more process. It may if its backend is known to be slow and its place was
        counted when the game was granted (`is_counted`). Any other game gets a process only if there is room: its world turned
        out to be slow, the server draws it now, or its worker died."""
        return (is_counted and backends.of(task).is_slow) or num_alone < self.max_worlds

    def cores_needed(self, playing: Iterable[bool]) -> float:
        """Return the number of cores that games need; `playing` says of each game whether it holds a process. A game that holds
        a process needs one core; every other game, and the server, needs a part of a core."""
        games = list(playing)
        num_slow = sum(games)
        return num_slow + (len(games) - num_slow) * QUICK_GAME_CORES + (SERVER_CORES if games else 0.0)

    def check(
        self,
        task: Task,
        client: str | None,
        held: list[HeldSeat],
        num_alone: int,
        *,
        joins: bool = False,
        drawn_here: bool = False,
    ) -> None:
        """Raise `PlayError`, with the time to try again, if a seat is beyond the limits of this server or of the client that
        asks.

        Args:
            held: Every seat of this server.
            num_alone: Workers that hold a world alone.
            joins: Whether the seat is in an existing game, so that no world is added.
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
        if drawn_here:
            if len({seat.game for seat in held if seat.is_drawn_here}) >= self.max_drawn_games:
                raise PlayError(
                    f"all {self.max_drawn_games} places for games that are drawn in the players' browsers are taken; "
                    "try again in a few minutes, or play another game now",
                    retry_after_s=180,
                )
            return
        ours = -(-self.max_worlds // 2)
        if _num_worlds([seat for seat in own if not seat.is_left]) >= ours:
            raise PlayError(
                f"{amount(ours, 'game like this one is', 'games like this one are')} open from your address, and "
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
    """Return how many slow worlds this machine can hold: two for each core, in at most half of its memory; at least two."""
    return max(2, _that_fit(WORLDS_OF_CORE, WORLD_BYTES))


def default_max_drawn_games() -> int:
    """Return how many games drawn by pages this machine can hold: twelve for each core, in at most half of its memory."""
    return _that_fit(DRAWN_GAMES_OF_CORE, DRAWN_GAME_BYTES)


def _that_fit(num_of_core: int, num_bytes: int) -> int:
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(num_of_core * len(os.sched_getaffinity(0)), memory // 2 // num_bytes)
