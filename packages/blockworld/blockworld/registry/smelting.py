"""What furnaces make of what, and how they burn.

A furnace takes 200 ticks for an item; a blast furnace (ores, metal) and a smoker (food) take 100. A piece of fuel burns for its
ticks in the items table, in the two fast ones for half of them: a coal always smelts eight.

>>> smelted("furnace", "iron_ore"), smelted("smoker", "iron_ore")
('iron_ingot', None)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from blockworld.registry.blocks import change, name_of, properties_of
from blockworld.registry.items import COLOURS, TAGS, item_named
from blockworld.state import Container, Position, Stack

if TYPE_CHECKING:
    from blockworld.world import World

INPUT, FUEL, OUTPUT = range(3)
"""Slots of a furnace."""
COOK_TICKS: Mapping[str, int] = {"furnace": 200, "blast_furnace": 100, "smoker": 100}
"""Kinds of furnace, and ticks per item (minecraft.wiki, "Smelting")."""


def _tables() -> dict[str, dict[str, str]]:
    metal = {
        "iron_ore": "iron_ingot",
        "gold_ore": "gold_ingot",
        "nether_gold_ore": "gold_ingot",
        "coal_ore": "coal",
        "lapis_ore": "lapis_lazuli",
        "redstone_ore": "redstone",
        "emerald_ore": "emerald",
        "diamond_ore": "diamond",
        "nether_quartz_ore": "quartz",
        "ancient_debris": "netherite_scrap",
    }
    pieces = ("sword", "shovel", "pickaxe", "axe", "hoe", "helmet", "chestplate", "leggings", "boots", "horse_armor")
    metal |= {f"iron_{piece}": "iron_nugget" for piece in pieces}
    metal |= {f"chainmail_{piece}": "iron_nugget" for piece in ("helmet", "chestplate", "leggings", "boots")}
    metal |= {f"golden_{piece}": "gold_nugget" for piece in pieces}
    food = {name: f"cooked_{name}" for name in ("beef", "chicken", "porkchop", "mutton", "rabbit", "cod", "salmon")}
    food |= {"potato": "baked_potato", "kelp": "dried_kelp"}
    rest = {
        "sand": "glass",
        "red_sand": "glass",
        "cobblestone": "stone",
        "stone": "smooth_stone",
        "sandstone": "smooth_sandstone",
        "red_sandstone": "smooth_red_sandstone",
        "quartz_block": "smooth_quartz",
        "stone_bricks": "cracked_stone_bricks",
        "nether_bricks": "cracked_nether_bricks",
        "polished_blackstone_bricks": "cracked_polished_blackstone_bricks",
        "clay_ball": "brick",
        "clay": "terracotta",
        "netherrack": "nether_brick",
        "cactus": "green_dye",
        "sea_pickle": "lime_dye",
        "wet_sponge": "sponge",
        "chorus_fruit": "popped_chorus_fruit",
    }
    rest |= {f"{colour}_terracotta": f"{colour}_glazed_terracotta" for colour in COLOURS}
    rest |= dict.fromkeys(sorted(TAGS["logs_that_burn"]), "charcoal")
    return {"furnace": metal | food | rest, "blast_furnace": metal, "smoker": food}


SMELTING: Mapping[str, Mapping[str, str]] = _tables()
"""Kind of furnace -> item put in -> item that comes out."""


def smelted(kind: str, item: str) -> str | None:
    """What a kind of furnace makes of an item; None if nothing."""
    return SMELTING[kind].get(item)


def fuel_ticks(kind: str, item: str) -> int:
    """Ticks that a piece of fuel burns in a kind of furnace; 0 if it is none.

    Raises:
        UnknownNameError: If there is no such item.
    """
    return item_named(item).fuel * COOK_TICKS[kind] // 200


def tick(world: World) -> None:
    """Let all furnaces burn for one tick."""
    for position, container in world.containers.items():
        if container.kind in COOK_TICKS and (container.burn or container.cook or container.slots[INPUT] is not None):
            _burn(world, position, container)


def _burn(world: World, position: Position, furnace: Container) -> None:
    """One tick of one furnace: first the fire, then what lies in it."""
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
    """Whether the input makes something for which there is room."""
    source, output = furnace.slots[INPUT], furnace.slots[OUTPUT]
    made = None if source is None else smelted(furnace.kind, source.item)
    if made is None:
        return False
    return output is None or (output.same_kind(Stack(made)) and output.count < item_named(made).stack)


def _light(furnace: Container) -> None:
    """Set one piece of fuel on fire."""
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
    """Turn one of the input into one of the output."""
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


def _show(world: World, position: Position, furnace: Container) -> None:
    """Make the block glow, or not."""
    state = world.grid.get(*position)
    if name_of(state) == furnace.kind and "lit" in properties_of(state):
        world.set_block(*position, change(state, lit="true" if furnace.burn else "false"))
