"""A flat land with real light, real items and everything that moves, for the tests of mobs and things."""

import math
from typing import Any

import numpy as np
from one_player import OnePlayer

from blockworld.entities import items_and_projectiles, mobs
from blockworld.events import mob_events, thing_events
from blockworld.grid.grid import Grid
from blockworld.player import animals
from blockworld.registry.blocks import parse
from blockworld.state import Player, Stack

FLOOR = 10


class World(OnePlayer):
    """Grass whose top is at `FLOOR`, the player in a corner; no block reacts to what changes."""

    def __init__(self, size: int = 48, seed: int = 5) -> None:
        blocks = np.zeros((size, size, 32), np.uint16)
        blocks[:, :, : FLOOR - 1] = parse("dirt")
        blocks[:, :, FLOOR - 1] = parse("grass_block")
        super().__init__(Grid(blocks), Player(x=4.5, y=float(FLOOR), z=4.5, on_ground=True), spawn=(3, FLOOR, 3), seed=seed)
        self.rules = {"doMobSpawning": "false"}

    def change_block(self, x: int, y: int, z: int, state: int) -> int:
        return self.grid.set(x, y, z, state)

    def put(self, text: str, *places: tuple[int, int, int]) -> None:
        """Put a block into cells without any rule."""
        for place in places:
            self.grid.set(*place, parse(text))

    def fence(self, x0: int, z0: int, x1: int, z1: int) -> None:
        """A ring of joined oak fences around the cells in between."""
        for x in range(x0, x1 + 1):
            for z in range(z0, z1 + 1):
                if x in (x0, x1) or z in (z0, z1):
                    sides = {"west": x > x0 and z in (z0, z1), "east": x < x1 and z in (z0, z1)}
                    sides |= {"north": z > z0 and x in (x0, x1), "south": z < z1 and x in (x0, x1)}
                    joined = ",".join(f"{side}={str(is_joined).lower()}" for side, is_joined in sides.items())
                    self.put(f"oak_fence[{joined}]", (x, FLOOR, z))

    def hold(self, item: str | None, count: int = 1) -> Stack | None:
        """Put something into the hand."""
        self.player.slots[self.player.hotbar] = None if item is None else Stack(item, count)
        return self.player.in_hand

    def use(self, one: np.void, item: str | None = None, count: int = 1) -> bool:
        """Take something into the hand and use it on a mob; whether that did anything."""
        self.hold(item, count)
        return self.use_again(one)

    def use_again(self, one: np.void) -> bool:
        """Use what is in the hand on a mob."""
        return animals.interact(self, self.row(int(one["id"])), self.player.hotbar)

    def add(self, name: str, x: float, z: float, *, y: float = float(FLOOR), **nbt: Any) -> np.void:
        """Let a mob live; its row, by reference."""
        entity = mobs.spawn(self, name, x, y, z, **nbt)
        return self.entities[self.row(entity)]

    def row(self, entity: int) -> int:
        """The row of a living entity."""
        return int(np.flatnonzero((self.entities["id"] == entity) & (self.entities["kind"] >= 0))[0])

    def run(self, ticks: int) -> None:
        """Let time pass for everything that moves; the player's wounds heal over."""
        for _ in range(ticks):
            self.ticks += 1
            mob_events.tick(self)
            thing_events.tick(self)
            self.player.invulnerable = max(0, self.player.invulnerable - 1)

    def on_ground(self) -> dict[str, int]:
        """Items that lie about: name -> how many."""
        found: dict[str, int] = {}
        for row in np.flatnonzero(self.entities["kind"] == 0).tolist():
            stack = items_and_projectiles.stack_of(self, row)
            found[stack.item] = found.get(stack.item, 0) + stack.count
        return found

    def number(self, name: str) -> int:
        """How many of a kind there are."""
        return int((self.entities["kind"] == mobs.KINDS.index(name)).sum())

    def distance(self, one: np.void) -> float:
        """From the player to an entity."""
        return math.dist((self.player.x, self.player.y, self.player.z), (one["x"], one["y"], one["z"]))
