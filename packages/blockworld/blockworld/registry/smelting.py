"""Smelting: outputs and fuel of furnaces.

A furnace takes 200 ticks for an item; a blast furnace (ores, metal) and a smoker (food) take 100. The items table has the ticks
that a piece of fuel burns in a furnace; in the two fast ones it burns half as long. So one coal always smelts eight items.

>>> smelted("furnace", "iron_ore"), smelted("smoker", "iron_ore")
('iron_ingot', None)
"""

from __future__ import annotations

from collections.abc import Mapping

from blockworld.registry.items import COLOURS, TAGS, item_named

INPUT, FUEL, OUTPUT = range(3)
"""Indices of a furnace's slots."""
COOK_TICKS: Mapping[str, int] = {"furnace": 200, "blast_furnace": 100, "smoker": 100}
"""Kind of furnace -> ticks per item (minecraft.wiki, "Smelting")."""


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
    """Item that a kind of furnace makes from an item; None if it cannot smelt it."""
    return SMELTING[kind].get(item)


def fuel_ticks(kind: str, item: str) -> int:
    """Ticks that an item burns in a kind of furnace, 0 if it is no fuel; UnknownNameError if there is no such item."""
    return item_named(item).fuel * COOK_TICKS[kind] // 200
