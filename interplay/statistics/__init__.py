"""Statistics: numbers computed live from an episode, step by step, the same in play, in rollouts and on recordings.

A collector computes one statistic (`Collector`); a task names them (`StatisticSpec`); `Collection` feeds those of a game,
separately for each owner of a seat. `docs/statistics.md` lists them and shows how to write one.

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
