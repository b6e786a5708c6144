"""MineRL 1.0's environments as tasks: `env.id = "minerl:MineRLBasaltFindCave-v0"`.

This module follows the source of MineRL one commit after 1.0.2 (github.com/minerllabs/minerl, dev branch at 8268ee9:
`env/_multiagent.py`, `env/_singleagent.py`, `herobraine/env_specs/basalt_specs.py`, `obtain_specs.py`) and was tested with a
stand-in that behaves as this source says, never with Minecraft itself. MineRL needs NumPy below 1.24 and Interplay NumPy 2.0 or
newer, so pip refuses to install both into one Python, unless it is told to ignore one requirement.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from interplay.envs.base import EnvError
from interplay.envs.minecraft.game import HEIGHT, WIDTH, Answer, MinecraftEnv, need
from interplay.envs.minerl_actions import CAMERA, KEYS, Pressed
from interplay.errors import unknown_name
from interplay.tasks import Task

ENVIRONMENTS = {
    "MineRLBasaltFindCave-v0": 3600,
    "MineRLBasaltMakeWaterfall-v0": 6000,
    "MineRLBasaltCreateVillageAnimalPen-v0": 6000,
    "MineRLBasaltBuildVillageHouse-v0": 14_400,
    "MineRLObtainDiamondShovel-v0": 18_000,
}
"""Environments for which this module was written -> number of steps after which MineRL itself ends an episode."""

INSTALL = """Install JDK 8, then:  pip install git+https://github.com/minerllabs/minerl
It downloads and builds Minecraft 1.16.5 (https://minerl.readthedocs.io/en/latest/tutorials/index.html)."""


class MinerlEnv(MinecraftEnv):
    """An environment of the MineRL 1.0 that the user installed.

    Picture and actions are exactly those of MineRL. MineRL says only that an episode is done, not why. Here, an episode that is
    done counts as truncated if MineRL's time limit is reached without ESC, and else as terminated (ESC, death, the diamond
    shovel). In the BASALT environments, ESC ends the episode even while a screen is open, unlike in the embedded block world.
    `info` has MineRL's entries and, if the inventory is observed, `inventory`: item -> number.

    The task has no options: the id decides land and first items.
    """

    _packages = ("minerl", "gym")

    def __init__(self, task: Task) -> None:
        if task.env.options:
            raise EnvError(
                f"task {task.id}: {task.env.id!r} takes no options, got {', '.join(map(repr, task.env.options))}; "
                "MineRL fixes land, first items and rewards by the id"
            )
        self._limit = ENVIRONMENTS.get(task.env.name)
        super().__init__(task)

    def _open(self) -> Any:
        _, gym = need(self.task, "minerl", "gym", install=INSTALL)  # importing minerl registers its ids with gym
        name = self.task.env.name
        try:
            game = gym.make(name)
        except Exception as error:
            if name not in ENVIRONMENTS:
                raise unknown_name("MineRL environment", name, ENVIRONMENTS, hint=f"gym says: {error}") from error
            raise EnvError(f"task {self.task.id}: gym cannot make {name!r}: {type(error).__name__}: {error}") from error
        missing = sorted({*KEYS, CAMERA} - set(game.action_space.spaces))
        shape = tuple(game.observation_space.spaces["pov"].shape) if "pov" in game.observation_space.spaces else None
        if missing or shape != (HEIGHT, WIDTH, 3):
            found = f"its actions lack {', '.join(missing)}" if missing else f"its picture has shape {shape}"
            raise EnvError(
                f"task {self.task.id}: {name!r} is not an environment of MineRL 1.0: {found}\n"
                "MineRL 0.3 and 0.4 have other actions and pictures. " + INSTALL
            )
        return game

    def _begin(self, seed: int) -> Answer:
        self._game.seed(seed)  # before every reset: MineRL forgets it after each
        for layer in _layers(self._game):
            if "num_steps" in vars(layer):
                # The wrapper of ObtainDiamondShovel counts steps and does not start over in reset, so that later episodes
                # would be cut short; ours, and the limit in ENVIRONMENTS, count each episode by itself.
                layer.num_steps = 0
        observation = self._game.reset()
        return Answer(observation["pov"], _info(observation, {}))

    def _advance(self, pressed: Pressed) -> Answer:
        observation, reward, done, info = self._game.step(pressed.to_minerl())
        out_of_time = bool(done) and self._limit is not None and self._num_steps >= self._limit
        terminated = bool(done) and (not out_of_time or bool(pressed.keys["ESC"]))
        return Answer(observation["pov"], _info(observation, info), reward, terminated, out_of_time)


def _layers(game: Any) -> Iterator[Any]:
    """Yield an environment and the environments that it wraps, outermost first. It reads `vars`, because gym's wrappers forward
    attributes."""
    while game is not None:
        yield game
        game = vars(game).get("env")


def _info(observation: dict[str, Any], info: dict[str, Any]) -> dict[str, Any]:
    if "inventory" not in observation:
        return dict(info)
    counts = {item: int(np.asarray(count).item()) for item, count in observation["inventory"].items()}
    return {**info, "inventory": {item: count for item, count in counts.items() if count}}
