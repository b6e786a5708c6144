"""Items by Minecraft 1.16's names: stack sizes, tools, fuels, food, and the blocks they place.

>>> item_named("iron_pickaxe").durability, item_named("egg").stack, item_named("coal").fuel
(250, 16, 1600)
>>> item_of_block("wall_torch"), block_of_item("wheat_seeds")
('torch', 'wheat')
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from blockworld.errors import WorldError, unknown_name
from blockworld.registry.blocks import BY_NAME as BLOCK_BY_NAME
from blockworld.registry.blocks import SMALL_FLOWERS, TALL_FLOWERS, block_named
from blockworld.registry.facts import table
from blockworld.state import ARMOUR, Stack

TIERS = ("wooden", "golden", "stone", "iron", "diamond", "netherite")
"""Materials of tools, in the order of the blocks that they can mine; gold mines the same blocks as wood."""
TOOL_KINDS = ("sword", "shovel", "pickaxe", "axe", "hoe")
ARMOUR_KINDS = ("boots", "leggings", "chestplate", "helmet")
"""Kinds of armour, in the order of a player's armour slots."""

WOODS = ("oak", "spruce", "birch", "jungle", "acacia", "dark_oak", "crimson", "warped")
BURNING_WOODS = WOODS[:6]
"""Woods that burn: all except crimson and warped wood."""
COLOURS = (
    "white",
    "orange",
    "magenta",
    "light_blue",
    "yellow",
    "lime",
    "pink",
    "gray",
    "light_gray",
    "cyan",
    "purple",
    "blue",
    "brown",
    "green",
    "red",
    "black",
)

# Java Edition 1.16 (minecraft.wiki, "Damage" and the pages of the tools): damage of a full blow, blows per second.
_DAMAGE: dict[str, tuple[float, ...]] = {  # in the order of TIERS
    "sword": (4, 4, 5, 6, 7, 8),
    "shovel": (2.5, 2.5, 3.5, 4.5, 5.5, 6.5),
    "pickaxe": (2, 2, 3, 4, 5, 6),
    "axe": (7, 7, 9, 9, 9, 10),
    "hoe": (1, 1, 1, 1, 1, 1),
}
_SPEED: dict[str, tuple[float, ...]] = {
    "sword": (1.6,) * 6,
    "shovel": (1.0,) * 6,
    "pickaxe": (1.2,) * 6,
    "axe": (0.8, 1.0, 0.8, 0.9, 1.0, 1.0),
    "hoe": (1.0, 1.0, 2.0, 3.0, 4.0, 4.0),
}
_ARMOUR: dict[str, tuple[int, int, int, int]] = {  # in the order of ARMOUR_KINDS
    "leather": (1, 2, 3, 1),
    "golden": (1, 3, 5, 2),
    "chainmail": (1, 4, 5, 2),
    "iron": (2, 5, 6, 2),
    "diamond": (3, 6, 8, 3),
    "netherite": (3, 6, 8, 3),
}
_TOUGHNESS = {"diamond": 2, "netherite": 3}
_ON_THE_HEAD = frozenset({"carved_pumpkin", "player_head", "zombie_head", "creeper_head", "dragon_head", "skeleton_skull"}) | {
    "wither_skeleton_skull"
}

_REMAINS = {
    "water_bucket": "bucket",
    "lava_bucket": "bucket",
    "milk_bucket": "bucket",
    "honey_bottle": "glass_bottle",
    "dragon_breath": "glass_bottle",
}

_ITEM_OF_BLOCK: dict[str, str | None] = {
    "attached_melon_stem": "melon_seeds",
    "attached_pumpkin_stem": "pumpkin_seeds",
    "bamboo_sapling": "bamboo",
    "beetroots": "beetroot_seeds",
    "carrots": "carrot",
    "cocoa": "cocoa_beans",
    "kelp_plant": "kelp",
    "melon_stem": "melon_seeds",
    "potatoes": "potato",
    "pumpkin_stem": "pumpkin_seeds",
    "redstone_wire": "redstone",
    "sweet_berry_bush": "sweet_berries",
    "tall_seagrass": "seagrass",
    "tripwire": "string",
    "twisting_vines_plant": "twisting_vines",
    "weeping_vines_plant": "weeping_vines",
    "wheat": "wheat_seeds",
}
_PLACED = (
    ("wheat_seeds", "wheat"),
    ("beetroot_seeds", "beetroots"),
    ("carrot", "carrots"),
    ("potato", "potatoes"),
    ("melon_seeds", "melon_stem"),
    ("pumpkin_seeds", "pumpkin_stem"),
    ("cocoa_beans", "cocoa"),
    ("sweet_berries", "sweet_berry_bush"),
    ("redstone", "redstone_wire"),
    ("string", "tripwire"),
)
"""Items that place a block of another name; all others place the block of their own name, or nothing."""


def _tags() -> dict[str, frozenset[str]]:
    names = {row["name"] for row in table("items")}

    def ending(*endings: str) -> frozenset[str]:
        return frozenset(name for name in names if name.endswith(endings))

    def of_woods(kind: str) -> frozenset[str]:
        return frozenset(f"{wood}_{kind}" for wood in WOODS)

    burning = {f"{bark}{wood}_{kind}" for bark in ("", "stripped_") for wood in BURNING_WOODS for kind in ("log", "wood")}
    stems = {f"{bark}{wood}_{kind}" for bark in ("", "stripped_") for wood in WOODS[6:] for kind in ("stem", "hyphae")}
    tags = {
        "planks": of_woods("planks"),
        "logs": burning | stems,
        "logs_that_burn": burning,
        "wool": {f"{colour}_wool" for colour in COLOURS},
        "carpets": {f"{colour}_carpet" for colour in COLOURS},
        "beds": {f"{colour}_bed" for colour in COLOURS},
        "banners": {f"{colour}_banner" for colour in COLOURS},
        "dyes": {f"{colour}_dye" for colour in COLOURS},
        "shulker_boxes": ending("shulker_box"),
        "wooden_slabs": of_woods("slab"),
        "wooden_stairs": of_woods("stairs"),
        "wooden_fences": of_woods("fence"),
        "fence_gates": of_woods("fence_gate"),
        "wooden_doors": of_woods("door"),
        "wooden_trapdoors": of_woods("trapdoor"),
        "wooden_buttons": of_woods("button"),
        "wooden_pressure_plates": of_woods("pressure_plate"),
        "signs": of_woods("sign"),
        "boats": {f"{wood}_boat" for wood in BURNING_WOODS},
        "saplings": {f"{wood}_sapling" for wood in BURNING_WOODS},
        "leaves": {f"{wood}_leaves" for wood in BURNING_WOODS},
        "small_flowers": SMALL_FLOWERS,
        "tall_flowers": TALL_FLOWERS,
        "flowers": SMALL_FLOWERS | TALL_FLOWERS,
        "coals": {"coal", "charcoal"},
        "sand": {"sand", "red_sand"},
        "stone_tool_materials": {"cobblestone", "blackstone"},
        "soul_fire_base_blocks": {"soul_sand", "soul_soil"},
        "fishes": {"cod", "cooked_cod", "salmon", "cooked_salmon", "tropical_fish", "pufferfish"},
        "arrows": {"arrow", "spectral_arrow", "tipped_arrow"},
        "spawn_eggs": ending("_spawn_egg"),
        "music_discs": {name for name in names if name.startswith("music_disc_")},
    }
    for tag, members in tags.items():
        if not members or not members <= names:
            raise WorldError(f"tag {tag}: {sorted(set(members) - names)} are not items; correct blockworld/registry/items.py")
    return {tag: frozenset(members) for tag, members in tags.items()}


TAGS: Mapping[str, frozenset[str]] = _tags()
"""The game's name of a tag -> the items with this tag, which rules treat alike."""


def _fuels() -> dict[str, int]:
    """Map each fuel to the ticks that one piece burns in a furnace (minecraft.wiki, "Smelting", Java Edition 1.16)."""

    def burning(tag: str) -> set[str]:
        return {name for name in TAGS[tag] if not name.startswith(("crimson_", "warped_"))}

    fuels = {"lava_bucket": 20000, "coal_block": 16000, "dried_kelp_block": 4001, "blaze_rod": 2400, "coal": 1600}
    fuels |= {"charcoal": 1600, "scaffolding": 400, "stick": 100, "bowl": 100, "bamboo": 50, "dead_bush": 100}
    fuels |= dict.fromkeys(TAGS["boats"], 1200)
    for tag in ("logs_that_burn", "planks", "wooden_stairs", "wooden_trapdoors", "wooden_pressure_plates"):
        fuels |= dict.fromkeys(burning(tag), 300)
    fuels |= dict.fromkeys(burning("wooden_fences") | burning("fence_gates") | TAGS["banners"], 300)
    for name in (
        "note_block",
        "bookshelf",
        "lectern",
        "jukebox",
        "chest",
        "trapped_chest",
        "crafting_table",
        "daylight_detector",
    ):
        fuels[name] = 300
    for name in ("bow", "crossbow", "fishing_rod", "ladder", "loom", "barrel", "cartography_table", "fletching_table"):
        fuels[name] = 300
    fuels |= {"smithing_table": 300, "composter": 300}
    fuels |= dict.fromkeys(burning("wooden_slabs"), 150)
    fuels |= dict.fromkeys(burning("signs") | burning("wooden_doors"), 200)
    fuels |= {f"wooden_{kind}": 200 for kind in TOOL_KINDS}
    fuels |= dict.fromkeys(burning("wooden_buttons") | TAGS["saplings"] | TAGS["wool"], 100)
    fuels |= dict.fromkeys(TAGS["carpets"], 67)
    return fuels


@dataclass(frozen=True)
class Item:
    """One kind of item.

    Attributes:
        name: The name without `minecraft:`.
        index: Its index in `ITEMS`; an item on the ground stores this number.
        stack: Largest number of these items in a slot.
        durability: Uses until it breaks; 0 if it does not wear out.
        kind: `sword`, `shovel`, `pickaxe`, `axe`, `hoe`, `shears`, `helmet`, `chestplate`, `leggings`, `boots`, or None.
        tier: Material of a tool (`wooden`, `golden`, `stone`, `iron`, `diamond`, `netherite`) or of armour; None for others.
        attack_damage: Half hearts of a full blow with it in the hand.
        attack_speed: Full blows per second.
        armour, toughness: Points that it gives when worn.
        food, saturation: Points that it gives when eaten; 0 if it cannot be eaten.
        fuel: Ticks that it burns in a furnace; 0 if it is no fuel.
        remains: Item that stays in the grid or furnace when it is used up, such as the empty bucket of a water bucket.
    """

    name: str
    index: int
    stack: int
    durability: int = 0
    kind: str | None = None
    tier: str | None = None
    attack_damage: float = 1.0
    attack_speed: float = 4.0
    armour: int = 0
    toughness: int = 0
    food: int = 0
    saturation: float = 0.0
    fuel: int = 0
    remains: str | None = None

    @property
    def armour_slot(self) -> int | None:
        """The slot of a player in which the item is worn; None if it is no armour."""
        if self.kind in ARMOUR_KINDS:
            return ARMOUR + ARMOUR_KINDS.index(self.kind)
        if self.name == "elytra":
            return ARMOUR + 2
        return ARMOUR + 3 if self.name in _ON_THE_HEAD else None


def _read() -> tuple[Item, ...]:
    foods = {row["name"]: row for row in table("foods")}
    fuels = _fuels()
    items = []
    for index, row in enumerate(table("items")):
        name = row["name"]
        facts: dict[str, Any] = {"durability": row.get("durability", 0)}
        material, _, kind = name.rpartition("_")
        if kind in TOOL_KINDS and material in TIERS:
            tier = TIERS.index(material)
            facts |= {"kind": kind, "tier": material, "attack_damage": float(_DAMAGE[kind][tier])}
            facts["attack_speed"] = _SPEED[kind][tier]
        elif kind in ARMOUR_KINDS and material in _ARMOUR:
            facts |= {"kind": kind, "tier": material, "armour": _ARMOUR[material][ARMOUR_KINDS.index(kind)]}
            facts["toughness"] = _TOUGHNESS.get(material, 0)
        elif name == "turtle_helmet":
            facts |= {"kind": "helmet", "tier": "turtle", "armour": 2}
        elif name == "shears":
            facts |= {"kind": "shears"}
        elif name == "trident":
            facts |= {"attack_damage": 9.0, "attack_speed": 1.1}
        if name in foods and name != "cake":  # a cake is eaten as a block
            facts |= {"food": foods[name]["food"], "saturation": float(foods[name]["saturation"])}
        # What wears stands alone in its slot, whatever the table says of the fungus on a stick.
        stack = 1 if facts["durability"] else row["stack"]
        items.append(Item(name, index, stack, fuel=fuels.get(name, 0), remains=_REMAINS.get(name), **facts))
    return tuple(items)


ITEMS: tuple[Item, ...] = _read()
BY_NAME: Mapping[str, Item] = {item.name: item for item in ITEMS}


def item_named(name: str) -> Item:
    """Return the item of a name, with or without `minecraft:`; UnknownNameError offers the nearest name."""
    short = name.removeprefix("minecraft:")
    if short not in BY_NAME:
        raise unknown_name("item", short[:100], BY_NAME)
    return BY_NAME[short]


def stacks(name: str, count: int) -> list[Stack]:
    """Split any number of one item into stacks that fit slots, full stacks first.

    Raises:
        UnknownNameError: If there is no such item.
        WorldError: If `count` is negative.
    """
    item = item_named(name)
    if count < 0:
        raise WorldError(f"cannot give {count} of {item.name}; give 0 or more")
    full, rest = divmod(count, item.stack)
    return [Stack(item.name, item.stack) for _ in range(full)] + ([Stack(item.name, rest)] if rest else [])


@cache
def item_of_block(name: str) -> str | None:
    """The item that stands for a block, or None (water, fire, portals ...); UnknownNameError if there is no such block."""
    name = block_named(name).name
    if name in _ITEM_OF_BLOCK:
        return _ITEM_OF_BLOCK[name]
    if name in BY_NAME:
        return name
    if name.startswith("potted_"):
        return "flower_pot"
    standing = name.replace("_wall_", "_").removeprefix("wall_")
    return standing if standing in BY_NAME else None


_BLOCK_OF_ITEM = {item.name: item.name for item in ITEMS if item.name in BLOCK_BY_NAME} | dict(_PLACED)
_BLOCK_OF_ITEM.pop("wheat")  # the crop has this name, but it is the seeds that are planted


def block_of_item(name: str) -> str | None:
    """The block that an item places, or None (buckets, spawn eggs); UnknownNameError if there is no such item."""
    return _BLOCK_OF_ITEM.get(item_named(name).name)


def mob_of_egg(name: str) -> str | None:
    """The mob that a spawn egg makes; None for other items."""
    return name.removesuffix("_spawn_egg") if name.endswith("_spawn_egg") and name in BY_NAME else None


def copied(stack: Stack, count: int) -> Stack:
    return Stack(stack.item, count, stack.damage, copy.deepcopy(stack.tag))
