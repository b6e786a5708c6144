"""Films of episodes and clips of them (`record/films/film.py`). A process of low priority makes one after the other, and pauses
while games need its core.

Any thread may ask for a film (`Films.wanted`) and for its progress (`Films.progress`).
"""

from __future__ import annotations

import json
import logging
import math
import os
import select
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from interplay.errors import InterplayError
from interplay.play.workers import starting
from interplay.record import Archive
from interplay.record.errors import MissingFileError
from interplay.record.films.film import clip_of
from interplay.record.sealed.episode import no_video

FILMER_MODULE = "interplay.play.background.filming"
IDLE_S = 20.0
"""The process ends after this time without a film to make."""
LATER_S = 10.0
"""Seconds from the end of a game to the start of its film if nobody asks: the player may begin the next game at once."""
LOOK_EVERY_S = 0.25
MAX_TRIES = 2
"""A film counts as failed when the process has died this many times while making it. It is tried again after a delay."""

RETRY_S, MOST_RETRY_S = 60.0, 86_400.0
"""Delay before the first new try of a failed film, and the longest delay. Each delay is four times as long as the one
before."""

NOW, SOON, LATER = 0, 1, 2
"""Turns: films of an earlier turn are made first. `NOW`: somebody waits for the film; `SOON`: somebody may be shown it next;
`LATER`: nobody asked yet, wait `LATER_S`."""

log = logging.getLogger("interplay.play")

FilmState = Literal["made", "waiting", "making", "held", "failed", "missing"]


class FilmProgress(NamedTuple):
    """The progress of the film of an episode.

    Attributes:
        state: `made`; `waiting` until other films are made; `making`; `held` while people play; `failed`; `missing`, if nobody
            asked for it.
        share: Share of the film's frames that are done, 0 to 1.
        reason: Why the film failed.
    """

    state: FilmState
    share: float = 0.0
    reason: str = ""


@dataclass
class _Film:
    episode_id: str
    turn: int
    number: int
    """Place in the order in which films of one turn are made."""
    not_before: float
    """Time before which the film is not made while nobody asks for it, in seconds on the clock of the queue."""
    num_tries: int = 0


class Failure(NamedTuple):
    """A film that could not be made: the reason, the number of tries, and when to try again (seconds on the clock of the
    queue)."""

    reason: str
    num: int
    again_at: float


class Films:
    """The queue of films, with the process that makes them. The process is started when there is a film to make.

    Args:
        cores_needed: Number of cores that the games being played need now, the server's own work included.
        num_cores: Number of cores of the machine; by default, of the cores that this process may use.
        clock: A clock that counts seconds.
        later_s: Seconds that a film for `LATER` waits before it is made.
    """

    module = FILMER_MODULE

    def __init__(
        self,
        archive: Archive,
        *,
        cores_needed: Callable[[], float] = lambda: 0.0,
        num_cores: int | None = None,
        clock: Callable[[], float] = time.monotonic,
        later_s: float = LATER_S,
    ) -> None:
        self._later_s = later_s
        self._archive = archive
        self._cores_needed = cores_needed
        self._num_cores = num_cores or len(os.sched_getaffinity(0))
        self._changed = threading.Condition()
        self._waiting: dict[str, _Film] = {}
        self._making: _Film | None = None
        self._share = 0.0
        self._is_held = False
        self._clock = clock
        self._failed: dict[str, Failure] = {}
        self._numbers = 0
        self._is_closed = False
        self._thread: threading.Thread | None = None
        self._filmer: _Filmer | None = None  # the thread's own

    def is_made(self, episode_id: str) -> bool:
        return self._archive.has_video(episode_id)

    @property
    def is_held(self) -> bool:
        with self._changed:
            return self._is_held

    @property
    def num_waiting(self) -> int:
        """Number of films that wait or are being made."""
        with self._changed:
            return len(self._waiting) + (self._making is not None)

    def wanted(self, episode_id: str, turn: int = NOW) -> bool:
        """Ask for the film of an episode, or for a clip by its name; return whether it is waiting or being made. A film that
        exists is not made again, so call it as often as you like. `turn` is `NOW`, `SOON` or `LATER`: films of an earlier turn
        are made first, in the order of asking. For `NOW` a failed film is tried again at once, otherwise after a delay that
        grows with each failure."""
        with self._changed:
            if self._is_closed:
                return False
            if self._making is not None and self._making.episode_id == episode_id:
                self._making.turn = min(self._making.turn, turn)
                return True
            film = self._waiting.get(episode_id)
            if film is None:
                failure = self._failed.get(episode_id)
                if failure is not None and turn != NOW and self._clock() < failure.again_at:
                    return False
                if self.is_made(episode_id):
                    return False
                self._numbers += 1
                not_before = self._clock() + (self._later_s if failure is None else 0.0)
                self._waiting[episode_id] = _Film(episode_id, turn, self._numbers, not_before)
            else:
                film.turn = min(film.turn, turn)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="films", daemon=True)
                self._thread.start()
            self._changed.notify_all()
            return True

    def later(self, episode_id: str) -> None:
        """Make this film only when nothing else is wanted, since nobody waits for it any more."""
        with self._changed:
            for film in (self._waiting.get(episode_id), self._making):
                if film is not None and film.episode_id == episode_id:
                    film.turn = LATER
            self._changed.notify_all()

    def progress(self, episode_id: str) -> FilmProgress:
        with self._changed:
            if self._making is not None and self._making.episode_id == episode_id:
                return FilmProgress("held" if self._is_held else "making", self._share)
            if episode_id in self._waiting:
                return FilmProgress("held" if self._is_held else "waiting")
            if episode_id in self._failed:
                return FilmProgress("failed", reason=self._failed[episode_id].reason)
        return FilmProgress("made", 1.0) if self.is_made(episode_id) else FilmProgress("missing")

    def wait(self, episode_id: str, within_s: float) -> FilmProgress:
        """Wait up to `within_s` seconds for a film that was asked for; return its progress."""
        deadline = time.monotonic() + within_s
        with self._changed:
            while (left := deadline - time.monotonic()) > 0 and (
                episode_id in self._waiting or (self._making is not None and self._making.episode_id == episode_id)
            ):
                self._changed.wait(left)
        return self.progress(episode_id)

    def failures(self) -> dict[str, Failure]:
        with self._changed:
            return dict(self._failed)

    def close(self) -> None:
        """End the process; a film that is being made is lost. A second call does nothing."""
        with self._changed:
            self._is_closed = True
            self._waiting.clear()
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    # The thread

    def _work(self) -> None:
        while (film := self._next()) is not None:
            again, is_missing, reason = False, False, ""
            try:
                clip = clip_of(film.episode_id)
                episode = self._archive.get(film.episode_id if clip is None else clip.episode_id)
                if episode.is_video_only:
                    raise no_video(episode)
                _ = episode.header
                self._filmer = self._filmer or _Filmer(self._archive, self.module)
                again = not self._make(self._filmer, film)
                if again:
                    self._end()
            except _DeadError as error:
                self._end()
                film.num_tries += 1
                again, reason = film.num_tries < MAX_TRIES, str(error)
            except (InterplayError, OSError) as error:
                is_missing, reason = isinstance(error, MissingFileError), str(error)
            with self._changed:
                self._making, self._is_held = None, False
                if again and not self._is_closed:
                    self._waiting.setdefault(film.episode_id, film)
                elif reason and not self._is_closed:
                    log.warning("%s: nothing was made of episode %s: %s", self.module, film.episode_id, reason)
                    num = 1 if film.episode_id not in self._failed else self._failed[film.episode_id].num + 1
                    wait_s = math.inf if is_missing else min(MOST_RETRY_S, RETRY_S * 4.0 ** min(num - 1, 10))
                    self._failed[film.episode_id] = Failure(reason, num, self._clock() + wait_s)
                elif not again:
                    self._failed.pop(film.episode_id, None)
                self._changed.notify_all()
        self._end()

    def _next(self) -> _Film | None:
        with self._changed:
            idle_until = time.monotonic() + IDLE_S
            while not self._is_closed:
                again_s = self._queue_again()
                now = self._clock()
                if ready := [one for one in self._waiting.values() if one.turn != LATER or one.not_before <= now]:
                    film = min(ready, key=lambda one: (one.turn, one.number))
                    del self._waiting[film.episode_id]
                    self._making, self._share = film, 0.0
                    return film
                if time.monotonic() >= idle_until:
                    self._end()
                idle_s = idle_until - time.monotonic() if self._filmer is not None else threading.TIMEOUT_MAX
                self._changed.wait(min(again_s, idle_s, *(one.not_before - now for one in self._waiting.values())))
            return None

    def _queue_again(self) -> float:
        """Queue failed films again when their time has come; return the seconds until the next one."""
        now, wait_s = self._clock(), threading.TIMEOUT_MAX
        for episode_id, failure in self._failed.items():
            if failure.again_at > now:
                wait_s = min(wait_s, failure.again_at - now)
            elif episode_id not in self._waiting:
                self._numbers += 1
                self._waiting[episode_id] = _Film(episode_id, LATER, self._numbers, now)
        return wait_s

    def _end(self) -> None:
        if self._filmer is not None:
            self._filmer.end()
            self._filmer = None

    def _make(self, filmer: _Filmer, film: _Film) -> bool:
        """Make one film; return False if a film of an earlier turn, or the end of the queue, interrupts it."""
        filmer.order(film=film.episode_id)
        while True:
            is_needed = self._num_cores - self._cores_needed() < 1  # by a game
            with self._changed:
                self._is_held = is_needed
            filmer.hold(is_needed)
            for answer in filmer.answers(LOOK_EVERY_S):
                if "made" in answer:
                    if "error" in answer:
                        raise InterplayError(answer["error"])
                    return True
                with self._changed:
                    self._share = min(1.0, answer["done"] / answer["of"])
            with self._changed:
                if self._is_closed or any(other.turn < film.turn for other in self._waiting.values()):
                    return False


class _DeadError(InterplayError):
    """The process ended before its film was made."""


class _Filmer:
    def __init__(self, archive: Archive, module: str) -> None:
        self._process, self._socket = starting.start(module)
        self._socket.setblocking(True)
        self._rest = b""
        self._is_held = False
        self.order(data=str(archive.root.resolve()), database=archive.database.address)

    def order(self, **words: Any) -> None:
        try:
            self._socket.sendall(json.dumps(words).encode() + b"\n")
        except ConnectionError:
            self._died()

    def hold(self, is_held: bool) -> None:
        if is_held != self._is_held:
            self._is_held = is_held
            self.order(hold=is_held)

    def answers(self, within_s: float) -> list[dict[str, Any]]:
        """Wait up to `within_s` seconds for the process to write; return the complete lines that have come."""
        if not select.select([self._socket], [], [], within_s)[0]:
            return []
        try:
            data = self._socket.recv(1 << 16)
        except ConnectionError:
            data = b""
        if not data:
            self._died()
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [json.loads(line) for line in lines]

    @property
    def pid(self) -> int:
        return self._process.pid

    def _died(self) -> None:
        self.end()
        raise _DeadError(f"the process that works on recordings ended with status {self._process.returncode}")

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._socket.close()
