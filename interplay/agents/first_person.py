"""Encode an action in a block world (keys and camera) as three choices, the outputs of networks in first person.

| choice | number of values | meaning |
| --- | --- | --- |
| buttons | 8641 | a combination of VPT's 20 buttons, and whether the camera turns |
| camera | 121 | the turn, 11 bins on each axis |
| escape | 2 | whether ESC is pressed, by which a player says that the task is done |

The first two choices are VPT's (Baker et al. 2022, appendix C.1), the third is BEDD's (Milani et al. 2023). The keys `pickItem`
and `swapHands` are not encoded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np

from interplay.agents.vpt.codec import BUTTONS, NUM_BUTTONS, NUM_CAMERA, STILL, Joint, Pushed, decode, encode, to_minerl
from interplay.envs import minerl_actions

CODING = "vpt"
"""Name of this encoding of actions in `model.json`."""
CHOICES = gymnasium.spaces.MultiDiscrete([NUM_BUTTONS, NUM_CAMERA, 2])
"""Space of the choices, int64, shape (3,): combination of buttons, turn of the camera, and whether escape is pressed."""
NUM_PARTS = CHOICES.nvec.tolist()
STILL_CHOICE = np.array([0, STILL, 0])
_TAPPED = frozenset(("ESC", "drop", "inventory", "use", *(f"hotbar.{slot}" for slot in range(1, 10))))
"""Keys that do their work in a single step; all other keys are held down."""


def is_composed(space: gymnasium.Space[Any]) -> bool:
    return isinstance(space, gymnasium.spaces.Dict) and set(space) == {*minerl_actions.KEYS, minerl_actions.CAMERA}


def turns_camera(buttons: Any) -> Any:
    """Whether each combination of buttons (int64) turns the camera: an array or tensor of bool."""
    return buttons % 2 == 1  # whether it turns is the fastest part of a combination; `inventory`, the last one, is even


def choices_of(parts: Mapping[str, np.ndarray], starts: np.ndarray) -> np.ndarray:
    """Return the choices of a recording's decisions: int64, shape (len(starts), 3).

    A decision of several steps has one choice. A held key counts if it was down in half of the steps, a tapped key if it was
    down in any step. The camera turns by the mean of all steps, so that the repeated choice adds up to the same turn.

    Args:
        parts: Each key -> shape (T,), 0 or 1; `camera` -> shape (T, 2), degrees.
        starts: First step of each decision, beginning with 0; a decision lasts until the next one begins, the last to the end.

    >>> parts = dict.fromkeys(minerl_actions.KEYS, np.zeros(4, int)) | {"camera": np.array([[0, 2.0]] * 4)}
    >>> choices_of(parts | {"forward": np.array([0, 1, 0, 0])}, np.array([0, 2])).tolist()
    [[289, 62, 0], [1, 62, 0]]
    """
    steps = np.diff(np.append(starts, len(parts[minerl_actions.CAMERA])))

    def pressed(name: str) -> np.ndarray:
        down = np.add.reduceat(np.asarray(parts[name], np.int64), starts)
        return down > 0 if name in _TAPPED else 2 * down >= steps

    camera = np.add.reduceat(np.asarray(parts[minerl_actions.CAMERA], np.float64), starts, axis=0) / steps[:, None]
    joint = encode(Pushed(np.stack([pressed(name) for name in BUTTONS], axis=1), camera))
    return np.stack([joint.buttons, joint.camera, pressed("ESC").astype(np.int64)], axis=1)


def action_of(choice: np.ndarray) -> dict[str, Any]:
    """Return MineRL's action, in `minerl_actions.action_space()`, for one decision's choices: int64, shape (3,)."""
    buttons, camera, escape = np.asarray(choice, np.int64)[:, None]
    return to_minerl(decode(Joint(buttons, camera)))[0] | {"ESC": int(escape[0])}
