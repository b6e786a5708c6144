"""A small world for the tests of what blocks do by themselves: the real grid, updates and breaking, a list of what dropped."""

from __future__ import annotations

from typing import Any

import numpy as np
from one_player import OnePlayer

from blockworld.blocks import turns
from blockworld.blocks.updates import set_block
from blockworld.grid.grid import Grid
from blockworld.registry.blocks import BLOCK_OF, name_of, parse, properties_of
from blockworld.state import Player, Stack

FLOOR = 8
"""Height of the first cell above the floor."""


class BlockWorld(OnePlayer):
    """Stone up to `FLOOR`, air above."""

    def __init__(self, *, size: int = 32, height: int = 32, floor: str = "stone", seed: int = 5) -> None:
        blocks = np.zeros((size, size, height), np.uint16)
        blocks[:, :, :FLOOR] = parse(floor)
        super().__init__(Grid(blocks), Player(x=size / 2, y=float(FLOOR), z=size / 2), seed=seed)
        self.rules = {"randomTickSpeed": "0", "doFireTick": "true"}  # nothing grows unless a test wants it
        self.time = 6000
        self.dropped: list[tuple[str, int]] = []

    def set_block(self, x: int, y: int, z: int, state: int) -> int:
        return set_block(self, x, y, z, state)

    def spawn_item(self, x: float, y: float, z: float, stack: Stack, **_: Any) -> int:
        self.dropped.append((stack.item, stack.count))
        return len(self.dropped)

    def put(self, x: int, y: int, z: int, text: str) -> None:
        """Set a block by its text."""
        set_block(self, x, y, z, parse(text))

    def name(self, x: int, y: int, z: int) -> str:
        """Name of the block of a cell."""
        return name_of(self.grid.get(x, y, z))

    def values(self, x: int, y: int, z: int) -> dict[str, str]:
        """Properties of the block of a cell."""
        return dict(properties_of(self.grid.get(x, y, z)))

    def run(self, ticks: int) -> None:
        """Let ticks pass."""
        for _ in range(ticks):
            turns.tick(self)

    def cells_of(self, name: str) -> set[tuple[int, int, int]]:
        """All cells (x, y, z) of a block, whatever its properties."""
        found = np.argwhere(BLOCK_OF[self.grid.blocks] == BLOCK_OF[parse(name)])
        return {(int(x), int(y), int(z)) for x, z, y in found}


def waiting(world: Any) -> int:
    """How many cells of a world wait for their turn."""
    kept = world.updates.state()
    return sum(len(cells) for turns in (kept["blocks"], kept["water"], kept["lava"]) for _, cells in turns)
