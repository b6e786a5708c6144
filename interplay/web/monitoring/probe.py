"""Asks the database whether it answers, without waiting for one that does not."""

from __future__ import annotations

import asyncio

from interplay.store import Database

ANSWERS_WITHIN_S = 1.0


class DatabaseProbe:
    """Asks the database of a server. While a question waits for its answer, no other is asked."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._asking: asyncio.Task[bool] | None = None

    async def answers(self, *, within_s: float = ANSWERS_WITHIN_S) -> bool:
        asking = self._asking
        if asking is None or asking.done():
            asking = self._asking = asyncio.create_task(asyncio.to_thread(self._database.answers))
        done, _ = await asyncio.wait([asking], timeout=within_s)
        return bool(done) and asking.result()
