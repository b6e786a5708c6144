"""Translate MineRL 1.0's actions to those of the block world."""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter
from typing import Any

from blockworld import Action
from interplay.envs import minerl_actions

_RENAMED = {"ESC": "esc", "pickItem": "pick_item", "swapHands": "swap_hands"}
KEYS = {name: "" if name.startswith("hotbar.") else _RENAMED.get(name, name) for name in minerl_actions.KEYS}
"""MineRL 1.0's binary keys -> fields of `world.Action`; the nine hotbar keys share one field."""
CAMERA = minerl_actions.CAMERA
_named = itemgetter(*(name for name, field in KEYS.items() if field))
_FIELDS = tuple(field for field in KEYS.values() if field)


def to_world(action: Mapping[str, Any]) -> Action:
    """Return a MineRL action as an action of the world (EnvError as `minerl_actions.read`)."""
    pressed = minerl_actions.read(action)
    fields: dict[str, Any] = dict(zip(_FIELDS, map(bool, _named(pressed.keys)), strict=True))
    return Action(hotbar=pressed.hotbar, camera_pitch=pressed.pitch, camera_yaw=pressed.yaw, **fields)
