"""Rules as people read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interplay.explore.rules import Rule


def in_words(rule: Rule) -> str:
    """One rule as a part of a sentence; of parameters that are missing, nothing is invented.

    >>> in_words(Rule("inventory_has", {"item": "oak_log", "min_count": 2}))
    'the player carries at least 2 oak log'
    """
    params: Mapping[str, Any] = rule.params
    name = str(params.get("item") or params.get("object") or "?").replace("_", " ")
    if rule.type == "inventory_has":
        return f"the player carries at least {params.get('min_count', '?')} {name}"
    if rule.type == "position_near_with_facing":
        half = params.get("facing_tolerance", 360)
        facing = (
            "" if half == 360 else f" and looks at it to within {half / 2 if isinstance(half, int | float) else half} degrees"
        )
        return f"the player stands within {params.get('max_distance', '?')} blocks of {_cell(params.get('target'))}{facing}"
    if rule.type == "position_inside_box":
        return f"the player stands in the box {_box(params)}"
    if rule.type == "count_in_box_at_least":
        return f"at least {params.get('min_count', '?')} {name} {_is(params)} in the box {_box(params)}"
    if rule.type == "count_in_box_at_most" and params.get("max_count") == 0:
        return f"no {name} is left in the box {_box(params)}"
    if rule.type == "count_in_box_at_most":
        return f"at most {params.get('max_count', '?')} {name} {_is(params)} in the box {_box(params)}"
    if rule.type == "x.event_at_least":
        event = str(params.get("event", "?")).replace("_", " ")
        return f"the player has {event} {name} at least {params.get('min_count', '?')} times"
    if rule.type == "x.visible":
        return f"{name} is in sight, at most {params.get('max_distance', '?')} blocks away"
    return f"{rule.type} holds"


def _is(params: Mapping[str, Any]) -> str:
    return "live" if params.get("kind") == "mob" else "stand"


def _cell(value: Any) -> str:
    return " ".join(f"~{one}" for one in value) if isinstance(value, list) else "?"


def _box(params: Mapping[str, Any]) -> str:
    return f"from {_cell(params.get('min'))} to {_cell(params.get('max'))}"
