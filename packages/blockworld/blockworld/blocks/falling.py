"""Falling blocks: sand, gravel, concrete powder and anvils fall when they have no support.

Difference from the game: a falling block is not an entity. It moves down one cell every 2 ticks (10 blocks a second, the game's
mean over a fall of about 12 blocks). It is thus a block at every moment, and falls alike in every replay.
"""

from __future__ import annotations

from blockworld.grid.grid import Grid
from blockworld.registry.blocks import BLOCK_OF, BLOCKS

TICKS_PER_CELL = 2

FALLS: tuple[bool, ...] = tuple(
    block.name in ("sand", "red_sand", "gravel", "anvil", "chipped_anvil", "damaged_anvil", "dragon_egg")
    or block.name.endswith("_concrete_powder")
    for block in BLOCKS
)
"""Per index into `BLOCKS`: whether the block falls."""
_GIVES_WAY = {
    *("air", "cave_air", "void_air", "water", "lava", "fire", "soul_fire", "snow", "grass", "fern", "dead_bush", "vine"),
    *("tall_grass", "large_fern", "seagrass", "tall_seagrass", "bubble_column"),
    *("nether_sprouts", "crimson_roots", "warped_roots"),
}
GIVES_WAY: tuple[bool, ...] = tuple(block.name in _GIVES_WAY for block in BLOCKS)
"""Per index into `BLOCKS`: whether a falling block may take its place."""


def can_fall(grid: Grid, x: int, y: int, z: int) -> bool:
    return y > 0 and GIVES_WAY[BLOCK_OF[grid.get(x, y - 1, z)]]
