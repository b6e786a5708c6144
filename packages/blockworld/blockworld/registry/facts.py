"""Read the tables of the world: tables of Minecraft 1.16.2 and our own (`data/README.md` names the source of each)."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

from blockworld.errors import WorldError


@cache
def table(name: str) -> Any:
    """Read a table of `blockworld/data` by its file's name: `blocks`, `items`, `recipes`, ...; WorldError if that fails."""
    file = resources.files("blockworld") / "data" / f"{name}.json"
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise WorldError(
            f"the table {file} cannot be read: {error}\nCorrect the file, or install the package again."
        ) from error
