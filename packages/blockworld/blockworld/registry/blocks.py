"""Blocks and their states, by Minecraft 1.16.2's names and numbers.

A cell of the world holds a *state*: a number from 0 to 17,111 that stands for a block with all its properties, such as
`oak_stairs[facing=north,half=bottom,shape=straight,waterlogged=false]`. Facts that the rules and the renderer need many times a
second are NumPy arrays with an entry per state.

>>> state = parse("oak_stairs[facing=north]")
>>> name_of(state), properties_of(state)["half"]
('oak_stairs', 'bottom')
>>> text_of(change(state, half="top"))
'oak_stairs[facing=north,half=top,shape=straight,waterlogged=false]'
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from blockworld.errors import WorldError, unknown_name
from blockworld.registry.facts import table


@dataclass(frozen=True)
class Block:
    """One block and the facts of all its states.

    Attributes:
        name: The name without `minecraft:`.
        first: Number of its first state; it has `num_states` consecutive states.
        properties: Name -> values, in the order that numbers the states: the last one changes fastest.
        hardness: At a hand's speed, mining takes 1.5 s times this (5 s if nothing drops); None if it cannot be mined.
        resistance: Resistance against explosions.
        material: Class such as `rock`, which says which tools are fast on it (`tools` corrects mistakes); None for no class.
        tools: Names of items with which it drops items when mined; empty if it drops them without a tool.
    """

    name: str
    first: int
    default: int
    num_states: int
    properties: Mapping[str, tuple[str, ...]]
    hardness: float | None
    resistance: float
    material: str | None
    tools: frozenset[str]


def _read() -> tuple[Block, ...]:
    blocks = []
    for row in table("blocks"):
        properties = {name: tuple(values) for name, values in row.get("properties", {}).items()}
        num_states = 1
        for values in properties.values():
            num_states *= len(values)
        blocks.append(
            Block(
                name=row["name"],
                first=row["state"],
                default=row["state"] + row.get("default", 0),
                num_states=num_states,
                properties=properties,
                hardness=row["hardness"],
                resistance=row.get("resistance", 0),
                material=row.get("material"),
                tools=frozenset(row.get("tools", ())),
            )
        )
    return tuple(blocks)


BLOCKS = _read()
BY_NAME = {block.name: block for block in BLOCKS}
NUM_STATES = sum(block.num_states for block in BLOCKS)

BLOCK_OF: np.ndarray = np.repeat(np.arange(len(BLOCKS), dtype=np.uint16), [block.num_states for block in BLOCKS])
"""uint16, shape (NUM_STATES,): index into `BLOCKS`."""


def per_block(values: Mapping[str, float], default: float, dtype: type) -> np.ndarray:
    """Make an array with an entry per state from values by block name."""
    return np.array([values.get(block.name, default) for block in BLOCKS], dtype)[BLOCK_OF]


def _collision() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    shapes = table("shapes")
    starts = np.cumsum([0, *map(len, shapes)]).astype(np.int32)
    boxes = np.array([box for shape in shapes for box in shape], np.float64).reshape(-1, 6)
    shape_of = np.empty(NUM_STATES, np.int32)
    for block, row in zip(BLOCKS, table("blocks"), strict=True):
        shape_of[block.first : block.first + block.num_states] = row["shape"]
    return starts[shape_of], (starts[shape_of + 1] - starts[shape_of]).astype(np.int32), boxes


BOX_START, NUM_BOXES, BOXES = _collision()
"""Collision boxes of a state `s`: `BOXES[BOX_START[s] : BOX_START[s] + NUM_BOXES[s]]`; float64, shape (N, 6):
x0, y0, z0, x1, y1, z1 within the cell (a fence reaches up to 1.5)."""

AIR = 0

SMALL_FLOWERS = frozenset(
    (
        *("dandelion", "poppy", "blue_orchid", "allium", "azure_bluet", "red_tulip", "orange_tulip", "white_tulip"),
        *("pink_tulip", "oxeye_daisy", "cornflower", "wither_rose", "lily_of_the_valley"),
    )
)
TALL_FLOWERS = frozenset(("sunflower", "lilac", "rose_bush", "peony"))


def block_of(state: int) -> Block:
    return BLOCKS[BLOCK_OF[state]]


def name_of(state: int) -> str:
    return BLOCKS[BLOCK_OF[state]].name


def block_named(name: str) -> Block:
    """Return the block of a name, with or without `minecraft:`; UnknownNameError offers the nearest name."""
    short = name.removeprefix("minecraft:")
    if short not in BY_NAME:
        raise unknown_name("block", short[:100], BY_NAME)
    return BY_NAME[short]


@cache
def state_of(name: str, **properties: str) -> int:
    """Return the state of a block with some properties given; other properties have their defaults.

    Raises:
        UnknownNameError: If there is no such block.
        WorldError: If it has no such property or value.
    """
    block = block_named(name)
    return change(block.default, **properties)


@cache
def properties_of(state: int) -> Mapping[str, str]:
    """Map each property of a state to its value; do not change the mapping."""
    block = block_of(state)
    rest = state - block.first
    found: dict[str, str] = {}
    for name, values in reversed(list(block.properties.items())):
        rest, index = divmod(rest, len(values))
        found[name] = values[index]
    return {name: found[name] for name in block.properties}


@cache
def change(state: int, **properties: str) -> int:
    """Return the state of the same block with other properties; WorldError if it has no such property or value."""
    block = block_of(state)
    values = {**properties_of(state)}
    for name, value in properties.items():
        if name not in block.properties:
            raise WorldError(f"{block.name} has no property {name!r}; it has {', '.join(block.properties) or 'none'}")
        if value not in block.properties[name]:
            raise WorldError(f"{block.name}: {name} is one of {', '.join(block.properties[name])}, got {value!r}")
        values[name] = value
    number = 0
    for name, choices in block.properties.items():
        number = number * len(choices) + choices.index(values[name])
    return block.first + number


_TEXT = re.compile(r"(?P<name>[a-z0-9_.:/-]+)(?:\[(?P<properties>[^\]]*)\])?")


def parse(text: str) -> int:
    """Return the state that a text such as `minecraft:oak_log[axis=x]` names.

    Raises:
        UnknownNameError: If there is no such block.
        WorldError: If the text cannot be read, or the block has no such property or value.
    """
    match = _TEXT.fullmatch(text)
    if match is None:
        raise WorldError(f"{text[:100]!r} is not a block; write name or name[property=value,...]")
    properties = {}
    for pair in filter(None, (match["properties"] or "").split(",")):
        name, equals, value = pair.partition("=")
        if not equals:
            raise WorldError(f"{text[:100]!r}: {pair!r} is not a property; write property=value")
        properties[name.strip()] = value.strip()
    return state_of(match["name"], **properties)


def text_of(state: int) -> str:
    """Return the text of a state as commands write it, with all properties; the inverse of `parse`."""
    properties = ",".join(f"{name}={value}" for name, value in properties_of(state).items())
    return name_of(state) + (f"[{properties}]" if properties else "")
