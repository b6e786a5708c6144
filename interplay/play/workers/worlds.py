"""The worlds of a worker that have no game: made before anybody asks for them, or left by games that have ended."""

from __future__ import annotations

import logging
import threading
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from interplay.envs import PlayableEnv, backends, make, prepare
from interplay.tasks import Task

_MAX_IDLE_WORLDS = 64
"""Number of worlds of ended episodes that wait for the next episode, over all tasks. A new emulator holds up every game of the
worker for 80 ms; a waiting one costs 2 MB. A class that stops and begins again at once gets these worlds."""
_MAX_IDLE_LARGE_WORLDS = 4
"""Limit for one task whose worlds are large: 20 MB each."""
_MAX_READY_WORLDS = 2
"""Number of worlds that are made before anybody asks for them, one for each task: 20 MB each."""

log = logging.getLogger("interplay.play.workers.worlds")


class Worlds:
    """Makes worlds, and stores worlds that another game may have. While a world is compiled or loaded, `report` is called with
    the share that is done, in the thread that asked."""

    def __init__(self, report: Callable[[float], None]) -> None:
        self._report = report
        self._idle: dict[str, list[PlayableEnv]] = defaultdict(list)
        self._ready: dict[str, tuple[int, PlayableEnv, tuple[Any, dict[str, Any]]]] = {}
        self._preparing = threading.Lock()
        self._is_loaded = False

    def prepare(self, task: Task) -> None:
        """Compile or load what the world of a task needs; waiting players are told the progress."""
        with self._preparing:
            prepare(task, self._report)

    def load_soon(self, task: Task) -> None:
        """Load code for the steps of a world while its players come. Otherwise the first step of each kind would wait for
        it."""
        if backends.of(task).must_load and not self._is_loaded:
            self._is_loaded = True
            threading.Thread(target=self._load, args=(task,), name="load", daemon=True).start()

    def _load(self, task: Task) -> None:
        try:
            prepare(task, self._report, load=True)
        except Exception:
            log.exception("what worlds of %s need could not be loaded", task.id)

    def new(self, task: Task, seed: int, *, for_people: bool) -> tuple[PlayableEnv, tuple[Any, dict[str, Any]]]:
        """Return a world at its first moment, and the result of its reset. If the world that was made ready has this seed, it
        is used."""
        with self._preparing:
            ready = self._ready.pop(task.content_hash, None)
            self._ready.clear()  # they would take memory from the game
            if ready is not None and ready[0] == seed and for_people:
                return ready[1:]
            prepare(task, self._report)
        idle = self._idle[task.content_hash]
        env = idle.pop() if idle else make(task)
        env.draw_for(env.people_see if for_people else None)
        return env, env.reset(seed=seed)

    def make_ready(self, task: Task, seed: int) -> None:
        """Load libraries and make a world for a game, while its player reads the instructions."""
        with self._preparing:
            prepare(task, self._report, load=True)
            env = make(task)
            env.draw_for(env.people_see)
            start = env.reset(seed=seed)
            env.view()
            self._ready.pop(task.content_hash, None)
            while len(self._ready) >= _MAX_READY_WORLDS:
                del self._ready[next(iter(self._ready))]
            self._ready[task.content_hash] = seed, env, start

    def take_back(self, env: PlayableEnv) -> bool:
        """Store a world for the next game of its task; return whether there was room for it and it can be used again."""
        idle = self._idle[env.task.content_hash]
        most = _MAX_IDLE_LARGE_WORLDS if backends.of(env.task).is_slow else _MAX_IDLE_WORLDS
        has_room = len(idle) < most and sum(map(len, self._idle.values())) < _MAX_IDLE_WORLDS
        if env.deterministic and has_room:
            idle.append(env)
            return True
        return False
