"""Default trades of villagers, and offers given by /summon.

`data/trades.json` has the trades of the first levels of Minecraft 1.16 (minecraft.wiki, "Trading"), by profession and level:
each trade exchanges a number of one item for a number of another. If the game draws a price, the table has the middle one.
"""

from __future__ import annotations

from typing import Any

from blockworld.errors import WorldError
from blockworld.registry import trades
from blockworld.registry.facts import table
from blockworld.registry.items import item_named


def offers_of(profession: str, level: int = 1) -> list[trades.Offer]:
    """Return all trades of a profession up to a level; empty for `none` and `nitwit`."""
    levels = table("trades").get(profession, ())
    return [
        trades.offer((buy, number), (sell, many), max_uses=12)
        for level_offers in levels[:level]
        for buy, number, sell, many in level_offers
    ]


def offers_from(nbt: Any) -> list[trades.Offer]:
    """Read offers from the NBT of /summon: `{Recipes: [{buy: {id, Count}, buyB, sell, maxUses, uses}]}`.

    Raises:
        UnknownNameError: If an item is unknown.
        WorldError: If the NBT has another form.
    """
    recipes = nbt.get("Recipes") if isinstance(nbt, dict) else None
    if not isinstance(recipes, list):
        raise WorldError(f"Offers must be {{Recipes: [{{buy: {{id, Count}}, sell: {{id, Count}}}}]}}, got {str(nbt)[:200]}")
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
        raise WorldError(f"an item of an offer must be {{id, Count}}, got {str(nbt)[:200]}")
    return item_named(str(nbt["id"])).name, int(nbt.get("Count", 1))
