"""Information: the pair whose answer is expected to lower the uncertainty of the two TrueSkill ratings most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from interplay.judge.policies.evidence import Evidence
from interplay.judge.policies.policy import AgentPair, Awaited, most_worthy_first
from interplay.rank import anticipate
from interplay.rank.normal_arrays import draw_corrections, hazard
from interplay.rank.trueskill import Settings

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Information:
    """The rule of the published platform (BEDD), with draws counted: worth is `rank.expected_drop`, skill points squared.

    Differences: the published server ignores draws, and its win probability has one beta**2 where there are two.
    """

    name: ClassVar[str] = "information"

    def order(self, agents: Sequence[str], evidence: Evidence, awaited: Awaited, rng: np.random.Generator) -> list[AgentPair]:
        """See `Policy`. An awaited match leaves both means as they are and shrinks both variances as answers do on average."""
        names, standings = sorted(agents), evidence.standings
        ratings = {name: standings.rating(name) for name in names}
        for left, right in awaited:
            # An awaited answer may be about an agent that has left the pool; it still tells about the other one.
            pair = anticipate(
                ratings.get(left) or standings.rating(left), ratings.get(right) or standings.rating(right), standings.settings
            )
            ratings |= {left: pair.left, right: pair.right}
        mu = np.array([ratings[name].mu for name in names])
        sigma = np.array([ratings[name].sigma for name in names])
        return most_worthy_first(names, expected_drops(mu, sigma, standings.settings), rng)


def expected_drops(mu: Array, sigma: Array, settings: Settings) -> Array:
    """`rank.expected_drop` of every two of n agents at once, shape (n, n), symmetric; the diagonal means nothing.

    The expectation of W over the outcomes equals that of V squared, because the outcomes' probabilities sum to 1 whatever the
    difference of skills is, so that their second derivatives sum to 0.
    """
    variance = sigma**2 + settings.tau**2
    c_squared = variance[:, None] + variance + 2 * settings.beta**2
    c = np.sqrt(c_squared)
    t, margin = np.abs(mu[:, None] - mu) / c, settings.draw_margin / c
    better_v, worse_v = hazard(margin - t)[0], hazard(margin + t)[0]
    better, worse = density(t - margin) / better_v, density(t + margin) / worse_v
    draw = np.maximum(0.0, 1 - better - worse)
    expected_w = better * better_v**2 + worse * worse_v**2 + draw * draw_corrections(t, margin).v ** 2
    return (variance[:, None] ** 2 + variance**2) / c_squared * expected_w


def density(x: Array) -> Array:
    """Density of the standard normal distribution, entry by entry."""
    return np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi)
