"""The algorithms, one file each. This package imports PyTorch, so import it only where a run begins."""

from interplay.learn.algorithms.bc import BC, FilteredBC
from interplay.learn.algorithms.bcq import BCQ
from interplay.learn.algorithms.clone import Clone
from interplay.learn.algorithms.cql import CQL
from interplay.learn.algorithms.dqn import DQN
from interplay.learn.algorithms.iql import IQL
from interplay.learn.algorithms.iqn import IQN
from interplay.learn.algorithms.sac import SAC
from interplay.learn.harness.learner import Learner

LEARNERS: dict[str, type[Learner]] = {
    "bc": BC,
    "fbc": FilteredBC,
    "bcq": BCQ,
    "clone": Clone,
    "cql": CQL,
    "dagger": BC,
    "dqn": DQN,
    "iql": IQL,
    "iqn": IQN,
    "sac": SAC,
}
"""Algorithm -> class that learns from recorded decisions; the settings of each are in `interplay.learn.settings`."""
