"""Convert between MineRL's actions and VPT's: 8641 combinations of buttons and 121 turns of the camera.

Source: Baker et al. 2022, "Video PreTraining (VPT)", appendix C.1 ("Action space"); and the tables of the published code, with
which the tests compare every entry. VPT does not use three of MineRL's keys: `ESC`, `pickItem` and `swapHands`.

Three forms of an action:

- MineRL's: a mapping with keys of 0 and 1 and `camera`, degrees of (pitch, yaw).
- buttons and bins: 20 numbers of 0 and 1 in the order of `BUTTONS`, and two bins of 0 to 10, pitch first.
- joint: the two numbers that VPT's two heads choose.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from interplay.envs.minerl_actions import KEYS as MINERL_KEYS
from interplay.envs.minerl_actions import Pressed, read

_HOTBAR = tuple(f"hotbar.{slot}" for slot in range(1, 10))
BUTTONS = (*("attack", "back", "forward", "jump", "left", "right", "sneak", "sprint", "use", "drop", "inventory"), *_HOTBAR)
GROUPS: tuple[tuple[str, ...], ...] = (
    _HOTBAR,
    ("forward", "back"),
    ("left", "right"),
    ("sprint", "sneak"),
    ("use",),
    ("drop",),
    ("attack",),
    ("jump",),
)
"""Groups of buttons; a combination has at most one of each. The first group is its number's highest digit, the turn the
lowest."""
_SIZES = (*(1 + len(group) for group in GROUPS), 2)
INVENTORY = prod(_SIZES)
"""The last combination: `inventory` alone; `encode` gives it no turn of the camera."""
NUM_BUTTONS = INVENTORY + 1
NUM_BINS = 11
"""Number of bins for the camera's turn on each axis; the middle bin means no turn."""
NUM_CAMERA = NUM_BINS**2
STILL_BIN = NUM_BINS // 2
STILL = STILL_BIN * NUM_BINS + STILL_BIN
MAX_TURN = 10.0
"""Largest turn of the camera in one step, in degrees, in each direction on each axis."""
_MU = 10.0


class Joint(NamedTuple):
    """Actions as VPT's two heads choose them, each int64, shape (N,). `camera` is 11 * bin of the pitch + bin of the yaw."""

    buttons: np.ndarray
    camera: np.ndarray


class Pushed(NamedTuple):
    """Actions as buttons, uint8, shape (N, 20), in the order of `BUTTONS`, and turns, float64, shape (N, 2), degrees of (pitch,
    yaw)."""

    buttons: np.ndarray
    camera: np.ndarray


def to_bins(degrees: np.ndarray) -> np.ndarray:
    """Bins (0 to 10) of turns, int64 of the same shape, by the mu-law with mu = 10: fine in the middle, coarse at the ends.

    Turns beyond 10 degrees count as 10; `ValueError` if one is NaN.

    >>> to_bins(np.arange(-10, 11)).tolist()
    [0, 0, 0, 1, 1, 1, 2, 2, 3, 4, 5, 6, 7, 8, 8, 9, 9, 9, 10, 10, 10]
    """
    if np.isnan(degrees).any():
        raise ValueError("a turn of the camera must be a number, got NaN")
    share = np.clip(degrees, -MAX_TURN, MAX_TURN) / MAX_TURN
    # The order of these operations is the published code's: another one moves a value at the edge of a bin.
    encoded = np.sign(share) * (np.log(1.0 + _MU * np.abs(share)) / np.log(1.0 + _MU)) * MAX_TURN
    return np.round((encoded + MAX_TURN) / 2.0).astype(np.int64)


def _degrees(bin: int) -> float:
    """The turn of a bin in degrees. Python's power is used, because NumPy's differs in the last bit between machines."""
    share = (bin * 2.0 - MAX_TURN) / MAX_TURN
    sign = float(np.sign(share))
    return sign * (1.0 / _MU) * ((1.0 + _MU) ** abs(share) - 1.0) * MAX_TURN


TURNS = np.array([_degrees(bin) for bin in range(NUM_BINS)])
"""Turn of each bin in degrees, float64, shape (11,)."""


def _tables() -> tuple[np.ndarray, np.ndarray]:
    """Buttons of each combination, uint8, shape (8641, 20), and whether its camera turns, bool, shape (8641,)."""
    buttons = np.zeros((NUM_BUTTONS, len(BUTTONS)), np.uint8)
    *chosen, turns = np.unravel_index(np.arange(INVENTORY), _SIZES)
    for group, choice in zip(GROUPS, chosen, strict=True):
        for number, name in enumerate(group, start=1):
            buttons[:INVENTORY, BUTTONS.index(name)] = choice == number
    buttons[INVENTORY, BUTTONS.index("inventory")] = 1
    # The published code turns the camera with `inventory` too when it decodes, though it never encodes such an action.
    return buttons, np.append(turns == 1, True)


_PUSHED, _TURNS_CAMERA = _tables()


def decode(joint: Joint) -> Pushed:
    """Decode joint actions (ValueError if out of range) to buttons and turns; a combination without a turn ignores the
    camera."""
    buttons, camera = (np.asarray(part, np.int64) for part in joint)
    if buttons.size and not (
        buttons.min() >= 0 and buttons.max() < NUM_BUTTONS and camera.min() >= 0 and camera.max() < NUM_CAMERA
    ):
        raise ValueError(f"buttons must be below {NUM_BUTTONS} and turns below {NUM_CAMERA}")
    bins = np.stack(np.divmod(np.where(_TURNS_CAMERA[buttons], camera, STILL), NUM_BINS), axis=-1)
    return Pushed(_PUSHED[buttons], TURNS[bins])


def encode(pushed: Pushed) -> Joint:
    """Encode buttons (numbers of any type) and turns (degrees) as the nearest joint actions.

    Forward and back together count as neither, and so do left and right. Of two other buttons of a group, the later one counts.
    With `inventory`, all other buttons and the turn are left out.
    """
    buttons, bins = np.asarray(pushed.buttons) != 0, to_bins(np.asarray(pushed.camera, np.float64))
    chosen = []
    for group in GROUPS:
        pressed = buttons[:, [BUTTONS.index(name) for name in group]]
        number = np.max(pressed * np.arange(1, len(group) + 1), axis=1)
        is_contrary = group[0] in ("forward", "left")
        chosen.append(np.where(pressed.all(axis=1), 0, number) if is_contrary else number)
    chosen.append((bins != STILL_BIN).any(axis=1).astype(np.int64))
    is_inventory = buttons[:, BUTTONS.index("inventory")]
    joint = np.where(is_inventory, INVENTORY, np.ravel_multi_index(tuple(chosen), _SIZES))
    return Joint(joint, np.where(is_inventory, STILL, bins[:, 0] * NUM_BINS + bins[:, 1]))


def from_minerl(actions: Sequence[Mapping[str, Any]]) -> Pushed:
    """Convert MineRL's actions to buttons and turns, without `ESC`, `pickItem`, `swapHands`; `EnvError` if one is invalid."""
    pressed = [read(action) for action in actions]
    buttons = np.array([[one.keys[name] for name in BUTTONS] for one in pressed], np.uint8).reshape(-1, len(BUTTONS))
    return Pushed(buttons, np.array([(one.pitch, one.yaw) for one in pressed]).reshape(-1, 2))


def to_minerl(pushed: Pushed) -> list[dict[str, Any]]:
    """Convert buttons and turns to MineRL's actions, members of `minerl_actions.action_space()`."""
    return [
        Pressed(
            dict.fromkeys(MINERL_KEYS, 0) | dict(zip(BUTTONS, map(int, buttons), strict=True)), float(pitch), float(yaw)
        ).to_minerl()
        for buttons, (pitch, yaw) in zip(pushed.buttons, pushed.camera, strict=True)
    ]
