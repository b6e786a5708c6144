"""Order: the pair whose answer is expected to settle most about the order of the leaderboard."""

from __future__ import annotations

from collections.abc import Sequence
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
    """Worth of a pair: by how much its answer is expected to lower the uncertainty of everybody's place, in places squared.

    An agent's place is 1 + the number of agents better than it. Under what is believed (`beliefs`) each place has a variance,
    and the sum of these variances is what the rank correlation with the truth falls short by (Spearman's coefficient is
    1 - 6 sum d**2 / (n**3 - n), d being errors of places). An answer about i and j moves the expected place of every agent k
    that is uncertain together with them; by the law of total variance the expected fall of the sum of variances is the
    variance of those moves, and it is linearised:

        u = covariance (e_i - e_j)               how strengths move with the difference of i and j
        g_kl = density of "k and l are equal"     how easily their order is swapped
        move of place k = sum over l of g_kl (u_k - u_l)
        worth = I / (1 + v I) * sum over k of (move of place k)**2

    v is the variance of the difference of i and j and I the information of one answer. So far-apart agents are worth little
    (I and g are small), settled ones too (u is small), and a pair that sits in a crowd is worth most.
    """

    prior_sd: float = PRIOR_SD
    name: ClassVar[str] = "order"

    def __post_init__(self) -> None:
        if not (isinstance(self.prior_sd, int | float) and 0 < self.prior_sd < np.inf):
            raise ValueError(f"prior_sd must be positive, got {self.prior_sd!r}")

    def order(self, agents: Sequence[str], evidence: Evidence, awaited: Awaited, rng: np.random.Generator) -> list[AgentPair]:
        names = sorted(agents)
        if len(names) < 2:
            return []
        known = believed(names, evidence, awaited, self.prior_sd)
        return most_worthy_first(names, worth_for_places(known, np.arange(len(names)), len(names)), rng)


def believed(names: Sequence[str], evidence: Evidence, awaited: Awaited, prior_sd: float) -> Beliefs:
    """Beliefs about `names`, in this order, followed by agents that are no longer candidates.

    Former candidates still tell how two agents compare that both met them.
    """
    counts = evidence.counts(names)
    return beliefs(counts.won, places_of(counts.agents, awaited), prior_sd)


def worth_for_places(known: Beliefs, whose: NDArray[np.intp], num_shown: int) -> Array:
    """Expected fall of the variance of some agents' places, for an answer about each two; shape (num_shown, num_shown).

    Args:
        known: About n agents, candidates first.
        whose: Candidates whose places matter.
        num_shown: Number of candidates; only they have places.
    """
    variance = known.difference_variance[:num_shown, :num_shown]
    deviation = np.sqrt(variance)
    z = known.difference[:num_shown, :num_shown] / deviation
    swap = np.exp(-0.5 * z * z) / (np.sqrt(2 * np.pi) * deviation)
    np.fill_diagonal(swap, 0.0)
    # Row k: how place k moves with each strength. A Laplacian: shifting all strengths moves no place.
    per_strength = (np.diag(swap.sum(axis=1)) - swap)[whose]
    moves = (
        per_strength @ known.covariance[:num_shown, :num_shown]
    )  # column i less column j: moves by the difference of i and j
    overlap = moves.T @ moves
    squares = np.diag(overlap)
    told = information(known)[:num_shown, :num_shown]
    worth = told / (1 + variance * told) * (squares[:, None] + squares - 2 * overlap)
    return np.maximum(worth, 0.0)
