"""Drops of broken blocks: the rules of Minecraft 1.16 (minecraft.wiki, the pages of the blocks)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from blockworld.registry.blocks import BY_NAME, block_of, properties_of
from blockworld.registry.items import BY_NAME as ITEM_BY_NAME
from blockworld.registry.items import COLOURS, item_named, item_of_block
from blockworld.registry.tools import can_harvest, enchantment
from blockworld.state import Stack

GROWTH = 0.5714286
"""Chance of each of the three extra seeds that a ripe crop may drop."""

# Without silk touch: item, least, most. With it, the block.
_INSTEAD: Mapping[str, tuple[str, int, int]] = {
    "stone": ("cobblestone", 1, 1),
    "grass_block": ("dirt", 1, 1),
    "podzol": ("dirt", 1, 1),
    "mycelium": ("dirt", 1, 1),
    "crimson_nylium": ("netherrack", 1, 1),
    "warped_nylium": ("netherrack", 1, 1),
    "bookshelf": ("book", 3, 3),
    "clay": ("clay_ball", 4, 4),
    "snow_block": ("snowball", 4, 4),
    "glowstone": ("glowstone_dust", 2, 4),
    "sea_lantern": ("prismarine_crystals", 2, 3),
    "melon": ("melon_slice", 3, 7),
    "ender_chest": ("obsidian", 8, 8),
    "campfire": ("charcoal", 2, 2),
    "soul_campfire": ("soul_soil", 1, 1),
    **{f"{kind}_coral_block": (f"dead_{kind}_coral_block", 1, 1) for kind in ("tube", "brain", "bubble", "fire", "horn")},
}
_ORES: Mapping[str, tuple[str, int, int]] = {
    "coal_ore": ("coal", 1, 1),
    "diamond_ore": ("diamond", 1, 1),
    "emerald_ore": ("emerald", 1, 1),
    "lapis_ore": ("lapis_lazuli", 4, 9),
    "redstone_ore": ("redstone", 4, 5),
    "nether_quartz_ore": ("quartz", 1, 1),
    "nether_gold_ore": ("gold_nugget", 2, 6),
}
_ALWAYS_INSTEAD = {"farmland": "dirt", "grass_path": "dirt"}
_SILK_ONLY = frozenset(
    {"glass", "glass_pane", "ice", "packed_ice", "blue_ice", "turtle_egg", "bee_nest", "mushroom_stem"}
    | {f"{colour}_stained_glass{pane}" for colour in COLOURS for pane in ("", "_pane")}
    | {name for name in BY_NAME if name.endswith(("_coral", "_coral_fan", "_coral_wall_fan"))}
)
_NOTHING = frozenset(["cake", "spawner", "frosted_ice", "piston_head", "moving_piston", "fire", "soul_fire"])
_SHEARS_ONLY = frozenset(["vine", "seagrass", "nether_sprouts"])
_FLOWER_OF_POT = {"potted_bamboo": "bamboo"}


def drops(state: int, tool: Stack | None, rng: np.random.Generator) -> list[Stack]:
    """Drops of one block mined with a tool; None stands for the hand.

    A door, bed or tall plant counts as one block: either half gives all drops.
    """
    block, values = block_of(state), properties_of(state)
    name = block.name
    if name in _NOTHING or not can_harvest(block, tool):
        return []
    silk, fortune = enchantment(tool, "silk_touch") > 0, enchantment(tool, "fortune")
    shears = tool is not None and item_named(tool.item).kind == "shears"
    special = _plants(name, values, shears, silk, fortune, rng)
    if special is not None:
        return special
    own = item_of_block(name)
    if silk and name == "snow":
        layers = int(values["layers"])
        return [Stack("snow_block")] if layers == 8 else [Stack("snow", layers)]
    if name == "snow":
        return [Stack("snowball", int(values["layers"]))]
    if name.startswith("infested_"):
        return [Stack(name.removeprefix("infested_"))] if silk else []
    if name.startswith("potted_"):
        return [Stack("flower_pot"), Stack(_FLOWER_OF_POT.get(name, name.removeprefix("potted_")))]
    if name == "cobweb" and not (silk or shears):
        return [Stack("string")]
    if name in ("brown_mushroom_block", "red_mushroom_block") and not silk:
        return _some(name.removesuffix("_block"), max(0, int(rng.integers(-6, 3))))
    if own is None or own not in ITEM_BY_NAME:
        return []
    if silk:
        return [Stack(own, _number(name, values))]
    if name in _SILK_ONLY:
        return []
    if name in _ORES:
        item, least, most = _ORES[name]
        number = int(rng.integers(least, most + 1))
        if fortune:
            more = max(0, int(rng.integers(fortune + 2)) - 1) + 1
            number = number + int(rng.integers(fortune + 1)) if name == "redstone_ore" else number * more
        return [Stack(item, number)]
    if name in _INSTEAD:
        item, least, most = _INSTEAD[name]
        return [Stack(item, int(rng.integers(least, most + 1)))]
    if name == "gravel" and rng.random() < (0.1, 1 / 7, 0.25, 1.0)[min(fortune, 3)]:
        return [Stack("flint")]
    if name == "gilded_blackstone" and rng.random() < 0.1:
        return [Stack("gold_nugget", int(rng.integers(2, 6)))]
    if name == "composter" and values["level"] == "8":
        return [Stack("composter"), Stack("bone_meal")]
    return [Stack(_ALWAYS_INSTEAD.get(name, own), _number(name, values))]


def _some(item: str, number: int) -> list[Stack]:
    return [Stack(item, number)] if number > 0 else []


def _number(name: str, values: Mapping[str, str]) -> int:
    if name.endswith("_slab"):
        return 2 if values["type"] == "double" else 1
    return int(values["pickles"]) if name == "sea_pickle" else 1


def _plants(
    name: str, values: Mapping[str, str], shears: bool, silk: bool, fortune: int, rng: np.random.Generator
) -> list[Stack] | None:
    """Drops of a plant; None if the block has no rule here."""
    if name.endswith("_leaves"):
        return _leaves(name, shears or silk, rng)
    if name in ("grass", "fern", "tall_grass", "large_fern"):
        if shears:
            low = {"tall_grass": "grass", "large_fern": "fern"}.get(name)
            return [Stack(low, 2)] if low else [Stack(name)]
        return [Stack("wheat_seeds")] if rng.random() < 0.125 else []
    if name == "tall_seagrass":
        return [Stack("seagrass", 2)] if shears else []
    if name in _SHEARS_ONLY:
        return [Stack(name)] if shears else []
    if name == "dead_bush":
        return [Stack(name)] if shears else _some("stick", int(rng.integers(3)))
    if name.startswith(("twisting_vines", "weeping_vines")):
        item = name.removesuffix("_plant")
        return [Stack(item)] if shears or silk or rng.random() < 0.33 else []
    if name == "chorus_plant":
        return _some("chorus_fruit", int(rng.integers(2)))
    age = int(values.get("age", "0"))

    def more() -> int:
        return int(rng.binomial(3 + fortune, GROWTH))

    if name == "wheat":
        return [Stack("wheat"), Stack("wheat_seeds", 1 + more())] if age == 7 else [Stack("wheat_seeds")]
    if name == "beetroots":
        return [Stack("beetroot"), Stack("beetroot_seeds", 1 + more())] if age == 3 else [Stack("beetroot_seeds")]
    if name == "carrots":
        return [Stack("carrot", 2 + more() if age == 7 else 1)]
    if name == "potatoes":
        found = [Stack("potato", 2 + more() if age == 7 else 1)]
        return [*found, Stack("poisonous_potato")] if age == 7 and rng.random() < 0.02 else found
    if name == "nether_wart":
        return [Stack(name, int(rng.integers(2, 5 + fortune)) if age == 3 else 1)]
    if name == "cocoa":
        return [Stack("cocoa_beans", 3 if age == 2 else 1)]
    if name == "sweet_berry_bush":
        return _some("sweet_berries", int(rng.integers(age - 1, age + 1 + fortune)) if age >= 2 else 0)
    if name in ("melon_stem", "pumpkin_stem"):
        return _some(name.replace("stem", "seeds"), int(rng.binomial(3, (age + 1) / 15)))
    if name in ("attached_melon_stem", "attached_pumpkin_stem"):
        return _some(name.removeprefix("attached_").replace("stem", "seeds"), int(rng.binomial(3, 8 / 15)))
    return None


def _leaves(name: str, whole: bool, rng: np.random.Generator) -> list[Stack]:
    if whole:
        return [Stack(name)]
    wood = name.removesuffix("_leaves")
    found = []
    if rng.random() < (0.025 if wood == "jungle" else 0.05):
        found.append(Stack(f"{wood}_sapling"))
    if rng.random() < 0.02:
        found.append(Stack("stick", int(rng.integers(1, 3))))
    if wood in ("oak", "dark_oak") and rng.random() < 0.005:
        found.append(Stack("apple"))
    return found
