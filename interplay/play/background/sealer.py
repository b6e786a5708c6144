"""Seals journals in a process of low priority beside the games: compressing an episode takes a fifth of a second, which would
make everybody's frames late. `sealing.py` runs in that process."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from interplay.play.background.answering import AnsweringProcess, Request
from interplay.play.workers.channel import Seal, decode_sealed
from interplay.play.workers.processes import ProcessLink
from interplay.record import RecordingError

SEALER_MODULE = "interplay.play.background.sealing"
STOP_TIMEOUT_S = 10.0

log = logging.getLogger("interplay.play")


class Sealer(AnsweringProcess[Request]):
    """The process, started with the server. Journals that still wait when it stops are left as they are."""

    def __init__(self, *, data: Path, database: str) -> None:
        super().__init__(SEALER_MODULE, deed="seal", stop_timeout_s=STOP_TIMEOUT_S)
        self.num_deaths = 0
        self._place = {"data": str(data), "database": database}
        self._cpu_s = 0.0
        self._cpu_s_of_the_dead = 0.0

    async def seal(self, path: Path) -> str | None:
        """Seal the journal that a segment belongs to; a journal that was sealed meanwhile counts as sealed. Returns the
        episode's id; None where no step was made, and the journal is removed. Raises `RecordingError` if it cannot be sealed;
        the journal then stays."""
        return await self._ask(Request(path))

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

    def _command(self, request: Request) -> Seal:
        return Seal(str(request.path), **self._place)

    def _refusal(self, request: Request, reason: str) -> RecordingError:
        return RecordingError(f"{request.path} was not sealed: {reason}; the journal stays")

    def _died(self, link: ProcessLink, waiting: Sequence[Request]) -> Sequence[Request]:
        self.num_deaths += 1
        self._cpu_s_of_the_dead, self._cpu_s = self._cpu_s_of_the_dead + self._cpu_s, 0.0
        log.error("the sealing process %d died with %d journals waiting", link.process.pid, len(waiting))
        return waiting[:1]  # the one in work: they are sealed in order
