"""A world that plays back the steps of a data set, to record episodes that no replay can prove."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import gymnasium
import numpy as np

from interplay.envs.base import BLANK, Frame, PlayableEnv
from interplay.tasks import Task


class Taken(NamedTuple):
    """One step of a data set.

    Attributes:
        actions, rewards: Seat -> value.
        owners: Seat -> name of its owner; None if they are still the first owners.
    """

    actions: Mapping[str, Any]
    rewards: Mapping[str, float]
    terminated: bool
    truncated: bool
    owners: Mapping[str, str] | None = None


class PlayedBack(PlayableEnv):
    """World that returns given observations and steps, whatever the actions are.
    Its pictures are given separately, or are the first seat's observations if these are pictures.

    Pictures with a palette are kept without loss. Other pictures are kept as video, together with the exact observations; with
    `observes_view` only the video is kept.

    Args:
        observations: T + 1 mappings seat -> observation.
        steps: T steps.
        palette: Colours of pictures that consist of indices, uint8, shape (256, 3).
        pictures: T + 1 pictures, one for each observation.
        memory: The console's memory after each of the T steps, 128 bytes each, for statistics that read it.
    """

    def __init__(
        self,
        task: Task,
        action_space: gymnasium.spaces.Dict,
        observation_space: gymnasium.spaces.Dict,
        observations: Sequence[Mapping[str, Any]],
        steps: Sequence[Taken],
        palette: np.ndarray | None,
        pictures: Iterable[Frame] | None = None,
        *,
        observes_view: bool = False,
        memory: Sequence[bytes] = (),
    ) -> None:
        self.task = task
        self.action_space, self.observation_space = action_space, observation_space
        self.observes_view = (palette is not None or observes_view) and pictures is None
        self.frame_policy = "video" if palette is None else "indexed"
        self._palette = palette
        self._observations, self._steps, self._memory = observations, steps, memory
        self._pictures = None if pictures is None else iter(pictures)
        self._picture: Frame | None = None
        self._position = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Mapping[str, Any], dict[str, Any]]:
        return self._arrive(0), {}

    def step(self, action: Any) -> tuple[Mapping[str, Any], Mapping[str, float], bool, bool, dict[str, Any]]:
        taken = self._steps[self._position]
        rewards = taken.rewards
        if self.task.reward == "shared":  # what is held is the sum already, which the task makes
            rewards = dict.fromkeys(rewards, 0.0) | dict([next(iter(rewards.items()))])
        return self._arrive(self._position + 1), rewards, taken.terminated, taken.truncated, {}

    def _arrive(self, position: int) -> Mapping[str, Any]:
        self._position = position
        if self._pictures is not None:
            self._picture = next(self._pictures)
        return self._observations[position]

    def view(self) -> Frame:
        if self._picture is not None:
            return self._picture
        seen = self._observations[self._position][self.task.seats[0]]
        if not isinstance(seen, np.ndarray) or seen.dtype != np.uint8:
            return Frame(BLANK)
        if seen.ndim == 2:
            return Frame(np.stack([seen] * 3, axis=-1)) if self._palette is None else Frame(seen, self._palette)
        return Frame(seen if seen.ndim == 3 and seen.shape[2] == 3 else BLANK)

    def readings(self) -> dict[str, Callable[[], Any]]:
        return {"ram": lambda: self._memory[self._position - 1]} if self._memory else {}

    def versions(self) -> dict[str, str]:
        return {}
