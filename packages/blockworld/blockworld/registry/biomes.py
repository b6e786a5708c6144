"""The biomes of a land, by Minecraft's names."""

BIOMES = (
    "ocean",
    "river",
    "beach",
    "plains",
    "forest",
    "birch_forest",
    "desert",
    "savanna",
    "taiga",
    "snowy_tundra",
    "snowy_taiga",
    "mountains",
)
"""Name of each number in `Land.biomes`."""
