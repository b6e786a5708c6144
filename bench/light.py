"""A small world in which what is good changes from moment to moment: walk to the light, and stay out of the shade.

The reward of a step is how near the walker is to the light, less a penalty in the shade. Two players: one that goes to the
light, more or less, and one that wanders.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import gymnasium
import numpy as np

from interplay.agents.base import Decision
from interplay.tasks import Task

MOVES = np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]], np.float32) * 0.08
SHADE = np.array([0.5, -0.4], np.float32)
SIZE = 64


class Light(gymnasium.Env[np.ndarray, Any]):
    """A walker on a square. It sees where it is, and how far the light is in each direction; the shade never moves."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array"], "render_fps": 20}  # type: ignore[misc]
    observation_space = gymnasium.spaces.Box(-2, 2, (4,), np.float32)
    action_space = gymnasium.spaces.Discrete(len(MOVES))

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode
        self.place, self.light, self.count = np.zeros(2, np.float32), np.zeros(2, np.float32), 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Both begin anywhere."""
        super().reset(seed=seed)
        self.place, self.light = self.np_random.uniform(-1, 1, (2, 2)).astype(np.float32)
        self.count = 0
        return self._seen(), {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Walk; the light stays."""
        self.place = np.clip(self.place + MOVES[action], -1, 1).astype(np.float32)
        self.count += 1
        near = float(np.exp(-2 * np.square(self.place - self.light).sum()))
        shade = float(np.exp(-6 * np.square(self.place - SHADE).sum()))
        return self._seen(), near - shade, False, False, {}

    def render(self) -> np.ndarray:  # type: ignore[override]
        """The light, the shade, the walker; a bar at the top counts the steps, so that each picture tells its own."""
        picture = np.full((SIZE, SIZE, 3), 40, np.uint8)
        for where, colour, radius in ((SHADE, (0, 0, 0), 9), (self.light, (250, 220, 90), 5), (self.place, (90, 160, 255), 3)):
            column, row = ((where + 1) / 2 * (SIZE - 17) + 8).astype(int)
            picture[row + 8 - radius : row + 8 + radius, column - radius if column > radius else 0 : column + radius] = colour
        for bit in range(8):
            picture[:8, 8 * bit : 8 * bit + 8] = 255 if self.count >> bit & 1 else 0
        return picture

    def _seen(self) -> np.ndarray:
        return np.concatenate([self.place, self.light - self.place])


def step_of(picture: np.ndarray) -> int:
    """The step that a picture shows, from the bar at its top: uint8, shape (H, W, 3), of any size."""
    height, width = picture.shape[:2]
    row = picture[height // 16, :, 1].astype(int)
    return sum(int(row[int(width * (bit + 0.5) / 8)] > 127) << bit for bit in range(8))


class Seeks:
    """Goes to the light with most of its steps, and wanders with the others."""

    name = "seeks"
    observation = "state"

    def begin(self, task: Task, *, rng: np.random.Generator) -> None:
        """Keep the source of its wandering."""
        self._rng = rng

    def decide(self, observations: Sequence[Mapping[str, Any]], states: Sequence[Any]) -> list[Decision]:
        """The action for each."""
        return [Decision(self._action(np.asarray(seen["state"]))) for seen in observations]

    def _action(self, state: np.ndarray) -> int:
        if self._rng.random() < 0.4:
            return int(self._rng.integers(len(MOVES)))
        gap = state[2:]
        axis = int(np.abs(gap).argmax())
        return 1 + 2 * axis + int(gap[axis] < 0)


gymnasium.register("Light-v0", "bench.light:Light")
