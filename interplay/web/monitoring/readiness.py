"""Whether this server may take new games, for what sends players to it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from interplay.play.games.interfaces import State
from interplay.play.limits import MAX_SEATS
from interplay.web.services import Services, services

router = APIRouter(include_in_schema=False)

MIN_FREE_BYTES = 100 * 2**20
"""Free space of the data folder below which no new game is taken: a recorded game takes some megabytes."""


def num_seats(seats: Mapping[str, int]) -> int:
    """Return how many seats count against the limit; `seats`: state -> number, as `PlayServer.statistics` gives it.

    >>> num_seats({"playing": 2, "waiting": 1, "ended": 7})
    3
    """
    return sum(number for state, number in seats.items() if state != State.ENDED)


def disk_trouble(folder: Path, *, min_free_bytes: int = MIN_FREE_BYTES) -> str | None:
    """Return the words for a disk that is full, or None."""
    free = shutil.disk_usage(folder).free
    return None if free >= min_free_bytes else f"the disk of the data folder has only {free // 2**20} MiB left"


async def troubles(here: Services) -> list[str]:
    """Return why this server takes no new games, in words; nothing if it takes them."""
    play = here.play
    if play is None:
        return ["this server offers no games"]
    found = []
    if play.pool.stopping:
        found.append("the server stops")
    if play.cluster.is_draining:
        found.append("the server gives its games to other servers")
    if play.cluster.is_fenced:
        found.append("the server cannot renew its place among the servers of its database")
    if num_seats(play.statistics()["seats"]) >= MAX_SEATS:
        found.append(f"all {MAX_SEATS} seats are taken")
    if (disk := disk_trouble(here.archive.root)) is not None:
        found.append(disk)
    if not await here.database_probe.answers():
        found.append("the database does not answer")
    return found


@router.get("/readyz")
async def ready(request: Request) -> JSONResponse:
    """Answer 200 if this server may take new games, otherwise 503 and the reasons."""
    found = await troubles(services(request))
    return JSONResponse({"status": "not ready", "troubles": found} if found else {"status": "ready"}, 503 if found else 200)
