"""A world that gives again what a data set holds: how episodes are recorded that no replay can prove."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import gymnasium
import numpy as np

from interplay.envs.base import Frame, PlayableEnv
from interplay.tasks import Task

_BLANK = np.full((64, 64, 3), 128, np.uint8)
"""Where there is no picture."""


class Held(NamedTuple):
    """What a data set holds of one step, and what was seen after it.

    Attributes:
        observation: After the step; with several seats a mapping. Of the first of an episode the one at its start.
        actions, rewards: Seat -> value; empty of the first.
    """

    observation: Any
    actions: Mapping[str, Any]
    rewards: Mapping[str, float]
    terminated: bool
    truncated: bool


class PlayedBack(PlayableEnv):
    """Gives what it is handed, whatever the actions. Its picture is the observation of the first seat where that is one.

    Pictures with a palette are kept as they are, others as video beside the observation, which is exact.

    Args:
        held: The observation at the start, then the steps.
        palette: uint8, shape (256, 3), of pictures that are indices of colours.
    """

    def __init__(
        self,
        task: Task,
        action_space: gymnasium.Space,
        observation_space: gymnasium.Space,
        held: Sequence[Held],
        palette: np.ndarray | None,
    ) -> None:
        self.task = task
        self.action_space, self.observation_space = action_space, observation_space
        self.observes_view = palette is not None
        self.frame_policy = "video" if palette is None else "indexed"
        self._palette = palette
        self._held = held
        self._coming: Iterator[Held] = iter(())
        self._seen: Any = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """The first observation."""
        self._coming = iter(self._held)
        self._seen = next(self._coming).observation
        return self._seen, {}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """What is held of the next step."""
        held = next(self._coming)
        self._seen = held.observation
        reward = held.rewards if len(held.rewards) > 1 else next(iter(held.rewards.values()))
        return self._seen, reward, held.terminated, held.truncated, {}

    def view(self) -> Frame:
        """The observation, or a grey picture."""
        seen = self._seen[self.task.seats[0]] if len(self.task.seats) > 1 else self._seen
        if not isinstance(seen, np.ndarray) or seen.dtype != np.uint8:
            return Frame(_BLANK)
        if seen.ndim == 2:
            return Frame(np.stack([seen] * 3, axis=-1)) if self._palette is None else Frame(seen, self._palette)
        return Frame(seen if seen.ndim == 3 and seen.shape[2] == 3 else _BLANK)

    def versions(self) -> dict[str, str]:
        """Nothing here changes what is seen."""
        return {}
