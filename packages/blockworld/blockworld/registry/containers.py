"""Blocks that hold items, and their numbers of slots."""

from __future__ import annotations

from collections.abc import Mapping

from blockworld.errors import unknown_name
from blockworld.state import Container

NUM_SLOTS_OF: Mapping[str, int] = {
    "chest": 27,
    "barrel": 27,
    "shulker_box": 27,
    "dispenser": 9,
    "hopper": 5,
    "furnace": 3,
    "blast_furnace": 3,
    "smoker": 3,
}
"""Kind of container -> number of slots."""


def kind_of_block(name: str) -> str | None:
    """The kind of container that a block is; None if such a block holds no items."""
    if name.endswith("shulker_box"):
        return "shulker_box"
    alike = {"trapped_chest": "chest", "dropper": "dispenser"}
    kind = alike.get(name, name)
    return kind if kind in NUM_SLOTS_OF else None


def new(kind: str) -> Container:
    """Make an empty container; UnknownNameError if there is no such kind."""
    if kind not in NUM_SLOTS_OF:
        raise unknown_name("container", kind[:100], NUM_SLOTS_OF)
    return Container(kind, [None] * NUM_SLOTS_OF[kind])
