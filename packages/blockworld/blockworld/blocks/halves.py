"""The other halves of doors, beds, tall plants and large chests."""

from __future__ import annotations

from blockworld.registry.blocks import name_of, properties_of
from blockworld.state import Position
from blockworld.world_state import WorldState

_TALL = frozenset(["sunflower", "lilac", "rose_bush", "peony", "tall_grass", "large_fern", "tall_seagrass"])
_SIDES: dict[str, tuple[int, int]] = {"north": (0, -1), "south": (0, 1), "west": (-1, 0), "east": (1, 0)}
CLOCKWISE = {"north": "east", "east": "south", "south": "west", "west": "north"}


def other_half(world: WorldState, x: int, y: int, z: int) -> Position | None:
    """Cell of the other half of a door, bed or tall plant; None if that cell does not hold it."""
    state = world.grid.get(x, y, z)
    name, values = name_of(state), properties_of(state)
    if name.endswith("_bed"):
        sx, sz = _SIDES[values["facing"]]
        sign = 1 if values["part"] == "foot" else -1
        place = x + sx * sign, y, z + sz * sign
    elif name.endswith("_door") or name in _TALL:
        place = x, y + (1 if values["half"] == "lower" else -1), z
    else:
        return None
    other = world.grid.get(*place)
    apart = "part" if "part" in values else "half"
    same = name_of(other) == name and properties_of(other)[apart] != values[apart]
    return place if same and world.grid.inside(*place) else None


def chest_partner(world: WorldState, x: int, y: int, z: int) -> Position | None:
    state = world.grid.get(x, y, z)
    name, values = name_of(state), properties_of(state)
    if name not in ("chest", "trapped_chest") or values["type"] == "single":
        return None
    side = CLOCKWISE[values["facing"]]
    sx, sz = _SIDES[side]
    sign = 1 if values["type"] == "left" else -1
    place = x + sx * sign, y, z + sz * sign
    other = world.grid.get(*place)
    fits = name_of(other) == name and properties_of(other)["facing"] == values["facing"]
    return place if fits and properties_of(other)["type"] not in ("single", values["type"]) else None


def chest_halves(world: WorldState, position: Position) -> tuple[Position, ...]:
    """Cells of a chest: one cell, or two for a large chest; the slots of the first cell are the upper rows of the screen."""
    x, y, z = position
    state = world.grid.get(x, y, z)
    properties = properties_of(state)
    half = properties.get("type")
    if half not in ("left", "right"):
        return (position,)
    dx, dz = _SIDES[CLOCKWISE[properties["facing"]]]
    sign = 1 if half == "left" else -1
    other = (x + sign * dx, y, z + sign * dz)
    beside = world.grid.get(*other)
    if name_of(beside) != name_of(state) or properties_of(beside)["type"] not in {"left", "right"} - {half}:
        return (position,)
    return (other, position) if half == "left" else (position, other)
