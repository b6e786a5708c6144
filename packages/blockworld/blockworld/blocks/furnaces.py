"""Rules of furnaces in each tick: fuel, input and output. Recipes are in `registry.smelting`."""

from __future__ import annotations

from blockworld.blocks.updates import set_block
from blockworld.registry.blocks import change, name_of, properties_of
from blockworld.registry.items import item_named
from blockworld.registry.smelting import COOK_TICKS, FUEL, INPUT, OUTPUT, SMELTING, fuel_ticks, smelted
from blockworld.state import Container, Position, Stack
from blockworld.world_state import WorldState


def tick(world: WorldState) -> None:
    for position, container in world.containers.items():
        if container.kind in COOK_TICKS and (container.burn or container.cook or container.slots[INPUT] is not None):
            _burn(world, position, container)


def _burn(world: WorldState, position: Position, furnace: Container) -> None:
    was_lit = furnace.burn > 0
    if was_lit:
        furnace.burn -= 1
    if _can_smelt(furnace):
        if furnace.burn == 0:
            _light(furnace)
        if furnace.burn > 0:
            furnace.cook += 1
            if furnace.cook >= COOK_TICKS[furnace.kind]:
                furnace.cook = 0
                _finish(furnace)
        else:
            furnace.cook = max(0, furnace.cook - 2)  # what is half done goes back twice as fast
    else:
        furnace.cook = 0
    if was_lit != (furnace.burn > 0):
        _show(world, position, furnace)


def _can_smelt(furnace: Container) -> bool:
    source, output = furnace.slots[INPUT], furnace.slots[OUTPUT]
    made = None if source is None else smelted(furnace.kind, source.item)
    if made is None:
        return False
    return output is None or (output.same_kind(Stack(made)) and output.count < item_named(made).stack)


def _light(furnace: Container) -> None:
    fuel = furnace.slots[FUEL]
    ticks = 0 if fuel is None else fuel_ticks(furnace.kind, fuel.item)
    if fuel is None or not ticks:
        return
    furnace.burn = furnace.burn_total = ticks
    fuel.count -= 1
    if not fuel.count:
        remains = item_named(fuel.item).remains
        furnace.slots[FUEL] = None if remains is None else Stack(remains)


def _finish(furnace: Container) -> None:
    source, output = furnace.slots[INPUT], furnace.slots[OUTPUT]
    assert source is not None  # `_can_smelt` said so
    if output is None:
        furnace.slots[OUTPUT] = Stack(SMELTING[furnace.kind][source.item])
    else:
        output.count += 1
    fuel = furnace.slots[FUEL]
    if source.item == "wet_sponge" and fuel is not None and fuel.item == "bucket" and fuel.count == 1:
        furnace.slots[FUEL] = Stack("water_bucket")  # the water goes into a bucket that lies ready
    source.count -= 1
    if not source.count:
        furnace.slots[INPUT] = None


def _show(world: WorldState, position: Position, furnace: Container) -> None:
    state = world.grid.get(*position)
    if name_of(state) == furnace.kind and "lit" in properties_of(state):
        set_block(world, *position, change(state, lit="true" if furnace.burn else "false"))
