"""Focus: one or more new agents against the others, until their places are known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from interplay.judge.pairing.beliefs import PRIOR_SD
from interplay.judge.pairing.evidence import Evidence
from interplay.judge.pairing.order import believed, worth_for_places
from interplay.judge.pairing.rule import AgentPair, Awaited, most_worthy_first


@dataclass(frozen=True)
class Focus:
    """Pairs with one of `agents` come first, by what their answer tells about the places of `agents`; then all others.

    A new agent so meets those it may be next to, not those it surely beats. Pairs of two others stay in the list, so that a
    judge who has seen every video of the new agent can continue; their worth counts what they tell about its place. Names in
    `agents` that are not candidates are ignored; if none is one, every place matters, as under `order`.
    """

    agents: tuple[str, ...]
    prior_sd: float = PRIOR_SD
    name: ClassVar[str] = "focus"

    def __init__(self, agents: Iterable[str] = (), prior_sd: float = PRIOR_SD) -> None:
        names = (agents,) if isinstance(agents, str) else tuple(agents)
        if not names or not all(isinstance(name, str) and name for name in names):
            raise ValueError(f"focus needs the names of one or more agents, agents=['NAME']; got {agents!r}")
        if not (isinstance(prior_sd, int | float) and 0 < prior_sd < np.inf):
            raise ValueError(f"prior_sd must be positive, got {prior_sd!r}")
        object.__setattr__(self, "agents", tuple(dict.fromkeys(names)))
        object.__setattr__(self, "prior_sd", prior_sd)

    def order(self, agents: Sequence[str], evidence: Evidence, awaited: Awaited, rng: np.random.Generator) -> list[AgentPair]:
        names = sorted(agents)
        if len(names) < 2:
            return []
        known = believed(names, evidence, awaited, self.prior_sd)
        whose = np.array([place for place, name in enumerate(names) if name in self.agents], dtype=np.intp)
        if not len(whose):
            return most_worthy_first(names, worth_for_places(known, np.arange(len(names)), len(names)), rng)
        pairs = most_worthy_first(names, worth_for_places(known, whose, len(names)), rng)
        return sorted(pairs, key=lambda pair: not {pair.a, pair.b} & set(self.agents))  # stable
