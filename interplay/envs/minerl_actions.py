"""MineRL 1.0's actions, used by every block world here: 23 keys of 0 or 1, and the turn of the camera.

An action is a mapping; keys that are missing in it are not pressed. `read` checks an action before any world gets it: a mistake
raises an error that names it, and no world changes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import gymnasium
import numpy as np

from interplay.envs.base import EnvError
from interplay.errors import unknown_name

KEYS = (
    "ESC",
    "attack",
    "back",
    "drop",
    "forward",
    *(f"hotbar.{slot}" for slot in range(1, 10)),
    "inventory",
    "jump",
    "left",
    "pickItem",
    "right",
    "sneak",
    "sprint",
    "swapHands",
    "use",
)
"""MineRL 1.0's binary keys (its `herobraine/hero/mc.py`, KEYMAP), in the order in which a Gymnasium Dict space keeps them."""
CAMERA = "camera"
"""The entry that turns the view: (pitch, yaw) in degrees; down and right are positive."""
_HOTBAR = tuple((slot, f"hotbar.{slot}") for slot in range(1, 10))
_BITS = {int, bool}
MAX_TURN = 180.0
"""Largest turn in one step in degrees, in both directions on each axis."""


class Pressed(NamedTuple):
    """A checked action: each of `KEYS` -> 0 or 1, and finite degrees from -`MAX_TURN` to `MAX_TURN`."""

    keys: dict[str, int]
    pitch: float
    yaw: float

    @property
    def hotbar(self) -> int:
        """The chosen slot, 1 to 9; the lowest if several keys are pressed, and 0 if no key is pressed."""
        return next((slot for slot, name in _HOTBAR if self.keys[name]), 0)

    def to_minerl(self) -> dict[str, Any]:
        """Return the action in MineRL's form: ints of 0 and 1, and the camera as float32, shape (2,)."""
        return {**self.keys, CAMERA: np.array([self.pitch, self.yaw], np.float32)}


def action_space() -> gymnasium.spaces.Dict:
    """Return all actions: Discrete(2) for each key, and for the camera a float32 Box, shape (2,), -180 to 180 degrees."""
    keys: dict[str, gymnasium.Space[Any]] = {name: gymnasium.spaces.Discrete(2) for name in KEYS}
    return gymnasium.spaces.Dict(keys | {CAMERA: gymnasium.spaces.Box(-MAX_TURN, MAX_TURN, (2,), np.float32)})


def read(action: Mapping[str, Any]) -> Pressed:
    """Check an action and add missing keys as 0; turns beyond `MAX_TURN` are clipped.

    Raises:
        EnvError: For an unknown key (the text names the most similar key), a value that is neither 0 nor 1, or a camera that is
            not a pair of finite degrees.

    >>> read({"jump": 1, "camera": [0.0, 400.0]}).yaw
    180.0
    """
    if not isinstance(action, Mapping):
        raise EnvError(f"an action must be a mapping such as {{'forward': 1, 'camera': [0, 5]}}, got {action!r}")
    keys = dict.fromkeys(KEYS, 0)
    pitch = yaw = 0.0
    for name, value in action.items():
        if name == CAMERA:
            pitch, yaw = _turn(value)
        elif name in keys:
            keys[name] = int(value) if type(value) in _BITS and 0 <= value <= 1 else _bit(name, value)
        else:
            raise EnvError(str(unknown_name("key of an action", str(name)[:40], [*KEYS, CAMERA])))
    return Pressed(keys, pitch, yaw)


def _bit(name: str, value: Any) -> int:
    try:
        number = np.asarray(value).item()
    except (TypeError, ValueError):
        number = None
    if not isinstance(number, bool | int | float) or number not in (0, 1):
        raise EnvError(f"key {name} is 0 or 1, got {value!r}")
    return int(number)


def _turn(value: Any) -> tuple[float, float]:
    try:
        degrees = np.asarray(value)
        if degrees.dtype.kind not in "iuf":
            raise TypeError
        pitch, yaw = map(float, degrees.reshape(-1).tolist())
    except (TypeError, ValueError, OverflowError):
        raise EnvError(f"camera is a pair (pitch, yaw) of degrees, got {value!r}") from None
    if not (math.isfinite(pitch) and math.isfinite(yaw)):
        raise EnvError(f"camera must turn by finite degrees, got {pitch} and {yaw}")
    return min(MAX_TURN, max(-MAX_TURN, pitch)), min(MAX_TURN, max(-MAX_TURN, yaw))
