"""Information: the pair whose answer is expected to lower the uncertainty of the two TrueSkill ratings most.

Two rules: `Information` computes this decrease correctly; `PublishedInformation` computes it as the published platform does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from interplay.judge.pairing.evidence import Evidence
from interplay.judge.pairing.rule import AgentPair, Awaited, most_worthy_first
from interplay.rank import Standings, anticipate
from interplay.rank.normal import cumulatives, draw_corrections, hazard, win_corrections
from interplay.rank.trueskill import Settings

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Information:
    """Pairing rule of the published platform, corrected to include draws: the worth of a pair is `rank.expected_drop`."""

    name: ClassVar[str] = "information"

    def order(self, agents: Sequence[str], evidence: Evidence, awaited: Awaited, rng: np.random.Generator) -> list[AgentPair]:
        """See `PairingRule.order`. An awaited match lowers both variances as an average answer does, and changes no mean."""
        names = sorted(agents)
        mu, sigma = _expected_ratings(names, evidence.standings, awaited)
        return most_worthy_first(names, expected_drops(mu, sigma, evidence.standings.settings), rng)


@dataclass(frozen=True)
class PublishedInformation:
    """Pairing rule of the published platform (BEDD's evaluation server): the worth of a pair is `published_drops`.

    Difference: open matches are taken into account, as in `Information`.
    """

    name: ClassVar[str] = "bedd"

    def order(self, agents: Sequence[str], evidence: Evidence, awaited: Awaited, rng: np.random.Generator) -> list[AgentPair]:
        names = sorted(agents)
        mu, sigma = _expected_ratings(names, evidence.standings, awaited)
        return most_worthy_first(names, published_drops(mu, sigma, evidence.standings.settings), rng)


def _expected_ratings(names: Sequence[str], standings: Standings, awaited: Awaited) -> tuple[Array, Array]:
    ratings = {name: standings.rating(name) for name in names}
    for left, right in awaited:
        # An awaited answer may be about an agent that has left the candidates; it still tells about the other one.
        pair = anticipate(
            ratings.get(left) or standings.rating(left), ratings.get(right) or standings.rating(right), standings.settings
        )
        ratings |= {left: pair.left, right: pair.right}
    return np.array([ratings[name].mu for name in names]), np.array([ratings[name].sigma for name in names])


def expected_drops(mu: Array, sigma: Array, settings: Settings) -> Array:
    """Return `rank.expected_drop` of every two of n agents, shape (n, n), symmetric; the diagonal has no meaning.

    The expectation of W over the outcomes equals the expectation of V squared (V and W: see `rank.normal`). The reason: for
    every difference of skills the probabilities of the outcomes sum to 1, so their second derivatives sum to 0.
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


def published_drops(mu: Array, sigma: Array, settings: Settings) -> Array:
    """Return the expected fall of sigma_i**2 + sigma_j**2 as BEDD's server computes it; shape (n, n), symmetric.

    The server excludes draws. It gives a win the probability cdf((mu_i - mu_j) / sqrt(beta**2 + sigma_i**2 + sigma_j**2)), with
    one beta**2 although two performances are compared. It counts the fall from the sigmas before their drift by tau, so the
    fall is negative if the sigmas are small enough. The diagonal has no meaning.
    """
    before, variance = sigma**2, sigma**2 + settings.tau**2
    c_squared = variance[:, None] + variance + 2 * settings.beta**2
    c = np.sqrt(c_squared)
    difference, margin = mu[:, None] - mu, settings.draw_margin / c
    wins = cumulatives(difference / np.sqrt(settings.beta**2 + before[:, None] + before))
    expected_w = wins * win_corrections(difference / c, margin).w + (1 - wins) * win_corrections(-difference / c, margin).w
    drift = 2 * settings.tau**2
    return (variance[:, None] ** 2 + variance**2) / c_squared * expected_w - drift


def density(x: Array) -> Array:
    return np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi)
