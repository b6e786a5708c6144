"""Round-robin: every pair of agents as often as any other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from interplay.judge.pairing.evidence import Evidence
from interplay.judge.pairing.rule import AgentPair, Awaited, most_worthy_first, places_of


@dataclass(frozen=True)
class RoundRobin:
    """The pair that was asked about least comes first, chance decides between equals; a pair's worth is minus that number.

    The reference for other rules: it holds no beliefs, so none can mislead it.
    """

    name: ClassVar[str] = "round-robin"

    def order(self, agents: Sequence[str], evidence: Evidence, awaited: Awaited, rng: np.random.Generator) -> list[AgentPair]:
        names = sorted(agents)
        times = evidence.counts(names).compared[: len(names), : len(names)]
        rows, columns = places_of(names, awaited)
        np.add.at(times, (rows, columns), 1)
        np.add.at(times, (columns, rows), 1)
        return most_worthy_first(names, -times, rng)
