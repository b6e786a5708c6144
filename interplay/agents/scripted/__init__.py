"""Hand-written players, one module for each task: Atari games (from pixels only), the block world (`blocks`), and games of
several seats (`together`). `ScriptedAgent` chooses the player of its task."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.agents.base import AgentError
from interplay.agents.scripted.blocks import BLOCK_BRAINS, BlockPlayer, has_block_player
from interplay.agents.scripted.player import BRAINS, ScriptedPlayer
from interplay.agents.scripted.together import PARTNERS, Partner
from interplay.envs import PlayableEnv
from interplay.tasks import Task

__all__ = ["BLOCK_BRAINS", "BRAINS", "PARTNERS", "BlockPlayer", "Partner", "ScriptedAgent", "ScriptedPlayer", "has_player"]


def has_player(task: Task) -> bool:
    return has_block_player(task) or task.env.id in (BRAINS if len(task.seats) == 1 else PARTNERS)


class ScriptedAgent:
    """An agent that chooses its player by the task. Players of Atari games use pixels; the others read the world's state."""

    name = "scripted"
    observation = "pixels"

    def __init__(self) -> None:
        self._player: ScriptedPlayer | BlockPlayer | Partner | None = None

    def reset(self, task: Task, *, rng: np.random.Generator) -> None:
        """Begin an episode; `AgentError` if there is no player for this task."""
        if task.env.backend == "voxel":
            self._player = BlockPlayer()
        else:
            self._player = Partner() if len(task.seats) > 1 else ScriptedPlayer()
        self._player.reset(task, rng=rng)

    def attach(self, env: PlayableEnv, seat: str) -> None:
        if isinstance(self._player, BlockPlayer | Partner):
            self._player.attach(env, seat)

    def act(self, observation: np.ndarray) -> Any:
        if self._player is None:
            raise AgentError("call reset(task, rng=...) before act()")
        return self._player.act(observation)
