"""Small Gymnasium worlds with one awkward property each, for a real server to meet."""

import time
from typing import Any, ClassVar

import gymnasium
import numpy as np


class Counter(gymnasium.Env[np.ndarray, int]):
    """Counts its steps; the picture shows the count in a few colours."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array"], "render_fps": 60}  # type: ignore[misc]
    observation_space = gymnasium.spaces.Box(0, 10**6, (1,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode
        self.count = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self.count = 0
        return np.zeros(1, np.float32), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        self.count += 1
        return np.full(1, self.count, np.float32), float(action), False, False, {}

    def render(self) -> np.ndarray:  # type: ignore[override]
        picture = np.zeros((40, 50, 3), np.uint8)
        picture[self.count % 40] = (self.count % 200, 10, 200)
        return picture


class Raises(Counter):
    """Fails in its 40th step."""

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        if self.count == 39:
            raise RuntimeError("the volcano erupted")
        return super().step(action)


class Slow(Counter):
    """Takes 15 ms a step."""

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        time.sleep(0.015)
        return super().step(action)


class Noise(Counter):
    """Shows noise, 320x240: about 100 kB as a JPEG."""

    def render(self) -> np.ndarray:  # type: ignore[override]
        return np.random.default_rng(self.count).integers(0, 256, (240, 320, 3), np.uint8)


for world in (Counter, Raises, Slow, Noise):
    gymnasium.register(f"Trial{world.__name__}-v0", world, order_enforce=False, disable_env_checker=True)
