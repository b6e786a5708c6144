"""All data that decides the future of a world. Rules are functions of a `WorldState`; the class itself contains no rules.

This module only notes changes of blocks; `blocks.updates` lets the neighbours react. The rules of a tick are in `tick`; `world`
makes, saves and restores worlds.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from blockworld.errors import WorldError
from blockworld.grid.fluids import LAVA, WATER
from blockworld.grid.grid import Grid
from blockworld.registry import containers
from blockworld.registry.blocks import name_of
from blockworld.registry.entity_types import ITEM, NUM_THINGS, TAGGED
from blockworld.registry.items import item_named
from blockworld.slots import inventory
from blockworld.slots.screen import Screen
from blockworld.state import ENTITY, MAX_ENTITIES, STILL, Action, Container, Player, Position, Stack
from blockworld.terrain.generate import Land

DEFAULT_RULES = {
    "doDaylightCycle": "true",
    "doMobSpawning": "true",
    "keepInventory": "false",
    "mobGriefing": "true",
    "randomTickSpeed": "3",
    "naturalRegeneration": "true",
    "doFireTick": "true",
    "doTileDrops": "true",
    "doWeatherCycle": "false",
}
"""Game rules that the world knows, with their default values."""


class Turns:
    """Cells that wait for their turn, in order of time; to add a cell that already waits changes nothing."""

    def __init__(self) -> None:
        self.due: dict[int, list[int]] = {}
        self.waiting: set[int] = set()

    def add(self, tick: int, cell: int) -> None:
        if cell not in self.waiting:
            self.waiting.add(cell)
            self.due.setdefault(tick, []).append(cell)

    def take(self, tick: int) -> list[int]:
        cells = self.due.pop(tick, None)
        if cells is None:
            return []
        self.waiting.difference_update(cells)
        return cells

    def state(self) -> list[list[Any]]:
        return [[tick, cells[:]] for tick, cells in sorted(self.due.items())]

    def load(self, state: list[list[Any]]) -> None:
        self.due = {int(tick): [int(cell) for cell in cells] for tick, cells in state}
        self.waiting = {cell for cells in self.due.values() for cell in cells}


def pack(x: int, y: int, z: int) -> int:
    """Return the number that stands for a cell in `Updates`."""
    return x << 20 | z << 10 | y


def unpack(cell: int) -> Position:
    return cell >> 20, cell & 1023, cell >> 10 & 1023


class Updates:
    """Future changes of the blocks of one world.

    Attributes:
        ticks: Ticks so far.
        blocks: Scheduled turns of blocks.
        fluids: Scheduled turns of water and of lava.
        moving: Cells of falling blocks.
        changes: Queue of changed cells: x, y, z, whether the neighbours must react too, and the old state (None if unknown).
            Empty between ticks.
        is_settling: Whether `changes` are being processed.
    """

    def __init__(self) -> None:
        self.ticks = 0
        self.blocks = Turns()
        self.fluids = {WATER: Turns(), LAVA: Turns()}
        self.moving: set[int] = set()
        self.changes: deque[tuple[int, int, int, bool, int | None]] = deque()
        self.is_settling = False

    def schedule(self, x: int, y: int, z: int, ticks: int) -> None:
        """Schedule a turn of the block in a cell, `ticks` from now, at least 1."""
        self.blocks.add(self.ticks + max(1, ticks), pack(x, y, z))

    def state(self) -> dict[str, Any]:
        """Return all data of these updates as JSON values, for `load`."""
        return {
            "ticks": self.ticks,
            "blocks": self.blocks.state(),
            "water": self.fluids[WATER].state(),
            "lava": self.fluids[LAVA].state(),
            "moving": sorted(self.moving),
        }

    def load(self, state: dict[str, Any]) -> None:
        """Continue from values that `state` returned; WorldError for other values."""
        other = Updates()
        try:
            other.ticks = int(state["ticks"])
            other.blocks.load(state["blocks"])
            other.fluids[WATER].load(state["water"])
            other.fluids[LAVA].load(state["lava"])
            other.moving = {int(cell) for cell in state["moving"]}
        except (KeyError, TypeError, ValueError) as error:
            raise WorldError(f"these are not updates of a world ({error!r}); give what Updates.state() returned") from error
        self.__dict__.update(other.__dict__)


class WorldState:
    """The current state of a world; a new one has one player.

    Args:
        seed: Seed of the land, the animals and all random numbers.
        kind: Kind of land: see `terrain.generate.generate`.
        land: The land as generated.
        first: Grid of the blocks and light of the land as generated.

    Attributes:
        land: The land as generated; `grid` has the current blocks.
        first: The blocks and light as generated, which all worlds of this land share; read-only.
        grid: The current blocks and light.
        players: All players, by seat.
        seat: Seat of the player whose turn it is: rules act for this player. 0 between two ticks.
        player: The player whose turn it is.
        entities: `state.ENTITY`, shape (MAX_ENTITIES,): mobs, items, arrows; rows with kind -1 are free.
        extras: Entity id -> further data of a few entities: JSON values.
        containers: Contents of chests and furnaces, by position.
        updates: Future changes of blocks.
        ticks: Number of ticks since the beginning.
        time: Time of day, 0 to 23,999: 0 is six in the morning, 6,000 noon, 18,000 midnight.
        rules: Game rules by name.
        weather: `clear`, `rain` or `thunder`.
        difficulty: `peaceful`, `easy`, `normal` or `hard`.
        spawn: Place where the player begins, and comes back after death.
        screens: Each player's open screen: inventory, chest, ...; None while playing.
        befores: Each player's action in the last tick.
        rng: Generator of all random numbers after the beginning.
        deaths: Mobs that died in the last tick, as `box` lists them, with their `killer`. Neither saved nor in the digest.
        unseen: Cells changed by the hands of players whose turn in this tick is over -> the old state, which later players
            still see and aim at. Empty between ticks.
        noted: Cells changed by the hands of the player whose turn it is -> the old state. None while no hands act.
        next_id: Id of the next entity.
    """

    def __init__(self, seed: int, kind: str, land: Land, first: Grid) -> None:
        self.seed, self.kind = seed, kind
        self.land, self.first = land, first
        self.grid = first.copy()
        self.spawn: Position = land.spawn
        self.players: list[Player] = []
        self.screens: list[Screen | None] = []
        self.befores: list[Action] = []
        self.join()
        self.turn_to(0)
        self.entities = np.zeros(MAX_ENTITIES, ENTITY)
        self.entities["kind"] = -1
        self.extras: dict[int, dict[str, Any]] = {}
        self.containers: dict[Position, Container] = {}
        self.updates = Updates()
        self.ticks = 0
        self.time = 1000
        self.rules = dict(DEFAULT_RULES)
        self.weather = "clear"
        self.difficulty = "normal"
        self.rng = np.random.default_rng((seed, 1))
        self.deaths: list[dict[str, Any]] = []
        self.unseen: dict[Position, int] = {}
        self.noted: dict[Position, int] | None = None
        self.next_id = 1

    # Players

    def join(self) -> int:
        """Add a player at the spawn and return the new seat; from now on `step` takes one more action."""
        x, y, z = self.spawn
        self.players.append(Player(x=x + 0.5, y=float(y), z=z + 0.5))
        self.screens.append(None)
        self.befores.append(STILL)
        return len(self.players) - 1

    @contextmanager
    def acting(self, seat: int) -> Iterator[Player]:
        """Let rules, pictures and commands act for the player in a seat while the context lasts; WorldError for a free seat."""
        if not 0 <= seat < len(self.players):
            raise WorldError(f"the seats of this world are 0 to {len(self.players) - 1}, got {seat}; World.join adds a seat")
        before = self.seat
        self.turn_to(seat)
        try:
            yield self.player
        finally:
            self.turn_to(before)

    def turn_to(self, seat: int) -> None:
        """Let rules act for the player in a seat from now on. This is for `tick`; rules and tools use `acting`."""
        self.seat, self.player = seat, self.players[seat]

    @property
    def screen(self) -> Screen | None:
        return self.screens[self.seat]

    @screen.setter
    def screen(self, screen: Screen | None) -> None:
        self.screens[self.seat] = screen

    @property
    def said_done(self) -> bool:
        """Whether the player pressed ESC in the last tick to end the game."""
        return self.befores[self.seat].esc

    def give(self, stack: Stack) -> Stack | None:
        """Put a stack into the player's slots and return the part that did not fit; WorldError if the stack is empty."""
        if stack.count < 1:
            raise WorldError(f"a stack holds 1 or more, got {stack}")
        return inventory.add(self.player.slots, stack, selected=self.player.hotbar)

    # Blocks

    def change_block(self, x: int, y: int, z: int, state: int) -> int:
        """Set a cell, note it in `updates.changes`, and return the old state; WorldError if there is no such cell."""
        before = self.grid.set(x, y, z, state)
        if before != state:
            if self.noted is not None:
                self.noted.setdefault((x, y, z), before)
            self.updates.changes.append((x, y, z, True, before))
        return before

    def container_at(self, position: Position) -> Container | None:
        """Return the container of the block at a position, a new empty one if needed; None if such blocks hold no items."""
        kind = containers.kind_of_block(name_of(self.grid.get(*position)))
        if kind is None:
            return None
        container = self.containers.get(position)
        if container is None or container.kind != kind:
            container = self.containers[position] = containers.new(kind)
        return container

    # Entities

    def free_row(self) -> int:
        """Return a cleared row of `entities` with a new id; if no row is free, the oldest thing (not a mob) is replaced."""
        free = np.flatnonzero(self.entities["kind"] == -1)
        if free.size:
            row = int(free[0])
        else:
            things = np.flatnonzero(self.entities["kind"] < NUM_THINGS)
            row = int(things[np.argmax(self.entities["age"][things])])
            self.extras.pop(int(self.entities["id"][row]), None)
        self.entities[row] = np.zeros((), ENTITY)
        self.entities["id"][row] = self.next_id
        self.entities["target"][row] = -1
        self.next_id += 1
        return row

    def row_of(self, entity: int) -> int | None:
        found = np.flatnonzero((self.entities["id"] == entity) & (self.entities["kind"] >= 0))
        return int(found[0]) if found.size else None

    def add_thing(self, kind: int, x: float, y: float, z: float, vx: float, vy: float, vz: float) -> int:
        """Add a thing at (x, y, z) with a velocity in blocks per tick; return its row in `entities`."""
        row = self.free_row()
        one = self.entities[row]
        one["kind"], one["target"] = kind, -1
        one["x"], one["y"], one["z"] = x, y, z
        one["vx"], one["vy"], one["vz"] = vx, vy, vz
        return row

    def spawn_item(
        self, x: float, y: float, z: float, stack: Stack, *, vx: float = 0.0, vy: float = 0.2, vz: float = 0.0, delay: int = 10
    ) -> int:
        """Drop a stack as an item on the ground; return the entity's id.

        Args:
            x, y, z: Position of its bottom, in blocks.
            vx, vy, vz: Velocity in blocks per tick.
            delay: Ticks until it can be picked up, up to 32,766; 32,767 means never.

        Raises:
            UnknownNameError: If there is no such item.
            WorldError: If the place is not finite, or the count or delay out of range.
        """
        item = item_named(stack.item)
        check_finite(x, y, z)
        if not 1 <= stack.count <= 32767 or not 0 <= delay <= 32767:
            raise WorldError(f"the count is 1 to 32767 and the delay 0 to 32767 ticks, got {stack.count} and {delay}")
        row = self.add_thing(ITEM, x, y, z, vx, vy, vz)
        one = self.entities[row]
        one["item"], one["count"], one["goal_ticks"] = item.index, stack.count, delay
        entity = int(one["id"])
        if stack.damage or stack.tag:
            one["flags"] |= TAGGED
            self.extras[entity] = {"damage": stack.damage, "tag": stack.tag}
        return entity

    def remove(self, row: int) -> None:
        self.extras.pop(int(self.entities["id"][row]), None)
        self.entities["kind"][row] = -1


def check_finite(x: float, y: float, z: float) -> None:
    if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
        raise WorldError(f"the numbers {x} {y} {z} must be finite")
