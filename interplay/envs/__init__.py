"""Environments: `make(task)` returns a Gymnasium environment that people and agents can both play, seat by seat.

People see native frames (`env.view()`). Agents get observations that `interplay.envs.observation` makes from these frames, for
example the 84x84 grey stacks of the DQN papers. Episodes record the frames, and observations are computed from them. Importing
this package registers the tasks of the block world with Gymnasium: `gymnasium.make("interplay/FindCave-v1")`.
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
