"""The order of events in a twentieth of a second."""

from __future__ import annotations

from collections.abc import Sequence

from blockworld.blocks import furnaces, turns
from blockworld.events import mob_events, thing_events
from blockworld.player import clicks, hands, mining, movement, placing, screens, vitals
from blockworld.slots import inventory
from blockworld.state import DAY_TICKS, OFFHAND, STILL, Action
from blockworld.world_state import WorldState


def tick(world: WorldState, actions: Sequence[Action]) -> None:
    """Advance a world by one tick, with each player's action by seat, checked before."""
    world.ticks += 1
    world.deaths.clear()
    try:
        for seat, action in enumerate(actions):
            world.turn_to(seat)
            _play(world, action)
        world.unseen = {}
        world.turn_to(0)
        turns.tick(world)
        mob_events.tick(world)
        thing_events.tick(world)
        furnaces.tick(world)
        for seat in range(len(actions)):
            world.turn_to(seat)
            vitals.tick(world)
    finally:
        world.unseen = {}
        world.turn_to(0)
    if world.rules["doDaylightCycle"] == "true":
        world.time = (world.time + 1) % DAY_TICKS


def _play(world: WorldState, action: Action) -> None:
    """One player's tick: use an open screen, or press keys, look and move, then use the hands."""
    if world.player.dead or screens.step(world, action):
        movement.move(world, STILL)
    else:
        _press(world, action)
        movement.move(world, action)
        if world.screen is None:
            hands.notice(world.player)
            mining.attack(world, action)
            _use(world, action)
        if world.screen is not None:  # keys that were down when it opened are no clicks
            world.screen.before = screens.keys_down(action)
    world.befores[world.seat] = action


def _use(world: WorldState, action: Action) -> None:
    """The use key. Its changes are seen in the next tick: of two players who place a block in one cell, the first in the order
    of the seats places it and the other keeps theirs.
    """
    world.noted = noted = {}
    try:
        placing.use(world, action)
    finally:
        world.noted = None
    world.unseen = noted | world.unseen


def _press(world: WorldState, action: Action) -> None:
    """Keys that act once when they go down."""
    me, before = world.player, world.befores[world.seat]
    if 1 <= action.hotbar <= 9:
        inventory.select(me, action.hotbar - 1)
    if action.inventory and not before.inventory:
        screens.open(world, "inventory")
    if action.drop and not before.drop:
        stack = inventory.drop(me.slots, me.hotbar, whole=action.sprint)
        if stack is not None:
            clicks.throw(world, stack)
    if action.swap_hands and not before.swap_hands:
        me.slots[me.hotbar], me.slots[OFFHAND] = me.slots[OFFHAND], me.slots[me.hotbar]
    if action.pick_item and not before.pick_item:
        placing.pick_item(world)
