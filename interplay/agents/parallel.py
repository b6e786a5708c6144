"""PettingZoo's parallel interface to tasks of several seats, for libraries that train several agents."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pettingzoo

from interplay.envs import PlayableEnv
from interplay.record import RecordedEpisode


class ParallelTask(pettingzoo.ParallelEnv):
    """A world of several seats as PettingZoo's parallel environment; its agents are the seats.

    Rewards and the step limit are the same as in recorded play: `Task.reward`, `Task.max_steps`. A seat that finishes before
    the others leaves `agents`, terminated or truncated; the others end with the game. Every agent gets the world's info.
    """

    def __init__(self, env: PlayableEnv) -> None:
        self.metadata = {"name": env.task.id, **env.metadata}
        self.render_mode = "rgb_array"
        self.possible_agents = list(env.task.seats)
        self.agents: list[str] = []
        self._env = env
        self._rng = np.random.default_rng(0)
        self._episode = RecordedEpisode(env)

    def observation_space(self, agent: str) -> gymnasium.Space:
        return self._env.observation_space[agent]

    def action_space(self, agent: str) -> gymnasium.Space:
        return self._env.action_space[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start a game; without a seed, draw one from a generator that began with the last given seed."""
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self._episode = RecordedEpisode(self._env)
        observations, info = self._episode.start(int(self._rng.integers(2**31)) if seed is None else seed)
        self.agents = list(self.possible_agents)
        return dict(observations), {seat: dict(info) for seat in self.agents}

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        acting = {
            seat: actions[seat] if seat in self.agents else self._env.task.keys.of(seat).noop for seat in self.possible_agents
        }
        step = self._episode.step(acting)
        playing, is_over = self.agents, self._episode.outcome is not None
        ends = {seat: step.end_of(seat) for seat in playing}
        self.agents = [] if is_over else [seat for seat in playing if not any(ends[seat])]
        return (
            {seat: step.observations[seat] for seat in playing},  # type: ignore[index]
            {seat: step.rewards[seat] for seat in playing},
            {seat: end.terminated for seat, end in ends.items()},
            {seat: end.truncated for seat, end in ends.items()},
            {seat: dict(step.info) for seat in playing},
        )

    def render(self) -> np.ndarray:
        """Return the world's picture: uint8, shape (H, W, 3)."""
        return self._env.view().rgb()

    def close(self) -> None:
        self._env.close()
