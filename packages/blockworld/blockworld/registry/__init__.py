"""Tables of blocks and their states, items, tools, creatures, recipes, trades, drops."""

from blockworld.registry import blocks, crafting, items, smelting, tools, trades
from blockworld.registry.biomes import BIOMES
from blockworld.registry.blocks import (
    AIR,
    BLOCK_OF,
    BLOCKS,
    BOX_START,
    BOXES,
    NUM_BOXES,
    NUM_STATES,
    Block,
    block_named,
    block_of,
    change,
    name_of,
    per_block,
    properties_of,
    state_of,
)
from blockworld.registry.blocks import BY_NAME as BLOCKS_BY_NAME
from blockworld.registry.drops import drops
from blockworld.registry.entity_types import HEIGHTS, HOSTILE, ITEM, KIND, KINDS, MOBS, NUM_THINGS, PROFESSIONS, SHEARED, WIDTHS
from blockworld.registry.facts import table
from blockworld.registry.items import BY_NAME as ITEMS_BY_NAME
from blockworld.registry.items import COLOURS, ITEMS, WOODS, item_named
from blockworld.registry.tools import SPEEDS, best_tool, can_harvest, enchantment, speed_on

__all__ = [
    "AIR",
    "BIOMES",
    "BLOCKS",
    "BLOCKS_BY_NAME",
    "BLOCK_OF",
    "BOXES",
    "BOX_START",
    "COLOURS",
    "HEIGHTS",
    "HOSTILE",
    "ITEM",
    "ITEMS",
    "ITEMS_BY_NAME",
    "KIND",
    "KINDS",
    "MOBS",
    "NUM_BOXES",
    "NUM_STATES",
    "NUM_THINGS",
    "PROFESSIONS",
    "SHEARED",
    "SPEEDS",
    "WIDTHS",
    "WOODS",
    "Block",
    "best_tool",
    "block_named",
    "block_of",
    "blocks",
    "can_harvest",
    "change",
    "crafting",
    "drops",
    "enchantment",
    "item_named",
    "items",
    "name_of",
    "per_block",
    "properties_of",
    "smelting",
    "speed_on",
    "state_of",
    "table",
    "tools",
    "trades",
]
