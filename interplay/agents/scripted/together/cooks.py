"""Overcooked: fetch the next ingredient or dish by the shortest way, and hand things over on a counter."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from interplay.envs.cogrid import CogridEnv

Cell = tuple[int, int]
STEPS = {"RIGHT": (0, 1), "DOWN": (1, 0), "LEFT": (0, -1), "UP": (-1, 0)}
"""Button -> (rows down, columns to the right), in the order of CoGrid's directions."""
DIRECTIONS = list(STEPS)
CAPACITY = 3


@dataclass(frozen=True)
class Kitchen:
    """The kitchen as seen by one cook.

    `things` has CoGrid's name of the thing in a cell: a pile is `onion_stack`, an onion on a counter `onion`, an empty counter
    `counter`. `pots` has the number of onions in each pot; `cooked` has the pots with a finished soup. `looks` is the button of
    this cook's direction. `holds` is what this cook carries; an empty text means empty hands.
    """

    things: dict[Cell, str]
    pots: dict[Cell, int]
    cooked: frozenset[Cell]
    me: Cell
    other: Cell
    looks: str
    holds: str
    other_holds: str
    floor: frozenset[Cell]

    def where(self, *names: str) -> set[Cell]:
        return {cell for cell, thing in self.things.items() if thing in names}

    def reach(self, start: Cell, blocked: Collection[Cell] = ()) -> dict[Cell, list[str]]:
        """Map each cell that can be reached to the shortest list of buttons that leads a cook there from `start`."""
        ways: dict[Cell, list[str]] = {start: []}
        queue = deque([start])
        while queue:
            cell = queue.popleft()
            for button in STEPS:
                there = beside(cell, button)
                if there in self.floor and there not in ways and there not in blocked:
                    ways[there] = [*ways[cell], button]
                    queue.append(there)
        return ways


def beside(cell: Cell, button: str) -> Cell:
    down, right = STEPS[button]
    return cell[0] + down, cell[1] + right


def within(ways: Collection[Cell]) -> set[Cell]:
    """Cells next to at least one of these cells."""
    return {beside(cell, button) for cell in ways for button in STEPS}


def cook(env: CogridEnv, seat: str, rng: np.random.Generator) -> Iterator[set[str]]:
    """At each step, choose the cell where the hands are needed, go there, look at it, use the hands; step aside if blocked."""
    number = env.task.seats.index(seat)
    num_stuck = 0
    before: Any = None
    while True:
        kitchen = look(env, number)
        goals = choose(kitchen)
        button = towards(kitchen, goals, (kitchen.other,)) or towards(kitchen, goals, ())
        place = kitchen.me, kitchen.looks, kitchen.holds
        num_stuck = num_stuck + 1 if place == before and goals else 0
        before = place
        if num_stuck >= 3 or (not goals and kitchen.other in within([kitchen.me])):
            button = str(rng.choice(DIRECTIONS))
        yield {button} if button else set()


def towards(kitchen: Kitchen, goals: Collection[Cell], blocked: Collection[Cell]) -> str:
    """The next button on the shortest way to use the hands at one of these cells; empty if there is no way."""
    best: list[str] | None = None
    for cell, way in kitchen.reach(kitchen.me, blocked).items():
        for button in STEPS:
            if beside(cell, button) in goals:
                looks = way[-1] if way else kitchen.looks
                whole = [*way, *([] if looks == button else [button]), "TAKE"]
                if best is None or len(whole) < len(best):
                    best = whole
    return best[0] if best else ""


def choose(kitchen: Kitchen) -> set[Cell]:
    """The cells at which this cook should use their hands next; empty if there is nothing to do."""
    mine = within(kitchen.reach(kitchen.me))
    theirs = within(kitchen.reach(kitchen.other))
    open_pots = {pot for pot, onions in kitchen.pots.items() if onions < CAPACITY}
    full_pots = kitchen.pots.keys() - open_pots
    shared = kitchen.where("counter") & mine & theirs
    hands_over = not mine & kitchen.pots.keys()  # who reaches no pot serves those who do
    if kitchen.holds == "onion_soup":
        return mine & kitchen.where("delivery_zone") or shared
    if kitchen.holds == "onion":
        return mine & open_pots or (shared if hands_over else kitchen.where("counter") & mine)
    if kitchen.holds == "plate":
        return mine & (kitchen.cooked or full_pots) or (shared if hands_over else kitchen.where("counter") & mine)
    waiting = kitchen.where("plate") & mine & theirs
    soups = kitchen.where("onion_soup") & mine
    if soups:
        return soups
    num_plates = len(waiting) + (kitchen.other_holds == "plate")
    if hands_over:
        if full_pots and num_plates < len(full_pots):
            return mine & kitchen.where("plate_stack")
        if len(kitchen.where("onion") & mine & theirs) < CAPACITY:
            return mine & kitchen.where("onion_stack")
        return set()
    plates = mine & kitchen.where("plate_stack", "plate")
    if full_pots and (kitchen.other_holds == "plate") < len(full_pots) and plates:
        return plates
    missing = sum(CAPACITY - onions for pot, onions in kitchen.pots.items() if pot in mine) - (kitchen.other_holds == "onion")
    if missing > 0:
        return mine & kitchen.where("onion") or mine & kitchen.where("onion_stack")
    return set()


def look(env: CogridEnv, number: int) -> Kitchen:
    state, name = env.state(), env.name_of
    lying = state["object_state_map"]  # of a counter, what lies on it
    things = {
        (row, column): (name(kind) == "counter" and name(lying[row][column])) or name(kind)
        for row, kinds in enumerate(state["object_type_map"])
        for column, kind in enumerate(kinds)
        if kind
    }
    floor = {(row, column) for row in range(state["height"]) for column in range(state["width"])} - things.keys()
    extra = {key.rpartition(".")[2]: entry["data"] for key, entry in state["extra_state"].items()}
    pots = [tuple(cell) for cell in extra["pot_positions"]]
    onions = [sum(kind > 0 for kind in contents) for contents in extra["pot_contents"]]
    cells = [(row, column) for row, column in state["agent_pos"]]
    holds = [name(held[0]) for held in state["agent_inv"]]
    return Kitchen(
        things=things,
        pots=dict(zip(pots, onions, strict=True)),
        cooked=frozenset(
            pot
            for pot, number_in, timer in zip(pots, onions, extra["pot_timer"], strict=True)
            if number_in == CAPACITY and timer == 0
        ),
        me=cells[number],
        other=cells[1 - number],
        looks=DIRECTIONS[state["agent_dir"][number]],
        holds=holds[number],
        other_holds=holds[1 - number],
        floor=frozenset(floor),
    )
