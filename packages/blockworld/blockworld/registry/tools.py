"""The fast tools for each block, and the time of mining, by the formula and tables of Minecraft 1.16.

One tick of mining removes `speed / hardness / 30` of a block that the tool can harvest, and `speed / hardness / 100` of other
blocks (minecraft.wiki, "Breaking", section "Calculation"). The speed is the tool's if it is fast on the block, else 1.
"""

from __future__ import annotations

from functools import cache

from blockworld.registry.blocks import BY_NAME, Block
from blockworld.registry.items import COLOURS, WOODS, item_named
from blockworld.state import Stack

SPEEDS = {"wooden": 2.0, "stone": 4.0, "iron": 6.0, "diamond": 8.0, "netherite": 9.0, "golden": 12.0}
_RANKS = {"wooden": 0, "golden": 0, "stone": 1, "iron": 2, "diamond": 3, "netherite": 4}

_SHOVEL = frozenset(
    [
        "clay",
        "dirt",
        "coarse_dirt",
        "podzol",
        "farmland",
        "grass_block",
        "gravel",
        "mycelium",
        "sand",
        "red_sand",
        "snow",
        "snow_block",
        "soul_sand",
        "soul_soil",
        "grass_path",
    ]
) | {f"{colour}_concrete_powder" for colour in COLOURS}
_HOE = frozenset(
    ["nether_wart_block", "warped_wart_block", "hay_block", "dried_kelp_block", "target", "shroomlight", "sponge", "wet_sponge"]
)
_LEAVES = frozenset(name for name in BY_NAME if name.endswith("_leaves"))
_WOOL = frozenset(f"{colour}_wool" for colour in COLOURS)
_GOURDS = frozenset(["pumpkin", "carved_pumpkin", "jack_o_lantern", "melon"])
_PLANTS = frozenset(
    ["vine", "cocoa", "chorus_plant", "chorus_flower", "bamboo", "bamboo_sapling", "sweet_berry_bush", "lily_pad"]
)
# Fast with a pickaxe, but anything gets them.
_PICKAXE_OR_HAND = frozenset(
    [
        "rail",
        "powered_rail",
        "detector_rail",
        "activator_rail",
        "stone_button",
        "polished_blackstone_button",
        "ice",
        "packed_ice",
        "blue_ice",
        "frosted_ice",
        "conduit",
        "piston",
        "sticky_piston",
        "piston_head",
    ]
)
_MISTAKEN_FOR_STONE = frozenset({"peony"} | {f"{wood}_{kind}" for wood in WOODS for kind in ("slab", "pressure_plate")})
_MISTAKEN_FOR_WOOD = frozenset(name for name in BY_NAME if "blackstone" in name)
_WITH_IRON = frozenset(
    ["gold_ore", "diamond_ore", "redstone_ore", "emerald_ore", "gold_block", "diamond_block", "emerald_block"]
)
_WITH_STONE = frozenset(["iron_ore", "lapis_ore", "iron_block", "lapis_block"])
_WITH_DIAMOND = frozenset(["obsidian", "crying_obsidian", "netherite_block", "ancient_debris", "respawn_anchor"])


@cache
def best_tool(name: str) -> str | None:
    """The kind of tool that is fast on a block: `pickaxe`, `axe`, `shovel`, `hoe` or `shears`; None if there is no such tool.

    This corrects mistakes in the table's `material`, for example that wooden slabs are stone and coarse dirt is a plant.
    """
    block = BY_NAME[name]
    if name in _SHOVEL:
        return "shovel"
    if name in _HOE or name in _LEAVES:
        return "hoe"
    if name in _WOOL or name == "cobweb":
        return "shears"
    if name in _PICKAXE_OR_HAND or name.endswith("shulker_box") or name in _MISTAKEN_FOR_WOOD:
        return "pickaxe"
    if name in _MISTAKEN_FOR_STONE or name in ("ladder", "scaffolding", "crimson_button", "warped_button") or name in _PLANTS:
        return "axe"
    if any(tool.endswith("_pickaxe") for tool in block.tools) or block.material == "rock":
        return "pickaxe"
    if block.material in ("wood", "plant") and name != "cactus":
        return "axe"
    return None


@cache
def needs_tool(name: str) -> bool:
    """Whether a block drops items only if mined with the right tool."""
    if name in ("snow", "snow_block", "cobweb"):
        return True
    return best_tool(name) == "pickaxe" and name not in _PICKAXE_OR_HAND and not name.endswith("shulker_box")


def can_harvest(block: Block, tool: Stack | None) -> bool:
    """Whether a block mined with a tool (`None`: a hand) drops anything."""
    if not needs_tool(block.name):
        return True
    item = None if tool is None else item_named(tool.item)
    if item is None:
        return False
    if block.name == "cobweb":
        return item.kind in ("sword", "shears")
    if item.kind != best_tool(block.name):
        return False
    least = 3 if block.name in _WITH_DIAMOND else 2 if block.name in _WITH_IRON else 1 if block.name in _WITH_STONE else 0
    return _RANKS[item.tier or "wooden"] >= least


def speed_on(block: Block, tool: Stack | None) -> float:
    """Factor by which a tool is faster than a hand on a block, without enchantments."""
    item = None if tool is None else item_named(tool.item)
    if item is None or item.kind is None:
        return 1.0
    name = block.name
    if item.kind == "shears":
        return 15.0 if name in _LEAVES or name == "cobweb" else 5.0 if name in _WOOL else 1.0
    if item.kind == "sword":
        if name == "cobweb":
            return 15.0
        soft = name in _LEAVES or name in _GOURDS or name in _PLANTS
        return 1.5 if soft else 1.0
    return SPEEDS[item.tier or "wooden"] if item.kind == best_tool(name) else 1.0


def enchantment(stack: Stack | None, name: str) -> int:
    """Level of an enchantment in a stack's tag, `{"Enchantments": [{"id": "silk_touch", "lvl": 1}]}`; 0 without it."""
    if stack is None or not stack.tag:
        return 0
    for entry in stack.tag.get("Enchantments", ()):
        if str(entry.get("id", "")).removeprefix("minecraft:") == name:
            return int(entry.get("lvl", 1))
    return 0
