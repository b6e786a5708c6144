"""Any registered Gymnasium environment as a task: `env.id = "gym:CartPole-v1"`."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import gymnasium
import numpy as np

from interplay.envs.base import (
    BLANK,
    EnvError,
    Frame,
    NotInstalledError,
    PlayableEnv,
    picture_of,
    play_without_screen,
    require_actions,
    reward_of,
)
from interplay.errors import unknown_name
from interplay.tasks import Task


class GymEnv(PlayableEnv):
    """A Gymnasium environment as a world; people see its `rgb_array` rendering.

    Args:
        env: A ready environment to record. Without a render mode it does not draw; if it also is not deterministic, people see
            a grey picture.

    Task options: `kwargs` (a table passed to `gymnasium.make`) and `deterministic` (default true: seed and actions decide
    everything, which `interplay episodes verify` checks; set it to false for other environments).

    Raises:
        NotFoundError: If the id is not registered; the text names the most similar id.
        EnvError: If Gymnasium cannot make the environment.
    """

    def __init__(self, task: Task, env: gymnasium.Env | None = None) -> None:
        self.task = task
        self.deterministic = bool(task.env.options.get("deterministic", True))
        self.frame_policy = "replay" if self.deterministic else "video"
        self._env = _made(task) if env is None else env
        self._seat = task.seats[0]
        self.observation_space = gymnasium.spaces.Dict({self._seat: self._env.observation_space})
        self.action_space = gymnasium.spaces.Dict({self._seat: self._env.action_space})
        self.render_mode = "rgb_array"
        self.metadata = self._env.metadata
        self._picture: np.ndarray | None = None
        self._observation: Any = None
        self._renders = env is None or env.render_mode == "rgb_array"
        self.draws = self._renders or not self.deterministic
        if not self._renders:
            self._picture = BLANK
        if not self.draws:
            drawn = GymEnv(task)
            drawn.reset(seed=0)
            self._picture = drawn.view().pixels
            drawn.close()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
        super().reset(seed=seed)
        if seed is not None:  # environments that draw starts from their action space would differ otherwise
            self._env.action_space.seed(seed)
        self._observation, info = self._env.reset(seed=seed, options=options)
        if self.draws and self._renders:
            self._picture = None
            self._picture = self.render()
        return {self._seat: self._observation}, info

    def step(self, action: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, float], bool, bool, dict[str, Any]]:
        """Play one step and draw the picture, which in some worlds (Taxi) depends on the previous pictures."""
        seat = self._seat
        require_actions(self.task, action, (seat,))
        self._observation, reward, terminated, truncated, info = self._env.step(action[seat])
        if self.draws and self._renders:
            self._picture = self.render()
        return {seat: self._observation}, {seat: reward_of(reward)}, bool(terminated), bool(truncated), info

    def view(self) -> Frame:
        """Return the environment's picture, uint8, shape (H, W, 3), drawn at most once a step (EnvError before a reset)."""
        if self._picture is None:
            raise EnvError(f"{self.task.env.id} has no picture before its first reset")
        return Frame(self._picture)

    def state_of(self, seat: str) -> np.ndarray:
        return np.asarray(gymnasium.spaces.flatten(self.observation_space[seat], self._observation), np.float32)

    def render(self) -> np.ndarray:  # type: ignore[override]
        """Return the picture that the environment draws now, uint8, shape (H, W, 3) (EnvError if it draws none)."""
        try:
            picture = self._env.render()
        except gymnasium.error.DependencyNotInstalled as error:
            raise EnvError(f"{self.task.env.id} cannot draw its picture: {error}") from error
        return picture_of(picture, self.task.env.id, self._picture)

    def versions(self) -> dict[str, str]:
        spec = self._env.spec
        return super().versions() | {self.task.env.name: str(spec.version if spec and spec.version is not None else "")}

    def close(self) -> None:
        self._env.close()


def _made(task: Task) -> gymnasium.Env:
    play_without_screen()
    kwargs = dict(task.env.options.get("kwargs", {}))
    env_id = task.env.name
    if env_id not in gymnasium.registry:
        with suppress(ImportError):
            import ale_py  # registers the Atari ids  # noqa: F401
    if ":" not in env_id and env_id not in gymnasium.registry:
        raise unknown_name("Gymnasium environment", env_id, gymnasium.registry.keys())
    try:
        return gymnasium.make(env_id, render_mode="rgb_array", max_episode_steps=task.max_steps, **kwargs)
    except (gymnasium.error.Error, TypeError, ImportError, ValueError) as error:
        is_missing = isinstance(error, (gymnasium.error.DependencyNotInstalled, ModuleNotFoundError))
        kind = NotInstalledError if is_missing else EnvError
        raise kind(f"task {task.id}: Gymnasium cannot make {env_id!r}: {error}") from error
