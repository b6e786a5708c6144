"""A world as small as screens need: a player, a few blocks, containers, and a list of what was thrown."""

from typing import Any

import numpy as np
from one_player import OnePlayer

from blockworld.player import inventory
from blockworld.player.panels import Place
from blockworld.player.screens import Screen, path_to, slots
from blockworld.registry.blocks import AIR, parse
from blockworld.state import ENTITY, Action, Container, Player, Position, Stack


class Blocks:
    def __init__(self) -> None:
        self.states: dict[Position, int] = {}

    def get(self, x: int, y: int, z: int) -> int:
        return self.states.get((x, y, z), AIR)


class ScreenWorld(OnePlayer):
    def __init__(self) -> None:
        self.player = Player(x=0.5, y=64.0, z=0.5)
        self.grid = Blocks()
        self.containers: dict[Position, Container] = {}
        self.extras: dict[int, dict[str, Any]] = {}
        self.entities = np.zeros(4, ENTITY)
        self.entities["kind"] = -1
        self.screen: Screen | None = None
        self.thrown: list[Stack] = []

    def put(self, text: str, position: Position = (1, 64, 0)) -> Position:
        self.grid.states[position] = parse(text)
        return position

    def set_block(self, x: int, y: int, z: int, state: int) -> int:
        before = self.grid.get(x, y, z)
        self.grid.states[x, y, z] = state
        return before

    def give(self, stack: Stack) -> Stack | None:
        return inventory.add(self.player.slots, stack)

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
