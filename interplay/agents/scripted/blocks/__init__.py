"""Hand-written players for the tasks of the block world, one module a task. They look into it, and act by its keys alone."""

from interplay.agents.scripted.blocks.player import BLOCK_BRAINS, TEAM_BRAINS, BlockPlayer, has_block_player

__all__ = ["BLOCK_BRAINS", "TEAM_BRAINS", "BlockPlayer", "has_block_player"]
