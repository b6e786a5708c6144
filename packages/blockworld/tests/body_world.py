"""A small world for the tests of what a player can do: real blocks, real items, a list of what was dropped."""

from __future__ import annotations

from typing import Any

import numpy as np
from one_player import OnePlayer

from blockworld.blocks.updates import set_block
from blockworld.registry.blocks import parse
from blockworld.state import Action, Player, Stack

FLOOR = 10


class Blocks:
    """A grid without light: cells of air over a floor of stone whose top is at `FLOOR`."""

    def __init__(self, size: int = 48, floor: str = "stone") -> None:
        self.size = (size, size, size)
        self.blocks = np.zeros((size, size, size), np.uint16)
        self.blocks[:, :, :FLOOR] = parse(floor)

    def inside(self, x: int, y: int, z: int) -> bool:
        return all(0 <= at < self.size[0] for at in (x, y, z))

    def copy(self) -> Blocks:
        return self

    def get(self, x: int, y: int, z: int) -> int:
        if not self.inside(x, y, z):
            return 0 if y >= self.size[1] and 0 <= x < self.size[0] and 0 <= z < self.size[2] else parse("bedrock")
        return int(self.blocks[x, z, y])

    def set(self, x: int, y: int, z: int, state: int) -> int:
        before = self.get(x, y, z)
        self.blocks[x, z, y] = state
        return before

    def lights(self, x: int, y: int, z: int) -> tuple[int, int]:
        return 15, 0


class World(OnePlayer):
    """A grid in which nothing reacts to what changes."""

    def __init__(self, *, floor: str = "stone", size: int = 48) -> None:
        super().__init__(
            Blocks(size, floor),
            Player(x=size / 2 + 0.5, y=float(FLOOR), z=size / 2 + 0.5, on_ground=True),
            spawn=(3, FLOOR, 3),
        )
        self.rules = {}
        self.dropped: list[Stack] = []

    def change_block(self, x: int, y: int, z: int, state: int) -> int:
        before = self.grid.get(x, y, z)
        self.grid.blocks[x, z, y] = state
        return before

    def set_block(self, x: int, y: int, z: int, state: int) -> int:
        return set_block(self, x, y, z, state)

    def put(self, x: int, y: int, z: int, text: str) -> None:
        """Put a block without any rule."""
        self.set_block(x, y, z, parse(text))

    def spawn_item(self, x: float, y: float, z: float, stack: Stack, **_: Any) -> int:
        self.dropped.append(stack)
        return len(self.dropped)

    def hold(self, item: str | None, count: int = 1, tag: dict[str, Any] | None = None) -> None:
        """Put something into the hand."""
        self.player.slots[self.player.hotbar] = None if item is None else Stack(item, count, 0, tag)

    def look_at(self, x: float, y: float, z: float) -> None:
        """Turn the player's eyes to a point."""
        player = self.player
        dx, dy, dz = x - player.x, y - player.eye_y, z - player.z
        player.yaw = float(np.degrees(np.arctan2(-dx, dz)))
        player.pitch = float(np.degrees(-np.arctan2(dy, np.hypot(dx, dz))))

    def totals(self) -> dict[str, int]:
        """What lies on the ground."""
        found: dict[str, int] = {}
        for stack in self.dropped:
            found[stack.item] = found.get(stack.item, 0) + stack.count
        return found


def ticks(world: World, number: int, rule: Any, **keys: Any) -> None:
    """Hold keys for some ticks of one rule, such as `movement.move`."""
    for _ in range(number):
        rule(world, Action(**keys))
        world.ticks += 1
