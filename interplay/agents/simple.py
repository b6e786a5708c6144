"""The two agents for comparison with all others: one draws its actions at random, the other does nothing."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import gymnasium
import numpy as np

from interplay.envs import PlayableEnv
from interplay.record.format.schema import seat_spaces
from interplay.tasks import KeyMap, Task

TURN_DEGREES = 5.0
"""Standard deviation of the random agent's turn in one frame, on each axis."""


class RandomAgent:
    """An agent that draws a random action every `hold` native frames: uniformly from the actions of the task's keys. If the
    seat's action space does not contain these actions, it draws from the action space.

    In the Atari literature, a "random" player holds each action for four frames, deciding as often as a DQN. With composed
    actions, each button is down or up with equal chance, and the turn of the view has a normal distribution (`TURN_DEGREES`).
    Only `ESC`, with which a player ends the game, is never pressed.
    """

    name = "random"
    observation = "pixels"

    def __init__(self, *, hold: int = 4) -> None:
        if hold < 1:
            raise ValueError(f"hold must be at least 1 frame, got {hold}")
        self.hold = hold
        self._actions: list[Any] = []
        self._keys: KeyMap | None = None
        self._action: Any = None
        self._count = 0
        self._rng = np.random.default_rng(0)

    def reset(self, task: Task, *, rng: np.random.Generator) -> None:
        self._use(task.keys)
        self._rng = rng
        self._count = 0
        self._space: gymnasium.Space | None = None

    def attach(self, env: PlayableEnv, seat: str) -> None:
        space = seat_spaces(env)[seat]
        self._use(env.task.keys.of(seat))
        if not all(map(space.contains, self._actions)):
            self._space = deepcopy(space)
            self._space.seed(int(self._rng.integers(2**31)))

    def _use(self, keys: KeyMap) -> None:
        self._keys = keys
        if keys.has_table:
            self._actions = [keys.noop, *(action for action in keys.actions.values() if action != keys.noop)]

    def act(self, observation: np.ndarray) -> Any:
        if self._count % self.hold == 0:
            if self._space is not None:
                self._action = self._space.sample()
            elif self._keys is not None and self._keys.compose:
                pitch, yaw = self._rng.normal(0.0, TURN_DEGREES, 2)
                mask = int(self._rng.integers(1 << len(self._keys.buttons))) & ~self._keys.mask({"ESC"})
                self._action = self._keys.action(mask, (pitch, yaw))
            elif self._keys is not None and self._keys.axes:
                low, high = np.sort([axis.values for axis in self._keys.axes], axis=1).T
                self._action = self._rng.uniform(low, high).astype(np.float32)
            else:
                self._action = self._actions[int(self._rng.integers(len(self._actions)))]
        self._count += 1
        return self._action


class NoopAgent:
    """An agent that never presses a key."""

    name = "noop"
    observation = "pixels"

    def __init__(self) -> None:
        self._noop: Any = None

    def reset(self, task: Task, *, rng: np.random.Generator) -> None:
        self._noop = task.keys.noop

    def attach(self, env: PlayableEnv, seat: str) -> None:
        self._noop = env.task.keys.of(seat).noop

    def act(self, observation: np.ndarray) -> Any:
        return self._noop
