"""Blocks that hold items: which ones, how many slots, and which two halves make a large chest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from blockworld.errors import unknown_name
from blockworld.registry.blocks import name_of, properties_of
from blockworld.state import Container, Position

if TYPE_CHECKING:
    from blockworld.world import World

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
"""Kind of container -> slots."""


def kind_of_block(name: str) -> str | None:
    """The kind of container a block is; None if it holds nothing."""
    if name.endswith("shulker_box"):
        return "shulker_box"
    alike = {"trapped_chest": "chest", "dropper": "dispenser"}
    kind = alike.get(name, name)
    return kind if kind in NUM_SLOTS_OF else None


def new(kind: str) -> Container:
    """An empty container.

    Raises:
        UnknownNameError: If there is no such kind.
    """
    if kind not in NUM_SLOTS_OF:
        raise unknown_name("container", kind[:100], NUM_SLOTS_OF)
    return Container(kind, [None] * NUM_SLOTS_OF[kind])


def at(world: World, position: Position) -> Container | None:
    """The container of the block at a position, made empty if it has none yet; None if the block holds nothing."""
    kind = kind_of_block(name_of(world.grid.get(*position)))
    if kind is None:
        return None
    container = world.containers.get(position)
    if container is None or container.kind != kind:
        container = world.containers[position] = new(kind)
    return container


_CLOCKWISE = {"north": (1, 0), "east": (0, 1), "south": (-1, 0), "west": (0, -1)}
"""A facing -> step (x, z) to the block on the right hand of who looks that way."""


def halves(world: World, position: Position) -> tuple[Position, ...]:
    """The blocks of a chest: one, or the two of a large chest with the one that fills the upper rows first."""
    x, y, z = position
    state = world.grid.get(x, y, z)
    properties = properties_of(state)
    half = properties.get("type")
    if half not in ("left", "right"):
        return (position,)
    dx, dz = _CLOCKWISE[properties["facing"]]
    sign = 1 if half == "left" else -1
    other = (x + sign * dx, y, z + sign * dz)
    beside = world.grid.get(*other)
    if name_of(beside) != name_of(state) or properties_of(beside)["type"] not in {"left", "right"} - {half}:
        return (position,)
    return (other, position) if half == "left" else (position, other)
