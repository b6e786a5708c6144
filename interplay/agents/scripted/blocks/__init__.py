"""Hand-written players for the tasks of the block world, one module a task. They look into it, and act by its keys alone."""

from interplay.agents.scripted.blocks.player import BLOCK_BRAINS, BlockPlayer

__all__ = ["BLOCK_BRAINS", "BlockPlayer"]
