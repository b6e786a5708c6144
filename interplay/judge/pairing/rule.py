"""The interface of pairing rules, which order pairs of agents by agents, evidence and open matches; and the simplest rule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from interplay.judge.pairing.evidence import Evidence

Awaited = Iterable[tuple[str, str]]
"""The two agents of each open match."""


class AgentPair(NamedTuple):
    """Two agents to ask about, and the `worth` of an answer, which can only be compared with other pairs of the same order."""

    a: str
    b: str
    worth: float


class PairingRule(Protocol):
    """Decides which pair of agents is asked about next. A rule has no state; it uses only its arguments."""

    name: ClassVar[str]
    """Name by which `pairing_rule(name)` finds the rule."""

    def order(self, agents: Sequence[str], evidence: Evidence, awaited: Awaited, rng: np.random.Generator) -> list[AgentPair]:
        """Return every pair of `agents`, the most useful first.

        Args:
            agents: Names of candidates, each once. With fewer than two names there is no pair.
            evidence: Answers so far, also about former candidates.
            awaited: The two agents of each open match, candidates or not. An answer about these two is expected.
            rng: Decides between pairs of equal worth.
        """
        ...


def places_of(names: Sequence[str], awaited: Awaited) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the awaited pairs as rows and columns of a table of `names`.
    Pairs with an unknown agent, and pairs of an agent with itself, are left out."""
    place = {name: index for index, name in enumerate(names)}
    known = [(place[a], place[b]) for a, b in awaited if a in place and b in place and a != b]
    rows, columns = np.array(known, dtype=np.intp).reshape(-1, 2).T
    return rows, columns


def most_worthy_first(names: Sequence[str], worth: NDArray[np.float64], rng: np.random.Generator) -> list[AgentPair]:
    """Return all pairs, the highest worth first; `rng` draws the order of pairs of equal worth.

    `worth` has shape (n, n); only values above the diagonal are read. Values that differ only by rounding count as equal.
    """
    rows, columns = np.triu_indices(len(names), 1)
    values = worth[rows, columns]
    shuffled = rng.permutation(len(values))
    highest = np.abs(values).max(initial=0.0)
    steps = np.round(values[shuffled] / highest, 9) if highest > 0 else values[shuffled]
    order = shuffled[np.argsort(-steps, kind="stable")]
    firsts: list[int] = rows[order].tolist()
    seconds: list[int] = columns[order].tolist()
    worths: list[float] = values[order].tolist()
    return [AgentPair(names[i], names[j], value) for i, j, value in zip(firsts, seconds, worths, strict=True)]


@dataclass(frozen=True)
class RoundRobin:
    """The pair that was asked about least often comes first; chance decides between equals. The worth is minus that number.

    This is the reference for other rules: it assumes nothing about agents, so no wrong assumption can mislead it.
    """

    name: ClassVar[str] = "round-robin"

    def order(self, agents: Sequence[str], evidence: Evidence, awaited: Awaited, rng: np.random.Generator) -> list[AgentPair]:
        names = sorted(agents)
        times = evidence.counts(names).compared[: len(names), : len(names)]
        rows, columns = places_of(names, awaited)
        np.add.at(times, (rows, columns), 1)
        np.add.at(times, (columns, rows), 1)
        return most_worthy_first(names, -times, rng)
