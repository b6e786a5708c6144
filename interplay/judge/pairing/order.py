"""`OrderUncertainty` prefers pairs that are most informative about the order of all agents; `Focus`, about some agents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from interplay.judge.pairing.beliefs import PRIOR_SD, Beliefs, beliefs, information
from interplay.judge.pairing.evidence import Evidence
from interplay.judge.pairing.rule import AgentPair, Awaited, most_worthy_first, places_of

Array = NDArray[np.float64]


@dataclass(frozen=True)
class OrderUncertainty:
    """Pairing rule: the worth of a pair is the expected fall of the total variance of places by its answer, in places squared.

    An agent's place is 1 + the number of better agents. Under the present belief (`beliefs`) each place has a variance. The sum
    of these variances determines how far the rank correlation with the truth stays below 1 (Spearman's coefficient is
    1 - 6 sum d**2 / (n**3 - n); d are the errors of places). An answer about i and j moves the expected place of every agent k
    whose error depends on the errors of i and j. By the law of total variance, the expected fall of the sum is the variance of
    these moves. A linear approximation gives:

        u = covariance (e_i - e_j)               how strengths move with the difference of i and j
        g_kl = density of "k and l are equal"     how easily their order is swapped
        move of place k = sum over l of g_kl (u_k - u_l)
        worth = I / (1 + v I) * sum over k of (move of place k)**2

    v is the variance of the difference of i and j; I is the information of one answer. Therefore a pair of very different
    agents is worth little (I and g are small), and so is a pair of well-known agents (u is small). A pair that has many agents
    close to it is worth most.

    Attributes:
        prior_sd: Standard deviation of strengths before any answer; logits, positive.
    """

    prior_sd: float = PRIOR_SD
    name: ClassVar[str] = "order"

    def __post_init__(self) -> None:
        _check_prior(self.prior_sd)

    def order(self, agents: Sequence[str], evidence: Evidence, awaited: Awaited, rng: np.random.Generator) -> list[AgentPair]:
        return _ordered(agents, evidence, awaited, rng, self.prior_sd)


@dataclass(frozen=True)
class Focus:
    """Put pairs with one of `agents` first. The worth of a pair is how much its answer tells about the places of `agents`.

    A new agent thus meets agents of similar strength, not agents that it surely beats. Pairs of two other agents follow, so
    that a judge who has seen every video of the new agent can continue; their worth, too, concerns only the new agent's place.
    Names in `agents` that are not candidates are ignored. If no name is a candidate, all places matter, as under `order`.

    Attributes:
        prior_sd: Standard deviation of strengths before any answer; logits, positive.
    """

    agents: tuple[str, ...]
    prior_sd: float = PRIOR_SD
    name: ClassVar[str] = "focus"

    def __init__(self, agents: Iterable[str] = (), prior_sd: float = PRIOR_SD) -> None:
        names = (agents,) if isinstance(agents, str) else tuple(agents)
        if not names or not all(isinstance(name, str) and name for name in names):
            raise ValueError(f"focus needs the names of one or more agents, agents=['NAME']; got {agents!r}")
        _check_prior(prior_sd)
        object.__setattr__(self, "agents", tuple(dict.fromkeys(names)))
        object.__setattr__(self, "prior_sd", prior_sd)

    def order(self, agents: Sequence[str], evidence: Evidence, awaited: Awaited, rng: np.random.Generator) -> list[AgentPair]:
        return _ordered(agents, evidence, awaited, rng, self.prior_sd, frozenset(self.agents))


def _check_prior(prior_sd: float) -> None:
    if not (isinstance(prior_sd, int | float) and 0 < prior_sd < np.inf):
        raise ValueError(f"prior_sd must be positive, got {prior_sd!r}")


def _ordered(
    agents: Sequence[str],
    evidence: Evidence,
    awaited: Awaited,
    rng: np.random.Generator,
    prior_sd: float,
    focus: frozenset[str] = frozenset(),
) -> list[AgentPair]:
    names = sorted(agents)
    if len(names) < 2:
        return []
    counts = evidence.counts(names)  # former candidates still tell how two agents compare that both met them
    known = beliefs(counts.won, places_of(counts.agents, awaited), prior_sd)
    whose = [place for place, name in enumerate(names) if name in focus] or range(len(names))
    pairs = most_worthy_first(names, worth_for_places(known, np.array(whose), len(names)), rng)
    return sorted(pairs, key=lambda pair: focus.isdisjoint((pair.a, pair.b)))  # stable


def worth_for_places(known: Beliefs, whose: NDArray[np.intp], num_shown: int) -> Array:
    """Return the expected fall of some places' variance by an answer about each pair; shape (num_shown, num_shown).

    Args:
        known: The belief about n agents, candidates first.
        whose: Indices of the candidates whose places matter.
        num_shown: Number of candidates; only candidates have places.
    """
    variance = known.difference_variance[:num_shown, :num_shown]
    deviation = np.sqrt(variance)
    z = known.difference[:num_shown, :num_shown] / deviation
    swap = np.exp(-0.5 * z * z) / (np.sqrt(2 * np.pi) * deviation)
    np.fill_diagonal(swap, 0.0)
    # Row k: how place k moves with each strength. A Laplacian: shifting all strengths moves no place.
    per_strength = (np.diag(swap.sum(axis=1)) - swap)[whose]
    # Column i less column j: moves by the difference of i and j.
    moves = per_strength @ known.covariance[:num_shown, :num_shown]
    overlap = moves.T @ moves
    squares = np.diag(overlap)
    told = information(known)[:num_shown, :num_shown]
    worth = told / (1 + variance * told) * (squares[:, None] + squares - 2 * overlap)
    return np.maximum(worth, 0.0)
