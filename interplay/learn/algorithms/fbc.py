"""Filtered behaviour cloning: clone only the episodes of the highest return ("%BC" in Chen et al. 2021, "Decision transformer",
section 5). All else is `bc`.

Differences: the share is one of the training episodes, not of their steps, so that none is cut in two.
"""

from __future__ import annotations

import math

import numpy as np

from interplay.learn.algorithms.bc import BC
from interplay.learn.settings import FilteredBCConfig
from interplay.learn.transitions import Transitions


class FilteredBC(BC):
    """Behaviour cloning of the best episodes."""

    needs_rewards = True

    @staticmethod
    def choose(data: Transitions, training: np.ndarray, config: FilteredBCConfig) -> np.ndarray:
        """Return the decisions of the best episodes, at least one; of equal ones the first."""
        episodes = np.unique(data.episodes[training])
        returns = data.returns()[episodes]
        best = episodes[np.argsort(-returns, kind="stable")[: max(1, math.ceil(config.best * len(episodes)))]]
        return training[np.isin(data.episodes[training], best)]
