"""The tables of Minecraft 1.16.2 that the world runs on, read once (see `data/README.md` for where they come from)."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any


@cache
def table(name: str) -> list[dict[str, Any]]:
    """One table of `interplay/world/data`, by the name of its file: `blocks`, `shapes`, `items`, `recipes`, `loot`, ..."""
    return json.loads((resources.files("interplay.world") / "data" / f"{name}.json").read_text(encoding="utf-8"))
