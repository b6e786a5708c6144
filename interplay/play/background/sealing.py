"""The process that seals episodes beside the games: it takes one path after another, answers with the id or the error, and ends
when the web process is gone. `main` is started by `sealer.Sealer`."""

from __future__ import annotations

import logging
import socket
import time
from pathlib import Path

import interplay.record
from interplay.envs import backends
from interplay.errors import NotFoundError
from interplay.parallel import give_way
from interplay.play.workers import processes
from interplay.play.workers.channel import Sealed, Unpacker, decode_seal, pack_event
from interplay.record import Episode, RecordingError
from interplay.record.journal import DAMAGED, episode_of
from interplay.record.measuring import measure_all

NICENESS = 5
"""Behind the games, before films: whoever played looks for the episode."""

log = logging.getLogger("interplay.play.background.sealing")


def main(descriptor: int) -> None:
    processes.shield_from_the_terminal()
    give_way(NICENESS)
    logging.basicConfig(format="%(asctime)s sealer %(process)d: %(message)s", level=logging.WARNING)
    channel = socket.socket(fileno=descriptor)
    unpacker = Unpacker()
    archive: interplay.record.Archive | None = None
    while data := _receive(channel):
        for number, _, _, payload in unpacker.feed(data):
            command = decode_seal(payload)
            try:
                if archive is None:
                    archive = interplay.record.open(Path(command.data), database=command.database)
                episode, failure = _seal(archive, Path(command.path)), None
            except Exception as error:
                log.exception("%s was not sealed", command.path)
                episode, failure = None, str(error) if isinstance(error, RecordingError) else f"{type(error).__name__}: {error}"
            try:
                channel.sendall(pack_event(number, Sealed(time.process_time(), episode, failure)))
            except ConnectionError:
                return


def _seal(archive: interplay.record.Archive, path: Path) -> str | None:
    """The id of the episode, sealed now or before (by `interplay episodes repair`, or by a sealer that died too soon). None if
    no step was made."""
    if not path.exists():
        try:
            return archive.get(episode_of(path)).id
        except NotFoundError:
            pass
    episode = archive.keep(path)
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


def _receive(channel: socket.socket) -> bytes:
    try:
        return channel.recv(1 << 16)
    except ConnectionError:
        return b""
