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


class Crawls(Counter):
    """Takes 25 ms a step: no machine plays it at 60 Hz."""

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        time.sleep(0.025)
        return super().step(action)


class Noise(Counter):
    """Shows noise, 320x240: about 100 kB as a JPEG."""

    def render(self) -> np.ndarray:  # type: ignore[override]
        return np.random.default_rng(self.count).integers(0, 256, (240, 320, 3), np.uint8)


class Look(gymnasium.Env[np.ndarray, dict[str, Any]]):
    """Seen by turning: the action is a Dict of buttons and a camera, and the picture shows where the camera points.

    A white column stands at yaw modulo 64, a red row at pitch modulo 48; each button has a square at the top, green while it
    is pressed. The observation is the sum of all turns: (pitch, yaw).
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array"], "render_fps": 20}  # type: ignore[misc]
    BUTTONS = ("forward", "back", "left", "right", "jump", "attack", "use", "hotbar.1", "hotbar.2", "hotbar.3", "ESC")
    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (2,), np.float64)
    action_space = gymnasium.spaces.Dict(
        {name: gymnasium.spaces.Discrete(2) for name in BUTTONS} | {"camera": gymnasium.spaces.Box(-180, 180, (2,), np.float32)}
    )

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode
        self.angles = np.zeros(2)
        self.pressed: list[int] = []

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self.angles = np.zeros(2)
        self.pressed = [0] * len(self.BUTTONS)
        return self.angles.copy(), {}

    def step(self, action: dict[str, Any]) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        if not self.action_space.contains(action) or action["camera"].dtype != np.float32:
            raise ValueError(f"{action!r} is not in {self.action_space}")
        self.angles += action["camera"]
        self.pressed = [int(action[name]) for name in self.BUTTONS]
        return self.angles.copy(), float(sum(self.pressed)), False, False, {}

    def render(self) -> np.ndarray:  # type: ignore[override]
        picture = np.zeros((48, 64, 3), np.uint8)
        picture[int(self.angles[0]) % 48] = (200, 20, 20)
        picture[:, int(self.angles[1]) % 64] = (255, 255, 255)
        for index, pressed in enumerate(self.pressed):
            picture[1:4, 1 + 4 * index : 4 + 4 * index] = (0, 220, 60) if pressed else (40, 40, 40)
        return picture


for world in (Counter, Raises, Slow, Crawls, Noise, Look):
    gymnasium.register(f"Trial{world.__name__}-v0", world, order_enforce=False, disable_env_checker=True)
