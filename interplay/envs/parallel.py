"""Parallel environments, in which all agents act at the same time, as worlds of several seats: `pettingzoo:` and `cogrid:`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import gymnasium
import numpy as np

from interplay.envs.base import EnvError, Frame, PlayableEnv, picture_of, require_actions, reward_of
from interplay.errors import unknown_name
from interplay.tasks import Task
from interplay.wording import amount


class ParallelGame(PlayableEnv):
    """A parallel environment with PettingZoo's interface; the task's seats are its agents in the order of `possible_agents`.

    A seat whose agent joins later is idle until then: its action is ignored, its reward is 0.0, and its observation is zeros.
    As in PettingZoo, each agent terminates or is truncated by itself; the game ends when all agents have ended. Until then a
    seat that is done gets reward 0.0 and keeps its last observation, and its action is ignored. `info["seats_done"]` lists the
    seats that are done, `info["seats_truncated"]` the seats that were cut off (see `seat_end`). The game counts as terminated
    if any agent terminated, otherwise as truncated. Infos of the agents are named `<seat>.<name>`.

    Args:
        name: Name of the environment in the library that it comes from.
        packages: Installed packages that run and draw it; recordings keep their versions.
    Raises:
        EnvError: If its agents do not match the seats of the task.
    """

    def __init__(self, task: Task, env: Any, name: str, packages: tuple[str, ...]) -> None:
        self.task = task
        self.render_mode = "rgb_array"
        self.metadata = {"render_modes": ["rgb_array"], "render_fps": round(task.frame_rate_hz)}
        self._env = env
        self._packages = packages
        agents = list(env.possible_agents)
        if len(agents) != len(task.seats):
            seats, there = amount(len(task.seats), "seat"), amount(len(agents), "agent")
            raise EnvError(
                f"task {task.id} has {seats}, and {name!r} has {there}: {', '.join(map(str, agents))}\n"
                f"Name a seat for each agent, in this order:  seats = {[str(agent) for agent in agents]}"
            )
        self._agents = dict(zip(task.seats, agents, strict=True))
        self.action_space = gymnasium.spaces.Dict({seat: env.action_space(agent) for seat, agent in self._agents.items()})
        self._seen: dict[str, Any] = {}
        self._done: dict[str, bool] = {}  # seat -> whether it terminated
        self._picture: np.ndarray | None = None
        self._drawn: np.ndarray | None = None  # as the environment drew it

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
        super().reset(seed=seed)
        observations, infos = self._env.reset(seed=seed, options=options)
        self._seen = {
            seat: observations[agent] if agent in observations else _zeros(self._env.observation_space(agent))
            for seat, agent in self._agents.items()
        }
        self._done = {}
        self._drawn = None
        if self.draws:
            self._picture = self.render()
        return dict(self._seen), self._info(infos)

    def step(self, action: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, float], bool, bool, dict[str, Any]]:
        """Play one step of all seats; `action` is a mapping seat -> action.
        Raises EnvError if a seat that plays has no action, or the game is over."""
        playing, was_done = self._playing(), set(self._done)
        if not playing:
            raise EnvError(f"task {self.task.id}: the game is not running; call reset before the next step")
        require_actions(self.task, action, playing)
        # An environment that keeps agents that are done expects an action of them too.
        acting = {agent: action[seat] for seat, agent in self._agents.items() if agent in self._env.agents and seat in action}
        observations, rewards, terminations, truncations, infos = self._env.step(acting)
        for seat, agent in self._agents.items():
            if seat in was_done:
                continue
            if agent in observations:
                self._seen[seat] = observations[agent]
            if terminations.get(agent) or truncations.get(agent):
                self._done[seat] = bool(terminations.get(agent))
        if self.draws:
            self._picture = self.render()
        is_over = not self._playing()
        terminated = is_over and any(self._done.values())
        earned = {seat: 0.0 if seat in was_done else reward_of(rewards.get(agent, 0.0)) for seat, agent in self._agents.items()}
        return dict(self._seen), earned, terminated, is_over and not terminated, self._info(infos)

    def _playing(self) -> dict[str, Any]:
        """Seats that still play, with their agents. Environments should drop agents that are done, but some do not."""
        present = set(self._env.agents)
        return {seat: agent for seat, agent in self._agents.items() if agent in present and seat not in self._done}

    def _info(self, infos: Mapping[Any, Mapping[str, Any]]) -> dict[str, Any]:
        info = {f"{seat}.{name}": value for seat, agent in self._agents.items() for name, value in infos.get(agent, {}).items()}
        done = [seat for seat in self._agents if seat in self._done]
        cut_off = [seat for seat in done if not self._done[seat]]
        return info | ({"seats_done": done} if done else {}) | ({"seats_truncated": cut_off} if cut_off else {})

    def observation_of(self, seat: str) -> Any:
        return self._seen[seat]

    def state_of(self, seat: str) -> np.ndarray:
        """Return the seat's last observation, flattened as by `gymnasium.spaces.flatten` (EnvError for a picture)."""
        if self.observes_view:
            return super().state_of(seat)
        return np.asarray(gymnasium.spaces.flatten(self.observation_space[seat], self._seen[seat]), np.float32)

    def view(self) -> Frame:
        """Return the environment's picture, uint8, shape (H, W, 3): one for all seats, drawn once in each step."""
        if self._picture is None:
            raise EnvError(f"{self.task.env.id} has no picture before its first reset")
        return Frame(self._picture)

    def render(self) -> np.ndarray:  # type: ignore[override]
        """Return the picture that the environment draws now, uint8, shape (H, W, 3) (EnvError if it draws none)."""
        picture = self._env.render()
        self._drawn = picture_of(picture, self.task.env.id, self._drawn)
        return self._drawn

    def versions(self) -> dict[str, str]:
        found = super().versions()
        for package in self._packages:
            try:
                found[package] = version(package)
            except PackageNotFoundError:
                continue
        return found

    def close(self) -> None:
        self._env.close()


def _zeros(space: gymnasium.Space) -> Any:
    """Return the observation of a seat whose agent has not joined yet."""
    if isinstance(space, gymnasium.spaces.Dict):
        return {name: _zeros(part) for name, part in space.spaces.items()}
    if isinstance(space, gymnasium.spaces.Tuple):
        return tuple(map(_zeros, space.spaces))
    return "" if isinstance(space, gymnasium.spaces.Text) else np.zeros(space.shape or (), space.dtype)


def require_options(task: Task, kind: str, known: Collection[str]) -> None:
    for name in task.env.options:
        if name not in known:
            raise unknown_name(f"{kind} in task {task.id}", name, known)
