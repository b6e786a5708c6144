"""The process that makes films beside the games, one film after the other. It pauses when the web process says so.
`films.Films` starts `main` on its end of a socket pair.

Each message is a line of JSON. The first line names the archive: its database's address may contain a password, and other users
can read a command line. Then come `{"film": ID}`, `{"hold": true}` and `{"hold": false}`. The process answers
`{"done": FRAMES, "of": FRAMES}` now and then, and at the end of each film `{"made": ID}` or `{"made": ID, "error": TEXT}`. It
ends when its input ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import threading
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import interplay.record
from interplay.parallel import give_way, give_way_to_sessions
from interplay.play.workers import processes
from interplay.record.films.film import film

NICENESS = 10
"""Niceness: a lower priority than sealing, for which people wait. With a still lower one, a busy machine would make no film."""
REPORT_EVERY_S = 0.25


class Pace:
    """Progress of a film. It is reported now and then, and the work pauses while games need the core."""

    def __init__(self, say: Callable[[dict[str, Any]], None]) -> None:
        self._say = say
        self.may_go_on = threading.Event()
        self.may_go_on.set()
        self.begin(1)

    def begin(self, num_steps: int) -> None:
        self._done, self._of, self._next_report = 0, num_steps, 0.0

    def advance(self, num_steps: int) -> None:
        self.may_go_on.wait()
        self._done += num_steps
        if time.monotonic() >= self._next_report:
            self._say({"done": self._done, "of": self._of})
            self._next_report = time.monotonic() + REPORT_EVERY_S


def make_what_is_asked(make: Callable[[interplay.record.Archive, str, Pace], None], descriptor: int) -> None:
    """Call `make` for each episode that is asked for, one after the other, until the web process ends."""
    asked = processes.enter(descriptor, "background")
    give_way(NICENESS)
    give_way_to_sessions(NICENESS)
    orders = asked.makefile("rb")

    def say(words: dict[str, Any]) -> None:
        try:
            asked.sendall(json.dumps(words).encode() + b"\n")
        except ConnectionError:
            os._exit(0)

    place = json.loads(orders.readline())
    wanted: queue.SimpleQueue[str] = queue.SimpleQueue()
    pace = Pace(say)
    threading.Thread(target=_listen, args=(orders, wanted, pace.may_go_on), daemon=True).start()
    archive = interplay.record.open(Path(place["data"]), database=place["database"])
    while True:
        episode_id = wanted.get()
        answer: dict[str, Any] = {"made": episode_id}
        try:
            pace.may_go_on.wait()
            make(archive, episode_id, pace)
        except Exception as error:  # told to who asked
            answer["error"] = str(error) or type(error).__name__
        say(answer)


def _film(archive: interplay.record.Archive, name: str, pace: Pace) -> None:
    film(archive, name, begin=pace.begin, advance=pace.advance)


def _listen(orders: Iterable[bytes], wanted: queue.SimpleQueue[str], may_go_on: threading.Event) -> None:
    with contextlib.suppress(ConnectionError):
        for line in orders:
            order = json.loads(line)
            if "film" in order:
                wanted.put(order["film"])
            elif order["hold"]:
                may_go_on.clear()
            else:
                may_go_on.set()
    os._exit(0)


main = partial(make_what_is_asked, _film)
