"""Environments: `make(task)` gives a Gymnasium environment that people and agents can both play, seat by seat.

The views of a person (`env.view()`, native frames) and of an agent (`interplay.envs.observation`, for example the 84x84 grey
stacks of the DQN papers) are separate: episodes record the first and derive the second. Importing this room makes the tasks of
the block world known to Gymnasium: `gymnasium.make("interplay/FindCave-v1")`.
"""

from interplay.envs import gymnasium_ids
from interplay.envs.base import EnvError, Frame, FramePolicy, NoNumbersError, NotInstalledError, PlayableEnv, SingleAgentEnv
from interplay.envs.make import make, prepare
from interplay.envs.observation import Observer, Pipeline, pipeline, pipeline_names

gymnasium_ids.register()

__all__ = [
    "EnvError",
    "Frame",
    "FramePolicy",
    "NoNumbersError",
    "NotInstalledError",
    "Observer",
    "Pipeline",
    "PlayableEnv",
    "SingleAgentEnv",
    "make",
    "pipeline",
    "pipeline_names",
    "prepare",
]
