"""The process that seals episodes beside the games, in the background: it takes one path after another, answers with the id or
the error, and ends when the web process is gone.

    python -m interplay.play.sealing FD        (started by `sealer.Sealer`, FD is its end of a socket pair)
"""

from __future__ import annotations

import logging
import socket
import sys
import time
from pathlib import Path
from typing import Any

import interplay.record
from interplay.errors import NotFoundError
from interplay.parallel import stay_in_the_background
from interplay.play import processes
from interplay.play.channel import ToWeb, Unpacker, decode, pack_json
from interplay.record import RecordingError
from interplay.record.journal import episode_of

log = logging.getLogger("interplay.play.sealing")


def main(descriptor: int) -> None:
    """Seal what is asked for until the web process goes away."""
    processes.shield_from_the_terminal()
    stay_in_the_background()
    logging.basicConfig(format="%(asctime)s sealer %(process)d: %(message)s", level=logging.WARNING)
    channel = socket.socket(fileno=descriptor)
    unpacker = Unpacker()
    archive: interplay.record.Archive | None = None
    while data := _receive(channel):
        for number, _, payload in unpacker.feed(data):
            command = decode(payload)
            try:
                if archive is None:
                    archive = interplay.record.open(Path(command["data"]), database=command["database"])
                answer: dict[str, Any] = {"episode": _seal(archive, Path(command["path"]))}
            except Exception as error:
                log.exception("%s was not sealed", command["path"])
                answer = {"error": str(error) if isinstance(error, RecordingError) else f"{type(error).__name__}: {error}"}
            try:
                channel.sendall(pack_json(number, ToWeb.EVENT, answer | {"cpu_s": time.process_time()}))
            except ConnectionError:
                return


def _seal(archive: interplay.record.Archive, path: Path) -> str:
    """The id of the episode, sealed now or before: by `interplay episodes repair`, or by a sealer that died too soon."""
    if not path.exists():
        try:
            return archive.get(episode_of(path)).id
        except NotFoundError:
            pass
    return archive.seal(path).id


def _receive(channel: socket.socket) -> bytes:
    try:
        return channel.recv(1 << 16)
    except ConnectionError:
        return b""


if __name__ == "__main__":
    main(int(sys.argv[1]))
