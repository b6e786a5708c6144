"""The algorithms, a file each, to be read from top to bottom. PyTorch is imported here; import it where a run begins."""

from typing import Any

from interplay.learn.algorithms.bc import BC
from interplay.learn.algorithms.dqn import DQN

LEARNERS: dict[str, type[Any]] = {
    "bc": BC,
    "dqn": DQN,
}
"""Algorithm -> its learner; the settings are `interplay.learn.settings.CONFIGS`."""

__all__ = ["BC", "DQN", "LEARNERS"]
