"""Scenarios: the land, time, rules, items and commands with which a game begins."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, product
from typing import Any

from blockworld.commands.commands import DIFFICULTIES, rule_value, run
from blockworld.errors import WorldError, unknown_name
from blockworld.registry.blocks import NUM_BOXES
from blockworld.registry.items import stacks
from blockworld.slots.inventory import CARRIED
from blockworld.state import DAY_TICKS, Stack
from blockworld.terrain.generate import KINDS
from blockworld.world import World

Item = str | Sequence[Any]
"""An item's name, or a pair (name, count)."""


@dataclass(frozen=True)
class Scenario:
    """All settings of a new world except its seed.

    Attributes:
        kind: Kind of land, one of `terrain.KINDS`.
        time: Ticks since sunrise; 6000 is noon.
        rules: Game rules that differ from their defaults, by name.
        difficulty: `peaceful`, `easy`, `normal` or `hard`.
        items: Items that each player has at the beginning.
        commands: Commands to run in order as the first player; empty lines and lines that begin with # are skipped.

    Raises:
        UnknownNameError: For a land, rule, difficulty or item that does not exist.
        WorldError: For an invalid value.
    """

    kind: str = "default"
    time: int = 6000
    rules: Mapping[str, Any] = field(default_factory=dict)
    difficulty: str = "normal"
    items: Sequence[Item] = ()
    commands: Sequence[str] = ()

    def __post_init__(self) -> None:
        for name, known in (("kind", KINDS), ("difficulty", DIFFICULTIES)):
            if getattr(self, name) not in known:
                raise unknown_name(f"{name} of a scenario", str(getattr(self, name)), known)
        self._check(
            is_whole(self.time) and self.time >= 0, "time", "a whole number of ticks since sunrise, such as 6000 for noon"
        )
        self._check(isinstance(self.rules, Mapping), "rules", "a table of game rules and their values")
        object.__setattr__(self, "rules", {name: rule_value(name, value) for name, value in self.rules.items()})
        self._check(isinstance(self.items, list | tuple), "items", "a list of names and [name, count] pairs")
        for item in self.items:
            is_pair = isinstance(item, list | tuple) and len(item) == 2 and isinstance(item[0], str) and is_whole(item[1])
            self._check(isinstance(item, str) or is_pair, "items", "a list of names and [name, count] pairs")
        num_stacks = len(self.first_items())
        self._check(num_stacks <= len(CARRIED), "items", f"a list that fits {len(CARRIED)} slots; these need {num_stacks}")
        is_list = isinstance(self.commands, list | tuple) and all(isinstance(line, str) for line in self.commands)
        self._check(is_list, "commands", "a list of commands")

    def _check(self, fits: bool, name: str, expected: str) -> None:
        if not fits:
            raise WorldError(f"{name} is {expected}, got {getattr(self, name)!r}")

    def first_items(self) -> list[Stack]:
        pairs = ((item, 1) if isinstance(item, str) else item for item in self.items)
        return list(chain.from_iterable(stacks(name, count) for name, count in pairs))

    def world(self, seed: int, num_players: int = 1, put: Callable[[World], None] = lambda world: None) -> World:
        """Make a world of this scenario; the same seed makes the same world.

        Args:
            put: Function that places the first player; it is called before other players join and before commands run.

        Raises:
            CommandError: If a command cannot run.
        """
        world = World(seed, self.kind)
        world.time = self.time % DAY_TICKS
        world.difficulty = self.difficulty
        world.rules |= self.rules
        put(world)
        for seat in range(num_players):
            if seat:
                _stand_before_the_first(world, world.join())
            with world.acting(seat):
                for stack in self.first_items():
                    world.give(stack)
        for line in self.commands:
            if line.strip() and not line.lstrip().startswith("#"):
                run(world, line)
        return world


def is_whole(value: object) -> bool:
    """Whether a value is an integer and not a bool."""
    return isinstance(value, int) and not isinstance(value, bool)


def _stand_before_the_first(world: World, seat: int) -> None:
    """Put a player who has joined in a free place a few steps in front of the first player, facing the first player."""
    first, me = world.players[0], world.players[seat]
    for far, aside in product(range(3, 9), (0, 1, -1, 2, -2, 3, -3)):
        x, z = first.x + aside, first.z + far
        y = world.grid.top(math.floor(x), math.floor(z)) + 1
        taken = any(math.dist((x, z), (one.x, one.z)) < 1 for one in world.players)
        below = world.grid.get(math.floor(x), y - 1, math.floor(z))
        if not taken and abs(y - first.y) <= 2 and NUM_BOXES[below] and y < world.grid.size[1] - 2:
            me.x, me.y, me.z = x, float(y), z
            break
    me.yaw = first.yaw + 180.0
