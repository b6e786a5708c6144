"""Work that a worker does in the time until its next step is due: it writes journals, and sends messages that are not part of a
step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from operator import itemgetter

from interplay.play.workers.clock import now_us
from interplay.play.workers.live import LiveEpisode

_WRITE_AFTER_US = 700_000
"""Recorded steps that have waited this long are written to disk as soon as no step is due."""
_WRITE_TOO_US = 600_000
"""Once a game is written, other games whose steps have waited this long follow if time allows: the code is in the cache."""
_WRITE_TAKES_US = 1_500
"""Time of one write. After `interplay.record.recorder.BATCH_US`, steps are written even if a step is due."""
_LAND_TAKES_US = 3_000
"""A part of the land is sent when no step is due for this time."""
_LAND_AFTER_US = 100_000
"""A part of the land is sent in any case when a player has waited this long for it."""
_WATCHED_TAKES_US = 8_000
"""A picture for watchers is made only if no step is due for this time, and for twice as long as the last picture took."""


class SpareTime:
    """Chooses the work for the time before the next step. `guard` does something for one game; if it fails, only that game
    ends."""

    def __init__(self, episodes: Mapping[int, LiveEpisode], guard: Callable[[int, Callable[[], None]], None]) -> None:
        self.owing: set[int] = set()
        self.watched: set[int] = set()
        self._episodes = episodes
        self._guard = guard
        self._write_at_us = 0
        self._watched_takes_us = _WATCHED_TAKES_US

    def write_journals(self, next_us: int) -> None:
        now = now_us()
        if now < self._write_at_us or next_us - now < _WRITE_TAKES_US:
            return
        running = (one for one in self._episodes.values() if one.running)
        waiting = sorted(((one.unwritten_us(now), one) for one in running), key=itemgetter(0), reverse=True)
        longest_us = waiting[0][0] if waiting else 0
        if longest_us <= _WRITE_AFTER_US:
            self._write_at_us = now + _WRITE_AFTER_US - longest_us  # until then no step waits too long
            return
        for waited_us, episode in waiting:
            if waited_us < _WRITE_TOO_US or next_us - now_us() < _WRITE_TAKES_US:
                break
            self._guard(episode.number, episode.write)

    def send_owed(self, next_us: int) -> bool:
        """Send a scene or a part of the land that a player's browser waits for. Return whether something was sent; more may
        then wait."""
        if not self.owing:
            return False
        now = now_us()
        owing = self._open(self.owing)
        self.owing = {one.number for one in owing if one.owes}
        waited_us, episode = max(((one.owed_us(now), one) for one in owing), key=itemgetter(0), default=(-1, None))
        if episode is None or waited_us < 0 or (next_us - now < _LAND_TAKES_US and waited_us < _LAND_AFTER_US):
            return False
        self._guard(episode.number, partial(episode.send_owed, now))
        return True

    def send_watched(self, next_us: int) -> bool:
        """Send a picture that only watchers of a game want; return whether a picture was made."""
        if not self.watched:
            return False
        now = now_us()
        if next_us - now < self._watched_takes_us:  # the last one may have been the slow first
            self._watched_takes_us -= (self._watched_takes_us - _WATCHED_TAKES_US) // 64
            return False
        watched = self._open(self.watched)
        self.watched = {one.number for one in watched if one.is_watched}
        waited_us, episode = max(((one.unwatched_us(now), one) for one in watched), key=itemgetter(0), default=(-1, None))
        if episode is None or waited_us < 0:
            return False
        self._guard(episode.number, partial(episode.send_watched, now))
        self._watched_takes_us = max(_WATCHED_TAKES_US, 2 * (now_us() - now))
        return True

    def _open(self, numbers: Iterable[int]) -> list[LiveEpisode]:
        return [one for number in numbers if (one := self._episodes.get(number)) is not None and not one.closing]
