"""The order of events in one tick, a twentieth of a second."""

from __future__ import annotations

from collections.abc import Sequence

from blockworld.blocks import furnaces, turns
from blockworld.events import mob_events, thing_events
from blockworld.player import clicks, hands, mining, movement, placing, screens, vitals
from blockworld.slots import inventory
from blockworld.state import DAY_TICKS, OFFHAND, STILL, Action
from blockworld.world_state import WorldState


def tick(world: WorldState, actions: Sequence[Action]) -> None:
    """Advance a world by one tick. `actions` has one valid action for each seat; this function does not check them."""
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
    """Apply one player's action: if a screen is open use the screen, else apply keys, look, move, and use the hands."""
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
    """Apply the use key; other players see its changes only in the next tick.

    If two players place a block in the same cell, the player in the lower seat places it and the other player keeps the block.
    """
    world.noted = noted = {}
    try:
        placing.use(world, action)
    finally:
        world.noted = None
    world.unseen = noted | world.unseen


def _press(world: WorldState, action: Action) -> None:
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
