"""Default trades of villagers, and offers as /summon gives them.

Trades of the first levels of Minecraft 1.16 (minecraft.wiki, "Trading"), each with its middle price where the game draws one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from blockworld.errors import WorldError
from blockworld.registry import trades
from blockworld.registry.items import item_named

_Trade = tuple[str, int, str, int]
_BUYS = "emerald"

_TRADES: Mapping[str, tuple[tuple[_Trade, ...], ...]] = {
    "farmer": (
        (
            ("wheat", 20, _BUYS, 1),
            ("potato", 26, _BUYS, 1),
            ("carrot", 22, _BUYS, 1),
            ("beetroot", 15, _BUYS, 1),
            (_BUYS, 1, "bread", 6),
        ),
        (("pumpkin", 6, _BUYS, 1), (_BUYS, 1, "pumpkin_pie", 4), (_BUYS, 1, "apple", 4)),
        (("melon", 4, _BUYS, 1), (_BUYS, 3, "cookie", 18)),
        ((_BUYS, 1, "cake", 1),),
        ((_BUYS, 3, "golden_carrot", 3),),
    ),
    "fisherman": (
        (("string", 20, _BUYS, 1), ("coal", 10, _BUYS, 1), (_BUYS, 3, "cod_bucket", 1)),
        (("cod", 15, _BUYS, 1), (_BUYS, 2, "campfire", 1)),
        (("salmon", 13, _BUYS, 1),),
    ),
    "shepherd": (
        (
            ("white_wool", 18, _BUYS, 1),
            ("brown_wool", 18, _BUYS, 1),
            ("black_wool", 18, _BUYS, 1),
            ("gray_wool", 18, _BUYS, 1),
            (_BUYS, 2, "shears", 1),
        ),
        ((_BUYS, 1, "white_wool", 1), (_BUYS, 1, "white_carpet", 4)),
        ((_BUYS, 3, "white_bed", 1),),
    ),
    "fletcher": (
        (("stick", 32, _BUYS, 1), (_BUYS, 1, "arrow", 16)),
        (("flint", 26, _BUYS, 1), (_BUYS, 2, "bow", 1)),
        (("string", 14, _BUYS, 1), (_BUYS, 3, "crossbow", 1)),
        (("feather", 24, _BUYS, 1),),
    ),
    "librarian": (
        (("paper", 24, _BUYS, 1), (_BUYS, 9, "bookshelf", 1)),
        (("book", 4, _BUYS, 1), (_BUYS, 1, "lantern", 1)),
        (("ink_sac", 5, _BUYS, 1), (_BUYS, 1, "glass", 4)),
        ((_BUYS, 5, "clock", 1), (_BUYS, 4, "compass", 1)),
        ((_BUYS, 20, "name_tag", 1),),
    ),
    "cartographer": (
        (("paper", 24, _BUYS, 1), (_BUYS, 7, "map", 1)),
        (("glass_pane", 11, _BUYS, 1),),
        (("compass", 1, _BUYS, 1),),
        ((_BUYS, 7, "item_frame", 1),),
    ),
    "cleric": (
        (("rotten_flesh", 32, _BUYS, 1), (_BUYS, 1, "redstone", 2)),
        (("gold_ingot", 3, _BUYS, 1), (_BUYS, 1, "lapis_lazuli", 1)),
        (("rabbit_foot", 2, _BUYS, 1), (_BUYS, 4, "glowstone", 1)),
        (("glass_bottle", 9, _BUYS, 1), (_BUYS, 5, "ender_pearl", 1)),
        ((_BUYS, 3, "experience_bottle", 1),),
    ),
    "armorer": (
        (
            ("coal", 15, _BUYS, 1),
            (_BUYS, 5, "iron_helmet", 1),
            (_BUYS, 9, "iron_chestplate", 1),
            (_BUYS, 7, "iron_leggings", 1),
            (_BUYS, 4, "iron_boots", 1),
        ),
        (("iron_ingot", 4, _BUYS, 1), (_BUYS, 36, "bell", 1)),
        (("lava_bucket", 1, _BUYS, 1), (_BUYS, 5, "shield", 1)),
    ),
    "weaponsmith": (
        (("coal", 15, _BUYS, 1), (_BUYS, 3, "iron_axe", 1), (_BUYS, 7, "iron_sword", 1)),
        (("iron_ingot", 4, _BUYS, 1), (_BUYS, 36, "bell", 1)),
        (("flint", 24, _BUYS, 1),),
    ),
    "toolsmith": (
        (
            ("coal", 15, _BUYS, 1),
            (_BUYS, 1, "stone_axe", 1),
            (_BUYS, 1, "stone_shovel", 1),
            (_BUYS, 1, "stone_pickaxe", 1),
            (_BUYS, 1, "stone_hoe", 1),
        ),
        (("iron_ingot", 4, _BUYS, 1), (_BUYS, 36, "bell", 1)),
        (("flint", 30, _BUYS, 1), (_BUYS, 4, "diamond_hoe", 1)),
    ),
    "butcher": (
        (("chicken", 14, _BUYS, 1), ("porkchop", 7, _BUYS, 1), ("rabbit", 4, _BUYS, 1), (_BUYS, 1, "rabbit_stew", 1)),
        (("coal", 15, _BUYS, 1), (_BUYS, 1, "cooked_porkchop", 5), (_BUYS, 1, "cooked_chicken", 8)),
        (("mutton", 7, _BUYS, 1), ("beef", 10, _BUYS, 1)),
        (("dried_kelp_block", 10, _BUYS, 1),),
        (("sweet_berries", 10, _BUYS, 1),),
    ),
    "leatherworker": (
        (("leather", 6, _BUYS, 1), (_BUYS, 3, "leather_leggings", 1), (_BUYS, 7, "leather_chestplate", 1)),
        (("flint", 26, _BUYS, 1), (_BUYS, 5, "leather_helmet", 1), (_BUYS, 4, "leather_boots", 1)),
        (("rabbit_hide", 9, _BUYS, 1),),
        ((_BUYS, 6, "leather_horse_armor", 1),),
        ((_BUYS, 6, "saddle", 1),),
    ),
    "mason": (
        (("clay_ball", 10, _BUYS, 1), (_BUYS, 1, "brick", 10)),
        (("stone", 20, _BUYS, 1), (_BUYS, 1, "chiseled_stone_bricks", 4)),
        (("granite", 16, _BUYS, 1), (_BUYS, 1, "polished_granite", 4)),
        (("quartz", 12, _BUYS, 1),),
        ((_BUYS, 1, "quartz_pillar", 1),),
    ),
}


def offers_of(profession: str, level: int = 1) -> list[trades.Offer]:
    """All trades of a profession up to a level; empty for `none` and `nitwit`."""
    levels = _TRADES.get(profession, ())
    return [
        trades.offer((buy, number), (sell, many), max_uses=12)
        for level_offers in levels[:level]
        for buy, number, sell, many in level_offers
    ]


def offers_from(nbt: Any) -> list[trades.Offer]:
    """Offers from the NBT of /summon: `{Recipes: [{buy: {id, Count}, buyB, sell, maxUses, uses}]}`.

    Raises:
        UnknownNameError: If an item is unknown.
        WorldError: If it has another form.
    """
    recipes = nbt.get("Recipes") if isinstance(nbt, dict) else None
    if not isinstance(recipes, list):
        raise WorldError(f"Offers are {{Recipes: [{{buy: {{id, Count}}, sell: {{id, Count}}}}]}}, got {str(nbt)[:200]}")
    offers = []
    for recipe in recipes:
        if not isinstance(recipe, dict) or "buy" not in recipe or "sell" not in recipe:
            raise WorldError(f"an offer has buy and sell, got {str(recipe)[:200]}")
        second = recipe.get("buyB")
        if second is not None and str(second.get("id", "")).removeprefix("minecraft:") in ("", "air"):
            second = None
        made = trades.offer(
            _item(recipe["buy"]),
            _item(recipe["sell"]),
            buy2=None if second is None else _item(second),
            max_uses=int(recipe.get("maxUses", 16)),
        )
        made["uses"] = int(recipe.get("uses", 0))
        if recipe["sell"].get("tag"):
            made["tag"] = recipe["sell"]["tag"]
        offers.append(made)
    return offers


def _item(nbt: Any) -> tuple[str, int]:
    if not isinstance(nbt, dict) or "id" not in nbt:
        raise WorldError(f"an item of an offer is {{id, Count}}, got {str(nbt)[:200]}")
    return item_named(str(nbt["id"])).name, int(nbt.get("Count", 1))
