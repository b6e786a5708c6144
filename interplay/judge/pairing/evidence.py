"""Evidence for matchmaking: the answers about one task's agents, added one at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from interplay.rank import OUTCOMES, Outcome, Standings

Array = NDArray[np.float64]

_FIRST_CAPACITY = 32
"""Number of agents for which the new table of counts has room."""


class Counts(NamedTuple):
    """Counts of the answers about n agents.

    Attributes:
        won: float64, shape (n, n): entry (i, j) is how often i was better than j, draws counting half for each.
    """

    agents: tuple[str, ...]
    won: Array

    @property
    def compared(self) -> Array:
        return self.won + self.won.T


class Evidence:
    """The answers of one task, in the order of the log. Not safe to share between threads.

    Answers can only be added. To leave out answers (those of a banned judge), make new evidence from all other answers.

    Args:
        standings: Returns the ratings after the same answers, if the caller has these ratings; None to compute them here.

    >>> evidence = Evidence([("ada", "bob", "left"), ("bob", "cyd", "draw")])
    >>> print(evidence.counts(["ada", "bob"]).won)
    [[0.  1.  0. ]
     [0.  0.  0.5]
     [0.  0.5 0. ]]
    """

    def __init__(
        self, answers: Iterable[tuple[str, str, Outcome]] = (), *, standings: Callable[[], Standings] | None = None
    ) -> None:
        self._places: dict[str, int] = {}
        self._won: Array = np.zeros((_FIRST_CAPACITY, _FIRST_CAPACITY))
        self._others = standings
        self._standings = Standings()
        self._unrated: list[tuple[str, str, Outcome]] = []
        for answer in answers:
            self.add(*answer)

    def add(self, left: str, right: str, outcome: Outcome) -> None:
        """Add one answer (ValueError if both sides are one agent, or if `outcome` is not `left`, `right` or `draw`)."""
        if left == right:
            raise ValueError(f"an agent cannot be compared with itself, got {left!r} on both sides")
        if outcome not in OUTCOMES:
            raise ValueError(f"outcome must be one of {', '.join(OUTCOMES)}, got {outcome!r}")
        i, j = self._place(left), self._place(right)
        share = {"left": 1.0, "draw": 0.5, "right": 0.0}[outcome]
        self._won[i, j] += share
        self._won[j, i] += 1 - share
        if self._others is None:
            self._unrated.append((left, right, outcome))

    @property
    def standings(self) -> Standings:
        """TrueSkill ratings after these answers. They are computed at the first request and then updated by each answer."""
        if self._others is not None:
            return self._others()
        for answer in self._unrated:
            self._standings.add(*answer)
        self._unrated.clear()
        return self._standings

    def counts(self, agents: Sequence[str]) -> Counts:
        """Return the counts for these agents, in this order, followed by all other agents of the log, sorted by name."""
        names = (*agents, *sorted(self._places.keys() - set(agents)))
        known = [(place, self._places[name]) for place, name in enumerate(names) if name in self._places]
        won = np.zeros((len(names), len(names)))
        if known:
            here, there = np.array(known).T
            won[np.ix_(here, here)] = self._won[np.ix_(there, there)]
        return Counts(names, won)

    def _place(self, name: str) -> int:
        place = self._places.setdefault(name, len(self._places))
        if place == len(self._won):
            self._won = np.pad(self._won, (0, place))
        return place
