"""Train agents on recorded episodes (behaviour cloning, offline reinforcement learning) or by playing.

`train(archive, DQNConfig(task="atari/space_invaders"), "my-dqn")` reads the catalogue, learns, and leaves a policy that
all of Interplay knows as the agent `my-dqn`. `reading` and `transitions` turn episodes into transitions. Each algorithm is a
file in `algorithms` with a class of settings in `settings`. `harness` has the parts that all runs share.
`practise(archive, PPOConfig(...), "my-ppo")` plays and learns (`online`). PyTorch is imported only when a run starts.
"""

from interplay.learn.config import ConfigError, RunError, TrainingConfig
from interplay.learn.online import practise
from interplay.learn.reading import load
from interplay.learn.settings import (
    CONFIGS,
    BCConfig,
    BCQConfig,
    CloneConfig,
    CQLConfig,
    DaggerConfig,
    DQNConfig,
    FilteredBCConfig,
    IQLConfig,
    IQNConfig,
    PPOConfig,
    SACConfig,
)
from interplay.learn.train import MissingTorchError, train
from interplay.learn.transitions import TransitionError, Transitions

__all__ = [
    "CONFIGS",
    "BCConfig",
    "BCQConfig",
    "CQLConfig",
    "CloneConfig",
    "ConfigError",
    "DQNConfig",
    "DaggerConfig",
    "FilteredBCConfig",
    "IQLConfig",
    "IQNConfig",
    "MissingTorchError",
    "PPOConfig",
    "RunError",
    "SACConfig",
    "TrainingConfig",
    "TransitionError",
    "Transitions",
    "load",
    "practise",
    "train",
]
