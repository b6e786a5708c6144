"""Games of several seats: any parallel environment of PettingZoo, `env.id = "pettingzoo:butterfly/cooperative_pong-v6"`.

Parallel means that all agents act at once; environments that are played in turns have another interface and are refused.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
from pettingzoo.env_registry.exceptions import PettingZooRegistryError

from interplay.envs.base import EnvError, Frame, PlayableEnv, play_without_screen
from interplay.errors import unknown_name
from interplay.tasks import Task

play_without_screen()

_OPTIONS = ("kwargs", "deterministic")
_PACKAGES = ("pettingzoo", "pygame-ce", "pygame", "pymunk")
"""Distributions that decide what these environments do and draw; those that are there are named in recordings."""


class PettingZooEnv(PlayableEnv):
    """A parallel environment; the task's seats are its agents, in the order of its `possible_agents`.

    `step` takes a mapping seat -> action and gives mappings seat -> observation and seat -> reward. As PettingZoo defines it,
    each agent terminates or is truncated by itself; the game ends when all have. Until then a seat that is done gets reward 0.0
    and keeps its last observation, its action is ignored, and `info["seats_done"]` lists it. The game counts as terminated if
    any agent terminated, otherwise as truncated. What the infos of the agents hold has the name `<seat>.<name>`.

    Task options: `kwargs` (a table passed to the environment) and `deterministic` (default true: seed and actions decide
    everything, which `interplay episodes verify` then proves; say false where they do not).

    Raises:
        NotFoundError: If the id is not registered, or an option does not exist; the nearest is offered.
        EnvError: If it cannot be made, draws no picture, or has other agents than the task has seats.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        for name in task.env.options:
            if name not in _OPTIONS:
                raise unknown_name(f"PettingZoo option in task {task.id}", name, _OPTIONS)
        self.deterministic = bool(task.env.options.get("deterministic", True))
        self.frame_policy = "replay" if self.deterministic else "video"
        self._spec = _spec(task)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of speeds and sizes, to those who train; nobody here reads them
                self._env = pettingzoo.make(
                    "parallel", self._spec, render_mode="rgb_array", **task.env.options.get("kwargs", {})
                )
        except (PettingZooRegistryError, ImportError, TypeError, ValueError, AssertionError) as error:
            raise EnvError(f"task {task.id}: PettingZoo cannot make {self._spec.id!r}: {error}") from error
        agents = list(self._env.possible_agents)
        if len(agents) < 2 or len(agents) != len(task.seats):
            seats = _counted(len(task.seats), "seat")
            raise EnvError(
                f"task {task.id} has {seats}, and {self._spec.id!r} has {_counted(len(agents), 'agent')}: {', '.join(agents)}\n"
                f"Name a seat for each agent, two at least, in this order:  seats = {agents}"
            )
        self._agents = dict(zip(task.seats, agents, strict=True))
        self.action_space = gymnasium.spaces.Dict({seat: self._env.action_space(agent) for seat, agent in self._agents.items()})
        observations = {seat: self._env.observation_space(agent) for seat, agent in self._agents.items()}
        self.observation_space = gymnasium.spaces.Dict(observations)
        self.observes_view = all(_is_picture(space) for space in observations.values())
        self.render_mode = "rgb_array"
        self.metadata = {"render_modes": ["rgb_array"], "render_fps": round(task.frame_rate_hz)}
        self._seen: dict[str, Any] = {}
        self._done: dict[str, bool] = {}
        self._picture: np.ndarray | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start a game."""
        super().reset(seed=seed)
        observations, infos = self._env.reset(seed=seed, options=options)
        self._seen = {seat: observations[agent] for seat, agent in self._agents.items()}
        self._done = {}
        self._picture = self.render()
        return dict(self._seen), self._info(infos)

    def step(self, action: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, float], bool, bool, dict[str, Any]]:  # type: ignore[override]
        """One step of all seats: a mapping seat -> action.

        Raises:
            EnvError: If a seat that plays has no action, or the game is over.
        """
        playing = self._playing()
        if not playing:
            raise EnvError(f"task {self.task.id}: the game is not running; call reset before the next step")
        missing = [seat for seat in playing if not isinstance(action, Mapping) or seat not in action]
        if missing:
            raise EnvError(f"task {self.task.id}: an action is a mapping from every seat, got none for {', '.join(missing)}")
        # An environment that keeps agents that are done expects an action of them too.
        acting = {agent: action[seat] for seat, agent in self._agents.items() if agent in self._env.agents and seat in action}
        observations, rewards, terminations, truncations, infos = self._env.step(acting)
        for seat, agent in playing.items():
            self._seen[seat] = observations.get(agent, self._seen[seat])
            if terminations.get(agent) or truncations.get(agent):
                self._done[seat] = bool(terminations.get(agent))
        self._picture = self.render()
        is_over = not self._playing()
        terminated = is_over and any(self._done.values())
        earned = {seat: float(rewards.get(agent, 0.0)) if seat in playing else 0.0 for seat, agent in self._agents.items()}
        return dict(self._seen), earned, terminated, is_over and not terminated, self._info(infos)

    def _playing(self) -> dict[str, str]:
        """Seats that still play, with their agents. An environment should drop agents that are done, and not every one does."""
        present = set(self._env.agents)
        return {seat: agent for seat, agent in self._agents.items() if agent in present and seat not in self._done}

    def _info(self, infos: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """The infos of the agents in one table, and who is done."""
        info = {f"{seat}.{name}": value for seat, agent in self._agents.items() for name, value in infos.get(agent, {}).items()}
        return info | ({"seats_done": [seat for seat in self._agents if seat in self._done]} if self._done else {})

    def view(self) -> Frame:
        """What the environment drew, uint8, shape (H, W, 3): one picture for all seats, drawn once a step."""
        if self._picture is None:
            raise EnvError(f"{self.task.env.id} has no picture before its first reset")
        return Frame(self._picture)

    def render(self) -> np.ndarray:  # type: ignore[override]
        """What the environment draws, uint8, shape (H, W, 3)."""
        picture = self._env.render()
        if not isinstance(picture, np.ndarray) or picture.ndim != 3:
            raise EnvError(f"{self.task.env.id} draws no picture in render_mode 'rgb_array', so people cannot play it")
        return np.ascontiguousarray(picture, np.uint8)

    def versions(self) -> dict[str, str]:
        """Also of PettingZoo and what it draws with, and the environment's own."""
        found = super().versions() | {self._spec.id: "" if self._spec.version is None else str(self._spec.version)}
        for package in _PACKAGES:
            try:
                found[package] = version(package)
            except PackageNotFoundError:
                continue
        return found

    def close(self) -> None:
        """Close the environment within."""
        self._env.close()


def _spec(task: Task) -> Any:
    """What PettingZoo registers under the task's id; `module:id` imports the module first, as in Gymnasium.

    Raises:
        NotFoundError: If nothing is registered under this id; the nearest is offered.
        EnvError: If the module cannot be imported, or the environment is played in turns.
    """
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
            f"task {task.id}: {turns.id!r} is played in turns, which no backend can do; write the id of a parallel one"
        ) from None


def _is_picture(space: gymnasium.Space) -> bool:
    return isinstance(space, gymnasium.spaces.Box) and space.dtype == np.uint8 and len(space.shape) == 3


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
