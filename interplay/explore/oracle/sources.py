"""Find sources of items in a scene: blocks, things on the ground, chests, mobs, villagers. The world is only read."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from blockworld import Position, Stack, World, mobs
from blockworld.registry import ITEM, ITEMS, KIND, KINDS, NUM_THINGS, SHEARED, drops, enchantment, name_of, state_of, trades

AROUND, UP_AND_DOWN = 48, 24
"""Reach of the search for blocks, in cells around the player."""
_DRAWS = 24


@lru_cache(maxsize=4096)
def _left(state: int, tool: str | None, silk_touch: int) -> dict[str, float]:
    tag = {"Enchantments": [{"id": "silk_touch", "lvl": silk_touch}]} if silk_touch else None
    held = None if tool is None else Stack(tool, 1, 0, tag)
    rng, total = np.random.default_rng(0), dict[str, float]()
    for _ in range(_DRAWS):
        for stack in drops(state, held, rng):
            total[stack.item] = total.get(stack.item, 0.0) + stack.count / _DRAWS
    return total


def left_by_block(state: int, tool: Stack | None) -> dict[str, float]:
    """Return item -> average number that a block leaves when it is mined with a tool; `None` is the bare hand."""
    return _left(state, None if tool is None else tool.item, enchantment(tool, "silk_touch"))


class Sources:
    """Sources of items in a world; every answer describes the world at the moment of the call."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._loot: dict[tuple[str, int, int], dict[str, float]] = {}
        self._seen: tuple[int, list[int]] = (-1, [])

    def _window(self) -> tuple[np.ndarray, Position]:
        """Return the blocks around the player, indexed x, z, y, and the cell of the first block."""
        me, blocks = self._world.player, self._world.grid.blocks
        low = [max(0, math.floor(at) - far) for at, far in ((me.x, AROUND), (me.z, AROUND), (me.y, UP_AND_DOWN))]
        x, z, y = low
        return blocks[x : x + 2 * AROUND, z : z + 2 * AROUND, y : y + 2 * UP_AND_DOWN], (x, y, z)

    def cells_of(self, states: set[int]) -> list[Position]:
        window, (x, y, z) = self._window()
        found = [(x + dx, y + dy, z + dz) for dx, dz, dy in np.argwhere(np.isin(window, list(states))).tolist()]
        me = self._world.player
        return sorted(found, key=lambda cell: math.dist((me.x, me.y + 1, me.z), (cell[0] + 0.5, cell[1] + 0.5, cell[2] + 0.5)))

    def states(self) -> list[int]:
        if self._seen[0] != self._world.ticks:
            self._seen = (self._world.ticks, np.flatnonzero(np.bincount(self._window()[0].ravel())).tolist())
        return self._seen[1]

    def blocks(self, name: str) -> list[Position]:
        return self.cells_of({state for state in self.states() if name_of(state) == name})

    def mined(self, item: str, tool: Stack | None) -> dict[int, float]:
        """Return block state -> average number of an item that it leaves, for states around the player that leave any."""
        found = {state: left_by_block(state, tool).get(item, 0.0) for state in self.states() if state != state_of("air")}
        return {state: number for state, number in found.items() if number}

    def lies(self, item: str) -> bool:
        rows = self._world.entities
        return any(ITEMS[row["item"]].name == item for row in rows[rows["kind"] == ITEM])

    def containers(self, item: str) -> list[Position]:
        return [
            place
            for place, one in self._world.containers.items()
            if any(stack is not None and stack.item == item for stack in one.slots)
        ]

    def mobs(self, name: str) -> list[int]:
        rows, me = self._world.entities, self._world.player
        alive = rows[(rows["kind"] == KIND.get(name, -2)) & (rows["health"] > 0)]
        return [int(row["id"]) for row in sorted(alive, key=lambda row: math.dist((row["x"], row["z"]), (me.x, me.z)))]

    def hunted(self, item: str) -> list[int]:
        """Return the ids of mobs that leave the item when the player kills them, the nearest of each kind first."""
        rows = self._world.entities
        alive = rows[(rows["kind"] >= NUM_THINGS) & (rows["health"] > 0)]
        kinds = {self._kind(one): one for one in alive["id"].tolist()}
        giving = {kind for kind, one in kinds.items() if kind[0] != "villager" and self._left_by_mob(one).get(item, 0.0) > 0.1}
        found = [one for name in sorted({name for name, *_ in giving}) for one in self.mobs(name)]
        return [one for one in found if self._kind(one) in giving]

    def _kind(self, entity: int) -> tuple[str, int, int]:
        """Return a mob's kind, its variant, and whether it is sheared; its loot depends on these."""
        one = self._world.entities[self._world.row_of(entity)]
        return KINDS[one["kind"]], int(one["variant"]), int(one["flags"]) & SHEARED

    def _left_by_mob(self, entity: int) -> dict[str, float]:
        row, key = self._world.row_of(entity), self._kind(entity)
        assert row is not None
        if key not in self._loot:
            copy = self._world.fork()  # what is left is drawn: not from the world that is only looked at
            total = self._loot[key] = {}
            for _ in range(_DRAWS):
                for stack in mobs.loot(copy, row, True):
                    total[stack.item] = total.get(stack.item, 0.0) + stack.count / _DRAWS
        return self._loot[key]

    def sold(self, item: str) -> Iterator[tuple[int, trades.Offer]]:
        for villager in self.mobs("villager"):
            for offer in self._world.extras.get(villager, {}).get("offers", ()):
                if offer["sell"][0] == item and trades.is_open(offer):
                    yield villager, offer
