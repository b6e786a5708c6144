"""What a method makes of a log: `Ranking`, and what the methods can be told: `Options`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from interplay.rank.order import ranks
from interplay.rank.trueskill import DEFAULTS, Settings

Array = NDArray[np.float64]
Method = Literal["trueskill", "bradley-terry", "davidson"]
Scale = Literal["skill", "log-strength", "z-score"]


@dataclass(frozen=True)
class Options:
    """What the methods can be told.

    Attributes:
        settings: The constants of TrueSkill.
        tie_weight: Wins a tie is worth to Bradley-Terry.
    """

    settings: Settings = DEFAULTS
    tie_weight: float = 0.5


@dataclass(frozen=True, eq=False)
class Ranking:
    """What a method makes of a log about n agents.

    Attributes:
        scale: What `mu` is: skill points, the log strength of Bradley-Terry and Davidson, or a mean z-score.
        agents: Names, sorted.
        mu: float64, shape (n,).
        sigma: float64, shape (n,): standard deviation of the belief, or standard error.
        score: float64, shape (n,): what agents are sorted by: mu - 3 sigma of skills, mu of everything else.
        covariance: float64, shape (n, n), of mu.
        notes: What a reader must know about this fit, such as that phantom draws were needed.
    """

    scale: Scale
    agents: tuple[str, ...]
    mu: Array
    sigma: Array
    score: Array
    covariance: Array
    notes: tuple[str, ...] = ()

    @classmethod
    def of_skills(cls, agents: tuple[str, ...], mu: Array, sigma: Array) -> Ranking:
        """Skills, sorted by what is safe to claim, and taken for independent of each other."""
        return cls("skill", agents, mu, sigma, mu - 3 * sigma, np.diag(sigma**2))

    @property
    def rank(self) -> NDArray[np.int64]:
        """Places from 1 on, shape (n,), all agents taken for connected; equal scores share the best."""
        return ranks(self.score)


class Scores(NamedTuple):
    """Mu and score of B logs about n agents: float64, shape (B, n) each."""

    mu: Array
    score: Array
