"""Who takes part in making an instance, in which turns, with which tools; the texts are in `roles.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

TEXTS = Path(__file__).with_name("roles.toml")
TOOLS = ("commands", "look", "walk", "fact")
"""What makers can call: see `sandbox`."""


@dataclass(frozen=True)
class Role:
    """One of the makers.

    Attributes:
        name: As the texts and replies name it.
        temperature: Of its model, as published.
        tools: Of `TOOLS`, that it may call.
        most_calls: Of tools in one turn.
    """

    name: str
    temperature: float
    tools: tuple[str, ...]
    most_calls: int


@dataclass(frozen=True)
class Turn:
    """One turn of the order: who speaks, and what the reply must be.

    Attributes:
        kind: Names its text in `roles.toml`, and its schema in `turns`.
    """

    role: str
    kind: str


ROLES = {
    role.name: role
    for role in (
        Role("selector", 0.7, ("fact",), 5),
        Role("scene", 0.7, TOOLS, 1),
        Role("milestones", 0.2, ("look", "walk", "fact"), 5),
        Role("expert", 0.3, ("look", "fact"), 5),
        Role("validator", 0.2, TOOLS, 1),
        Role("single", 0.7, (), 0),
    )
}
OPENING = (
    Turn("selector", "select"),
    Turn("scene", "scene"),
    Turn("scene", "report"),
    Turn("expert", "feedback"),
    Turn("milestones", "milestones"),
)
DEBATE = (
    Turn("expert", "inspect"),
    Turn("validator", "validate_graph"),
    Turn("validator", "validate_milestones"),
    Turn("selector", "reselect"),
    Turn("scene", "rescene"),
    Turn("scene", "report"),
    Turn("milestones", "remilestones"),
    Turn("expert", "inspect"),
    Turn("validator", "validate"),
)
MOST_DEBATES = 2
SINGLE, SINGLE_AGAIN = Turn("single", "all"), Turn("single", "all_again")
MOST_TRIES = 3
"""Replies asked for in a turn until it passes without one."""


@cache
def texts() -> dict[str, Any]:
    """The texts of the file."""
    return tomllib.loads(TEXTS.read_text(encoding="utf-8"))
