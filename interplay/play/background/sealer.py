"""Seal journals in a process of low priority beside the games: compressing an episode takes a fifth of a second, which would
make everybody's frames late. `main` runs in that process. It takes one path after another, answers with the id or the error,
and ends when the web process ends."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import interplay.record
from interplay.envs import backends
from interplay.errors import NotFoundError
from interplay.parallel import give_way
from interplay.play.background.answering import AnsweringProcess, Request
from interplay.play.workers import processes
from interplay.play.workers.channel import Seal, Sealed, Unpacker, decode_seal, decode_sealed, pack_event
from interplay.play.workers.processes import ProcessLink
from interplay.record import Episode, RecordingError
from interplay.record.journal import DAMAGED, episode_of
from interplay.record.measuring import measure_all
from interplay.store.games import Lease

SEALER_MODULE = "interplay.play.background.sealer"
STOP_TIMEOUT_S = 10.0
NICENESS = 5
"""Niceness: a lower priority than the games, but higher than films, because people look for the episode that they played."""

log = logging.getLogger("interplay.play")


@dataclass
class SealRequest(Request):
    """A journal to seal; see `Archive.seal`."""

    held_as: Lease | None


class Sealer(AnsweringProcess[SealRequest]):
    """The sealing process, started with the server. When it stops, journals that are not sealed yet stay as they are."""

    def __init__(self, *, data: Path, database: str) -> None:
        super().__init__(SEALER_MODULE, deed="seal", stop_timeout_s=STOP_TIMEOUT_S)
        self.num_deaths = 0
        self._place = {"data": str(data), "database": database}
        self._cpu_s = 0.0
        self._cpu_s_of_the_dead = 0.0

    async def seal(self, path: Path, held_as: Lease | None = None) -> str | None:
        """Seal the journal that a segment belongs to; return the episode's id. A journal that was sealed meanwhile counts as
        sealed. If no step was made, remove the journal and return None. `held_as` is as in `Archive.seal`. Raises
        `RecordingError` if the journal cannot be sealed; it then stays."""
        return await self._ask(SealRequest(path, held_as))

    def statistics(self) -> dict[str, Any]:
        return {
            "pid": None if self._link is None else self._link.process.pid,
            "waiting": len(self._requests),
            "deaths": self.num_deaths,
            "cpu_s": round(self._cpu_s_of_the_dead + self._cpu_s, 3),
        }

    def on_message(self, number: int, kind: int, payload: bytes) -> None:
        answer = decode_sealed(payload)
        self._cpu_s = answer.cpu_s
        request = self._requests.get(number)
        if request is None or request.answer.done():
            return
        if answer.error is not None:
            request.answer.set_exception(RecordingError(answer.error))
        else:
            request.answer.set_result(answer.episode)

    def _command(self, request: SealRequest) -> Seal:
        return Seal(str(request.path), **self._place, held_as=request.held_as)

    def _refusal(self, request: SealRequest, reason: str) -> RecordingError:
        return RecordingError(f"{request.path} was not sealed: {reason}; the journal stays")

    def _died(self, link: ProcessLink, waiting: Sequence[SealRequest]) -> Sequence[SealRequest]:
        self.num_deaths += 1
        self._cpu_s_of_the_dead, self._cpu_s = self._cpu_s_of_the_dead + self._cpu_s, 0.0
        log.error("the sealing process %d died with %d journals waiting", link.process.pid, len(waiting))
        return waiting[:1]  # the one in work: they are sealed in order


def main(descriptor: int) -> None:
    channel = processes.enter(descriptor, "sealer")
    give_way(NICENESS)
    unpacker = Unpacker()
    archive: interplay.record.Archive | None = None
    while data := processes.receive(channel):
        for number, _, _, payload in unpacker.feed(data):
            command = decode_seal(payload)
            try:
                if archive is None:
                    archive = interplay.record.open(Path(command.data), database=command.database)
                episode, failure = _seal(archive, Path(command.path), command.held_as), None
            except Exception as error:
                log.exception("%s was not sealed", command.path)
                episode, failure = None, str(error) if isinstance(error, RecordingError) else f"{type(error).__name__}: {error}"
            try:
                channel.sendall(pack_event(number, Sealed(time.process_time(), episode, failure)))
            except ConnectionError:
                return


def _seal(archive: interplay.record.Archive, path: Path, held_as: Lease | None) -> str | None:
    """Return the id of the episode, sealed now or earlier (by `interplay episodes repair`, or by a sealer that died before it
    answered). Return None if no step was made."""
    if not path.exists():
        try:
            return archive.get(episode_of(path)).id
        except NotFoundError:
            pass
    episode = archive.keep(path, held_as=held_as)
    if episode is None:
        return None
    if DAMAGED in episode.statistics:
        log.warning("the journal of %s is damaged after %d steps; it stays as %s.damaged", episode.id, episode.num_steps, path)
    _measure(archive, episode)
    return episode.id


def _measure(archive: interplay.record.Archive, episode: Episode) -> None:
    """Compute the statistics of a game whose process was killed before it reported them, unless that takes minutes."""
    if episode.header.statistics and not episode.live_measures and not backends.of(episode.task).is_slow:
        for found in measure_all(archive, [episode]):
            if found.failed is not None:
                log.warning("episode %s has no statistics: %s", episode.id, found.failed)
