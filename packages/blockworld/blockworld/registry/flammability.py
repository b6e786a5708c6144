"""Odds that blocks catch fire and burn away in Minecraft 1.16 (minecraft.wiki, Fire)."""

from __future__ import annotations

import numpy as np

from blockworld.registry.blocks import BLOCKS, per_block


def _odds() -> dict[str, tuple[int, int]]:
    """Map each flammable block to its odds of catching fire and its odds of burning away."""
    odds: dict[str, tuple[int, int]] = {
        **{"bookshelf": (30, 20), "tnt": (15, 100), "vine": (15, 100), "coal_block": (5, 5), "hay_block": (60, 20)},
        **{"lectern": (30, 20), "bamboo": (60, 60), "scaffolding": (60, 60), "sweet_berry_bush": (60, 100)},
        **{"dried_kelp_block": (30, 60), "beehive": (5, 20), "bee_nest": (30, 20), "composter": (5, 20)},
        **{"dead_bush": (60, 100)},
    }
    plants = ("grass", "fern", "tall_grass", "large_fern", "sunflower", "lilac", "rose_bush", "peony", "dandelion", "poppy")
    flowers = ("blue_orchid", "allium", "azure_bluet", "oxeye_daisy", "cornflower", "lily_of_the_valley", "wither_rose")
    odds.update(dict.fromkeys(plants + flowers, (60, 100)))
    woods = ("oak", "spruce", "birch", "jungle", "acacia", "dark_oak")
    for block in BLOCKS:
        name = block.name
        if name.endswith(("_leaves", "_wool")):
            odds[name] = (30, 60)
        elif name.endswith("_tulip"):
            odds[name] = (60, 100)
        elif name.endswith("_carpet"):
            odds[name] = (60, 20)
        elif name.removeprefix("stripped_").startswith(woods):
            if name.endswith(("_log", "_wood")):
                odds[name] = (5, 5)
            elif name.endswith(("_planks", "_slab", "_fence", "_stairs", "_fence_gate")):
                odds[name] = (5, 20)
    return odds


_ODDS = _odds()
CATCHES: np.ndarray = per_block({name: catches for name, (catches, _) in _ODDS.items()}, 0, np.uint8)
"""uint8, shape (NUM_STATES,): odds of catching fire from a neighbour."""
BURNS: np.ndarray = per_block({name: burns for name, (_, burns) in _ODDS.items()}, 0, np.uint8)
"""uint8, shape (NUM_STATES,): odds of burning away."""
