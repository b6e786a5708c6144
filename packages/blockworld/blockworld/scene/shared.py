"""Changed cells of a world, found once for the clients of all seats."""

from __future__ import annotations

from typing import ClassVar
from weakref import WeakSet, WeakValueDictionary

import numpy as np

from blockworld.grid.changes import NOTHING, Changes, News
from blockworld.world_state import WorldState

MOST_PENDING = 2**17
"""Largest number of changed cells and lights kept for a client; a client with more changes must start again."""


class Pending:
    """Changes that have not been sent to one client yet.

    Attributes:
        is_lost: Whether there were too many changes, so that the client must forget everything.
    """

    def __init__(self) -> None:
        self.is_lost = False
        self._news: list[News] = []
        self._size = 0

    def add(self, news: News) -> None:
        self._size += len(news.cells) + len(news.lit)
        self._news.append(news)
        if self._size > MOST_PENDING:
            self.is_lost = True
            self._news.clear()
            self._size = 0

    def take(self) -> News:
        """Return and remove all changes; each cell appears once, with its newest value."""
        news, self._news, self._size, self.is_lost = self._news, [], 0, False
        if len(news) == 1:
            return news[0]
        if not news:
            return NOTHING
        cells, states = _last([one.cells for one in news], [one.states for one in news])
        lit, lights = _last([one.lit for one in news], [one.lights for one in news])
        return News(cells, states, lit, lights)


def _last(numbers: list[np.ndarray], values: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return each number once, in ascending order, with its last value."""
    found, first = np.unique(np.concatenate(numbers)[::-1], return_index=True)
    return found, np.concatenate(values)[::-1][first]


class Shared:
    """Changes of one world, shared by all browsers that draw it; get the object with `of`."""

    _OF: ClassVar[WeakValueDictionary[int, Shared]] = WeakValueDictionary()

    def __init__(self, world: WorldState) -> None:
        self._world = world  # its id is taken as long as this lives
        self._changes = Changes(world.grid)
        self._all: WeakSet[Pending] = WeakSet()

    @classmethod
    def of(cls, world: WorldState) -> Shared:
        """Return the `Shared` of this world; it exists as long as the caller keeps a reference."""
        found = cls._OF.get(id(world))
        if found is None or found._changes.grid is not world.grid:
            found = cls._OF[id(world)] = Shared(world)
        return found

    def join(self) -> Pending:
        """Add a client; return its pending changes, which begin now."""
        pending = Pending()
        self._all.add(pending)
        return pending

    def gather(self) -> None:
        """Add the changes since the last call to the pending changes of every client."""
        news = self._changes.take()
        if len(news.cells) or len(news.lit):
            for pending in self._all:
                pending.add(news)
