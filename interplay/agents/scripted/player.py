"""`ScriptedPlayer`: hand-written players for the built-in Atari games, which use only the pixels that a person sees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from interplay.agents.base import AgentError
from interplay.agents.scripted.beam_rider import BeamRider
from interplay.agents.scripted.breakout import Breakout
from interplay.agents.scripted.montezuma_revenge import MontezumaRevenge
from interplay.agents.scripted.qbert import Qbert
from interplay.agents.scripted.riverraid import RiverRaid
from interplay.agents.scripted.space_invaders import SpaceInvaders
from interplay.tasks import Task

DECISION_FRAMES = 4
"""Number of frames for which a decision is held: as many as for a DQN, so that a network can imitate the player."""
_SLIP = 0.03
"""Probability, at each decision, that the hand misses the next one to five decisions."""


class Brain(Protocol):
    """The rules to play one game; `ScriptedPlayer` does the rest."""

    def reset(self, rng: np.random.Generator) -> None: ...

    def see(self, pixels: np.ndarray) -> None:
        """Look at a frame; called for every frame, before `decide`."""
        ...

    def decide(self, pixels: np.ndarray) -> set[str]:
        """Return the buttons to hold until the next decision."""
        ...


BRAINS: dict[str, Callable[[], Brain]] = {
    "ale:beam_rider": BeamRider,
    "ale:breakout": Breakout,
    "ale:montezuma_revenge": MontezumaRevenge,
    "ale:qbert": Qbert,
    "ale:riverraid": RiverRaid,
    "ale:space_invaders": SpaceInvaders,
}
"""Environment id -> class with the rules to play the game."""


class ScriptedPlayer:
    """A player of the built-in Atari games that uses palette frames only, so that it can play live as well as in a rollout.

    It decides every fourth frame and holds the buttons in between. Its hand slips as a person's does: now and then it holds the
    last buttons too long, so that all episodes differ. If built with a task, it can act at once; else call `reset` first.

    >>> import numpy as np
    >>> from interplay import envs, tasks
    >>> task = tasks.find("atari/space_invaders")
    >>> env = envs.make(task)
    >>> _ = env.reset(seed=1)
    >>> player = ScriptedPlayer(task, rng=np.random.default_rng(1))
    >>> player.act(env.view().pixels)
    1
    """

    name = "scripted"
    observation = "pixels"

    def __init__(self, task: Task | None = None, *, rng: np.random.Generator | None = None) -> None:
        self._brain: Brain | None = None
        if task is not None:
            self.reset(task, rng=rng or np.random.default_rng(0))

    def reset(self, task: Task, *, rng: np.random.Generator) -> None:
        if task.env.id not in BRAINS:
            raise AgentError(
                f"there is no scripted player for {task.env.id} (task {task.id}), only for {', '.join(sorted(BRAINS))}\n"
                "Write your own agent and name it module:factory; docs/agents.md has one to copy."
            )
        self._brain = BRAINS[task.env.id]()
        self._brain.reset(rng)
        self._keys = task.keys
        self._rng = rng
        self._count = 0
        self._lag = 0
        self._action: Any = task.keys.noop

    def act(self, observation: np.ndarray) -> Any:
        """Return the action for one native frame: palette indices, uint8, shape (H, W)."""
        if self._brain is None:
            raise AgentError("call reset(task, rng=...) before act()")
        self._brain.see(observation)
        if self._count % DECISION_FRAMES == 0:
            buttons = self._brain.decide(observation)
            if self._lag > 0:
                self._lag -= 1
            else:
                self._action = self._keys.resolve(self._keys.mask(buttons))
                if self._rng.random() < _SLIP:
                    self._lag = int(self._rng.integers(1, 6))
        self._count += 1
        return self._action
