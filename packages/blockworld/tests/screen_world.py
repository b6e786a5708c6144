"""A world as small as screens need: a player, a few blocks, containers, and a list of what was thrown."""

from __future__ import annotations

from typing import Any

import numpy as np
from one_player import OnePlayer

from blockworld.player.screens import path_to, slots
from blockworld.registry.blocks import AIR, parse
from blockworld.slots import inventory
from blockworld.slots.panels import Place
from blockworld.slots.screen import Screen
from blockworld.state import Action, Player, Position, Stack


class Blocks:
    def __init__(self) -> None:
        self.states: dict[Position, int] = {}
        self.blocks = np.zeros((1, 1, 1), np.uint16)  # nothing in it reacts

    def copy(self) -> Blocks:
        return self

    def get(self, x: int, y: int, z: int) -> int:
        return self.states.get((x, y, z), AIR)


class ScreenWorld(OnePlayer):
    def __init__(self) -> None:
        super().__init__(Blocks(), Player(x=0.5, y=64.0, z=0.5))
        self.thrown: list[Stack] = []

    def put(self, text: str, position: Position = (1, 64, 0)) -> Position:
        self.grid.states[position] = parse(text)
        return position

    def change_block(self, x: int, y: int, z: int, state: int) -> int:
        before = self.grid.get(x, y, z)
        self.grid.states[x, y, z] = state
        return before

    def spawn_item(self, x: float, y: float, z: float, stack: Stack, **_: float) -> int:
        self.thrown.append(stack)
        return len(self.thrown)

    def all_stacks(self) -> list[Stack]:
        """Every stack anywhere."""
        lists = [self.player.slots, [self.player.held], self.thrown, self.screen.craft if self.screen else []]
        lists += [container.slots for container in self.containers.values()]
        return [stack for stacks in lists for stack in stacks if stack is not None]

    def totals(self) -> dict[str, int]:
        return inventory.contents(self.all_stacks())


def place(screen: Screen, owner: str, index: int = 0) -> Place:
    return next(one for one in slots(screen) if (one.owner, one.index) == (owner, index))


def towards(screen: Screen, slot: int, **keys: Any) -> Action:
    """The action that moves the cursor to a place and presses keys there."""
    turn = path_to(screen, slot)
    return Action(camera_yaw=turn.yaw, camera_pitch=turn.pitch, **keys)
