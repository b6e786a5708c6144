"""Games of several seats: any parallel environment of PettingZoo, `env.id = "pettingzoo:butterfly/cooperative_pong-v6"`.

Environments in which agents take turns have another interface and are refused.
"""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
from pettingzoo.env_registry.exceptions import PettingZooRegistryError

from interplay.envs.base import EnvError, NotInstalledError, play_without_screen
from interplay.envs.parallel import ParallelGame, require_options
from interplay.errors import unknown_name
from interplay.tasks import Task

play_without_screen()

_OPTIONS = ("kwargs", "deterministic")
_PACKAGES = ("pettingzoo", "pygame-ce", "pygame", "pymunk")


class PettingZooEnv(ParallelGame):
    """An environment of PettingZoo, played as `ParallelGame` describes.

    Task options: `kwargs` (a table passed to the environment) and `deterministic` (default true: seed and actions decide
    everything, which `interplay episodes verify` checks; set it to false for other environments).

    Raises:
        NotFoundError: If the id is not registered, or an option does not exist; the text names the most similar name.
        EnvError: If PettingZoo cannot make the environment, it is played in turns, or its agents do not match the task's seats.
    """

    def __init__(self, task: Task) -> None:
        require_options(task, "PettingZoo option", _OPTIONS)
        self.deterministic = bool(task.env.options.get("deterministic", True))
        self.frame_policy = "replay" if self.deterministic else "video"
        self._spec = _spec(task)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of speeds and sizes, to those who train; nobody here reads them
                env = pettingzoo.make("parallel", self._spec, render_mode="rgb_array", **task.env.options.get("kwargs", {}))
        except (PettingZooRegistryError, ImportError, TypeError, ValueError, AssertionError) as error:
            kind = NotInstalledError if isinstance(error, ModuleNotFoundError) else EnvError
            raise kind(f"task {task.id}: PettingZoo cannot make {self._spec.id!r}: {error}") from error
        super().__init__(task, env, self._spec.id, _PACKAGES)
        observations = {seat: env.observation_space(agent) for seat, agent in self._agents.items()}
        self.observation_space = gymnasium.spaces.Dict(observations)
        self.observes_view = all(_is_picture(space) for space in observations.values())

    def versions(self) -> dict[str, str]:
        return super().versions() | {self._spec.id: "" if self._spec.version is None else str(self._spec.version)}


def _spec(task: Task) -> Any:
    """Return PettingZoo's entry for the task's id; an id `module:id` imports the module first, as in Gymnasium."""
    module, colon, name = task.env.name.rpartition(":")
    if colon:
        try:
            importlib.import_module(module)
        except (ImportError, ValueError) as error:
            raise EnvError(f"task {task.id}: module {module!r} of {task.env.id!r} cannot be imported: {error}") from error
    try:
        return pettingzoo.spec("parallel", name)
    except PettingZooRegistryError:
        try:
            turns = pettingzoo.spec("aec", name)
        except PettingZooRegistryError:
            raise unknown_name("PettingZoo environment", name, pettingzoo.parallel_registry) from None
        raise EnvError(
            f"task {task.id}: {turns.id!r} is played in turns, which no backend supports; use the id of a parallel environment"
        ) from None


def _is_picture(space: gymnasium.Space) -> bool:
    return isinstance(space, gymnasium.spaces.Box) and space.dtype == np.uint8 and len(space.shape) == 3
