"""Training on recorded episodes. Behaviour cloning lives in `interplay.learn.bc`, one file from top to bottom.

`train(archive, BCConfig(task="atari/space_invaders"), "my-clone")` reads the catalogue, learns, and leaves a policy that
every other room knows as the agent `my-clone`. PyTorch is imported only when a run starts.
"""

from interplay.learn.config import BCConfig, ConfigError
from interplay.learn.demonstrations import DemonstrationError, Demonstrations
from interplay.learn.train import MissingTorchError, train

__all__ = ["BCConfig", "ConfigError", "DemonstrationError", "Demonstrations", "MissingTorchError", "train"]
