"""Hand-written players for the tasks of the block world, one module for each task; they act only by pressing keys.
`BlockPlayer` plays any of the tasks. It reads the world's state; learners may not read this state."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Generator, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from interplay.agents.base import AgentError
from interplay.envs import PlayableEnv
from interplay.tasks import Task

if TYPE_CHECKING:
    from blockworld import Action, World

Play: TypeAlias = "Generator[Action, None, Any]"


def _played_by(module: str, function: str = "play") -> Callable[..., Play]:
    """Return a player from a module of this folder, which imports the block world and is therefore imported only in play."""

    def play(*arguments: Any) -> Play:
        return getattr(importlib.import_module(f"interplay.agents.scripted.blocks.{module}"), function)(*arguments)

    return play


TEAM_BRAINS: dict[str, Callable[[World, int, np.random.Generator], Play]] = {
    name: _played_by("together", name) for name in ("build_house", "build_shelter", "keep_pen")
}
"""Name of a task with several seats -> function that plays one seat, given the world, the seat's number and a generator."""

BLOCK_BRAINS: dict[str, Callable[[World, np.random.Generator], Play]] = {
    "find_cave": _played_by("find_cave"),
    "make_waterfall": _played_by("make_waterfall"),
    "create_village_animal_pen": _played_by("create_village_animal_pen"),
    "build_village_house": _played_by("build_village_house"),
    "obtain_diamond_shovel": _played_by("obtain_diamond_shovel"),
    "get_log": _played_by("first_steps", "get_log"),
    "walk_to_village": _played_by("first_steps", "walk_to_village"),
}
"""Name of a task -> function that plays it: it yields one action for each tick, up to the ESC that ends the episode."""


def polite(world: World, play: Play) -> Play:
    """Play as `play` does, but close the screens of villagers that were opened by accident."""
    from blockworld import Action

    for action in play:
        while world.screen is not None and world.screen.kind == "villager":
            yield Action()
            yield Action(inventory=True)
        yield action


class BlockPlayer:
    """A player of the block world's tasks; call `attach` with the environment before it acts.

    Its actions are MineRL's, with every key, and turn the camera no faster than a hand does.
    """

    name = "scripted"
    observation = "pixels"

    def __init__(self) -> None:
        self._task: Task | None = None
        self._rng = np.random.default_rng(0)
        self._env: PlayableEnv | None = None
        self._seat = 0
        self._play: Play | None = None

    def reset(self, task: Task, *, rng: np.random.Generator) -> None:
        """Begin an episode; `AgentError` if there is no player for this task."""
        if not has_block_player(task):
            known = ", ".join(_brains_for(task))
            raise AgentError(
                f"there is no scripted player for {task.id}, only for the tasks {known} of the block world\n"
                "Write your own agent and name it module:factory; docs/agents.md has one to copy."
            )
        self._task, self._rng, self._play = task, rng, None

    def attach(self, env: PlayableEnv, seat: str) -> None:
        self._env, self._seat, self._play = env, env.task.seats.index(seat), None

    def act(self, observation: np.ndarray) -> dict[str, Any]:
        from blockworld import Action

        if self._task is None:
            raise AgentError("call reset(task, rng=...) before act()")
        if self._env is None:
            raise AgentError("the scripted player of the block world reads its state: call attach(env, seat) before act()")
        world: World = self._env.world  # type: ignore[attr-defined]
        with world.acting(self._seat):
            if self._play is None:
                name = self._task.name
                alone = len(self._task.seats) == 1
                play = BLOCK_BRAINS[name](world, self._rng) if alone else TEAM_BRAINS[name](world, self._seat, self._rng)
                self._play = polite(world, play)
            return as_keys(next(self._play, Action()))


def _brains_for(task: Task) -> Iterable[str]:
    return BLOCK_BRAINS if len(task.seats) == 1 else TEAM_BRAINS


def has_block_player(task: Task) -> bool:
    return task.env.backend == "voxel" and task.name in _brains_for(task)


def as_keys(action: Action) -> dict[str, Any]:
    from interplay.envs.voxel.actions import CAMERA, KEYS

    keys: dict[str, Any] = {name: int(bool(field) and bool(getattr(action, field, False))) for name, field in KEYS.items()}
    if 1 <= action.hotbar <= 9:
        keys[f"hotbar.{action.hotbar}"] = 1
    keys[CAMERA] = np.array([action.camera_pitch, action.camera_yaw], np.float32)
    return keys
