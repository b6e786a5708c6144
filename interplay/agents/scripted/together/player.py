"""`Partner`: plays one seat of a game of several, whoever sits in the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.agents.base import AgentError
from interplay.agents.scripted.together.cannons import shoot
from interplay.agents.scripted.together.cooks import cook
from interplay.agents.scripted.together.knight_and_archer import hunt
from interplay.agents.scripted.together.pong import follow
from interplay.tasks import Task

if TYPE_CHECKING:
    from interplay.envs import PlayableEnv

Play = Callable[[Any, str, np.random.Generator], Iterator[set[str]]]
"""Called with the world, the seat and the generator of the episode: the buttons of every step."""

PARTNERS: dict[str, Play] = {
    "ale2p:space_invaders": shoot,
    "pettingzoo:butterfly/cooperative_pong-v6": follow,
    "pettingzoo:butterfly/knights_archers_zombies-v11": hunt,
    **dict.fromkeys(
        (
            f"cogrid:Overcooked-{kitchen}-V0"
            for kitchen in ("CrampedRoom", "AsymmetricAdvantages", "CoordinationRing", "ForcedCoordination", "CounterCircuit")
        ),
        cook,
    ),
}
"""Environment id -> its player."""


class Partner:
    """Plays a seat of a built-in game of several; it must be shown the environment with `attach` before it acts.

    As a person's, its hand slips: now and then it does nothing for a step, which makes every episode its own.

    Args:
        slip: Probability of that, in each step.
    """

    name = "scripted"
    observation = "pixels"

    def __init__(self, slip: float = 0.02) -> None:
        self.slip = slip
        self._play: Iterator[set[str]] | None = None

    def reset(self, task: Task, *, rng: np.random.Generator) -> None:
        """Begin an episode.

        Raises:
            AgentError: If nobody wrote a player for this environment.
        """
        if task.env.id not in PARTNERS:
            raise AgentError(
                f"there is no scripted player for {task.env.id} (task {task.id}); of several seats only for "
                f"{', '.join(sorted(PARTNERS))}\n"
                "Write your own agent and name it module:factory; docs/agents.md has one to copy."
            )
        self._task, self._rng, self._play = task, rng, None

    def attach(self, env: PlayableEnv, seat: str) -> None:
        """Take the environment, and the seat in it."""
        self._play = PARTNERS[self._task.env.id](env, seat, self._rng)

    def act(self, observation: np.ndarray) -> Any:
        """The action for one step."""
        if self._play is None:
            raise AgentError("a scripted partner looks at its game: call attach(env, seat) before act()")
        buttons = next(self._play)
        keys = self._task.keys
        return keys.noop if self._rng.random() < self.slip else keys.resolve(keys.mask(buttons))
