"""Statistics: numbers that are computed from an episode step by step, in the same way in play, in rollouts and on recordings.

A `Collector` computes one statistic. A task names its statistics with `StatisticSpec`. A `Collection` feeds the collectors of a
game, separately for each owner of a seat. `docs/statistics.md` lists all statistics and shows how to write one.

>>> from interplay.statistics import StatisticSpec
>>> StatisticSpec("aliens_hit").build().statistic.title
'Invaders shot'
"""

from interplay.statistics.collection import Collection, Measure, Sitting, total, try_out
from interplay.statistics.registry import BUILT_IN, StatisticSpec, defaults, together
from interplay.statistics.statistic import Collector, SeenStep, Setting, Statistic, StatisticError

__all__ = [
    "BUILT_IN",
    "Collection",
    "Collector",
    "Measure",
    "SeenStep",
    "Setting",
    "Sitting",
    "Statistic",
    "StatisticError",
    "StatisticSpec",
    "defaults",
    "together",
    "total",
    "try_out",
]
