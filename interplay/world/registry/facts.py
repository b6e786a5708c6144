"""The tables that the world runs on, of Minecraft 1.16.2 and our own, read once (`data/README.md`: where each comes from)."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any


@cache
def table(name: str) -> list[dict[str, Any]]:
    """One table of `interplay/world/data`, by the name of its file: `blocks`, `items`, `recipes`, `sprites`, `models`, ..."""
    return json.loads((resources.files("interplay.world") / "data" / f"{name}.json").read_text(encoding="utf-8"))
